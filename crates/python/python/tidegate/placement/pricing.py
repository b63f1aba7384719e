# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pricing: the proved pattern of the highest worth."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .fleet import Pattern, more
from .oracle import Oracle

#: A pattern is worth adding if it improves the linear programme by more than rounding errors do.
WORTH_MIN = 1e-6

#: The largest number of patterns that one search passes to `check`.
ASKED_MAX = 50_000

#: The worth of 0, 1, 2, ... streams of a kind; it never falls.
Worths = Sequence[float]


@dataclass
class Found:
    """What a search found."""

    #: Proved patterns; without `all_up_to` each of a higher worth than those before.
    patterns: list[Pattern] = field(default_factory=list)
    #: The worth of the last pattern; with `all_up_to`, `begin`.
    worth: float = 0.0
    #: The worth that no proved pattern exceeds.
    worth_max: float = 0.0


def dearest(
    oracle: Oracle, worths: Sequence[Worths], begin: float = 0.0, all_up_to: int = 0
) -> Found:
    """Searches for the proved pattern of the highest worth, if that exceeds `begin`. With
    `all_up_to`, searches instead for that many patterns whose worth exceeds `begin`, each with as
    many streams of the last kind as fit.

    A branch is cut if it could not exceed the best pattern found, even if each open kind had as
    many streams as fit there without the other open kinds. After `ASKED_MAX` questions, the worth
    of the open branches counts as if it could be reached.
    """
    empty = oracle.fleet.empty
    alone = oracle.alone()
    kinds = [kind for kind, most in enumerate(alone) if worths[kind][most] > worths[kind][0]]
    kinds.sort(key=lambda kind: worths[kind][alone[kind]] - worths[kind][0], reverse=True)
    rest = sum(worth[0] for kind, worth in enumerate(worths) if kind not in kinds)
    found = Found(worth=begin)
    asked_before = len(oracle.answers)

    def search(pattern: Pattern, worth: float, left: Sequence[int], most: dict[int, int]) -> None:
        if not left:
            if worth > found.worth + WORTH_MIN:
                found.patterns.append(pattern)
                found.worth = begin if all_up_to else worth
            return
        first, others = left[0], left[1:]
        reach_of_others = sum(worths[kind][most[kind]] for kind in others)
        fits = dict.fromkeys(others, 0)
        for count in range(most[first], -1, -1):
            now = worth + worths[first][count]
            if now + reach_of_others <= found.worth + WORTH_MIN:
                return
            if len(oracle.answers) - asked_before > ASKED_MAX:
                found.worth_max = max(found.worth_max, now + reach_of_others)
                return
            chosen = more(pattern, first, count)
            # What fits beside more streams fits beside fewer.
            fits = {kind: oracle.most(chosen, kind, most[kind], fits[kind]) for kind in others}
            search(chosen, now, others, fits)
            # Patterns with fewer streams of the last kind are worth less.
            if not others or len(found.patterns) >= all_up_to > 0:
                return

    search(empty, rest, kinds, {kind: alone[kind] for kind in kinds})
    # A worth that exceeds the best by less than `WORTH_MIN` was not looked for.
    found.worth_max = max(found.worth_max, found.worth + WORTH_MIN)
    return found
