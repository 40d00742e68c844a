"""Whole books, a piece at a time: read as critically as `verify` reads them, and written anew, in any codec.

The memory for this does not depend on the size of the book. The codec `ranked` is the exception: it sorts all states,
17 bytes each to write them (connect-four 5x6) and 85 to read them (5x5).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from solver.base import extras
from solver.base.errors import BookError
from solver.base.extras import PLAIN_LIMIT
from solver.base.progress import Progress, silent
from solver.book import Book, Header, Source, check_codec
from solver.book.check import checked_groups
from solver.book.codecs import Lists, as_list, codec_of, rules_of
from solver.book.solution import Encoded, Part
from solver.book.writer import placed, write_book
from solver.rules.game import GameOrName, Rules
from solver.rules.loading import kept_game
from solver.rules.width import refuse_wide


def pieces(book: Book, progress: Progress = silent) -> Iterator[Part]:
    """States, ascending, and palette indices: lists of groups or arrays of segments, until the next is asked for.

    By the end all of the file was checked. Raises DamagedBook.
    """
    if len(book) > PLAIN_LIMIT and extras.has_kernels() and not book.codec_keys.plain_only:
        from solver.book.codecs.arrays import read_parts

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
    # A complete book leaves out the values that its codec can tell
    left_out = header.encoding.keys.left_out(rules) if rules and len(header.may_leave_out) > 1 else 0
    header = header._replace(sparse=left_out)
    keys, game = header.keys(rules), b"" if rules is None else kept_game(rules.game)
    if header.stored > PLAIN_LIMIT and extras.has_kernels() and not keys.plain_only:
        from solver.base.parallel import Workers
        from solver.book.codecs import arrays

        with Workers(workers) as team:
            if encoded is not None and not keys.ASKED:
                prepared: Any = encoded(header.codec, header.index_bytes), arrays.encoder_of(header.encoding)
            else:
                prepared = arrays.prepared(header, keys, chunks, team, ranked)
            if prepared is not None:
                encoded_parts, encode = prepared
                return write_book(
                    target, header, encoded_parts, game=game, encode=encode, map=team.map, progress=progress
                )
    encoded_parts = keys.parts(chunks, header.encoding.block)
    return write_book(target, header, encoded_parts, game=game, encode=keys.encode, progress=progress)


def pack(
    path: Source,
    target: str | os.PathLike[str],
    codec: str = "compact",
    game: GameOrName | None = None,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Header:
    """Write a copy of a book in another codec.

    The bytes are those that `solve` writes in that codec, whatever `workers` is. So a book that is packed and then
    packed back has its old digest. All that is read is checked. On any error `target` stays as it was.

    Args:
        path: A book or its path; or a game or its name, for the book that comes with the package.
        target: Where to write the copy. It may be `path`: whoever has the old book open keeps it. On Windows it must
            be closed first.
        codec: The copy's codec: "instant", "compact" or "ranked".
        game: The rules, if the game is your own. Only a codec that asks the rules needs them.
        workers: Threads. None for all cores.
        progress: Called as the work goes on.

    Returns:
        The header of the copy.

    Raises:
        DamagedBook: The book is damaged.
        ForeignBook: The book was made with other rules.
        BookError: The book cannot be read, or `target` cannot be written.
        ResourceError: Memory or disk does not suffice.
    """
    check_codec(codec)
    with placed(target, path) as target, Book(path, game) as book:
        if codec != book.header.codec:
            book.header.kind.refuse("pack", str(book.path), BookError)
        header, rules = recoded(book, book.header, codec)
        # Ranks are read, and sorted, before any are written; else both go on together and only one can be seen.
        reads_first = codec_of(codec).asks_rules or book.header.encoding.asks_rules
        chunks = pieces(book, progress if reads_first else silent)
        return write(target, header, chunks, rules, workers=workers, progress=progress)


def recoded(book: Book, header: Header, codec: str) -> tuple[Header, Rules | None]:
    """A header of states of a book in another codec, and the rules where the codec or the book's own asks them.

    Raises BookError for states that the codec cannot hold.
    """
    header, rules = header._replace(codec=codec), None
    keys = codec_of(codec).keys
    if not codec_of(codec).takes_all:
        bits = 8 * header.state_bytes
        refuse_wide(str(book.path), bits, f"the codec {codec}", "leave it as it is", BookError)
    if keys is not book.header.encoding.keys or keys.ASKED or book.keeps_game:
        rules = book.rules
        header = header._replace(rules=rules_of(book.game, codec))
        check_codec(codec, rules, header.scope)
    return header, rules
