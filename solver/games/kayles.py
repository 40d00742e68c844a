"""Kayles (Henry Dudeney 1908): bowl over one pin of a row, or two side by side; who bowls over the last pin wins.

Pins that have fallen leave gaps, so that a row becomes several. `least` and `most` say how many pins side by side a
ball takes. From two to two it is Dawson's kayles, from three to three what is left of treblecross when nobody gives the
game away. Guy and Smith (The G-values of various games, 1956) found the nimbers of all three.

A state has a bit for each pin that stands, the first one lowest. An action is the first pin of those taken times 64
plus how many. `canonical` has the rows by length, the longest lowest, one gap behind each, as the worked example of
three rows: .||.|.|||. is the same as |||.||.|...
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from solver.games.common import grid, limits
from solver.games.common.boards import cells_of

GROUP = "impartial"


class Kayles(NamedTuple):
    """Take `least` to `most` pins that stand side by side in a row of `pins`; who cannot loses."""

    pins: int = 15
    least: int = 1
    most: int = 2

    impartial = True

    def check(self) -> None:
        limits(self, pins=(1, 62), least=(1, 62), most=(self.least, 62))

    def initial(self) -> int:
        return (1 << self.pins) - 1

    def actions(self, state: int) -> Iterator[int]:
        for pin in range(self.pins):
            count = 1
            while count <= self.most and state >> pin + count - 1 & 1:
                if count >= self.least:
                    yield pin * 64 + count
                count += 1

    def result(self, state: int, action: int) -> int:
        return state ^ (1 << action % 64) - 1 << action // 64

    def is_terminal(self, state: int) -> bool:
        return not self._places(state)

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        return self.pins - state.bit_count()

    def longest(self, state: int) -> int:
        return state.bit_count() // self.least

    def canonical(self, state: int) -> int:
        """Rows in descending order."""
        ordered = place = 0
        for length in range(self.pins, 0, -1):
            rest = state
            while rest:
                row = rest & ~(rest + (rest & -rest))
                rest ^= row
                if row.bit_count() == length:
                    ordered |= (1 << length) - 1 << place
                    place += length + 1
        return ordered

    def format_action(self, state: int, action: int) -> str:
        return "+".join([str(action // 64 + 1 + i) for i in range(action % 64)])

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(self.pins, 1, state, "o")

    def from_cells(self, rows: list[str], mover: int) -> int:
        return cells_of(rows, "o")

    def layout(self) -> tuple[str, Iterable[int]]:
        """Return pins, and rows of pins to take."""
        counts = range(self.least, min(self.most, self.pins) + 1)
        return "o", [64 * pin + count for pin in range(self.pins) for count in counts]

    def place(self, state: int, action: int) -> Iterator[int]:
        for i in range(action % 64):
            yield action // 64 + i

    def drawing(self) -> dict[str, Any]:
        return {"men": {"o": ["coin", 2]}, "names": [str(pin + 1) for pin in range(self.pins)]}

    def _places(self, state: int) -> int:
        """The pins from which on as many stand as must be taken."""
        for _ in range(1, self.least):
            state &= state >> 1
        return state
