"""Open a book or a game by its name. `naming` has the order in which a name is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from solver.base.errors import BookError, GameError, MethodError
from solver.book import shipped
from solver.book.naming import resolved
from solver.book.reader import Book
from solver.rules.game import Game, GameOrName, game_text, load_game, rules_for

Source = Book | GameOrName


def game_of(source: Source) -> Game:
    """Return the game that a source names. Of a book it is the one that the header states, by the rules of today.

    Raises:
        GameError: There is no such game, or its parameters are wrong.
        BookError: The source is a book that cannot be read, or is not there.
        MissingRules: It is a book of your own game, whose rules nobody named.
    """
    if isinstance(source, Book):
        return source.stated_game()
    resolved_source = _existing(source)
    if not isinstance(resolved_source, Path):
        return load_game(resolved_source)
    with Book(resolved_source) as book:
        return book.stated_game()


def book_and_game(
    source: Source, game: GameOrName | None = None, *, shipped_book: bool = True
) -> tuple[Book | None, Game]:
    """Return the book and the game that a source names.

    Args:
        source: A book or its path; or a game or its name, whose book is the one that comes with the package.
        game: The rules of a book of your own game.
        shipped_book: Whether a game's shipped book is opened.

    Returns:
        The book, None for a game without one, and the game, whose rules are those that made the book.

    Raises:
        GameError: There is no such game, or its parameters are wrong.
        BookError: The book cannot be read, or is not there.
        ForeignBook: The book was made with other rules, or nobody named its rules.
    """
    resolved_source: Any = source if isinstance(source, Book) else _existing(source)
    if isinstance(resolved_source, Path):
        resolved_source = Book(resolved_source, game)
    if isinstance(resolved_source, Book):
        if game is None:
            return resolved_source, resolved_source.game
        rules = rules_for(game, resolved_source.header.game)
        resolved_source.check_rules(rules)
        return resolved_source, rules
    named = load_game(resolved_source)
    if game is not None and game_text(load_game(game)) != game_text(named):
        raise MethodError(f"{game_text(named)} is a game itself: rules are named for a book")
    return shipped.find(named, Book) if shipped_book else None, named


def _existing(source: Any) -> Path | Game | str:
    """Return the source that a name stands for (`naming.resolved`). Raises GameError or BookError if none is."""
    resolved_source = resolved(source)
    if not isinstance(resolved_source, Path) or os.path.exists(resolved_source):
        return resolved_source
    if isinstance(source, os.PathLike) or resolved_source.suffix == ".lmdb" or os.sep in source or "/" in source:
        raise BookError(f"there is no book {source}: solve the game first, or name another file")
    try:
        return load_game(source)
    except GameError as error:
        raise GameError(f"no book and {error}") from None
