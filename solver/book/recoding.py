"""A book in another codec: the same states, values and header, and nothing solved."""

from __future__ import annotations

import os

from solver.base.errors import BookError
from solver.base.progress import Progress, silent
from solver.book import Book, Header, check_codec, streaming
from solver.book.codecs import CODECS, rules_of
from solver.book.doors import Source
from solver.book.writer import placed
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
    """Write a copy of a book in another codec.

    The bytes are those that `solve` writes in that codec, whatever `workers` is. So a book that is packed and then
    packed back has its old digest. All that is read is checked. On any error `target` stays as it was.

    Args:
        path: A book or its path; or a game or its name, for the book that comes with the package.
        target: Where to write the copy. It may be `path`: whoever has the old book open keeps it. On Windows it must
            be closed first.
        codec: The copy's codec: "instant", "compact", "ranked", "fixed" or "wide".
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
