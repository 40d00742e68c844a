"""Nim: take any number from one heap; who takes the last wins (Bouton 1901), or loses in misere.

The mover loses if and only if the heaps' exclusive or is 0; in misere, when no heap is above 1, if and only if the
number of heaps is odd. A state is the heaps side by side, the first lowest, each in as many bits as the largest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

GROUP = "impartial"


class Nim(NamedTuple):
    """Up to seven heaps; take one or more from one heap; who takes the last wins (misere: loses)."""

    heaps: tuple[int, ...] = (3, 4, 5)
    misere: bool = False

    @property
    def impartial(self) -> bool:
        return not self.misere

    def check(self) -> None:
        if not 1 <= len(self.heaps) <= 7 or min(self.heaps) < 0:
            raise ValueError("it takes one to seven heaps of 0 or more")
        if max(self.heaps).bit_length() * len(self.heaps) > 62:
            raise ValueError("the heaps together must fit 62 bits, each in the bits of the largest")
        if sum(self.heaps) > 1 << 16:
            raise ValueError("the heaps together must be at most 65536: each number to take is a move to be listed")

    def initial(self) -> int:
        state = 0
        for i in range(len(self.heaps)):
            state |= self.heaps[i] << i * self._bits()
        return state

    def actions(self, state: int) -> Iterator[int]:
        for i in range(len(self.heaps)):
            for taken in range(1, self._heap(state, i) + 1):
                yield i << self._bits() | taken

    def result(self, state: int, action: int) -> int:
        taken = action & (1 << self._bits()) - 1
        return state - (taken << (action >> self._bits()) * self._bits())

    def is_terminal(self, state: int) -> bool:
        return state == 0

    def utility(self, state: int) -> int:
        return 1 if self.misere else -1

    def tier(self, state: int) -> int:
        return self._total(self.initial()) - self._total(state)

    def canonical(self, state: int) -> int:
        """Heaps in descending order."""
        ordered = 0
        for place in range(len(self.heaps)):
            largest, where = -1, 0
            for i in range(len(self.heaps)):
                heap = self._heap(state, i)
                if heap > largest:
                    largest, where = heap, i
            state -= largest << where * self._bits()
            ordered |= largest << place * self._bits()
        return ordered

    def format_action(self, state: int, action: int) -> str:
        return "abcdefg"[action >> self._bits()] + str(action & (1 << self._bits()) - 1)

    def show(self, state: int) -> str:
        return "\n".join(
            f"{name} {'|' * self._heap(state, i)}" for name, i in zip("abcdefg", range(len(self.heaps)), strict=False)
        )

    def cells(self, state: int, mover: int) -> list[str]:
        """A row for each heap; of heaps of more than 30 their numbers."""
        most = 0
        for heap in self.heaps:
            most = max(most, heap)
        heaps = [self._heap(state, i) for i in range(len(self.heaps))]
        if most > 30:
            return [str(heap).rjust(len(str(most)), "0") for heap in heaps]
        return ["o" * heap + "." * (most - heap) for heap in heaps]

    def place(self, state: int, action: int) -> list[int]:
        most = 0
        for heap in self.heaps:
            most = max(most, heap)
        i, taken = action >> self._bits(), action & (1 << self._bits()) - 1
        return [] if most > 30 else [i * most + self._heap(state, i) - taken]

    def drawing(self) -> dict[str, Any]:
        return {"board": "piles", "men": {"o": ["coin", 2]}}

    def _bits(self) -> int:
        """Bits of a heap."""
        most = 1
        for heap in self.heaps:
            most = max(most, heap)
        return most.bit_length()

    def _heap(self, state: int, i: int) -> int:
        return state >> i * self._bits() & (1 << self._bits()) - 1

    def _total(self, state: int) -> int:
        total = 0
        for i in range(len(self.heaps)):
            total += self._heap(state, i)
        return total
