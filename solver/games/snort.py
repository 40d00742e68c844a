"""Snort (Simon Norton, in Winning Ways): colour cells in turn, but none beside one of the other colour; no move loses.

It began with farmers who put bulls and cows into fields; none of these may be next to one of those. Neighbours are
along rows and columns. A cell that is coloured keeps its free neighbours for the player whose colour it has. On boards
of two odd sides the first player wins by the middle cell and then by playing opposite, half a turn round.

A state is that of `colours`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from solver.games.common import colours, grid

GROUP = "blocking"


class Snort(NamedTuple):
    """Colour a cell beside none of the other's colour; who cannot loses."""

    width: int = 3
    height: int = 3

    def check(self) -> None:
        grid.refuse(self.width, self.height, 2)

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> Iterator[int]:
        free = self._allowed(state, colours.second(state))
        while free:
            low = free & -free
            yield low.bit_length() - 1
            free ^= low

    def result(self, state: int, action: int) -> int:
        return colours.marked(self.width, self.height, state, action)

    def is_terminal(self, state: int) -> bool:
        return self._allowed(state, colours.second(state)) == 0

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        return state.bit_count()

    def longest(self, state: int) -> int:
        return self.width * self.height - state.bit_count()

    def canonical(self, state: int) -> int:
        return grid.least(self.width, self.height, 2, state)

    def evaluate(self, state: int) -> float:
        """The cells that the mover may colour more than the other, as a part of all."""
        mover = colours.second(state)
        mine, theirs = self._allowed(state, mover).bit_count(), self._allowed(state, 1 - mover).bit_count()
        return (mine - theirs) / (2 * self.width * self.height)

    def format_action(self, state: int, action: int) -> str:
        return grid.name(self.width, action)

    def show(self, state: int) -> str:
        return colours.board(self.width, self.height, state)

    def cells(self, state: int, mover: int) -> list[str]:
        return colours.cells(self.width, self.height, state)

    def layout(self) -> tuple[str, Iterable[int]]:
        """Colours, and the cells."""
        return "Xo", range(self.width * self.height)

    def place(self, state: int, action: int) -> list[int]:
        return [grid.place(self.width, self.height, action)]

    def drawing(self) -> dict[str, Any]:
        return colours.drawing()

    def _allowed(self, state: int, player: int) -> int:
        """The cells that a player may colour."""
        return colours.allowed(self.width, self.height, state, 1 - player)
