"""Nine men's morris: place nine pieces each, then slide them; three in a line, a mill, take a piece of the other's.

    7  o--------o--------o      24 points on three squares, whose middles lines join. A mill: three pieces along a side
    6  |  o-----o-----o  |      of a square, or along such a line. Points are counted clockwise from the top left, 0 to
    5  |  |  o--o--o  |  |      7 on the outer square, 8 to 15 on the one in the middle, 16 to 23 on the inner one.
    4  o--o--o     o--o--o
    3  |  |  o--o--o  |  |
    2  |  o-----o-----o  |
    1  o--------o--------o
       a  b  c  d  e  f  g

Who closes a mill takes a piece of the other's that stands in none, or any if all do. Pieces that are all placed slide
along lines to an empty point; a player of three pieces moves one to any (`flying`). Who is left with fewer than three
when all pieces are placed, or cannot move, has lost. Repetition is a draw.

The start is a draw (R. Gasser, Solving Nine Men's Morris, Games of No Chance, 1996).

A state is the pieces of the side to move, the other's 24 bits on, and how many were placed so far 48 bits on. An action
is the point moved to, plus 25 times the point moved from (24: a new piece), plus 625 times the point of the piece that
is taken (24: none). Placing raises the tier and so does taking; sliding does not.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import grid, limits, morris
from solver.games.common.boards import on_points

GROUP = "capture"
POINTS = 24
ALL = 0xFFFFFF
MIDDLES = 0xAAAAAA  # of the sides
NAMES = (
    *("a7", "d7", "g7", "g4", "g1", "d1", "a1", "a4"),
    *("b6", "d6", "f6", "f4", "f2", "d2", "b2", "b4"),
    *("c5", "d5", "e5", "e4", "e3", "d3", "c3", "c4"),
)
BOARD = (
    "7 o--------o--------o",
    "6 |  o-----o-----o  |",
    "5 |  |  o--o--o  |  |",
    "4 o--o--o     o--o--o",
    "3 |  |  o--o--o  |  |",
    "2 |  o-----o-----o  |",
    "1 o--------o--------o",
)


class NineMensMorris(NamedTuple):
    """Three in a line take a piece of the other's; who has two left, or cannot move, loses; `men` of each player."""

    men: int = 9
    flying: bool = True

    everywhere = True
    layout = "Xo", 25**3

    def check(self) -> None:
        limits(self, men=(3, 9))

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> Iterator[int]:
        mine, theirs = state & ALL, state >> POINTS & ALL
        empty, removable = ALL & ~(mine | theirs), self._removable(theirs)
        if state >> 2 * POINTS < 2 * self.men:
            sources = 0
            closing = self._closing(mine) & empty
            # Mills first: they are good, and a search may be done with one
            for targets in (closing, empty & ~closing):
                while targets:
                    low = targets & -targets
                    targets ^= low
                    move = low.bit_length() - 1 + 25 * POINTS
                    taken = removable if closing & low else 0
                    if not taken:
                        yield move + 625 * POINTS
                    while taken:
                        one = taken & -taken
                        taken ^= one
                        yield move + 625 * (one.bit_length() - 1)
        else:
            sources = mine
        flies = self.flying and mine.bit_count() == 3
        perhaps = self._closing(mine)
        while sources:
            source = sources & -sources
            sources ^= source
            targets = empty if flies else self._near(source) & empty
            closing = self._closing(mine ^ source) if targets & perhaps else 0
            while targets:
                low = targets & -targets
                targets ^= low
                move = low.bit_length() - 1 + 25 * (source.bit_length() - 1)
                if closing & low:
                    taken = removable
                    while taken:
                        one = taken & -taken
                        taken ^= one
                        yield move + 625 * (one.bit_length() - 1)
                else:
                    yield move + 625 * POINTS

    def result(self, state: int, action: int) -> int:
        target, source, taken = action % 25, action // 25 % 25, action // 625
        mine, theirs, placed = state & ALL, state >> POINTS & ALL, state >> 2 * POINTS
        mine |= 1 << target
        if source < POINTS:
            mine ^= 1 << source
        else:
            placed += 1
        if taken < POINTS:
            theirs ^= 1 << taken
        return theirs | mine << POINTS | placed << 2 * POINTS

    def is_terminal(self, state: int) -> bool:
        if state >> 2 * POINTS < 2 * self.men:
            return False
        mine, theirs = state & ALL, state >> POINTS & ALL
        count = mine.bit_count()
        if count < 3 or theirs.bit_count() < 3:
            return True
        empty = ALL & ~(mine | theirs)
        if self.flying and count == 3:
            return False
        return self._near(mine) & empty == 0

    def utility(self, state: int) -> int:
        mine, theirs = state & ALL, state >> POINTS & ALL
        return 1 if theirs.bit_count() < 3 <= mine.bit_count() else -1

    def parents(self, state: int) -> Iterator[int]:
        """Before a slide that closed no mill."""
        mine, theirs, placed = state & ALL, state >> POINTS & ALL, state >> 2 * POINTS
        movable = theirs & ~self._milled(theirs) if placed == 2 * self.men else 0
        empty = ALL & ~(mine | theirs)
        flies = self.flying and theirs.bit_count() == 3
        while movable:
            target = movable & -movable
            movable ^= target
            sources = empty if flies else self._near(target) & empty
            while sources:
                source = sources & -sources
                sources ^= source
                yield theirs ^ target ^ source | mine << POINTS | placed << 2 * POINTS

    def tier(self, state: int) -> int:
        """The pieces placed, those taken, and how many the weaker side has."""
        mine, theirs = (state & ALL).bit_count(), (state >> POINTS & ALL).bit_count()
        placed = state >> 2 * POINTS
        return (19 * placed + placed - mine - theirs) * 10 + min(mine, theirs)

    def symmetries(self) -> Iterator[tuple[int, ...]]:
        """A quarter turn, a mirror, and the outer square for the inner."""
        points = range(POINTS)
        yield tuple(point & 24 | point + 2 & 7 for point in points)
        yield tuple(point & 24 | 2 - point & 7 for point in points)
        yield tuple(16 - (point & 24) | point & 7 for point in points)

    def tables(self) -> Iterator[tuple[int, int, int]]:
        return morris.tables(self.men)

    def canonical(self, state: int) -> int:
        """The least of the 16 images: squares turned, mirrored, and the outer one and the inner one exchanged."""
        placed = state >> 2 * POINTS << 2 * POINTS
        men = state ^ placed
        mirrored = self._mirrored(men)
        least = min(men, mirrored)
        for _ in range(4):
            inner, inner_mirrored = self._exchanged(men), self._exchanged(mirrored)
            least = min(least, min(min(men, mirrored), min(inner, inner_mirrored)))
            men, mirrored = self._turned(men), self._turned(mirrored)
        return least | placed

    def format_action(self, state: int, action: int) -> str:
        target, source, taken = action % 25, action // 25 % 25, action // 625
        move = (NAMES[source] + "-" if source < POINTS else "") + NAMES[target]
        return f"{move}x{NAMES[taken]}" if taken < POINTS else move

    def format_end(self, state: int) -> str:
        if (state & ALL).bit_count() < 3 or (state >> POINTS & ALL).bit_count() < 3:
            return "two men are left"
        return "no man can move"

    def parse_position(self, text: str) -> int | None:
        """The board, with the pieces in hand, as `show` prints it."""
        found = morris.read(text, BOARD, NAMES, self.men)
        if found is None:
            return None
        men, placed, turn = found
        return men[turn] | men[1 - turn] << POINTS | placed << 2 * POINTS

    def show(self, state: int) -> str:
        return self.view(state, (state >> 2 * POINTS) % 2)

    def view(self, state: int, mover: int) -> str:
        left = 2 * self.men - (state >> 2 * POINTS)
        return morris.shown(BOARD, NAMES, self.cells(state, mover)[0], mover, left)

    def cells(self, state: int, mover: int) -> list[str]:
        return grid.board(POINTS, 1, state, "Xo" if mover == 0 else "oX")

    def place(self, state: int, action: int) -> list[int]:
        target, source, taken = action % 25, action // 25 % 25, action // 625
        return [point for point in (source, target, taken) if point < POINTS]

    def drawing(self) -> dict[str, Any]:
        return on_points(NAMES, lambda a, b: self._near(1 << a) >> b & 1, "white", "black")

    def _near(self, men: int) -> int:
        """The neighbours of some points."""
        around = (men << 1 & 0xFEFEFE) | (men >> 7 & 0x010101) | (men >> 1 & 0x7F7F7F) | (men << 7 & 0x808080)
        middles = men & MIDDLES
        return around | (middles << 8 & ALL) | middles >> 8

    def _closing(self, men: int) -> int:
        """The points where one piece more makes a mill of three."""
        one, two = (men << 1 & 0xFEFEFE) | (men >> 7 & 0x010101), (men << 2 & 0xFCFCFC) | (men >> 6 & 0x030303)
        back, far_back = (men >> 1 & 0x7F7F7F) | (men << 7 & 0x808080), (men >> 2 & 0x3F3F3F) | (men << 6 & 0xC0C0C0)
        corners = (one & two | back & far_back) & ~MIDDLES
        inner, middle, outer = men >> 16, men >> 8 & 255, men & 255
        across = (middle & inner) | (outer & inner) << 8 | (outer & middle) << 16
        return corners | (one & back | across) & MIDDLES

    def _milled(self, men: int) -> int:
        """The pieces that stand in mills."""
        one, back = (men << 1 & 0xFEFEFE) | (men >> 7 & 0x010101), (men >> 1 & 0x7F7F7F) | (men << 7 & 0x808080)
        sides = men & one & back & MIDDLES
        across = men & men >> 8 & men >> 16 & MIDDLES
        sides |= (sides << 1 & 0xFEFEFE) | (sides >> 7 & 0x010101) | sides >> 1
        return sides | across | across << 8 | across << 16

    def _removable(self, men: int) -> int:
        """The pieces that may be taken: those in no mill, or all."""
        milled = self._milled(men)
        return men & ~milled if men & ~milled else men

    def _turned(self, men: int) -> int:
        """A quarter turn: each square's points two on."""
        return (men << 2 & 0xFCFC_FCFC_FCFC) | (men >> 6 & 0x0303_0303_0303)

    def _mirrored(self, men: int) -> int:
        """Points 1 and 5 of each square stay; 0 and 2, 3 and 7, 4 and 6 change places."""
        result = men & 0x2222_2222_2222
        result |= (men & 0x0101_0101_0101) << 2 | men >> 2 & 0x0101_0101_0101
        result |= (men & 0x0808_0808_0808) << 4 | men >> 4 & 0x0808_0808_0808
        return result | (men & 0x1010_1010_1010) << 2 | men >> 2 & 0x1010_1010_1010

    def _exchanged(self, men: int) -> int:
        """The inner square for the outer."""
        return men & 0x00FF00_00FF00 | (men & 0x0000FF_0000FF) << 16 | men >> 16 & 0x0000FF_0000FF
