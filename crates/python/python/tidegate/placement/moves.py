# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The fewest moves: which pattern each disk of a plan changes to.

Disks of one kind with the same streams form a class. A column is a class with a pattern to change
to, and costs the streams that leave; opening an unused disk costs less than any move. Columns are
found by pricing, as for the fewest disks.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from .columns import PRICE_MIN, refusal
from .fleet import Fleet, Pattern, PlacementError
from .oracle import Oracle
from .pricing import WORTH_MIN, dearest

#: A class: a kind of disk, and the pattern of its disks; `None` for unused disks.
Class = tuple[int, Pattern | None]

#: The cost of a stream without a place, in moves. It is so high that every other choice is tried
#: before.
COST_WITHOUT = 1000

#: The largest number of changes of a class that are added because of a gap.
NEAR_MAX = 500

#: If the changes of the linear programme do not place all streams, changes that make it worse by
#: less than the first of these, in moves, are added; then by less than the next.
GAPS = (1.0, 8.0, 64.0, 512.0)

#: Why an integer programme gave nothing.
NONE_COVERS = "no plan found among the patterns that were tried"
TIME_IS_UP = "no plan found in the time allowed"

#: The largest number of rounds of the search for columns.
ROUNDS_MAX = 200


@dataclass(frozen=True)
class Change:
    """A class, the pattern that one of its disks changes to, and the cost."""

    of: Class
    to: Pattern
    moves: int
    opens: bool

    def cost(self, disks: int) -> int:
        """The cost, in shares of a move so small that all disks of the fleet cost less than one."""
        return self.moves * (disks + 1) + self.opens


def fewest_moves(
    fleet: Fleet,
    oracles: Sequence[Oracle],
    present: Sequence[tuple[int, Pattern]],
    free: Sequence[int],
    seconds_max: float,
) -> dict[Class, list[Pattern]]:
    """Returns the patterns that the disks of each class change to. `present` has the kind and the
    pattern of each disk in use, `free` the number of unused disks of each kind. Raises what
    `refusal` returns if no change was found, however many streams move."""
    classes: Counter[Class] = Counter(present)
    classes.update({(of, None): count for of, count in enumerate(free) if count > 0})
    changes = {_change(fleet, of, of[1] or fleet.empty) for of in classes}
    for _ in range(ROUNDS_MAX):
        prices, rents, least = _prices(fleet, classes, list(changes))
        added = set(_better(fleet, oracles, classes, prices, rents)) - changes
        if not added:
            break
        changes |= added
    chosen, cost, searched = _chosen(fleet, classes, list(changes), seconds_max)
    for gap in GAPS:
        if searched != NONE_COVERS:
            break
        changes |= set(_better(fleet, oracles, classes, prices, rents, gap))
        chosen, cost, searched = _chosen(fleet, classes, list(changes), seconds_max)
    if searched:
        at_hand = Counter(of for of, _ in present) + Counter(dict(enumerate(free)))
        counts = [at_hand[of] for of in range(len(oracles))]
        raise refusal(fleet, oracles, counts, searched)
    gap = cost - least
    if gap > WORTH_MIN:
        # A better choice has only changes that cost less than the gap by these prices.
        changes |= set(_better(fleet, oracles, classes, prices, rents, gap))
        better, _, searched = _chosen(fleet, classes, list(changes), seconds_max)
        chosen = chosen if searched else better
    return chosen


def _change(fleet: Fleet, of: Class, to: Pattern) -> Change:
    now = of[1] or fleet.empty
    moves = sum(max(0, count - kept) for count, kept in zip(now, to, strict=True))
    return Change(of, to, moves, of[1] is None and any(to))


def _better(
    fleet: Fleet,
    oracles: Sequence[Oracle],
    classes: Counter[Class],
    prices: Sequence[float],
    rents: dict[Class, float],
    gap: float = 0.0,
) -> Iterator[Change]:
    """Yields changes that improve the linear programme, or with a gap those that make it worse by
    less than that, in moves."""
    opening = 1 / (classes.total() + 1)
    if gap:
        # Streams without a price, which are left over in the linear programme, need a place too.
        prices = [max(price, PRICE_MIN) for price in prices]
    for of in classes:
        oracle, now = oracles[of[0]], of[1] or fleet.empty
        worths = [
            [price * count - max(0, before - count) for count in range(1 + max(most, before))]
            for price, most, before in zip(prices, oracle.alone(), now, strict=True)
        ]
        least = rents[of] + (opening if of[1] is None else 0) - gap
        found = dearest(oracle, worths, least, NEAR_MAX if gap else 0)
        patterns = found.patterns if gap else found.patterns[-2:]
        yield from (_change(fleet, of, pattern) for pattern in patterns)


def _prices(
    fleet: Fleet, classes: Counter[Class], changes: Sequence[Change]
) -> tuple[list[float], dict[Class, float], float]:
    """Solves the linear programme; returns the price of each kind of stream, what a disk of each
    class must be worth, and the cost."""
    disks = classes.total()
    solver = pywraplp.Solver.CreateSolver("GLOP")
    demand = [solver.Constraint(stream.copies, solver.infinity()) for stream in fleet.streams]
    supply = {of: solver.Constraint(count, count) for of, count in classes.items()}
    for change in changes:
        variable = solver.NumVar(0, solver.infinity(), "")
        solver.Objective().SetCoefficient(variable, change.cost(disks) / (disks + 1))
        supply[change.of].SetCoefficient(variable, 1)
        for kind, count in enumerate(change.to):
            demand[kind].SetCoefficient(variable, count)
    for row in demand:
        without = solver.NumVar(0, solver.infinity(), "")
        solver.Objective().SetCoefficient(without, COST_WITHOUT)
        row.SetCoefficient(without, 1)
    solver.Objective().SetMinimization()
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        raise PlacementError("the linear programme has no solution")
    prices = [max(0.0, row.dual_value()) for row in demand]
    rents = {of: -row.dual_value() for of, row in supply.items()}
    return prices, rents, solver.Objective().Value()


def _chosen(
    fleet: Fleet, classes: Counter[Class], changes: Sequence[Change], seconds_max: float
) -> tuple[dict[Class, list[Pattern]], float, str]:
    """Chooses among these changes; returns the patterns for each class, their cost in moves, and
    why there are none if that fails."""
    disks = classes.total()
    model = cp_model.CpModel()
    uses = [model.new_int_var(0, classes[change.of], "") for change in changes]
    both = list(zip(changes, uses, strict=True))
    for of, count in classes.items():
        model.add(sum(use for change, use in both if change.of == of) == count)
    for kind, stream in enumerate(fleet.streams):
        model.add(sum(use * change.to[kind] for change, use in both) >= stream.copies)
    model.minimize(sum(use * change.cost(disks) for change, use in both))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds_max
    solver.parameters.random_seed = 0
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return {}, 0.0, NONE_COVERS if status == cp_model.INFEASIBLE else TIME_IS_UP
    chosen: dict[Class, list[Pattern]] = {of: [] for of in classes}
    for change, use in both:
        chosen[change.of] += [change.to] * solver.value(use)
    for of, patterns in chosen.items():
        chosen[of] = [pattern for pattern in patterns if of[1] is not None or any(pattern)]
    return chosen, solver.objective_value / (disks + 1), ""
