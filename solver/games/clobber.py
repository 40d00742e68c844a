"""Clobber (Albert, Grossman, Nowakowski 2001): put a stone of yours in place of one of the other's beside it.

The board begins full, stones of both colours as on the squares of a chess board, the first player's in the lower left
corner. A move takes a stone beside one's own, along a row or a column, and the own one goes where it was. Who cannot
take anything loses (Albert, Grossman, Nowakowski and Wolfe, An Introduction to Clobber, Integers 5(2), 2005).

A state is the first player's stones, row by row from the bottom left, and the second's above them; how many are gone
tells who is to move. An action is four times the cell moved from plus the direction: 0 left, 1 right, 2 down, 3 up.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid, like
from solver.games.common.boards import cells_of
from solver.games.common.colouring import Colouring

GROUP = "blocking"


@like(Colouring, "check", "utility", "canonical", "cells")
class Clobber(NamedTuple):
    """Take a stone beside one of yours by going where it stands; who cannot loses."""

    width: int = 4
    height: int = 3

    drawing = {"board": "checks", "sides": ["white", "black"]}

    def initial(self) -> int:
        state = 0
        for cell in range(self.width * self.height):
            second = (cell % self.width + cell // self.width) % 2
            state |= 1 << cell + second * self.width * self.height
        return state

    def actions(self, state: int) -> Iterator[int]:
        turn = self.tier(state) % 2
        mine, theirs = self._stones(state, turn), self._stones(state, 1 - turn)
        mine &= grid.beside(self.width, self.height, theirs)
        while mine:
            stone = mine & -mine
            mine ^= stone
            for side in range(4):
                if self._next(stone, side) & theirs:
                    yield 4 * (stone.bit_length() - 1) + side

    def result(self, state: int, action: int) -> int:
        cells = self.width * self.height
        turn = self.tier(state) % 2
        stone = 1 << action // 4
        target = self._next(stone, action % 4)
        return state ^ (stone | target) << turn * cells ^ target << (1 - turn) * cells

    def is_terminal(self, state: int) -> bool:
        """Beside a stone of the other's is one of one's own: for both alike."""
        near = grid.beside(self.width, self.height, self._stones(state, 1))
        return self._stones(state, 0) & near == 0

    def tier(self, state: int) -> int:
        return self.width * self.height - state.bit_count()

    def longest(self, state: int) -> int:
        return state.bit_count() - 1

    def from_cells(self, rows: list[str], mover: int) -> int:
        state = cells_of(rows, "X") | cells_of(rows, "o") << self.width * self.height
        if self.tier(state) % 2 != mover:
            raise ValueError("a stone goes with each move: the first player moves after an even number of them")
        return state

    def layout(self) -> tuple[str, int]:
        return "Xo", 4 * self.width * self.height

    def place(self, state: int, action: int) -> list[int]:
        target = self._next(1 << action // 4, action % 4).bit_length() - 1
        return [grid.place(self.width, self.height, action // 4), grid.place(self.width, self.height, target)]

    def _stones(self, state: int, player: int) -> int:
        return state >> player * self.width * self.height & grid.full(self.width, self.height)

    def _next(self, stone: int, side: int) -> int:
        """The cell beside a stone's, nothing beyond the edge."""
        first = grid.column(self.width, self.height)
        if side == 0:
            return (stone & ~first) >> 1
        if side == 1:
            return (stone & ~(first << self.width - 1)) << 1
        if side == 2:
            return stone >> self.width
        return stone << self.width & grid.full(self.width, self.height)
