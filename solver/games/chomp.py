"""Chomp (Frederik Schuh 1952, David Gale 1974): bite off a bar of chocolate; one of its pieces is poisoned.

A bite takes a piece that is left, and with it all pieces above it, to its right, and above those. The piece in the
bottom left corner, a1, is poisoned and may not be taken, so who is left with it alone loses. The first player wins on
every board but the smallest, as Gale showed by stealing a strategy, but nobody knows how in general.

A state is the height of each column, the first lowest, in as many bits as the height of the bar takes. If all columns
take more than 62 bits, the state is the edge of the rest, from the top left to the bottom right: a 1 for a step
across a column, a 0 for a step down. The edge takes 32 bits on 16 x 16, the heights 80. Few states occur: of a bar of
10 x 8 they are 18! / (10! 8!) = 43,758. An action is the piece bitten, numbered row by row from the bottom left.

    o            heights 3 1 1, two bits each     01 01 11
    o            edge 1 0 0 1 1 0, lowest first   011001
    x o o
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid

GROUP = "impartial"


class Chomp(NamedTuple):
    """Bite off a piece and all that lies above and to the right of it; who is left with the last piece loses."""

    width: int = 5
    height: int = 4

    impartial = True
    drawing = {"men": {"o": ["block", 2], "x": ["\u2620", 2]}}

    def check(self) -> None:
        grid.refuse(self.width, self.height, 1 << 16)
        if not self._has_heights() and self.width + self.height > 62:
            raise ValueError("the heights of all columns, or width + height, must fit 62 bits: take a smaller bar")

    def initial(self) -> int:
        state = 0
        for column in range(self.width):
            state |= self._code(column, self.height)
        return state

    def actions(self, state: int) -> Iterator[int]:
        for piece in range(1, self.width * self.height):
            if self._has(state, piece):
                yield piece

    def result(self, state: int, action: int) -> int:
        first, row = action % self.width, action // self.width
        bitten = 0
        for column in range(self.width):
            height = self._height(state, column)
            bitten |= self._code(column, min(height, row) if column >= first else height)
        return bitten

    def is_terminal(self, state: int) -> bool:
        return self._pieces(state) == 1

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        return self.width * self.height - self._pieces(state)

    def longest(self, state: int) -> int:
        return self._pieces(state) - 1

    def canonical(self, state: int) -> int:
        """On a square bar the least of it and its image in the diagonal."""
        if self.width != self.height:
            return state
        image = 0
        for row in range(self.height):
            length = 0
            for column in range(self.width):
                length += self._height(state, column) > row
            image |= self._code(row, length)
        return min(state, image)

    def cells(self, state: int, mover: int) -> list[str]:
        marks = "".join(["o" if self._has(state, i) else "." for i in range(self.width * self.height)])
        return grid.rows(self.width, self.height, "x" + marks[1:])

    def from_cells(self, rows: list[str], mover: int) -> int:
        state = 0
        for column in range(self.width):
            state |= self._code(column, len([row for row in rows if row[column] != "."]))
        return state

    def layout(self) -> tuple[str, int]:
        return "ox", self.width * self.height

    def place(self, state: int, action: int) -> list[int]:
        return [grid.place(self.width, self.height, action)]

    def _has_heights(self) -> bool:
        """Whether a state holds heights, rather than the edge."""
        return self.width * self.height.bit_length() <= 62

    def _code(self, column: int, height: int) -> int:
        """A column's part of a state."""
        if self._has_heights():
            return height << column * self.height.bit_length()
        return 1 << column + self.height - height

    def _height(self, state: int, column: int) -> int:
        """The pieces left in a column."""
        if self._has_heights():
            bits = self.height.bit_length()
            return state >> column * bits & (1 << bits) - 1
        for _ in range(column):
            state &= state - 1
        return column + self.height + 1 - (state & -state).bit_length()

    def _has(self, state: int, piece: int) -> bool:
        return self._height(state, piece % self.width) > piece // self.width

    def _pieces(self, state: int) -> int:
        """How many pieces are left."""
        pieces = 0
        for column in range(self.width):
            pieces += self._height(state, column)
        return pieces
