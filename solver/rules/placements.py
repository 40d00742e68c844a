"""How many positions a game can have at most, where its rules number them: counted, not played."""

from __future__ import annotations

import random
from typing import NamedTuple

from solver.rules.game import Rules

MAX_SAMPLE = 20_000  # numbers that are looked at, 10 us each
ERRORS = 4  # standard errors of a sample, which it hardly exceeds


class Placements(NamedTuple):
    """`numbered` positions, exactly; about `unfinished` of them go on and are not folded away, hardly more than `most`.

    Play need not reach them all, so `most` bounds the size of a solve from above, and nothing from below.
    """

    numbered: int
    unfinished: int
    most: int


class Span(NamedTuple):
    """The numbers of a tier's positions: from `first` on, those below `last`."""

    tier: int
    first: int
    last: int


def spans_of(rules: Rules) -> list[Span]:
    """Those of all tiers, ascending; none where the numbers of later tiers do not follow those of earlier ones."""
    numbering = rules.numbering
    assert numbering is not None
    size, firsts, spans = numbering.size, numbering.firsts, list[Span]()
    if not rules.tiered:
        return [Span(0, 0, size)]
    for first, last in zip(firsts, [*firsts[1:], size], strict=True):
        if first == last:
            continue
        tier = rules.tier(numbering.unrank(first))
        if spans and spans[-1].tier > tier:
            return []
        if spans and spans[-1].tier == tier:
            first = spans.pop().first
        spans.append(Span(tier, first, last))
    return spans


def of(rules: Rules, seed: int = 0) -> Placements | None:
    """Those of a game, from a sample of its numbers, or of all if they are few; None if it has no numbers."""
    if rules.numbering is None or rules.rank is None:
        return None
    numbering, chance = rules.numbering, random.Random(seed)
    size = numbering.size
    is_small = size <= MAX_SAMPLE
    states = map(numbering.unrank, range(size) if is_small else (chance.randrange(size) for _ in range(MAX_SAMPLE)))
    open_count = sum(not rules.is_terminal(state) and rules.canonical(state) == state for state in states)
    if is_small:
        return Placements(size, open_count, open_count)
    share = open_count / MAX_SAMPLE
    error = ((share * (1 - share) + 1 / MAX_SAMPLE) / MAX_SAMPLE) ** 0.5
    return Placements(size, round(share * size), min(size, round((share + ERRORS * error) * size)))
