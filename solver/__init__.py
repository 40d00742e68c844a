'''Strongly solve two-player games from 30 lines of plain Python, and ship the answers as one small, checked file.

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

What a book says of its game:

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
'''

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # that of typing, for which the program would wait before it can take signals
if TYPE_CHECKING:
    from typing import Any

    from solver.base.errors import (
        BookError,
        BudgetExceeded,
        DamagedBook,
        ForeignBook,
        GameError,
        MethodError,
        MissingState,
        PositionError,
        ResourceError,
        SolverError,
    )
    from solver.base.value import Solution, Value
    from solver.book import Book, Trim, check_book
    from solver.book.packing import pack
    from solver.check.conformance import check_game
    from solver.cli.common import Bars
    from solver.edit.comparing import diff, merge
    from solver.edit.sampling import sample
    from solver.edit.trimming import trim
    from solver.play.analysis import Answer, Move, Moves, Outcome
    from solver.play.board import board
    from solver.play.grading import grade
    from solver.play.player import Player
    from solver.rules.game import Game, load_game
    from solver.solving.pipeline import solve
    from solver.verifying.verification import verify

__version__ = "0.1.0"

__all__ = [  # in reading order, one by one: what reads the program without running it knows no other form
    "load_game",
    "Game",
    "check_game",
    "solve",
    "Book",
    "Value",
    "Solution",
    "Player",
    "Answer",
    "Move",
    "Moves",
    "Outcome",
    "board",
    "Bars",
    "verify",
    "pack",
    "trim",
    "Trim",
    "sample",
    "grade",
    "diff",
    "merge",
    "check_book",
    "SolverError",
    "GameError",
    "MethodError",
    "PositionError",
    "MissingState",
    "BookError",
    "DamagedBook",
    "ForeignBook",
    "ResourceError",
    "BudgetExceeded",
]

_HOMES = {
    "load_game": "rules.game",
    "Game": "rules.game",
    "check_game": "check.conformance",
    "solve": "solving.pipeline",
    "Book": "book",
    "Value": "base.value",
    "Solution": "base.value",
    "Player": "play.player",
    "Answer": "play.analysis",
    "Move": "play.analysis",
    "Moves": "play.analysis",
    "Outcome": "play.analysis",
    "board": "play.board",
    "Bars": "cli.common",
    "verify": "verifying.verification",
    "pack": "book.packing",
    "trim": "edit.trimming",
    "Trim": "book",
    "sample": "edit.sampling",
    "grade": "play.grading",
    "diff": "edit.comparing",
    "merge": "edit.comparing",
    "check_book": "book",
    "SolverError": "base.errors",
    "GameError": "base.errors",
    "MethodError": "base.errors",
    "PositionError": "base.errors",
    "MissingState": "base.errors",
    "BookError": "base.errors",
    "DamagedBook": "base.errors",
    "ForeignBook": "base.errors",
    "ResourceError": "base.errors",
    "BudgetExceeded": "base.errors",
}


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'solver' has no attribute {name!r}")
    item = getattr(importlib.import_module(f"solver.{_HOMES[name]}"), name)
    globals()[name] = item
    return item
