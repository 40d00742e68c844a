"""Strongly solve two-player games and ship the answers.

    solve(game, path)   a Game becomes a Book
    Book(path)          a Mapping from states to values, in mapped memory
    Player(book)        the best action of any state, searching live where the book is silent

Importing this package loads no numpy and no numba; names are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solver.book import Book, check_book
    from solver.conformance import check_game
    from solver.errors import (
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
    from solver.game import Game, load_game
    from solver.pipeline import Summary, solve
    from solver.player import Answer, Move, Player
    from solver.value import Solution, Value
    from solver.verification import verify

__version__ = "0.1.0"

_HOMES = {
    "solver.book": ("Book", "check_book"),
    "solver.conformance": ("check_game",),
    "solver.errors": (
        "BookError",
        "BudgetExceeded",
        "DamagedBook",
        "ForeignBook",
        "GameError",
        "MethodError",
        "MissingState",
        "PositionError",
        "ResourceError",
        "SolverError",
    ),
    "solver.game": ("Game", "load_game"),
    "solver.player": ("Answer", "Move", "Player"),
    "solver.pipeline": ("Summary", "solve"),
    "solver.value": ("Solution", "Value"),
    "solver.verification": ("verify",),
}

__all__ = sorted(name for names in _HOMES.values() for name in names)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            item = getattr(importlib.import_module(home), name)
            globals()[name] = item
            return item
    raise AttributeError(f"module 'solver' has no attribute {name!r}")
