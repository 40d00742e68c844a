"""Wythoff's game (Willem Wythoff 1907): take any number from one of two heaps, or the same number from both.

Who takes the last wins. It is also the game of the queen: on a board without end she goes left, down, or diagonally
towards the corner, and who brings her there wins (Rufus Isaacs). The positions that are lost for the mover are the
pairs of whole parts of k times the golden ratio and k times its square: 1 and 2, 3 and 5, 4 and 7, 6 and 10, 8 and 13,
and so on.

A state is the second heap above the first, each in as many bits as the larger had. An action is the number taken from
the first heap and, in as many bits, from the second: 3 and 3 is a diagonal step. `canonical` has the larger heap
first.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from solver.games.common import like, limits
from solver.games.euclid import Euclid

GROUP = "impartial"


@like(Euclid, "initial", "utility", "canonical")
class Wythoff(NamedTuple):
    """Take any number from one of two heaps, or the same number from both; who takes the last wins."""

    first: int = 12
    second: int = 9

    impartial = True
    drawing = {"board": "piles", "heaps": True, "men": {"o": ["coin", 2]}}

    def check(self) -> None:
        limits(self, first=(0, 1 << 14), second=(0, 1 << 14))

    def actions(self, state: int) -> Iterator[int]:
        first, second = state & self._mask(), state >> self._bits()
        for taken in range(1, first + 1):
            yield taken
        for taken in range(1, second + 1):
            yield taken << self._bits()
        for taken in range(1, min(first, second) + 1):
            yield taken | taken << self._bits()

    def result(self, state: int, action: int) -> int:
        return state - action

    def is_terminal(self, state: int) -> bool:
        return state == 0

    def tier(self, state: int) -> int:
        return self.first + self.second - self.longest(state)

    def longest(self, state: int) -> int:
        return (state & self._mask()) + (state >> self._bits())

    def format_action(self, state: int, action: int) -> str:
        first, second = action & self._mask(), action >> self._bits()
        return f"ab{first}" if first == second else f"a{first}" if first else f"b{second}"

    def cells(self, state: int, mover: int) -> list[str]:
        """A row for each heap; of heaps of more than 30 their numbers."""
        most = max(1, self.first, self.second)
        first, second = state & self._mask(), state >> self._bits()
        if most > 30:
            return [str(heap).rjust(len(str(most)), "0") for heap in (first, second)]
        return ["o" * heap + "." * (most - heap) for heap in (first, second)]

    def from_cells(self, rows: list[str], mover: int) -> int:
        most = max(self.first, self.second)
        heaps = [int(row) if most > 30 else row.count("o") for row in rows]
        if heaps[0] > self.first or heaps[1] > self.second:
            raise ValueError(f"the heaps have at most {self.first} and {self.second}")
        return heaps[0] | heaps[1] << self._bits()

    def layout(self) -> tuple[str, Iterable[int]]:
        """Coins, or digits of large heaps; takes from either heap, and as many from both."""
        first, second, both = (range(1, most + 1) for most in (self.first, self.second, min(self.first, self.second)))
        apart = [*first, *(taken << self._bits() for taken in second)]
        coins = "0123456789" if max(self.first, self.second) > 30 else "o"
        return coins, sorted([*apart, *(taken | taken << self._bits() for taken in both)])

    def place(self, state: int, action: int) -> list[int]:
        """The last coin that stays away, in each heap."""
        most = max(self.first, self.second)
        first, second = action & self._mask(), action >> self._bits()
        left = [(state & self._mask()) - first, most + (state >> self._bits()) - second]
        return [] if most > 30 else [left[i] for i in range(2) if (first, second)[i]]

    def _bits(self) -> int:
        """Bits of a heap."""
        return max(max(self.first, self.second), 1).bit_length()

    def _mask(self) -> int:
        return (1 << self._bits()) - 1
