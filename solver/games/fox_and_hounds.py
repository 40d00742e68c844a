"""Fox and hounds on the dark squares of a board: hounds, which only go down, hem in a fox (Winning Ways, chapter 20).

The fox moves first and one step diagonally any way; it wins on the top row. Hounds start on the top row. A side that
cannot move loses. Dark squares are numbered row by row from the bottom left, half a row's length in each. A state is
the hounds' squares, the fox's number `size * size / 2` bits on, and above its bits, 5 on a chess board, a bit for the
hounds to move. An action is the number of squares times the square moved from plus the square moved to. Hounds never go
back, so the game ends: the tier is twice the steps that they have come, and one while they are to move.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import limits
from solver.games.common.boards import cells_of

GROUP = "hunt"


class FoxAndHounds(NamedTuple):
    """Hounds, which only go down, hem in the fox, which wants to reach the top row.

    size x size squares, size / 2 hounds; the fox starts on the `fox`th dark square of the bottom row.
    """

    size: int = 8
    fox: int = 1

    drawing = {"board": "checks", "sides": ["fox", "hounds"], "men": {"F": ["fox", 0], "h": ["hound", 1]}}

    def check(self) -> None:
        if self.size not in (4, 6, 8, 10):
            raise ValueError("size must be 4, 6, 8 or 10")
        limits(self, fox=(1, self.size // 2))

    def initial(self) -> int:
        half = self.size // 2
        return ((1 << half) - 1) << half * (self.size - 1) | self.fox - 1 << half * self.size

    def actions(self, state: int) -> Iterator[int]:
        squares = self._squares()
        taken = self._taken(state)
        if state >> squares + self._bits():
            for hound in range(squares):
                if state >> hound & 1:
                    for side in range(2):
                        target = self._step(hound, -1, side)
                        if target >= 0 and not taken >> target & 1:
                            yield squares * hound + target
        else:
            fox = self._fox(state)
            for way in range(4):
                target = self._step(fox, way // 2 * 2 - 1, way % 2)
                if target >= 0 and not taken >> target & 1:
                    yield squares * fox + target

    def result(self, state: int, action: int) -> int:
        squares = self._squares()
        start, target = action // squares, action % squares
        hounds, fox, turn = state & (1 << squares) - 1, self._fox(state), state >> squares + self._bits()
        if turn:
            return hounds ^ (1 << start | 1 << target) | fox << squares
        return hounds | target << squares | 1 << squares + self._bits()

    def is_terminal(self, state: int) -> bool:
        squares = self._squares()
        taken = self._taken(state)
        fox = self._fox(state)
        if not state >> squares + self._bits():
            for way in range(4):
                target = self._step(fox, way // 2 * 2 - 1, way % 2)
                if target >= 0 and not taken >> target & 1:
                    return False
            return True
        if fox >= squares - self.size // 2:
            return True
        for hound in range(squares):
            if state >> hound & 1:
                for side in range(2):
                    target = self._step(hound, -1, side)
                    if target >= 0 and not taken >> target & 1:
                        return False
        return True

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        half = self.size // 2
        tier = state >> self._squares() + self._bits()
        for row in range(self.size):
            tier += 2 * (self.size - 1 - row) * (state >> half * row & (1 << half) - 1).bit_count()
        return tier

    def cells(self, state: int, mover: int) -> Iterator[str]:
        fox, half = self._fox(state), self.size // 2
        marks = ["F" if square == fox else "h" if state >> square & 1 else "." for square in range(self._squares())]
        for row in reversed(range(self.size)):
            line = " ".join(marks[half * row : half * (row + 1)])
            yield f" {line}" if row % 2 else f"{line} "

    def from_cells(self, rows: list[str], mover: int) -> int:
        dark = "".join([rows[self.size - 1 - row][row % 2 :: 2] for row in range(self.size)])
        hounds = cells_of([dark], "h")
        if dark.count("F") != 1 or hounds.bit_count() != self.size // 2:
            raise ValueError(f"there are one fox and {self.size // 2} hounds, all of the time")
        return hounds | dark.index("F") << self._squares() | mover << self._squares() + self._bits()

    def layout(self) -> tuple[str, int]:
        return "Fh", self._squares() ** 2

    def place(self, state: int, action: int) -> Iterator[int]:
        for square in (action // self._squares(), action % self._squares()):
            row, place = divmod(square, self.size // 2)
            yield (self.size - 1 - row) * self.size + 2 * place + row % 2

    def _squares(self) -> int:
        return self.size * self.size // 2

    def _bits(self) -> int:
        """Bits of the fox's number."""
        return max(5, (self._squares() - 1).bit_length())

    def _fox(self, state: int) -> int:
        return state >> self._squares() & (1 << self._bits()) - 1

    def _taken(self, state: int) -> int:
        squares = self._squares()
        return state & (1 << squares) - 1 | 1 << self._fox(state)

    def _step(self, square: int, up: int, side: int) -> int:
        """The square diagonally next, up 1 or -1, side 0 left or 1 right; -1 off the board."""
        half = self.size // 2
        row = square // half + up
        column = 2 * (square % half) + square // half % 2 + 2 * side - 1
        if row < 0 or row >= self.size or column < 0 or column >= self.size:
            return -1
        return half * row + column // 2
