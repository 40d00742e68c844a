"""Grundy's game (Patrick Grundy 1939): divide a heap into two of different sizes; who finds only ones and twos loses.

The game begins with one heap. A turn picks any heap that can be divided so, of three coins or more, and divides it.
Nobody knows whether the nimbers of heaps ever repeat themselves; they begin 0 0 0 1 0 2 1 0 2 1 0 2 1 3 2 1 3 2 4 3 0
(sequence A002188 of the OEIS).

A state is the row of coins with its cuts: a bit for each place between two coins, the first one lowest, that is 1 where
a heap ends. An action is such a place; of two that divide a heap alike the first one is listed. `canonical` has the
heaps in descending order.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import Filling, like, limits
from solver.games.common.boards import cells_of

GROUP = "impartial"


@like(Filling)
class Grundy(NamedTuple):
    """Divide a heap into two that are not of the same size; who cannot loses."""

    coins: int = 20

    impartial = True

    def check(self) -> None:
        limits(self, coins=(1, 62))

    def actions(self, state: int) -> Iterator[int]:
        first = 0
        while first < self.coins:
            size = self._size(state, first)
            for part in range(1, (size + 1) // 2):
                yield first + part - 1
            first += size

    def is_terminal(self, state: int) -> bool:
        first = 0
        while first < self.coins:
            size = self._size(state, first)
            if size > 2:
                return False
            first += size
        return True

    def longest(self, state: int) -> int:
        return self.coins - 1 - state.bit_count()

    def canonical(self, state: int) -> int:
        ordered = place = 0
        for size in range(self.coins, 0, -1):
            first = 0
            while first < self.coins:
                own = self._size(state, first)
                first += own
                if own == size:
                    place += size
                    ordered |= 1 << place - 1
        return ordered & (1 << self.coins - 1) - 1

    def parse_position(self, text: str) -> int | None:
        """The heaps, as `show` prints them: `oo  ooo  o`."""
        if re.fullmatch(r"o+( +o+)*", text) is None:
            return None
        heaps = text.split()
        if sum(map(len, heaps)) != self.coins:
            raise ValueError(f"there are {self.coins} coins in all")
        return self.from_cells(["|".join(map(".".join, heaps))], 0)

    def show(self, state: int) -> str:
        return "".join(["o" + ("  " if state >> i & 1 else "") for i in range(self.coins)])

    def cells(self, state: int, mover: int) -> list[str]:
        """The coins, and between them where they may be cut, and are."""
        return ["".join(["o" + ("|" if state >> i & 1 else ".") for i in range(self.coins)])[:-1]]

    def from_cells(self, rows: list[str], mover: int) -> int:
        return cells_of([rows[0][1::2]], "|")

    def layout(self) -> tuple[str, int]:
        """Return coins and cuts, and the places to cut: the smaller part comes first, so not before the last coin."""
        return "o|", self.coins - 2

    def place(self, state: int, action: int) -> list[int]:
        return [2 * action + 1]

    def drawing(self) -> dict[str, Any]:
        names = [str(i // 2 + 1) if i % 2 else "" for i in range(2 * self.coins - 1)]
        return {"men": {"o": ["coin", 2]}, "names": names}

    def _size(self, state: int, first: int) -> int:
        """The coins of the heap that begins with this one."""
        rest = (state | 1 << self.coins - 1) >> first
        return (rest & -rest).bit_length()
