# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The oracle: which patterns `check` proves on a kind of disk.

A search asks for the verdict alone, without bounds and reasons; every disk of a plan is checked in
full.
"""

from typing import Any

from ..inputs import workload
from ..results import Check, check
from .fleet import Disk, Fleet, Pattern, PlacementError, more


class Oracle:
    """Says which patterns are proved on a kind of disk; asks `check` once for each."""

    def __init__(self, fleet: Fleet, disk: Disk, margin_ppm: int = 0) -> None:
        if margin_ppm and "margin" in fleet.policy:
            raise PlacementError(
                "the policy of the fleet has a margin, and the plan is to have the largest: "
                "delete `margin`, or place with the fewest disks"
            )
        self.fleet, self.disk, self.margin_ppm = fleet, disk, margin_ppm
        self.limits = fleet.limits(disk)
        self.answers: dict[Pattern, bool] = {}

    def allows(self, pattern: Pattern) -> bool:
        """Whether a disk with this pattern is proved; one without streams is."""
        if (known := self.answers.get(pattern)) is None:
            known = self.answers[pattern] = not any(pattern) or self._is_proven(pattern)
        return known

    def most(self, pattern: Pattern, kind: int, at_most: int, at_least: int = 0) -> int:
        """Returns how many streams of this kind fit beside a proved pattern, if `at_least` many do:
        by doubling the step, then by bisection."""
        low, step = at_least, 1
        while low < at_most and self.allows(more(pattern, kind, min(low + step, at_most))):
            low, step = min(low + step, at_most), 2 * step
        high = min(low + step, at_most + 1)
        while high - low > 1:
            middle = (low + high) // 2
            if self.allows(more(pattern, kind, middle)):
                low = middle
            else:
                high = middle
        return low

    def alone(self) -> list[int]:
        """Returns how many streams of each kind fit on an empty disk."""
        return [self.most(self.fleet.empty, kind, limit) for kind, limit in enumerate(self.limits)]

    def check(self, pattern: Pattern) -> Check:
        """Returns the verdict with its reasons."""
        return check(workload(self.content(pattern), self.disk.drive), fits=False)

    def content(self, pattern: Pattern) -> dict[str, Any]:
        """Returns the workload of a disk with this pattern."""
        tasks = [
            {"name": stream.name, "count": count, **stream.task}
            for stream, count in zip(self.fleet.streams, pattern, strict=True)
            if count
        ]
        policy = dict(self.fleet.policy)
        if self.margin_ppm:
            policy["margin"] = f"{self.margin_ppm / 10_000:g}%"
        return {**self.fleet.shared, "policy": policy, "task": tasks}

    def _is_proven(self, pattern: Pattern) -> bool:
        return workload(self.content(pattern), self.disk.drive).proves_disk()
