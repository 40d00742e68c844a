"""Awari, and its endings: two rows of six houses, all placements of up to `seeds` seeds.

A move empties one of the mover's houses and sows its seeds one by one, counter-clockwise, through both rows but not
into the house that they come from. If the last seed makes two or three in a house of the other side, these are
captured, and so are those of the houses before it, as long as they are the other side's and have two or three. Who can
must leave the other side a move. A move that takes all seeds of the other side is legal only if every move leaves it
none. If a side has no move, the game ends and the other side gets the seeds that are left. Play without end is worth
nothing to either side. These are the rules of Romein and Bal, Solving the Game of Awari using Parallel Retrograde
Analysis, Computer 36(10), 2003. As in their databases, the side that has just moved has an empty house.

A state is the seeds in the houses, the mover's first, each row in the order of sowing, with as many bits a house as all
seeds take. Captured seeds do not influence later play; the seeds on the board tell the tier.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import limits
from solver.games.common.boards import counts, pits, seeds_of

GROUP = "scoring"
HOUSES = 6


class Awari(NamedTuple):
    """Sow seeds, capture twos and threes; the value is the margin; every placement of up to `seeds` is a start."""

    seeds: int = 6

    score_game = True

    def check(self) -> None:
        limits(self, seeds=(1, 31))

    def initial(self) -> int:
        """Seeds dealt round to all houses but the other's last."""
        state = 0
        for seed in range(self.seeds):
            state += 1 << seed % (2 * HOUSES - 1) * self._bits()
        return state

    def starts(self) -> Iterator[int]:
        """All placements, and of the other's row those alone that have an empty house."""
        houses = 2 * HOUSES
        top = houses - 1
        for seeds in range(1, self.seeds + 1):
            state = seeds
            while True:
                if self._has_moved(state):
                    yield state
                if self._count(state, top) == seeds:
                    break
                house = 0  # the first that has seeds: one goes on to the next house, the others to the first
                while self._count(state, house) == 0:
                    house += 1
                moved = self._count(state, house)
                state += (1 << (house + 1) * self._bits()) - (moved << house * self._bits()) + moved - 1

    def actions(self, state: int) -> Iterator[int]:
        feeds = False
        for house in range(HOUSES):
            if self._count(state, house) and self._after(state, house) & self._row():
                feeds = True
        for house in range(HOUSES):
            if self._count(state, house) and (not feeds or self._after(state, house) & self._row()):
                yield house

    def result(self, state: int, action: int) -> int:
        return self._after(state, action)

    def reward(self, state: int, action: int) -> int:
        return self._sum(state) - self._sum(self._after(state, action))

    def is_terminal(self, state: int) -> bool:
        return state & self._row() == 0

    def utility(self, state: int) -> int:
        return -self._sum(state)

    def tier(self, state: int) -> int:
        return self.seeds - self._sum(state)

    def format_action(self, state: int, action: int) -> str:
        return str(action + 1)

    def cells(self, state: int, mover: int) -> list[str]:
        return pits([self._count(state, house) for house in range(2 * HOUSES)], mover)

    def from_cells(self, rows: list[str], mover: int) -> int:
        seeds = seeds_of(rows, mover)
        if sum(seeds) > self.seeds:
            raise ValueError(f"there are {sum(seeds)} seeds on the board, of {self.seeds}")
        state = sum(count << house * self._bits() for house, count in enumerate(seeds))
        if not self._has_moved(state):
            raise ValueError("who has just moved has left a house empty")
        return state

    def layout(self) -> tuple[str, int]:
        return counts(self.seeds), HOUSES

    def place(self, state: int, action: int) -> list[int]:
        """The house as the mover sees it, in the lower row."""
        return [HOUSES + action]

    def drawing(self) -> dict[str, Any]:
        return {"board": "pits", "turns": True, "sides": ["south", "north"], "total": self.seeds}

    def _after(self, state: int, action: int) -> int:
        """The state after a house is sown, for the other."""
        bits = self._bits()
        hand = self._count(state, action)
        state -= hand << action * bits
        house = action
        for _ in range(hand):
            house = (house + 1) % (2 * HOUSES)
            if house == action:
                house = (house + 1) % (2 * HOUSES)
            state += 1 << house * bits
        while house >= HOUSES and 2 <= self._count(state, house) <= 3:
            state -= self._count(state, house) << house * bits
            house -= 1
        return state >> HOUSES * bits | (state & self._row()) << HOUSES * bits

    def _has_moved(self, state: int) -> bool:
        """Whether the other, who has moved, has an empty house."""
        for house in range(HOUSES, 2 * HOUSES):
            if self._count(state, house) == 0:
                return True
        return False

    def _bits(self) -> int:
        """Bits of a house."""
        return self.seeds.bit_length()

    def _row(self) -> int:
        """The bits of the mover's row."""
        return (1 << HOUSES * self._bits()) - 1

    def _count(self, state: int, house: int) -> int:
        return state >> house * self._bits() & (1 << self._bits()) - 1

    def _sum(self, state: int) -> int:
        seeds = 0
        for house in range(2 * HOUSES):
            seeds += self._count(state, house)
        return seeds
