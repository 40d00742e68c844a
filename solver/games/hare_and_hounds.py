"""Hare and hounds on eleven points: three hounds, which never go back, hem in a hare (Winning Ways, chapter 21).

    .  B3 C3 D3 .
    A  B2 C2 D2 E
    .  B1 C1 D1 .

Lines join neighbours along rows and columns, A to every B, E to every D, and C2 to the corners of the square. The hare
wins when, with the hounds to move, it is level with or behind the last of them; a side that cannot move loses. Points
are numbered A, B1 to B3, C1 to C3, D1 to D3, E. A state is the hounds' points, the hare's number 11 bits on, and a bit
15 bits on for the hare to move. An action is 11 times the point moved from plus the point moved to. Hounds may go up
and down for ever, so there is no `tier`: repetition is a draw.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common.boards import cells_of, on_points

GROUP = "hunt"
NEAR = (0x00E, 0x035, 0x02B, 0x065, 0x0A2, 0x3DE, 0x228, 0x530, 0x6A0, 0x560, 0x380)
NAMES = ("a2", "b1", "b2", "b3", "c1", "c2", "c3", "d1", "d2", "d3", "e2")
COLUMNS = (0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4)


class HareAndHounds(NamedTuple):
    """Three hounds, which never go back, hem in the hare; hare: the hare moves first."""

    hare: bool = False

    layout = "Hr", 121

    def initial(self) -> int:
        return 0b1011 | 10 << 11 | (1 << 15 if self.hare else 0)

    def actions(self, state: int) -> Iterator[int]:
        free = ~self._taken(state)
        if state >> 15:
            hare = state >> 11 & 15
            for point in range(11):
                if (self._near(hare) & free) >> point & 1:
                    yield 11 * hare + point
        else:
            for hound in range(11):
                if state >> hound & 1:
                    ahead = self._near(hound) & free & ~self._behind(hound)
                    for point in range(11):
                        if ahead >> point & 1:
                            yield 11 * hound + point

    def result(self, state: int, action: int) -> int:
        if state >> 15:
            return state & 2047 | action % 11 << 11
        return state ^ (1 << action // 11 | 1 << action % 11) | 1 << 15

    def is_terminal(self, state: int) -> bool:
        hare = state >> 11 & 15
        if state >> 15:
            return not self._near(hare) & ~self._taken(state)
        stuck = escaped = True
        for hound in range(11):
            if state >> hound & 1:
                stuck = stuck and not self._near(hound) & ~self._taken(state) & ~self._behind(hound)
                escaped = escaped and COLUMNS[hare] <= COLUMNS[hound]
        return stuck or escaped

    def utility(self, state: int) -> int:
        return -1

    def canonical(self, state: int) -> int:
        """The lesser of the state and its image with top and bottom exchanged."""
        hare = state >> 11 & 15
        hounds = state & 0x525 | (state & 0x092) << 2 | state >> 2 & 0x092
        image = hounds | self._flipped(hare) << 11 | state >> 15 << 15
        return min(state, image)

    def cells(self, state: int, mover: int) -> list[str]:
        marks = ["H" if state >> point & 1 else "r" if state >> 11 & 15 == point else "." for point in range(11)]
        return ["".join(marks)]

    def from_cells(self, rows: list[str], mover: int) -> int:
        hounds, hare = cells_of(rows, "H"), cells_of(rows, "r")
        if hounds.bit_count() != 3 or hare.bit_count() != 1:
            raise ValueError("there are three hounds and one hare, all of the time")
        return hounds | hare.bit_length() - 1 << 11 | (mover ^ int(self.hare)) << 15

    def place(self, state: int, action: int) -> list[int]:
        return [action // 11, action % 11]

    def drawing(self) -> dict[str, Any]:
        men = {"H": ["hound", int(self.hare)], "r": ["hare", 1 - int(self.hare)]}
        sides = ["hare", "hounds"] if self.hare else ["hounds", "hare"]
        return on_points(NAMES, lambda a, b: NEAR[a] >> b & 1, *sides) | {"men": men}

    def _taken(self, state: int) -> int:
        return state & 2047 | 1 << (state >> 11 & 15)

    def _near(self, point: int) -> int:
        return NEAR[point]

    def _behind(self, point: int) -> int:
        """The points in columns to the left."""
        column = COLUMNS[point]
        return 0 if column == 0 else (1 << 3 * column - 2) - 1

    def _flipped(self, point: int) -> int:
        if point == 0 or point == 10:
            return point
        return point + 2 - 2 * ((point - 1) % 3)
