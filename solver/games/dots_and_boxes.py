"""Dots and boxes on width x height boxes: who completes a box scores it and moves again.

Players draw in turn a line between two dots that lie beside each other. Who draws the fourth side of a box owns it, of
two boxes at once both, and must draw another line. When all lines are drawn the most boxes win.

A state is the set of drawn edges, nothing else: the mover and the score so far do not influence later play. Edges are
numbered row by row from the bottom, in each row first the horizontal ones, then the vertical ones above them: 0 to 11
on 2 x 2 boxes.

    . 10 . 11 .
    7    8    9
    . 5  . 6  .
    2    3    4
    . 0  . 1  .

So the edges of a box lie `width`, `width + 1` and `2 * width + 1` above its lower one, wherever it is: shifts of the
state find all boxes at once. An edge is written as the dot at its lower left end, a1 bottom left, and `h` or `v`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import Filling, grid, like, limits

GROUP = "scoring"
MEN = {"+": ["dot", 2], "-": ["edge", 2], "|": ["edge", 2], "#": ["box", 2]}


@like(Filling, "initial", "result", "tier")
class DotsAndBoxes(NamedTuple):
    """Draw edges between dots; completing a box scores it and moves again; the value is the margin still to come."""

    width: int = 2
    height: int = 2

    score_game = True
    drawing = {"board": "dots", "sides": ["blue", "red"], "men": MEN}

    def check(self) -> None:
        limits(self, width=(1, 30), height=(1, 30))
        if self._edges() > 62:
            raise ValueError("the edges must fit 62 bits: take fewer boxes")

    def size(self) -> int:
        return 1 << self._edges()

    def actions(self, state: int) -> Iterator[int]:
        left = state ^ (1 << self._edges()) - 1
        while left:
            yield (left & -left).bit_length() - 1
            left &= left - 1

    def again(self, state: int, action: int) -> bool:
        one, other = self._closing(state)
        return (one | other) >> action & 1 != 0

    def reward(self, state: int, action: int) -> int:
        """The boxes that an edge closes."""
        one, other = self._closing(state)
        return (one >> action & 1) + (other >> action & 1)

    def is_terminal(self, state: int) -> bool:
        return state == (1 << self._edges()) - 1

    def utility(self, state: int) -> int:
        return 0

    def bounds(self, state: int) -> tuple[int, int]:
        """One player closes all boxes that are left."""
        full = state & state >> self.width & state >> self.width + 1 & state >> self._row() & self._boxes()
        left = self.width * self.height - full.bit_count()
        return -left, left

    def promise(self, state: int, action: int) -> int:
        """Edges that close boxes first, those that give a box away last."""
        closed = self.reward(state, action)
        if closed:
            return closed
        drawn = state | 1 << action
        one, other = self._closing(drawn)
        return -1 if (one | other) & ~drawn else 0

    def evaluate(self, state: int) -> int:
        """The boxes that lack one edge: the mover's, if it cares for nothing else."""
        one, other = self._closing(state)
        return (one & ~state).bit_count() + (other & ~state).bit_count()

    def canonical(self, state: int) -> int:
        least = self._least_flip(state)
        if self.width == self.height:
            least = min(least, self._least_flip(self._transposed(state)))
        return least

    def format_action(self, state: int, action: int) -> str:
        row, place = divmod(action, self._row())
        column, way = (place, "h") if place < self.width else (place - self.width, "v")
        return grid.LETTERS[column] + str(row + 1) + way

    def cells(self, state: int, mover: int) -> list[str]:
        """Dots, and between them edges, and boxes where all four edges are drawn."""
        rows = []
        full = state & state >> self.width & state >> self.width + 1 & state >> self._row() & self._boxes()
        for row in reversed(range(self.height + 1)):
            first = row * self._row()
            if row < self.height:
                sides, boxes = state >> first + self.width, full >> first
                line = "".join(".|"[sides >> i & 1] + " #"[boxes >> i & 1] for i in range(self.width + 1))
                rows.append(line[:-1])
            rows.append("+" + "".join(("-+" if state >> first + column & 1 else ".+") for column in range(self.width)))
        return rows

    def from_cells(self, rows: list[str], mover: int) -> int:
        state = 0
        for line in range(2 * self.height + 1):
            marks = rows[2 * self.height - line][1 - line % 2 :: 2]
            first = line // 2 * self._row() + line % 2 * self.width
            state |= sum(1 << first + place for place, mark in enumerate(marks) if mark in "-|")
        return state

    def layout(self) -> tuple[str, int]:
        return "#+-|", self._edges()

    def place(self, state: int, action: int) -> list[int]:
        row, place = divmod(action, self._row())
        across, up = (2 * place + 1, 2 * row) if place < self.width else (2 * (place - self.width), 2 * row + 1)
        return [(2 * self.height - up) * self._row() + across]

    def _row(self) -> int:
        """From an edge to the one above it."""
        return 2 * self.width + 1

    def _edges(self) -> int:
        return self.height * self._row() + self.width

    def _rows(self) -> int:
        """The first edge of each row of boxes."""
        return ((1 << self.height * self._row()) - 1) // ((1 << self._row()) - 1)

    def _boxes(self) -> int:
        """Their lower edges."""
        return self._rows() * ((1 << self.width) - 1)

    def _closing(self, state: int) -> tuple[int, int]:
        """The edges that complete the box above or to the right of them, and those that complete the other one.

        Drawn ones of complete boxes are among them.
        """
        boxes, across, row = self._boxes(), self.width, self._row()
        left, right, upper = state >> across, state >> across + 1, state >> row  # of each box, seen from its lower edge
        lower_and_upper, left_and_right = state & upper & boxes, left & right & boxes
        return (
            left_and_right & upper | (lower_and_upper & right) << across,
            (left_and_right & state) << row | (lower_and_upper & left) << across + 1,
        )

    def _least_flip(self, state: int) -> int:
        """The least of the images by the two reflections and the half turn."""
        flipped = self._upside_down(state)
        return min(min(state, flipped), min(self._mirrored(state), self._mirrored(flipped)))

    def _upside_down(self, state: int) -> int:
        across, row, height = self.width, self._row(), self.height
        flipped = 0
        for y in range(height + 1):
            flipped |= (state >> y * row & (1 << across) - 1) << (height - y) * row
        for y in range(height):
            flipped |= (state >> y * row + across & (1 << across + 1) - 1) << (height - 1 - y) * row + across
        return flipped

    def _mirrored(self, state: int) -> int:
        across = self.width
        sides = self._rows()
        rows = sides | 1 << self.height * self._row()
        mirrored = 0
        for x in range(across):
            mirrored |= (state >> x & rows) << across - 1 - x
        for x in range(across + 1):
            mirrored |= (state >> across + x & sides) << across + across - x
        return mirrored

    def _transposed(self, state: int) -> int:
        """The image by the diagonal of a square.

        The edge `ahead` places right of the diagonal's goes up to the side as far above it; one shift takes the
        sides below the diagonal along.
        """
        across, row = self.width, self._row()
        transposed = 0
        for ahead in range(across):
            line = ((1 << (across - ahead) * (row + 1)) - 1) // ((1 << row + 1) - 1) << ahead
            low = line | line << across + 1
            far = (2 * ahead + 1) * across
            transposed |= (state & low) << far | state >> far & low
        return transposed
