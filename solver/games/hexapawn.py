"""Hexapawn (Martin Gardner 1962): one row of pawns each, which step straight forward and capture diagonally.

A pawn steps one square ahead if that is empty, or takes the other's diagonally ahead. Who first has a pawn on the last
row wins; who cannot move loses, pawns or none. On Gardner's board of 3 x 3 the second player wins.

A state is that of `pawns`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.breakthrough import Breakthrough
from solver.games.common import grid, like, pawns

GROUP = "race"


@like(Breakthrough, "result", "utility", "tier", "format_end", "cells", "layout", "place", "drawing")
class Hexapawn(NamedTuple):
    """One row of pawns each; step forward, capture diagonally; reach the last row to win; who cannot move loses."""

    width: int = 3
    height: int = 3

    def check(self) -> None:
        grid.refuse(self.width, self.height, 30)
        if self.height < 2:
            raise ValueError("height must be at least 2")

    def initial(self) -> int:
        return pawns.initial(self.width, self.height, 1)

    def actions(self, state: int) -> Iterator[int]:
        own = pawns.mine(self.width, self.height, state)
        for cell in range(self.width * self.height):
            if own >> cell & 1:
                for side in range(-1, 2):
                    arrived = pawns.stepped(self.width, self.height, state, 1 << cell, side)
                    if arrived & pawns.targets(self.width, self.height, state, side, False):
                        yield cell * 3 + side + 1

    def is_terminal(self, state: int) -> bool:
        return pawns.is_over(self.width, self.height, state, False)

    def canonical(self, state: int) -> int:
        return min(state, pawns.mirrored(self.width, self.height, state))

    def features(self, state: int) -> Iterator[int]:
        """Moves, captures, pawns in danger and pawns by cell, from the mover's side; columns as their mirror images."""
        for mover in range(2):
            yield from pawns.chances(self.width, self.height, state, mover, False)
        own, others = pawns.mine(self.width, self.height, state), pawns.theirs(self.width, self.height, state)
        upwards = state >> 2 * self.width * self.height == 0
        for row in range(self.height):
            for column in range((self.width + 1) // 2):
                yield pawns.count(self.width, self.height, own, row, column, upwards)
                yield pawns.count(self.width, self.height, others, row, column, not upwards)

    def from_cells(self, rows: list[str], mover: int) -> int:
        return pawns.from_cells(rows, mover, self.width)
