"""Tapatan, of the Philippines, with the pieces already on their own rows; three in a row wins, but not there.

Three pieces each stand on the first and the last row of three by three points. A piece slides to an empty point beside
it, along rows, columns and the lines through the centre. Three in a row, a column or a diagonal win, but on the row
where they began; who cannot move loses. Repetition is a draw.

A state is that of `men`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import like, men
from solver.games.common.boards import standing
from solver.games.three_mens_morris import ThreeMensMorris

GROUP = "alignment"


@like(ThreeMensMorris, "result", "utility", "cells", "layout", "place")
class Tapatan(NamedTuple):
    """Three pieces each on their own rows slide, also between centre and corners; three in a row elsewhere wins."""

    drawing = men.drawing(1)

    def initial(self) -> int:
        return men.LINES[0] | men.LINES[2] << 9

    def actions(self, state: int) -> Iterator[int]:
        yield from men.actions(state, 0, 1)

    def is_terminal(self, state: int) -> bool:
        others = men.theirs(state)
        home = men.LINES[2] if state >> 18 == 0 else men.LINES[0]
        if others != home and men.has_line(others, 8):
            return True
        return not men.can_move(state, 1)

    def canonical(self, state: int) -> int:
        return min(state, men.mirrored(state))

    def from_cells(self, rows: list[str], mover: int) -> int:
        return standing(rows, mover, 3)
