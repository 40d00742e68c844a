"""Quixo on size x size cubes: take a rim cube that is blank or your own, push it in again as yours from another end.

The cube is pushed into the row or the column that it was taken from, at an end where it was not, and the others shift.
A line of one's own wins; a move that completes a line of the other's loses, whatever else it does. Cubes can be taken
again and again; repetition is a draw.

A state is seen by its mover: the mover's cubes, and `size * size` bits on the other's, row by row from the bottom left.
An action is the taken cube times 4 plus the side on which it is pushed in: 0 left, 1 right, 2 bottom, 3 top. The worked
move: taking the cube of cell 0 (bottom left) and pushing it in at the right shifts the bottom row left. The game has
cycles and no `tier`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common.boards import cells_of

GROUP = "alignment"


class Quixo(NamedTuple):
    """Push a blank or own rim cube in at another end of its row or column; a line of your own wins.

    everything: solve from all boards, not only those that play from the empty one can reach.
    """

    size: int = 3
    everything: bool = False

    def check(self) -> None:
        if not 2 <= self.size <= 5:
            raise ValueError("size must be 2 to 5")
        if self.everything and self.size == 5:
            raise ValueError("everything is for sizes 2 to 4: 847,288,609,443 boards are too many to list")

    def initial(self) -> int:
        return 0

    def starts(self) -> Iterator[int]:
        cells = self.size * self.size
        yield 0
        if self.everything:
            for number in range(1, 3**cells):
                state = 0
                for cell in range(cells):
                    mark = number // 3**cell % 3
                    state |= (mark & 1) << cell | (mark >> 1) << cells + cell
                yield state

    def actions(self, state: int) -> Iterator[int]:
        size = self.size
        for cell in range(size * size):
            column, row = cell % size, cell // size
            rim = column == 0 or column == size - 1 or row == 0 or row == size - 1
            if rim and not state >> size * size + cell & 1:
                for side in range(4):
                    if self._enters(column, row, side):
                        yield cell * 4 + side

    def result(self, state: int, action: int) -> int:
        cells = self.size * self.size
        mine = self._pushed(state & (1 << cells) - 1, action // 4, action % 4, 1)
        theirs = self._pushed(state >> cells, action // 4, action % 4, 0)
        return theirs | mine << cells

    def is_terminal(self, state: int) -> bool:
        cells = self.size * self.size
        return self._has_line(state & (1 << cells) - 1) or self._has_line(state >> cells)

    def utility(self, state: int) -> int:
        return 1 if self._has_line(state & (1 << self.size * self.size) - 1) else -1

    def digits(self) -> Iterator[int]:
        """Cell by cell: blank, the mover's, the other's."""
        cells = self.size * self.size
        for cell in range(cells):
            yield (1 | 1 << cells) << cell

    def scan(self, place: int, memo: int, digit: int) -> int:
        return -1 if digit == 3 else 0

    def canonical(self, state: int) -> int:
        """The least of the board's eight images."""
        least = min(state, self._mirrored(state))
        for _ in range(3):
            state = self._turned(state)
            least = min(least, min(state, self._mirrored(state)))
        return least

    def format_action(self, state: int, action: int) -> str:
        cell = action // 4
        return "abcde"[cell % self.size] + str(cell // self.size + 1) + "lrbt"[action % 4]

    def show(self, state: int) -> str:
        return self._board(state, "mo", "m: the side to move")

    def view(self, state: int, mover: int) -> str:
        return self._board(state, "ox" if mover else "xo", "xo"[mover] + " to move")

    def _board(self, state: int, marks: str, legend: str) -> str:
        """The board, with the mover's mark and the other's."""
        size, cells = self.size, self.size * self.size
        cubes = [marks[0] if state >> i & 1 else marks[1] if state >> cells + i & 1 else "." for i in range(cells)]
        rows = [f"{row + 1:2} " + " ".join(cubes[row * size :][:size]) for row in reversed(range(size))]
        return "\n".join([*rows, "   " + " ".join("abcde"[:size]) + "   " + legend])

    def cells(self, state: int, mover: int) -> list[str]:
        size, cells = self.size, self.size * self.size
        mine, theirs = ("o", "X") if mover else ("X", "o")
        cubes = [mine if state >> i & 1 else theirs if state >> cells + i & 1 else "." for i in range(cells)]
        return ["".join(cubes[row * size : row * size + size]) for row in reversed(range(size))]

    def from_cells(self, rows: list[str], mover: int) -> int:
        boards = [cells_of(rows, "X"), cells_of(rows, "o")]
        return boards[mover] | boards[1 - mover] << self.size * self.size

    def place(self, state: int, action: int) -> Iterator[int]:
        """The cube that is taken, and the end where it is pushed in."""
        size, side = self.size, action % 4
        row, column = divmod(action // 4, size)
        yield (size - 1 - row) * size + column
        if side == 0 or side == 1:
            yield (size - 1 - row) * size + (size - 1 if side == 1 else 0)
        else:
            yield (size - 1) * size + column if side == 2 else column

    def drawing(self) -> dict[str, Any]:
        return {"board": "cubes", "men": {"X": ["cross", 0], "o": ["ring", 1]}}

    def _enters(self, column: int, row: int, side: int) -> bool:
        """Whether a cube taken from there may be pushed in on that side: not where it was."""
        last = self.size - 1
        if side == 0:
            return column != 0 and (column == last or row == 0 or row == last)
        if side == 1:
            return column != last and (column == 0 or row == 0 or row == last)
        if side == 2:
            return row != 0 and (row == last or column == 0 or column == last)
        return row != last and (row == 0 or column == 0 or column == last)

    def _pushed(self, board: int, cell: int, side: int, mark: int) -> int:
        """One player's cubes after the cell's was taken and `mark` pushed in."""
        size = self.size
        step = 1 if side < 2 else size
        place = cell
        if side == 0 or side == 2:
            end = cell - cell % size if side == 0 else cell % size
            while place != end:
                board = self._copied(board, place - step, place)
                place -= step
        else:
            end = cell - cell % size + size - 1 if side == 1 else size * (size - 1) + cell % size
            while place != end:
                board = self._copied(board, place + step, place)
                place += step
        return board & ~(1 << place) | mark << place

    def _copied(self, board: int, source: int, target: int) -> int:
        return board & ~(1 << target) | (board >> source & 1) << target

    def _has_line(self, board: int) -> bool:
        size = self.size
        diagonal = counter = 0
        for i in range(size):
            row = (1 << size) - 1 << i * size
            column = ((1 << size * size) - 1) // ((1 << size) - 1) << i
            if board & row == row or board & column == column:
                return True
            diagonal |= 1 << i * (size + 1)
            counter |= 1 << (i + 1) * (size - 1)
        return board & diagonal == diagonal or board & counter == counter

    def _mirrored(self, state: int) -> int:
        """Left and right exchanged, on both boards at once."""
        size = self.size
        column = ((1 << 2 * size * size) - 1) // ((1 << size) - 1)
        result = 0
        for i in range(size):
            result |= (state >> i & column) << size - 1 - i
        return result

    def _turned(self, state: int) -> int:
        size = self.size
        both = 1 | 1 << size * size
        result = 0
        for cell in range(size * size):
            result |= (state >> cell & both) << cell % size * size + size - 1 - cell // size
        return result
