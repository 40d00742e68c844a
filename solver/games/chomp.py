"""Chomp (Frederik Schuh 1952, David Gale 1974): bite off a bar of chocolate; one of its pieces is poisoned.

A bite takes a piece that is left, and with it all pieces above it, to its right, and above those. The piece in the
bottom left corner, a1, is poisoned and may not be taken, so who is left with it alone loses. The first player wins on
every board but the smallest, as Gale showed by stealing a strategy, but nobody knows how in general.

A state has a bit for each piece that is left, row by row from the bottom left; an action is the piece bitten.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import grid

GROUP = "impartial"


class Chomp(NamedTuple):
    """Bite off a piece and all that lies above and to the right of it; who is left with the last piece loses."""

    width: int = 5
    height: int = 4

    @property
    def impartial(self) -> bool:
        return True

    def check(self) -> None:
        grid.refuse(self.width, self.height, 1)

    def initial(self) -> int:
        return grid.full(self.width, self.height)

    def actions(self, state: int) -> Iterator[int]:
        for piece in range(1, self.width * self.height):
            if state >> piece & 1:
                yield piece

    def result(self, state: int, action: int) -> int:
        first, row = action % self.width, action // self.width
        right = grid.column(self.width, self.height) * ((1 << self.width) - (1 << first))
        return state & ~(right >> row * self.width << row * self.width)

    def is_terminal(self, state: int) -> bool:
        return state == 1

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        return self.width * self.height - state.bit_count()

    def longest(self, state: int) -> int:
        return state.bit_count() - 1

    def canonical(self, state: int) -> int:
        """On a square bar the least of it and its image in the diagonal."""
        return min(state, grid.transposed(self.width, 1, state)) if self.width == self.height else state

    def format_action(self, state: int, action: int) -> str:
        return grid.name(self.width, action)

    def show(self, state: int) -> str:
        return grid.board(self.cells(state, 0), "")

    def cells(self, state: int, mover: int) -> list[str]:
        marks = "".join(["o" if state >> i & 1 else "." for i in range(self.width * self.height)])
        return grid.rows(self.width, self.height, "x" + marks[1:])

    def place(self, state: int, action: int) -> list[int]:
        return [grid.place(self.width, self.height, action)]

    def drawing(self) -> dict[str, Any]:
        return {"men": {"o": ["block", 2], "x": ["\u2620", 2]}}
