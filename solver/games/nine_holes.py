"""Nine holes: place three men each, then move one to any empty point; a row or a column wins, no diagonal.

The board has nine points, three by three. Men are placed in turn, on any empty point; once all six stand they move in
turn, and may go anywhere. Three of one's own in a row or a column win, also while men are placed. Repetition is a draw.

A state is that of `men`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import like, men
from solver.games.three_mens_morris import ThreeMensMorris

GROUP = "alignment"


@like(ThreeMensMorris, "initial", "result", "utility", "canonical", "cells", "from_cells", "layout", "place")
class NineHoles(NamedTuple):
    """Place three men each, then move to any empty point; a row or column of three wins."""

    drawing = men.drawing(3)

    def actions(self, state: int) -> Iterator[int]:
        yield from men.actions(state, 3, 3)

    def is_terminal(self, state: int) -> bool:
        if men.has_line(men.theirs(state), 6):
            return True
        return not men.is_placing(state, 3) and not men.can_move(state, 3)
