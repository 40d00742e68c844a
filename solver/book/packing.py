"""A book in another codec: the same states, values and header, and nothing solved."""

from __future__ import annotations

import os

from solver.base.errors import BookError
from solver.base.progress import Progress, silent
from solver.book import Book, Header, check_codec, placed, streaming
from solver.book.codecs import CODECS, rules_of
from solver.book.doors import Source
from solver.rules.game import GameOrName, Rules
from solver.rules.width import refuse_wide


def pack(
    path: Source,
    target: str | os.PathLike[str],
    codec: str = "compact",
    game: GameOrName | None = None,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Header:
    """Write a book, or the one at a path, anew in this codec; the header as written.

    The bytes are those that `solve` would write in that codec, whatever `workers`, so a book that is packed back has
    the digest that it had. What is read is checked, so that what is packed is not damaged. `target` may be `path`: who
    reads the old book keeps it, or on Windows has to close it first. `game` is needed where a codec asks rules that are
    not of the package.
    Raises DamagedBook, ForeignBook or BookError, ResourceError, and leaves `target` as it was.
    """
    check_codec(codec)
    with placed(target, path) as target, Book(path, game) as book:
        if codec != book.header.codec:
            book.header.kind.refuse("pack", str(book.path), BookError)
            bits = 8 * book.header.state_bytes
            refuse_wide(str(book.path), bits, f"the codec {codec}", "leave it as it is", BookError)
        header, rules = recoded(book, book.header, codec)
        # Ranks are read, and sorted, before any are written; else both go on together and only one can be seen.
        reads_first = CODECS[codec].asks_rules or book.header.encoding.asks_rules
        pieces = streaming.pieces(book, progress if reads_first else silent)
        return streaming.write(target, header, pieces, rules, workers=workers, progress=progress)


def recoded(book: Book, header: Header, codec: str) -> tuple[Header, Rules | None]:
    """A header of states of a book in another codec, and the rules where the codec or the book's own asks them.

    Raises BookError for states that the codec cannot hold.
    """
    header, rules = header._replace(codec=codec), None
    keys = CODECS[codec].keys
    if keys is not book.header.encoding.keys or keys.ASKED or book.keeps_game:
        rules = book.rules
        header = header._replace(rules=rules_of(book.game, codec))
        check_codec(codec, rules, header.scope)
    return header, rules
