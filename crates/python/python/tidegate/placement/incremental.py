# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Changes of a plan with the fewest moves: what failed disks had, and new streams."""

from collections import Counter
from collections.abc import Mapping, Sequence

from .fleet import Fleet, NoPlanFoundError, Pattern, PlacementError, more
from .moves import fewest_moves
from .oracle import Oracle
from .plan import Plan, pattern_of, proved


class Shelf:
    """The disks of a plan while it changes, and the unused ones."""

    def __init__(self, fleet: Fleet, before: Plan, failed: frozenset[str]) -> None:
        self.fleet, self.failed = fleet, failed
        of_kind = {disk.name: index for index, disk in enumerate(fleet.disks)}
        kept = [placed for placed in before.disks if placed.name not in failed]
        for placed in kept:
            if placed.name not in fleet.disk_names:
                raise PlacementError(
                    f"the fleet has no disk {placed.name}, which the plan uses; keep it in the "
                    "fleet, where `count` includes failed disks, or name it as failed"
                )
        self.names = [placed.name for placed in kept]
        self.kinds = [of_kind[placed.disk.name] for placed in kept]
        self.held: list[dict[str, list[str]]] = [
            {kind: list(names) for kind, names in placed.streams.items()} for placed in kept
        ]
        # A failed disk is not at hand again.
        self.taken = {placed.name for placed in before.disks} | failed
        self.free = fleet.free(self.taken)

    def pattern(self, index: int) -> Pattern:
        """Returns how many streams of each kind a disk in use has."""
        return pattern_of(self.fleet, self.held[index])

    def open(self, of: int) -> int:
        """Takes an unused disk of this kind and returns its index."""
        self.names.append(next(self.fleet.unused(self.fleet.disks[of], self.taken)))
        self.taken.add(self.names[-1])
        self.kinds.append(of)
        self.held.append({})
        self.free[of] -= 1
        return len(self.names) - 1

    def missing(self) -> list[tuple[int, str]]:
        """Returns each copy of a stream that no disk has: its kind and its name."""
        return [
            (kind, name)
            for kind, stream in enumerate(self.fleet.streams)
            for present in [self._present(stream.name)]
            for name in stream.names
            for _ in range(stream.replicas - present[name])
        ]

    def evict(self, oracles: Sequence[Oracle]) -> None:
        """Takes from the disks the streams and copies that the fleet no longer has, and the streams
        whose tiers exclude their disk. From a disk that is no longer proved, takes the most
        demanding streams until it is."""
        copies: Counter[str] = Counter()
        for index, of in enumerate(self.kinds):
            limits, alone = oracles[of].limits, oracles[of].alone()
            held = self.held[index]
            self.held[index] = {}
            for kind, stream in enumerate(self.fleet.streams):
                known = set(stream.names) if limits[kind] else set()
                kept = [
                    name
                    for name in held.get(stream.name, ())
                    if name in known and copies[name] < stream.replicas
                ]
                copies.update(kept)
                self.held[index][stream.name] = kept
            while not oracles[of].allows(pattern := self.pattern(index)):
                present = [kind for kind, count in enumerate(pattern) if count]
                most_demanding = min(present, key=alone.__getitem__)
                self.held[index][self.fleet.streams[most_demanding].name].pop()

    def _present(self, kind: str) -> Counter[str]:
        return Counter(name for held in self.held for name in held.get(kind, ()))


def changed(
    fleet: Fleet,
    oracles: Sequence[Oracle],
    before: Plan,
    failed: frozenset[str],
    seconds_max: float,
) -> Plan:
    """Places what the failed disks had, new streams, and what may not stay where it is. If they fit
    beside the others or on unused disks by first fit, no other stream moves; otherwise an integer
    programme moves few."""
    fleet.refuse_unknown(failed - before.failed - {placed.name for placed in before.disks})
    shelf = Shelf(fleet, before, before.failed | failed)
    shelf.evict(oracles)
    if not _first_fit(shelf, oracles):
        shelf = Shelf(fleet, before, before.failed | failed)
        shelf.evict(oracles)
        _move(shelf, oracles, seconds_max)
    disks = zip(shelf.names, shelf.kinds, shelf.held, strict=True)
    return proved(fleet, oracles, disks, None, shelf.failed)


def _first_fit(shelf: Shelf, oracles: Sequence[Oracle]) -> bool:
    """Puts each missing stream on the first disk in use that stays proved, or on an unused one;
    returns whether all found a place."""
    full: set[tuple[int, int]] = set()
    for kind, name in shelf.missing():
        at = _home(shelf, oracles, full, kind, name)
        if at is None:
            at = _opened(shelf, oracles, kind)
        if at is None:
            return False
        shelf.held[at].setdefault(shelf.fleet.streams[kind].name, []).append(name)
    return True


def _home(
    shelf: Shelf, oracles: Sequence[Oracle], full: set[tuple[int, int]], kind: int, name: str
) -> int | None:
    stream = shelf.fleet.streams[kind]
    for index, of in enumerate(shelf.kinds):
        if (index, kind) in full or name in shelf.held[index].get(stream.name, ()):
            continue
        if oracles[of].limits[kind] and oracles[of].allows(more(shelf.pattern(index), kind)):
            return index
        full.add((index, kind))
    return None


def _opened(shelf: Shelf, oracles: Sequence[Oracle], kind: int) -> int | None:
    one = more(shelf.fleet.empty, kind)
    for of, oracle in enumerate(oracles):
        if shelf.free[of] and oracle.limits[kind] and oracle.allows(one):
            return shelf.open(of)
    return None


def _move(shelf: Shelf, oracles: Sequence[Oracle], seconds_max: float) -> None:
    """Chooses for each disk the pattern with which the fewest streams move, and moves them."""
    present = [(of, shelf.pattern(index)) for index, of in enumerate(shelf.kinds)]
    chosen = fewest_moves(shelf.fleet, oracles, present, shelf.free, seconds_max)
    targets: dict[int, Pattern] = {}
    for index, column in enumerate(present):
        targets[index] = chosen[column].pop()
    for of in range(len(oracles)):
        for pattern in chosen.get((of, None), []):
            targets[shelf.open(of)] = pattern
    for kind, stream in enumerate(shelf.fleet.streams):
        for index, target in targets.items():
            del shelf.held[index].get(stream.name, [])[target[kind] :]
        _settle(shelf, {index: target[kind] for index, target in targets.items()}, kind)


def _settle(shelf: Shelf, room: Mapping[int, int], kind: int) -> None:
    """Gives a place to each copy of a stream that has none, with no two copies of a stream on one
    disk. Solves a flow from streams to disks with room."""
    from ortools.graph.python import max_flow

    stream = shelf.fleet.streams[kind]
    needs = Counter(name for missing, name in shelf.missing() if missing == kind)
    names = sorted(needs)
    held = {index: set(shelf.held[index].get(stream.name, ())) for index in room}
    disks = [index for index in room if room[index] > len(held[index])]
    source, sink, first_disk = 0, 1, 2 + len(names)
    flow = max_flow.SimpleMaxFlow()
    for number, name in enumerate(names):
        flow.add_arc_with_capacity(source, 2 + number, needs[name])
    arcs = {
        flow.add_arc_with_capacity(2 + number, first_disk + position, 1): (name, index)
        for number, name in enumerate(names)
        for position, index in enumerate(disks)
        if name not in held[index]
    }
    for position, index in enumerate(disks):
        flow.add_arc_with_capacity(first_disk + position, sink, room[index] - len(held[index]))
    if names and (flow.solve(source, sink) != flow.OPTIMAL or flow.optimal_flow() < needs.total()):
        failed = f" with {', '.join(sorted(shelf.failed))} failed" if shelf.failed else ""
        raise NoPlanFoundError(
            f"the copies of {stream.name} cannot be kept apart with the fewest moves; "
            f"place the whole fleet again{failed}, without the earlier plan"
        )
    for arc, (name, index) in arcs.items():
        if flow.flow(arc):
            shelf.held[index].setdefault(stream.name, []).append(name)
