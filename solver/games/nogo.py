"""NoGo, or anti-atari go: put stones on a board in turn, none may be without a liberty; who cannot put one loses.

Stones of one colour that are connected along rows and columns are a group, and the free cells beside it are its
liberties. After a move every group on the board, of either colour, must have one: nothing is ever taken. In the
impartial game, as it is by default, either player puts stones of either colour; in the partizan one, Black, who moves
first, and White each their own. Nimbers of impartial boards are those of the solver MCGS of the University of Alberta.

A state is the black stones, a bit for each cell, row by row from the bottom left, and the white ones above them. An
action is twice the cell, and one more for a white stone.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid, like
from solver.games.common.boards import cells_of, check_turns
from solver.games.common.colouring import Colouring

GROUP = "impartial"


@like(Colouring, "initial", "check", "utility", "tier", "longest", "cells")
class Nogo(NamedTuple):
    """Put a stone of either colour where all groups keep a liberty; who cannot loses; partizan: of one's own colour."""

    width: int = 3
    height: int = 3
    partizan: bool = False

    drawing = {"board": "grid", "sides": ["black", "white"]}

    @property
    def impartial(self) -> bool:
        return not self.partizan

    def actions(self, state: int) -> Iterator[int]:
        for action in range(2 * self.width * self.height):
            if self._may_put(state, action):
                yield action

    def result(self, state: int, action: int) -> int:
        return state | 1 << action // 2 + action % 2 * self.width * self.height

    def is_terminal(self, state: int) -> bool:
        for action in range(2 * self.width * self.height):
            if self._may_put(state, action):
                return False
        return True

    def canonical(self, state: int) -> int:
        """The least of the board's images, in the impartial game also with colours exchanged."""
        least = grid.least(self.width, self.height, 2, state)
        if not self.partizan:
            cells = self.width * self.height
            other = state >> cells | (state & (1 << cells) - 1) << cells
            least = min(least, grid.least(self.width, self.height, 2, other))
        return least

    def format_action(self, state: int, action: int) -> str:
        return grid.name(self.width, action // 2) + ("" if self.partizan else "bw"[action % 2])

    def from_cells(self, rows: list[str], mover: int) -> int:
        first, second = cells_of(rows, "X"), cells_of(rows, "o")
        if self.partizan:
            check_turns(first.bit_count(), second.bit_count(), mover)
        return first | second << self.width * self.height

    def layout(self) -> tuple[str, int]:
        return "Xo", 2 * self.width * self.height

    def place(self, state: int, action: int) -> list[int]:
        """None where a cell may be given either stone: it is chosen by its name."""
        return [grid.place(self.width, self.height, action // 2)] if self.partizan else []

    def _may_put(self, state: int, action: int) -> bool:
        cells = self.width * self.height
        cell = action // 2
        if (state | state >> cells) >> cell & 1 or (self.partizan and action % 2 != state.bit_count() % 2):
            return False
        after = state | 1 << cell + action % 2 * cells
        black, white = after & (1 << cells) - 1, after >> cells
        free = (1 << cells) - 1 & ~(black | white)
        return self._lives(black, free) and self._lives(white, free)

    def _lives(self, stones: int, free: int) -> bool:
        """Whether each group of stones has a liberty."""
        living = grid.beside(self.width, self.height, free) & stones
        last = 0
        while living != last:
            last = living
            living |= grid.beside(self.width, self.height, living) & stones
        return living == stones
