"""Whole books, a piece at a time: read as critically as `verify` reads them, and written anew.

What this takes of memory does not depend on the size of the book, but for ranked ones, whose states are sorted: 40
bytes each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from solver.base import extras
from solver.base.errors import UncompiledRules
from solver.base.progress import Progress, silent
from solver.book import Book, Header, write_book
from solver.book.check import checked_groups
from solver.book.codecs import CODECS, ranked
from solver.book.ranking import Ranking
from solver.book.solution import Part
from solver.rules.game import Rules

FEW = 20_000  # states that are read before the compiled code is loaded
Lists = tuple[list[int], list[int]]


def pieces(book: Book, progress: Progress = silent) -> Iterator[Part]:
    """States, ascending, and palette indices: lists of groups or arrays of segments, until the next is asked for.

    By the end all of the file was checked. Raises DamagedBook.
    """
    plainly = book.ranking is not None and book.ranking.rules.plain_only
    if len(book) > FEW and extras.has_kernels() and not plainly:
        from solver.book.codecs.reading import read_parts

        yield from read_parts(book, progress)  # type: ignore[misc]
    elif book.ranking is None:
        yield from checked_groups(book, progress)
    else:
        pairs = sorted(pair for group in checked_groups(book, progress) for pair in zip(*group, strict=True))
        yield [state for state, _ in pairs], [index for _, index in pairs]


def lists(book: Book, progress: Progress = silent) -> Iterator[Lists]:
    """The `pieces` of a book as lists that stay."""
    for states, indices in pieces(book, progress):
        yield _list(states), _list(indices)


def _list(column: Any) -> list[int]:
    return column if isinstance(column, list) else column.tolist()


def write(
    target: str | os.PathLike[str],
    header: Header,
    some: Iterable[Part],
    rules: Rules | None = None,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Header:
    """Write a book of pieces of any length, on all cores where the kernels are at hand; the header as written.

    The bytes depend on neither. `rules` are needed where the codec is `ranked`. Raises BookError, ResourceError, and
    leaves `target` as it was.
    """
    is_ranked = header.codec == ranked.NAME and rules is not None
    if header.stored <= FEW or not extras.has_kernels() or (is_ranked and rules is not None and rules.plain_only):
        return _write_plainly(target, header, some, rules, progress)
    from solver.base.parallel import Workers
    from solver.book.codecs import encoders

    try:
        parts, encode = encoders.prepared(header, rules, some)
    except UncompiledRules:
        return _write_plainly(target, header, some, rules, progress)
    with Workers(workers) as team:
        return write_book(target, header, parts, encode=encode, map=team.map, progress=progress)


def _write_plainly(
    target: str | os.PathLike[str], header: Header, some: Iterable[Part], rules: Rules | None, progress: Progress
) -> Header:
    if header.codec != ranked.NAME or rules is None:
        return write_book(target, header, _blocks(some, CODECS[header.codec].BLOCK), progress=progress)
    ranking = Ranking(rules, header)
    return write_book(target, header, ranking.parts(some), encode=ranking.encode, progress=progress)


def _blocks(some: Iterable[Part], block: int) -> Iterator[Part]:
    """Lists, `block` states at a time."""
    states: list[int] = []
    indices: list[int] = []
    for more, places in some:
        states += _list(more)
        indices += _list(places)
        while len(states) >= block:
            yield states[:block], indices[:block]
            states, indices = states[block:], indices[block:]
    yield states, indices
