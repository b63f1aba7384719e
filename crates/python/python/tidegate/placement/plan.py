# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Plans: which stream is on which disk, and the files that prove it."""

import itertools
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..inputs import as_file
from .fleet import Disk, Fleet, Pattern, PlacementError
from .greedy import Column
from .oracle import Oracle

#: The names of the streams of one disk, by their kind.
Held = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Placed:
    """One disk of a plan: its kind, and the names of its streams by kind."""

    name: str
    disk: Disk
    pattern: Pattern
    streams: Held


@dataclass(frozen=True)
class Plan:
    """Which stream is on which disk."""

    fleet: Fleet
    disks: Sequence[Placed]
    #: The lower bound on the number of disks; `None` in a plan that changes another one as little
    #: as possible.
    disks_min: int | None
    margin_ppm: int = 0
    #: The names of disks that failed; no later plan uses them.
    failed: frozenset[str] = frozenset()

    @property
    def gap(self) -> int | None:
        """How many disks more than the lower bound the plan uses."""
        return None if self.disks_min is None else len(self.disks) - self.disks_min

    def content(self, placed: Placed) -> dict[str, Any]:
        """Returns the workload of one disk, as the content of a workload file."""
        return Oracle(self.fleet, placed.disk, self.margin_ppm).content(placed.pattern)

    def moved_from(self, other: "Plan") -> int:
        """Returns how many copies of streams are on a disk that did not have them in the other
        plan, without new copies."""
        before, now = _places(other), _places(self)
        # A new copy of a stream that had fewer is no move.
        new = {name: max(0, len(now[name]) - len(before[name])) for name in now if name in before}
        return sum(len(now[name] - before[name]) - count for name, count in new.items())

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes a workload file and a drive file for each disk, its serve file if the fleet has
        servers, and `plan.json` with the names of all streams. An existing folder is refused."""
        folder = Path(folder)
        folder.mkdir(parents=True)
        for placed in self.disks:
            drive_file = folder / f"{placed.disk.name}.drive.toml"
            if not drive_file.exists():
                drive_file.write_text(placed.disk.drive.text)
            text = as_file({**self.content(placed), "drive": drive_file.name})
            (folder / f"{placed.name}.workload.toml").write_text(text)
            if self.fleet.serve is not None:
                oracle = Oracle(self.fleet, placed.disk, self.margin_ppm)
                text = oracle.serve_file(placed.name, placed.streams)
                (folder / f"{placed.name}.serve.toml").write_text(text)
        plan = {
            "disks_min": self.disks_min,
            "margin_ppm": self.margin_ppm,
            "failed": sorted(self.failed),
            "disks": [
                {"name": placed.name, "kind": placed.disk.name, "streams": placed.streams}
                for placed in self.disks
            ],
        }
        (folder / "plan.json").write_text(json.dumps(plan, indent=2) + "\n")

    @staticmethod
    def load(folder: str | os.PathLike[str], fleet: Fleet) -> "Plan":
        """Reads the plan of a folder that `write` made, of this fleet or an earlier state of it."""
        path = Path(folder) / "plan.json"
        disk_of = {disk.name: disk for disk in fleet.disks}
        try:
            plan = json.loads(path.read_text())
            disks = [
                Placed(it["name"], disk_of[it["kind"]], pattern_of(fleet, held), held)
                for it in plan["disks"]
                for held in [it["streams"]]
            ]
            return Plan(
                fleet, disks, plan["disks_min"], plan["margin_ppm"], frozenset(plan["failed"])
            )
        except (ValueError, KeyError, TypeError) as error:
            raise PlacementError(
                f"{path} is no plan of this fleet: {error!r}\n"
                "  help: name the folder of an earlier plan, and keep the names of its disks"
            ) from error


def pattern_of(fleet: Fleet, held: Held) -> Pattern:
    """Returns how many streams of each kind these are."""
    return tuple(len(held.get(stream.name, ())) for stream in fleet.streams)


def dealt(
    fleet: Fleet,
    oracles: Sequence[Oracle],
    chosen: Counter[Column],
    disks_min: int,
    failed: frozenset[str] = frozenset(),
) -> Plan:
    """Names the disks and deals the streams to them, the copies of each to different disks."""
    names = [fleet.unused(disk, failed) for disk in fleet.disks]
    disks = [
        (next(names[of]), of, pattern)
        for (of, pattern), count in sorted(chosen.items(), reverse=True)
        for _ in range(count)
    ]
    held: list[dict[str, list[str]]] = [{} for _ in disks]
    for kind, stream in enumerate(fleet.streams):
        left = [pattern[kind] for _, _, pattern in disks]
        surplus = sum(left) - stream.copies
        for index in reversed(range(len(left))):
            unused = min(surplus, left[index])
            left[index], surplus = left[index] - unused, surplus - unused
        places = [index for index, count in enumerate(left) for _ in range(count)]
        # Place i and place i + count have the same stream: a disk has at most `count` in a row.
        for index, name in enumerate(stream.names):
            for copy in range(stream.replicas):
                at = places[index + copy * stream.count]
                held[at].setdefault(stream.name, []).append(name)
    named = ((name, of, streams) for (name, of, _), streams in zip(disks, held, strict=True))
    return proved(fleet, oracles, named, disks_min, failed)


def proved(
    fleet: Fleet,
    oracles: Sequence[Oracle],
    disks: Iterable[tuple[str, int, Held]],
    disks_min: int | None,
    failed: frozenset[str] = frozenset(),
) -> Plan:
    """Makes the plan of the disks that have streams, after `check` has proved each of them."""
    placed: list[Placed] = []
    checked: set[Column] = set()
    for name, of, held in disks:
        pattern = pattern_of(fleet, held)
        is_known = (of, pattern) in checked or not any(pattern)
        checked.add((of, pattern))
        oracle = oracles[of]
        if not is_known and not (oracle.check(pattern).is_proven and oracle.serves(pattern)):
            raise PlacementError(
                f"{name} is not proven although more streams were: please report it"
            )
        if any(pattern):
            placed.append(Placed(name, fleet.disks[of], pattern, held))
    return Plan(fleet, placed, disks_min, oracles[0].margin_ppm, failed)


def _places(plan: Plan) -> dict[str, set[str]]:
    places: dict[str, set[str]] = {}
    for placed in plan.disks:
        for name in itertools.chain.from_iterable(placed.streams.values()):
            places.setdefault(name, set()).add(placed.name)
    return places
