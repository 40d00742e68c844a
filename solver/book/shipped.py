"""The small books that come with the package, found by their games: `solver.Book("tic-tac-toe")` solves nothing.

In a checkout they lie in `books/` beside the package, in an installed package inside of it. Whatever takes a book takes
such a name; a file of that name goes first.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from solver.base.errors import BookError, ForeignBook
from solver.games import CATALOGUE
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


def located(path: str | os.PathLike[str]) -> tuple[Path, Game | None]:
    """Where a book lies: at `path`; or in the package, where that is no file but names a game, which comes with it.

    Raises BookError if none is, GameError for a game with wrong parameters.
    """
    name = path if isinstance(path, str) else ""
    if name.partition(":")[0] not in CATALOGUE or is_file(name) or not is_built_in(name):
        return Path(path), None
    game = load_game(name)
    shipped = path_of(game_text(game))
    if not shipped.is_file():
        raise BookError(f"no book of {name} comes with the package: solver solve {name} -o BOOK makes one")
    return shipped, game


def is_file(name: str) -> bool:
    """Whether a name is taken for a file, not for a game: something lies there that is no folder."""
    return os.path.exists(name) and not os.path.isdir(name)


def path_of(name: str) -> Path:
    """Where the book of a game of this name lies, if it is shipped."""
    return FOLDER / f"{name.replace(':', '-').replace(',', 'x')}.lmdb"


def paths() -> list[Path]:
    """All books that are shipped, by their names."""
    return sorted(FOLDER.glob("*.lmdb"))
