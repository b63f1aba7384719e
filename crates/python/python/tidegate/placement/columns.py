# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The linear programme over patterns: which patterns a good plan uses, and the lower bound."""

import math
from collections.abc import Callable, Sequence

from ortools.linear_solver import pywraplp

from .fleet import Fleet, NotPlacedError, PlacementError, more
from .greedy import Column, first_fit_decreasing
from .oracle import Oracle
from .pricing import WORTH_MIN, dearest

#: The cost of a disk beyond those at hand: it is used only where nothing else helps, so that there
#: is always a solution.
COST_BEYOND = 100.0

#: A pattern that is worth at most this share less than a disk is near.
NEAR = 0.04

#: How many near patterns of a kind of disk the integer programme gets.
NEAR_MAX = 300

#: How many of the patterns that a search found are added.
ADDED_MAX = 4


def columns(
    fleet: Fleet, oracles: Sequence[Oracle], progress: Callable[[str], None]
) -> tuple[list[Column], int]:
    """Returns the patterns that the optimal linear programme needs, and its value rounded up."""
    patterns = _first(fleet, oracles)
    known = set(patterns)
    disks_min = 1
    while True:
        prices, rents = _prices(fleet, patterns)
        added, worths_max = [], []
        for of, oracle in enumerate(oracles):
            found = dearest(oracle, _worths(oracle, prices))
            worths_max.append(found.worth_max)
            if found.worth > 1 + rents[of] + WORTH_MIN:
                added += [(of, pattern) for pattern in found.patterns[-ADDED_MAX:]]
        disks_min = max(disks_min, _at_least(fleet, prices, worths_max))
        progress(f"{len(patterns)} patterns, at least {disks_min} disks")
        added = [column for column in added if column not in known]
        if not added:
            return patterns + _near(oracles, prices, rents, known), disks_min
        patterns += added
        known.update(added)


def _near(
    oracles: Sequence[Oracle],
    prices: Sequence[float],
    rents: Sequence[float],
    known: set[Column],
) -> list[Column]:
    """Returns patterns that are nearly worth adding: with whole disks, they fill what is left."""
    found = {
        (of, pattern)
        for of, oracle in enumerate(oracles)
        for pattern in dearest(
            oracle, _worths(oracle, prices), (1 - NEAR) * (1 + rents[of]), NEAR_MAX
        ).patterns
    }
    return sorted(found - known)


def _worths(oracle: Oracle, prices: Sequence[float]) -> list[list[float]]:
    return [
        [price * count for count in range(1 + most)]
        for price, most in zip(prices, oracle.alone(), strict=True)
    ]


def _at_least(fleet: Fleet, prices: Sequence[float], worths_max: Sequence[float]) -> int:
    """Returns how many disks every plan needs, by any prices: no pattern on a disk of kind d is
    worth more than `worths_max[d]`.

    For each t >= 0 let every price be t times as high, and let a disk of kind d pay the rent by
    which its patterns then exceed 1. The demand's worth less all rents is a bound (weak duality);
    it is concave in t, and its corners are where a rent begins.
    """
    demand = sum(p * stream.copies for p, stream in zip(prices, fleet.streams, strict=True))

    def bound(t: float) -> float:
        rents = (max(0.0, t * worth - 1) for worth in worths_max)
        return t * demand - sum(
            rent * disk.count for rent, disk in zip(rents, fleet.disks, strict=True)
        )

    corners = [1.0, *(1 / worth for worth in worths_max if worth > 0)]
    return math.ceil(max(bound(t) for t in corners) - WORTH_MIN)


def _first(fleet: Fleet, oracles: Sequence[Oracle]) -> list[Column]:
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
    patterns.extend(first_fit_decreasing(fleet, oracles) or {})
    return list(dict.fromkeys(patterns))


def _prices(fleet: Fleet, patterns: Sequence[Column]) -> tuple[list[float], list[float]]:
    """Solves the linear programme; returns the price of each kind of stream, and what one more disk
    of each kind would save."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    demand = [solver.Constraint(stream.copies, solver.infinity()) for stream in fleet.streams]
    supply = [solver.Constraint(-solver.infinity(), disk.count) for disk in fleet.disks]
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
