# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The linear programme over patterns: which patterns a good plan uses, and the lower bound."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ortools.linear_solver import pywraplp

from .fleet import Fleet, NoPlanFoundError, NotPlacedError, PlacementError, more
from .greedy import Column, first_fit_decreasing
from .oracle import Oracle
from .pricing import WORTH_MIN, dearest

#: The cost of a disk beyond those at hand: such a disk is used only where nothing else helps, so
#: that there is always a solution.
COST_BEYOND = 100.0

#: The least price of a stream in the search for near patterns.
PRICE_MIN = 1e-3

#: The largest number of patterns that are added after one search.
ADDED_MAX = 4


@dataclass(frozen=True)
class Columns:
    """The patterns that the optimal linear programme needs, and the lower bound."""

    patterns: list[Column]
    #: The lower bound: every plan that uses only disks at hand uses at least this many.
    disks_min: int
    prices: Sequence[float]
    rents: Sequence[float]


def columns(
    fleet: Fleet,
    oracles: Sequence[Oracle],
    free: Sequence[int],
    progress: Callable[[str], None] = lambda said: None,
) -> Columns:
    """Returns the patterns that the optimal linear programme needs, and its value rounded up.
    `free` has the number of disks of each kind that are at hand."""
    patterns = _first(fleet, oracles, free)
    known = set(patterns)
    disks_min = 1
    while True:
        prices, rents = _prices(fleet, patterns, free)
        added, worths_max = [], []
        for of, oracle in enumerate(oracles):
            found = dearest(oracle, _worths(oracle, prices))
            worths_max.append(found.worth_max)
            if found.worth > 1 + rents[of] + WORTH_MIN:
                added += [(of, pattern) for pattern in found.patterns[-ADDED_MAX:]]
        disks_min = max(disks_min, _at_least(fleet, prices, worths_max, free))
        progress(f"{len(patterns)} patterns, at least {disks_min} disks")
        added = [column for column in added if column not in known]
        if not added:
            return Columns(patterns, disks_min, prices, rents)
        patterns += added
        known.update(added)


def near(
    oracles: Sequence[Oracle], optimal: Columns, share: float, count_max: int
) -> Iterator[Column]:
    """Yields patterns whose worth is below a disk's by at most this share. A plan of whole disks
    needs them for the streams that better patterns leave over. Yields at most `count_max` for each
    kind of disk."""
    # Streams without a price, which are left over in the linear programme, need a place too.
    prices = [max(price, PRICE_MIN) for price in optimal.prices]
    for of, oracle in enumerate(oracles):
        worth = (1 - share) * (1 + optimal.rents[of])
        for pattern in dearest(oracle, _worths(oracle, prices), worth, count_max).patterns:
            yield of, pattern


def refusal(
    fleet: Fleet, oracles: Sequence[Oracle], free: Sequence[int], searched: str
) -> NotPlacedError:
    """Returns why there is no plan: a lower bound excludes one, or the search has `searched` and
    found none."""
    copies = sum(stream.copies for stream in fleet.streams)
    disks_min = columns(fleet, oracles, [copies] * len(free)).disks_min
    advice = "add disks, or allow longer deadlines"
    if disks_min > sum(free):
        return NotPlacedError(
            f"the streams need at least {disks_min} disks of these kinds; {advice}"
        )
    if columns(fleet, oracles, free).disks_min > sum(free):
        return NotPlacedError(f"the streams need more disks of some kind than there are; {advice}")
    return NoPlanFoundError(
        f"{searched}, and none is excluded on the {sum(free)} disks at hand; {advice}"
    )


def _worths(oracle: Oracle, prices: Sequence[float]) -> list[list[float]]:
    return [
        [price * count for count in range(1 + most)]
        for price, most in zip(prices, oracle.alone(), strict=True)
    ]


def _at_least(
    fleet: Fleet, prices: Sequence[float], worths_max: Sequence[float], free: Sequence[int]
) -> int:
    """Returns how many disks every plan needs, by any prices: no pattern on a disk of kind d is
    worth more than `worths_max[d]`.

    For each t >= 0 let every price be t times as high, and let a disk of kind d pay the rent by
    which its patterns then exceed 1. The demand's worth less all rents is a bound (weak duality);
    it is concave in t, and its corners are where a rent begins.
    """
    demand = sum(p * stream.copies for p, stream in zip(prices, fleet.streams, strict=True))

    def bound(t: float) -> float:
        rents = (max(0.0, t * worth - 1) for worth in worths_max)
        return t * demand - sum(rent * count for rent, count in zip(rents, free, strict=True))

    corners = [1.0, *(1 / worth for worth in worths_max if worth > 0)]
    return math.ceil(max(bound(t) for t in corners) - WORTH_MIN)


def _first(fleet: Fleet, oracles: Sequence[Oracle], free: Sequence[int]) -> list[Column]:
    """Returns the patterns of one kind alone, and those of first fit decreasing."""
    patterns = [
        (of, more(fleet.empty, kind, most))
        for of, oracle in enumerate(oracles)
        for kind, most in enumerate(oracle.alone())
        if most
    ]
    for kind, stream in enumerate(fleet.streams):
        if not any(pattern[kind] for _, pattern in patterns):
            raise NotPlacedError(f"no disk can serve a single {stream.name}: not proven alone")
    patterns.extend(first_fit_decreasing(fleet, oracles, free) or {})
    return list(dict.fromkeys(patterns))


def _prices(
    fleet: Fleet, patterns: Sequence[Column], free: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Solves the linear programme; returns the price of each kind of stream, and what one more disk
    of each kind would save."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    demand = [solver.Constraint(stream.copies, solver.infinity()) for stream in fleet.streams]
    supply = [solver.Constraint(-solver.infinity(), count) for count in free]
    for of, pattern in patterns:
        for cost, is_at_hand in ((1.0, True), (COST_BEYOND, False)):
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
