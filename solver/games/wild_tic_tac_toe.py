"""Wild tic-tac-toe: both may put X or O; who completes `line` of one kind in a row wins, or loses in misere.

A turn puts an X or an O, as one likes, on any free cell. Who makes a row, a column or a diagonal of equal marks ends
the game, whichever marks they are. A full board without a line is a draw. On 3 x 3 the first player wins, by the middle
cell; in misere a player copies the other's moves, with the other mark.

A state is the cells with X, row by row from the bottom left, and those with O above them. An action is twice the cell,
and one more for an O.
"""

# mypy: disable-error-code="attr-defined"
# What another game gives is not seen

from typing import NamedTuple

from solver.games.common import like
from solver.games.common.boards import cells_of
from solver.games.order_and_chaos import OrderAndChaos

GROUP = "alignment"


@like(OrderAndChaos)
class WildTicTacToe(NamedTuple):
    """Put an X or an O; who completes `line` of one kind in a row wins (misere: loses); a full board is a draw."""

    width: int = 3
    height: int = 3
    line: int = 3
    misere: bool = False

    drawing = {"board": "grid", "men": {"X": ["cross", 2], "O": ["ring", 2]}}

    def utility(self, state: int) -> int:
        if not self._has_line(state):
            return 0
        return 1 if self.misere else -1

    def from_cells(self, rows: list[str], mover: int) -> int:
        return cells_of(rows, "X") | cells_of(rows, "O") << self.width * self.height
