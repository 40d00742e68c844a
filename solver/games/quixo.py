"""Quixo on size x size cubes: take a rim cube that is blank or your own, push it in again as yours from another end.

The cube is pushed into the row or the column that it was taken from, at an end where it was not, and the others shift.
A line of one's own wins; a move that completes a line of the other's loses, whatever else it does. Cubes can be taken
again and again; repetition is a draw.

A state is seen by its mover: the mover's cubes, and `size * size` bits on the other's, row by row from the bottom left.
An action is the taken cube times 4 plus the side on which it is pushed in: 0 left, 1 right, 2 bottom, 3 top. The worked
move: taking the cube of cell 0 (bottom left) and pushing it in at the right shifts the bottom row left. The game has
cycles and no `tier`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid, limits
from solver.games.common.boards import cells_of

GROUP = "alignment"


class Quixo(NamedTuple):
    """Push a blank or own rim cube in at another end of its row or column; a line of your own wins.

    everything: solve from all boards, not only those that play from the empty one can reach.
    """

    size: int = 3
    everything: bool = False

    drawing = {"board": "cubes", "men": {"X": ["cross", 0], "o": ["ring", 1]}}

    def check(self) -> None:
        limits(self, size=(2, 5))
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
        """The cubes of the rim that are not the other's, pushed in on any side but that where they were."""
        cubes = self._rim() & ~(state >> self.size * self.size)
        while cubes:
            cube = cubes & -cubes
            for side in range(4):
                if not cube & self._side(side):
                    yield 4 * cube.bit_length() - 4 + side
            cubes ^= cube

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
        return min(self._least_of_four(state), self._least_of_four(self._transposed(state)))

    def format_action(self, state: int, action: int) -> str:
        return grid.name(self.size, action // 4) + "lrbt"[action % 4]

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.size, self.size, state, "oX" if mover else "Xo")

    def layout(self) -> tuple[str, int]:
        return "Xo", 4 * self.size * self.size

    def from_cells(self, rows: list[str], mover: int) -> int:
        boards = [cells_of(rows, "X"), cells_of(rows, "o")]
        return boards[mover] | boards[1 - mover] << self.size * self.size

    def place(self, state: int, action: int) -> list[int]:
        """The cube that is taken, and the end where it is pushed in."""
        size, last = self.size, self.size - 1
        row, column = divmod(action // 4, size)
        end = (row * size, row * size + last, column, last * size + column)[action % 4]
        return [grid.place(size, size, cell) for cell in (action // 4, end)]

    def _rim(self) -> int:
        return self._side(0) | self._side(1) | self._side(2) | self._side(3)

    def _side(self, side: int) -> int:
        """The cells of a side: left, right, bottom, top."""
        if side < 2:
            return self._column() << (self.size - 1) * side
        return self._row() << self.size * (self.size - 1) * (side - 2)

    def _pushed(self, board: int, cell: int, side: int, mark: int) -> int:
        """One player's cubes after the cell's was taken and `mark` pushed in."""
        size, column, row = self.size, cell % self.size, cell // self.size
        along, step = (self._row() << size * row, 1) if side < 2 else (self._column() << column, size)
        if side == 0 or side == 2:
            pushed = along & (2 << cell) - 1
            end = row * size if side == 0 else column
            return board & ~pushed | (board & pushed & ~(1 << cell)) << step | mark << end
        pushed = along & ~((1 << cell) - 1)
        end = row * size + size - 1 if side == 1 else size * (size - 1) + column
        return board & ~pushed | (board & pushed & ~(1 << cell)) >> step | mark << end

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

    def _least_of_four(self, state: int) -> int:
        mirrored = self._mirrored(state)
        return min(min(state, mirrored), min(self._flipped(state), self._flipped(mirrored)))

    def _mirrored(self, state: int) -> int:
        """Left and right exchanged, on both boards at once."""
        result = 0
        for i in range(self.size):
            result |= (state >> i & self._both(self._column())) << self.size - 1 - i
        return result

    def _flipped(self, state: int) -> int:
        """Top and bottom exchanged."""
        size, result = self.size, 0
        for i in range(size):
            result |= (state >> size * i & self._both(self._row())) << size * (size - 1 - i)
        return result

    def _transposed(self, state: int) -> int:
        """Rows and columns exchanged: diagonal by diagonal, from the one below the middle that is farthest."""
        size = self.size
        result = 0
        for i in range(1, size):
            step = (size - 1) * i
            below = self._both(self._diagonal(size - i)) << size * i
            result |= (state & below) >> step | (state & self._both(self._diagonal(size - i)) << i) << step
        return result | state & self._both(self._diagonal(size))

    def _row(self) -> int:
        return (1 << self.size) - 1

    def _column(self) -> int:
        return ((1 << self.size * self.size) - 1) // ((1 << self.size) - 1)

    def _diagonal(self, length: int) -> int:
        """So many cells up to the right from the first."""
        return ((1 << (self.size + 1) * length) - 1) // ((1 << self.size + 1) - 1)

    def _both(self, cells: int) -> int:
        return cells | cells << self.size * self.size
