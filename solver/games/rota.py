"""Rota: three pieces each on a wheel of eight points and its hub; place them, then slide along lines; three in a line.

Lines join neighbours on the rim and the hub with all of them. Players place three pieces each in turns, then slide one
to an empty point beside it. Three in a line through the hub win, and three neighbours on the rim unless `rim` is false.
Who cannot move has lost. Repetition is a draw. Wheels of this shape are scratched on Roman floors and steps; the rules
are those under which the game is sold today.

A state is the first player's points (0 to 7 the rim from the top on clockwise, 8 the hub), the second's nine bits on,
and a bit for the side to move. An action is 9 times the point moved from plus the point moved to, or 81 plus the point
of a new piece.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import grid, like, men
from solver.games.three_mens_morris import ThreeMensMorris

GROUP = "alignment"
RIM = 255 | 255 << 9
TOP = 1 | 1 << 9
FAR, SLANT = 1.84, 1.3  # of points from the hub, on an axis and on both
WHEEL = ((0, -FAR), (SLANT, -SLANT), (FAR, 0), (SLANT, SLANT), (0, FAR), (-SLANT, SLANT), (-FAR, 0), (-SLANT, -SLANT))
AT = [[2.4 + x, 2.4 + y] for x, y in (*WHEEL, (0, 0))]
LINES = [[point, (point + 1) % 8] for point in range(8)] + [[point, 8] for point in range(8)]


@like(ThreeMensMorris, "initial", "result", "utility", "tier", "from_cells", "layout")
class Rota(NamedTuple):
    """Place three pieces on a wheel, then slide them; three in a line win; rim: also three neighbours on the rim."""

    rim: bool = True

    drawing = {"board": "points", "at": AT, "lines": LINES, "sides": ["black", "white"], "names": list("12345678c")}

    def actions(self, state: int) -> Iterator[int]:
        empty = 511 & ~(state | state >> 9)
        if men.is_placing(state, 3):
            for point in range(9):
                if empty >> point & 1:
                    yield 81 + point
        else:
            for point in range(9):
                if men.mine(state) >> point & 1:
                    for end in range(9):
                        if self._near(point) & empty & 1 << end:
                            yield 9 * point + end

    def is_terminal(self, state: int) -> bool:
        if self._has_line(men.theirs(state)):
            return True
        if men.is_placing(state, 3):
            return False
        for point in range(9):
            if men.mine(state) >> point & 1 and self._near(point) & ~(state | state >> 9):
                return False
        return True

    def canonical(self, state: int) -> int:
        """The least of the wheel's eight rotations and their reflections, the mover's pieces first and to move."""
        wheel = men.mine(state) | men.theirs(state) << 9
        mirrored = wheel & ~RIM
        for point in range(8):
            mirrored |= (wheel >> point & TOP) << 7 - point
        least = min(wheel, mirrored)
        for _ in range(7):
            wheel, mirrored = self._rotated(wheel), self._rotated(mirrored)
            least = min(least, min(wheel, mirrored))
        return least

    def cells(self, state: int, mover: int) -> list[str]:
        """The rim from the top on clockwise, and the hub."""
        return grid.board(9, 1, state, "Xo")

    def place(self, state: int, action: int) -> list[int]:
        return [action - 81] if action >= 81 else [action // 9, action % 9]

    def _near(self, point: int) -> int:
        return 255 if point == 8 else 1 << 8 | 1 << (point + 1) % 8 | 1 << (point + 7) % 8

    def _has_line(self, points: int) -> bool:
        for point in range(8):
            if points == 1 << 8 | 1 << point | 1 << (point + 4) % 8:
                return True
            if self.rim and points == 1 << point | 1 << (point + 1) % 8 | 1 << (point + 2) % 8:
                return True
        return False

    def _rotated(self, wheel: int) -> int:
        return wheel & ~RIM | wheel << 1 & RIM & ~TOP | wheel >> 7 & TOP
