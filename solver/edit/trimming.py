"""Trim books: drop states that another book has, that a search finds, or that play does not reach.

A book is made from a book. States are chosen by ply, by the side that will play, by the depth of search that settles
them, and in the end by size, the last tiers going first: fewest moves are left there, so that a live search is
cheapest. The header says so (`book.trim`), and a Player makes up for it. Cost: 12 bytes of memory a state that is kept;
none where distances alone go and the codec is not `ranked`.
"""

from __future__ import annotations

import itertools
import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from solver.base import extras
from solver.base.errors import DamagedBook, MethodError, ResourceError
from solver.base.extras import PLAIN_LIMIT, working_memory
from solver.base.files import replacing
from solver.base.kinds import WDL, Method
from solver.base.parallel import Workers
from solver.base.progress import Progress, silent
from solver.base.value import Value, merit_of
from solver.book import Book, Header, Source, check_codec, streaming
from solver.book.codecs import rules_of
from solver.book.solution import MOST_PLIES, PROOF, SIDES, TRIMMED, Part, Trim
from solver.book.writer import CHUNK, placed
from solver.rules.game import GameOrName, Rules
from solver.rules.width import USUAL, column_of
from solver.search.derive import settled
from solver.solving.following import Oracle
from solver.solving.ways import opening
from solver.solving.ways.proof import needed

WRITE_STATE_BYTES = 24  # of memory that a state takes, while its book is written
NEAR_ENOUGH = 0.9  # of the size asked for: near enough
TRIES = 20


class Kept(NamedTuple):
    """States, ascending, and the indices of their values: arrays of Python's, or a list of wide states."""

    states: Any
    indices: Any


class Task(NamedTuple):
    """The book to trim, its rules, and the states to drop."""

    book: Book
    rules: Rules
    wanted: Trim
    workers: int | None
    progress: Progress

    def none(self) -> Kept:
        """Return room for states."""
        return Kept(column_of(self.rules.bits), array("i"))


def trim(
    book: Source,
    target: str | os.PathLike[str],
    wanted: Trim,
    game: GameOrName | None = None,
    *,
    wdl: bool = False,
    codec: str | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> Header:
    """Write a smaller copy of a book. A player recovers the dropped states by a short search.

        trim("c4.lmdb", "first.lmdb", Trim(side="first", plies=2))

    The same book gives the same bytes, whatever `workers` is. On any error `target` stays as it was.

    Args:
        book: The book to read, its path, or a game whose book comes with the package.
        target: Where to write the copy.
        wanted: The states to drop: `max_ply`, `side`, `plies` or `max_bytes` of `Trim`. `source` and `scope` are filled
            in for you.
        game: The rules, or their name, if they are your own.
        wdl: Drop distances and keep win, draw or loss.
        codec: The copy's codec. None for the book's own.
        workers: Threads. None for all cores.
        progress: Called as the work goes on.

    Returns:
        The header of the copy.

    Raises:
        MethodError: This cannot be dropped from this book, or nothing is to be dropped.
        DamagedBook: The book is damaged.
        ForeignBook: The book was made with other rules.
        BookError: The book cannot be read, or `target` cannot be written.
        ResourceError: Memory or disk does not suffice.
    """
    with placed(target, book) as path, Book(book, game) as book:
        header = book.header
        kind = WDL if wdl or header.kind.converts else header.kind
        rules = Rules(book.game, header.symmetry, kind)
        drops_distances = wdl and header.kind is not WDL
        header.kind.refuse("trim", rules.name)
        if not drops_distances and wanted == Trim():
            raise MethodError("trim has nothing to drop: choose --max-ply, --for, --drop-plies, --wdl or --max-bytes")
        if header.trim is not None and header.trim.scope == PROOF:
            raise MethodError("a proof book holds no more than its side needs: there is nothing to trim")
        if header.trim is not None:
            raise MethodError(f"the book is trimmed already: trim the one with digest {header.trim.source[:16]} anew")
        if wanted.side is not None or wanted.plies:
            header.kind.refuse("settle", rules.name)
        if wanted.side not in (None, *SIDES):
            raise MethodError(f"no side {wanted.side!r}: choose one of {', '.join(SIDES)}")
        if not 0 <= wanted.plies <= MOST_PLIES:
            raise MethodError(f"a search of {wanted.plies} plies is too slow: drop what 1 or 2 plies solve")
        if drops_distances:
            header.kind.refuse("wdl", rules.name)
        if drops_distances and header.method == Method.RETROGRADE:
            raise MethodError(
                f"{rules.name} has cycles, and without distances a player may never finish a win: omit --wdl, or solve"
                " with --method minimax if no position of the game repeats"
            )
        if wanted.max_bytes is not None and not rules.tiered:
            raise MethodError(f"{rules.name} has no tiers for --max-bytes to drop: use --drop-plies or --max-ply")
        wanted = wanted._replace(source=header.digest, scope=header.scope)
        codec = codec or header.codec
        check_codec(codec, rules, header.scope)
        small = header.of_kind(kind)._replace(
            root=kind.kept(header.root), codec=codec, rules=rules_of(book.game, codec)
        )
        if wanted != Trim(wanted.source, wanted.scope):
            small = small._replace(scope=TRIMMED, trim=wanted, states=None, terminal=None, tiers=None, counts={})
        task = Task(book, rules, wanted, workers, progress)
        if small.scope != TRIMMED and header.numbers:
            # A codec that asks the rules has all states in memory
            _refuse_beyond(header.stored * small.encoding.asks_rules, working_memory(None) // WRITE_STATE_BYTES)
            return _write(task, path, small)
        if wanted.max_bytes is None:
            # no name for the states here, so that their memory is free as soon as they are copied
            return _write(task, path, small, _kept(task))
        with replacing(path) as partial:
            return _fitted(task, partial, small, _kept(task), wanted.max_bytes)


def _kept(task: Task) -> Kept:
    """All states that are to be stored, before the size is looked at."""
    rules, wanted = task.rules, task.wanted
    state_limit = working_memory(None) // WRITE_STATE_BYTES
    keys: list[int] | None = None

    def passed(count: int) -> bool:
        task.progress("enumerate", count, None)
        _refuse_beyond(count, state_limit)
        return False

    if wanted.max_ply is not None:
        # Play comes to those of a grown book within it
        find = task.book.find
        holds = None if task.book.header.estimate is None else lambda state: find(state) is not None
        layers = opening.plies(rules, wanted.max_ply, passed, holds)
        keys = sorted(int(state) for layer in layers for state in layer)
    if wanted.side is not None:
        allowed, find = None if keys is None else set(keys), task.book.find

        def known(state: int) -> Value | None:
            return find(state) if allowed is None or state in allowed else None

        sides = range(2) if wanted.side == "both" else (SIDES.index(wanted.side),)
        return _found(task, sorted(needed(Oracle(rules, known), sides, wanted.plies, task.progress)))
    stored = task.none()
    for states, indices in _unsettled(task, keys):
        for column, more in zip(stored, (states, indices), strict=True):
            # Bytes of an array of NumPy's are copied at once
            if isinstance(more, list):
                column.extend(more)
            else:
                column.frombytes(more.astype(column.typecode, copy=False).view("u1"))
        _refuse_beyond(len(stored.states), state_limit)
    return stored


def _refuse_beyond(count: int, limit: int) -> None:
    if count > limit:
        raise ResourceError(f"more than {limit:,} states remain, more than fit in memory: drop more")


def _found(task: Task, keys: Iterable[int]) -> Kept:
    """Those of the states that a book has."""
    palette_index = {value: index for index, value in enumerate(task.book.header.outcomes)}
    stored = task.none()
    for state in keys:
        value = task.book.find(state)
        if value is not None:
            stored.states.append(state)
            stored.indices.append(palette_index[value])
    return stored


def _unsettled(task: Task, keys: list[int] | None) -> Iterator[Any]:
    """Yield the states that a search of so many plies does not solve, of a book or of some of its states."""
    book, rules, plies = task.book, task.rules, task.wanted.plies
    looked_up = None if keys is None else _found(task, keys)
    merits = [merit_of(rules.kind.kept(value)) for value in book.header.outcomes]
    if _runs_plainly(rules, len(book if looked_up is None else looked_up.states)):
        chunks: Iterable[Part] = streaming.lists(book, task.progress) if looked_up is None else [looked_up]
        for states, indices in chunks:
            is_stored = []
            for state, index in zip(states, indices, strict=True):
                value = settled(rules, state, plies)
                if value is not None and merit_of(value) != merits[index]:
                    raise _wrong(book, state)
                is_stored.append(value is None)
            yield list(itertools.compress(states, is_stored)), list(itertools.compress(indices, is_stored))
        return
    from solver.book.codecs.arrays import parts
    from solver.compiled.lookahead.depth import settling

    pieces: Iterable[Any] = streaming.pieces(book, task.progress) if looked_up is None else [looked_up]
    arrays = parts(pieces)
    if not plies:
        yield from arrays
        return
    with Workers(task.workers) as team:
        for left, wrong in team.map(settling(rules, plies, merits), arrays):
            if wrong >= 0:
                raise _wrong(book, wrong)
            yield left


def _runs_plainly(rules: Rules, count: int) -> bool:
    """Whether plain Python looks at so many states."""
    return count <= PLAIN_LIMIT or rules.plain_only or rules.bits > USUAL or not extras.has_kernels()


def _wrong(book: Book, state: int) -> DamagedBook:
    return DamagedBook(f"{book.path}: state {state} has another value than a search gives it: verify it, solve again")


def _write(task: Task, target: str | os.PathLike[str], header: Header, kept: Kept | None = None) -> Header:
    """Write the states left, whose indices are into the palette of the book; None stands for all of its states."""
    book = task.book
    values = list(map(header.kind.kept, book.header.palette))
    stored: Counter[Value] = Counter()
    examples: dict[Value, int] = {}
    count = len(book if kept is None else kept.states)
    # Of each index how many states have it, and the first of them, which only a book with distances names
    if kept is None:
        numbers: Any = book.header.numbers
        firsts: Any = [0] * len(values)
    elif _runs_plainly(task.rules, count):
        numbers = Counter(kept.indices)
        firsts = dict(zip(reversed(kept.indices), reversed(kept.states), strict=True))
    else:
        from solver.book.codecs.arrays import tallied

        numbers, firsts = tallied(kept.states, kept.indices, len(values))
    for index in sorted(filter(numbers.__getitem__, range(len(values))), key=firsts.__getitem__):
        stored[values[index]] += numbers[index]
        examples.setdefault(values[index], firsts[index])
    longest = max(((value.distance or 0, examples[value]) for value in stored if value.is_win), default=None)
    header = header.holding(stored, longest)
    places = {value: palette_index for palette_index, value in enumerate(header.palette)}
    parts = streaming.pieces(book, task.progress) if kept is None else _cut(kept)
    chunks = _renumbered(task.rules, parts, count, [places.get(value, 0) for value in values])
    # The parts have them, until all are copied
    del kept
    return streaming.write(target, header, chunks, task.rules, workers=task.workers, progress=task.progress)


def _renumbered(rules: Rules, parts: Iterable[Part], count: int, table: list[int]) -> Iterator[Part]:
    """Yield so many states, some at a time, and the table's entries at their indices."""

    def take(table: list[int], indices: Any) -> Any:
        return array("i", map(table.__getitem__, indices))

    if not _runs_plainly(rules, count):
        from solver.book.codecs.arrays import taken as take
    for states, indices in parts:
        yield states, take(table, indices)


def _cut(stored: Kept) -> Iterator[Part]:
    for begin in range(0, max(1, len(stored.states)), CHUNK):
        yield stored.states[begin : begin + CHUNK], stored.indices[begin : begin + CHUNK]


def _fitted(task: Task, path: Path, header: Header, stored: Kept, limit: int) -> Header:
    """Write the states of the first tiers, as many as fit into the size, or nearly; tried out by writing."""
    # The places of the states, those of the first tiers first
    if _runs_plainly(task.rules, len(stored.states)):
        tiers = [task.rules.tier(state) for state in stored.states]
        order = sorted(range(len(tiers)), key=tiers.__getitem__)
    else:
        from solver.compiled.lookahead.depth import by_tier

        order = by_tier(task.rules, stored.states)

    def write(number: int) -> tuple[Header, int]:
        places = sorted(order[:number])
        shortened = task.none()
        shortened.states.extend(stored.states[index] for index in places)
        shortened.indices.extend(stored.indices[index] for index in places)
        return _write(task, path, header, shortened), path.stat().st_size

    fits, least, number = 0, len(order) + 1, len(order)
    for _ in range(TRIES):
        written, size = write(number)
        if size <= limit:
            fits = number
            if number == len(order) or size >= NEAR_ENOUGH * limit or least - fits <= 1:
                return written
        else:
            least = number
        guess = int(number * 0.97 * limit / size)
        number = guess if fits < guess < least else (fits + least) // 2
        if number == 0:
            raise MethodError(f"no book has so few bytes as {limit:,}: allow more --max-bytes")
    return write(fits)[0]
