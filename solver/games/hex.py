"""Hex (Piet Hein 1942, John Nash 1948): the first player joins the lowest row to the highest, the second the sides.

Cells are named by column and row, a1 in a corner; a cell's neighbours are the four beside it, and those up to the left
and down to the right. On a full board exactly one player has joined, so there are no draws, and the first player wins
by stealing the second's strategy; there is no swap. A state is the first player's stones, then the second's, row by
row; their number tells who is to move.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import Filling, grid, like, limits
from solver.games.common.boards import cells_of, check_turns

GROUP = "connection"


@like(Filling)
class Hex(NamedTuple):
    """Put stones on a rhombus of hexagons in turns; who joins both edges of one's own wins."""

    size: int = 3

    def check(self) -> None:
        limits(self, size=(1, 15))

    def bits(self) -> int:
        return max(63, 2 * self.size * self.size)

    def actions(self, state: int) -> Iterator[int]:
        free = self._free(state)
        while free:
            cell = free & -free
            yield cell.bit_length() - 1
            free ^= cell

    def result(self, state: int, action: int) -> int:
        return state | 1 << action + self._second(state) * self.size * self.size

    def is_terminal(self, state: int) -> bool:
        second = 1 - self._second(state)  # who moved last
        stones = self._stones(state, second)
        return self._joined(self._edge(second, 0) & stones, stones) & self._edge(second, 1) != 0

    def longest(self, state: int) -> int:
        return self.size * self.size - state.bit_count()

    def canonical(self, state: int) -> int:
        """The half turn keeps both players' edges."""
        return min(state, self._turned(state))

    def bounds(self, state: int) -> tuple[int, int]:
        """Won, if one side's stones are joined to each other and to both its edges by bridges.

        A bridge is two stones, or a stone and an edge, with two free cells between: whoever loses one takes the other.
        """
        mover = self._second(state)
        if self._is_bridged(state, 1 - mover):
            return -1, -1
        if self._is_bridged(state, mover):
            return 1, 1
        return -1, 1

    def promise(self, state: int, action: int) -> int:
        """The stones that the other still needs, less those that the mover needs, then nearness to the middle."""
        mover, child = self._second(state), self.result(state, action)
        free = self._free(child)
        bridges = self._needed(child, 1 - mover, free) - self._needed(child, mover, free)
        steps = self._needed(child, 1 - mover, 0) - self._needed(child, mover, 0)
        off_middle = abs(2 * (action % self.size) - self.size + 1) + abs(2 * (action // self.size) - self.size + 1)
        return 20 * self.size * (2 * self.size * bridges + steps) - off_middle

    def evaluate(self, state: int) -> float:
        """The cells that the other still needs at least, less those that the mover needs, as a part of a row."""
        mover = self._second(state)
        return (self._needed(state, 1 - mover, 0) - self._needed(state, mover, 0)) / (self.size + 1)

    def features(self, state: int) -> Iterator[int]:
        """Who moves, the cells that both need, what both can reach in a stone or two, and the cells' balance.

        Cells count as their images by the half turn.
        """
        mover = self._second(state)
        yield 1 - mover
        yield state.bit_count()
        yield self._needed(state, mover, 0)
        yield self._needed(state, 1 - mover, 0)
        mine, theirs = self._stones(state, mover), self._stones(state, 1 - mover)
        free = self._free(state)
        yield (self._beside(mine) & mine).bit_count()
        yield (self._beside(theirs) & theirs).bit_count()
        yield (self._beside(mine) & free).bit_count()
        yield (self._beside(theirs) & free).bit_count()
        last = self.size * self.size - 1
        for cell in range(last // 2 + 1):
            both = 1 << cell | 1 << last - cell
            yield (mine & both).bit_count() - (theirs & both).bit_count()

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.size, self.size, state, "Xo")[::-1]

    def layout(self) -> tuple[str, int]:
        return "Xo", self.size * self.size

    def from_cells(self, rows: list[str], mover: int) -> int:
        first, second = cells_of(rows[::-1], "X"), cells_of(rows[::-1], "o")
        state = first | second << self.size * self.size
        check_turns(first.bit_count(), second.bit_count(), mover, self._needed(state, mover, 0) == 0)
        return state

    def place(self, state: int, action: int) -> Iterator[int]:
        yield action

    def drawing(self) -> dict[str, Any]:
        names = [grid.name(self.size, cell) for cell in range(self.size * self.size)]
        return {"board": "hexagons", "sides": ["red", "blue"], "names": names}

    def _second(self, state: int) -> int:
        """Whether the second player is to move."""
        return state.bit_count() % 2

    def _stones(self, state: int, second: int) -> int:
        cells = self.size * self.size
        return state >> second * cells & (1 << cells) - 1

    def _free(self, state: int) -> int:
        cells = self.size * self.size
        return (1 << cells) - 1 & ~(state | state >> cells)

    def _column(self) -> int:
        """The first cell of each row."""
        return ((1 << self.size * self.size) - 1) // ((1 << self.size) - 1)

    def _beside(self, cells: int) -> int:
        """The neighbours of cells."""
        first = self._column()
        left, right = cells & ~first, cells & ~(first << self.size - 1)
        found = left >> 1 | right << 1 | cells >> self.size | cells << self.size
        found |= left << self.size - 1 | right >> self.size - 1
        return found & (1 << self.size * self.size) - 1

    def _step(self, cells: int, way: int) -> int:
        """The next cells in one of six directions, by sixths of a turn: right, up, up left, left, down, down right."""
        first, board = self._column(), (1 << self.size * self.size) - 1
        if way in (0, 5):
            cells &= ~(first << self.size - 1)
        elif way in (2, 3):
            cells &= ~first
        if way < 3:
            return (cells << 1 if way == 0 else cells << self.size + 1 - way) & board
        return cells >> 1 if way == 3 else cells >> self.size + 4 - way

    def _bridged(self, cells: int, way: int, free: int) -> int:
        """The far ends of bridges from cells, over their free neighbours in a direction and in the next one."""
        after = (way + 1) % 6
        return self._step(self._step(cells, way) & free, after) & self._step(self._step(cells, after) & free, way)

    def _edge(self, second: int, far: int) -> int:
        """The cells on a player's near or far edge."""
        if second:
            return self._column() << (self.size - 1) * far
        return (1 << self.size) - 1 << self.size * (self.size - 1) * far

    def _on_edge(self, second: int, far: int, free: int) -> int:
        """The cells on a player's edge, and those with a bridge to it over free cells."""
        edge, way = self._edge(second, far), self._inwards(second, far)
        return edge | self._step(edge & free, way) & self._step(edge & free, (way + 1) % 6)

    def _inwards(self, second: int, far: int) -> int:
        """The direction of bridges from an edge into the board."""
        return ((5 if second else 1) + 3 * far) % 6

    def _joined(self, cells: int, stones: int) -> int:
        """Cells, and all stones that chains of neighbours join to them."""
        last = -1
        while cells != last:
            last = cells
            cells |= self._beside(cells) & stones
        return cells

    def _is_bridged(self, state: int, second: int) -> bool:
        """Whether a player's edges are joined by stones and by bridges that share no cell.

        Bridges are taken one by one as they are found, so some ways to join are not seen.
        """
        stones, free = self._stones(state, second), self._free(state)
        joined = self._edge(second, 0) & stones
        while True:
            joined = self._joined(joined, stones)
            if joined & self._on_edge(second, 1, free):
                return True
            way = self._inwards(second, 0)
            ends = self._on_edge(second, 0, free) & stones & ~joined
            for other in range(6):
                if ends == 0:
                    way = other
                    ends = self._bridged(joined, way, free) & stones & ~joined
            if ends == 0:
                return False
            end = ends & -ends
            joined |= end
            free &= ~(self._step(end, (way + 3) % 6) | self._step(end, (way + 4) % 6))

    def _needed(self, state: int, second: int, gaps: int) -> int:
        """The least number of stones with which a player would join the edges; more than a row where none do.

        gaps: The free cells that bridges may leave free.
        """
        stones, free = self._stones(state, second), self._free(state)
        begin, goal = self._on_edge(second, 0, gaps), self._on_edge(second, 1, gaps)
        reached = begin & stones
        for needed in range(self.size * self.size + 1):
            last = -1
            while reached != last:
                last = reached
                reached |= self._around(reached, gaps) & stones
            if reached & goal:
                return min(needed, self.size)
            reached |= (self._around(reached, gaps) | begin) & free
        return self.size

    def _around(self, cells: int, gaps: int) -> int:
        """The neighbours of cells, and the far ends of their bridges."""
        found = self._beside(cells)
        if gaps:
            for way in range(6):
                found |= self._bridged(cells, way, gaps)
        return found

    def _turned(self, state: int) -> int:
        """The half turn of both boards: rows from the last to the first, then each row from its end."""
        cells = self.size * self.size
        rows = (1 << self.size) - 1 | (1 << self.size) - 1 << cells
        flipped = 0
        for i in range(self.size):
            flipped |= (state >> i * self.size & rows) << cells - (i + 1) * self.size
        columns = self._column() | self._column() << cells
        turned = 0
        for i in range(self.size):
            turned |= (flipped >> i & columns) << self.size - 1 - i
        return turned
