"""Subtraction games: take one of certain numbers of coins from a stack; who cannot take any loses.

With 1, 2 and 3 it is the game of coins, without misere; other numbers make other games, and some coins may be left in
the end. The nimbers of stacks repeat themselves after a while, for 1, 3 and 4 with period 7: 0 1 0 1 2 3 2 (Berlekamp,
Conway and Guy, Winning Ways, chapter 4).

A state is the coins left, and an action the coins taken.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.coins import Coins
from solver.games.common import like

GROUP = "impartial"


@like(Coins)
class Subtraction(NamedTuple):
    """Take as many coins as one of the numbers of `takes` from a stack; who cannot loses."""

    takes: tuple[int, ...] = (1, 3, 4)
    coins: int = 24

    impartial = True

    def check(self) -> None:
        if not 1 <= self.coins < 1 << 62:
            raise ValueError("coins must be from 1 to 2**62 - 1")
        if not 1 <= len(self.takes) <= 62 or min(self.takes) < 1 or len(set(self.takes)) < len(self.takes):
            raise ValueError("takes must be one to 62 numbers above 0, each of them once")

    def actions(self, state: int) -> Iterator[int]:
        for coins in self.takes:
            if coins <= state:
                yield coins

    def is_terminal(self, state: int) -> bool:
        for coins in self.takes:
            if coins <= state:
                return False
        return True

    def utility(self, state: int) -> int:
        return -1

    def layout(self) -> tuple[str, int]:
        return "0123456789" if self.coins > 70 else "o", min(max(self.takes), self.coins) + 1
