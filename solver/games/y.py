"""Y (Claude Shannon, about 1950): put stones on a triangle of hexagons in turn; who joins all three sides wins.

A chain of stones of one's own that touches all three sides of the board is a Y; a corner belongs to two sides. On a
full board exactly one player has one, so there are no draws, and the first player wins by stealing the second's
strategy.

A state is the first player's stones, then the second's; their number tells who is to move. The cells are those of a
rhombus as in hex, row by row, without the part beyond its short diagonal: row r, from 0, has `size` - r cells. So the
last row ends with its first cell, and a board takes size * (size - 1) + 1 bits. A cell's neighbours are the four beside
it, and those up to the left and down to the right.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import Filling, grid, like, limits
from solver.games.common.boards import cells_of, check_turns

GROUP = "connection"


@like(Filling)
class Y(NamedTuple):
    """Put stones on a triangle of hexagons in turn; who joins all three sides wins."""

    size: int = 4

    def check(self) -> None:
        limits(self, size=(1, 6))

    def actions(self, state: int) -> Iterator[int]:
        free = self._board() & ~(state | state >> self._bits())
        while free:
            cell = free & -free
            yield cell.bit_length() - 1
            free ^= cell

    def result(self, state: int, action: int) -> int:
        return state | 1 << action + state.bit_count() % 2 * self._bits()

    def is_terminal(self, state: int) -> bool:
        last = 1 - state.bit_count() % 2  # who moved last
        stones = state >> last * self._bits() & (1 << self._bits()) - 1
        first, row, slope = self._sides()
        while stones & first:  # chain by chain of those that touch the first side
            start = stones & first
            chain = self._grown(start & -start, stones)
            if chain & row and chain & slope:
                return True
            stones ^= chain
        return False

    def longest(self, state: int) -> int:
        return self.size * (self.size + 1) // 2 - state.bit_count()

    def canonical(self, state: int) -> int:
        """The least of the triangle's six images."""
        least = min(state, self._mirrored(state))
        for _ in range(2):
            state = self._turned(state)
            least = min(least, min(state, self._mirrored(state)))
        return least

    def cells(self, state: int, mover: int) -> list[str]:
        marks = grid.board(self._bits(), 1, state, "Xo")[0]
        return [marks[row * self.size : (row + 1) * self.size - row] + " " * row for row in range(self.size)]

    def from_cells(self, rows: list[str], mover: int) -> int:
        first, second = (cells_of(rows[::-1], mark) & self._board() for mark in "Xo")
        check_turns(first.bit_count(), second.bit_count(), mover)
        return first | second << self._bits()

    def layout(self) -> tuple[str, int]:
        return "Xo", self._bits()

    def place(self, state: int, action: int) -> list[int]:
        return [action]

    def drawing(self) -> dict[str, Any]:
        """Points, the first row on top; the cells beyond the triangle lie under its corner, and are none."""
        size = self.size
        cells = [(i % size, i // size) for i in range(size * size)]
        at = [(0.5 + x + y / 2, 0.5 + 0.87 * y) if x + y < size else (0.5, 0.5) for x, y in cells]
        near = ((1, 0), (0, 1), (-1, 1))
        ends = [(x, y, x + right, y + down) for x, y in cells for right, down in near if x + y < size]
        lines = [[y * size + x, row * size + i] for x, y, i, row in ends if i >= 0 and i + row < size]
        names = ["abcdef"[x] + str(y + 1) for x, y in cells]
        return {"board": "points", "at": at, "lines": lines, "sides": ["red", "blue"], "names": names}

    def _bits(self) -> int:
        """Bits of a player's stones."""
        return self.size * (self.size - 1) + 1

    def _board(self) -> int:
        """All cells."""
        board = 0
        for row in range(self.size):
            board |= (1 << self.size - row) - 1 << row * self.size
        return board

    def _sides(self) -> tuple[int, int, int]:
        """The first column, the first row, and the cells at the end of each row."""
        first = slope = 0
        for row in range(self.size):
            first |= 1 << row * self.size
            slope |= 1 << row * self.size + self.size - 1 - row
        return first, (1 << self.size) - 1, slope

    def _beside(self, cells: int) -> int:
        """The neighbours of cells."""
        size = self.size
        first = self._sides()[0]
        left, right = cells & ~first, cells & ~(first << size - 1)
        found = left >> 1 | right << 1 | cells >> size | cells << size | left << size - 1 | right >> size - 1
        return found & self._board()

    def _grown(self, cells: int, stones: int) -> int:
        """The stones that cells are joined to."""
        last = -1
        while cells != last:
            last = cells
            cells |= self._beside(cells) & stones
        return cells

    def _mirrored(self, state: int) -> int:
        """Rows and columns exchanged."""
        size = self.size
        result = 0
        for cell in range(self._bits()):
            result |= (state >> cell & (1 | 1 << self._bits())) << cell % size * size + cell // size
        return result

    def _turned(self, state: int) -> int:
        """By a third: column, row and what is left to the slope take each other's places."""
        size = self.size
        result = 0
        for row in range(size):
            for column in range(size - row):
                both = state >> row * size + column & (1 | 1 << self._bits())
                result |= both << column * size + size - 1 - row - column
        return result
