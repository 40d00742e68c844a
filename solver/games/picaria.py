"""Picaria, of the Zuni: three pieces each on thirteen points; place them off the middle, then slide; three in a row.

    a5    c5    e5    The board is a square with its rows, columns and diagonals, and lines that join the middles of
       b4    d4       its sides. Its points are where these meet: thirteen, or with `points=9` those of the rows alone.
    a3    c3    e3    Players place three pieces each in turn, on any point but the middle. Then a turn slides one along
       b2    d2       a line to the next point, the middle too, if that is empty. Three on neighbouring points of a
    a1    c1    e1    line win at any time, of nine points those of rows, columns and diagonals.

Who cannot move has lost, of which Wikipedia's article, that these rules are from, says nothing. Repetition is a draw.

A state is the first player's pieces, cell by cell of five rows of five from the bottom left, the second's 25 bits on,
and a bit for the side to move. An action is 25 times the cell moved from plus the cell moved to, or 625 plus the cell
of a new piece. The tier is how many pieces are on the board, and has cycles.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import Filling, grid, like
from solver.games.common.boards import check_placed, on_points

GROUP = "alignment"
CELLS = (1 << 25) - 1
ROWS = 0o25 | 0o25 << 10 | 0o25 << 20  # the points of the rows
INNER = 0o12 << 5 | 0o12 << 15
MIDDLE = 12


@like(Filling, "initial", "utility")
class Picaria(NamedTuple):
    """Place three pieces, not in the middle, then slide them along lines; three in a row win; 13 points, or 9."""

    points: int = 13

    layout = "Xo", 650

    def check(self) -> None:
        if self.points not in (9, 13):
            raise ValueError("points are 13 or 9")

    def actions(self, state: int) -> Iterator[int]:
        empty = self._empty(state)
        if self.tier(state) < 6:
            for cell in range(25):
                if cell != MIDDLE and empty >> cell & 1:
                    yield 625 + cell
        else:
            for cell in range(25):
                if self._men(state, 0) >> cell & 1:
                    for to in range(25):
                        if self._near(1 << cell) & empty & 1 << to:
                            yield 25 * cell + to

    def result(self, state: int, action: int) -> int:
        change = 1 << action - 625 if action >= 625 else 1 << action // 25 | 1 << action % 25
        return state ^ change << 25 * (state >> 50) ^ 1 << 50

    def is_terminal(self, state: int) -> bool:
        if self._has_line(self._men(state, 1)):
            return True
        return self.tier(state) == 6 and not self._near(self._men(state, 0)) & self._empty(state)

    def tier(self, state: int) -> int:
        """The pieces on the board."""
        return (state & (1 << 50) - 1).bit_count()

    def canonical(self, state: int) -> int:
        """The least of the board's eight images, the mover's pieces first and to move."""
        return grid.least(5, 5, 2, self._men(state, 0) | self._men(state, 1) << 25)

    def cells(self, state: int, mover: int) -> list[str]:
        """The points row by row from the top."""
        marks = ("X" if state >> i & 1 else "o" if state >> 25 + i & 1 else "." for i in self._listed())
        return ["".join(marks)]

    def from_cells(self, rows: list[str], mover: int) -> int:
        cells = [*zip(self._listed(), rows[0], strict=True)]
        first, second = (sum(1 << cell for cell, mark in cells if mark == man) for man in "Xo")
        check_placed(first, second, mover, 3)
        return first | second << 25 | mover << 50

    def place(self, state: int, action: int) -> list[int]:
        ends = (action - 625,) if action >= 625 else (action // 25, action % 25)
        return [self._listed().index(cell) for cell in ends]

    def drawing(self) -> dict[str, Any]:
        listed = self._listed()
        names = [grid.name(5, cell) for cell in listed]
        return on_points(names, lambda i, j: self._near(1 << listed[i]) >> listed[j] & 1, "black", "white")

    def _points(self) -> int:
        return ROWS | INNER if self.points == 13 else ROWS

    def _listed(self) -> list[int]:
        return [cell for row in range(4, -1, -1) for cell in range(5 * row, 5 * row + 5) if self._points() >> cell & 1]

    def _men(self, state: int, other: int) -> int:
        """The mover's pieces (0) or the other's (1)."""
        return state >> 25 * (state >> 50 ^ other) & CELLS

    def _empty(self, state: int) -> int:
        return self._points() & ~(state | state >> 25)

    def _near(self, men: int) -> int:
        """The points next to pieces on a line, occupied ones included."""
        near = 0
        for across in range(-1, 2):
            for up in range(-1, 2):
                if across or up:
                    near |= self._step(men, across, up)
        return near & self._points()

    def _has_line(self, men: int) -> bool:
        for across in range(2):
            for up in range(-1, 2):
                if across + up > 0 or (across > 0 and up < 0):
                    next_ones = self._step(men, across, up)
                    if men & next_ones & self._step(next_ones, across, up):
                        return True
        return False

    def _step(self, men: int, across: int, up: int) -> int:
        """Pieces one point on in a direction: a cell on a diagonal of thirteen points, else two."""
        once = grid.step(5, 5, men, across, up)
        if across and up and self.points == 13:
            return once
        return grid.step(5, 5, once, across, up) & ROWS
