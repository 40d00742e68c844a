"""Achi, of Ghana: place four pieces each, then slide them along rows, columns and the lines through the centre.

The board has nine points. Whoever has three pieces in a row, a column or a diagonal wins, also while pieces are placed.
A piece slides to the empty point beside it; who cannot move loses. Repetition is a draw.

A state is that of `men`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import like, men
from solver.games.common.boards import placed
from solver.games.three_mens_morris import ThreeMensMorris

GROUP = "alignment"


@like(ThreeMensMorris, "initial", "result", "utility", "canonical", "cells", "layout", "place")
class Achi(NamedTuple):
    """Place four pieces each, then slide, also between centre and corners; three in a row win; who is stuck loses."""

    drawing = men.drawing(1)

    def actions(self, state: int) -> Iterator[int]:
        yield from men.actions(state, 4, 1)

    def is_terminal(self, state: int) -> bool:
        if men.has_line(men.theirs(state), 8):
            return True
        return not men.is_placing(state, 4) and not men.can_move(state, 1)

    def from_cells(self, rows: list[str], mover: int) -> int:
        return placed(rows, mover, 4)
