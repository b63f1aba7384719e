# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The oracle: which patterns `check` proves on a kind of disk.

A search asks for the verdict alone, without bounds and reasons; every disk of a plan is checked in
full.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .._native import proves_contracts
from ..inputs import workload
from ..results import Check, check
from .fleet import Disk, Fleet, Pattern, PlacementError, more
from .serve import serve_file


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
        """Returns how many streams of this kind fit beside a proved pattern, at most `at_most`; the
        caller knows that `at_least` fit. Doubles the step, then bisects."""
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
        """Returns the workload of a disk with this pattern, as the content of a workload file."""
        tasks = [
            {"name": stream.name, "count": count, **stream.task}
            for stream, count in zip(self.fleet.streams, pattern, strict=True)
            if count
        ]
        return {**self.fleet.shared, "policy": self._policy(), "task": tasks}

    def serve_file(self, name: str, held: Mapping[str, Sequence[str]]) -> str:
        """Returns the text of the serve file of a disk with this name and these streams."""
        return serve_file(self.fleet, self.disk, name, self._policy(), held)

    def serves(self, pattern: Pattern) -> bool:
        """Whether a server of a disk with this pattern keeps its contracts and has room for its
        exports; always without servers."""
        if self.fleet.serve is None:
            return True
        name = f"{self.disk.name}-1"
        streams = zip(self.fleet.streams, pattern, strict=True)
        held = {stream.name: stream.names[:count] for stream, count in streams}
        text = self.serve_file(name, held)
        return proves_contracts(text, self.disk.drive, f"the serve file of {name}")

    def _policy(self) -> dict[str, Any]:
        margin = {"margin": f"{self.margin_ppm / 10_000:g}%"} if self.margin_ppm else {}
        return {**self.fleet.policy, **margin}

    def _is_proven(self, pattern: Pattern) -> bool:
        proven = workload(self.content(pattern), self.disk.drive).proves_disk()
        return proven and self.serves(pattern)
