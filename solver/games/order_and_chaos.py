"""Order and chaos (Stephen Sniderman 1981): both may put X or O; Order wants a line of one mark, Chaos none.

A turn puts an X or an O, whichever the player likes, on any free cell. Order moves first. Order wins as soon as `line`
marks of one kind stand next to each other in a row, a column or a diagonal, whoever has made them. Chaos wins when the
board is full without such a line. The usual board has 6 x 6 cells and lines of five.

A state is the cells with X, row by row from the bottom left, and those with O above them; their number tells who is to
move. An action is twice the cell, and one more for an O.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid, like, limits
from solver.games.common.boards import cells_of
from solver.games.common.colouring import Colouring

GROUP = "alignment"


@like(Colouring, "initial", "tier", "longest")
class OrderAndChaos(NamedTuple):
    """Put an X or an O; Order, who begins, wins by `line` of one kind in a row, Chaos if there is none."""

    width: int = 3
    height: int = 3
    line: int = 3

    drawing = {"board": "grid", "sides": ["order", "chaos"], "men": {"X": ["cross", 2], "O": ["ring", 2]}}

    def check(self) -> None:
        grid.refuse(self.width, self.height, 31)
        limits(self, line=(2, 26))

    def actions(self, state: int) -> Iterator[int]:
        cells = self.width * self.height
        for cell in range(cells):
            if not (state | state >> cells) >> cell & 1:
                yield 2 * cell
                yield 2 * cell + 1

    def result(self, state: int, action: int) -> int:
        return state | 1 << action // 2 + action % 2 * self.width * self.height

    def is_terminal(self, state: int) -> bool:
        return state.bit_count() == self.width * self.height or self._has_line(state)

    def utility(self, state: int) -> int:
        order_moves = state.bit_count() % 2 == 0
        return 1 if self._has_line(state) == order_moves else -1

    def canonical(self, state: int) -> int:
        """The least of the board's images, marks exchanged or not."""
        cells = self.width * self.height
        other = state >> cells | (state & (1 << cells) - 1) << cells
        return min(grid.least(self.width, self.height, 2, state), grid.least(self.width, self.height, 2, other))

    def format_action(self, state: int, action: int) -> str:
        return grid.name(self.width, action // 2) + "xo"[action % 2]

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.width, self.height, state, "XO")

    def from_cells(self, rows: list[str], mover: int) -> int:
        state = cells_of(rows, "X") | cells_of(rows, "O") << self.width * self.height
        if state.bit_count() % 2 != mover:
            raise ValueError("each turn marks a cell: order moves after an even number of them")
        return state

    def layout(self) -> tuple[str, int]:
        return "OX", 2 * self.width * self.height

    def place(self, state: int, action: int) -> list[int]:
        """None: a cell may be given either mark, so that a move is chosen by its name."""
        return []

    def _has_line(self, state: int) -> bool:
        return grid.has_line(self.width, self.height, self.line, state) or grid.has_line(
            self.width, self.height, self.line, state >> self.width * self.height
        )
