"""Fibonacci nim (Robert Gaskell, Michael Whinihan 1963): take coins, at most twice as many as the other just took.

The first turn may take any number but all. Who takes the last coin wins. The first player loses if and only if the
number of coins is a Fibonacci number: 2, 3, 5, 8, 13 and so on (Whinihan, Fibonacci Nim, Fibonacci Quarterly 1, 1963).
To win, write the coins as a sum of Fibonacci numbers, no two of them neighbours, and take the smallest.

A state is the coins left, and in as many bits how many may be taken at most, which is never more than there are. An
action is the coins taken.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import limits

GROUP = "impartial"


class FibonacciNim(NamedTuple):
    """Take coins from one stack, not all at once, then at most twice what the other took; who takes the last wins."""

    coins: int = 20

    impartial = True
    drawing = {"board": "piles", "men": {"o": ["coin", 2], "c": ["coin", 1]}}

    def check(self) -> None:
        limits(self, coins=(2, 1 << 16))

    def initial(self) -> int:
        return self.coins | self.coins - 1 << self._bits()

    def actions(self, state: int) -> Iterator[int]:
        for coins in range(1, (state >> self._bits()) + 1):  # noqa: UP028 -- Numba knows no `yield from`
            yield coins

    def result(self, state: int, action: int) -> int:
        left = self.longest(state) - action
        return left | min(2 * action, left) << self._bits()

    def is_terminal(self, state: int) -> bool:
        return state == 0

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        return self.coins - self.longest(state)

    def longest(self, state: int) -> int:
        return state & (1 << self._bits()) - 1

    def parse_position(self, text: str) -> int | None:
        """`7 coins, take at most 3`: as `show` prints it."""
        matched = re.fullmatch(r"(\d{1,6}) coins?, take at most (\d{1,6})", text)
        if matched is None:
            return None
        left, most = int(matched[1]), int(matched[2])
        if left > self.coins or most > left:
            raise ValueError(f"there are at most {self.coins} coins, and who takes finds as many as it may take")
        return left | most << self._bits()

    def show(self, state: int) -> str:
        return f"{self.longest(state)} coins, take at most {state >> self._bits()}"

    def cells(self, state: int, mover: int) -> list[str]:
        """Rows of seven coins, those that may be taken bright; of more than 70 their number."""
        left, most = self.longest(state), state >> self._bits()
        if self.coins > 70:
            return [str(left).rjust(len(str(self.coins)), "0")]
        row = min(self.coins, 7)
        marks = "c" * (left - most) + "o" * most + "." * (self.coins - left) + " " * (-self.coins % row)
        return [marks[first : first + row] for first in range(0, self.coins, row)]

    def layout(self) -> tuple[str, int]:
        return "0123456789" if self.coins > 70 else "co", self.coins

    def place(self, state: int, action: int) -> list[int]:
        return [] if self.coins > 70 else [self.longest(state) - action]

    def _bits(self) -> int:
        """Bits of the number of coins."""
        return self.coins.bit_length()
