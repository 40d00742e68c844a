"""Six men's morris: place pieces on two squares, one in the other, then slide them; three along a side take one away.

    3  o-----o-----o      16 points: the outer square clockwise from the top left, then the inner one likewise,
       |  o--o--o  |      0 to 7 and 8 to 15; lines join neighbours along each square, and the middles of
    2  o--o     o--o      sides to one another. The mills are the eight sides.
       |  o--o--o  |
    1  o-----o-----o

Who completes a mill takes a piece of the other's that stands in none, or any if all do. Pieces that are all placed
slide along lines to an empty point; with `flying` a player of three pieces moves to any. Who is left with fewer than
three, or cannot move, has lost. Repetition is a draw.

The solution of the whole game, `six-mens-morris:6`, was published by Brian Liou, solved-games, 2026: 42,372,745
positions, a draw.

A state is the first player's pieces, the second's 16 bits on, how many were placed so far 32 bits on, and a bit for the
side to move 36 bits on. An action is the point moved to, plus 17 times the point moved from (16: a new piece), plus 289
times the point of the piece that is taken (16: none). Placing raises the tier and so does taking; sliding does not.
"""

from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import Filling, grid, like, limits, morris
from solver.games.common.boards import on_points

GROUP = "capture"
NEAR = (
    *(0x0082, 0x0205, 0x000A, 0x0814, 0x0028, 0x2050, 0x00A0, 0x8041),
    *(0x8200, 0x0502, 0x0A00, 0x1408, 0x2800, 0x5020, 0xA000, 0x4180),
)
MILLS = (0x0007, 0x001C, 0x0070, 0x00C1, 0x0700, 0x1C00, 0x7000, 0xC100)
NAMES = ("a5", "c5", "e5", "e3", "e1", "c1", "a1", "a3", "b4", "c4", "d4", "d3", "d2", "c2", "b2", "b3")
BOARD = (
    "5 o-----o-----o",
    "4 |  o--o--o  |",
    "3 o--o     o--o",
    "2 |  o--o--o  |",
    "1 o-----o-----o",
)
BOTH = 0x10001  # of either player, one point


@like(Filling, "initial", "utility")
class SixMensMorris(NamedTuple):
    """Three along a side take a piece of the other's; who has two left, or cannot move, loses; `men` of each player."""

    men: int = 3
    flying: bool = False

    layout = "Xo", 17**3
    drawing = on_points(NAMES, lambda a, b: NEAR[a] >> b & 1, "white", "black")

    def check(self) -> None:
        limits(self, men=(3, 7))

    def actions(self, state: int) -> Iterator[int]:
        mine, theirs = self._men(state, 0), self._men(state, 1)
        empty, removable = 0xFFFF & ~(mine | theirs), self._removable(theirs)
        for source in range(17):
            targets = self._targets(state, mine, empty, source)
            for target in range(16):
                if targets >> target & 1:
                    move = target + 17 * source
                    if removable and self._is_milled(mine & ~(1 << source) | 1 << target, target):
                        for taken in range(16):
                            if removable >> taken & 1:
                                yield move + 289 * taken
                    else:
                        yield move + 289 * 16

    def result(self, state: int, action: int) -> int:
        target, source, taken = action % 17, action // 17 % 17, action // 289
        turn = state >> 36
        state ^= 1 << target + 16 * turn
        if source < 16:
            state ^= 1 << source + 16 * turn
        else:
            state += 1 << 32
        if taken < 16:
            state ^= 1 << taken + 16 * (1 - turn)
        return state ^ 1 << 36

    def is_terminal(self, state: int) -> bool:
        if self._placed(state) < 2 * self.men:
            return False
        mine = self._men(state, 0)
        if mine.bit_count() < 3:
            return True
        empty = 0xFFFF & ~(mine | self._men(state, 1))
        for source in range(16):
            if self._targets(state, mine, empty, source):
                return False
        return True

    def tier(self, state: int) -> int:
        """The pieces placed, and those taken."""
        placed = self._placed(state)
        return 2 * placed - (state & (1 << 32) - 1).bit_count()

    def parents(self, state: int) -> Iterator[int]:
        """Before a slide that closed no mill."""
        mine, theirs = self._men(state, 0), self._men(state, 1)
        empty, turn = 0xFFFF & ~(mine | theirs), state >> 36
        flies = self.flying and theirs.bit_count() == 3
        for target in range(16):
            if self._placed(state) == 2 * self.men and theirs >> target & 1 and not self._is_milled(theirs, target):
                for source in range(16):
                    if empty >> source & 1 and (flies or NEAR[target] >> source & 1):
                        yield state ^ (1 << target | 1 << source) << 16 * (1 - turn) ^ 1 << 36

    def symmetries(self) -> Iterator[tuple[int, ...]]:
        """A quarter turn, a mirror, and the outer square for the inner."""
        points = range(16)
        yield tuple(point & 8 | point + 2 & 7 for point in points)
        yield tuple(point & 8 | 2 - point & 7 for point in points)
        yield tuple(point ^ 8 for point in points)

    def tables(self) -> Iterator[tuple[int, int, int]]:
        return morris.tables(self.men)

    def canonical(self, state: int) -> int:
        """The least of the 16 images, the squares turned, mirrored and exchanged, the mover's pieces first."""
        men = self._men(state, 0) | self._men(state, 1) << 16
        mirrored = self._mirrored(men)
        least = min(men, mirrored)
        for _ in range(4):
            inner, inner_mirrored = self._exchanged(men), self._exchanged(mirrored)
            least = min(least, min(min(men, mirrored), min(inner, inner_mirrored)))
            men, mirrored = self._turned(men), self._turned(mirrored)
        return least | self._placed(state) << 32

    def format_action(self, state: int, action: int) -> str:
        target, source, taken = action % 17, action // 17 % 17, action // 289
        move = (NAMES[source] if source < 16 else "") + NAMES[target]
        return f"{move}x{NAMES[taken]}" if taken < 16 else move

    def parse_position(self, text: str) -> int | None:
        """The board, with the pieces in hand, as `show` prints it."""
        found = morris.read(text, BOARD, NAMES, self.men)
        if found is None:
            return None
        men, placed, turn = found
        return men[0] | men[1] << 16 | placed << 32 | turn << 36

    def show(self, state: int) -> str:
        left = 2 * self.men - self._placed(state)
        return morris.shown(BOARD, NAMES, self.cells(state, 0)[0], state >> 36, left)

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(16, 1, state, "Xo")

    def place(self, state: int, action: int) -> list[int]:
        target, source, taken = action % 17, action // 17 % 17, action // 289
        return [point for point in (source, target, taken) if point < 16]

    def _men(self, state: int, other: int) -> int:
        """The mover's pieces (0) or the other's (1)."""
        return state >> 16 * (state >> 36 ^ other) & 0xFFFF

    def _placed(self, state: int) -> int:
        return state >> 32 & 15

    def _targets(self, state: int, mine: int, empty: int, source: int) -> int:
        """Where the mover's piece of a point may go; 16: a new one."""
        placing = self._placed(state) < 2 * self.men
        if source == 16:
            return empty if placing else 0
        if placing or not mine >> source & 1:
            return 0
        return empty if self.flying and mine.bit_count() == 3 else NEAR[source] & empty

    def _is_milled(self, men: int, point: int) -> bool:
        """Whether the piece of a point is in a mill."""
        for mill in MILLS:
            if mill >> point & 1 and men & mill == mill:
                return True
        return False

    def _removable(self, men: int) -> int:
        """The pieces that may be taken: those in no mill, or all."""
        milled = 0
        for mill in MILLS:
            if men & mill == mill:
                milled |= mill
        return men & ~milled if men & ~milled else men

    def _turned(self, men: int) -> int:
        """A quarter turn: each square's points two on."""
        low = 0x0303 * BOTH
        return (men << 2 & ~low | men >> 6 & low) & 0xFFFF_FFFF

    def _mirrored(self, men: int) -> int:
        """Points 1 and 5 of either square stay, and 0 and 2, 3 and 7, 4 and 6 change places."""
        one = 0x0101 * BOTH
        result = men & 0x2222 * BOTH
        result |= (men & one) << 2 | men >> 2 & one
        result |= (men & one << 3) << 4 | men >> 4 & one << 3
        return result | (men & one << 4) << 2 | men >> 2 & one << 4

    def _exchanged(self, men: int) -> int:
        """The inner square for the outer."""
        return (men & 0x00FF * BOTH) << 8 | men >> 8 & 0x00FF * BOTH
