"""Col (Colin Vout, in Winning Ways): colour cells in turn, but none beside one of your own colour; who cannot loses.

Every cell that is coloured takes its neighbours along rows and columns away from the player whose colour it has. Where
a side of the board is even the second player wins by playing opposite, half a turn round; where both are odd the middle
cell is a neighbour of none but its own image, and the second player has won on every such board that was tried.

A state is that of `colours`.
"""

from solver.games.common import colours
from solver.games.common.colouring import Colouring

GROUP = "blocking"


class Col(Colouring):
    """Colour a cell beside none of your own colour; who cannot loses."""

    def _allowed(self, state: int, player: int) -> int:
        """The cells that a player may colour."""
        return colours.allowed(self.width, self.height, state, player)
