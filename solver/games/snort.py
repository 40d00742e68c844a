"""Snort (Simon Norton, in Winning Ways): colour cells in turn, but none beside one of the other colour; no move loses.

It began with farmers who put bulls and cows into fields; none of these may be next to one of those. Neighbours are
along rows and columns. A cell that is coloured keeps its free neighbours for the player whose colour it has. On boards
of two odd sides the first player wins by the middle cell and then by playing opposite, half a turn round.

A state is that of `colours`.
"""

from solver.games.common import colours
from solver.games.common.colouring import Colouring

GROUP = "blocking"


class Snort(Colouring):
    """Colour a cell beside none of the other's colour; who cannot loses."""

    def _allowed(self, state: int, player: int) -> int:
        """The cells that a player may colour."""
        return colours.allowed(self.width, self.height, state, 1 - player)
