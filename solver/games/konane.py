"""Konane, of Hawaii: jump over stones of the other's and take them, along rows and columns; who cannot jump loses.

The board begins full, stones of both colours as on the squares of a chess board. The first player takes away one of the
own stones, in a corner or one of those in the middle; the second takes one beside the gap. From then on a move jumps
with one stone over one of the other's beside it to the free cell behind, taking it, and may go on in the same direction
as long as that is possible. Nothing but jumps is a move.

A state is the stones of both players, row by row from the bottom left, and a bit for the second player to move. Stones
jump two cells, so they stay on cells of their colour: the first player's on those of a1's colour. An action is the cell
times 128, plus 32 times the direction (0 left, 1 right, 2 down, 3 up), plus the number of jumps, which is 0 where a
stone is taken away at the start.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from solver.games.common import grid
from solver.games.common.boards import cells_of

GROUP = "blocking"


class Konane(NamedTuple):
    """Take away a stone each, then jump over the other's stones and take them; who cannot jump loses."""

    width: int = 4
    height: int = 4

    drawing = {"board": "points", "sides": ["black", "white"]}

    def check(self) -> None:
        grid.refuse(self.width, self.height, 61)
        if self.width * self.height < 2:
            raise ValueError("width * height must be at least 2")

    def initial(self) -> int:
        return grid.full(self.width, self.height)

    def actions(self, state: int) -> Iterator[int]:
        gone = self.tier(state)
        opening = self._opening(state) if gone < 2 else 0
        for cell in range(self.width * self.height):
            if opening >> cell & 1:
                yield cell * 128
            if gone >= 2 and self._mine(state) >> cell & 1:
                for side in range(4):
                    for jumps in range(1, self._jumps(state, cell, side) + 1):
                        yield cell * 128 + side * 32 + jumps

    def result(self, state: int, action: int) -> int:
        cell, side, jumps = action // 128, action // 32 % 4, action % 32
        step = self._step(side)
        state ^= 1 << cell ^ 1 << self.width * self.height
        if jumps:
            state |= 1 << cell + 2 * jumps * step
        for jump in range(jumps):
            state &= ~(1 << cell + (2 * jump + 1) * step)
        return state

    def is_terminal(self, state: int) -> bool:
        gone = self.tier(state)
        if gone < 2:
            return self._opening(state) == 0
        for cell in range(self.width * self.height):
            if self._mine(state) >> cell & 1:
                for side in range(4):
                    if self._jumps(state, cell, side):
                        return False
        return True

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        """The stones that are gone."""
        return self.width * self.height - (state & grid.full(self.width, self.height)).bit_count()

    def canonical(self, state: int) -> int:
        """The least of the board's images; one that exchanges the cells of both colours exchanges the players, too."""
        width, height = self.width, self.height
        board, turn = state & grid.full(width, height), state >> width * height
        least = self._least(board, turn)
        if width == height:
            least = min(least, self._least(grid.transposed(width, 1, board), turn))
        return least

    def cells(self, state: int, mover: int) -> list[str]:
        own, cells = self._colours(0), self.width * self.height
        return grid.board(self.width, self.height, state & own | (state & ~own) << cells, "Xo")

    def from_cells(self, rows: list[str], mover: int) -> int:
        state = cells_of(rows, "X") | cells_of(rows, "o") | mover << self.width * self.height
        gone = self.tier(state)
        if gone < 2 and gone != mover:
            raise ValueError("the first player takes the first stone away, the second the next one")
        return state

    def layout(self) -> tuple[str, Iterable[int]]:
        """Return stones; those that may be taken away at the start, and jumps as far as the board goes."""
        jumps = range(1, (max(self.width, self.height) + 1) // 2)
        ways = [0, *(32 * side + jump for side in range(4) for jump in jumps)]
        return "Xo", [128 * cell + way for cell in range(self.width * self.height) for way in ways]

    def place(self, state: int, action: int) -> list[int]:
        cell, side, jumps = action // 128, action // 32 % 4, action % 32
        ends = [cell, cell + 2 * jumps * self._step(side)] if jumps else [cell]
        return [grid.place(self.width, self.height, end) for end in ends]

    def _mine(self, state: int) -> int:
        """The mover's stones."""
        return state & self._colours(state >> self.width * self.height)

    def _colours(self, player: int) -> int:
        """The cells of a player's colour."""
        cells = 0
        for row in range(self.height):
            for column in range((row + player) % 2, self.width, 2):
                cells |= 1 << row * self.width + column
        return cells

    def _least(self, board: int, turn: int) -> int:
        """The least of a board, its reflections and its half turn, with the turn of each."""
        width, height = self.width, self.height
        cells, across, up = width * height, (width + 1) % 2, (height + 1) % 2
        flipped = grid.flipped(width, height, 1, board)
        first = min(board | turn << cells, grid.mirrored(width, height, 1, board) | (turn ^ across) << cells)
        other = grid.mirrored(width, height, 1, flipped) | (turn ^ across ^ up) << cells
        return min(first, min(other, flipped | (turn ^ up) << cells))

    def _step(self, side: int) -> int:
        return (-1, 1, -self.width, self.width)[side]

    def _opening(self, state: int) -> int:
        """The stones that may be taken away at the start: in the middle or a corner, then beside the gap."""
        width, height = self.width, self.height
        cells = width * height
        if self.tier(state):
            return self._mine(state) & grid.beside(width, height, (1 << cells) - 1 & ~state)
        found = 0
        for cell in range(cells):
            across, up = cell % width, cell // width
            side, end = min(across, width - 1 - across), min(up, height - 1 - up)
            if (side == 0 and end == 0) or (side == (width - 1) // 2 and end == (height - 1) // 2):
                found |= 1 << cell
        return self._mine(state) & found

    def _jumps(self, state: int, cell: int, side: int) -> int:
        """How often the mover's stone of a cell can jump that way."""
        step = self._step(side)
        if side < 2:
            room = cell % self.width if side == 0 else self.width - 1 - cell % self.width
        else:
            room = cell // self.width if side == 2 else self.height - 1 - cell // self.width
        jumps = 0
        while 2 * jumps + 2 <= room:
            over = cell + (2 * jumps + 1) * step
            if not state >> over & 1 or state >> over + step & 1:
                return jumps
            jumps += 1
        return jumps
