"""Neutreeko: slide a piece like a chess queen until something stops it; three of your own in an unbroken line win.

Jan Kristian Haugland, 2001. Each player has three pieces on 5 x 5 points. A piece goes along a row, a column or a
diagonal as far as it can, one step at least. Repetition is a draw.

A state is that of `five`. Pieces never leave the board, so the game has cycles and no `tier`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import five, like
from solver.games.common.boards import standing
from solver.games.teeko import Teeko

GROUP = "alignment"


@like(Teeko, "result", "utility", "symmetries", "canonical", "cells", "place")
class Neutreeko(NamedTuple):
    """Slide pieces until something stops them; three of your own in a line win."""

    layout = "Xo", 625
    drawing = {"board": "squares", "sides": ["black", "white"]}

    def initial(self) -> int:
        black, white = 1 << 1 | 1 << 3 | 1 << 17, 1 << 7 | 1 << 21 | 1 << 23
        return black | white << 25

    def actions(self, state: int) -> Iterator[int]:
        men, empty = five.mine(state), five.empty(state)
        for man in range(25):
            if men >> man & 1:
                for way in range(9):
                    here = 1 << man
                    ahead = five.step(here, way % 3 - 1, way // 3 - 1) & empty
                    while ahead and way != 4:
                        here = ahead
                        ahead = five.step(here, way % 3 - 1, way // 3 - 1) & empty
                    if here != 1 << man:
                        yield 25 * man + here.bit_length() - 1

    def is_terminal(self, state: int) -> bool:
        return five.aligned(five.theirs(state), 3)

    def parents(self, state: int) -> Iterator[int]:
        """Before a piece slid to where something stopped it."""
        men, empty, side = five.theirs(state), five.empty(state), 25 * (1 - (state >> 50))
        for man in range(25):
            if men >> man & 1:
                for way in range(9):
                    across, up, here = way % 3 - 1, way // 3 - 1, 1 << man
                    behind = five.step(here, -across, -up) & empty
                    if way == 4 or five.step(here, across, up) & empty:
                        behind = 0
                    while behind:
                        yield state ^ (here | behind) << side ^ 1 << 50
                        behind = five.step(behind, -across, -up) & empty

    def tables(self) -> Iterator[tuple[int, int, int]]:
        yield 0, 3, 3

    def from_cells(self, rows: list[str], mover: int) -> int:
        return standing(rows, mover, 3)
