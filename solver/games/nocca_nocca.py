"""Nocca-Nocca: step onto one another, up to three high, and over the far edge.

Each player has a row of men on the own edge. A man steps to one of the eight cells around it, empty or with a stack of
one or two, whoever owns them; only the uppermost man of a stack moves. From the last row a man may step over the edge,
which wins. Who cannot move has lost. Repetition is a draw. Yamamoto and Hoki, Strongly Solving NOCCA x NOCCA, GPW 2022,
solve 5 x 6; on 3 x 3 the first player wins in 9 plies (jh85, smallgames, 2026, by the same rules).

A state has four bits a cell, row by row from the bottom left: a one, and below it a bit for each man of the stack, the
uppermost lowest, 1 for the second player's; then a bit for the side to move. So 1 is an empty cell, 2 a man of the
first player, 3 one of the second, 6 the latter under the former. An action is nine times the cell moved from plus the
way, 3 times up from 0 to 2, plus 0 to 2 across; 4 is over the edge. Men go back and forth, so there is no `tier`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

GROUP = "race"


class NoccaNocca(NamedTuple):
    """Step on stacks up to three high, and over the far edge; who cannot move loses."""

    width: int = 3
    height: int = 3

    def check(self) -> None:
        if self.width < 2 or self.height < 2 or self.width * self.height > 15:
            raise ValueError("the board takes two rows and columns or more, and 15 cells at most")

    def initial(self) -> int:
        state = 0
        for cell in range(self._cells()):
            row = cell // self.width
            state |= (2 if row == 0 else 3 if row == self.height - 1 else 1) << 4 * cell
        return state

    def actions(self, state: int) -> Iterator[int]:
        for cell in range(self._cells()):
            for way in range(9):
                if self._may(state, cell, way):
                    yield 9 * cell + way

    def result(self, state: int, action: int) -> int:
        cell, way, turn = action // 9, action % 9, state >> 4 * self._cells()
        state ^= (self._stack(state, cell) ^ self._stack(state, cell) >> 1) << 4 * cell
        if way != 4:
            target = self._target(cell, way)
            state += self._stack(state, target) + turn << 4 * target
        return state ^ 1 << 4 * self._cells()

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
        turn, board, mirrored = state >> 4 * self._cells(), 0, 0
        for cell in range(self._cells()):
            x, y = cell % self.width, cell // self.width
            stack = self._stack(state, cell)
            if turn:
                y = self.height - 1 - y
                stack ^= (1 << stack.bit_length() - 1) - 1
            board |= stack << 4 * (y * self.width + x)
            mirrored |= stack << 4 * (y * self.width + self.width - 1 - x)
        return min(board, mirrored)

    def format_action(self, state: int, action: int) -> str:
        cell, way = action // 9, action % 9
        return self._name(cell) + (self._name(self._target(cell, way)) if way != 4 else "-over")

    def show(self, state: int) -> str:
        """Each stack from the bottom up."""
        turn, rows = state >> 4 * self._cells(), []
        for y in range(self.height - 1, -1, -1):
            stacks = [self._told(self._stack(state, y * self.width + x)) for x in range(self.width)]
            rows.append(f"{y + 1:2} " + " ".join(f"{stack:3}" for stack in stacks).rstrip())
        letters = "   ".join("abcdefg"[: self.width])
        return "\n".join([*rows, f"   {letters}   {'xo'[turn]} to move, {('up', 'down')[turn]}"])

    def cells(self, state: int, mover: int) -> list[str]:
        """The uppermost men, other letters for those of stacks of two and three; arrows over the edges."""
        rows = ["^" * self.width]
        for y in range(self.height - 1, -1, -1):
            stacks = [self._stack(state, y * self.width + x) for x in range(self.width)]
            marks = [".XYZ"[stack.bit_length() - 1] for stack in stacks]
            rows.append("".join(mark.lower() if stack & 1 else mark for mark, stack in zip(marks, stacks, strict=True)))
        return [*rows, "v" * self.width]

    def place(self, state: int, action: int) -> list[int]:
        cell, way = action // 9, action % 9
        x, y = cell % self.width, cell // self.width
        ends = (x, -1 if state >> 4 * self._cells() else self.height)
        if way != 4:
            ends = (x + way % 3 - 1, y + way // 3 - 1)
        return [(self.height - up) * self.width + across for across, up in ((x, y), ends)]

    def drawing(self) -> dict[str, Any]:
        marks = {"X": "disc", "Y": "disc 2", "Z": "disc 3"}
        men = {(mark.lower() if side else mark): [name, side] for mark, name in marks.items() for side in (0, 1)}
        rows = range(self.height, -2, -1)
        names = [f"{'abcdefg'[x]}{row + 1}" for row in rows for x in range(self.width)]
        men |= {"^": ["^", 2], "v": ["v", 2]}
        return {"board": "squares", "sides": ["black", "white"], "men": men, "names": names}

    def _cells(self) -> int:
        return self.width * self.height

    def _name(self, cell: int) -> str:
        return "abcdefg"[cell % self.width] + str(cell // self.width + 1)

    def _stack(self, state: int, cell: int) -> int:
        return state >> 4 * cell & 15

    def _target(self, cell: int, way: int) -> int:
        """The cell that a man comes to, -1 off the board."""
        x, y = cell % self.width + way % 3 - 1, cell // self.width + way // 3 - 1
        return y * self.width + x if 0 <= x < self.width and 0 <= y < self.height else -1

    def _may(self, state: int, cell: int, way: int) -> bool:
        stack, turn = self._stack(state, cell), state >> 4 * self._cells()
        if stack == 1 or stack & 1 != turn:
            return False
        if way == 4:
            return cell // self.width == (0 if turn else self.height - 1)
        target = self._target(cell, way)
        return target >= 0 and self._stack(state, target) < 8

    def _is_over(self, state: int) -> bool:
        """Whether a man of the other's is over the edge."""
        men, own = 0, 0
        for cell in range(self._cells()):
            stack = self._stack(state, cell)
            men += stack.bit_length() - 1
            own += stack.bit_count() - 1
        theirs = men - own if state >> 4 * self._cells() else own
        return theirs < self.width

    def _told(self, stack: int) -> str:
        marks = ["xo"[stack >> place & 1] for place in range(stack.bit_length() - 1)]
        return "".join(reversed(marks)) or "."
