"""Dodgem (Colin Vout; Winning Ways): drive all cars off the far edge; a player who cannot move wins.

Each player has one car less than the board is wide. The first player's cars stand along the left edge and drive right,
up or down. The second player's stand along the bottom and drive up, left or right. A turn moves one car by one cell, to
an empty one. Cars leave the board only over their far edge, the right one and the top. Who has no move wins: all cars
are off, or the other side has blocked them. Cars may go back and forth across their way, and repetition is a draw. On
3 x 3 the first player wins. On 4 x 4 and 5 x 5 play goes on for ever.

    3 x . .     x drives to the right, o to the top
    2 x . .
    1 . o o
      a b c

A state is the first player's cars, row by row from the bottom left, the second's after them, and a bit for the side to
move. An action is three times the cell moved from, plus 0 ahead, 1 and 2 across: down and up, or left and right. The
tier, how far all have come, never falls.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import grid, limits
from solver.games.common.boards import cells_of

GROUP = "race"


class Dodgem(NamedTuple):
    """Drive your cars off the far edge, past the other's; who cannot move wins."""

    size: int = 3

    def check(self) -> None:
        limits(self, size=(2, 5))

    def initial(self) -> int:
        cars = 0
        for place in range(1, self.size):
            cars |= 1 << place * self.size
        return cars | self._transposed(cars) << self._cells()

    def actions(self, state: int) -> Iterator[int]:
        for cell in range(self._cells()):
            if self._cars(state, 0) >> cell & 1:
                for way in range(3):
                    if self._is_free(state, cell, way):
                        yield 3 * cell + way

    def result(self, state: int, action: int) -> int:
        turn, target = state >> 2 * self._cells(), self._target(state, action // 3, action % 3)
        cars = 1 << action // 3
        if target >= 0:
            cars |= 1 << target
        return state ^ cars << turn * self._cells() ^ 1 << 2 * self._cells()

    def is_terminal(self, state: int) -> bool:
        for cell in range(self._cells()):
            if self._cars(state, 0) >> cell & 1:
                for way in range(3):
                    if self._is_free(state, cell, way):
                        return False
        return True

    def utility(self, state: int) -> int:
        return 1

    def tier(self, state: int) -> int:
        """The steps that both players' cars have gone ahead; off the board they have gone all."""
        left = 0
        for cell in range(self._cells()):
            x, y = cell % self.size, cell // self.size
            left += (self.size - x) * (state >> cell & 1) + (self.size - y) * (state >> self._cells() + cell & 1)
        return 2 * self.size * (self.size - 1) - left

    def canonical(self, state: int) -> int:
        """As if the first player moved: the board mirrored in its diagonal, the players exchanged."""
        if state >> 2 * self._cells() == 0:
            return state
        return self._transposed(self._cars(state, 0)) | self._transposed(self._cars(state, 1)) << self._cells()

    def format_action(self, state: int, action: int) -> str:
        target = self._target(state, action // 3, action % 3)
        return grid.name(self.size, action // 3) + (grid.name(self.size, target) if target >= 0 else "-off")

    def cells(self, state: int, mover: int) -> list[str]:
        """The board, and arrows where cars go off it."""
        board = grid.board(self.size, self.size, state, "Xo")
        return ["^" * self.size + " ", *(row + ">" for row in board)]

    def from_cells(self, rows: list[str], mover: int) -> int:
        board = [row[: self.size] for row in rows[1:]]
        first, second = cells_of(board, "X"), cells_of(board, "o")
        if max(first.bit_count(), second.bit_count()) >= self.size:
            raise ValueError(f"each has at most {self.size - 1} cars")
        return first | second << self._cells() | mover << 2 * self._cells()

    def layout(self) -> tuple[str, int]:
        return ">X^o", 3 * self._cells()

    def place(self, state: int, action: int) -> list[int]:
        """Rows of one cell more, under one of arrows."""
        cell, target = action // 3, self._target(state, action // 3, action % 3)
        x, y = cell % self.size, cell // self.size
        ends = (x + 1, y) if state >> 2 * self._cells() == 0 else (x, y + 1)
        if target >= 0:
            ends = (target % self.size, target // self.size)
        return [(self.size - up) * (self.size + 1) + across for across, up in ((x, y), ends)]

    def drawing(self) -> dict[str, Any]:
        men = {"X": ["disc", 0], "o": ["disc", 1], ">": [">", 2], "^": ["^", 2]}
        names = [f"{'abcdef'[x]}{y + 1}" for y in range(self.size, -1, -1) for x in range(self.size + 1)]
        return {"board": "squares", "sides": ["blue", "red"], "men": men, "names": names}

    def _cells(self) -> int:
        return self.size * self.size

    def _cars(self, state: int, other: int) -> int:
        """The mover's cars (0) or the other's (1)."""
        turn = state >> 2 * self._cells()
        return state >> self._cells() * (turn ^ other) & (1 << self._cells()) - 1

    def _target(self, state: int, cell: int, way: int) -> int:
        """The cell that the mover's car of a cell comes to; -1 off the far edge, -2 off another."""
        x, y, across = cell % self.size, cell // self.size, 2 * way - 3
        if state >> 2 * self._cells() == 0:
            x, y = (x + 1, y) if way == 0 else (x, y + across)
        else:
            x, y = (x, y + 1) if way == 0 else (x + across, y)
        if 0 <= x < self.size and 0 <= y < self.size:
            return y * self.size + x
        return -1 if way == 0 else -2

    def _is_free(self, state: int, cell: int, way: int) -> bool:
        target = self._target(state, cell, way)
        if target < 0:
            return target == -1
        return not (self._cars(state, 0) | self._cars(state, 1)) >> target & 1

    def _transposed(self, cars: int) -> int:
        result = 0
        for cell in range(self._cells()):
            result |= (cars >> cell & 1) << cell % self.size * self.size + cell // self.size
        return result
