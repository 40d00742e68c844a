"""Treblecross: tic-tac-toe in one row, in which both mark X; who makes three X side by side wins.

Nobody wants to mark a cell next to an X, or next but one, because the other then completes three. So a mark takes away
five cells, and the game is the octal game 0.007, with heaps of two more than there are cells. From 3 to 110 cells the
mover loses rows of 6, 12, 22, 30, 32, 44, 54, 64, 76, 86, 98 and 110 cells, and no others (Berlekamp, Conway and Guy,
Winning Ways, chapter 4). In rows of one or two cells nobody makes three. There, who cannot mark any more loses.

A state has a bit for each cell that is marked, the first one lowest; an action is the cell.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import Filling, grid, like, limits
from solver.games.common.boards import cells_of

GROUP = "impartial"


@like(Filling)
class Treblecross(NamedTuple):
    """Mark X in a row of `width` cells; who makes three side by side wins."""

    width: int = 12

    def check(self) -> None:
        limits(self, width=(1, 62))

    def actions(self, state: int) -> Iterator[int]:
        for cell in range(self.width):
            if not state >> cell & 1:
                yield cell

    def is_terminal(self, state: int) -> bool:
        return state & state >> 1 & state >> 2 != 0 or state == (1 << self.width) - 1

    def longest(self, state: int) -> int:
        return self.width - state.bit_count()

    def canonical(self, state: int) -> int:
        return min(state, grid.mirrored(self.width, 1, 1, state))

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.width, 1, state, "X")

    def from_cells(self, rows: list[str], mover: int) -> int:
        return cells_of(rows, "X")

    def layout(self) -> tuple[str, int]:
        return "X", self.width

    def place(self, state: int, action: int) -> list[int]:
        return [action]

    def drawing(self) -> dict[str, Any]:
        return {"men": {"X": ["cross", 2]}, "names": [str(i + 1) for i in range(self.width)]}
