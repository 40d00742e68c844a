"""Tsoro yematatu, of Zimbabwe: three pieces each on the seven points of a triangle; three in a line win.

       1        Five lines: both sides, the line down the middle, and the two across. When all are placed one point is
      /|\\       empty. A turn moves a piece along a line to it, from the point beside it, or from the one behind over a
     2-3-4      piece of either side. Three on a line win; who cannot move has lost.
    /  |  \\     Repetition is a draw.
   5---6---7

A state is the first player's points, the second's seven bits on, and a bit for the side to move. An action is the point
placed on, or 7 plus the point moved from.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import Filling, grid, like
from solver.games.common.boards import placed

GROUP = "alignment"
LINES = ((0, 1, 4), (0, 2, 5), (0, 3, 6), (1, 2, 3), (4, 5, 6))
STEPS = [[line[i], line[i + 1]] for line in LINES for i in (0, 1)]
AT = [[2.5, 0.5], [1.5, 2.0], [2.5, 2.0], [3.5, 2.0], [0.5, 3.5], [2.5, 3.5], [4.5, 3.5]]


@like(Filling, "initial", "utility")
class TsoroYematatu(NamedTuple):
    """Place three pieces, then move to the empty point or jump to it; three in a line win; who cannot move loses."""

    jumps: bool = True

    layout = "Xo", 14
    drawing = {"board": "points", "at": AT, "lines": STEPS, "sides": ["black", "white"], "names": list("1234567")}

    def actions(self, state: int) -> Iterator[int]:
        for point in range(7):
            if self.tier(state) < 6:
                if not (state | state >> 7) >> point & 1:
                    yield point
            elif self._movable(state) >> point & 1:
                yield 7 + point

    def result(self, state: int, action: int) -> int:
        men = 1 << action if action < 7 else 1 << action - 7 | self._empty(state)
        return state ^ men << 7 * (state >> 14) ^ 1 << 14

    def is_terminal(self, state: int) -> bool:
        theirs = self._men(state, 1)
        for line in LINES:
            if theirs >> line[0] & theirs >> line[1] & theirs >> line[2] & 1:
                return True
        return self.tier(state) == 6 and not self._movable(state)

    def tier(self, state: int) -> int:
        """The pieces on the board."""
        return (state & (1 << 14) - 1).bit_count()

    def canonical(self, state: int) -> int:
        """The lesser of the board and its mirror image, the mover's pieces first and to move."""
        men = self._men(state, 0) | self._men(state, 1) << 7
        left = 0b0010010 | 0b0010010 << 7
        return min(men, men & ~(left | left << 2) | (men & left) << 2 | men >> 2 & left)

    def format_action(self, state: int, action: int) -> str:
        return "1234567"[action % 7]

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(7, 1, state, "Xo")

    def from_cells(self, rows: list[str], mover: int) -> int:
        return placed(rows, mover, 3)

    def place(self, state: int, action: int) -> list[int]:
        return [action] if action < 7 else [action - 7, self._empty(state).bit_length() - 1]

    def _men(self, state: int, other: int) -> int:
        """The mover's pieces (0) or the other's (1)."""
        return state >> 7 * (state >> 14 ^ other) & 127

    def _empty(self, state: int) -> int:
        return 127 & ~(state | state >> 7)

    def _movable(self, state: int) -> int:
        """The mover's pieces that can come to the empty point."""
        empty, men = self._empty(state), 0
        for line in LINES:
            first, middle, last = 1 << line[0], 1 << line[1], 1 << line[2]
            if empty == middle:
                men |= first | last
            if empty in (first, last):
                men |= middle
                if self.jumps:
                    men |= first | last
        return men & self._men(state, 0)
