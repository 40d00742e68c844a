"""Dots and boxes on width x height boxes: who completes a box scores it and moves again.

A state is the set of drawn edges, then the boxes of the mover less those of the other (plus the number of boxes, so
that it is not negative), then the side to move. Edges are numbered row by row, first the horizontal ones from the
bottom, then the vertical ones. An edge is written as the dot at its lower left end, a1 bottom left, and `h` or `v`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class DotsAndBoxes(NamedTuple):
    """Draw edges between dots; completing a box scores it and moves again; the value is the mover's margin."""

    width: int = 2
    height: int = 2

    score_game = True

    def check(self) -> None:
        if self.width < 1 or self.height < 1:
            raise ValueError("width and height must be at least 1")
        edges = (self.height + 1) * self.width + self.height * (self.width + 1)
        if edges + (2 * self.width * self.height + 1).bit_length() + 1 > 62:
            raise ValueError("the edges, the margin and the side to move must fit 62 bits: take fewer boxes")

    def initial(self) -> int:
        return self.width * self.height << self._edges()

    def actions(self, state: int) -> Iterator[int]:
        for edge in range(self._edges()):
            if not state >> edge & 1:
                yield edge

    def result(self, state: int, action: int) -> int:
        edges = self._edges()
        drawn = state & (1 << edges) - 1 | 1 << action
        closed = self._closed(drawn, action)
        margin = (state >> edges & (1 << self._margin_bits()) - 1) - self.width * self.height
        turn = self.to_move(state)
        if closed == 0:
            margin, turn = -margin, 1 - turn
        return drawn | (margin + closed + self.width * self.height | turn << self._margin_bits()) << edges

    def to_move(self, state: int) -> int:
        return state >> self._edges() + self._margin_bits()

    def is_terminal(self, state: int) -> bool:
        return self.tier(state) == self._edges()

    def utility(self, state: int) -> int:
        return (state >> self._edges() & (1 << self._margin_bits()) - 1) - self.width * self.height

    def tier(self, state: int) -> int:
        return (state & (1 << self._edges()) - 1).bit_count()

    def bounds(self, state: int) -> tuple[int, int]:
        """The margin if one player closed all boxes that are left."""
        margin = self.utility(state)
        left = 0
        for row in range(self.height):
            for column in range(self.width):
                if self._box(row, column) & ~state:
                    left += 1
        return margin - left, margin + left

    def promise(self, state: int, action: int) -> int:
        """Edges that close boxes first, those that give a box away last."""
        drawn = state | 1 << action
        closed = self._closed(drawn, action)
        if closed:
            return closed
        for edge in range(self._edges()):
            if not drawn >> edge & 1 and self._closed(drawn | 1 << edge, edge):
                return -1
        return 0

    def evaluate(self, state: int) -> int:
        """The margin so far."""
        return self.utility(state)

    def canonical(self, state: int) -> int:
        edges = self._edges()
        drawn = state & (1 << edges) - 1
        least = self._least_flip(drawn)
        if self.width == self.height:
            least = min(least, self._least_flip(self._transposed(drawn)))
        return state >> edges << edges | least

    def format_action(self, state: int, action: int) -> str:
        across = self._across()
        row, column = divmod(action, self.width) if action < across else divmod(action - across, self.width + 1)
        return "abcdefghijklmnopqrstuvwxyz"[column] + str(row + 1) + ("h" if action < across else "v")

    def show(self, state: int) -> str:
        lines = []
        for row in reversed(range(self.height + 1)):
            if row < self.height:
                sides = [self._across() + row * (self.width + 1) + column for column in range(self.width + 1)]
                lines.append("     " + "   ".join("|" if state >> side & 1 else " " for side in sides).rstrip())
            edges = [row * self.width + column for column in range(self.width)]
            lines.append(f"{row + 1:3}  ." + "".join(("---" if state >> edge & 1 else "   ") + "." for edge in edges))
        lines.append("     " + "   ".join("abcdefghijklmnopqrstuvwxyz"[: self.width + 1]))
        return "\n".join([*lines, f"player {self.to_move(state) + 1} to move, margin {self.utility(state):+d}"])

    def _across(self) -> int:
        """Horizontal edges."""
        return (self.height + 1) * self.width

    def _edges(self) -> int:
        return self._across() + self.height * (self.width + 1)

    def _margin_bits(self) -> int:
        return (2 * self.width * self.height).bit_length()

    def _box(self, row: int, column: int) -> int:
        """The four edges of a box."""
        below = row * self.width + column
        left = self._across() + row * (self.width + 1) + column
        return 1 << below | 1 << below + self.width | 1 << left | 1 << left + 1

    def _closed(self, drawn: int, edge: int) -> int:
        """The boxes beside an edge that are complete."""
        across = self._across()
        closed = 0
        if edge < across:
            row, column = edge // self.width, edge % self.width
            if row > 0 and self._box(row - 1, column) & ~drawn == 0:
                closed += 1
        else:
            row, column = (edge - across) // (self.width + 1), (edge - across) % (self.width + 1)
            if column > 0 and self._box(row, column - 1) & ~drawn == 0:
                closed += 1
        if row < self.height and column < self.width and self._box(row, column) & ~drawn == 0:
            closed += 1
        return closed

    def _least_flip(self, drawn: int) -> int:
        """The least of the images by the two reflections and the half turn."""
        flipped = self._upside_down(drawn)
        return min(min(drawn, flipped), min(self._mirrored(drawn), self._mirrored(flipped)))

    def _upside_down(self, drawn: int) -> int:
        across, width, height = self._across(), self.width, self.height
        flipped = 0
        for row in range(height + 1):
            flipped |= (drawn >> row * width & (1 << width) - 1) << (height - row) * width
        for row in range(height):
            line = drawn >> across + row * (width + 1) & (1 << width + 1) - 1
            flipped |= line << across + (height - 1 - row) * (width + 1)
        return flipped

    def _mirrored(self, drawn: int) -> int:
        across, width = self._across(), self.width
        rows = ((1 << across) - 1) // ((1 << width) - 1)
        sides = ((1 << self.height * (width + 1)) - 1) // ((1 << width + 1) - 1)
        mirrored = 0
        for column in range(width):
            mirrored |= (drawn >> column & rows) << width - 1 - column
        for column in range(width + 1):
            mirrored |= (drawn >> across + column & sides) << across + width - column
        return mirrored

    def _transposed(self, drawn: int) -> int:
        across, width = self._across(), self.width
        transposed = 0
        for row in range(width + 1):
            for column in range(width):
                transposed |= (drawn >> row * width + column & 1) << across + column * (width + 1) + row
                transposed |= (drawn >> across + column * (width + 1) + row & 1) << row * width + column
        return transposed
