"""Two books side by side, in ascending order of their states: their differences, and their union; and samples of one.

All are read a piece at a time, so that memory does not depend on their sizes.
"""

from __future__ import annotations

import operator
import os
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from solver.base.errors import BookError, DamagedBook, MethodError
from solver.base.kinds import Method
from solver.base.options import Options
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.book import Book, Header, Source, check_codec, streaming
from solver.book.streaming import recoded
from solver.book.writer import placed
from solver.rules.fingerprint import check_origin

UNCOMPARED = {"palette", "numbers", "tiers", "codec", "sparse", "state_bytes", "book_id", "digest"}
FACTS = [name for name in Header._fields if name not in UNCOMPARED]
COARSE = 18  # bits of an expectation that are left out where expectations are counted
VERIFY = "verify both, one of them was solved wrongly"

Range = tuple[int, int]
Column = tuple[list[int], list[Value]]
EMPTY: Column = ([], [])


class Difference(NamedTuple):
    """A state and its values in the two books, None where one lacks it."""

    state: int
    first: Value | None
    second: Value | None


class Differences(NamedTuple):
    """How two books differ: pairs of their header fields, and numbers of states; `examples` are the smallest ones.

    Codecs, and so digests, are not compared.
    """

    header: dict[str, tuple[Any, Any]]
    only_first: int
    only_second: int
    other_values: int
    examples: list[Difference]

    @property
    def equal(self) -> bool:
        """Whether they hold and say the same."""
        return not (self.header or self.only_first or self.only_second or self.other_values)


def diff(first: Source, second: Source, most: int = 20, *, progress: Progress = silent) -> Differences:
    """Compare two books state by state.

    Args:
        first: A book or its path.
        second: The other book or its path.
        most: Largest number of states to list as examples.
        progress: Called as the work goes on.

    Returns:
        The differences, as counts and examples.

    Raises:
        DamagedBook: A book is damaged.
        ForeignBook: The books are of different rules.
        BookError: A book cannot be read, or the two differ in kind.
    """
    counts = [0, 0, 0]
    examples: list[Difference] = []
    with Book(first) as left_book, Book(second) as right_book:
        fact_pairs = [(getattr(left_book.header, name), getattr(right_book.header, name)) for name in FACTS]
        header = {name: pair for name, pair in zip(FACTS, fact_pairs, strict=True) if pair[0] != pair[1]}
        for left_column, right_column in _side_by_side(left_book, right_book, progress):
            if left_column == right_column:
                continue
            left_values, right_values = dict(zip(*left_column, strict=True)), dict(zip(*right_column, strict=True))
            for state in sorted({state for state, _ in left_values.items() ^ right_values.items()}):
                difference = Difference(state, left_values.get(state), right_values.get(state))
                counts[1 if difference.first is None else 0 if difference.second is None else 2] += 1
                if len(examples) < most:
                    examples.append(difference)
    return Differences(header, counts[0], counts[1], counts[2], examples)


def merge(
    first: Source,
    second: Source,
    target: str | os.PathLike[str],
    codec: str | None = None,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Header:
    """Write a book that holds the states of two books of one game.

    Two grown books that were made by the same searches give a grown book, valued anew. If one of the books is complete,
    the result has its scope and method. Otherwise the result is a book of exact entries. On any error `target` stays as
    it was.

    Args:
        first: A book or its path.
        second: The other book or its path.
        target: Where to write the merged book.
        codec: The merged book's codec. None for that of `first`.
        workers: Threads. None for all cores.
        progress: Called as the work goes on.

    Returns:
        The header of the merged book.

    Raises:
        ForeignBook: The rules differ.
        DamagedBook: A book is damaged, or the two contradict each other.
        BookError: Only one of the books is folded by symmetry, or a file cannot be read or written.
        ResourceError: Memory or disk does not suffice.
    """
    if codec is not None:
        check_codec(codec)
    with placed(target, first, second) as path, Book(first) as left_book, Book(second) as right_book:
        remedy, other = "merge books of the same game and rules", f"{right_book.path} by"
        check_origin(str(left_book.path), left_book.header.origin, right_book.header.origin, remedy, other)
        if left_book.header.symmetry != right_book.header.symmetry:
            folded, unfolded = (left_book, right_book) if left_book.header.symmetry else (right_book, left_book)
            raise BookError(
                f"{folded.path} is folded by symmetry and {unfolded.path} is not: solve one of them again, with"
                " --no-symmetry or without"
            )
        if left_book.header.kind.bare != right_book.header.kind.bare:
            bare = left_book if left_book.header.kind.bare else right_book
            raise BookError(f"only {bare.path} has no distances: trim the other book with --wdl first")
        if left_book.header.estimate is not None or right_book.header.estimate is not None:
            from solver.solving import pipeline
            from solver.solving.ways.grown import Growing

            options = Options(codec=codec or left_book.header.codec, symmetry=left_book.header.symmetry, restart=True)
            way = Growing(books=(str(left_book.path), str(right_book.path)))
            return pipeline.grow(left_book.game, target, way, options._replace(workers=workers, progress=progress))
        for book in (left_book, right_book):
            book.header.kind.refuse("merge", str(book.path), BookError)
        if left_book.header.start != right_book.header.start:
            raise BookError(
                f"{left_book.path} and {right_book.path} begin at different positions: merge books that do not"
            )
        if left_book.root != right_book.root:
            raise _contradiction("the start", left_book, right_book, left_book.root, right_book.root)
        numbers: Counter[Value] = Counter()
        for _, values in _union(left_book, right_book, progress):
            numbers.update(values)
        # The header of the book that has all states, else one of exact entries
        headers = [left_book.header, right_book.header]
        wholes = [header for header in headers if header.stored == numbers.total()]
        if wholes:
            merged_header = min(wholes, key=lambda header: header.scope != "complete")
        else:
            wins = [header.longest for header in headers if header.longest is not None]
            merged_header = headers[0]._replace(
                method=Method.ALPHABETA, scope="exact", trim=None, states=None, terminal=None, tiers=None, counts={}
            )
            longest = min(wins, key=lambda longest_win: (-longest_win[0], longest_win[1]), default=None)
            merged_header = merged_header.holding(numbers, longest)
        header, rules = recoded(left_book, merged_header, codec or left_book.header.codec)
        palette_index = {value: index for index, value in enumerate(header.palette)}
        merged = (
            (states, [palette_index[value] for value in values])
            for states, values in _union(left_book, right_book, silent)
        )
        return streaming.write(path, header, merged, rules, workers=workers, progress=progress)


def _union(left_book: Book, right_book: Book, progress: Progress) -> Iterator[Column]:
    """The states of both and their values. Raises DamagedBook where one contradicts the other."""
    for left_column, right_column in _side_by_side(left_book, right_book, progress):
        if left_column != right_column:
            left_values, right_values = dict(zip(*left_column, strict=True)), dict(zip(*right_column, strict=True))
            shared = left_values.keys() & right_values
            state = min((state for state in shared if left_values[state] != right_values[state]), default=None)
            if state is not None:
                raise _contradiction(f"state {state}", left_book, right_book, left_values[state], right_values[state])
            for book, held, wanted in ((left_book, left_values, right_values), (right_book, right_values, left_values)):
                if book.header.scope == "complete" and not wanted.keys() <= held.keys():
                    raise DamagedBook(f"{book.path} is complete, but lacks state {min(wanted.keys() - held)}: {VERIFY}")
            both = {**left_values, **right_values}
            left_column = (sorted(both), [both[state] for state in sorted(both)])
        yield left_column


def _contradiction(what: str, left_book: Book, right_book: Book, left_value: Value, right_value: Value) -> DamagedBook:
    value_texts = left_value.words(as_number=True), right_value.words(as_number=True)
    return DamagedBook(
        f"{what} is {value_texts[0]} in {left_book.path}, {value_texts[1]} in {right_book.path}: {VERIFY}"
    )


def _side_by_side(left_book: Book, right_book: Book, progress: Progress) -> Iterator[tuple[Column, Column]]:
    """The states of both books and their values, of one range of states after the other."""
    # So that equal values are one object, which is quick to compare
    known: dict[Value, Value] = {}
    readers = [_columns(book, known) for book in (left_book, right_book)]
    ahead = [next(reader, EMPTY) for reader in readers]
    read, total = 0, len(left_book) + len(right_book)
    while ends := [states[-1] for states, _ in ahead if states]:
        left_rows = []
        for side, (states, values) in enumerate(ahead):
            cut = bisect_right(states, min(ends))
            left_rows.append((states[:cut], values[:cut]))
            ahead[side] = (states[cut:], values[cut:]) if cut < len(states) else next(readers[side], EMPTY)
            read += cut
        yield left_rows[0], left_rows[1]
        progress("compare", read, total)


def _columns(book: Book, known: dict[Value, Value]) -> Iterator[Column]:
    """States and values, a piece at a time; the values are those `known`."""
    values = [known.setdefault(value, value) for value in book.header.outcomes] or book.header.values
    for states, indices in streaming.lists(book):
        yield states, [values[index] for index in indices]


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
        values, before = opened.header.values, 0
        if not (outcome is None and distance is None):
            opened.header.kind.refuse("choose", opened.path.name)
        wanted = [
            outcome in (None, value.outcome) and _is_within(value.distance, distance)
            for value in opened.header.outcomes
        ]
        if tier is not None and not opened.rules.tiered:
            raise MethodError(f"the rules of {opened.rules.name} have no tiers: choose by value and distance")
        tier_of: Callable[[int], int] | None = None if tier is None else opened.rules.tier
        for states, indices in streaming.lists(opened, progress):
            for state, index in zip(states, indices, strict=True):
                if (wanted and not wanted[index]) or (tier_of is not None and not _is_within(tier_of(state), tier)):
                    continue
                if before < number:
                    chosen.append((state, values[index]))
                elif (replaced := int(chance.random() * (before + 1))) < number:
                    # Each so far is kept as likely as any other
                    chosen[replaced] = state, values[index]
                before += 1
    # So that the first of them are such a sample, too
    chance.shuffle(chosen)
    return chosen


def expectations(book: Book) -> dict[float, int]:
    """How many stored states have an expectation, of those four digits or so. Raises DamagedBook."""
    numbers: Counter[int] = Counter()
    for _, indices in streaming.lists(book):
        numbers.update(index >> COARSE << COARSE for index in indices)
    return {book.header.values[number].score: count for number, count in numbers.items()}


def _is_within(number: int | None, limits: Range | None) -> bool:
    return limits is None or (number is not None and limits[0] <= number <= limits[1])
