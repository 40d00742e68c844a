"""States of a book chosen at random, and how its expectations are spread."""

from __future__ import annotations

import operator
import random
from collections import Counter
from collections.abc import Callable, Iterator

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.book import Book, Source, streaming

Range = tuple[int, int]
COARSE = 18  # bits of an expectation that are left out where expectations are counted


def sample(
    book: Source,
    number: int,
    *,
    seed: int = 0,
    outcome: str | None = None,
    distance: Range | None = None,
    tier: Range | None = None,
    progress: Progress = silent,
) -> list[tuple[int, Value]]:
    """Draw stored states at random, uniformly among those that match, none twice.

    The same `seed` gives the same states of the same book, whatever its codec.

    Args:
        book: A book or its path.
        number: How many states to draw. If fewer match, all of them are returned.
        seed: Seed of the random choice.
        outcome: "win", "draw" or "loss" for the side to move. None for any.
        distance: Range of distances in plies, both ends included. None for any.
        tier: Range of tiers, both ends included. None for any.
        progress: Called as the work goes on.

    Returns:
        The states with their values, in random order.

    Raises:
        MethodError: `tier` was given, but the rules have no tiers.
        ForeignBook: `tier` was given, and the book's rules are not at hand.
        DamagedBook: The book is damaged.
    """
    number, chance = operator.index(number), random.Random(operator.index(seed))
    chosen: list[tuple[int, Value]] = []
    with Book(book) as opened:
        for before, entry in enumerate(_matching(opened, outcome, distance, tier, progress)):
            if before < number:
                chosen.append(entry)
            elif (replaced := int(chance.random() * (before + 1))) < number:
                # Each so far is kept as likely as any other
                chosen[replaced] = entry
    # So that the first of them are such a sample, too
    chance.shuffle(chosen)
    return chosen


def expectations(book: Book) -> dict[float, int]:
    """How many stored states have an expectation, of those four digits or so. Raises DamagedBook."""
    numbers: Counter[int] = Counter()
    for _, indices in streaming.lists(book):
        numbers.update(index >> COARSE << COARSE for index in indices)
    return {book.header.values[number].score: count for number, count in numbers.items()}


def _matching(
    book: Book, outcome: str | None, distance: Range | None, tier: Range | None, progress: Progress
) -> Iterator[tuple[int, Value]]:
    """The states that match and their values, ascending."""
    values = book.header.values
    if not (outcome is None and distance is None):
        book.header.kind.refuse("choose", book.path.name)
    wanted = [
        outcome in (None, value.outcome) and _is_within(value.distance, distance) for value in book.header.outcomes
    ]
    tier_of = None if tier is None else _tiers(book)
    for states, indices in streaming.lists(book, progress):
        for state, index in zip(states, indices, strict=True):
            if (not wanted or wanted[index]) and (tier_of is None or _is_within(tier_of(state), tier)):
                yield state, values[index]


def _tiers(book: Book) -> Callable[[int], int]:
    rules = book.rules
    if not rules.tiered:
        raise MethodError(f"the rules of {rules.name} have no tiers: choose by value and distance")
    return rules.tier


def _is_within(number: int | None, limits: Range | None) -> bool:
    return limits is None or (number is not None and limits[0] <= number <= limits[1])
