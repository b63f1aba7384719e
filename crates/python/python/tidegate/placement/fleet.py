# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fleets: streams, and the disks to place them on."""

import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._native import Drive, TidegateError
from ..drives import drive as drive_of

#: How many streams of each kind share a disk, in the order of the fleet's streams.
Pattern = tuple[int, ...]


class PlacementError(TidegateError):
    """The fleet or an earlier plan cannot be used."""


class NotPlacedError(PlacementError):
    """The streams do not fit on the disks."""


@dataclass(frozen=True)
class Stream:
    """A kind of like streams: `count` of them, each on `replicas` different disks."""

    name: str
    #: The keys of a `[[task]]`, without `name` and `count`.
    task: Mapping[str, Any]
    count: int
    replicas: int = 1
    #: The tiers of the disks that it may use; all if empty.
    tiers: tuple[str, ...] = ()

    @property
    def copies(self) -> int:
        """How many places on disks its streams need."""
        return self.count * self.replicas

    @property
    def names(self) -> list[str]:
        """The names of its streams: `camera-1`, `camera-2`, ..."""
        return [f"{self.name}-{1 + number}" for number in range(self.count)]

    def may_use(self, disk: "Disk") -> bool:
        """Whether its tiers allow this kind of disk."""
        return not self.tiers or disk.tier in self.tiers


@dataclass(frozen=True)
class Disk:
    """A kind of like disks: `count` of them."""

    name: str
    drive: Drive
    count: int
    tier: str = ""


@dataclass(frozen=True)
class Fleet:
    """Streams, the disks to place them on, and the policy of every disk."""

    streams: Sequence[Stream]
    disks: Sequence[Disk]
    policy: Mapping[str, Any] = field(default_factory=lambda: {"name": "dqf", "batch": "auto"})
    #: Workload sections for every disk beside its streams, for example `best_effort`.
    shared: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "Fleet":
        """Reads a fleet file: `[[stream]]`, `[[disk]]`, `[policy]`, and sections of every disk."""
        with open(path, "rb") as file:
            content = tomllib.load(file)
        folder = Path(path).parent
        streams = [_stream(dict(entry)) for entry in content.pop("stream", [])]
        disks = [_disk(dict(entry), folder) for entry in content.pop("disk", [])]
        if not streams or not disks:
            raise PlacementError(f"{path}: a fleet needs at least one [[stream]] and one [[disk]]")
        policy = content.pop("policy", {"name": "dqf", "batch": "auto"})
        return Fleet(streams, disks, policy, content)

    @property
    def empty(self) -> Pattern:
        """The pattern of a disk without streams."""
        return (0,) * len(self.streams)

    def limits(self, disk: Disk) -> list[int]:
        """The most streams of each kind that one disk may have, whatever is proved: copies of the
        same stream are on different disks."""
        return [stream.count if stream.may_use(disk) else 0 for stream in self.streams]


def more(pattern: Pattern, kind: int, count: int = 1) -> Pattern:
    """Returns the pattern with `count` more streams of a kind."""
    return (*pattern[:kind], pattern[kind] + count, *pattern[kind + 1 :])


def _stream(entry: dict[str, Any]) -> Stream:
    name, count = _needed(entry, "stream", "name"), entry.pop("count", 1)
    growth = entry.pop("growth", "0%")
    if not (isinstance(growth, str) and growth.endswith("%") and growth[:-1].isdigit()):
        raise PlacementError(
            f"stream {name}: growth = {growth!r} is no share: write for example 20%"
        )
    count += math.ceil(count * int(growth[:-1]) / 100)
    replicas, tiers = entry.pop("replicas", 1), tuple(entry.pop("tiers", ()))
    for key, value in (("count", count), ("replicas", replicas)):
        if not isinstance(value, int) or value < 1:
            raise PlacementError(f"stream {name}: {key} = {value!r} is no number above 0")
    return Stream(name, entry, count, replicas, tiers)


def _disk(entry: dict[str, Any], folder: Path) -> Disk:
    name = _needed(entry, "disk", "drive")
    beside = folder / name
    drive = drive_of(beside if beside.is_file() else name)
    count, tier = entry.pop("count", 1), entry.pop("tier", "")
    known = entry.pop("name", drive.name)
    if entry:
        raise PlacementError(f"disk {known}: unknown field `{next(iter(entry))}`")
    return Disk(known, drive, count, tier)


def _needed(entry: dict[str, Any], what: str, key: str) -> Any:
    if key not in entry:
        raise PlacementError(f"a [[{what}]] has no `{key}`")
    return entry.pop(key)
