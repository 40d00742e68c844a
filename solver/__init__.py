"""Strongly solve two-player games from 30 lines of plain Python, and ship the answers as one small, checked file.

>>> import solver
>>> game = solver.load_game("connect-four:4,4")             # width, height
>>> book = solver.solve(game, "connect-four-4x4.lmdb")      # without a path in a temporary file, gone when it is closed
>>> with book:                                              # a Mapping from states to values
...     player = solver.Player(book)                        # it knows its game; Player(game): a shipped book, or live
...     value = book[game.initial()]                        # for the side to move; None: draws have no distance
...     action = player.best(game.initial())                # the quickest win, else a draw, else the longest loss
...     moves = player.analyse(game.initial())              # every action, its value, its source, best first
>>> value
Value(score=0, distance=None)
>>> action, [move.value.outcome for move in moves]
(0, ['draw', 'draw', 'draw', 'draw'])

The header of a book:

>>> book.states, book.counts
(80541, {'win': 19341, 'draw': 45079, 'loss': 16121})
>>> book.root, book.longest                                 # the longest win: its plies, and a state that has it
(Value(score=0, distance=None), (13, 33923))

Every value against its children, every checksum and count:

>>> solver.verify("connect-four-4x4.lmdb").states
67163

Rules of your own are a NamedTuple of parameters in a file, with the methods of `Game` on plain ints, and are loaded by
load_game("my_game.py::Race:30"). docs/reference/rules.md describes each method. `check_game` plays random games to find
broken promises. All errors are a SolverError, and its message names the remedy.

Importing this package loads no numpy and no numba, and neither does answering from a book. On the command line it is
the same: `solver --help`.
"""

import importlib

__version__ = "0.1.0"


# The public names in reading order, by the modules that define them; `__init__.pyi` lists them for type checkers
_NAMES = {
    "base.errors": "BookError BudgetExceeded DamagedBook ForeignBook GameError MethodError MissingState PositionError"
    " ResourceError SolverError Unproved",
    "base.value": "Solution Value",
    "book": "Book Trim",
    "book.check": "check_book",
    "book.streaming": "pack",
    "cli.common": "Bars",
    "edit.comparing": "diff merge sample",
    "edit.trimming": "trim",
    "play.analysis": "Answer Move Moves Outcome",
    "play.board": "board",
    "play.grading": "grade",
    "play.player": "Player",
    "profiling": "Profile profile",
    "puzzles": "Puzzle find_puzzles score_answer",
    "rules.game": "Game load_game",
    "rules.notation": "format_action parse_action show",
    "rules.reading": "position",
    "solving.pipeline": "check_game prove solve",
    "verifying.verification": "verify",
}
_HOMES = {name: f"solver.{home}" for home, names in _NAMES.items() for name in names.split()}
__all__ = [*_HOMES]  # noqa: PLE0604


def __dir__() -> list[str]:
    return sorted([*_HOMES, *(name for name in globals() if name.startswith("__"))])


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'solver' has no attribute {name!r}")
    item = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = item
    return item
