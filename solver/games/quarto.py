"""Quarto on 3 x 3 (after Blaise Mueller, 1991): place the piece that the other has chosen; three alike in a line win.

There are eight pieces, each small or large, round or square, white or black, and no two alike. The first player begins
by giving one to the other. From then on a turn puts the piece that one was given on a free cell, and gives one of those
that are left. Who completes a row, a column or a diagonal of three pieces that are alike in size, in shape or in colour
wins; when all eight are placed without such a line it is a draw. The game on sale has 16 pieces of four properties and
4 x 4 cells.

A state has four bits for each cell, row by row from the bottom left, 0 for an empty one, else 1 plus the piece, whose
bits are its three properties; and above them four bits for the piece in hand, 0 if there is none. An action is nine
times the cell plus the piece that is given, 1 to 8, or 0 where the game is over; the first one is 81 plus the piece.
`canonical` takes all images of the board, properties exchanged for each other, and the piece in hand as the first.
"""

from collections.abc import Iterator
from typing import NamedTuple

GROUP = "alignment"
PIECES = "\u25e6\u25cb\u25ab\u25a1\u2022\u25cf\u25aa\u25a0"  # bit 0: large, 1: square, 2: black
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
ORDERS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
COLUMN = 0xF00F00F  # the first one


class Quarto(NamedTuple):
    """Place the piece that the other chose, choose the next; three alike in a property in a line win."""

    layout = "".join(sorted(PIECES)), 90
    drawing = {"names": [*(name + row for row in "321" for name in "abc"), "", "", "", "", "in hand", ""]}

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> Iterator[int]:
        hand = state >> 36
        if not hand:
            for piece in range(1, 9):
                yield 81 + piece
            return
        rest = self._rest(state)
        for cell in range(9):
            if not state >> 4 * cell & 15:
                ends = rest == 0 or self._has_line(state & (1 << 36) - 1 | hand << 4 * cell)
                if ends:
                    yield 9 * cell
                else:
                    for piece in range(1, 9):
                        if rest >> piece & 1:
                            yield 9 * cell + piece

    def result(self, state: int, action: int) -> int:
        if action >= 81:
            return action - 81 << 36
        return state & (1 << 36) - 1 | state >> 36 << 4 * (action // 9) | action % 9 << 36

    def is_terminal(self, state: int) -> bool:
        return self._has_line(state) or (state > 0 and state >> 36 == 0)

    def utility(self, state: int) -> int:
        return -1 if self._has_line(state) else 0

    def tier(self, state: int) -> int:
        placed = 0
        for cell in range(9):
            placed += state >> 4 * cell & 15 != 0
        return 2 * placed + (state >> 36 != 0)

    def longest(self, state: int) -> int:
        return 8 - self.tier(state) // 2 + (state == 0)

    def canonical(self, state: int) -> int:
        hand = state >> 36
        least = -1
        for first in range(8):
            if hand == 0 or hand == first + 1:
                for order in range(6):
                    board = self._renamed(state, first, order)
                    for _ in range(4):
                        board = self._turned(board)
                        found = min(board, self._mirrored(board))
                        least = found if least < 0 else min(least, found)
        return least | (1 << 36 if hand else 0)

    def format_action(self, state: int, action: int) -> str:
        """The cell and the number of the piece that is given."""
        if action >= 81:
            return str(action - 81)
        cell = "abc"[action // 9 % 3] + str(action // 27 + 1)
        return f"{cell}/{action % 9}" if action % 9 else cell

    def cells(self, state: int, mover: int) -> list[str]:
        """The board, and under it the piece that is to be placed."""
        marks = "." + PIECES
        rows = ["".join([marks[state >> 4 * (3 * row + i) & 15] for i in range(3)]) for row in (2, 1, 0)]
        return [*rows, "   ", " " + marks[state >> 36] + " "]

    def from_cells(self, rows: list[str], mover: int) -> int:
        marks = "." + PIECES
        pieces = [marks.index(rows[2 - cell // 3][cell % 3]) for cell in range(9)] + [marks.index(rows[4][1])]
        state = sum(piece << 4 * place for place, piece in enumerate(pieces))
        placed = "".join(rows)
        for mark in PIECES:
            if placed.count(mark) > 1:
                raise ValueError(f"there is one piece {mark}, not two")
        return state

    def place(self, state: int, action: int) -> list[int]:
        """None: the same cell may go with several pieces, so that a move is chosen by its name."""
        return []

    def _rest(self, state: int) -> int:
        """The pieces that are neither placed nor in hand, a bit for each from 1 on."""
        rest = 0b111111110 & ~(1 << (state >> 36))
        for cell in range(9):
            rest &= ~(1 << (state >> 4 * cell & 15))
        return rest

    def _has_line(self, state: int) -> bool:
        for line in range(8):
            first, second, third = LINES[line]
            one, two, three = state >> 4 * first & 15, state >> 4 * second & 15, state >> 4 * third & 15
            if one and two and three and (~(one - 1 ^ two - 1) & ~(one - 1 ^ three - 1)) & 7:
                return True
        return False

    def _renamed(self, state: int, first: int, order: int) -> int:
        """The board with its pieces named anew: `first` becomes 0, and the properties change places."""
        high, middle, low = ORDERS[order]
        board = 0
        for cell in range(9):
            piece = state >> 4 * cell & 15
            if piece:
                old = piece - 1 ^ first
                new = (old >> low & 1) | (old >> middle & 1) << 1 | (old >> high & 1) << 2
                board |= new + 1 << 4 * cell
        return board

    def _mirrored(self, board: int) -> int:
        """Left and right exchanged."""
        return (board & COLUMN) << 8 | board >> 8 & COLUMN | board & COLUMN << 4

    def _turned(self, board: int) -> int:
        """A quarter turn."""
        turned = 0
        for cell in range(9):
            turned |= (board >> 4 * cell & 15) << 4 * (cell % 3 * 3 + 2 - cell // 3)
        return turned
