"""Chung-Toi (W. Reginald Chung): three in a row with three pieces each that stand upright or aslant.

Players in turn place three pieces each, upright or aslant as they like. When all are placed, a turn moves one of the
own pieces to an empty cell. An upright piece moves along its row or column, one aslant along a diagonal, by one cell or
two, also over another piece. There the player may turn it. A turn may also turn a piece in its place, or pass. Three
pieces of one player in a row, column or diagonal win, however they stand. Repetition is a draw.

A state has a plane of nine bits, cell by cell from the bottom left, for the first player's pieces, one for the
second's, one for the pieces that stand aslant, and a bit for the side to move. An action is 18 times the cell moved
from (9: a new piece) plus 9 if it stands aslant afterwards plus its cell; 180 is to pass.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import Filling, grid, like, men, nine
from solver.games.common.boards import cells_of, check_placed

GROUP = "alignment"
PLANES = 1 | 1 << 9 | 1 << 18
STRAIGHT = (0o116, 0o225, 0o443, 0o161, 0o252, 0o434, 0o611, 0o522, 0o344)  # what an upright piece may come to
ASLANT = (0o420, 0o050, 0o120, 0o202, 0o505, 0o202, 0o024, 0o050, 0o021)
PASS = 180
TOLD = {".": ".", "X": "X+", "A": "Xx", "x": "O+", "a": "Ox"}  # how `show` has the marks of `cells`
MEN = {"X": ["+", 0], "x": ["+", 1], "A": ["\u00d7", 0], "a": ["\u00d7", 1], "+": ["+", 2], "*": ["\u00d7", 2]}


@like(Filling, "initial", "utility")
class ChungToi(NamedTuple):
    """Three in a row, with pieces that move along rows and columns, or, turned, along diagonals; passing is a move."""

    passing: bool = True

    def actions(self, state: int) -> Iterator[int]:
        empty = 511 & ~(state | state >> 9)
        if self.tier(state) < 6:
            for cell in range(9):
                if empty >> cell & 1:
                    yield 162 + cell
                    yield 171 + cell
        else:
            for man in range(9):
                if self._men(state, 0) >> man & 1:
                    aslant = state >> 18 + man & 1
                    targets = (ASLANT[man] if aslant else STRAIGHT[man]) & empty
                    yield 18 * man + 9 * (1 - aslant) + man
                    for cell in range(9):
                        if targets >> cell & 1:
                            yield 18 * man + cell
                            yield 18 * man + 9 + cell
            if self.passing:
                yield PASS

    def result(self, state: int, action: int) -> int:
        turn, source, cell = state >> 27, action // 18, action % 9
        if action != PASS:
            if source < 9:
                state &= ~(PLANES << source)
            state |= 1 << 9 * turn + cell | (action // 9 & 1) << 18 + cell
        return state ^ 1 << 27

    def is_terminal(self, state: int) -> bool:
        return men.has_line(self._men(state, 1), 8)

    def tier(self, state: int) -> int:
        """The pieces on the board."""
        return (state & (1 << 18) - 1).bit_count()

    def canonical(self, state: int) -> int:
        """The least of the board's eight images, the mover's pieces first and to move."""
        own, other = self._men(state, 0), self._men(state, 1)
        return nine.least(own | other << 9 | (state >> 18 & 511) << 18, PLANES)

    def format_action(self, state: int, action: int) -> str:
        if action == PASS:
            return "pass"
        source, cell = action // 18, action % 9
        way = "+x"[action // 9 & 1]
        return (grid.name(3, source) if source not in (9, cell) else "") + grid.name(3, cell) + way

    def show(self, state: int) -> str:
        board = self.cells(state, 0)[:3]
        rows = [f"{3 - i:2} " + " ".join(f"{TOLD[mark]:2}" for mark in row) for i, row in enumerate(board)]
        return "\n".join([*rows, "   a  b  c    " + "XO"[state >> 27] + " to move, + upright, x aslant"])

    def parse_position(self, text: str) -> int | None:
        lines = [line.split() for line in text.split("\n")]
        if [len(line) for line in lines[:3]] != [4, 4, 4] or len(lines) != 4 or lines[3][3:4] not in (["X"], ["O"]):
            return None
        marks = {told: mark for mark, told in TOLD.items()}
        rows = ["".join(marks.get(told, "?") for told in line[1:]) for line in lines[:3]]
        return self.from_cells([*rows, "+ *"], "XO".index(lines[3][3]))

    def cells(self, state: int, mover: int) -> list[str]:
        """Other letters for pieces aslant; below, cells for what a piece that is placed or moved shall stand like."""
        marks = []
        for cell in range(9):
            mark = "XA"[state >> 18 + cell & 1] if (state | state >> 9) >> cell & 1 else "."
            marks.append(mark.lower() if state >> 9 + cell & 1 else mark)
        return ["".join(marks[3 * row : 3 * row + 3]) for row in (2, 1, 0)] + ["+ *"]

    def from_cells(self, rows: list[str], mover: int) -> int:
        board, aslant = rows[:3], cells_of(rows[:3], "A") | cells_of(rows[:3], "a")
        first, second = cells_of(board, "X") | cells_of(board, "A"), cells_of(board, "x") | cells_of(board, "a")
        check_placed(first, second, mover, 3)
        return first | second << 9 | aslant << 18 | mover << 27

    def layout(self) -> tuple[str, int]:
        return "*+AXax", PASS + self.passing

    def place(self, state: int, action: int) -> list[int]:
        """The piece, its cell, and how it stands."""
        if action == PASS:
            return []
        source, cell = action // 18, action % 9
        ends = [grid.place(3, 3, cell)] if source in (9, cell) else [grid.place(3, 3, source), grid.place(3, 3, cell)]
        return [*ends, 11 if action // 9 & 1 else 9]

    def drawing(self) -> dict[str, Any]:
        names = [grid.name(3, 3 * row + column) for row in (2, 1, 0) for column in range(3)]
        return {"board": "squares", "sides": ["red", "white"], "men": MEN, "names": [*names, "+", "", "\u00d7"]}

    def _men(self, state: int, other: int) -> int:
        """The mover's pieces (0) or the other's (1)."""
        return state >> 9 * (state >> 27 ^ other) & 511
