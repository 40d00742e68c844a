"""Nim: take any number from one heap; who takes the last wins (Bouton 1901), or loses in misere.

The mover loses if and only if the heaps' exclusive or is 0; in misere, when no heap is above 1, if and only if the
number of heaps is odd. A state is the heaps side by side, the first lowest, each in as many bits as it has at first.
An action is the heap above the coins taken, which has the bits of the largest heap.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.coins import Coins
from solver.games.common import grid, like

GROUP = "impartial"


@like(Coins, "impartial", "is_terminal", "utility")
class Nim(NamedTuple):
    """Up to 26 heaps; take one or more from one heap; who takes the last wins (misere: loses)."""

    heaps: tuple[int, ...] = (3, 4, 5)
    misere: bool = False

    drawing = {"board": "piles", "heaps": True, "men": {"o": ["coin", 2]}}

    def check(self) -> None:
        if not 1 <= len(self.heaps) <= 26 or min(self.heaps) < 0:
            raise ValueError("it takes one to 26 heaps of 0 or more")
        if self._first(len(self.heaps)) > 62:
            raise ValueError("the heaps together must fit 62 bits, each in its own: take fewer or smaller ones")
        if sum(self.heaps) > 1 << 16:
            raise ValueError("the heaps together must be at most 65536: each number to take is a move to be listed")

    def initial(self) -> int:
        state = 0
        for i in range(len(self.heaps)):
            state |= self.heaps[i] << self._first(i)
        return state

    def actions(self, state: int) -> Iterator[int]:
        for i in range(len(self.heaps)):
            for taken in range(1, self._heap(state, i) + 1):
                yield i << self._bits() | taken

    def result(self, state: int, action: int) -> int:
        taken = action & (1 << self._bits()) - 1
        return state - (taken << self._first(action >> self._bits()))

    def tier(self, state: int) -> int:
        return self._total(self.initial()) - self._total(state)

    def canonical(self, state: int) -> int:
        """The largest heap where the largest was at first, and so on."""
        ordered, rest = 0, self.initial()
        for _ in range(len(self.heaps)):
            where, place = self._largest(state), self._largest(rest)
            ordered |= self._heap(state, where) << self._first(place)
            state -= self._heap(state, where) << self._first(where)
            rest -= self._heap(rest, place) << self._first(place)
        return ordered

    def format_action(self, state: int, action: int) -> str:
        return grid.LETTERS[action >> self._bits()] + str(action & (1 << self._bits()) - 1)

    def cells(self, state: int, mover: int) -> list[str]:
        """A row for each heap; of heaps of more than 30 their numbers."""
        most = max(1, *self.heaps)
        heaps = [self._heap(state, i) for i in range(len(self.heaps))]
        if most > 30:
            return [str(heap).rjust(len(str(most)), "0") for heap in heaps]
        return ["o" * heap + "." * (most - heap) for heap in heaps]

    def from_cells(self, rows: list[str], mover: int) -> int:
        state = 0
        for i in range(len(self.heaps)):
            heap = int(rows[i]) if max(self.heaps) > 30 else rows[i].count("o")
            if heap > self.heaps[i]:
                raise ValueError(f"heap {grid.LETTERS[i]} has at most {self.heaps[i]}")
            state |= heap << self._first(i)
        return state

    def layout(self) -> tuple[str, int]:
        return "0123456789" if max(self.heaps) > 30 else "o", len(self.heaps) << self._bits()

    def place(self, state: int, action: int) -> list[int]:
        most = max(self.heaps)
        i, taken = action >> self._bits(), action & (1 << self._bits()) - 1
        return [] if most > 30 else [i * most + self._heap(state, i) - taken]

    def _bits(self) -> int:
        """Bits of the largest heap."""
        most = 1
        for heap in self.heaps:
            most = max(most, heap)
        return most.bit_length()

    def _first(self, i: int) -> int:
        """Where in a state a heap begins."""
        bits = 0
        for place in range(i):
            bits += self.heaps[place].bit_length()
        return bits

    def _heap(self, state: int, i: int) -> int:
        return state >> self._first(i) & (1 << self.heaps[i].bit_length()) - 1

    def _largest(self, state: int) -> int:
        """Which heap is the largest, the first of equal ones."""
        largest, where = 0, 0
        for i in range(len(self.heaps)):
            heap = self._heap(state, i)
            if heap > largest:
                largest, where = heap, i
        return where

    def _total(self, state: int) -> int:
        total = 0
        for i in range(len(self.heaps)):
            total += self._heap(state, i)
        return total
