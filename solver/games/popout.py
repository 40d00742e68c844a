"""Popout (Hasbro 2009): connect-four in which one may also take a stone of one's own out at the bottom.

A turn drops a stone into a column that is not full, or pops out the lowest stone of a column if it is one's own; then
those above fall by a row. Who has `connect` in a row, a column or a diagonal wins; if a pop makes a line for both, it
is the mover's. A full board is not the end; who can neither drop nor pop ends the game, in a draw. Play that goes on
for ever is a draw.

A state gives each column height + 1 bits, bottom first. Its highest set bit is a guard just above the top stone; below
it a bit is set where the stone belongs to the side to move, as in connect-four. The number of stones tells who is to
move. An action is the column, plus `width` where it is popped. The game has cycles, so no `tier`.
"""

# mypy: disable-error-code="attr-defined,no-any-return"
# What another game gives is not seen

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import like, limits
from solver.games.common.boards import cells_of, stacked
from solver.games.connect_four import ConnectFour

GROUP = "alignment"


@like(ConnectFour, "initial", "drawing", "_bottom")
class Popout(NamedTuple):
    """Drop a stone into a column or pop one of yours out at its bottom; `connect` in a line wins."""

    width: int = 3
    height: int = 3
    connect: int = 3

    def check(self) -> None:
        limits(self, width=(1, 9), height=(1, 61), connect=(2, 30))
        if self.width * (self.height + 1) > 62:
            raise ValueError("width * (height + 1) must be at most 62")

    def actions(self, state: int) -> Iterator[int]:
        for column in range(self.width):
            if not state >> column * (self.height + 1) + self.height & 1:
                yield column
        for column in range(self.width):
            if self._may_pop(state, column):
                yield self.width + column

    def result(self, state: int, action: int) -> int:
        tall = self.height + 1
        shift = action % self.width * tall
        stack = (1 << tall) - 1 << shift
        filled = self._filled(state)
        mine, theirs = state & filled, filled & ~state
        if action < self.width:
            mine |= (filled & stack) + (1 << shift)
        else:
            mine = mine & ~stack | (mine & stack) >> 1 & stack
            theirs = theirs & ~stack | (theirs & stack) >> 1 & stack
        return theirs | (mine | theirs) + self._bottom()

    def is_terminal(self, state: int) -> bool:
        filled = self._filled(state)
        if self._has_line(filled & ~state) or self._has_line(filled & state):
            return True
        for column in range(self.width):
            top = column * (self.height + 1) + self.height
            if not state >> top & 1 or self._may_pop(state, column):
                return False
        return True

    def utility(self, state: int) -> int:
        filled = self._filled(state)
        if self._has_line(filled & ~state):
            return -1
        return 1 if self._has_line(filled & state) else 0

    def canonical(self, state: int) -> int:
        """Left and right are alike."""
        tall = self.height + 1
        mirrored = 0
        for column in range(self.width):
            mirrored |= (state >> column * tall & (1 << tall) - 1) << (self.width - 1 - column) * tall
        return min(state, mirrored)

    def format_action(self, state: int, action: int) -> str:
        """The column, behind a p where it is popped."""
        return ("p" if action >= self.width else "") + str(action % self.width + 1)

    def cells(self, state: int, mover: int) -> Iterator[str]:
        filled, mine, theirs = self._filled(state), "Xo"[mover], "oX"[mover]
        for row in reversed(range(self.height)):
            cells = [column * (self.height + 1) + row for column in range(self.width)]
            yield "".join((mine if state >> cell & 1 else theirs) if filled >> cell & 1 else "." for cell in cells)

    def from_cells(self, rows: list[str], mover: int) -> int:
        columns = stacked(rows)
        boards = [cells_of(columns, "X"), cells_of(columns, "o")]
        if (boards[0] | boards[1]).bit_count() % 2 != mover:
            raise ValueError("each turn adds or takes a stone: the first player moves where their number is even")
        return boards[mover] | boards[0] + boards[1] + self._bottom()

    def layout(self) -> tuple[str, int]:
        return "Xo", 2 * self.width

    def place(self, state: int, action: int) -> list[int]:
        """Where the stone comes to lie; none for a pop, which is chosen by its name."""
        if action >= self.width:
            return []
        tall = self.height + 1
        stones = (self._filled(state) >> action * tall & (1 << tall) - 1).bit_count()
        return [(self.height - 1 - stones) * self.width + action]

    def _filled(self, state: int) -> int:
        """Where stones are."""
        tall = self.height + 1
        filled = 0
        for column in range(self.width):
            stack = state >> column * tall & (1 << tall) - 1
            filled |= (1 << stack.bit_length() - 1) - 1 << column * tall
        return filled

    def _may_pop(self, state: int, column: int) -> bool:
        """Whether the lowest stone of a column is there, and the mover's."""
        stack = state >> column * (self.height + 1) & (1 << self.height + 1) - 1
        return stack > 1 and stack & 1 == 1

    def _has_line(self, stones: int) -> bool:
        tall = self.height + 1
        for step in (1, tall - 1, tall, tall + 1):
            run = stones
            for _ in range(self.connect - 1):
                run = stones & run >> step
            if run:
                return True
        return False
