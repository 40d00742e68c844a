"""Cram (Martin Gardner 1974): put dominoes on a board in turn, either way round; who cannot put one loses.

A domino takes two free cells beside each other. Where one side of the board is even and the other odd the first player
wins by a domino in the middle, and where both are even the second, by playing opposite. Nimbers of boards are in
Schneider, Das Spiel Juvavum, 2009, and in Lemoine and Viennot, Nimbers are inevitable, 2012.

A state has a bit for each cell that is covered, row by row from the bottom left. An action is twice the lower or left
cell of the domino, and one more if it stands upright. `canonical` covers cells that have no free neighbour as well,
which change nothing; `tier` counts them among the covered.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import Filling, grid, like
from solver.games.common.boards import cells_of

GROUP = "impartial"


@like(Filling, "initial", "utility")
class Cram(NamedTuple):
    """Put a domino on two free cells, either way round; who cannot loses."""

    width: int = 5
    height: int = 3

    impartial = True
    drawing = {"men": {"#": ["block", 2]}, "free": 2}

    def check(self) -> None:
        grid.refuse(self.width, self.height, 62)

    def actions(self, state: int) -> Iterator[int]:
        free = grid.full(self.width, self.height) & ~state
        flat = free & free >> 1 & ~(grid.column(self.width, self.height) << self.width - 1)
        upright = free & free >> self.width
        for cell in range(self.width * self.height):
            if flat >> cell & 1:
                yield 2 * cell
            if upright >> cell & 1:
                yield 2 * cell + 1

    def result(self, state: int, action: int) -> int:
        step = self.width if action % 2 else 1
        return state | (1 | 1 << step) << action // 2

    def is_terminal(self, state: int) -> bool:
        return self._open(state) == 0

    def tier(self, state: int) -> int:
        return self.width * self.height - self._open(state).bit_count()

    def longest(self, state: int) -> int:
        return self._open(state).bit_count() // 2

    def canonical(self, state: int) -> int:
        """The least of the board's images, cells where no domino fits covered."""
        covered = grid.full(self.width, self.height) & ~self._open(state)
        return grid.least(self.width, self.height, 1, covered)

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.width, self.height, state, "#")

    def from_cells(self, rows: list[str], mover: int) -> int:
        return cells_of(rows, "#")

    def layout(self) -> tuple[str, int]:
        return "#", 2 * self.width * self.height

    def place(self, state: int, action: int) -> list[int]:
        step = self.width if action % 2 else 1
        cell = action // 2
        return [grid.place(self.width, self.height, cell), grid.place(self.width, self.height, cell + step)]

    def _open(self, state: int) -> int:
        """The free cells beside a free cell."""
        free = grid.full(self.width, self.height) & ~state
        return free & grid.beside(self.width, self.height, free)
