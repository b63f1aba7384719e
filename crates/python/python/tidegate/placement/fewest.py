# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Plans with the fewest disks, and plans with the largest margin."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ortools.sat.python import cp_model

from .columns import columns
from .fleet import Fleet, NotPlacedError
from .greedy import Column, first_fit_decreasing
from .incremental import changed
from .oracle import Oracle
from .plan import Plan, dealt


def place(
    fleet: Fleet,
    *,
    before: Plan | None = None,
    failed: Iterable[str] = (),
    seconds_max: float = 300.0,
    progress: Callable[[str], None] = lambda said: None,
) -> Plan:
    """Places all streams on the fewest disks, each of them proved.

    With a plan from `before`, what the `failed` disks had and new streams are placed with the
    fewest moves of other streams; where no move is needed, none is made. Raises `NotPlacedError`
    if the streams do not fit.

    >>> from tidegate import drive
    >>> from tidegate.placement import Disk, Stream
    >>> camera = Stream("camera", {"period": "300ms", "size": "128KiB"}, count=100)
    >>> fleet = Fleet([camera], [Disk("shelf", drive("maxtor-atlas-10k-v"), count=20)])
    >>> plan = place(fleet)
    >>> len(plan.disks), plan.gap
    (5, 0)
    >>> again = place(fleet, before=plan, failed=["shelf-2"])
    >>> again.moved_from(plan), len(plan.disks[1].streams["camera"])
    (24, 24)
    """
    if before is not None:
        oracles = [Oracle(fleet, disk, before.margin_ppm) for disk in fleet.disks]
        return changed(fleet, oracles, before, set(failed), seconds_max)
    oracles = [Oracle(fleet, disk) for disk in fleet.disks]
    patterns, disks_min = columns(fleet, oracles, progress)
    chosen = _fewest(fleet, patterns, disks_min, seconds_max)
    greedy = first_fit_decreasing(fleet, oracles)
    if greedy is not None and (chosen is None or greedy.total() < chosen.total()):
        chosen = greedy
    if chosen is None:
        raise NotPlacedError(
            f"the streams need at least {_at_least(fleet, progress)} disks of these kinds; "
            "add disks, or allow longer deadlines"
        )
    return dealt(fleet, oracles, chosen, disks_min)


def _at_least(fleet: Fleet, progress: Callable[[str], None]) -> int:
    """Returns how many disks the streams need at least, if there were enough of each kind."""
    copies = sum(stream.copies for stream in fleet.streams)
    enough = replace(fleet, disks=[replace(disk, count=copies) for disk in fleet.disks])
    return columns(enough, [Oracle(enough, disk) for disk in enough.disks], progress)[1]


def place_with_margin(fleet: Fleet, *, seconds_max: float = 300.0) -> Plan:
    """Places all streams so that the drives may exceed their tables by the largest margin that the
    disks allow, in whole per cent, up to 100 %. It uses as many disks as that needs.

    >>> from tidegate import drive
    >>> from tidegate.placement import Disk, Stream
    >>> camera = Stream("camera", {"period": "300ms", "size": "128KiB"}, count=100)
    >>> fleet = Fleet([camera], [Disk("shelf", drive("maxtor-atlas-10k-v"), count=7)])
    >>> plan = place_with_margin(fleet)
    >>> len(plan.disks), plan.margin_ppm
    (7, 530000)
    """
    best, low, high = None, 0, 100
    while low <= high:
        margin = (low + high) // 2
        oracles = [Oracle(fleet, disk, margin * 10_000) for disk in fleet.disks]
        try:
            patterns, disks_min = columns(fleet, oracles, lambda said: None)
            chosen = _fewest(fleet, patterns, disks_min, seconds_max)
        except NotPlacedError:
            chosen = None
        if chosen is None:
            high = margin - 1
        else:
            best, low = dealt(fleet, oracles, chosen, disks_min), margin + 1
    if best is None:
        raise NotPlacedError("the streams do not fit on these disks, even without a margin")
    return best


def _fewest(
    fleet: Fleet, patterns: Sequence[Column], disks_min: int, seconds_max: float
) -> Counter[Column] | None:
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
    model.add(sum(uses) >= disks_min)
    model.minimize(sum(uses))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds_max
    solver.parameters.random_seed = 0
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    chosen = zip(patterns, (solver.value(use) for use in uses), strict=True)
    return Counter({column: count for column, count in chosen if count})
