"""Dao (Jeff Pickering and Ben van Buskirk, 1999): slide pieces on 4 x 4 until they are stopped; a line or square wins.

Each player has four pieces, which stand on the two diagonals. A turn slides one in any of the eight directions as far
as it goes. Four in a row or column win, as do four in a square of 2 x 2, and four in the corners. Diagonals do not win.
With `trap`, a rule of the publisher's, a player loses who hems in a piece of the other side: in a corner, with three of
the own around it. Repetition is a draw.

A state is the first player's pieces, cell by cell from the bottom left, the second's 16 bits on, and a bit for the side
to move. An action is 8 times the cell moved from plus the direction. Pieces never leave the board, so there is no
`tier`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid
from solver.games.common.boards import standing

GROUP = "alignment"
WAYS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
CORNERS = (0x0001, 0x0008, 0x1000, 0x8000)
AROUND = (0x0032, 0x00C4, 0x2300, 0x4C00)  # the cells around each
BOTH = 1 | 1 << 16


class Dao(NamedTuple):
    """Slide pieces until something stops them; a row, a column, a square or all corners win; trap: corners may lose."""

    trap: bool = True

    layout = "Xo", 128
    drawing = {"board": "squares", "sides": ["black", "white"]}

    def initial(self) -> int:
        return 0x8421 | 0x1248 << 16

    def actions(self, state: int) -> Iterator[int]:
        for man in range(16):
            if self._men(state, 0) >> man & 1:
                for way in range(8):
                    if self._end(state, man, way) != man:
                        yield 8 * man + way

    def result(self, state: int, action: int) -> int:
        man = action // 8
        return state ^ (1 << man | 1 << self._end(state, man, action % 8)) << 16 * (state >> 32) ^ 1 << 32

    def is_terminal(self, state: int) -> bool:
        return self._is_made(self._men(state, 1)) or self._hems_in(state)

    def utility(self, state: int) -> int:
        return -1 if self._is_made(self._men(state, 1)) else 1

    def parents(self, state: int) -> Iterator[int]:
        """Before a piece slid to where something stopped it."""
        taken, side = (state | state >> 16) & 0xFFFF, 16 * (1 - (state >> 32))
        for man in range(16):
            if self._men(state, 1) >> man & 1:
                for way in range(8):
                    across, up = WAYS[way]
                    if self._end(state, man, way) == man:
                        x, y = man % 4 - across, man // 4 - up
                        while 0 <= x < 4 and 0 <= y < 4 and not taken >> 4 * y + x & 1:
                            yield state ^ (1 << man | 1 << 4 * y + x) << side ^ 1 << 32
                            x, y = x - across, y - up

    def symmetries(self) -> Iterator[tuple[int, ...]]:
        """A quarter turn, and left and right exchanged."""
        yield tuple(4 * (cell % 4) + 3 - cell // 4 for cell in range(16))
        yield tuple(cell - cell % 4 + 3 - cell % 4 for cell in range(16))

    def tables(self) -> Iterator[tuple[int, int, int]]:
        yield 0, 4, 4

    def canonical(self, state: int) -> int:
        """The least of the board's eight images, the mover's pieces first and to move."""
        men = self._men(state, 0) | self._men(state, 1) << 16
        best = min(men, self._mirrored(men))
        for _ in range(3):
            men = self._turned(men)
            best = min(best, min(men, self._mirrored(men)))
        return best

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(4, 4, state, "Xo")

    def from_cells(self, rows: list[str], mover: int) -> int:
        return standing(rows, mover, 4)

    def place(self, state: int, action: int) -> list[int]:
        return [grid.place(4, 4, cell) for cell in (action // 8, self._end(state, action // 8, action % 8))]

    def _men(self, state: int, other: int) -> int:
        """The mover's pieces (0) or the other's (1)."""
        return state >> 16 * (state >> 32 ^ other) & 0xFFFF

    def _end(self, state: int, man: int, way: int) -> int:
        """The cell where a piece that slides is stopped."""
        taken = (state | state >> 16) & 0xFFFF
        across, up = WAYS[way]
        x, y = man % 4, man // 4
        while 0 <= x + across < 4 and 0 <= y + up < 4 and not taken >> 4 * (y + up) + x + across & 1:
            x, y = x + across, y + up
        return 4 * y + x

    def _is_made(self, men: int) -> bool:
        """Whether four pieces are a row, a column, a square, or in the corners."""
        if men == 0x9009:
            return True
        lowest = men & -men
        if men == lowest * 0x000F:
            return lowest & 0x1111 != 0
        if men == lowest * 0x0033:
            return lowest & 0x8888 == 0
        return men == lowest * 0x1111

    def _hems_in(self, state: int) -> bool:
        """Whether a piece of the mover's is in a corner, with three of the other's around it."""
        if self.trap:
            for corner in range(4):
                around = AROUND[corner]
                if self._men(state, 0) & CORNERS[corner] and self._men(state, 1) & around == around:
                    return True
        return False

    def _mirrored(self, men: int) -> int:
        result = 0
        for column in range(4):
            result |= (men >> column & 0x1111 * BOTH) << 3 - column
        return result

    def _turned(self, men: int) -> int:
        result = 0
        for cell in range(16):
            result |= (men >> cell & BOTH) << cell % 4 * 4 + 3 - cell // 4
        return result
