"""The cells that rules draw, and the cells of a move, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solver.base.errors import GameError
from solver.rules.boards.text import rows_at
from solver.rules.game import own_method
from solver.rules.notation import show


def is_drawn(game: Any) -> bool:
    """Whether the rules say how a page draws the board."""
    return own_method(game, "cells") is not None


def board_of(game: Any, state: int, mover: int) -> list[str] | str:
    """Return rows of one character a cell if the rules say how cells are drawn, else text.

    Raises:
        GameError: The rows are empty or differ in length.
    """
    return rows_at(game, state, mover) if is_drawn(game) else show(game, state, mover)


def cells_of_move(game: Any, state: int, action: int, board: Sequence[str] | str) -> list[int]:
    """Return the cells that a player chooses for a move, in turn; none where the rules name none.

    Raises:
        GameError: A cell lies outside the board.
    """
    place_of = own_method(game, "place")
    cells = [] if place_of is None or isinstance(board, str) else [int(cell) for cell in place_of(state, action)]
    if any(not 0 <= cell < len(board) * len(board[0]) for cell in cells):
        raise GameError(f"place({state}, {action}) is {cells}: cells are numbered from 0, row by row from the top left")
    return cells
