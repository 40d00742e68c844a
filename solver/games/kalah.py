"""Kalah(houses, seeds): sow counter-clockwise, one by one, into the own store but not the other's.

The last seed in the own store moves again; in an own empty house it is taken to the store with the house opposite.
The game ends as soon as either side's houses are empty; the remaining seeds go to their owner (Irving, Donkers and
Uiterwijk, ICGA Journal 23(3), 2000). A state is the mover's houses, then the other's, each in the order of sowing and
in as many bits as all seeds take, then the mover's store, then the side to move; the other's store is the rest.

`tier` grows with every move: seeds in stores never leave them, and a sowing that does not reach the own store only
moves seeds forward within the mover's side. So it counts the seeds in stores first, and then how far the others are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Kalah(NamedTuple):
    """Sow seeds; the last in the own store moves again, in an own empty house captures; the value is the margin.

    `empty_capture`: the last seed is captured also when the house opposite is empty.
    """

    houses: int = 4
    seeds: int = 3
    empty_capture: bool = True

    score_game = True  # type: ignore[misc]

    def check(self) -> None:
        if self.houses < 1 or self.seeds < 1:
            raise ValueError("houses and seeds must be at least 1")
        if (2 * self.houses + 1) * (2 * self.houses * self.seeds).bit_length() + 1 > 62:
            raise ValueError("the houses and a store must fit 61 bits: take fewer houses or seeds")

    def initial(self) -> int:
        state = 0
        for house in range(2 * self.houses):
            state |= self.seeds << house * self._bits()
        return state

    def actions(self, state: int) -> Iterator[int]:
        for house in range(self.houses):
            if self._count(state, house):
                yield house

    def result(self, state: int, action: int) -> int:
        bits, houses = self._bits(), self.houses
        hand = self._count(state, action)
        state -= hand << action * bits
        place = action  # 0..houses-1 own houses, `houses` the own store, then the other's houses
        while hand:
            place = place + 1 if place < 2 * houses else 0
            state += 1 << self._field(place) * bits
            hand -= 1
        if place == houses:
            return state
        if place < houses and self._count(state, place) == 1:
            opposite = 2 * houses - 1 - place
            captured = self._count(state, opposite)
            if captured or self.empty_capture:
                state += captured + 1 << 2 * houses * bits
                state -= 1 << place * bits | captured << opposite * bits
        return self._turned(state)

    def to_move(self, state: int) -> int:
        return state >> (2 * self.houses + 1) * self._bits()

    def is_terminal(self, state: int) -> bool:
        side = (1 << self.houses * self._bits()) - 1
        return state & side == 0 or state >> self.houses * self._bits() & side == 0

    def utility(self, state: int) -> int:
        own = self._count(state, 2 * self.houses)
        for house in range(self.houses):
            own += self._count(state, house)
        return 2 * own - self._total()

    def tier(self, state: int) -> int:
        stored = self._total()
        advance = 0
        for house in range(2 * self.houses):
            seeds = self._count(state, house)
            stored -= seeds
            advance += seeds * (house % self.houses)
        return stored * (self._total() * (self.houses - 1) + 1) + advance

    def bounds(self, state: int) -> tuple[int, int]:
        """The margin if all seeds outside the stores went to the other, or to the mover."""
        own = self._count(state, 2 * self.houses)
        afield = 0
        for house in range(2 * self.houses):
            afield += self._count(state, house)
        return 2 * own - self._total(), 2 * (own + afield) - self._total()

    def replies(self, state: int) -> int:
        houses = 0
        for house in range(self.houses):
            if self._count(state, house):
                houses |= 1 << house
        return houses

    def promise(self, state: int, action: int) -> int:
        """Moves that end in the own store first, then those that sow from near it."""
        ends_in_store = self._count(state, action) % (2 * self.houses + 1) == self.houses - action
        return (self.houses if ends_in_store else 0) + action

    def evaluate(self, state: int) -> int:
        """The difference of the stores."""
        lower, upper = self.bounds(state)
        return (lower + upper) // 2

    def features(self, state: int) -> Iterator[int]:
        """Stores, seeds and empty houses of both sides; house by house seeds, moves into the store, and captures."""
        lower, upper = self.bounds(state)
        yield lower + upper  # twice the difference of the stores
        yield upper - lower
        yield self.to_move(state)
        for side in range(2):
            seeds = empty = again = 0
            for house in range(self.houses):
                count = self._count(state, side * self.houses + house)
                seeds += count
                empty += 1 if count == 0 else 0
                again += 1 if self._ends_in_store(count, house) else 0
            yield seeds
            yield empty
            yield again
        for side in range(2):
            for house in range(self.houses):
                count = self._count(state, side * self.houses + house)
                yield count
                yield 1 if self._ends_in_store(count, house) else 0
                yield self._caught(state, side, house)

    def _ends_in_store(self, count: int, house: int) -> bool:
        return count > 0 and count % (2 * self.houses + 1) == self.houses - house

    def _caught(self, state: int, side: int, house: int) -> int:
        """The seeds that the side would capture opposite its house, if one of its moves without a full round ends there
        and it is empty."""
        if self._count(state, side * self.houses + house):
            return 0
        for start in range(house):
            if self._count(state, side * self.houses + start) == house - start:
                return self._count(state, (2 - side) * self.houses - 1 - house)
        return 0

    def format_action(self, state: int, action: int) -> str:
        return str(action + 1)

    def show(self, state: int) -> str:
        """The houses of the side to move below."""
        return "\n".join(self._rows(state, 0)) + f"   player {self.to_move(state) + 1} to move"

    def view(self, state: int, mover: int) -> str:
        """The first player's houses below; those of the side to move have their numbers."""
        names = range(self.houses, 0, -1) if mover else range(1, self.houses + 1)
        numbers = "     " + " ".join(f"{name:2}" for name in names)
        rows = self._rows(state, mover)
        return "\n".join([numbers, *rows] if mover else [*rows, numbers]) + f"   player {mover + 1} to move"

    def _rows(self, state: int, turned: int) -> list[str]:
        """The other's houses, the stores and the mover's houses, or turned round."""
        own = [self._count(state, house) for house in range(self.houses)]
        other = [self._count(state, self.houses + house) for house in range(self.houses)]
        store = self._count(state, 2 * self.houses)
        rest = self._total() - store - sum(own) - sum(other)
        if turned:
            own, other, store, rest = other, own, rest, store
        return [
            "     " + " ".join(f"{seeds:2}" for seeds in reversed(other)),
            f"{rest:3}" + "   " * self.houses + f"{store:5}",
            "     " + " ".join(f"{seeds:2}" for seeds in own),
        ]

    def _total(self) -> int:
        return 2 * self.houses * self.seeds

    def _bits(self) -> int:
        """Bits of a house."""
        return self._total().bit_length()

    def _count(self, state: int, field: int) -> int:
        return state >> field * self._bits() & (1 << self._bits()) - 1

    def _field(self, place: int) -> int:
        """The field of a place on the mover's round: the store lies between the houses but is encoded last."""
        if place < self.houses:
            return place
        return 2 * self.houses if place == self.houses else place - 1

    def _turned(self, state: int) -> int:
        """The same board from the other's view, who moves."""
        side = self.houses * self._bits()
        own, other = state & (1 << side) - 1, state >> side & (1 << side) - 1
        rest = self._total() - self._count(state, 2 * self.houses)
        for house in range(2 * self.houses):
            rest -= self._count(state, house)
        return other | own << side | (rest | 1 - self.to_move(state) << self._bits()) << 2 * side
