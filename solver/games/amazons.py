"""The game of the amazons (Walter Zamkauskas 1988): move like a chess queen, then shoot an arrow that blocks a square.

A turn moves an amazon along a row, a column or a diagonal, as far as its squares are free. From its new square it
shoots an arrow, which flies in the same way and stays on its last square for ever. Nothing is taken. Who cannot move
loses. With one amazon each, the first player's stands in the lower left corner and the second's in the upper right one.
With four they stand on the squares next to the corners, the first player's at the bottom (Song and Mueller, An Enhanced
Solver for the Game of Amazons, 2015).

A state is seen by its mover: the mover's amazons, row by row from the bottom left, the other's above them, and the
arrows in both; their number tells who is to move. An action is the square moved from, the square moved to, and the
square of the arrow, digits of as many as there are squares, the arrow's lowest.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid, like
from solver.games.common.boards import cells_of
from solver.games.common.colouring import Colouring

GROUP = "blocking"
MEN = {"X": ["queen", 0], "o": ["queen", 1], "#": ["block", 2]}


@like(Colouring, "utility", "canonical")
class Amazons(NamedTuple):
    """Amazons, `each` a side, move like queens, then shoot an arrow that blocks a square; who cannot move loses.

    everything: solve from all placements of one amazon each.
    """

    width: int = 3
    height: int = 3
    each: int = 1
    everything: bool = False

    drawing = {"board": "checks", "sides": ["white", "black"], "men": MEN}

    def check(self) -> None:
        grid.refuse(self.width, self.height, 31)
        if self.each not in (1, 4) or (self.everything and self.each == 4):
            raise ValueError("each must be 1 or 4, and 1 where everything is asked")
        if min(self.width, self.height) < (4 if self.each == 4 else 2):
            raise ValueError("the amazons have no room: one each takes a board of 2 x 2, four of 4 x 4")

    def initial(self) -> int:
        cells = self.width * self.height
        if self.each == 1:
            return 1 | 1 << 2 * cells - 1
        own = 0b10 | 1 << self.width - 2 | 1 << self.width | 1 << 2 * self.width - 1
        return own | grid.flipped(self.width, self.height, 1, own) << cells

    def starts(self) -> Iterator[int]:
        cells = self.width * self.height
        yield self.initial()
        if self.everything:
            for own in range(cells):
                for other in range(cells):
                    if own != other:
                        yield 1 << own | 1 << cells + other

    def actions(self, state: int) -> Iterator[int]:
        cells = self.width * self.height
        own, taken = self._own(state), self._taken(state)
        for source in range(cells):
            if own >> source & 1:
                others = taken ^ 1 << source
                targets = self._reached(source, others)
                for target in range(cells):
                    if targets >> target & 1:
                        arrows = self._reached(target, others)
                        for arrow in range(cells):
                            if arrows >> arrow & 1:
                                yield (source * cells + target) * cells + arrow

    def result(self, state: int, action: int) -> int:
        cells = self.width * self.height
        source, target, arrow = action // cells // cells, action // cells % cells, action % cells
        own = state & (1 << cells) - 1 ^ 1 << source ^ 1 << target
        return state >> cells | own << cells | 1 << arrow | 1 << cells + arrow

    def is_terminal(self, state: int) -> bool:
        """Whether all neighbours of the mover's amazons are taken."""
        own = self._own(state)
        near = own
        for up in range(-1, 2):
            near |= self._sideways(grid.step(self.width, self.height, own, 0, up))
        return near & ~self._taken(state) == 0

    def tier(self, state: int) -> int:
        return (state & state >> self.width * self.height).bit_count()

    def longest(self, state: int) -> int:
        return self.width * self.height - 2 * self.each - self.tier(state)

    def format_action(self, state: int, action: int) -> str:
        return "/".join([grid.name(self.width, square) for square in self._squares(action)])

    def cells(self, state: int, mover: int) -> list[str]:
        count = self.width * self.height
        own, other = ("o", "X") if mover else ("X", "o")
        kinds = (".", own, other, "#")
        marks = [kinds[(state >> i & 1) + 2 * (state >> count + i & 1)] for i in range(count)]
        return grid.rows(self.width, self.height, "".join(marks))

    def from_cells(self, rows: list[str], mover: int) -> int:
        count = self.width * self.height
        boards = [cells_of(rows, "X"), cells_of(rows, "o")]
        arrows = cells_of(rows, "#")
        if boards[0].bit_count() != self.each or boards[1].bit_count() != self.each:
            raise ValueError(f"amazons are never taken: each side has {self.each}")
        if arrows.bit_count() % 2 != mover:
            raise ValueError("an arrow is shot in each turn: the first player moves after an even number of them")
        return boards[mover] | boards[1 - mover] << count | arrows | arrows << count

    def layout(self) -> tuple[str, int]:
        return "#Xo", (self.width * self.height) ** 3

    def place(self, state: int, action: int) -> list[int]:
        return [grid.place(self.width, self.height, square) for square in self._squares(action)]

    def _squares(self, action: int) -> tuple[int, int, int]:
        """The square moved from, the square moved to, and that of the arrow."""
        cells = self.width * self.height
        return action // cells // cells, action // cells % cells, action % cells

    def _own(self, state: int) -> int:
        """The mover's amazons."""
        return state & ~(state >> self.width * self.height) & grid.full(self.width, self.height)

    def _taken(self, state: int) -> int:
        return (state | state >> self.width * self.height) & grid.full(self.width, self.height)

    def _sideways(self, cells: int) -> int:
        """Cells and their neighbours in the same row."""
        first = grid.column(self.width, self.height)
        return cells | (cells & ~first) >> 1 | (cells & ~(first << self.width - 1)) << 1

    def _reached(self, square: int, taken: int) -> int:
        """The squares that a queen reaches from one."""
        found = 0
        for up in range(-1, 2):
            for right in range(-1, 2):
                column, row = square % self.width + right, square // self.width + up
                while (
                    (up != 0 or right != 0)
                    and 0 <= column < self.width
                    and 0 <= row < self.height
                    and not taken >> row * self.width + column & 1
                ):
                    found |= 1 << row * self.width + column
                    column += right
                    row += up
        return found
