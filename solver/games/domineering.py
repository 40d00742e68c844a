"""Domineering (Goeran Andersson, about 1973): one player puts dominoes upright, the other flat; who cannot loses.

A domino takes two free cells beside each other, one above the other for the first player, side by side for the second.
Who begins the other way plays on the board turned by a quarter. Berlekamp, Conway and Guy made much of it in Winning
Ways; Breuker, Uiterwijk and van den Herik (Solving 8 x 8 Domineering, 2000) say who wins on which board.

A state has a bit for each cell that is covered, row by row from the bottom left; their number tells who is to move. An
action is the lower or left cell of the domino.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import Filling, grid, like
from solver.games.common.boards import cells_of

GROUP = "blocking"


@like(Filling)
class Domineering(NamedTuple):
    """Put dominoes on free cells, the first player upright, the second flat; who cannot loses."""

    width: int = 4
    height: int = 4

    drawing = {"sides": ["vertical", "horizontal"], "men": {"#": ["block", 2]}, "free": 2}

    def check(self) -> None:
        grid.refuse(self.width, self.height, 200)

    def bits(self) -> int:
        return max(63, self.width * self.height)

    def actions(self, state: int) -> Iterator[int]:
        places = self._places(state, self._second(state))
        while places:
            low = places & -places
            yield low.bit_length() - 1
            places ^= low

    def result(self, state: int, action: int) -> int:
        return state | (1 | 1 << (1 if self._second(state) else self.width)) << action

    def is_terminal(self, state: int) -> bool:
        return self._places(state, self._second(state)) == 0

    def longest(self, state: int) -> int:
        return (self.width * self.height - state.bit_count()) // 2

    def canonical(self, state: int) -> int:
        """A quarter turn would exchange the players."""
        return grid.least_flip(self.width, self.height, 1, state)

    def bounds(self, state: int) -> tuple[int, int]:
        """Won, if one side has more places that the other can never cover than the other has room for dominoes.

        These are the safe and the possible moves of Breuker, Uiterwijk and van den Herik (2000).
        """
        mover = self._second(state)
        if self._safe(state, mover) > self._room(state, 1 - mover):
            return 1, 1
        if self._safe(state, 1 - mover) >= self._room(state, mover):
            return -1, -1
        return -1, 1

    def promise(self, state: int, action: int) -> int:
        return self._lead(self.result(state, action), self._second(state))

    def evaluate(self, state: int) -> float:
        """The mover's lead, as a part of the board."""
        return self._lead(state, self._second(state)) / (self.width * self.height + 1)

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.width, self.height, state, "#")

    def from_cells(self, rows: list[str], mover: int) -> int:
        state = cells_of(rows, "#")
        if state.bit_count() % 2 or self._second(state) != mover:
            raise ValueError("each domino covers two cells: the first player moves after an even number of dominoes")
        return state

    def layout(self) -> tuple[str, int]:
        """Return the covered cells, and all cells but the last, which is not a domino's lower or left one."""
        return "#", self.width * self.height - 1

    def place(self, state: int, action: int) -> list[int]:
        step = 1 if self._second(state) else self.width
        return [grid.place(self.width, self.height, action), grid.place(self.width, self.height, action + step)]

    def _second(self, state: int) -> int:
        """Whether the second player is to move."""
        return state.bit_count() // 2 % 2

    def _lead(self, state: int, player: int) -> int:
        """How many dominoes more a player can put than the other: the sum of the least and the most of both."""
        mine = self._safe(state, player) + self._room(state, player)
        return mine - self._safe(state, 1 - player) - self._room(state, 1 - player)

    def _safe(self, state: int, flat: int) -> int:
        """The most dominoes of a player on cells that none of the other's can cover."""
        free = grid.full(self.width, self.height) & ~state
        if flat:
            lonely = free & ~(free << self.width | free >> self.width)
        else:
            first = grid.column(self.width, self.height)
            lonely = free & ~((free & ~(first << self.width - 1)) << 1 | (free & ~first) >> 1)
        return self._most(lonely, flat)

    def _room(self, state: int, flat: int) -> int:
        """The most dominoes that a player can put on free cells, if the other puts none."""
        return self._most(grid.full(self.width, self.height) & ~state, flat)

    def _most(self, cells: int, flat: int) -> int:
        """The most dominoes on cells: of each run those from its first cell on."""
        first = grid.column(self.width, self.height)
        count = 0
        for _ in range((self.width if flat else self.height) // 2):
            before = (cells & ~(first << self.width - 1)) << 1 if flat else cells << self.width
            after = (cells & ~first) >> 1 if flat else cells >> self.width
            begins = cells & ~before & after
            count += begins.bit_count()
            cells &= ~(begins | begins << (1 if flat else self.width))
        return count

    def _places(self, state: int, flat: int) -> int:
        """The lower or left cells of all places for a domino."""
        free = grid.full(self.width, self.height) & ~state
        if flat:
            return free & free >> 1 & ~(grid.column(self.width, self.height) << self.width - 1)
        return free & free >> self.width
