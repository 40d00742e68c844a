"""Notakto (Bob Koca 2010): tic-tac-toe on several boards in which both mark X; who completes the last line loses.

A turn marks a free cell of a board that has no three in a row, column or diagonal yet; a board that has is dead. Who
makes the last board dead loses. Thane Plambeck and Greg Whitehead, The Secrets of Notakto, 2013, tell how to play on
any number of boards: on one the first player wins, but only by the centre.

A state has nine bits for each board, row by row from the bottom left. An action is nine times the board plus the cell.
`canonical` fills dead boards, turns and mirrors the others, and puts them in descending order; `tier` counts a dead
board as full.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import Filling, grid, like, limits, men
from solver.games.common.boards import cells_of

GROUP = "impartial"


@like(Filling, "initial", "result")
class Notakto(NamedTuple):
    """Mark X on one of several boards without a line of three; who completes the last line loses."""

    boards: int = 2

    def check(self) -> None:
        limits(self, boards=(1, 7))

    def actions(self, state: int) -> Iterator[int]:
        for board in range(self.boards):
            marks = state >> 9 * board & 511
            if not men.has_line(marks, 8):
                for cell in range(9):
                    if not marks >> cell & 1:
                        yield 9 * board + cell

    def is_terminal(self, state: int) -> bool:
        for board in range(self.boards):
            if not men.has_line(state >> 9 * board & 511, 8):
                return False
        return True

    def utility(self, state: int) -> int:
        return 1

    def tier(self, state: int) -> int:
        marks = 0
        for board in range(self.boards):
            own = state >> 9 * board & 511
            marks += 9 if men.has_line(own, 8) else own.bit_count()
        return marks

    def canonical(self, state: int) -> int:
        """Each board's least image, the largest lowest."""
        images = 0
        for board in range(self.boards):
            own = state >> 9 * board & 511
            images |= (511 if men.has_line(own, 8) else grid.least(3, 3, 1, own)) << 9 * board
        ordered = 0
        for place in range(self.boards):
            largest, where = -1, 0
            for board in range(place, self.boards):
                own = images >> 9 * board & 511
                if own > largest:
                    largest, where = own, board
            first = images >> 9 * place & 511
            images ^= (first ^ largest) << 9 * place
            if where != place:
                images ^= (first ^ largest) << 9 * where
            ordered |= largest << 9 * place
        return ordered

    def cells(self, state: int, mover: int) -> list[str]:
        """The boards side by side."""
        boards = [grid.board(3, 3, state >> 9 * board, "X") for board in range(self.boards)]
        return [" ".join([board[row] for board in boards]) for row in range(3)]

    def from_cells(self, rows: list[str], mover: int) -> int:
        state = 0
        for board in range(self.boards):
            state |= cells_of([row[4 * board : 4 * board + 3] for row in rows], "X") << 9 * board
        return state

    def layout(self) -> tuple[str, int]:
        return "X", 9 * self.boards

    def place(self, state: int, action: int) -> list[int]:
        board, cell = action // 9, action % 9
        return [(2 - cell // 3) * (4 * self.boards - 1) + 4 * board + cell % 3]

    def drawing(self) -> dict[str, Any]:
        columns = [f"{i // 4 + 1 if self.boards > 1 else ''}{'abc '[i % 4]}" for i in range(4 * self.boards - 1)]
        return {"men": {"X": ["cross", 2]}, "names": [f"{column}{row}" for row in (3, 2, 1) for column in columns]}
