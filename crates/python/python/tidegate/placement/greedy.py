# SPDX-License-Identifier: Apache-2.0 OR MIT
"""First fit decreasing: what people do without a solver. No plan uses more disks than it."""

import math
from collections import Counter
from collections.abc import Sequence

from .fleet import Fleet, Pattern, more
from .oracle import Oracle

#: A kind of disk, by its index in the fleet, with a pattern.
Column = tuple[int, Pattern]


def first_fit_decreasing(
    fleet: Fleet, oracles: Sequence[Oracle], at_hand: Sequence[int] | None = None
) -> Counter[Column] | None:
    """Places stream by stream, the most demanding first, on the first disk that stays proved.
    `at_hand` has the number of disks of each kind, by default all. Returns how often each pattern
    is used, or `None` if the streams do not fit."""
    alone = [oracle.alone() for oracle in oracles]

    def share(kind: int) -> float:
        most = max(of_disk[kind] for of_disk in alone)
        return 1 / most if most else math.inf

    free = list(fleet.free(()) if at_hand is None else at_hand)
    used: list[Column] = []
    for kind in sorted(range(len(fleet.streams)), key=share, reverse=True):
        left = fleet.streams[kind].copies
        for index, (of, pattern) in enumerate(used):
            fits = oracles[of].most(pattern, kind, min(left, oracles[of].limits[kind]))
            used[index] = (of, more(pattern, kind, fits))
            left -= fits
        while left:
            fitting = (of for of in range(len(oracles)) if free[of] and alone[of][kind])
            if (chosen := next(fitting, None)) is None:
                return None
            fits = min(left, alone[chosen][kind])
            used.append((chosen, more(fleet.empty, kind, fits)))
            free[chosen] -= 1
            left -= fits
    return Counter(used)
