"""Toads and frogs (Richard Guy, in Winning Ways): toads go right, frogs go left, by a step or over one of the others.

They stand in a row, the toads on the left, the frogs on the right, and free places between them. A move takes one of
one's own a place ahead, if that is free, or over one of the other kind that is there to the free place behind it.
Nothing is taken. The first player has the toads; who cannot move loses. Jeff Erickson (New Toads and Frogs Results,
1996) tells who wins.

A state is the places of the toads, the first one lowest, those of the frogs above them, and a bit for the frogs to
move; an action is the place moved from. `tier` counts the places that all have come.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import grid
from solver.games.common.boards import cells_of

GROUP = "blocking"


class ToadsAndFrogs(NamedTuple):
    """Step ahead or jump over one of the other kind, toads to the right, frogs to the left; who cannot move loses."""

    toads: int = 3
    free: int = 4
    frogs: int = 3

    def check(self) -> None:
        if self.toads < 0 or self.free < 0 or self.frogs < 0 or not 1 <= self.toads + self.free + self.frogs <= 30:
            raise ValueError("toads, free and frogs must be at least 0, and together from 1 to 30 to fit a state")

    def initial(self) -> int:
        length = self._length()
        return (1 << self.toads) - 1 | (1 << self.frogs) - 1 << 2 * length - self.frogs

    def actions(self, state: int) -> Iterator[int]:
        movers = self._movers(state)
        while movers:
            low = movers & -movers
            yield low.bit_length() - 1
            movers ^= low

    def result(self, state: int, action: int) -> int:
        length = self._length()
        turn = state >> 2 * length
        there = 1 << action | 1 << self._target(state, action)
        return state ^ there << turn * length ^ 1 << 2 * length

    def is_terminal(self, state: int) -> bool:
        return self._movers(state) == 0

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        length = self._length()
        come = 0
        for place in range(length):
            come += place * (state >> place & 1) - place * (state >> length + place & 1)
        return come - self.toads * (self.toads - 1) // 2 + self.frogs * (2 * length - self.frogs - 1) // 2

    def canonical(self, state: int) -> int:
        """With as many frogs as toads the row from its other end, the players exchanged, is the same."""
        if self.toads != self.frogs:
            return state
        length = self._length()
        other = (1 - (state >> 2 * length)) << 2 * length
        for place in range(length):
            other |= (state >> place & 1) << 2 * length - 1 - place
            other |= (state >> length + place & 1) << length - 1 - place
        return min(state, other)

    def format_action(self, state: int, action: int) -> str:
        return str(action + 1)

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self._length(), 1, state, "Tf")

    def from_cells(self, rows: list[str], mover: int) -> int:
        first, second = cells_of(rows, "T"), cells_of(rows, "f")
        if first.bit_count() != self.toads or second.bit_count() != self.frogs:
            raise ValueError(f"there are {self.toads} toads and {self.frogs} frogs, all of the time")
        return first | second << self._length() | mover << 2 * self._length()

    def layout(self) -> tuple[str, int]:
        return "Tf", self._length()

    def place(self, state: int, action: int) -> list[int]:
        return [action, self._target(state, action)]

    def drawing(self) -> dict[str, Any]:
        names = [str(i + 1) for i in range(self._length())]
        return {"sides": ["green", "amber"], "men": {"T": ["T", 0], "f": ["F", 1]}, "names": names}

    def _length(self) -> int:
        return self.toads + self.free + self.frogs

    def _movers(self, state: int) -> int:
        """Those of the mover that can step or jump."""
        length = self._length()
        row = (1 << length) - 1
        toads, frogs = state & row, state >> length & row
        free = row & ~(toads | frogs)
        if state >> 2 * length:
            return frogs & (free << 1 | (toads & free << 1) << 1)
        return toads & (free >> 1 | (frogs & free >> 1) >> 1)

    def _target(self, state: int, place: int) -> int:
        """Where the toad or frog of a place goes."""
        length = self._length()
        step = -1 if state >> 2 * length else 1
        taken = (state | state >> length) >> place + step & 1
        return place + 2 * step if taken else place + step
