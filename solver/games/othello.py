"""Othello: outflank discs in any of eight directions and turn them; pass only when there is no move.

Standard start, the diagonal of Black, who moves first, from lower left to upper right; where rows or columns are odd
the four discs are nearer to the bottom and the left by half a cell. The game ends when neither
can move; the value is the margin of discs, empty cells not awarded. A state is the mover's discs, then the other's:
players strictly alternate, as a pass is a move. `tier` is twice the discs, plus one when the other could not move:
a position in which the mover must pass has no such mark, the one after it has.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid
from solver.games.common.boards import cells_of

GROUP = "scoring"


class Othello(NamedTuple):
    """Outflank and turn discs; pass only without a move; the value is the margin of discs for the mover."""

    width: int = 4
    height: int = 4

    score_game = True
    drawing = {"board": "felt", "sides": ["black", "white"]}

    def check(self) -> None:
        grid.refuse(self.width, self.height, 100)
        if self.width < 2 or self.height < 2:
            raise ValueError("width and height must be at least 2, for four discs at the start")

    def bits(self) -> int:
        return max(63, 2 * self.width * self.height)

    def initial(self) -> int:
        low = (self.height // 2 - 1) * self.width + self.width // 2 - 1
        high = low + self.width
        return (1 << low | 1 << high + 1) | (1 << low + 1 | 1 << high) << self.width * self.height

    def actions(self, state: int) -> Iterator[int]:
        moves = self._moves(self._mine(state), self._theirs(state))
        if moves == 0:
            yield self.width * self.height  # pass
        while moves:
            yield (moves & -moves).bit_length() - 1
            moves &= moves - 1

    def result(self, state: int, action: int) -> int:
        cells = self.width * self.height
        mine, theirs = self._mine(state), self._theirs(state)
        if action < cells:
            turned = self._turned(mine, theirs, 1 << action)
            mine |= turned | 1 << action
            theirs &= ~turned
        return theirs | mine << cells

    def is_terminal(self, state: int) -> bool:
        mine, theirs = self._mine(state), self._theirs(state)
        return self._moves(mine, theirs) == 0 and self._moves(theirs, mine) == 0

    def utility(self, state: int) -> int:
        return self._mine(state).bit_count() - self._theirs(state).bit_count()

    def tier(self, state: int) -> int:
        stuck = self._moves(self._theirs(state), self._mine(state)) == 0
        return 2 * state.bit_count() + (1 if stuck else 0)

    def replies(self, state: int) -> int:
        moves = self._moves(self._mine(state), self._theirs(state))
        return moves if moves else 1 << self.width * self.height  # pass

    def promise(self, state: int, action: int) -> int:
        """Corners first, then moves that leave the other few replies."""
        child = self.result(state, action)
        replies = self._moves(self._mine(child), self._theirs(child)).bit_count()
        corner = action in (0, self.width - 1, self.width * (self.height - 1), self.width * self.height - 1)
        return (64 if corner else 0) - replies

    def evaluate(self, state: int) -> int:
        """The mover's moves less the other's, and three for each corner."""
        mine, theirs = self._mine(state), self._theirs(state)
        corners = self._corners()
        mobility = self._moves(mine, theirs).bit_count() - self._moves(theirs, mine).bit_count()
        return mobility + 3 * ((mine & corners).bit_count() - (theirs & corners).bit_count())

    def features(self, state: int) -> Iterator[int]:
        """Discs, moves, discs beside empty cells, who must pass, what is left, and the cells' balance.

        Cells count as their images by reflection, on a square board also in the diagonals.
        """
        mine, theirs = self._mine(state), self._theirs(state)
        moves, answers = self._moves(mine, theirs), self._moves(theirs, mine)
        empty = self._cells() & ~(mine | theirs)
        beside = empty | (empty & ~self._column(self.width - 1)) << 1 | (empty & ~self._column(0)) >> 1
        beside = (beside | beside << self.width | beside >> self.width) & self._cells()
        yield mine.bit_count()
        yield theirs.bit_count()
        yield empty.bit_count() % 2
        yield 0 if moves else 1
        yield 0 if answers else 1
        yield moves.bit_count()
        yield answers.bit_count()
        yield (moves & self._corners()).bit_count()
        yield (answers & self._corners()).bit_count()
        yield (mine & beside).bit_count()
        yield (theirs & beside).bit_count()
        for row in range((self.height + 1) // 2):
            for column in range((self.width + 1) // 2):
                if self.width != self.height or column >= row:
                    cells = self._images(row, column)
                    yield (mine & cells).bit_count() - (theirs & cells).bit_count()

    def canonical(self, state: int) -> int:
        """By the half turn and, on a square, reflection in the diagonals: an even board's start is its own image."""
        cells = self.width * self.height
        mine, theirs = self._mine(state), self._theirs(state)
        least = min(state, self._half_turn(mine) | self._half_turn(theirs) << cells)
        if self.width == self.height:
            mine, theirs = self._transposed(mine), self._transposed(theirs)
            least = min(least, mine | theirs << cells, self._half_turn(mine) | self._half_turn(theirs) << cells)
        return least

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.width, self.height, state, "oX" if mover else "Xo")

    def layout(self) -> tuple[str, int]:
        return "Xo", self.width * self.height + 1

    def from_cells(self, rows: list[str], mover: int) -> int:
        boards = [cells_of(rows, "X"), cells_of(rows, "o")]
        start = self.initial()
        if ~(boards[0] | boards[1]) & (start | start >> self.width * self.height) & self._cells():
            raise ValueError("the four cells in the middle are never empty")
        return boards[mover] | boards[1 - mover] << self.width * self.height

    def place(self, state: int, action: int) -> list[int]:
        """None for a pass."""
        return [grid.place(self.width, self.height, action)] if action < self.width * self.height else []

    def _mine(self, state: int) -> int:
        return state & self._cells()

    def _theirs(self, state: int) -> int:
        return state >> self.width * self.height & self._cells()

    def _cells(self) -> int:
        return (1 << self.width * self.height) - 1

    def _column(self, column: int) -> int:
        return self._cells() // ((1 << self.width) - 1) << column

    def _inner(self) -> int:
        """The cells from which a step across stays on the board."""
        return self._cells() & ~(self._column(0) | self._column(self.width - 1))

    def _corners(self) -> int:
        row = (1 << self.width - 1) | 1
        return row | row << self.width * (self.height - 1)

    def _images(self, row: int, column: int) -> int:
        """A cell with its images by the board's symmetries."""
        cells = self._four(row, column)
        return cells | self._four(column, row) if self.width == self.height else cells

    def _four(self, row: int, column: int) -> int:
        low, high, right = row * self.width, (self.height - 1 - row) * self.width, self.width - 1 - column
        return 1 << low + column | 1 << low + right | 1 << high + column | 1 << high + right

    def _moves(self, mine: int, theirs: int) -> int:
        """The cells where `mine` may move."""
        inner = theirs & self._inner()
        beyond = self._beyond(mine, theirs, self.width) | self._beyond(mine, inner, 1)
        beyond |= self._beyond(mine, inner, self.width - 1) | self._beyond(mine, inner, self.width + 1)
        return beyond & self._cells() & ~(mine | theirs)

    def _beyond(self, mine: int, theirs: int, step: int) -> int:
        """The cells behind the runs of `theirs` beside `mine`, either way."""
        return self._up(mine, theirs, step) << step | self._down(mine, theirs, step) >> step

    def _turned(self, mine: int, theirs: int, move: int) -> int:
        """The discs that a move turns."""
        inner = theirs & self._inner()
        turned = self._between(mine, theirs, move, self.width) | self._between(mine, inner, move, 1)
        turned |= self._between(mine, inner, move, self.width - 1) | self._between(mine, inner, move, self.width + 1)
        return turned

    def _between(self, mine: int, theirs: int, move: int, step: int) -> int:
        """The runs of `theirs` from beside a move to one of `mine`, either way."""
        up, down = self._up(move, theirs, step), self._down(move, theirs, step)
        return (up if up << step & mine else 0) | (down if down >> step & mine else 0)

    def _up(self, discs: int, theirs: int, step: int) -> int:
        """The runs of `theirs` that begin a step above `discs`: two more discs of them at a time."""
        run = discs << step & theirs
        run |= run << step & theirs
        pairs = theirs & theirs << step
        for _ in range((max(self.width, self.height) - 3) // 2):
            run |= run << 2 * step & pairs
        return run

    def _down(self, discs: int, theirs: int, step: int) -> int:
        """The runs of `theirs` that begin a step below `discs`."""
        run = discs >> step & theirs
        run |= run >> step & theirs
        pairs = theirs & theirs >> step
        for _ in range((max(self.width, self.height) - 3) // 2):
            run |= run >> 2 * step & pairs
        return run

    def _half_turn(self, discs: int) -> int:
        """Columns from the other end, then rows."""
        mirrored, turned = 0, 0
        for column in range(self.width):
            mirrored |= (discs >> column & self._column(0)) << self.width - 1 - column
        for row in range(self.height):
            turned |= (mirrored >> row * self.width & (1 << self.width) - 1) << (self.height - 1 - row) * self.width
        return turned

    def _transposed(self, discs: int) -> int:
        """On a square: each diagonal moved to its image, rows falling away as it leaves the middle."""
        step = self.width + 1
        diagonal = ((1 << step * self.width) - 1) // ((1 << step) - 1)
        transposed = discs & diagonal
        for far in range(1, self.width):
            right = diagonal << far & (1 << self.width * (self.width - far)) - 1
            along = far * (self.width - 1)
            transposed |= (discs & right) << along | discs >> along & right
        return transposed
