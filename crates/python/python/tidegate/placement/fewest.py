# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Plans with the fewest disks, and plans with the largest margin."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ortools.sat.python import cp_model

from .columns import columns, near, refusal
from .fleet import Fleet, NotPlacedError
from .greedy import Column, first_fit_decreasing
from .incremental import changed
from .moves import NONE_COVERS, TIME_IS_UP
from .oracle import Oracle
from .plan import Plan, dealt

#: Bands of patterns that the integer programme gets in addition to those of the linear
#: programme. Each band has the most by which a pattern may be worth less than a disk, and the
#: largest number of patterns for each kind of disk. If no plan is found, the next band is added.
BANDS = ((0.04, 300), (0.2, 1_000), (0.6, 3_000), (1.0, 10_000))


def place(
    fleet: Fleet,
    *,
    before: Plan | None = None,
    failed: Iterable[str] = (),
    seconds_max: float = 300.0,
    progress: Callable[[str], None] = lambda said: None,
) -> Plan:
    """Places all streams on the fewest disks, each of them proved.

    `failed` disks of the fleet are not used. With an earlier plan `before`, the streams of failed
    disks and new streams are placed with as few moves of other streams as the search finds, and
    with none if they fit beside the others or on unused disks. Raises `NotPlacedError` if the
    streams do not fit, and `NoPlanFoundError`, a kind of it, if the search found no plan but none
    is excluded either.

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
    lost = frozenset(failed)
    if before is not None:
        oracles = [Oracle(fleet, disk, before.margin_ppm) for disk in fleet.disks]
        return changed(fleet, oracles, before, lost, seconds_max)
    fleet.refuse_unknown(lost)
    oracles = [Oracle(fleet, disk) for disk in fleet.disks]
    chosen, disks_min = _solved(fleet, oracles, fleet.free(lost), seconds_max, progress)
    return dealt(fleet, oracles, chosen, disks_min, lost)


def place_with_margin(
    fleet: Fleet, *, failed: Iterable[str] = (), seconds_max: float = 300.0
) -> Plan:
    """Places all streams so that the drives may exceed their tables by the largest margin for which
    the search finds a plan, in whole per cent, up to 100 %. It uses as many disks as that needs.
    A margin in the fleet's policy is refused.

    >>> from tidegate import drive
    >>> from tidegate.placement import Disk, Stream
    >>> camera = Stream("camera", {"period": "300ms", "size": "128KiB"}, count=100)
    >>> fleet = Fleet([camera], [Disk("shelf", drive("maxtor-atlas-10k-v"), count=7)])
    >>> plan = place_with_margin(fleet)
    >>> len(plan.disks), plan.margin_ppm
    (7, 530000)
    """
    lost = frozenset(failed)
    fleet.refuse_unknown(lost)
    best, low, high = None, 0, 100
    refused = None
    while low <= high:
        margin = (low + high) // 2
        oracles = [Oracle(fleet, disk, margin * 10_000) for disk in fleet.disks]
        try:
            chosen, disks_min = _solved(fleet, oracles, fleet.free(lost), seconds_max)
        except NotPlacedError as error:
            refused, high = error, margin - 1
        else:
            best, low = dealt(fleet, oracles, chosen, disks_min, lost), margin + 1
    if best is None and refused is not None:
        # The last margin that was tried is 0.
        raise refused
    assert best is not None
    return best


def _solved(
    fleet: Fleet,
    oracles: Sequence[Oracle],
    free: Sequence[int],
    seconds_max: float,
    progress: Callable[[str], None] = lambda said: None,
) -> tuple[Counter[Column], int]:
    """Returns how often each pattern is used, and the lower bound of the number of disks."""
    optimal = columns(fleet, oracles, free, progress)
    greedy = first_fit_decreasing(fleet, oracles, free)
    patterns, chosen, searched = set(optimal.patterns), None, ""
    for share, count_max in BANDS if optimal.disks_min <= sum(free) else ():
        patterns.update(near(oracles, optimal, share, count_max))
        chosen, searched = _fewest(fleet, sorted(patterns), free, optimal.disks_min, seconds_max)
        if chosen or greedy or searched == TIME_IS_UP:
            break
    found = [plan for plan in (chosen, greedy) if plan is not None]
    if not found:
        raise refusal(fleet, oracles, free, searched)
    return min(found, key=Counter.total), optimal.disks_min


def _fewest(
    fleet: Fleet,
    patterns: Sequence[Column],
    free: Sequence[int],
    disks_min: int,
    seconds_max: float,
) -> tuple[Counter[Column] | None, str]:
    """Covers all streams with the fewest of these patterns; `None` and why if that fails."""
    model = cp_model.CpModel()
    uses = [model.new_int_var(0, free[of], "") for of, _ in patterns]
    for kind, stream in enumerate(fleet.streams):
        served = sum(use * pattern[kind] for use, (_, pattern) in zip(uses, patterns, strict=True))
        model.add(served >= stream.copies)
    for index, count in enumerate(free):
        model.add(
            sum(use for use, (of, _) in zip(uses, patterns, strict=True) if of == index) <= count
        )
    model.add(sum(uses) >= disks_min)
    model.minimize(sum(uses))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds_max
    solver.parameters.random_seed = 0
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, NONE_COVERS if status == cp_model.INFEASIBLE else TIME_IS_UP
    chosen = zip(patterns, (solver.value(use) for use in uses), strict=True)
    return Counter({column: count for column, count in chosen if count}), ""
