"""Whole books, a piece at a time: read as critically as `verify` reads them, and written anew.

The memory for this does not depend on the size of the book. The codec `ranked` is the exception: it sorts all states,
23 bytes each to write them and 85 to read them (connect-four 5x5).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from solver.base import extras
from solver.base.extras import PLAIN_LIMIT
from solver.base.progress import Progress, silent
from solver.book import Book, Header
from solver.book.check import checked_groups
from solver.book.codecs.codec import Lists, as_list
from solver.book.solution import Encoded, Part
from solver.book.writer import write_book
from solver.rules.game import Rules
from solver.rules.keeping import kept_game


def pieces(book: Book, progress: Progress = silent) -> Iterator[Part]:
    """States, ascending, and palette indices: lists of groups or arrays of segments, until the next is asked for.

    By the end all of the file was checked. Raises DamagedBook.
    """
    if len(book) > PLAIN_LIMIT and extras.has_kernels() and not book.codec_keys.plain_only:
        from solver.book.codecs.reading import read_parts

        yield from read_parts(book, progress)  # type: ignore[misc]
    else:
        yield from book.codec_keys.in_order(checked_groups(book, progress))


def lists(book: Book, progress: Progress = silent) -> Iterator[Lists]:
    """The `pieces` of a book as lists that stay."""
    for states, indices in pieces(book, progress):
        yield as_list(states), as_list(indices)


def write(
    target: str | os.PathLike[str],
    header: Header,
    chunks: Iterable[Part],
    rules: Rules | None = None,
    *,
    encoded: Callable[[str, int], Iterable[Encoded | Part]] | None = None,
    ranked: Callable[[], Iterable[Part]] | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> Header:
    """Write a book of pieces of any length, on all cores where the kernels are at hand; the header as written.

    The bytes depend on neither. Where keys are states, `encoded` may have the same as groups; where they are ranks, and
    no value is left out, `ranked` may have them in order. `rules` are needed where
    the codec asks them, and where the book is to keep the game. Raises BookError, ResourceError, and leaves `target` as
    it was.
    """
    header = header.sparsely(rules)
    keys, game = header.keys(rules), b"" if rules is None else kept_game(rules.game)
    if header.stored > PLAIN_LIMIT and extras.has_kernels() and not keys.plain_only:
        from solver.base.parallel import Workers
        from solver.book.codecs import encoders

        with Workers(workers) as team:
            if encoded is not None and not keys.ASKED:
                prepared: Any = encoded(header.codec, header.index_bytes), encoders.encoder_of(header.encoding)
            else:
                prepared = encoders.prepared(header, keys, chunks, team, ranked)
            if prepared is not None:
                encoded_parts, encode = prepared
                return write_book(
                    target, header, encoded_parts, game=game, encode=encode, map=team.map, progress=progress
                )
    encoded_parts = keys.parts(chunks, header.encoding.block)
    return write_book(target, header, encoded_parts, game=game, encode=keys.encode, progress=progress)
