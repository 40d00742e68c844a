"""The small books that come with the package, found by their games: `solver.Book("tic-tac-toe")` solves nothing.

In a checkout they lie in `books/` beside the package, in an installed package inside of it. Whatever takes a book takes
such a name; a book's file of that name goes first (`naming`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from solver.base.errors import BookError, ForeignBook
from solver.book.naming import resolved
from solver.rules.game import Game, game_text, is_built_in, load_game

HERE = Path(__file__).parent.parent
FOLDER = HERE / "books" if (HERE / "books").is_dir() else HERE.parent / "books"
Opened = TypeVar("Opened")


def find(game: Game, opened: Callable[[Path, Game], Opened]) -> Opened | None:
    """The book of a game, `opened`; None if none is shipped, or it was made by other rules than the game's are now.

    Raises DamagedBook.
    """
    name = game_text(game)
    path = path_of(name)
    if not is_built_in(name) or not path.is_file():
        return None
    try:
        return opened(path, game)
    except ForeignBook:
        return None


def located(source: Any) -> tuple[Path, Game | None]:
    """Where a book lies: at a path; or in the package, if the source is a game or its name, which comes with it.

    No rules of a user are run for it: no book of theirs is shipped. Raises BookError if none is, GameError for a game
    with wrong parameters.
    """
    resolved_source = resolved(source)
    if isinstance(resolved_source, Path):
        return resolved_source, None
    if isinstance(resolved_source, str) and not is_built_in(resolved_source):
        raise _not_shipped(resolved_source)
    game = load_game(resolved_source)
    name = game_text(game)
    if not is_built_in(name) or not path_of(name).is_file():
        raise _not_shipped(name)
    return path_of(name), game


def _not_shipped(name: str) -> BookError:
    return BookError(f"the package has no book of {name}: make one with solver solve {name} -o BOOK")


def path_of(name: str) -> Path:
    """Where the book of a game of this name lies, if it is shipped."""
    return FOLDER / f"{name.replace(':', '-').replace(',', 'x')}.lmdb"


def paths() -> list[Path]:
    """All books that are shipped, by their names."""
    return sorted(FOLDER.glob("*.lmdb"))
