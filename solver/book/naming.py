"""The meaning of the name of a book or of a game: one order, for every door.

Whatever takes a book or a game, in Python and on the command line, asks `resolved`, which takes the first that fits:

    1. a game           It is taken as it is; so is an open Book, by the doors that take one.
    2. a book's file    The file bears LMDB's mark, whatever its name.
    3. a game's name    `connect-four:5,4` is of the package. `my_game.py::Race:30`, `package.module::Class`,
                        `moves.csv`, `rules.kif`, `exercise.json` and `openspiel:NAME` are rules from elsewhere.
    4. any other path   It is no book. Whoever opens it says why.

So a book in the file `tic-tac-toe` goes before the game of that name. A file of that name that is no book does not
stand in the way of the game. A `Path` is a file, never the name of a game of the package.

Nothing is imported or run here. Rules run where a door asks for a game, never where it asks for a book alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from solver.book import pages
from solver.games import CATALOGUE, opened_by
from solver.rules.game import Game, name_in
from solver.rules.loading import names_user_rules


def resolved(source: Any) -> Path | Game | str:
    """Return the book or game that a source stands for: the path of a book, the name of a game, or the game itself.

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
    if pages.is_lmdb(text):
        return Path(text)
    named = opened_by(text)
    is_rules = names_user_rules(text) or named != text
    is_of_package = isinstance(source, str) and named.partition(":")[0] in CATALOGUE
    return text if is_rules or is_of_package else Path(text)
