"""The small books that come with the package, found by their games: `solver.Book("tic-tac-toe")` solves nothing.

In a checkout they lie in `books/` beside the package, in an installed package inside of it. From an archive, such as a
zipapp, a book is copied to a temporary file when it is first asked for. Whatever takes a book takes such a name; a
book's file of that name goes first (`naming`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from solver.base.errors import BookError, ForeignBook
from solver.book.naming import resolved
from solver.rules.game import Game, game_text, is_built_in, load_game

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
