"""Mu torere, the Maori game: four stones each on an eight-pointed ring, the centre empty; who cannot move loses.

A stone moves to the empty point: along the ring to a neighbour, from the centre to any ring point, from the ring to
the centre only if an enemy stands on a neighbouring ring point. Repetition is a draw.

A state is the first player's points, the second's (0-7 the ring, 8 the centre), and the side to move. The game has
cycles, so no `tier`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import like
from solver.games.common.boards import standing
from solver.games.rota import Rota

GROUP = "blocking"


@like(Rota, "utility", "cells", "drawing")
class MuTorere(NamedTuple):
    """Move a stone to the empty point; who cannot move loses; restricted: into the centre only from beside an enemy."""

    restricted: bool = True

    layout = "Xo", 9

    def initial(self) -> int:
        return 0b1111 | 0b11110000 << 9

    def actions(self, state: int) -> Iterator[int]:
        for point in range(9):
            if self._may_move(state, point):
                yield point

    def result(self, state: int, action: int) -> int:
        turn = state >> 18
        return state ^ (1 << action | 1 << self._empty(state)) << 9 * turn ^ 1 << 18

    def is_terminal(self, state: int) -> bool:
        for point in range(9):
            if self._may_move(state, point):
                return False
        return True

    def canonical(self, state: int) -> int:
        """The least of the ring's eight rotations and their reflections."""
        mirrored = state & ~(255 | 255 << 9)
        for point in range(8):
            mirrored |= (state >> point & (1 | 1 << 9)) << 7 - point
        least = min(state, mirrored)
        for _ in range(7):
            state, mirrored = self._rotated(state), self._rotated(mirrored)
            least = min(least, min(state, mirrored))
        return least

    def format_action(self, state: int, action: int) -> str:
        return "12345678c"[action]

    def from_cells(self, rows: list[str], mover: int) -> int:
        return standing(rows, mover, 4)

    def place(self, state: int, action: int) -> list[int]:
        return [action, self._empty(state)]

    def _empty(self, state: int) -> int:
        """The empty point."""
        return (~(state | state >> 9) & 511).bit_length() - 1

    def _may_move(self, state: int, point: int) -> bool:
        turn = state >> 18
        mine, theirs = state >> 9 * turn & 511, state >> 9 * (1 - turn) & 511
        if not mine >> point & 1:
            return False
        empty = self._empty(state)
        if empty == 8:
            near = 1 << (point + 1) % 8 | 1 << (point + 7) % 8
            return not self.restricted or theirs & near != 0
        return point == 8 or (point + 1) % 8 == empty or (point + 7) % 8 == empty

    def _rotated(self, state: int) -> int:
        ring = 255 | 255 << 9
        top = 1 | 1 << 9
        return state & ~ring | state << 1 & ring & ~top | state >> 7 & top
