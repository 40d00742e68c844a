"""Books: solutions in one memory-mapped file (`format`), and the one door to a book or a game by its name.

`shipped` has the order in which a name is read.
"""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path
from typing import Any

from solver.base.errors import ForeignBook, MethodError
from solver.base.files import near_miss
from solver.book import shipped
from solver.book.codecs import DEFAULT, check_codec
from solver.book.format import Header
from solver.book.reader import Book
from solver.book.solution import Trim
from solver.rules.game import Game, GameOrName, Rules, game_text, load_game, rules_for

__all__ = ["DEFAULT", "Book", "Header", "Opened", "Source", "Trim", "check_codec", "game_of", "open_source"]

Source = Book | GameOrName


class Opened(contextlib.AbstractContextManager["Opened"]):
    """A source that was opened. A `with` block closes its book behind, unless that was open before.

    Attributes:
        game: The game.
        book: The book; None for a game without one.
        rules: The rules of the game, folded by symmetry as the book is.
    """

    def __init__(self, game: Game, book: Book | None = None, *, was_open: bool = False) -> None:
        self.game, self.book, self._was_open = game, book, was_open

    @functools.cached_property
    def rules(self) -> Rules:
        if self.book is None:
            return Rules(self.game)
        return self.book.rules if self.book.game is self.game else Rules(self.game, self.book.header.symmetry)

    def __exit__(self, *raised: object) -> None:
        if self.book is not None and not self._was_open:
            self.book.close()


def open_source(source: Source | Opened, game: GameOrName | None = None, *, shipped_book: bool = True) -> Opened:
    """Open a book or a game.

    Args:
        source: A book or its path; or a game or its name, whose book is the one that comes with the package. A source
            that was opened is returned as it is.
        game: The rules of a book of your own game.
        shipped_book: Whether a game's shipped book is opened.

    Returns:
        The game, whose rules are those that made the book, and the book, if there is one.

    Raises:
        GameError: There is no such game, or its parameters are wrong.
        BookError: The book cannot be read, or is not there.
        ForeignBook: The book was made with other rules, or nobody named its rules.
    """
    if isinstance(source, Opened):
        return source
    opened = _book_or_game(source, game)
    if isinstance(opened, Book):
        if game is None or opened is not source:
            return Opened(opened.game, opened, was_open=opened is source)
        rules = rules_for(game, opened.header.game)
        opened.check_rules(rules)
        return Opened(rules, opened, was_open=True)
    if game is not None and game_text(load_game(game)) != game_text(opened):
        raise MethodError(f"{game_text(opened)} is a game itself: rules are named for a book")
    path = shipped.book_of(opened) if shipped_book else None
    try:
        return Opened(opened, None if path is None else Book(path, opened))
    except ForeignBook:
        # It was made by other rules than the game's are now
        return Opened(opened)


def game_of(source: Source) -> Game:
    """Return the game that a source names. Of a book it is the one that the header states, by the rules of today.

    Raises:
        GameError: There is no such game, or its parameters are wrong.
        BookError: The source is a book that cannot be read, or is not there.
        MissingRules: It is a book of your own game, whose rules nobody named.
    """
    opened = _book_or_game(source)
    return opened.stated_game() if isinstance(opened, Book) else opened


def _book_or_game(source: Any, game: GameOrName | None = None) -> Book | Game:
    """Open the book that a source stands for, or load the game. Raises GameError or BookError if it stands for none."""
    if isinstance(source, Book):
        return source
    name = shipped.book_or_game(source)
    if isinstance(name, Path):
        is_file = os.path.exists(name) or isinstance(source, os.PathLike) or name.suffix == ".lmdb"
        if is_file or os.sep in source or "/" in source or near_miss(name):
            return Book(name, game)
    return load_game(source)
