"""Dawson's chess (Thomas Dawson 1935): pawns on a board of three rows and `width` columns; captures are forced.

White's pawns stand in the first row, Black's in the third, and the middle row is empty. Whoever steps ahead in a column
is taken, and takes back, and so on, until the column and those beside it are empty of anything that can still move.
When all is exchanged the other is to move. So a turn picks a column, which goes with both its neighbours; who cannot
pick one loses (Dawson's own rule was that such a player wins). Guy and Smith found the nimbers in 1956; Berlekamp,
Conway and Guy tell the story in Winning Ways, chapter 4.

A state has a bit for each column that can still be picked, the first lowest; an action is the column. `canonical` has
the runs of such columns by length, the longest lowest, one gap behind each.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import limits
from solver.games.common.boards import cells_of

GROUP = "impartial"


class Dawson(NamedTuple):
    """Pick a column of `width` whose neighbours nobody has picked; who cannot loses."""

    width: int = 15

    impartial = True

    def check(self) -> None:
        limits(self, width=(1, 62))

    def initial(self) -> int:
        return (1 << self.width) - 1

    def actions(self, state: int) -> Iterator[int]:
        while state:
            low = state & -state
            yield low.bit_length() - 1
            state ^= low

    def result(self, state: int, action: int) -> int:
        column = 1 << action
        return state & ~(column | column << 1 | column >> 1)

    def is_terminal(self, state: int) -> bool:
        return state == 0

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        return self.width - state.bit_count()

    def longest(self, state: int) -> int:
        return state.bit_count()

    def canonical(self, state: int) -> int:
        """Runs in descending order."""
        ordered = place = 0
        for length in range(self.width, 0, -1):
            rest = state
            while rest:
                run = rest & ~(rest + (rest & -rest))
                rest ^= run
                if run.bit_count() == length:
                    ordered |= (1 << length) - 1 << place
                    place += length + 1
        return ordered

    def cells(self, state: int, mover: int) -> list[str]:
        """The pawns of the columns where one can still step ahead."""
        white = "".join(["P" if state >> i & 1 else "." for i in range(self.width)])
        black = "".join(["p" if state >> i & 1 else "." for i in range(self.width)])
        return [black, "." * self.width, white]

    def from_cells(self, rows: list[str], mover: int) -> int:
        return cells_of(rows[2:], "P")

    def layout(self) -> tuple[str, int]:
        return "Pp", self.width

    def place(self, state: int, action: int) -> list[int]:
        return [2 * self.width + action]

    def drawing(self) -> dict[str, Any]:
        men = {"P": ["pawn", 0], "p": ["pawn", 1]}
        names = [str(i % self.width + 1) for i in range(3 * self.width)]
        return {"board": "checks", "sides": ["white", "black"], "men": men, "names": names}
