"""Teeko: drop four pieces each on 5 x 5, then move them like a chess king; four in a line or in a square win.

John Scarne, 1937 and 1952. Pieces are dropped in turn on any empty point; once all eight stand one is moved in each
turn, to an empty point beside it. Four of one's own next to each other in a row, a column or a diagonal win, or on the
corners of a small square. Repetition is a draw.

A state is that of `five`. The tier is the number of pieces: it grows while they are dropped, and has cycles once all
are on the board.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import Filling, five, grid, like
from solver.games.common.boards import placed

GROUP = "alignment"


@like(Filling, "initial", "utility")
class Teeko(NamedTuple):
    """Drop four pieces, then move them to a neighbouring point; a line or a square of four wins.

    advanced: also the corners of a larger square; centre: whether the first piece may be dropped there.
    """

    advanced: bool = False
    centre: bool = True

    layout = "Xo", 650

    def actions(self, state: int) -> Iterator[int]:
        empty = five.empty(state)
        if self.tier(state) < 8:
            if state == 0 and not self.centre:
                empty &= ~(1 << 12)
            while empty:
                yield 624 + (empty & -empty).bit_length()
                empty &= empty - 1
        else:
            men = five.mine(state)
            while men:
                man = men & -men
                targets = self._near(man) & empty
                while targets:
                    yield 25 * man.bit_length() - 26 + (targets & -targets).bit_length()
                    targets &= targets - 1
                men ^= man

    def result(self, state: int, action: int) -> int:
        return five.moved(state, action)

    def is_terminal(self, state: int) -> bool:
        theirs = five.theirs(state)
        if theirs.bit_count() == 4 and (five.aligned(theirs, 4) or self._is_square(theirs)):
            return True
        return self.tier(state) == 8 and not self._near(five.mine(state)) & five.empty(state)

    def tier(self, state: int) -> int:
        return (state & (1 << 50) - 1).bit_count()

    def parents(self, state: int) -> Iterator[int]:
        """Before a piece was moved."""
        men = five.theirs(state) if self.tier(state) == 8 else 0
        while men:
            man = men & -men
            sources = self._near(man) & five.empty(state)
            while sources:
                source = sources & -sources
                yield state ^ (man | source) << 25 * (1 - (state >> 50)) ^ 1 << 50
                sources ^= source
            men ^= man

    def symmetries(self) -> Iterator[tuple[int, ...]]:
        return five.symmetries()

    def tables(self) -> Iterator[tuple[int, int, int]]:
        for men in range(9):
            yield 0, men // 2, (men + 1) // 2

    def canonical(self, state: int) -> int:
        return five.least(state)

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(5, 5, state, "Xo")

    def from_cells(self, rows: list[str], mover: int) -> int:
        return placed(rows, mover, 4)

    def place(self, state: int, action: int) -> list[int]:
        points = (action - 625,) if action >= 625 else (action // 25, action % 25)
        return [grid.place(5, 5, point) for point in points]

    def drawing(self) -> dict[str, Any]:
        """Points, and lines to all neighbours."""
        pairs = [(a, b) for a in range(25) for b in range(a) if self._near(1 << a) >> b & 1]
        return {"board": "points", "lines": pairs, "sides": ["black", "red"]}

    def _near(self, men: int) -> int:
        """The points next to the pieces, in all eight directions; perhaps with the pieces."""
        wide = men | five.step(men, 1, 0) | five.step(men, -1, 0)
        return wide | five.step(wide, 0, 1) | five.step(wide, 0, -1)

    def _is_square(self, men: int) -> bool:
        """Whether the four pieces are the corners of a square along the lines, of 2 x 2 or, when advanced, larger."""
        corner = men & -men
        for size in range(1, 5 if self.advanced else 2):
            if corner & self._corners(size) and men == corner * (1 | 1 << size | 1 << 5 * size | 1 << 6 * size):
                return True
        return False

    def _corners(self, size: int) -> int:
        """The points where the bottom left corner of a square with sides of that many steps fits."""
        points = 0
        for row in range(5 - size):
            points |= ((1 << 5 - size) - 1) << 5 * row
        return points
