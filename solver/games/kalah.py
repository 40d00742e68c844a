"""Kalah(houses, seeds): sow counter-clockwise, one by one, into the own store but not the other's.

The last seed in the own store moves again; in an own empty house it is taken to the store with the house opposite.
The game ends as soon as either side's houses are empty; the remaining seeds go to their owner (Irving, Donkers and
Uiterwijk, ICGA Journal 23(3), 2000).

A state is the seeds in the houses, nothing else: the mover and the stores do not influence later play. The rules read
it as two rows, the mover's houses and the other's, each in the order of sowing, with as many bits a house as all
seeds take. Where both rows fit 63 bits they are the state, the mover's in the low bits; else each house is as many
zeros as it has seeds, and a one: kalah:6,4 begins as 10000 10000 ... 10000, 60 bits.

`tier` grows with every move: seeds in stores never leave them, and a sowing that does not reach the own store only
moves seeds forward within the mover's side. So it counts the seeds in stores first, and then how far the others are.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common.boards import counts, pits, seeds_of

GROUP = "scoring"


class Kalah(NamedTuple):
    """Sow seeds; the last in the own store moves again, in an own empty house captures; the value is the margin.

    `empty_capture`: the last seed is captured also when the house opposite is empty.
    """

    houses: int = 4
    seeds: int = 3
    empty_capture: bool = True

    score_game = True

    def check(self) -> None:
        if self.houses < 1 or self.seeds < 1:
            raise ValueError("houses and seeds must be at least 1")
        if self._width() > 62 or not self._fits() and self._total() + 2 * self.houses > 63:
            raise ValueError("the houses and their seeds must fit 63 bits: take fewer houses or seeds")

    def initial(self) -> int:
        row = self.seeds * self._ones(0, self.houses)
        return self._state(row, row)

    def actions(self, state: int) -> Iterator[int]:
        own, _ = self._rows(state)
        for house in range(self.houses):
            if self._count(own, house):
                yield house

    def result(self, state: int, action: int) -> int:
        own, other, _ = self._sown(state, action)
        return self._state(own, other) if self.again(state, action) else self._state(other, own)

    def again(self, state: int, action: int) -> bool:
        return self._last(state, action) == self.houses

    def reward(self, state: int, action: int) -> int:
        """The seeds that get into the own store."""
        _, _, gain = self._sown(state, action)
        return gain

    def is_terminal(self, state: int) -> bool:
        own, other = self._rows(state)
        return own == 0 or other == 0

    def utility(self, state: int) -> int:
        own, other = self._rows(state)
        return self._sum(own) - self._sum(other)

    def tier(self, state: int) -> int:
        own, other = self._rows(state)
        stored = self._total() - self._sum(own) - self._sum(other)
        advance = 0
        for house in range(self.houses):
            advance += house * (self._count(own, house) + self._count(other, house))
        return stored * (self._total() * (self.houses - 1) + 1) + advance

    def bounds(self, state: int) -> tuple[int, int]:
        """All seeds go to the other, or to the mover."""
        own, other = self._rows(state)
        seeds = self._sum(own) + self._sum(other)
        return -seeds, seeds

    def replies(self, state: int) -> int:
        own, _ = self._rows(state)
        houses = 0
        for house in range(self.houses):
            if self._count(own, house):
                houses |= 1 << house
        return houses

    def promise(self, state: int, action: int) -> int:
        """The score of the move, then the side on which it leaves the seeds, then sowing from near the store.

        To move again is worth five seeds.
        """
        own, other, gain = self._sown(state, action)
        if self.again(state, action):
            return 50 + action
        return 10 * gain + self._sum(own) - self._sum(other) + action

    def evaluate(self, state: int) -> int:
        """A quarter of what the mover has more in its houses, the best share of it for margins of kalah:4,3."""
        return self.utility(state) // 4

    def features(self, state: int) -> Iterator[int]:
        """Seeds and empty houses of both sides; house by house seeds, moves into the store, and captures."""
        own, other = self._rows(state)
        for side in range(2):
            row, across = (other, own) if side else (own, other)
            empty = again = 0
            for house in range(self.houses):
                count = self._count(row, house)
                empty += 1 if count == 0 else 0
                again += 1 if self._ends_in_store(count, house) else 0
            yield self._sum(row)
            yield empty
            yield again
            for house in range(self.houses):
                count = self._count(row, house)
                yield count
                yield 1 if self._ends_in_store(count, house) else 0
                yield self._caught(row, across, house)

    def _ends_in_store(self, count: int, house: int) -> bool:
        return count > 0 and count % (2 * self.houses + 1) == self.houses - house

    def _caught(self, row: int, across: int, house: int) -> int:
        """The seeds that a side would capture opposite its house, if one of its moves without a full round ends there
        and it is empty."""
        if self._count(row, house):
            return 0
        for start in range(house):
            if self._count(row, start) == house - start:
                return self._count(across, self.houses - 1 - house)
        return 0

    def format_action(self, state: int, action: int) -> str:
        return str(action + 1)

    def cells(self, state: int, mover: int) -> list[str]:
        return pits([self._count(row, house) for row in self._rows(state) for house in range(self.houses)], mover)

    def from_cells(self, rows: list[str], mover: int) -> int:
        seeds = seeds_of(rows, mover)
        if sum(seeds) > self._total():
            raise ValueError(f"there are {sum(seeds)} seeds in the houses, of {self._total()}")
        both = sum(count << house * self._bits() for house, count in enumerate(seeds))
        return self._state(both & (1 << self._width()) - 1, both >> self._width())

    def layout(self) -> tuple[str, int]:
        """Return numbers of seeds, up to all of them, which is more than one house ever holds; and the houses."""
        return counts(self._total()), self.houses

    def place(self, state: int, action: int) -> list[int]:
        """The house as the mover sees it, in the lower row."""
        return [self.houses + action]

    def drawing(self) -> dict[str, Any]:
        return {"board": "pits", "turns": True, "sides": ["south", "north"], "total": self._total()}

    def _sown(self, state: int, action: int) -> tuple[int, int, int]:
        """The mover's row, the other's, and the seeds in the own store after a move."""
        own, other = self._rows(state)
        houses = self.houses
        hand = self._count(own, action)
        laps, rest = divmod(hand, 2 * houses + 1)
        own -= hand << action * self._bits()
        end = action + 1 + rest  # places are the own houses, the own store and the other's houses, then own ones again
        if laps:
            own += laps * self._ones(0, houses)
            other += laps * self._ones(0, houses)
        own += self._ones(action + 1, min(end, houses)) + self._ones(0, max(end - 2 * houses - 1, 0))
        other += self._ones(0, min(max(end - houses - 1, 0), houses))
        gain = laps + (1 if end > houses else 0)
        last = self._last(state, action)
        if last < houses and self._count(own, last) == 1:
            opposite = houses - 1 - last
            captured = self._count(other, opposite)
            if captured or self.empty_capture:
                own -= 1 << last * self._bits()
                other -= captured << opposite * self._bits()
                gain += captured + 1
        return own, other, gain

    def _last(self, state: int, action: int) -> int:
        """The place of the last seed: 0..houses-1 own houses, `houses` the own store, then the other's houses."""
        own, _ = self._rows(state)
        return (action + self._count(own, action)) % (2 * self.houses + 1)

    def _total(self) -> int:
        return 2 * self.houses * self.seeds

    def _bits(self) -> int:
        """Bits of a house."""
        return self._total().bit_length()

    def _width(self) -> int:
        """Bits of a row."""
        return self.houses * self._bits()

    def _fits(self) -> bool:
        """Whether two rows are a state."""
        return 2 * self._width() <= 63

    def _count(self, row: int, house: int) -> int:
        return row >> house * self._bits() & (1 << self._bits()) - 1

    def _ones(self, first: int, end: int) -> int:
        """A row with one seed in each house from `first` on, before `end`."""
        every = ((1 << self._width()) - 1) // ((1 << self._bits()) - 1)
        return every & (1 << end * self._bits()) - (1 << first * self._bits())

    def _sum(self, row: int) -> int:
        seeds = 0
        for house in range(self.houses):
            seeds += self._count(row, house)
        return seeds

    def _rows(self, state: int) -> tuple[int, int]:
        """The mover's row and the other's."""
        if self._fits():
            return state & (1 << self._width()) - 1, state >> self._width()
        own = other = 0
        for house in range(self.houses):
            seeds = (state & -state).bit_length() - 1
            own |= seeds << house * self._bits()
            state >>= seeds + 1
        for house in range(self.houses):
            seeds = (state & -state).bit_length() - 1
            other |= seeds << house * self._bits()
            state >>= seeds + 1
        return own, other

    def _state(self, own: int, other: int) -> int:
        """The state of two rows: the inverse of `_rows`."""
        if self._fits():
            return own | other << self._width()
        state = 0
        for house in range(self.houses - 1, -1, -1):
            state = (state << 1 | 1) << self._count(other, house)
        for house in range(self.houses - 1, -1, -1):
            state = (state << 1 | 1) << self._count(own, house)
        return state
