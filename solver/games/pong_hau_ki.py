"""Pong hau k'i, of China: two stones each on five points, a stone slides to the empty one; who cannot move loses.

Lines join the top points with those below them, the two bottom points, and the centre with all four corners; between
the top points there is none. One player begins on the top points, the other on the bottom ones. Repetition is a draw.

A state is the first player's points (at first the top), the second's five bits on, and the side to move; points are
0 top left, 1 top right, 2 the centre, 3 bottom left, 4 bottom right. An action is the point moved from. The game has
cycles.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid
from solver.games.common.boards import standing

GROUP = "blocking"
NEAR = (0b01100, 0b10100, 0b11011, 0b10101, 0b01110)  # the points joined to each
AT = [[0.5, 0.5], [2.5, 0.5], [1.5, 1.5], [0.5, 2.5], [2.5, 2.5]]
LINES = [[a, b] for a in range(5) for b in range(a) if NEAR[a] >> b & 1]


class PongHauKi(NamedTuple):
    """Slide one of two stones to the empty point of five; who cannot move loses."""

    layout = "Xo", 5
    drawing = {"board": "points", "at": AT, "lines": LINES, "sides": ["black", "white"], "names": list("12345")}

    def initial(self) -> int:
        return 0b00011 | 0b11000 << 5

    def actions(self, state: int) -> Iterator[int]:
        for point in range(5):
            if self._movable(state) >> point & 1:
                yield point

    def result(self, state: int, action: int) -> int:
        return state ^ (1 << action | 1 << self._empty(state)) << 5 * (state >> 10) ^ 1 << 10

    def is_terminal(self, state: int) -> bool:
        return self._movable(state) == 0

    def utility(self, state: int) -> int:
        return -1

    def canonical(self, state: int) -> int:
        """Left and right may be exchanged."""
        left = 0b01001 | 0b01001 << 5
        centre = 1 << 2 | 1 << 7 | 1 << 10
        return min(state, state & centre | (state & left) << 1 | state >> 1 & left)

    def format_action(self, state: int, action: int) -> str:
        return "12345"[action]

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(5, 1, state, "Xo")

    def from_cells(self, rows: list[str], mover: int) -> int:
        return standing(rows, mover, 2)

    def place(self, state: int, action: int) -> list[int]:
        return [action, self._empty(state)]

    def _empty(self, state: int) -> int:
        return (~(state | state >> 5) & 31).bit_length() - 1

    def _movable(self, state: int) -> int:
        """The mover's stones that can slide."""
        return NEAR[self._empty(state)] & state >> 5 * (state >> 10) & 31
