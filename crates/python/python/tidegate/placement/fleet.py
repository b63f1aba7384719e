# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fleets: streams, and the disks to place them on."""

import itertools
import math
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._native import Drive, TidegateError
from ..drives import drive_beside

#: The keys of a stream that a server's contract has too, with their names there.
CONTRACT_KEYS = {
    "period": "period",
    "deadline": "deadline",
    "requests": "requests",
    "size": "size_max",
    "op": "op",
}

#: The sections of every disk that a serve file has too.
SHARED_KEYS = ("host", "absent_places")

#: The number of streams of each kind that share a disk, in the order of the fleet's streams.
Pattern = tuple[int, ...]


class PlacementError(TidegateError):
    """The fleet or an earlier plan cannot be used."""


class NotPlacedError(PlacementError):
    """The streams do not fit on the disks."""


class NoPlanFoundError(NotPlacedError):
    """No plan was found, although no lower bound excludes one."""


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
    #: The size of its export, for example `200GiB`, if each disk has a server.
    export: str = ""

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
    """A kind of like disks: `count` of them, failed ones included, with the names `shelf-1`,
    `shelf-2`, ..."""

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
    #: The keys of every disk's serve file beside its streams, with `{disk}` for the disk's name;
    #: `simulate = True` stands for the disk's drive file. `None` if no disk has a server.
    serve: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self.streams or not self.disks:
            raise PlacementError("a fleet needs at least one stream and one disk")
        if not isinstance(self.policy, Mapping):
            raise PlacementError(f"policy = {self.policy!r} is no table; write [policy]")
        for stream in self.streams:
            _counted(f"stream {stream.name}", count=stream.count, replicas=stream.replicas)
            _without(stream.task, {"name", "count"}, f"the task of stream {stream.name}")
        for disk in self.disks:
            _counted(f"disk {disk.name}", count=disk.count)
            if not disk.name or "/" in disk.name or "\0" in disk.name:
                raise PlacementError(f"disk {disk.name!r}: files are named after it; choose a name")
        _without(self.shared, {"drive", "policy", "task"}, "the sections of every disk")
        _differ("streams", [stream.name for stream in self.streams])
        _differ("disks", [disk.name for disk in self.disks])
        self._check_servers()

    def _check_servers(self) -> None:
        for stream in self.streams:
            what = f"stream {stream.name}"
            if self.serve is None:
                if stream.export:
                    raise PlacementError(f"{what} has an `export`: a server needs a [serve] table")
                continue
            if not stream.export:
                raise PlacementError(f'{what}: write the size of its export, `export = "200GiB"`')
            if unknown := sorted(stream.task.keys() - CONTRACT_KEYS.keys()):
                raise PlacementError(f"{what}: a contract has no `{unknown[0]}`; delete it")
        if self.serve is None:
            return
        _without(self.serve, {"drive", "policy", *SHARED_KEYS}, "[serve]")
        if ("backing" in self.serve) == bool(self.serve.get("simulate")):
            raise PlacementError(
                '[serve] needs `backing`, for example "/dev/disk/by-partlabel/{disk}", or '
                "`simulate = true`"
            )

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "Fleet":
        """Reads a fleet file: streams, disks, `[policy]`, `[serve]`, and sections of every disk."""
        with open(path, "rb") as file:
            content = tomllib.load(file)
        folder = Path(path).parent
        streams = [_stream(dict(entry)) for entry in content.pop("stream", [])]
        disks = [_disk(dict(entry), folder) for entry in content.pop("disk", [])]
        policy = content.pop("policy", {"name": "dqf", "batch": "auto"})
        serve = content.pop("serve", None)
        for interference in _interferences(content):
            if isinstance(profile := interference.get("file"), str):
                # Absolute, because the plan's files are written to another folder.
                interference["file"] = str((folder / profile).absolute())
        try:
            return Fleet(streams, disks, policy, content, serve)
        except PlacementError as error:
            raise PlacementError(f"{path}: {error}") from error

    @property
    def empty(self) -> Pattern:
        """The pattern of a disk without streams."""
        return (0,) * len(self.streams)

    def free(self, taken: Collection[str]) -> list[int]:
        """How many disks of each kind are left without those that are taken."""
        return [len(names.difference(taken)) for names in self._names_by_kind()]

    def refuse_unknown(self, names: Collection[str]) -> None:
        """Refuses names that no disk of the fleet has."""
        if unknown := set(names) - self.disk_names:
            raise PlacementError(f"the fleet has no disk {', '.join(sorted(unknown))}")

    @property
    def disk_names(self) -> set[str]:
        """The names of all disks."""
        return set().union(*self._names_by_kind())

    def _names_by_kind(self) -> list[set[str]]:
        return [{f"{disk.name}-{1 + n}" for n in range(disk.count)} for disk in self.disks]

    def unused(self, disk: Disk, taken: Collection[str]) -> Iterator[str]:
        """The names of the disks of a kind, without those that are taken."""
        names = (f"{disk.name}-{number}" for number in itertools.count(1))
        return (name for name in names if name not in taken)

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
    _counted(f"stream {name}", count=count)
    count += math.ceil(count * int(growth[:-1]) / 100)
    replicas, tiers = entry.pop("replicas", 1), tuple(entry.pop("tiers", ()))
    return Stream(name, entry, count, replicas, tiers, entry.pop("export", ""))


def _disk(entry: dict[str, Any], folder: Path) -> Disk:
    name = _needed(entry, "disk", "drive")
    drive = drive_beside(name, folder)
    count, tier = entry.pop("count", 1), entry.pop("tier", "")
    known = entry.pop("name", drive.name)
    if entry:
        raise PlacementError(f"disk {known}: unknown field `{next(iter(entry))}`")
    return Disk(known, drive, count, tier)


def _needed(entry: dict[str, Any], what: str, key: str) -> Any:
    if key not in entry:
        raise PlacementError(f"a [[{what}]] has no `{key}`")
    return entry.pop(key)


def _interferences(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of a workload file that name a profile of a processor."""
    host, of_tasks = content.get("host"), content.get("cpu_interference")
    found = [host.get("interference")] if isinstance(host, dict) else []
    found += of_tasks if isinstance(of_tasks, list) else []
    return [entry for entry in found if isinstance(entry, dict)]


def _counted(what: str, **counts: Any) -> None:
    for key, value in counts.items():
        if not isinstance(value, int) or value < 1:
            raise PlacementError(f"{what}: {key} = {value!r} is not a whole number above 0")


def _without(content: Mapping[str, Any], keys: set[str], what: str) -> None:
    if present := sorted(keys & content.keys()):
        raise PlacementError(f"`{present[0]}` is no field of {what}: the plan sets it; delete it")


def _differ(what: str, names: Sequence[str]) -> None:
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise PlacementError(f"two kinds of {what} are named {min(twice)}; give each its own name")
