"""Konane, of Hawaii: jump over stones of the other's and take them, along rows and columns; who cannot jump loses.

The board begins full, stones of both colours as on the squares of a chess board. The first player takes away one of the
own stones, in a corner or one of those in the middle; the second takes one beside the gap. From then on a move jumps
with one stone over one of the other's beside it to the free cell behind, taking it, and may go on in the same direction
as long as that is possible. Nothing but jumps is a move.

A state is the first player's stones, row by row from the bottom left, the second's above them, and a bit for the second
player to move. An action is the cell times 64, plus 16 times the direction (0 left, 1 right, 2 down, 3 up), plus the
number of jumps, which is 0 where a stone is taken away at the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import grid

GROUP = "blocking"


class Konane(NamedTuple):
    """Take away a stone each, then jump over the other's stones and take them; who cannot jump loses."""

    width: int = 4
    height: int = 4

    def check(self) -> None:
        grid.refuse(self.width, self.height, 2)
        if self.width * self.height < 2 or self.width * self.height > 30:
            raise ValueError("width * height must be from 2 to 30 to fit a state")

    def initial(self) -> int:
        state = 0
        for cell in range(self.width * self.height):
            second = (cell % self.width + cell // self.width) % 2
            state |= 1 << cell + second * self.width * self.height
        return state

    def actions(self, state: int) -> Iterator[int]:
        gone = self.tier(state)
        opening = self._opening(state) if gone < 2 else 0
        for cell in range(self.width * self.height):
            if opening >> cell & 1:
                yield cell * 64
            if gone >= 2 and self._mine(state) >> cell & 1:
                for side in range(4):
                    for jumps in range(1, self._jumps(state, cell, side) + 1):
                        yield cell * 64 + side * 16 + jumps

    def result(self, state: int, action: int) -> int:
        cells = self.width * self.height
        turn = state >> 2 * cells
        cell, side, jumps = action // 64, action // 16 % 4, action % 16
        step = self._step(side)
        state ^= 1 << turn * cells + cell ^ 1 << 2 * cells
        if jumps:
            state |= 1 << turn * cells + cell + 2 * jumps * step
        for jump in range(jumps):
            state &= ~(1 << (1 - turn) * cells + cell + (2 * jump + 1) * step)
        return state

    def is_terminal(self, state: int) -> bool:
        gone = self.tier(state)
        if gone < 2:
            return self._opening(state) == 0
        for cell in range(self.width * self.height):
            if self._mine(state) >> cell & 1:
                for side in range(4):
                    if self._jumps(state, cell, side):
                        return False
        return True

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        """The stones that are gone."""
        cells = self.width * self.height
        return cells - (state & (1 << 2 * cells) - 1).bit_count()

    def canonical(self, state: int) -> int:
        both = 2 * self.width * self.height
        return grid.least(self.width, self.height, 2, state & (1 << both) - 1) | state >> both << both

    def format_action(self, state: int, action: int) -> str:
        name = grid.name(self.width, action // 64)
        if action % 16 == 0:
            return name
        return name + grid.name(self.width, action // 64 + 2 * (action % 16) * self._step(action // 16 % 4))

    def show(self, state: int) -> str:
        rows = [row.lower() for row in self.cells(state, 0)]
        return grid.board(rows, "   " + "xo"[state >> 2 * self.width * self.height] + " to move")

    def cells(self, state: int, mover: int) -> list[str]:
        count = self.width * self.height
        marks = ["X" if state >> i & 1 else "o" if state >> count + i & 1 else "." for i in range(count)]
        return grid.rows(self.width, self.height, "".join(marks))

    def place(self, state: int, action: int) -> list[int]:
        first = grid.place(self.width, self.height, action // 64)
        if action % 16 == 0:
            return [first]
        target = action // 64 + 2 * (action % 16) * self._step(action // 16 % 4)
        return [first, grid.place(self.width, self.height, target)]

    def drawing(self) -> dict[str, Any]:
        return {"board": "points", "sides": ["black", "white"]}

    def _mine(self, state: int) -> int:
        """The mover's stones."""
        cells = self.width * self.height
        return state >> (state >> 2 * cells) * cells & (1 << cells) - 1

    def _step(self, side: int) -> int:
        return (-1, 1, -self.width, self.width)[side]

    def _opening(self, state: int) -> int:
        """The stones that may be taken away at the start: in the middle or a corner, then beside the gap."""
        width, height = self.width, self.height
        cells = width * height
        if state >> 2 * cells:
            gap = (1 << cells) - 1 & ~(state | state >> cells)
            return self._mine(state) & grid.beside(width, height, gap)
        found = 0
        for cell in range(cells):
            across, up = cell % width, cell // width
            side, end = min(across, width - 1 - across), min(up, height - 1 - up)
            if (side == 0 and end == 0) or (side == (width - 1) // 2 and end == (height - 1) // 2):
                found |= 1 << cell
        return self._mine(state) & found

    def _jumps(self, state: int, cell: int, side: int) -> int:
        """How often the mover's stone of a cell can jump that way."""
        cells = self.width * self.height
        theirs = state >> (1 - (state >> 2 * cells)) * cells & (1 << cells) - 1
        taken = (state | state >> cells) & (1 << cells) - 1
        step = self._step(side)
        if side < 2:
            room = cell % self.width if side == 0 else self.width - 1 - cell % self.width
        else:
            room = cell // self.width if side == 2 else self.height - 1 - cell // self.width
        jumps = 0
        while 2 * jumps + 2 <= room:
            over = cell + (2 * jumps + 1) * step
            if not theirs >> over & 1 or taken >> over + step & 1:
                return jumps
            jumps += 1
        return jumps
