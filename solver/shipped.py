"""The small books that come with the package, found by their games: `solver.Player("tic-tac-toe")` solves nothing.

In a checkout they lie in `books/` beside the package, in an installed package inside of it.
"""

from __future__ import annotations

from pathlib import Path

from solver.book.reader import Book
from solver.errors import ForeignBook
from solver.game import Game, game_text, is_built_in

HERE = Path(__file__).parent
FOLDER = HERE / "books" if (HERE / "books").is_dir() else HERE.parent / "books"


def find(game: Game) -> Book | None:
    """The book of a game, open; None if none is shipped, or it was made by other rules than the game's are now.

    Raises DamagedBook.
    """
    name = game_text(game)
    path = path_of(name)
    if not is_built_in(name) or not path.is_file():
        return None
    try:
        return Book(path, game)
    except ForeignBook:
        return None


def path_of(name: str) -> Path:
    """Where the book of a game of this name lies, if it is shipped."""
    return FOLDER / f"{name.replace(':', '-').replace(',', 'x')}.lmdb"


def paths() -> list[Path]:
    """All books that are shipped, by their names."""
    return sorted(FOLDER.glob("*.lmdb"))
