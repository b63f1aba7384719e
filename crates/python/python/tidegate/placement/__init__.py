# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Placement: streams with deadlines onto disks, so that every disk is proved.

Like streams form a kind, and so do like disks. A *pattern* says how many streams of each kind share
one disk; `check` decides which patterns are proved. The fewest disks are a cutting-stock problem
(Gilmore and Gomory, 1961): a linear programme over patterns, whose dual prices say which pattern
is worth adding. Its prices, scaled by what the search for patterns could not exclude (Farley,
1990), give a lower bound on the number of disks; an integer programme over the patterns that were
found gives the plan. Only one thing is assumed of `check`: that a disk stays proved if a stream
leaves it. A plan does not rest on it, because each of its disks is proved as it is; the lower bound
does.

```text
  fewest, incremental ---> columns, greedy ---> pricing ---> oracle ---> serve ---> fleet
           `-------------> plan ----------------------------^
```
"""

from .fewest import place, place_with_margin
from .fleet import Disk, Fleet, NoPlanFoundError, NotPlacedError, PlacementError, Stream
from .greedy import first_fit_decreasing
from .oracle import Oracle
from .plan import Placed, Plan

__all__ = [
    "Disk",
    "Fleet",
    "NoPlanFoundError",
    "NotPlacedError",
    "Oracle",
    "Placed",
    "PlacementError",
    "Plan",
    "Stream",
    "first_fit_decreasing",
    "place",
    "place_with_margin",
]
