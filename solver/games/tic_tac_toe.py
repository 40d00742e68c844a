"""Tic-tac-toe and every other m,n,k game: width x height, `line` own marks in an unbroken line win.

Players mark an empty cell in turn, the first with X, the second with O. Lines run along rows, columns and diagonals; in
misere who completes one loses. A full board without a line is a draw.

A state holds two boards, the mover's in the low bits, of height rows of width + 1 bits: the extra column, always
empty, keeps lines from running over an edge. Whose turn it is follows from the number of marks.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from solver.games.common import grid, limits
from solver.games.common.boards import cells_of, check_turns

GROUP = "alignment"


class TicTacToe(NamedTuple):
    """Mark empty cells in turn; `line` in a row, column or diagonal wins (misere: loses); a full board is a draw."""

    width: int = 3
    height: int = 3
    line: int = 3
    misere: bool = False

    drawing = {"board": "grid", "men": {"X": ["cross", 0], "o": ["ring", 1]}}

    def check(self) -> None:
        limits(self, width=(1, 26), height=(1, 125), line=(2, 31))
        if (self.width + 1) * self.height > 250:
            raise ValueError("(width + 1) * height must be at most 250")

    def bits(self) -> int:
        return max(63, 2 * self._bits())

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> Iterator[int]:
        free = ~(state | state >> self._bits())
        for row in range(self.height):
            for column in range(self.width):
                cell = row * (self.width + 1) + column
                if free >> cell & 1:
                    yield cell

    def result(self, state: int, action: int) -> int:
        mine = state & (1 << self._bits()) - 1
        return state >> self._bits() | (mine | 1 << action) << self._bits()

    def is_terminal(self, state: int) -> bool:
        return self._has_line(state >> self._bits()) or self.tier(state) == self.width * self.height

    def utility(self, state: int) -> int:
        if not self._has_line(state >> self._bits()):
            return 0
        return 1 if self.misere else -1

    def tier(self, state: int) -> int:
        return state.bit_count()

    def canonical(self, state: int) -> int:
        least = min(self._least_flip(state), state)
        if self.width == self.height:
            least = min(least, self._least_flip(self._transposed(state)))
        return least

    def longest(self, state: int) -> int:
        return self.width * self.height - self.tier(state)

    def digits(self) -> Iterator[int]:
        """Cell by cell: empty, the mover's, the other's."""
        for row in range(self.height):
            for column in range(self.width):
                yield (1 | 1 << self._bits()) << row * (self.width + 1) + column

    def scan(self, place: int, memo: int, digit: int) -> int:
        """The mover's marks, and in higher bits the other's, who has as many or one more."""
        memo += (0, 1, 256, 0)[digit]
        left = self.width * self.height - 1 - place
        more = (memo >> 8) - (memo & 255)
        return -1 if digit == 3 or not -left <= more <= left + 1 else memo

    def evaluate(self, state: int) -> float:
        """Lines still open to the mover less those open to the other, as a part of all lines."""
        mine = state & (1 << self._bits()) - 1
        theirs = state >> self._bits()
        cells = self._cells()
        lines = self._count_lines(cells)
        balance = (self._count_lines(cells & ~theirs) - self._count_lines(cells & ~mine)) / (lines + 1)
        return -balance if self.misere else balance

    def features(self, state: int) -> Iterator[int]:
        """Whose turn it is, cells that complete a line, open lines by the marks they want, and the cells' balance.

        Cells count as their images by reflection, on a square board also in the diagonals.
        """
        mine = state & (1 << self._bits()) - 1
        theirs = state >> self._bits()
        wins, losses = self._completing(mine, theirs), self._completing(theirs, mine)
        yield 1 - self.tier(state) % 2
        yield self.tier(state)
        yield min(wins.bit_count(), 1)
        yield wins.bit_count()
        yield min(losses.bit_count(), 1)
        yield losses.bit_count()
        for missing in range(1, 4):
            yield self._open_lines(mine, theirs, missing)
            yield self._open_lines(theirs, mine, missing)
        for row in range((self.height + 1) // 2):
            for column in range((self.width + 1) // 2):
                if self.width != self.height or column >= row:
                    cells = self._images(row, column)
                    yield (mine & cells).bit_count() - (theirs & cells).bit_count()

    def parse_action(self, state: int, text: str) -> int:
        """Cells are numbered, too, from the top left in reading order: 5 is the centre of 3x3."""
        row, column = divmod(int(text) - 1, self.width)
        return (self.height - 1 - row) * (self.width + 1) + column

    def cells(self, state: int, mover: int) -> list[str]:
        marks = "Xo" if self.tier(state) % 2 == 0 else "oX"
        return [row[:-1] for row in grid.board(self.width + 1, self.height, state, marks)]

    def layout(self) -> tuple[str, Iterable[int]]:
        """Marks, and the cells, without the extra column."""
        rows = range(0, self.height * (self.width + 1), self.width + 1)
        return "Xo", (first + column for first in rows for column in range(self.width))

    def from_cells(self, rows: list[str], mover: int) -> int:
        wide = [row + "." for row in rows]
        boards = [cells_of(wide, "X"), cells_of(wide, "o")]
        check_turns(boards[0].bit_count(), boards[1].bit_count(), mover, self._has_line(boards[mover]))
        return boards[mover] | boards[1 - mover] << self._bits()

    def place(self, state: int, action: int) -> Iterator[int]:
        row, column = divmod(action, self.width + 1)
        yield (self.height - 1 - row) * self.width + column

    def _bits(self) -> int:
        """Bits of one player's board."""
        return (self.width + 1) * self.height

    def _cells(self) -> int:
        """All cells of one board."""
        row = (1 << self.width) - 1
        return ((1 << self._bits()) - 1) // ((1 << self.width + 1) - 1) * row

    def _starts(self, stones: int, step: int) -> int:
        """The cells from which stones run in a line of full length."""
        if (self.line - 1) * step >= self._bits():  # no room, and 64 bits are not a shift
            return 0
        length = 1
        while length < self.line:
            more = min(length, self.line - length)
            stones &= stones >> more * step
            length += more
        return stones

    def _has_line(self, stones: int) -> bool:
        for step in (1, self.width, self.width + 1, self.width + 2):
            if self._starts(stones, step):
                return True
        return False

    def _count_lines(self, stones: int) -> int:
        lines = 0
        for step in (1, self.width, self.width + 1, self.width + 2):
            lines += self._starts(stones, step).bit_count()
        return lines

    def _images(self, row: int, column: int) -> int:
        """A cell with its images by the board's symmetries."""
        cells = self._four(row, column)
        return cells | self._four(column, row) if self.width == self.height else cells

    def _four(self, row: int, column: int) -> int:
        high, right = (self.height - 1 - row) * (self.width + 1), self.width - 1 - column
        low = row * (self.width + 1)
        return 1 << low + column | 1 << low + right | 1 << high + column | 1 << high + right

    def _missing(self, marks: int, others: int, step: int, missing: int) -> int:
        """Where lines begin of marks and exactly so many empty cells, one to three."""
        if (self.line - 1) * step >= self._bits():
            return 0
        free = self._cells() & ~others
        lines = free
        one = two = three = four = 0  # lines with at least so many empty cells
        for place in range(self.line):
            lines &= free >> place * step
            empty = (free & ~marks) >> place * step
            four |= three & empty
            three |= two & empty
            two |= one & empty
            one |= empty
        if missing == 1:
            return lines & one & ~two
        return lines & (two & ~three if missing == 2 else three & ~four)

    def _open_lines(self, marks: int, others: int, missing: int) -> int:
        lines = 0
        for step in (1, self.width, self.width + 1, self.width + 2):
            lines += self._missing(marks, others, step, missing).bit_count()
        return lines

    def _completing(self, marks: int, others: int) -> int:
        """The empty cells that complete a line of these marks."""
        cells = 0
        for step in (1, self.width, self.width + 1, self.width + 2):
            lines = self._missing(marks, others, step, 1)
            for place in range(self.line if lines else 0):
                cells |= lines << place * step
        return cells & self._cells() & ~(marks | others)

    def _least_flip(self, state: int) -> int:
        """The least of a state's images by the two reflections and the half turn, and itself."""
        flipped = self._upside_down(state)
        least = min(min(state, flipped), min(self._mirrored(state), self._mirrored(flipped)))
        return least

    def _upside_down(self, state: int) -> int:
        row = (1 << self.width + 1) - 1
        rows = row | row << self._bits()
        flipped = 0
        for i in range(self.height):
            below = i * (self.width + 1)
            flipped |= (state >> below & rows) << self._bits() - (self.width + 1) - below
        return flipped

    def _mirrored(self, state: int) -> int:
        column = ((1 << 2 * self._bits()) - 1) // ((1 << self.width + 1) - 1)
        mirrored = 0
        for i in range(self.width):
            mirrored |= (state >> i & column) << self.width - 1 - i
        return mirrored

    def _transposed(self, state: int) -> int:
        transposed = 0
        for i in range(self.height):
            for j in range(self.width):
                both = state >> i * (self.width + 1) + j & (1 | 1 << self._bits())
                transposed |= both << j * (self.width + 1) + i
        return transposed
