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
"""

import itertools
import json
import math
import os
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from ._native import Drive, TidegateError
from .inputs import as_file, workload
from .inputs import drive as drive_of
from .results import check

#: How many streams of each kind share a disk, in the order of the fleet's streams.
Pattern = tuple[int, ...]

#: A pattern is worth adding if it improves the linear programme by more than rounding errors do.
PRICE_MIN = 1e-6

#: How many patterns one search for a better one may ask `check` about.
ASKED_MAX = 4_000


class PlacementError(TidegateError):
    """The streams do not fit on the disks, or the fleet cannot be read."""


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
        return self.count * self.replicas


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


def _stream(entry: dict[str, Any]) -> Stream:
    name, count = _needed(entry, "stream", "name"), entry.pop("count", 1)
    growth = entry.pop("growth", "0%")
    if not (isinstance(growth, str) and growth.endswith("%") and growth[:-1].isdigit()):
        raise PlacementError(
            f"stream {name}: growth = {growth!r} is no share: write for example 20%"
        )
    count += math.ceil(count * int(growth[:-1]) / 100)
    replicas, tiers = entry.pop("replicas", 1), tuple(entry.pop("tiers", ()))
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


class Oracle:
    """Says which patterns are proved on a kind of disk; asks `check` once for each."""

    def __init__(self, fleet: Fleet, disk: Disk, margin_ppm: int = 0) -> None:
        self.fleet, self.disk, self.margin_ppm = fleet, disk, margin_ppm
        self.answers: dict[Pattern, bool] = {}

    def allows(self, pattern: Pattern) -> bool:
        if (known := self.answers.get(pattern)) is None:
            known = self.answers[pattern] = not any(pattern) or self._is_proven(pattern)
        return known

    def most(self, pattern: Pattern, kind: int, at_most: int) -> int:
        """How many streams of this kind fit beside the pattern: by doubling, then bisection."""
        low, high = 0, min(1, at_most)
        while self.allows(_with(pattern, kind, high)) and high < at_most:
            low, high = high, min(2 * high, at_most)
        while low < high:
            middle = (low + high + 1) // 2
            if self.allows(_with(pattern, kind, middle)):
                low = middle
            else:
                high = middle - 1
        return low

    def content(self, pattern: Pattern) -> dict[str, Any]:
        """The workload of a disk with this pattern."""
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
        return check(workload(self.content(pattern), self.disk.drive), fits=False).is_proven


def _with(pattern: Pattern, kind: int, count: int) -> Pattern:
    return (*pattern[:kind], pattern[kind] + count, *pattern[kind + 1 :])


@dataclass(frozen=True)
class Placed:
    """One disk of a plan: its kind, and the names of its streams by kind."""

    name: str
    disk: Disk
    pattern: Pattern
    streams: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Plan:
    """Which stream is on which disk."""

    fleet: Fleet
    disks: Sequence[Placed]
    #: No plan uses fewer disks.
    disks_min: int
    margin_ppm: int = 0

    @property
    def gap(self) -> int:
        """How many disks more than the lower bound the plan uses."""
        return len(self.disks) - self.disks_min

    def content(self, placed: Placed) -> dict[str, Any]:
        """The workload file of one disk."""
        return Oracle(self.fleet, placed.disk, self.margin_ppm).content(placed.pattern)

    def moved_from(self, other: "Plan") -> int:
        """How many streams are on another disk than in the other plan."""
        before, now = _places(other), _places(self)
        return sum(stream in before and before[stream] != place for stream, place in now.items())

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes a workload and a drive file for each disk, and `plan.json` with the names of all
        streams. An existing folder is refused."""
        folder = Path(folder)
        folder.mkdir(parents=True)
        for placed in self.disks:
            drive_file = folder / f"{placed.disk.name}.drive.toml"
            if not drive_file.exists():
                drive_file.write_text(placed.disk.drive.text)
            text = as_file({"drive": drive_file.name, **self.content(placed)})
            (folder / f"{placed.name}.workload.toml").write_text(text)
        plan = {
            "disks_min": self.disks_min,
            "disks": [
                {"name": placed.name, "kind": placed.disk.name, "streams": placed.streams}
                for placed in self.disks
            ],
        }
        (folder / "plan.json").write_text(json.dumps(plan, indent=2) + "\n")


def _places(plan: Plan) -> dict[str, frozenset[str]]:
    places: dict[str, set[str]] = {}
    for placed in plan.disks:
        for name in itertools.chain.from_iterable(placed.streams.values()):
            places.setdefault(name, set()).add(placed.name)
    return {name: frozenset(disks) for name, disks in places.items()}


def place(
    fleet: Fleet,
    *,
    before: Plan | None = None,
    failed: Iterable[str] = (),
    seconds_max: float = 300.0,
    progress: Callable[[str], None] = lambda said: None,
) -> Plan:
    """Places all streams on the fewest disks, each of them proved.

    With a plan from `before`, only new streams and those of the `failed` disks are placed, beside
    what the others have or on unused disks: no other stream moves. Raises `PlacementError` if the
    streams do not fit, or not without moving others.

    >>> camera = Stream("camera", {"period": "300ms", "size": "128KiB"}, count=100)
    >>> fleet = Fleet([camera], [Disk("shelf", drive_of("maxtor-atlas-10k-v"), count=20)])
    >>> plan = place(fleet)
    >>> len(plan.disks), plan.gap
    (5, 0)
    """
    oracles = [Oracle(fleet, disk) for disk in fleet.disks]
    patterns, disks_min = _columns(fleet, oracles, progress)
    if before is not None:
        return _again(fleet, oracles, before, set(failed), disks_min)
    chosen = _fewest(fleet, patterns, seconds_max)
    greedy = first_fit_decreasing(fleet, oracles)
    if greedy is not None and (chosen is None or sum(greedy.values()) < sum(chosen.values())):
        chosen = greedy
    if chosen is None:
        raise PlacementError(
            f"the streams need at least {disks_min} disks of these kinds; "
            "add disks, or allow longer deadlines"
        )
    return _dealt(fleet, oracles, chosen, disks_min)


def place_with_margin(fleet: Fleet, *, seconds_max: float = 300.0) -> Plan:
    """Places all streams so that the drives may exceed their tables by the largest margin that the
    disks allow, in whole per cent, up to 100 %. It uses as many disks as that needs."""
    best, low, high = None, 0, 100
    while low <= high:
        margin = (low + high) // 2
        oracles = [Oracle(fleet, disk, margin * 10_000) for disk in fleet.disks]
        try:
            patterns, disks_min = _columns(fleet, oracles, lambda said: None)
            chosen = _fewest(fleet, patterns, seconds_max)
        except PlacementError:
            chosen = None
        if chosen is None:
            high = margin - 1
        else:
            best, low = _dealt(fleet, oracles, chosen, disks_min), margin + 1
    if best is None:
        raise PlacementError("the streams do not fit on these disks, even without a margin")
    return best


#: Patterns that a plan uses, as indices of the disk's kind with the pattern, and how often.
Chosen = Counter[tuple[int, Pattern]]


def _may_use(stream: Stream, disk: Disk) -> bool:
    return not stream.tiers or disk.tier in stream.tiers


def _limits(fleet: Fleet, disk: Disk) -> list[int]:
    """The most streams of each kind that one disk may have, whatever is proved: copies of the same
    stream are on different disks."""
    return [stream.count if _may_use(stream, disk) else 0 for stream in fleet.streams]


def first_fit_decreasing(fleet: Fleet, oracles: Sequence[Oracle]) -> Chosen | None:
    """Places stream by stream, the most demanding first, on the first disk that stays proved. It
    returns `None` if they do not fit. This is what people do without a solver."""
    kinds = range(len(fleet.streams))
    empty: Pattern = tuple(0 for _ in kinds)

    def share(kind: int) -> float:
        alone = [oracle.most(empty, kind, _limits(fleet, oracle.disk)[kind]) for oracle in oracles]
        return 1 / max(alone) if max(alone) else math.inf

    free = [disk.count for disk in fleet.disks]
    used: list[tuple[int, Pattern]] = []
    for kind in sorted(kinds, key=share, reverse=True):
        left = fleet.streams[kind].copies
        for index, (of, pattern) in enumerate(used):
            limit = min(left, _limits(fleet, fleet.disks[of])[kind])
            fits = oracles[of].most(pattern, kind, limit)
            used[index] = (of, _with(pattern, kind, fits))
            left -= fits
        while left:
            for of, oracle in enumerate(oracles):
                limit = min(left, _limits(fleet, oracle.disk)[kind])
                fits = oracle.most(empty, kind, limit) if free[of] else 0
                if fits:
                    break
            else:
                return None
            used.append((of, _with(empty, kind, fits)))
            free[of] -= 1
            left -= fits
    return Counter(used)


def _columns(
    fleet: Fleet, oracles: Sequence[Oracle], progress: Callable[[str], None]
) -> tuple[list[tuple[int, Pattern]], int]:
    """Returns the patterns that the optimal linear programme needs, and its value rounded up."""
    kinds = range(len(fleet.streams))
    empty: Pattern = tuple(0 for _ in kinds)
    patterns: list[tuple[int, Pattern]] = []
    for of, oracle in enumerate(oracles):
        limits = _limits(fleet, oracle.disk)
        for kind in kinds:
            most = oracle.most(empty, kind, limits[kind])
            if most:
                patterns.append((of, _with(empty, kind, most)))
    for kind, stream in enumerate(fleet.streams):
        if not any(pattern[kind] for _, pattern in patterns):
            raise PlacementError(f"no disk can serve a single {stream.name}: not proven alone")
    patterns.extend(first_fit_decreasing(fleet, oracles) or {})
    patterns = list(dict.fromkeys(patterns))
    while True:
        prices, rents = _master(fleet, patterns)
        added, scale = [], 1.0
        for of, oracle in enumerate(oracles):
            found = _dearest(oracle, _limits(fleet, oracle.disk), prices)
            rented = 1 + rents[of]
            scale = max(scale, found.worth_max / rented)
            if found.worth > rented + PRICE_MIN and (of, found.pattern) not in patterns:
                added.append((of, found.pattern))
        demand = sum(p * stream.copies for p, stream in zip(prices, fleet.streams, strict=True))
        supply = sum(rent * disk.count for rent, disk in zip(rents, fleet.disks, strict=True))
        disks_min = max(1, math.ceil(demand / scale - supply - PRICE_MIN))
        progress(f"{len(patterns)} patterns, at least {disks_min} disks")
        if not added:
            return patterns, disks_min
        patterns.extend(added)


def _master(
    fleet: Fleet, patterns: Sequence[tuple[int, Pattern]]
) -> tuple[list[float], list[float]]:
    """Solves the linear programme; returns the price of each kind of stream, and what one more disk
    of each kind would save. A disk beyond those at hand costs so much that it is used only where
    nothing else helps, so that there is a solution."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    demand = [solver.Constraint(stream.copies, solver.infinity()) for stream in fleet.streams]
    supply = [solver.Constraint(-solver.infinity(), disk.count) for disk in fleet.disks]
    for of, pattern in patterns:
        for cost, is_at_hand in ((1.0, True), (100.0, False)):
            variable = solver.NumVar(0, solver.infinity(), "")
            solver.Objective().SetCoefficient(variable, cost)
            for kind, count in enumerate(pattern):
                demand[kind].SetCoefficient(variable, count)
            if is_at_hand:
                supply[of].SetCoefficient(variable, 1)
    solver.Objective().SetMinimization()
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        raise PlacementError("the linear programme has no solution")
    prices = [max(0.0, constraint.dual_value()) for constraint in demand]
    return prices, [max(0.0, -row.dual_value()) for row in supply]


@dataclass
class Found:
    """The proved pattern of the highest price that a search found, and what no pattern exceeds."""

    pattern: Pattern
    worth: float = 0.0
    worth_max: float = 0.0


def _dearest(oracle: Oracle, limits: Sequence[int], prices: Sequence[float]) -> Found:
    """Searches for the proved pattern of the highest price. A branch is left if each kind that is
    open, as often as it fits there alone, could not exceed the best found; after `ASKED_MAX`
    questions the branches that are open count as if they could be reached."""
    kinds = [kind for kind in range(len(limits)) if prices[kind] > PRICE_MIN and limits[kind]]
    empty: Pattern = tuple(0 for _ in limits)
    found = Found(empty)
    alone = {kind: oracle.most(empty, kind, limits[kind]) for kind in kinds}
    kinds.sort(key=lambda kind: prices[kind] * alone[kind], reverse=True)
    asked_before = len(oracle.answers)

    def search(pattern: Pattern, worth: float, left: Sequence[int], most: dict[int, int]) -> None:
        if worth > found.worth:
            found.pattern, found.worth = pattern, worth
        reach = worth + sum(prices[kind] * most[kind] for kind in left)
        if not left or reach <= found.worth + PRICE_MIN:
            return
        if len(oracle.answers) - asked_before > ASKED_MAX:
            found.worth_max = max(found.worth_max, reach)
            return
        first, rest = left[0], left[1:]
        for count in range(most[first], -1, -1):
            chosen = _with(pattern, first, count)
            fits = {kind: oracle.most(chosen, kind, most[kind]) for kind in rest}
            search(chosen, worth + prices[first] * count, rest, fits)

    search(empty, 0.0, kinds, alone)
    found.worth_max = max(found.worth_max, found.worth)
    return found


def _fewest(
    fleet: Fleet, patterns: Sequence[tuple[int, Pattern]], seconds_max: float
) -> Chosen | None:
    """Covers all streams with the fewest of these patterns; `None` if the disks do not suffice."""
    model = cp_model.CpModel()
    uses = [model.new_int_var(0, fleet.disks[of].count, "") for of, _ in patterns]
    for kind, stream in enumerate(fleet.streams):
        served = sum(use * pattern[kind] for use, (_, pattern) in zip(uses, patterns, strict=True))
        model.add(served >= stream.copies)
    for index, disk in enumerate(fleet.disks):
        model.add(
            sum(use for use, (of, _) in zip(uses, patterns, strict=True) if of == index)
            <= disk.count
        )
    model.minimize(sum(uses))
    solver = _solved(model, seconds_max)
    if solver is None:
        return None
    chosen = zip(patterns, (solver.value(use) for use in uses), strict=True)
    return Counter({column: count for column, count in chosen if count})


def _solved(model: cp_model.CpModel, seconds_max: float) -> cp_model.CpSolver | None:
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds_max
    solver.parameters.random_seed = 0
    status = solver.solve(model)
    return solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None


def _dealt(fleet: Fleet, oracles: Sequence[Oracle], chosen: Chosen, disks_min: int) -> Plan:
    """Names the disks and deals the streams to them, the copies of each to different disks."""
    numbers = [itertools.count(1) for _ in fleet.disks]
    disks = [
        (f"{fleet.disks[of].name}-{next(numbers[of])}", of, pattern)
        for (of, pattern), count in sorted(chosen.items(), reverse=True)
        for _ in range(count)
    ]
    streams: list[dict[str, list[str]]] = [{} for _ in disks]
    for kind, stream in enumerate(fleet.streams):
        left = [pattern[kind] for _, _, pattern in disks]
        surplus = sum(left) - stream.copies
        for index in reversed(range(len(left))):
            unused = min(surplus, left[index])
            left[index], surplus = left[index] - unused, surplus - unused
        places = [index for index, count in enumerate(left) for _ in range(count)]
        # Place i and place i + count have the same stream: a disk has at most `count` in a row.
        for index, name in enumerate(_names(stream)):
            for copy in range(stream.replicas):
                at = places[index + copy * stream.count]
                streams[at].setdefault(stream.name, []).append(name)
    named = ((name, of, held) for (name, of, _), held in zip(disks, streams, strict=True))
    return _plan(fleet, oracles, named, disks_min)


def _pattern(fleet: Fleet, held: Mapping[str, Sequence[str]]) -> Pattern:
    return tuple(len(held.get(stream.name, ())) for stream in fleet.streams)


def _again(
    fleet: Fleet, oracles: Sequence[Oracle], before: Plan, failed: set[str], disks_min: int
) -> Plan:
    """Places what the failed disks had, and new streams: beside what the other disks have, or else
    on unused disks. No other stream moves."""
    unknown = failed - {placed.name for placed in before.disks}
    if unknown:
        raise PlacementError(f"the plan has no disk {', '.join(sorted(unknown))}")
    of_kind = {disk.name: index for index, disk in enumerate(fleet.disks)}
    names = [placed.name for placed in before.disks if placed.name not in failed]
    kinds = [of_kind[placed.disk.name] for placed in before.disks if placed.name not in failed]
    held = [
        {kind: list(streams) for kind, streams in placed.streams.items()}
        for placed in before.disks
        if placed.name not in failed
    ]
    # A failed disk is not at hand again.
    gone = Counter(of_kind[placed.disk.name] for placed in before.disks)
    free = [disk.count - gone[index] for index, disk in enumerate(fleet.disks)]
    taken = {placed.name for placed in before.disks}
    for kind, stream in enumerate(fleet.streams):
        present = Counter(name for streams in held for name in streams.get(stream.name, ()))
        for name in _names(stream):
            for _ in range(stream.replicas - present[name]):
                at = _home(fleet, oracles, kinds, held, kind, name)
                if at is None:
                    at = _opened(fleet, oracles, free, kind, kinds, held)
                    if at is None:
                        raise PlacementError(
                            f"{name} fits nowhere unless others move; place the whole fleet again"
                        )
                    numbered = (f"{fleet.disks[kinds[at]].name}-{n}" for n in itertools.count(1))
                    names.append(next(name for name in numbered if name not in taken))
                    taken.add(names[at])
                held[at].setdefault(stream.name, []).append(name)
    return _plan(fleet, oracles, zip(names, kinds, held, strict=True), disks_min)


def _names(stream: Stream) -> list[str]:
    return [f"{stream.name}-{1 + number}" for number in range(stream.count)]


def _home(
    fleet: Fleet,
    oracles: Sequence[Oracle],
    kinds: Sequence[int],
    held: Sequence[Mapping[str, Sequence[str]]],
    kind: int,
    name: str,
) -> int | None:
    """Returns the first disk in use that stays proved with one more stream of this kind."""
    stream = fleet.streams[kind]
    for index, (of, streams) in enumerate(zip(kinds, held, strict=True)):
        may = _may_use(stream, fleet.disks[of]) and name not in streams.get(stream.name, ())
        if may and oracles[of].allows(_with(_pattern(fleet, streams), kind, 1)):
            return index
    return None


def _opened(
    fleet: Fleet,
    oracles: Sequence[Oracle],
    free: list[int],
    kind: int,
    kinds: list[int],
    held: list[dict[str, list[str]]],
) -> int | None:
    """Takes an unused disk that is proved with one stream of this kind, and returns its index."""
    one = _with(tuple(0 for _ in fleet.streams), kind, 1)
    for of, disk in enumerate(fleet.disks):
        if free[of] and _may_use(fleet.streams[kind], disk) and oracles[of].allows(one):
            free[of] -= 1
            kinds.append(of)
            held.append({})
            return len(kinds) - 1
    return None


def _plan(
    fleet: Fleet,
    oracles: Sequence[Oracle],
    disks: Iterable[tuple[str, int, Mapping[str, Sequence[str]]]],
    disks_min: int,
) -> Plan:
    """Makes the plan of the disks that have streams, after `check` has proved each of them."""
    placed = []
    for name, of, held in disks:
        pattern = _pattern(fleet, held)
        if not oracles[of].allows(pattern):
            raise PlacementError(
                f"{name} is not proven although more streams were: please report it"
            )
        if any(pattern):
            placed.append(Placed(name, fleet.disks[of], pattern, held))
    return Plan(fleet, placed, disks_min, oracles[0].margin_ppm)
