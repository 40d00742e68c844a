"""A book in another codec: the same states, values and header, and nothing solved."""

from __future__ import annotations

import os

from solver import streaming
from solver.book import Book, Header, check_codec, check_target
from solver.progress import Progress, silent


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
    the digest that it had. What is read is checked, so that what is packed is not damaged. `target` may be `path`: who
    reads the old book keeps it. Raises DamagedBook, ForeignBook or BookError, ResourceError, and leaves `target` as it
    was.
    """
    check_codec(codec)
    check_target(target)
    with Book(path) as book:
        header = book.header._replace(codec=codec)
        return streaming.write(target, header, streaming.pieces(book), workers=workers, progress=progress)
