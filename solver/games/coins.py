"""Coins: one stack, players take 1 to `most` coins in turn.

Textbook subtraction game: with `misere` (the default) who takes the last coin loses, and the losing stacks
are those with coins % (most + 1) == 1; without it they are the multiples of most + 1 (Bachet).

A state is the coins left.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

GROUP = "impartial"


class Coins(NamedTuple):
    """Take 1 to `most` coins from one stack; misere: who takes the last coin loses. A state is the coins left."""

    coins: int = 21
    most: int = 3
    misere: bool = True

    drawing = {"board": "piles", "men": {"o": ["coin", 2]}}

    @property
    def impartial(self) -> bool:
        return not self.misere

    def check(self) -> None:
        if not 1 <= self.coins < 1 << 62:
            raise ValueError("coins must be from 1 to 2**62 - 1")
        if not 1 <= self.most <= 1 << 16:
            raise ValueError("most must be from 1 to 65536: each number is a move to be listed")

    def initial(self) -> int:
        return self.coins

    def actions(self, state: int) -> Iterator[int]:
        for coins in range(1, min(self.most, state) + 1):  # noqa: UP028 -- Numba knows no `yield from`
            yield coins

    def result(self, state: int, action: int) -> int:
        return state - action

    def is_terminal(self, state: int) -> bool:
        return state == 0

    def utility(self, state: int) -> int:
        return 1 if self.misere else -1

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
        return "0123456789" if self.coins > 70 else "o", min(self.most, self.coins) + 1

    def place(self, state: int, action: int) -> list[int]:
        return [] if self.coins > 70 else [state - action]
