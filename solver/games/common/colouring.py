"""The rules that col and snort share: all but `_allowed(state, player)`, the cells that a player may colour.

A game inherits the parameters and the methods. Its fingerprint is that of a class with these methods of its own. Other
games on boards of two colours take some of the methods.
"""

# mypy: disable-error-code="attr-defined,no-any-return"
# `_allowed` is not declared here: two of that name in a class would change the fingerprint

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import Filling, colours, grid, like
from solver.games.common.boards import cells_of, check_turns


@like(Filling)
class Colouring(NamedTuple):
    """A board of cells that players colour in turn; who cannot loses."""

    width: int = 3
    height: int = 3

    drawing = {"sides": ["blue", "red"], "men": {"X": ["block", 0], "o": ["block", 1]}}

    def check(self) -> None:
        grid.refuse(self.width, self.height, 31)

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

    def longest(self, state: int) -> int:
        return self.width * self.height - state.bit_count()

    def canonical(self, state: int) -> int:
        return grid.least(self.width, self.height, 2, state)

    def evaluate(self, state: int) -> float:
        """The cells that the mover may colour more than the other, as a part of all."""
        mover = colours.second(state)
        mine, theirs = self._allowed(state, mover).bit_count(), self._allowed(state, 1 - mover).bit_count()
        return (mine - theirs) / (2 * self.width * self.height)

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.width, self.height, state, "Xo")

    def from_cells(self, rows: list[str], mover: int) -> int:
        first, second = cells_of(rows, "X"), cells_of(rows, "o")
        check_turns(first.bit_count(), second.bit_count(), mover)
        return first | second << self.width * self.height

    def layout(self) -> tuple[str, int]:
        return "Xo", self.width * self.height

    def place(self, state: int, action: int) -> list[int]:
        return [grid.place(self.width, self.height, action)]
