"""Bagh-chal, the tiger game of Nepal, from when all goats are placed: tigers jump over goats, goats hem tigers in.

The board has 5 x 5 points with lines along rows and columns, and diagonals through every other point, the corners and
the middle among them. A turn slides a piece along a line to the next point, if that is empty. A tiger may also jump
along a line over a goat to the empty point behind, and takes the goat. The tigers win when they have taken `captures`
of the `goats` goats. The goats win when no tiger can move. If no goat can move, which is rare and not in the sources,
the goats lose. Repetition is a draw.

All placements are starts, of all goats and of fewer, with either side to move. `bagh-chal:20,5` is the whole game once
the goats are placed. It has 88,260,972 positions. The first has the tigers in the corners and the middle empty. Lim Yew
Jin and Nievergelt solved it (Computing Tigers and Goats, ICGA Journal 27(3), 2004).

A state is the tigers' points, row by row from the bottom left, the goats' 25 bits on, and a bit for the tigers to move.
An action is 25 times the point moved from plus the point moved to. The tier is how many goats were taken, and has
cycles.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import grid
from solver.games.common.boards import cells_of

GROUP = "hunt"
BOTH = (1 << 50) - 1
POINTS = (1 << 25) - 1
CORNERS = 1 | 1 << 4 | 1 << 20 | 1 << 24
SLANTED = 0x1555555  # every other point, from the corner on: their lines have diagonals
MIDDLE = 1 << 12


class BaghChal(NamedTuple):
    """Tigers take goats by jumps, goats hem tigers in; all goats are placed; captures: goats that the tigers need."""

    goats: int = 20
    captures: int = 2
    tigers: int = 4

    layout = "Tg", 625

    def check(self) -> None:
        if not (1 <= self.tigers <= 4 and 1 <= self.captures <= self.goats <= 24 - self.tigers):
            raise ValueError("there are 1 to 4 tigers, goats leave a point empty, and captures are no more than goats")

    def initial(self) -> int:
        """The tigers in the corners, the goats on the points that are left from the bottom on, the middle last."""
        tigers = self._first(CORNERS, self.tigers)
        goats = self._first(POINTS & ~(CORNERS | MIDDLE), self.goats)
        if goats.bit_count() < self.goats:
            goats |= self._first(POINTS & ~(tigers | goats), self.goats - goats.bit_count())
        return tigers | goats << 25

    def starts(self) -> Iterator[int]:
        tigers = (1 << self.tigers) - 1
        while tigers <= POINTS:
            if grid.least(5, 5, 1, tigers) == tigers:
                for taken in range(self.captures):
                    goats, free = (1 << self.goats - taken) - 1, 25 - self.tigers
                    while goats < 1 << free:
                        state = tigers | self._spread(goats, tigers) << 25
                        yield state
                        yield state | 1 << 50
                        goats = self._following(goats)
            tigers = self._following(tigers)

    def actions(self, state: int) -> Iterator[int]:
        empty = POINTS & ~(state | state >> 25)
        tigers = state >> 50
        men = state & POINTS if tigers else state >> 25 & POINTS
        for point in range(25):
            if men >> point & 1:
                ends = self._ends(state, 1 << point, tigers) & empty
                for end in range(25):
                    if ends >> end & 1:
                        yield 25 * point + end

    def result(self, state: int, action: int) -> int:
        source, end = action // 25, action % 25
        if state >> 50:
            if abs(source % 5 - end % 5) == 2 or abs(source // 5 - end // 5) == 2:
                state ^= 1 << 25 + (source + end) // 2
            return state ^ (1 << source | 1 << end | 1 << 50)
        return state ^ ((1 << source | 1 << end) << 25 | 1 << 50)

    def is_terminal(self, state: int) -> bool:
        if self.tier(state) >= self.captures:
            return True
        men = state & POINTS if state >> 50 else state >> 25 & POINTS
        return not self._ends(state, men, state >> 50) & ~(state | state >> 25)

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        """The goats that were taken."""
        return self.goats - (state >> 25 & POINTS).bit_count()

    def canonical(self, state: int) -> int:
        """The least of the board's eight images."""
        return grid.least(5, 5, 2, state & BOTH) | state >> 50 << 50

    def to_move(self, state: int) -> int:
        return state >> 50

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(5, 5, state, "Tg")

    def from_cells(self, rows: list[str], mover: int) -> int:
        tigers, goats = cells_of(rows, "T"), cells_of(rows, "g")
        if tigers.bit_count() != self.tigers:
            raise ValueError(f"there are {self.tigers} tigers, and none is taken")
        if not self.goats - self.captures <= goats.bit_count() <= self.goats:
            raise ValueError(f"there are {self.goats} goats, or fewer by at most {self.captures}")
        return tigers | goats << 25 | mover << 50

    def place(self, state: int, action: int) -> list[int]:
        return [grid.place(5, 5, action // 25), grid.place(5, 5, action % 25)]

    def drawing(self) -> dict[str, Any]:
        pairs = [(a, b) for a in range(25) for b in range(a) if self._ends(0, 1 << a, 0) >> b & 1]
        lines = [[grid.place(5, 5, a), grid.place(5, 5, b)] for a, b in pairs]
        men = {"g": ["disc", 0], "T": ["T", 1]}
        return {"board": "points", "lines": lines, "sides": ["white", "red"], "men": men}

    def _ends(self, state: int, men: int, tigers: int) -> int:
        """The points next to pieces on lines, and those behind goats over which `tigers` may jump."""
        goats, ends = state >> 25 & POINTS, 0
        for across in range(-1, 2):
            for up in range(-1, 2):
                if across or up:
                    once = grid.step(5, 5, men & SLANTED if across and up else men, across, up)
                    ends |= once
                    if tigers:
                        ends |= grid.step(5, 5, once & goats, across, up)
        return ends

    def _first(self, points: int, count: int) -> int:
        """The lowest of some points, at most so many."""
        chosen = 0
        for _ in range(count):
            chosen |= points & -points
            points &= points - 1
        return chosen

    def _spread(self, goats: int, tigers: int) -> int:
        """Goats on points counted without those of tigers, as points of the board."""
        found = 0
        for point in range(25):
            if not tigers >> point & 1:
                found |= (goats & 1) << point
                goats >>= 1
        return found

    def _following(self, number: int) -> int:
        """The next larger number of as many bits."""
        low = number & -number
        ripple = number + low
        return ripple | ((number ^ ripple) // low >> 2)
