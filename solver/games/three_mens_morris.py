"""Three men's morris: place three pieces each, then slide them; three in a row, also a diagonal, wins.

The board has nine points, three by three. Pieces are placed in turn, on any empty point; once all six stand one is
moved in each turn to an empty point, by default the next one in its row or column. Three of one's own in a line win,
also while pieces are placed; who cannot move loses. Repetition is a draw.

A state is that of `men`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import Filling, grid, like, men
from solver.games.common.boards import placed

GROUP = "alignment"


@like(Filling, "initial", "utility")
class ThreeMensMorris(NamedTuple):
    """Place three pieces each, then slide; three in a row wins; who cannot move loses.

    `slides`: 0 along rows and columns, 1 also between the centre and the corners, 2 to all neighbours, 3 anywhere.
    """

    slides: int = 0

    layout = "Xo", 90

    def check(self) -> None:
        if not 0 <= self.slides <= 3:
            raise ValueError("slides is 0 (rows, columns), 1 (centre to corners), 2 (all neighbours) or 3 (anywhere)")

    def actions(self, state: int) -> Iterator[int]:
        yield from men.actions(state, 3, self.slides)

    def result(self, state: int, action: int) -> int:
        return men.moved(state, action)

    def is_terminal(self, state: int) -> bool:
        if men.has_line(men.theirs(state), 8):
            return True
        return not men.is_placing(state, 3) and not men.can_move(state, self.slides)

    def tier(self, state: int) -> int:
        """The pieces on the board: it grows while they are placed, and has cycles once they slide."""
        return (state & (1 << 18) - 1).bit_count()

    def digits(self) -> Iterator[int]:
        """Whose turn it is, then point by point."""
        yield 1 << 18
        for point in range(9):
            yield (1 | 1 << 9) << point

    def scan(self, place: int, memo: int, digit: int) -> int:
        """The turn, and how many pieces stand of either side, three bits each."""
        if place == 0:
            return digit
        memo += (0, 8, 64, 0)[digit]
        first, second = memo >> 3 & 7, memo >> 6
        if digit == 3 or first > 3 or second > 3:
            return -1
        is_fair = first == second + memo % 2 or first == second == 3
        return memo if place < 9 or is_fair else -1

    def canonical(self, state: int) -> int:
        return men.least(state)

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(3, 3, state, "Xo")

    def from_cells(self, rows: list[str], mover: int) -> int:
        return placed(rows, mover, 3)

    def place(self, state: int, action: int) -> list[int]:
        points = (action - 81,) if action >= 81 else (action // 9, action % 9)
        return [grid.place(3, 3, point) for point in points]

    def drawing(self) -> dict[str, Any]:
        return men.drawing(self.slides)
