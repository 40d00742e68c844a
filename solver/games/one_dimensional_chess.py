"""Chess in one dimension (Martin Gardner, Scientific American, July 1980): king, knight and rook each on eight cells.

    K N R . . r n k      1 to 8 from White's side

The king steps to a neighbouring cell, the knight leaps two cells on, and the rook slides. All take as they move. As in
chess, nobody may leave the own king attacked. Check without an escape is mate. To have no move without check is a draw,
and so is play that goes on for ever. White wins by 1. N4, as Gardner says.

A state has three bits a cell from the first on, 0 for none, then White's king, knight and rook as 1, 2, 3, Black's as
5, 6, 7; and a bit for the side to move. An action is 20 times the cell moved from plus the cell moved to. Pieces are
taken, never placed: the tier is how many are gone.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import chess, limits

GROUP = "endings"
KING, KNIGHT, ROOK = 1, 2, 3
MOST_CELLS = 20  # of three bits each


class OneDimensionalChess(NamedTuple):
    """King, knight and rook each on a row of `length` cells; mate wins."""

    length: int = 8

    def check(self) -> None:
        limits(self, length=(6, MOST_CELLS))

    def initial(self) -> int:
        state = KING | KNIGHT << 3 | ROOK << 6
        for kind in range(KING, ROOK + 1):
            state |= (4 + kind) << 3 * (self.length - kind)
        return state

    def actions(self, state: int) -> Iterator[int]:
        for source in range(self.length):
            for target in range(self.length):
                if self._is_legal(state, source, target):
                    yield MOST_CELLS * source + target

    def result(self, state: int, action: int) -> int:
        return self._after(state, action // MOST_CELLS, action % MOST_CELLS) ^ 1 << 3 * self.length

    def is_terminal(self, state: int) -> bool:
        for source in range(self.length):
            for target in range(self.length):
                if self._is_legal(state, source, target):
                    return False
        return True

    def utility(self, state: int) -> int:
        return -1 if self._is_checked(state, state >> 3 * self.length) else 0

    def tier(self, state: int) -> int:
        men = 0
        for cell in range(self.length):
            men += 1 if self._man(state, cell) else 0
        return 6 - men

    def canonical(self, state: int) -> int:
        """As if White moved: the row reversed, the colours exchanged."""
        if state >> 3 * self.length == 0:
            return state
        image = 0
        for cell in range(self.length):
            man = self._man(state, cell)
            image |= (man ^ 4 if man else 0) << 3 * (self.length - 1 - cell)
        return image

    def format_end(self, state: int) -> str:
        return "checkmate" if self.utility(state) else "stalemate"

    def format_action(self, state: int, action: int) -> str:
        return " KNR"[self._man(state, action // MOST_CELLS) & 3] + str(action % MOST_CELLS + 1)

    def cells(self, state: int, mover: int) -> list[str]:
        return ["".join(".KNR.knr"[self._man(state, cell)] for cell in range(self.length))]

    def from_cells(self, rows: list[str], mover: int) -> int:
        men = [".KNR.knr".index(mark) if mark in "KNRknr" else 0 for mark in rows[0]]
        state = mover << 3 * self.length | sum(man << 3 * cell for cell, man in enumerate(men))
        for mark in "KNRknr":
            if rows[0].count(mark) > 1 or (rows[0].count(mark) == 0 and mark in "Kk"):
                raise ValueError("each side has one king, and at most one knight and one rook")
        if self._is_checked(state, 1 - mover):
            raise ValueError("who is not to move is in check")
        return state

    def layout(self) -> tuple[str, int]:
        return "KNRknr", MOST_CELLS * self.length

    def place(self, state: int, action: int) -> list[int]:
        return [action // MOST_CELLS, action % MOST_CELLS]

    def drawing(self) -> dict[str, Any]:
        men = {mark: chess.MEN[mark] for mark in "KkNnRr"}
        names = [str(cell + 1) for cell in range(self.length)]
        return {"board": "checks", "sides": ["white", "black"], "men": men, "names": names}

    def _man(self, state: int, cell: int) -> int:
        return state >> 3 * cell & 7

    def _after(self, state: int, source: int, target: int) -> int:
        man = self._man(state, source)
        return state & ~(7 << 3 * source | 7 << 3 * target) | man << 3 * target

    def _reaches(self, state: int, source: int, target: int) -> bool:
        """Whether the piece of a cell, as it moves, could go to another, whatever stands there."""
        kind, steps = self._man(state, source) & 3, abs(target - source)
        if kind < ROOK:
            return steps == kind
        for cell in range(min(source, target) + 1, max(source, target)):
            if self._man(state, cell):
                return False
        return steps > 0

    def _is_legal(self, state: int, source: int, target: int) -> bool:
        turn, man, taken = state >> 3 * self.length, self._man(state, source), self._man(state, target)
        if man == 0 or man >> 2 != turn or (taken and taken >> 2 == turn) or not self._reaches(state, source, target):
            return False
        return not self._is_checked(self._after(state, source, target), turn)

    def _is_checked(self, state: int, side: int) -> bool:
        """Whether a side's king is attacked."""
        king = 0
        for cell in range(self.length):
            if self._man(state, cell) == KING + 4 * side:
                king = cell
        for cell in range(self.length):
            man = self._man(state, cell)
            if man and man >> 2 != side and self._reaches(state, cell, king):
                return True
        return False
