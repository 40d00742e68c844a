"""Gobblet Gobblers (Thierry Denoual): hollow pieces on 3 x 3, the larger put over the smaller; three in a row win.

Each player has `each` pieces of `sizes` sizes. A turn puts a new piece on the board or moves one to another cell, which
is empty or whose uppermost piece is smaller, whoever owns it. Only uppermost pieces move and count. Three of one player
in a row, column or diagonal win. A piece that is lifted uncovers the piece below it. If that completes three of the
other side, the other side has won, unless the piece is put onto one of those three. It has won even if the piece
completes three of its own side. Repetition is a draw. The whole game is `gobblet-gobblers:3,2`.

A state is a plane of nine bits for the first player's smallest pieces, cell by cell from the bottom left, one for the
second's, the same for each larger size, then a bit for the side to move, 54 bits on. An action is 9 times the cell
moved from plus the cell moved to, or 81 plus 9 times the size of a new piece, 0 the smallest, plus its cell. Pieces
never leave the board: the tier is how many are there, and has cycles.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid, men, nine
from solver.games.common.boards import cased, tray

GROUP = "alignment"
PLANES = 1 | 1 << 9 | 1 << 18 | 1 << 27 | 1 << 36 | 1 << 45
FIRST = (1 << 9) - 1 | (1 << 9) - 1 << 18 | (1 << 9) - 1 << 36  # the first player's planes
LETTERS = "SML"
NAMES = {"S": "S", "M": "M", "L": "L", "T": "S 2", "N": "M 2", "K": "L 2"}


class GobbletGobblers(NamedTuple):
    """Put or move pieces over smaller ones; three uppermost in a row win; `each` pieces of each of `sizes` sizes."""

    sizes: int = 3
    each: int = 1

    drawing = tray(3, 3, NAMES, "red", "blue")

    def check(self) -> None:
        if not (1 <= self.sizes <= 3 and 1 <= self.each <= 2 and self.sizes * self.each >= 3):
            raise ValueError("there are 1 to 3 sizes and 1 or 2 men of each, three men or more in all")

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> Iterator[int]:
        turn = state >> 54
        for size in range(self.sizes):
            if self._plane(state, size, turn).bit_count() < self.each:
                free = 511 & ~self._covering(state, size)
                for cell in range(9):
                    if free >> cell & 1:
                        yield 81 + 9 * size + cell
        for size in range(self.sizes):
            movable = self._plane(state, size, turn) & ~self._covering(state, size + 1)
            free = 511 & ~self._covering(state, size)
            for man in range(9):
                if movable >> man & 1:
                    for cell in range(9):
                        if free >> cell & 1:
                            yield 9 * man + cell

    def result(self, state: int, action: int) -> int:
        turn = state >> 54
        if action >= 81:
            size = (action - 81) // 9
            change = 1 << action % 9
        else:
            size = self._uppermost(state, action // 9)
            change = 1 << action // 9 | 1 << action % 9
        return state ^ change << 18 * size + 9 * turn ^ 1 << 54

    def is_terminal(self, state: int) -> bool:
        return men.has_line(self._seen(state, 0), 8) or men.has_line(self._seen(state, 1), 8)

    def utility(self, state: int) -> int:
        """Who has three in a row has won; both: the one whose pieces were uncovered, who is to move."""
        return 1 if men.has_line(self._seen(state, state >> 54), 8) else -1

    def tier(self, state: int) -> int:
        return (state & (1 << 54) - 1).bit_count()

    def canonical(self, state: int) -> int:
        """The least of the board's eight images, the mover's pieces first and to move."""
        planes = state & (1 << 54) - 1
        if state >> 54:
            planes = (planes & FIRST) << 9 | planes >> 9 & FIRST
        return nine.least(planes, PLANES)

    def format_action(self, state: int, action: int) -> str:
        if action >= 81:
            return LETTERS[(action - 81) // 9] + grid.name(3, action % 9)
        return grid.name(3, action // 9) + grid.name(3, action % 9)

    def parse_position(self, text: str) -> int | None:
        """The stacks and the side to move, as `show` prints them."""
        lines = text.split("\n")
        if len(lines) != 5 or [len(line.split()) for line in lines[:4]] != [4, 4, 4, 3]:
            return None
        state = 1 << 54 if lines[4].endswith("the second player to move") else 0
        for cell in range(9):
            for mark in lines[2 - cell // 3].split()[1 + cell % 3].replace(".", ""):
                size = LETTERS.find(mark.upper())
                if not 0 <= size < self.sizes:
                    raise ValueError(f"{grid.name(3, cell)}: {mark} is not a man")
                state |= 1 << 18 * size + (9 if mark.islower() else 0) + cell
        for plane in range(2 * self.sizes):
            if (state >> 9 * plane & 511).bit_count() > self.each:
                raise ValueError(f"each player has {self.each} of each size")
        return state

    def show(self, state: int) -> str:
        """Each cell with all its pieces, the uppermost last; the first player's are capitals."""
        stacks = []
        for cell in range(9):
            marks = [self._mark(state, size, cell) for size in range(self.sizes)]
            stacks.append("".join(mark for mark in marks if mark != ".") or ".")
        rows = [f"{row + 1} " + " ".join(f"{stack:3}" for stack in stacks[3 * row : 3 * row + 3]) for row in (2, 1, 0)]
        held = ["".join(mark for mark in self._hand(state, player) if mark != ".") or "-" for player in (0, 1)]
        turn = "first" if state >> 54 == 0 else "second"
        below = f"in hand {held[0]} and {held[1]}, the {turn} player to move"
        return "\n".join([*(row.rstrip() for row in rows), "  a   b   c", below])

    def cells(self, state: int, mover: int) -> list[str]:
        """The second player's sizes in hand, the uppermost pieces, and the first player's sizes in hand."""
        board = [self._mark(state, max(self._uppermost(state, cell), 0), cell) for cell in range(9)]
        rows = ["".join(board[3 * row : 3 * row + 3]) for row in (2, 1, 0)]
        return [self._hand(state, 1), *rows, self._hand(state, 0)]

    def layout(self) -> tuple[str, int]:
        letters = "SML"[: self.sizes] + "TNK"[: self.sizes if self.each == 2 else 0]
        return "".join(sorted(letters + letters.lower())), 81 + 9 * self.sizes

    def place(self, state: int, action: int) -> list[int]:
        target = 3 + grid.place(3, 3, action % 9)
        if action >= 81:
            return [(12 if state >> 54 == 0 else 0) + (action - 81) // 9, target]
        return [3 + grid.place(3, 3, action // 9), target]

    def _plane(self, state: int, size: int, player: int) -> int:
        return state >> 18 * size + 9 * player & 511

    def _covering(self, state: int, size: int) -> int:
        """The cells with a piece of that size or a larger one."""
        cells = 0
        for larger in range(size, self.sizes):
            cells |= self._plane(state, larger, 0) | self._plane(state, larger, 1)
        return cells

    def _uppermost(self, state: int, cell: int) -> int:
        """The size of the uppermost piece of a cell, -1 where there is none."""
        for size in range(self.sizes - 1, -1, -1):
            if state >> 18 * size + cell & (1 | 1 << 9):
                return size
        return -1

    def _seen(self, state: int, player: int) -> int:
        """The cells where a piece of the player is uppermost."""
        cells, above = 0, 0
        for size in range(self.sizes - 1, -1, -1):
            cells |= self._plane(state, size, player) & ~above
            above |= self._plane(state, size, 0) | self._plane(state, size, 1)
        return cells

    def _mark(self, state: int, size: int, cell: int) -> str:
        if self._plane(state, size, 0) >> cell & 1:
            return LETTERS[size]
        return LETTERS[size].lower() if self._plane(state, size, 1) >> cell & 1 else "."

    def _hand(self, state: int, player: int) -> str:
        """A mark a size: none, one or two pieces in hand."""
        marks = ""
        for size in range(3):
            left = self.each - self._plane(state, size, player).bit_count() if size < self.sizes else 0
            marks += (".", "SML"[size], "TNK"[size])[left]
        return cased(marks, player)
