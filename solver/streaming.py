"""Whole books, a piece at a time: read as critically as `verify` reads them, and written anew.

What this takes of memory does not depend on the size of the book.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from solver import extras
from solver.book import Book, Header, write_book
from solver.book.check import checked_groups
from solver.book.codecs import CODECS
from solver.progress import Progress, silent
from solver.solved import Part

FEW = 20_000  # states that are read before the compiled code is loaded
Lists = tuple[list[int], list[int]]


def pieces(book: Book, progress: Progress = silent) -> Iterator[Part]:
    """States, ascending, and palette indices: lists of groups or arrays of segments, until the next is asked for.

    By the end all of the file was checked. Raises DamagedBook.
    """
    if len(book) <= FEW or not extras.has_kernels():
        return checked_groups(book, progress)
    from solver.kernels.reading import read_parts

    read: Any = read_parts(book, progress)
    return read  # type: ignore[no-any-return]


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
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Header:
    """Write a book of pieces of any length, on all cores where the kernels are at hand; the header as written.

    The bytes depend on neither. Raises BookError, ResourceError, and leaves `target` as it was.
    """
    if header.stored <= FEW or not extras.has_kernels():
        return write_book(target, header, _blocks(some, CODECS[header.codec].BLOCK), progress=progress)
    from solver.parallel import Workers
    from solver.sweep import pack

    parts: Any = pack.parts(pack.as_arrays(*piece) for piece in some)
    with Workers(workers) as team:
        return write_book(target, header, parts, encode=pack.ENCODERS[header.codec], map=team.map, progress=progress)


def _blocks(some: Iterable[Part], block: int) -> Iterator[Part]:
    """Lists, `block` states at a time."""
    states: list[int] = []
    indices: list[int] = []
    for more, places in some:
        states += more
        indices += places
        while len(states) >= block:
            yield states[:block], indices[:block]
            states, indices = states[block:], indices[block:]
    yield states, indices
