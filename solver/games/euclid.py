"""Euclid (Cole and Davie 1969): from the larger of two numbers take a multiple of the smaller; who comes to 0 wins.

It is the algorithm for the greatest common divisor as a game: nobody may go below 0, and there is a choice wherever the
smaller number goes more than once into the larger. The mover wins if and only if the numbers are equal or the larger is
more than the golden ratio times the smaller (A Game Based on the Euclidean Algorithm, Mathematical Gazette 53, 1969).

A state is the second number above the first, each in as many bits as the larger had. An action is how many times the
smaller is taken. `canonical` has the larger number first.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

GROUP = "impartial"


class Euclid(NamedTuple):
    """Take a multiple of the smaller number from the larger one; who makes it 0 wins."""

    first: int = 50
    second: int = 18

    impartial = True

    def check(self) -> None:
        if not 1 <= self.first < 1 << 30 or not 1 <= self.second < 1 << 30:
            raise ValueError("both numbers must be from 1 to 2**30 - 1")
        if max(self.first, self.second) > min(self.first, self.second) << 16:
            raise ValueError("the larger must be at most 65536 times the smaller: each multiple is a move to be listed")

    def initial(self) -> int:
        return self.first | self.second << self._bits()

    def actions(self, state: int) -> Iterator[int]:
        first, second = state & self._mask(), state >> self._bits()
        for times in range(1, max(first, second) // min(first, second) + 1):  # noqa: UP028 -- Numba knows no `yield from`
            yield times

    def result(self, state: int, action: int) -> int:
        first, second = state & self._mask(), state >> self._bits()
        if first >= second:
            return state - action * second
        return state - (action * first << self._bits())

    def is_terminal(self, state: int) -> bool:
        return state & self._mask() == 0 or state >> self._bits() == 0

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        return self.first + self.second - (state & self._mask()) - (state >> self._bits())

    def canonical(self, state: int) -> int:
        first, second = state & self._mask(), state >> self._bits()
        return max(first, second) | min(first, second) << self._bits()

    def format_action(self, state: int, action: int) -> str:
        """The two numbers that are left."""
        after = self.result(state, action)
        return f"{after & self._mask()}/{after >> self._bits()}"

    def parse_position(self, text: str) -> int | None:
        """`21 and 8`: as `show` prints it."""
        matched = re.fullmatch(r"(\d{1,10}) and (\d{1,10})", text)
        return None if matched is None else self.from_cells([matched[1], matched[2]], 0)

    def show(self, state: int) -> str:
        return f"{state & self._mask()} and {state >> self._bits()}"

    def cells(self, state: int, mover: int) -> list[str]:
        most = len(str(max(self.first, self.second)))
        return [str(number).rjust(most, "0") for number in (state & self._mask(), state >> self._bits())]

    def from_cells(self, rows: list[str], mover: int) -> int:
        first, second = int(rows[0]), int(rows[1])
        if max(first, second) > max(self.first, self.second):
            raise ValueError(f"no number grows above {max(self.first, self.second)}")
        return first | second << self._bits()

    def layout(self) -> tuple[str, int]:
        """Return digits; and how many times the smaller number may be taken, which is 1 at least."""
        return "0123456789", max(self.first, self.second) + 1

    def place(self, state: int, action: int) -> list[int]:
        return []

    def _bits(self) -> int:
        """Bits of a number."""
        return max(self.first, self.second).bit_length()

    def _mask(self) -> int:
        return (1 << self._bits()) - 1
