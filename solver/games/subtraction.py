"""Subtraction games: take one of certain numbers of coins from a stack; who cannot take any loses.

With 1, 2 and 3 it is the game of coins, without misere; other numbers make other games, and some coins may be left in
the end. The nimbers of stacks repeat themselves after a while, for 1, 3 and 4 with period 7: 0 1 0 1 2 3 2 (Berlekamp,
Conway and Guy, Winning Ways, chapter 4).

A state is the coins left, and an action the coins taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

GROUP = "impartial"


class Subtraction(NamedTuple):
    """Take as many coins as one of the numbers of `takes` from a stack; who cannot loses."""

    takes: tuple[int, ...] = (1, 3, 4)
    coins: int = 24

    @property
    def impartial(self) -> bool:
        return True

    def check(self) -> None:
        if not 1 <= self.coins < 1 << 62:
            raise ValueError("coins must be from 1 to 2**62 - 1")
        if not 1 <= len(self.takes) <= 62 or min(self.takes) < 1 or len(set(self.takes)) < len(self.takes):
            raise ValueError("takes must be one to 62 numbers above 0, each of them once")

    def initial(self) -> int:
        return self.coins

    def actions(self, state: int) -> Iterator[int]:
        for coins in self.takes:
            if coins <= state:
                yield coins

    def result(self, state: int, action: int) -> int:
        return state - action

    def is_terminal(self, state: int) -> bool:
        for coins in self.takes:
            if coins <= state:
                return False
        return True

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        return self.coins - state

    def parse_position(self, text: str) -> int | None:
        """`7 coins`, as `show` prints it."""
        matched = re.fullmatch(r"(\d{1,19}) coins?", text)
        if matched is not None and int(matched[1]) > self.coins:
            raise ValueError(f"there are at most {self.coins} coins")
        return None if matched is None else int(matched[1])

    def show(self, state: int) -> str:
        return f"{state} coins" if state != 1 else "1 coin"

    def cells(self, state: int, mover: int) -> list[str]:
        """Rows of seven coins; of more than 70 their number."""
        if self.coins > 70:
            return [str(state).rjust(len(str(self.coins)), "0")]
        row = min(self.coins, 7)
        marks = "o" * state + "." * (self.coins - state) + " " * (-self.coins % row)
        return [marks[first : first + row] for first in range(0, self.coins, row)]

    def from_cells(self, rows: list[str], mover: int) -> int:
        marks = "".join(rows)
        return int(marks) if self.coins > 70 else marks.count("o")

    def layout(self) -> tuple[str, int]:
        return "0123456789" if self.coins > 70 else "o", min(max(self.takes), self.coins) + 1

    def place(self, state: int, action: int) -> list[int]:
        return [] if self.coins > 70 else [state - action]

    def drawing(self) -> dict[str, Any]:
        return {"board": "piles", "men": {"o": ["coin", 2]}}
