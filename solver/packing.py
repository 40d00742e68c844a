"""A book in another codec: the same states, values and header, and nothing solved.

It is read as critically as `verify` reads it, a segment at a time, so that what is packed is not damaged; what it takes
of memory does not depend on its size.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from solver import extras
from solver.book import Book, Header, check_codec, check_target, write_book
from solver.book.check import checked_groups
from solver.book.codecs import CODECS
from solver.progress import Progress, silent
from solver.solved import Part

FEW = 20_000  # states that are packed before the compiled code is loaded


def pack(
    path: str | os.PathLike[str],
    target: str | os.PathLike[str],
    codec: str = "compact",
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Header:
    """Write the book at `path` anew, in this codec; the header as written.

    The bytes are those that `solve` would write in that codec, whatever `workers`, so a book that is packed back has
    the digest that it had. `target` may be `path`: who reads the old book keeps it. Raises DamagedBook, ForeignBook or
    BookError, ResourceError, and leaves `target` as it was.
    """
    check_codec(codec)
    check_target(target)
    with Book(path) as book:
        header = book.header._replace(codec=codec)
        if len(book) <= FEW or not extras.has_kernels():
            return write_book(target, header, _plainly(book, CODECS[codec].BLOCK), progress=progress)
        from solver.kernels.reading import read_parts
        from solver.parallel import Workers
        from solver.sweep import pack as encoders

        parts: Any = encoders.parts(read_parts(book))
        with Workers(workers) as team:
            return write_book(
                target, header, parts, encode=encoders.ENCODERS[codec], map=team.map, progress=progress
            )


def _plainly(book: Book, block: int) -> Iterator[Part]:
    """States and indices, `block` at a time."""
    states: list[int] = []
    indices: list[int] = []
    for some, places in checked_groups(book):
        states += some
        indices += places
        while len(states) >= block:
            yield states[:block], indices[:block]
            states, indices = states[block:], indices[block:]
    yield states, indices
