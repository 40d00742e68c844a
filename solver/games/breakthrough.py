"""Breakthrough (Dan Troyka 2000): pawns step straight or diagonally forward and capture diagonally.

Both sides begin with their first rows full of pawns. A pawn steps one square, straight or diagonally ahead, onto an
empty square; it takes the other's only diagonally, and need not. Who first has a pawn on the last row wins, and so does
who leaves the other without a move.

A state is that of `pawns`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid, pawns

GROUP = "race"


class Breakthrough(NamedTuple):
    """Pawns, `rows` deep on either side, step forward or diagonally, capture diagonally; reach the last row to win.

    everything: solve from all boards with the first player to move, not only those that play can reach.
    """

    width: int = 4
    height: int = 4
    rows: int = 1
    everything: bool = False

    drawing = {"board": "checks", "sides": ["white", "black"], "men": {"W": ["pawn", 0], "b": ["pawn", 1]}}

    def check(self) -> None:
        grid.refuse(self.width, self.height, 100)
        if self.rows < 1 or self.height < 2 * self.rows:
            raise ValueError("rows must be at least 1, height at least twice the rows")
        if self.everything and self.width * self.height > 20:
            raise ValueError("everything is for boards of at most 20 cells: larger ones have too many boards to list")

    def bits(self) -> int:
        return max(63, 2 * self.width * self.height + 1)

    def initial(self) -> int:
        return pawns.initial(self.width, self.height, self.rows)

    def starts(self) -> Iterator[int]:
        cells, most = self.width * self.height, self.width * self.rows
        before = (1 << cells - self.width) - 1  # the cells from which the first player's pawns go on
        for first in range(1, before + 1 if self.everything else 1):
            room = before << self.width & ~first
            second = room if first.bit_count() <= most else -1
            while second >= 0:
                if second.bit_count() <= most:
                    yield first | second << cells
                second = second - 1 & room if second else -1

    def actions(self, state: int) -> Iterator[int]:
        own = pawns.mine(self.width, self.height, state)
        for cell in range(self.width * self.height):
            if own >> cell & 1:
                for side in range(-1, 2):
                    arrived = pawns.stepped(self.width, self.height, state, 1 << cell, side)
                    if arrived & pawns.targets(self.width, self.height, state, side, True):
                        yield cell * 3 + side + 1

    def result(self, state: int, action: int) -> int:
        return pawns.moved(self.width, self.height, state, action)

    def is_terminal(self, state: int) -> bool:
        return pawns.is_over(self.width, self.height, state, True)

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        start = pawns.advanced(self.width, self.height, self.initial())
        return pawns.advanced(self.width, self.height, state) - start

    def canonical(self, state: int) -> int:
        faced = pawns.faced(self.width, self.height, state)
        return min(faced, pawns.mirrored(self.width, self.height, faced))

    def digits(self) -> Iterator[int]:
        """Whose turn it is, then cell by cell: empty, the first player's, the second's."""
        cells = self.width * self.height
        yield 1 << 2 * cells
        for cell in range(cells):
            yield (1 | 1 << cells) << cell

    def scan(self, place: int, memo: int, digit: int) -> int:
        """How many pawns either side has; one that has arrived has ended the game."""
        if place == 0:
            return 0
        arrived = digit == 2 and place <= self.width or digit == 1 and place > self.width * (self.height - 1)
        memo += (0, 1, 64, 0)[digit]
        most = self.width * self.rows
        if arrived or digit == 3 or memo % 64 > most or memo // 64 > most:
            return -1
        return memo

    def promise(self, state: int, action: int) -> int:
        return -pawns.balance(self.width, self.height, self.result(state, action))

    def evaluate(self, state: int) -> float:
        """Pawns and their advance, as a part of the most there can be."""
        most = 2 * self.height * self.width * self.rows + 1
        return pawns.balance(self.width, self.height, state) / most

    def features(self, state: int) -> Iterator[int]:
        """Moves, captures, pawns in danger and pawns by cell, from the mover's side; columns as their mirror images."""
        for mover in range(2):
            yield from pawns.chances(self.width, self.height, state, mover, True)
        own, others = pawns.mine(self.width, self.height, state), pawns.theirs(self.width, self.height, state)
        upwards = state >> 2 * self.width * self.height == 0
        for row in range(self.height):
            for column in range((self.width + 1) // 2):
                yield pawns.count(self.width, self.height, own, row, column, upwards)
                yield pawns.count(self.width, self.height, others, row, column, not upwards)

    def format_end(self, state: int) -> str:
        second = state >> 2 * self.width * self.height == 1
        row = pawns.theirs(self.width, self.height, state) >> (self.width * (self.height - 1) if second else 0)
        return "a pawn has reached the last row" if row & (1 << self.width) - 1 else "no move is left"

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.width, self.height, state, "Wb")

    def layout(self) -> tuple[str, int]:
        return "Wb", 3 * self.width * self.height

    def from_cells(self, rows: list[str], mover: int) -> int:
        return pawns.from_cells(rows, mover, self.width * self.rows)

    def place(self, state: int, action: int) -> list[int]:
        arrived = pawns.stepped(self.width, self.height, state, 1 << action // 3, action % 3 - 1)
        return [grid.place(self.width, self.height, cell) for cell in (action // 3, arrived.bit_length() - 1)]
