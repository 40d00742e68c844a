"""Nocca-Nocca: step onto one another, up to three high, and over the far edge.

Each player has a row of pieces on the own edge. A piece steps to one of the eight cells around it, empty or with a
stack of one or two, whoever owns them. Only the uppermost piece of a stack moves. From the last row a piece may step
over the edge, which wins. Who cannot move has lost. Repetition is a draw. Yamamoto and Hoki, Strongly Solving NOCCA x
NOCCA, GPW 2022, solve 5 x 6; on 3 x 3 the first player wins in 9 plies (jh85, smallgames, 2026, by the same rules).

A state holds, from the lowest bit on:
    2 bits a cell  the height of its stack, row by row from the bottom left
    1 bit a piece  whose it is, 1 for the second player's; stack by stack, the uppermost piece lowest
    1 bit          the side to move; only where all pieces are on the board

The rules read a stack as a one, and its pieces below: 1 is an empty cell, 2 a piece of the first player,
3 one of the second, 6 the latter under the former. An action is nine times the cell moved from plus the way, 3 times up
from 0 to 2, plus 0 to 2 across; 4 is over the edge. Pieces go back and forth, so there is no `tier`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import grid, limits

GROUP = "race"
MEN = {"X": ["disc", 0], "x": ["disc", 1], "Y": ["disc 2", 0], "y": ["disc 2", 1]}
MEN |= {"Z": ["disc 3", 0], "z": ["disc 3", 1], "^": ["^", 2], "v": ["v", 2]}


class NoccaNocca(NamedTuple):
    """Step on stacks up to three high, and over the far edge; who cannot move loses."""

    width: int = 3
    height: int = 3

    def check(self) -> None:
        limits(self, width=(2, 7), height=(2, 15))
        if self._top() > 62:
            raise ValueError("two bits a cell, and one a man, must be at most 62 to fit a state: take a smaller board")

    def initial(self) -> int:
        state = 0
        for column in range(self.width):
            state = self._with(self._with(state, column, 0), self._cells() - 1 - column, 1)
        return state

    def actions(self, state: int) -> Iterator[int]:
        for cell in range(self._cells()):
            for way in range(9):
                if self._may(state, cell, way):
                    yield 9 * cell + way

    def result(self, state: int, action: int) -> int:
        cell, way, turn = action // 9, action % 9, state >> self._top()
        board = self._without(state & (1 << self._top()) - 1, cell)
        if way != 4:
            board = self._with(board, self._target(cell, way), turn)
        return board | (1 - turn) << self._top()

    def is_terminal(self, state: int) -> bool:
        """Whether the other, who has just moved, is over the edge, or the mover cannot move."""
        if self._is_over(state):
            return True
        for cell in range(self._cells()):
            for way in range(9):
                if self._may(state, cell, way):
                    return False
        return True

    def utility(self, state: int) -> int:
        return -1

    def canonical(self, state: int) -> int:
        """The first player to move, its edge below; the lesser of the board and its mirror image."""
        return min(self._faced(state, False), self._faced(state, True))

    def format_action(self, state: int, action: int) -> str:
        cell, way = action // 9, action % 9
        return grid.name(self.width, cell) + (grid.name(self.width, self._target(cell, way)) if way != 4 else "-over")

    def parse_position(self, text: str) -> int | None:
        """The stacks and the side to move, as `show` prints them."""
        lines = [line.split() for line in text.split("\n")]
        if len(lines) != self.height + 1 or any(len(line) != self.width + 1 for line in lines[:-1]):
            return None
        board = "".join("".join(line[1:]) for line in lines[:-1])
        if {*board} - {*".xo"} or lines[-1][self.width : self.width + 1] not in (["x"], ["o"]):
            return None
        state = 0
        for cell in range(self._cells()):
            for mark in lines[self.height - 1 - cell // self.width][1 + cell % self.width].replace(".", ""):
                state = self._with(state, cell, "xo".index(mark))
        return state | "xo".index(lines[-1][self.width]) << self._top()

    def show(self, state: int) -> str:
        """Each stack from the bottom up."""
        turn, rows = state >> self._top(), []
        for y in range(self.height - 1, -1, -1):
            stacks = [self._stack(state, y * self.width + x) for x in range(self.width)]
            told = [f"{stack:b}"[1:].replace("0", "x").replace("1", "o") or "." for stack in stacks]
            rows.append(f"{y + 1:2} " + " ".join(f"{men:3}" for men in told).rstrip())
        letters = "   ".join("abcdefg"[: self.width])
        return "\n".join([*rows, f"   {letters}   {'xo'[turn]} to move, {('up', 'down')[turn]}"])

    def cells(self, state: int, mover: int) -> list[str]:
        """The uppermost pieces, other letters for those of stacks of two and three; arrows over the edges."""
        rows = ["^" * self.width]
        for y in range(self.height - 1, -1, -1):
            stacks = [self._stack(state, y * self.width + x) for x in range(self.width)]
            marks = [".XYZ"[stack.bit_length() - 1] for stack in stacks]
            rows.append("".join(mark.lower() if stack & 1 else mark for mark, stack in zip(marks, stacks, strict=True)))
        return [*rows, "v" * self.width]

    def layout(self) -> tuple[str, int]:
        return "XYZ^vxyz", 9 * self._cells()

    def place(self, state: int, action: int) -> list[int]:
        cell, way = action // 9, action % 9
        x, y = cell % self.width, cell // self.width
        ends = (x, -1 if state >> self._top() else self.height)
        if way != 4:
            ends = (x + way % 3 - 1, y + way // 3 - 1)
        return [(self.height - up) * self.width + across for across, up in ((x, y), ends)]

    def drawing(self) -> dict[str, Any]:
        names = [f"{'abcdefg'[x]}{row + 1}" for row in range(self.height, -2, -1) for x in range(self.width)]
        return {"board": "squares", "sides": ["black", "white"], "men": MEN, "names": names}

    def _cells(self) -> int:
        return self.width * self.height

    def _top(self) -> int:
        """The bit of the side to move."""
        return 2 * self._cells() + 2 * self.width

    def _men(self, state: int, cells: int) -> int:
        """How many pieces stand on the first cells, so many of them."""
        heights, ones = state & (1 << 2 * cells) - 1, ((1 << 2 * self._cells()) - 1) // 3
        return (heights & ones).bit_count() + 2 * (heights >> 1 & ones).bit_count()

    def _stack(self, state: int, cell: int) -> int:
        height = state >> 2 * cell & 3
        return 1 << height | state >> 2 * self._cells() + self._men(state, cell) & (1 << height) - 1

    def _with(self, board: int, cell: int, player: int) -> int:
        """A board with one more piece on top of a stack."""
        place = 2 * self._cells() + self._men(board, cell)
        return (board & (1 << place) - 1) + (1 << 2 * cell) | player << place | board >> place << place + 1

    def _without(self, board: int, cell: int) -> int:
        """A board without the uppermost piece of a stack."""
        place = 2 * self._cells() + self._men(board, cell)
        return (board & (1 << place) - 1) - (1 << 2 * cell) | board >> place + 1 << place

    def _faced(self, state: int, mirrored: bool) -> int:
        """The board, or its mirror image, with the first player to move."""
        turn, heights, colours, men = state >> self._top(), 0, 0, 0
        for cell in range(self._cells()):
            x, y = cell % self.width, cell // self.width
            x, y = self.width - 1 - x if mirrored else x, self.height - 1 - y if turn else y
            stack = self._stack(state, y * self.width + x)
            height = stack.bit_length() - 1
            heights |= height << 2 * cell
            colours |= (stack ^ 1 << height ^ ((1 << height) - 1) * turn) << men
            men += height
        return heights | colours << 2 * self._cells()

    def _target(self, cell: int, way: int) -> int:
        """The cell that a piece comes to, -1 off the board."""
        x, y = cell % self.width + way % 3 - 1, cell // self.width + way // 3 - 1
        return y * self.width + x if 0 <= x < self.width and 0 <= y < self.height else -1

    def _may(self, state: int, cell: int, way: int) -> bool:
        stack, turn = self._stack(state, cell), state >> self._top()
        if stack == 1 or stack & 1 != turn:
            return False
        if way == 4:
            return cell // self.width == (0 if turn else self.height - 1)
        target = self._target(cell, way)
        return target >= 0 and self._stack(state, target) < 8

    def _is_over(self, state: int) -> bool:
        """Whether a piece of the other's is over the edge."""
        second = (state >> 2 * self._cells() & (1 << 2 * self.width) - 1).bit_count()
        first = self._men(state, self._cells()) - second
        return (first if state >> self._top() else second) < self.width
