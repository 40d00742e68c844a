"""Othello: outflank discs in any of eight directions and turn them; pass only when there is no move.

Standard start, the diagonal of Black, who moves first, from lower left to upper right. The game ends when neither
can move; the value is the margin of discs, empty cells not awarded. A state is the mover's discs, then the other's:
players strictly alternate, as a pass is a move. `tier` is twice the discs, plus one when the other could not move:
a position in which the mover must pass has no such mark, the one after it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class Othello(NamedTuple):
    """Outflank and turn discs; pass only without a move; the value is the margin of discs for the mover."""

    width: int = 4
    height: int = 4

    score_game = True  # type: ignore[misc]

    def check(self) -> None:
        if self.width < 2 or self.height < 2 or self.width % 2 or self.height % 2:
            raise ValueError("width and height must be even, for four discs in the middle at the start, and at least 2")
        if self.width * self.height > 100 or self.width > 26:
            raise ValueError("width * height must be at most 100, width at most 26 to have letters")

    def bits(self) -> int:
        return max(63, 2 * self.width * self.height)

    def initial(self) -> int:
        low = (self.height // 2 - 1) * self.width + self.width // 2 - 1
        high = low + self.width
        return (1 << low | 1 << high + 1) | (1 << low + 1 | 1 << high) << self.width * self.height

    def actions(self, state: int) -> Iterator[int]:
        moves = self._moves(self._mine(state), self._theirs(state))
        for cell in range(self.width * self.height):
            if moves >> cell & 1:
                yield cell
        if moves == 0:
            yield self.width * self.height  # pass

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
        empty = (1 << self.width * self.height) - 1 & ~(mine | theirs)
        beside = 0
        for direction in range(9):
            beside |= self._shifted(empty, direction)
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
        for row in range(self.height // 2):
            for column in range(self.width // 2):
                if self.width != self.height or column >= row:
                    cells = self._images(row, column)
                    yield (mine & cells).bit_count() - (theirs & cells).bit_count()

    def canonical(self, state: int) -> int:
        """The start is kept by the half turn and, on a square, by reflection in the diagonals."""
        least = min(state, self._half_turn(state))
        if self.width == self.height:
            transposed = self._transposed(state)
            least = min(least, min(transposed, self._half_turn(transposed)))
        return least

    def format_action(self, state: int, action: int) -> str:
        if action == self.width * self.height:
            return "pass"
        return "abcdefghijklmnopqrstuvwxyz"[action % self.width] + str(action // self.width + 1)

    def show(self, state: int) -> str:
        return self._board(state, "*o", "* to move")

    def view(self, state: int, mover: int) -> str:
        return self._board(state, "ox" if mover else "xo", "xo"[mover] + " to move")

    def _board(self, state: int, marks: str, legend: str) -> str:
        """The board, with the mover's mark and the other's."""
        rows = [f"{self.height - i:2} " + " ".join(row) for i, row in enumerate(self._discs(state, marks))]
        return "\n".join([*rows, "   " + " ".join("abcdefghijklmnopqrstuvwxyz"[: self.width]), legend])

    def cells(self, state: int, mover: int) -> Iterator[str]:
        return self._discs(state, "oX" if mover else "Xo")

    def place(self, state: int, action: int) -> Iterator[int]:
        row, column = divmod(action, self.width)
        if row < self.height:  # no pass
            yield (self.height - 1 - row) * self.width + column

    def drawing(self) -> dict[str, Any]:
        return {"board": "felt", "sides": ["black", "white"]}

    def _discs(self, state: int, marks: str) -> Iterator[str]:
        """The rows from the top, with the mover's mark and the other's."""
        cells = self.width * self.height
        for row in reversed(range(self.height)):
            places = range(row * self.width, row * self.width + self.width)
            yield "".join(marks[0] if state >> i & 1 else marks[1] if state >> cells + i & 1 else "." for i in places)

    def _mine(self, state: int) -> int:
        return state & (1 << self.width * self.height) - 1

    def _theirs(self, state: int) -> int:
        return state >> self.width * self.height

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

    def _shifted(self, discs: int, direction: int) -> int:
        """All discs one step on in one of eight directions; what leaves the board is gone."""
        cells = self.width * self.height
        column = ((1 << cells) - 1) // ((1 << self.width) - 1)
        across, up = direction % 3 - 1, direction // 3 - 1
        if across < 0:
            discs = (discs & ~column) >> 1
        elif across > 0:
            discs = (discs & ~(column << self.width - 1)) << 1
        if up < 0:
            return discs >> self.width
        return discs << self.width & (1 << cells) - 1 if up > 0 else discs

    def _moves(self, mine: int, theirs: int) -> int:
        """The cells where `mine` may move."""
        empty = (1 << self.width * self.height) - 1 & ~(mine | theirs)
        moves = 0
        for direction in range(9):
            if direction != 4:
                run = self._shifted(mine, direction) & theirs
                for _ in range(max(self.width, self.height) - 3):
                    run |= self._shifted(run, direction) & theirs
                moves |= self._shifted(run, direction) & empty
        return moves

    def _turned(self, mine: int, theirs: int, move: int) -> int:
        """The discs that a move turns."""
        turned = 0
        for direction in range(9):
            if direction != 4:
                run = 0
                step = self._shifted(move, direction)
                while step & theirs:
                    run |= step
                    step = self._shifted(step, direction)
                if step & mine:
                    turned |= run
        return turned

    def _half_turn(self, state: int) -> int:
        cells = self.width * self.height
        turned = 0
        for cell in range(cells):
            turned |= (state >> cell & (1 | 1 << cells)) << cells - 1 - cell
        return turned

    def _transposed(self, state: int) -> int:
        cells = self.width * self.height
        transposed = 0
        for row in range(self.height):
            for column in range(self.width):
                both = state >> row * self.width + column & (1 | 1 << cells)
                transposed |= both << column * self.width + row
        return transposed
