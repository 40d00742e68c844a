"""Sim (Gustavus Simmons 1969): colour the lines between six points in turn; no triangle of one's own.

Who makes a triangle of the own colour loses. Each two of the points are joined by a line. A turn colours one that is
not coloured yet, in the mover's colour; only triangles whose corners are three of the points count. With six points
there must be one in the end (Ramsey), so there is no draw; the second player wins (Mead, Rosa and Huang, The Game of
Sim, Mathematics Magazine 47, 1974). On fewer points a full board without a triangle is a draw.

A state is the first player's lines, and the second's above them; their number tells who is to move. The line of points
j < i, counted from 0, is number i * (i - 1) / 2 + j. `canonical` is the least of the images that number the points in
the order of keys, which tell what lines they have, and those that they join: few of the 720 are looked at.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import Filling, grid, like, limits
from solver.games.common.boards import cells_of, check_turns

GROUP = "alignment"
LINES = ["ABCDEFGH"[j] + "ABCDEFGH"[i] for i in range(8) for j in range(i)]


@like(Filling, "initial", "tier")
class Sim(NamedTuple):
    """Colour the lines between `points` points; who makes a triangle of the own colour loses."""

    points: int = 6

    def check(self) -> None:
        limits(self, points=(2, 8))

    def actions(self, state: int) -> Iterator[int]:
        taken = state | state >> self._lines()
        for line in range(self._lines()):
            if not taken >> line & 1:
                yield line

    def result(self, state: int, action: int) -> int:
        return state | 1 << action + state.bit_count() % 2 * self._lines()

    def is_terminal(self, state: int) -> bool:
        return self._has_triangle(state) or state.bit_count() == self._lines()

    def utility(self, state: int) -> int:
        return 1 if self._has_triangle(state) else 0

    def longest(self, state: int) -> int:
        return self._lines() - state.bit_count()

    def canonical(self, state: int) -> int:
        """The least image among those that number the points in the order of their keys."""
        keys, ordered = self._keys(state)
        least = -1
        chosen = used = tried = depth = 0  # 4 bits a place: the point that has it, and the next one to be tried
        while depth >= 0:
            point = tried >> 4 * depth & 15
            if depth == self.points or point == self.points:
                if depth == self.points:
                    image = self._image(state, chosen)
                    least = image if least < 0 else min(least, image)
                else:
                    tried &= (1 << 4 * depth) - 1
                depth -= 1
                if depth >= 0:
                    used ^= 1 << (chosen >> 4 * depth & 15)
                    chosen &= (1 << 4 * depth) - 1
                continue
            tried += 1 << 4 * depth
            if not used >> point & 1 and keys >> 7 * point & 127 == ordered >> 7 * depth & 127:
                chosen |= point << 4 * depth
                used |= 1 << point
                depth += 1
        return least

    def parse_position(self, text: str) -> int | None:
        """Both players' lines, as `show` prints them."""
        matched = re.fullmatch(r"first:([A-H ]*)\nsecond:([A-H ]*)", text)
        if matched is None:
            return None
        names = {name: line for line, name in enumerate(LINES[: self._lines()])}
        sides = [matched[1].split(), matched[2].split()]
        for name in [*sides[0], *sides[1]]:
            if name not in names or (sides[0] + sides[1]).count(name) > 1:
                raise ValueError(f"{name}: lines are two letters each, and none is drawn twice")
        first, second = (sum(1 << names[name] for name in side) for side in sides)
        check_turns(len(sides[0]), len(sides[1]), (len(sides[0]) + len(sides[1])) % 2)
        return first | second << self._lines()

    def show(self, state: int) -> str:
        """Which lines the players have."""
        count = self._lines()
        first, second = (" ".join(LINES[i] for i in range(count) if side >> i & 1) for side in (state, state >> count))
        return f"first: {first}\nsecond: {second}"

    def cells(self, state: int, mover: int) -> list[str]:
        """A square whose rows and columns are the points, a cell for each two of them."""
        marks = grid.board(self._lines(), 1, state, "Xo")[0]
        return [marks[i * (i - 1) // 2 : i * (i + 1) // 2].ljust(self.points - 1) for i in range(1, self.points)]

    def from_cells(self, rows: list[str], mover: int) -> int:
        marks = "".join([rows[i][: i + 1] for i in range(self.points - 1)])
        first, second = cells_of([marks], "X"), cells_of([marks], "o")
        check_turns(first.bit_count(), second.bit_count(), mover)
        return first | second << self._lines()

    def layout(self) -> tuple[str, int]:
        return "Xo", self._lines()

    def place(self, state: int, action: int) -> list[int]:
        first, second = ("ABCDEFGH".index(letter) for letter in LINES[action])
        return [(second - 1) * (self.points - 1) + first]

    def drawing(self) -> dict[str, Any]:
        cells = [(i, j) for i in range(1, self.points) for j in range(self.points - 1)]
        names = ["ABCDEFGH"[j] + "ABCDEFGH"[i] if j < i else "" for i, j in cells]
        return {"sides": ["blue", "red"], "names": names}

    def _lines(self) -> int:
        return self.points * (self.points - 1) // 2

    def _between(self, i: int, j: int) -> int:
        return max(i, j) * (max(i, j) - 1) // 2 + min(i, j)

    def _degree(self, state: int, point: int) -> int:
        """How many lines of the first player a point has, and 8 times how many of the second."""
        found = 0
        for other in range(self.points):
            if other != point:
                line = self._between(point, other)
                found += (state >> line & 1) + 8 * (state >> self._lines() + line & 1)
        return found

    def _key(self, state: int, point: int) -> int:
        """A number below 127 that all images of a point share, from its lines and those of the points that it joins."""
        found = 0
        for other in range(self.points):
            if other != point:
                line = self._between(point, other)
                degree = self._degree(state, other)
                if state >> line & 1:
                    found += (degree + 1) * (degree + 11)
                if state >> self._lines() + line & 1:
                    found += (degree + 5) * (degree + 29) * 3
        return (found * 31 + 7 * self._degree(state, point)) % 127

    def _keys(self, state: int) -> tuple[int, int]:
        """The keys of the points, 7 bits each, and the same in ascending order."""
        keys = ordered = 0
        for i in range(self.points):
            keys |= self._key(state, i) << 7 * i
        for i in range(self.points):
            own, place = keys >> 7 * i & 127, 0
            for j in range(self.points):
                other = keys >> 7 * j & 127
                place += other < own or (other == own and j < i)
            ordered |= own << 7 * place
        return keys, ordered

    def _image(self, state: int, order: int) -> int:
        """The state with its points numbered anew: at each place, 4 bits, the point that comes there."""
        image = line = 0
        for i in range(self.points):
            for j in range(i):
                old = self._between(order >> 4 * i & 15, order >> 4 * j & 15)
                image |= (state >> old & (1 | 1 << self._lines())) << line
                line += 1
        return image

    def _has_triangle(self, state: int) -> bool:
        """Whether the one who moved last has one."""
        lines = state >> (1 - state.bit_count() % 2) * self._lines()
        for i in range(self.points):
            for j in range(i):
                if lines >> self._between(i, j) & 1:
                    for k in range(j):
                        if lines >> self._between(i, k) & lines >> self._between(j, k) & 1:
                            return True
        return False
