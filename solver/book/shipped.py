"""What a name stands for: the file of a book, a game, or the book of it that comes with the package.

Whatever takes a book or a game, in Python and on the command line, reads a name by `book_or_game`, which takes the
first that fits:

    1. a game           It is taken as it is; so is an open Book, by the doors that take one.
    2. a book's file    The file bears LMDB's mark, whatever its name.
    3. a game's name    `connect-four:5,4` is of the package. `my_game.py::Race:30`, `package.module::Class`,
                        `moves.csv`, `rules.kif`, `exercise.json` and `openspiel:NAME` are rules from elsewhere.
    4. any other path   It is not a book. Whoever opens it says why.

So a book in the file `tic-tac-toe` goes before the game of that name. A file of that name that is not a book does not
stand in the way of the game. A `Path` is a file, never the name of a game of the package. Nothing is imported or run
to tell which it is. Rules run where a door asks for a game, never where it asks for a book alone.

The books that come with the package lie in `books/` beside it in a checkout, and inside of it where it is installed.
From an archive, such as a zipapp, a book is copied to a temporary file when it is first asked for.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

from solver.base.errors import BookError
from solver.book import pages
from solver.games import CATALOGUE, opened_by
from solver.rules.game import Game, game_text, is_built_in, load_game, name_in
from solver.rules.loading import names_user_rules


def book_or_game(source: Any) -> Path | Game | str:
    """Return what a source stands for, in the order above.

    Args:
        source: A Game, a path, or text.

    Returns:
        A Path for a book, or for a name that is neither a book's nor a game's. A str for a game's name, which
        `load_game` takes. A game as it is.

    Raises:
        GameError: The source is neither a path, nor text, nor a game.
    """
    text = name_in(source)
    if text is None:
        game: Game = source
        return game
    if os.path.isfile(text) and pages.is_lmdb(text):
        return Path(text)
    named = opened_by(text)
    is_rules = names_user_rules(text) or named != text
    is_of_package = isinstance(source, str) and named.partition(":")[0] in CATALOGUE
    return text if is_rules or is_of_package else Path(text)


def is_path(source: Any) -> bool:
    """Whether a source is the path of a book, or of nothing, and no game."""
    return isinstance(book_or_game(source), Path)


def located(source: Any) -> tuple[Path, Game | None]:
    """Where a book lies: at a path; or in the package, if the source is a game or its name, which comes with it.

    No rules of a user are run for it: no book of theirs is shipped. Raises BookError if none is, GameError for a game
    with wrong parameters.
    """
    path: Path | None
    name = book_or_game(source)
    if isinstance(name, Path):
        return name, None
    if not isinstance(name, str) or is_built_in(name):
        game = load_game(name)
        name, path = game_text(game), book_of(game)
        if path is not None:
            return path, game
    raise BookError(f"the package has no book of {name}: make one with solver solve {name} -o BOOK")


def book_of(game: Game) -> Path | None:
    """Where the shipped book of a game lies, which may be of older rules; None without one."""
    name = game_text(game)
    path = path_of(name) if is_built_in(name) else None
    return path if path is not None and path.is_file() else None


@functools.cache
def folder() -> Any:
    """Where the books lie: a path, or a part of the archive that the package runs from."""
    package: Any = Path(__file__).parents[1]
    if not package.is_dir():
        # In an archive
        from importlib import resources

        package = resources.files("solver")
    return package / "books" if (package / "books").is_dir() else package.parent / "books"


def file_name(name: str, ending: str) -> str:
    """The name of a shipped file of the game of this name."""
    return f"{name.replace(':', '-').replace(',', 'x')}{ending}"


def path_of(name: str) -> Path:
    """Where the book of a game of this name lies, if it is shipped."""
    return _file(file_name(name, ".lmdb"))


def _file(name: str) -> Path:
    """The path of a book: it is mapped, so that of an archive is copied."""
    home = folder()
    return home / name if isinstance(home, Path) else _copied(name)


@functools.cache
def _copied(name: str) -> Path:
    """The path of a book's copy, which goes when the process ends; one that is not there if there is no such book."""
    import atexit
    import shutil
    import tempfile

    part = folder() / name
    if not part.is_file():
        return Path(str(part))
    home = Path(tempfile.mkdtemp(prefix="solver-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    (home / name).write_bytes(part.read_bytes())
    return home / name


def paths() -> list[Path]:
    """All books that are shipped, by their names."""
    return [_file(name) for name in sorted(part.name for part in folder().iterdir()) if name.endswith(".lmdb")]
