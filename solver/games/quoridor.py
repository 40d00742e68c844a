"""Quoridor (Mirko Marchesi, 1997): bring your pawn to the far row; a turn is a step, or a wall in the other's way.

The first player's pawn starts in the middle of the bottom row and goes to the top. On boards of even width it starts
left of the middle. The second player's pawn starts opposite, turned by half a turn. A turn moves the pawn one cell
across, up or down, or puts one of the own `walls` walls between cells. A wall is two cells long and lies on the grid.
It may not cross or overlap another, and must leave each pawn a way to its far row. A pawn next to the other's may jump
over it to the cell behind. If a wall or the edge is behind, it may go to the cells beside that pawn, unless walls are
between. Who has no turn left has drawn. Repetition is a draw.

Grant Slatton, Solving Quoridor, and jh85, smallgames, 2026, solve small boards by these rules: of 5 x 5 the second
player wins with up to four walls each, and the first with five.

A state holds, from the lowest bit on:
    5 bits each the cell of the first player's pawn, then of the second's, row by row from the bottom left
    3 bits each the walls that each has left
    a bit for each crossing of grid lines: whether a wall across has its middle there
    the same for walls that stand up
    1 bit       the side to move

An action is the cell moved to, or the number of cells plus twice the crossing, plus 1 for a wall that stands up. The
tier is the number of walls on the board, which never falls.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import grid, limits

GROUP = "race"
WAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))


class Quoridor(NamedTuple):
    """Reach the far row first; a turn is a step or a wall of two cells; walls a side: `walls`."""

    width: int = 3
    height: int = 3
    walls: int = 1

    def check(self) -> None:
        limits(self, width=(2, 5), height=(2, 5), walls=(0, 7))

    def initial(self) -> int:
        pawn = (self.width - 1) // 2
        return pawn | self._cells() - 1 - pawn << 5 | self.walls << 10 | self.walls << 13

    def actions(self, state: int) -> Iterator[int]:
        steps = self._steps(state)
        for cell in range(self._cells()):
            if steps >> cell & 1:
                yield cell
        if state >> 10 + 3 * self._turn(state) & 7:
            for wall in range(2 * self._crossings()):
                if self._fits(state, wall):
                    yield self._cells() + wall

    def result(self, state: int, action: int) -> int:
        turn = self._turn(state)
        if action < self._cells():
            state = state & ~(31 << 5 * turn) | action << 5 * turn
        else:
            wall = action - self._cells()
            state = self._walled(state, wall) - (1 << 10 + 3 * turn)
        return state ^ 1 << 16 + 2 * self._crossings()

    def is_terminal(self, state: int) -> bool:
        if self._is_there(state):
            return True
        if self._steps(state):
            return False
        if state >> 10 + 3 * self._turn(state) & 7:
            for wall in range(2 * self._crossings()):
                if self._fits(state, wall):
                    return False
        return True

    def utility(self, state: int) -> int:
        return -1 if self._is_there(state) else 0

    def tier(self, state: int) -> int:
        """The walls on the board."""
        return 2 * self.walls - (state >> 10 & 7) - (state >> 13 & 7)

    def canonical(self, state: int) -> int:
        """The first player to move, the board turned for the second; the lesser of it and its mirror image."""
        cells, crossings = self._cells(), self._crossings()
        board = state & (1 << 16 + 2 * crossings) - 1
        if self._turn(state):
            pawns = cells - 1 - (board >> 5 & 31) | cells - 1 - (board & 31) << 5
            walls = self._turned(self._walls(board, 0)) | self._turned(self._walls(board, 1)) << crossings
            board = pawns | (board >> 13 & 7) << 10 | (board >> 10 & 7) << 13 | walls << 16
        mirrored = self._across(board & 31) | self._across(board >> 5 & 31) << 5 | board & 63 << 10
        mirrored |= self._mirrored(self._walls(board, 0)) << 16
        mirrored |= self._mirrored(self._walls(board, 1)) << 16 + crossings
        return min(board, mirrored)

    def format_action(self, state: int, action: int) -> str:
        """The cell moved to; a wall by the cell below and left of its middle, with h across or v upright."""
        if action < self._cells():
            return grid.name(self.width, action)
        wall = action - self._cells()
        return grid.name(self.width - 1, wall // 2) + "hv"[wall & 1]

    def parse_position(self, text: str) -> int | None:
        """The board, with the walls left, as `show` prints it."""
        *lines, last = text.split("\n")
        matched = re.fullmatch(r" *[a-e ]+   ([xo]) to move, walls left (\d) and (\d)", last)
        wide = 2 * self.width - 1
        if matched is None or len(lines) != 2 * self.height - 1:
            return None
        left = last.index("a")
        rows = [line[left:].ljust(wide) for line in reversed(lines)]
        state = int(matched[2]) << 10 | int(matched[3]) << 13
        for cell in range(self._cells()):
            mark = rows[2 * (cell // self.width)][2 * (cell % self.width)]
            state |= cell if mark == "x" else cell << 5 if mark == "o" else 0
        for crossing in range(self._crossings()):
            mark = rows[2 * (crossing // (self.width - 1)) + 1][2 * (crossing % (self.width - 1)) + 1]
            state |= (mark == "-") << 16 + crossing | (mark == "|") << 16 + self._crossings() + crossing
        return state | "xo".index(matched[1]) << 16 + 2 * self._crossings()

    def show(self, state: int) -> str:
        lines = []
        for i, row in enumerate(self.cells(state, 0)):
            number = f"{self.height - i // 2:2} " if i % 2 == 0 else "   "
            lines.append((number + row.lower()).rstrip())
        left = f"walls left {state >> 10 & 7} and {state >> 13 & 7}"
        return "\n".join([*lines, f"   {' '.join('abcde'[: self.width])}   {'xo'[self._turn(state)]} to move, {left}"])

    def cells(self, state: int, mover: int) -> list[str]:
        """Rows of cells and, between them, of the walls."""
        across, upright = self._walls(state, 0), self._walls(state, 1)
        wide, high = 2 * self.width - 1, 2 * self.height - 1
        marks = ["." if i % wide % 2 == 0 and i // wide % 2 == 0 else " " for i in range(wide * high)]
        for crossing in range(self._crossings()):
            middle = (2 * (crossing // (self.width - 1)) + 1) * wide + 2 * (crossing % (self.width - 1)) + 1
            for way in (-1, 0, 1):
                if across >> crossing & 1:
                    marks[middle + way] = "-"
                if upright >> crossing & 1:
                    marks[middle + way * wide] = "|"
        for player in (1, 0):
            pawn = state >> 5 * player & 31
            marks[2 * (pawn // self.width) * wide + 2 * (pawn % self.width)] = "Xo"[player]
        return ["".join(marks[y * wide : (y + 1) * wide]) for y in range(high - 1, -1, -1)]

    def layout(self) -> tuple[str, int]:
        return "-Xo|", self._cells() + (2 * self._crossings() if self.walls else 0)

    def place(self, state: int, action: int) -> list[int]:
        """The pawn's cells; of a wall the gap in which it begins."""
        wide, top = 2 * self.width - 1, 2 * self.height - 2
        wall = action - self._cells()
        if wall >= 0:
            column, row, upright = wall // 2 % (self.width - 1), wall // 2 // (self.width - 1), wall & 1
            return [(top - 2 * row - 1 + upright) * wide + 2 * column + upright]
        ends = [state >> 5 * self._turn(state) & 31, action]
        return [(top - 2 * (cell // self.width)) * wide + 2 * (cell % self.width) for cell in ends]

    def drawing(self) -> dict[str, Any]:
        men = {"X": ["disc", 0], "o": ["disc", 1], "-": ["", 2], "|": ["", 2]}
        high, wide = range(2 * self.height - 2, -1, -1), range(2 * self.width - 1)
        # A cell, or the two cells that a gap lies between
        ends = [[grid.name(9, 9 * ((y + far) // 2) + (x + far) // 2) for far in (0, 1)] for y in high for x in wide]
        names = ["-".join(dict.fromkeys(pair)) for pair in ends]
        return {"board": "walls", "sides": ["red", "blue"], "men": men, "names": names}

    def _cells(self) -> int:
        return self.width * self.height

    def _crossings(self) -> int:
        return (self.width - 1) * (self.height - 1)

    def _turn(self, state: int) -> int:
        return state >> 16 + 2 * self._crossings()

    def _across(self, cell: int) -> int:
        """The cell with left and right exchanged."""
        return cell + self.width - 1 - 2 * (cell % self.width)

    def _walls(self, state: int, upright: int) -> int:
        """The walls across or upright, a bit for the crossing in the middle of each."""
        return state >> 16 + upright * self._crossings() & (1 << self._crossings()) - 1

    def _turned(self, walls: int) -> int:
        turned = 0
        for crossing in range(self._crossings()):
            turned |= (walls >> crossing & 1) << self._crossings() - 1 - crossing
        return turned

    def _mirrored(self, walls: int) -> int:
        mirrored, wide = 0, self.width - 1
        for crossing in range(self._crossings()):
            mirrored |= (walls >> crossing & 1) << crossing + wide - 1 - 2 * (crossing % wide)
        return mirrored

    def _walled(self, state: int, wall: int) -> int:
        return state | 1 << 16 + wall % 2 * self._crossings() + wall // 2

    def _is_there(self, state: int) -> bool:
        """Whether the other, who has just moved, is on its far row."""
        if self._turn(state):
            return (state & 31) // self.width == self.height - 1
        return (state >> 5 & 31) // self.width == 0

    def _beside(self, state: int, cell: int, way: int) -> int:
        """The cell beside another, -1 behind a wall or an edge."""
        x, y = cell % self.width, cell // self.width
        to_x, to_y = x + WAYS[way][0], y + WAYS[way][1]
        if not (0 <= to_x < self.width and 0 <= to_y < self.height):
            return -1
        upright = 1 if y == to_y else 0
        column, row, wide = min(x, to_x), min(y, to_y), self.width - 1
        walls = self._walls(state, upright)
        for back in range(2):  # the wall's middle is at one end of the side or the other
            at_x, at_y = (column, row - back) if upright else (column - back, row)
            if 0 <= at_x < wide and 0 <= at_y < self.height - 1 and walls >> at_y * wide + at_x & 1:
                return -1
        return to_y * self.width + to_x

    def _steps(self, state: int) -> int:
        """Where the mover's pawn may go."""
        turn = self._turn(state)
        pawn, other = state >> 5 * turn & 31, state >> 5 * (1 - turn) & 31
        cells = 0
        for way in range(4):
            to = self._beside(state, pawn, way)
            if to == other:
                behind = self._beside(state, other, way)
                if behind >= 0:
                    cells |= 1 << behind
                else:
                    for aside in range(2):
                        beside = self._beside(state, other, (2 - way // 2 * 2) + aside)
                        if beside >= 0:
                            cells |= 1 << beside
            elif to >= 0:
                cells |= 1 << to
        return cells

    def _fits(self, state: int, wall: int) -> bool:
        """Whether a wall may be put: it crosses and overlaps none, and leaves both pawns a way."""
        crossing, upright, wide = wall // 2, wall % 2, self.width - 1
        if (self._walls(state, 0) | self._walls(state, 1)) >> crossing & 1:
            return False
        x, y, alike = crossing % wide, crossing // wide, self._walls(state, upright)
        if upright:
            if (y > 0 and alike >> crossing - wide & 1) or (y < self.height - 2 and alike >> crossing + wide & 1):
                return False
        elif (x > 0 and alike >> crossing - 1 & 1) or (x < wide - 1 and alike >> crossing + 1 & 1):
            return False
        walled = self._walled(state, wall)
        return self._has_way(walled, state & 31, self.height - 1) and self._has_way(walled, state >> 5 & 31, 0)

    def _has_way(self, state: int, pawn: int, row: int) -> bool:
        """Whether a way leads from a cell to a row, pawns aside."""
        seen = todo = 1 << pawn
        while todo:
            cell = (todo & -todo).bit_length() - 1
            todo &= todo - 1
            if cell // self.width == row:
                return True
            for way in range(4):
                to = self._beside(state, cell, way)
                if to >= 0 and not seen >> to & 1:
                    seen |= 1 << to
                    todo |= 1 << to
        return False
