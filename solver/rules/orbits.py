"""Positions by number where pieces of two sides stand on points that symmetries exchange: each orbit is counted once.

`symmetries()` yields for each symmetry the point that every point goes to, and `tables()` how many pieces either side
may have: (rest, mine, theirs), where `rest` are the bits of a state beside its men's. A state has the mover's pieces in
its lowest bits, one for each point, the other's above them, and the rest above both.

Two positions that a symmetry exchanges are one, that of the least state (`canonical` must say so). So the other's
pieces are the least of their images, and their orbits are few. A position's number is that of its table, of the orbit
of the other's pieces there, and of the mover's pieces among the points that are left (by the combinatorial number
system). Where the other's pieces are symmetric themselves, several numbers belong to one position: the least counts
(Gasser, Solving Nine Men's Morris, 1996, numbers positions in this way, by the orbits of one side).

Cost: 16 symmetries of 24 points: orbits of nine pieces 0.6 s when they are first asked for. A number takes 2 us
plainly.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from math import comb
from typing import Any, NamedTuple

from solver.base.errors import GameError
from solver.rules.numbering import Numbers

MOST_POINTS = 26
MOST_REST = 1 << 12  # values of the bits above the men's
MOST_SYMMETRIES = 64
BYTE = 8
MOST_LISTED = 16  # points all of whose sets are listed


class Table(NamedTuple):
    """Positions with as many pieces.

    Attributes:
        rest: The bits of a state above its men's, moved down.
        mine, theirs: Pieces of the side to move, and of the other.
        first: The number of the first position.
    """

    rest: int
    mine: int
    theirs: int
    first: int


class Layout(NamedTuple):
    """All that numbers depend on.

    Attributes:
        points: How many there are.
        images: For each symmetry and each byte of a set of points, the images of the 256 sets within it.
        tables: In the order of their numbers, which is that of their tiers.
        size: How many numbers there are.
    """

    points: int
    images: list[list[list[int]]]
    tables: list[Table]
    size: int

    def image(self, symmetry: int, points: int) -> int:
        """Where a symmetry takes a set of points."""
        image = 0
        for sets in self.images[symmetry]:
            image |= sets[points & 255]
            points >>= BYTE
        return image


# The globals of bound functions: of a layout its points, numbers and tables; how long the axes of FIRST are
POINTS = SIZE = RESTS = MINE = THEIRS = LOW = BYTES = 0
FIRST: Any = ()  # of each (rest, mine, theirs), one axis behind the other, the first number, -1 without a table
TABLES = BINOMIALS = FIRST  # of each table first, rest, mine and theirs; by size and items, how many sets there are
SUBSETS = IMAGES = FIRST  # the sets of each size among the LOW lowest points; `Layout.images`, flat, but the identity
LEAST = SAME = MARKS = BEFORE = FIRST  # of each size: those of `Sets`


def rank(self: Any, state: Any) -> Any:
    """Return the number of a canonical state, or -1 if it has none."""
    board = (1 << POINTS) - 1
    mine, theirs, rest = state & board, state >> POINTS & board, state >> 2 * POINTS
    own, other = mine.bit_count(), theirs.bit_count()
    if mine & theirs or not 0 <= rest < RESTS or own >= MINE or other >= THEIRS:
        return -1
    first, orbit = FIRST[(rest * MINE + own) * THEIRS + other], orbit_of(theirs, other)
    if first < 0 or orbit < 0:
        return -1
    return first + orbit * BINOMIALS[own][POINTS - other] + place_in(mine, board & ~theirs)


def unrank(self: Any, rank: int) -> Any:
    """Return the state with a number, or -1 if there is none. Several numbers stand for some positions."""
    if rank < 0 or rank >= SIZE:
        return -1
    low, after = 0, len(TABLES)
    while after - low > 1:
        middle = (low + after) // 2
        if TABLES[middle][0] <= rank:
            low = middle
        else:
            after = middle
    number, own, other = rank - TABLES[low][0], TABLES[low][2], TABLES[low][3]
    place = POINTS - other
    each = BINOMIALS[own][place]
    orbit = number // each
    number -= orbit * each
    mine, theirs = 0, LEAST[other][orbit]
    while place > LOW and own > 0:
        place -= 1
        # The greatest place that leaves a number for the pieces below
        if BINOMIALS[own][place] <= number:
            number -= BINOMIALS[own][place]
            own -= 1
            mine |= 1 << place
    mine |= SUBSETS[own][number]
    # Make room for the other's pieces, the lowest first
    men = theirs
    while men:
        mine += mine & -(men & -men)
        men &= men - 1
    return mine | theirs << POINTS | TABLES[low][1] << 2 * POINTS


def is_own_image(self: Any, state: Any) -> Any:
    """Whether a symmetry but the identity leaves a canonical state that has a number as it is."""
    board = (1 << POINTS) - 1
    mine, theirs = state & board, state >> POINTS & board
    other = theirs.bit_count()
    same, image_begin = SAME[other][orbit_of(theirs, other)], 0
    while same:
        if same & 1:
            image, points, begin = 0, mine, image_begin
            while points:
                image |= IMAGES[begin + (points & 255)]
                points >>= 8
                begin += 256
            if image == mine:
                return True
        same >>= 1
        image_begin += 256 * BYTES
    return False


def orbit_of(men: Any, size: Any) -> Any:
    """The place of a set among the least ones of its size, or -1 if it is none of them."""
    place = place_in(men, (1 << POINTS) - 1)
    word, bit = MARKS[size][place >> 5], place & 31
    return BEFORE[size][place >> 5] + (word & (1 << bit) - 1).bit_count() if word >> bit & 1 else -1


def place_in(men: Any, points: Any) -> Any:
    """How many sets of as many of these points are less than a set."""
    place = count = 0
    while men:
        count += 1
        place += BINOMIALS[count][(points & (men & -men) - 1).bit_count()]
        men &= men - 1
    return place


class Sets(NamedTuple):
    """The sets of so many points that are the least of their images.

    Attributes:
        least: The sets, ascending.
        same: The symmetries but the identity that leave each as it is, a bit for each.
        marks: Of all sets of that size, ascending, a bit for each, whether it is in `least`; 32 to a number.
        before: How many are marked in earlier numbers.
    """

    least: list[int]
    same: list[int]
    marks: list[int]
    before: list[int]


class BySize(dict[int, list[int]]):
    """One list of the `Sets` of a game for each size, made when it is first asked for."""

    def __init__(self, numbers: Orbits, column: int, sizes: int) -> None:
        self.numbers, self.column, self.sizes = numbers, column, sizes

    def __missing__(self, size: int) -> list[int]:
        self[size] = self.numbers.sets(size)[self.column]
        return self[size]

    def tolist(self) -> list[list[int]]:
        """The lists of all sizes."""
        return [self[size] for size in range(self.sizes)]


class Orbits(Numbers):
    """Numbers by the orbits of the other's pieces."""

    FUNCTIONS = rank, unrank, is_own_image, orbit_of, place_in
    LACKING = "is in no table of tables(), or canonical is not the least image by symmetries()"

    @functools.cached_property
    def layout(self) -> Layout:
        return layout_of(self.game)

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.layout.size

    @property
    def firsts(self) -> list[int]:  # type: ignore[override]
        return [table.first for table in self.layout.tables]

    @functools.cached_property
    def constants(self) -> dict[str, Any]:
        points, images, tables, size = self.layout
        shape = [1 + max(counts) for counts in zip(*(table[:3] for table in tables), strict=True)]
        firsts, low = {tuple(table[:3]): table.first for table in tables}, min(points, MOST_LISTED)
        return {
            **{"POINTS": points, "SIZE": size, "LOW": low, "BYTES": len(images[0])},
            **dict(zip(("RESTS", "MINE", "THEIRS"), shape, strict=True)),
            "FIRST": [firsts.get(key, -1) for key in itertools.product(*map(range, shape))],
            "TABLES": [[table.first, *table[:3]] for table in tables],
            "BINOMIALS": [[comb(items, size) for items in range(points + 1)] for size in range(max(shape[1:]))],
            "SUBSETS": [list(subsets(low, own)) for own in range(shape[1])],
            "IMAGES": list(itertools.chain.from_iterable(itertools.chain.from_iterable(images[1:]))),
            **{name.upper(): BySize(self, column, shape[2]) for column, name in enumerate(Sets._fields)},
        }

    @functools.cached_property
    def sets(self) -> Callable[[int], Sets]:
        """A function that finds those of a size, once."""
        return functools.cache(functools.partial(orbits, self.layout))

    def images(self, state: int) -> list[int]:
        layout = self.layout
        points, board = layout.points, (1 << layout.points) - 1
        rest = state >> 2 * points << 2 * points
        found = [
            layout.image(symmetry, state & board) | layout.image(symmetry, state >> points & board) << points
            for symmetry in range(len(layout.images))
        ]
        return [rest | men for men in dict.fromkeys(found)]


def layout_of(game: Any) -> Layout:
    """The layout of a game with `symmetries` and `tables`. Raises GameError for what cannot be."""
    name = type(game).__name__
    group = closed(name, [tuple(symmetry) for symmetry in game.symmetries()])
    points = len(group[0])
    images: list[list[list[int]]] = []
    for symmetry in group:
        images.append([])
        for begin in range(0, points, BYTE):
            sets = [0]
            for target in symmetry[begin : begin + BYTE]:
                sets += [image | 1 << target for image in sets]
            images[-1].append(sets + [0] * (256 - len(sets)))
    tables, first = [], 0
    counts = _orbit_counts(group)
    wanted = [tuple(table) for table in game.tables()]
    for rest, mine, theirs in wanted:
        if not (0 <= rest < MOST_REST and mine >= 0 and theirs >= 0 and mine + theirs <= points):
            raise GameError(
                f"{name}: tables() yields ({rest}, {mine}, {theirs}): the rest must be below {MOST_REST}, and"
                f" {points} points must hold the pieces"
            )
    if callable(getattr(game, "tier", None)):

        def tier(table: tuple[int, ...]) -> int:
            # All positions of a table are of one
            rest, mine, theirs = table
            return int(game.tier((1 << mine) - 1 | (1 << theirs) - 1 << mine + points | rest << 2 * points))

        wanted.sort(key=tier)
    for rest, mine, theirs in wanted:
        tables.append(Table(rest, mine, theirs, first))
        first += counts[theirs] * comb(points - theirs, mine)
    if len({table[:3] for table in tables}) < len(tables):
        raise GameError(f"{name}: tables() yields a table twice")
    return Layout(points, images, tables, first)


def orbits(layout: Layout, men: int) -> Sets:
    """The sets of so many points that are the least of their images."""
    # A set of points has MOST_POINTS / BYTE bytes at most
    images = [(image + [[0]] * 3)[:4] for image in layout.images[1:]]
    least, same, marks, before = Sets([], [], [], [])
    for place, points in enumerate(subsets(layout.points, men)):
        if place & 31 == 0:
            before.append(len(least))
            marks.append(0)
        low, middle, high, top = points & 255, points >> 8 & 255, points >> 16 & 255, points >> 24
        bits = 0
        for number, (first, second, third, fourth) in enumerate(images):
            image = first[low] | second[middle] | third[high] | fourth[top]
            if image < points:
                break
            if image == points:
                bits |= 1 << number
        else:
            least.append(points)
            same.append(bits)
            marks[-1] |= 1 << (place & 31)
    return Sets(least, same, marks, before)


def closed(name: str, symmetries: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """All symmetries that some make together, the one that leaves all points where they are first."""
    some = list(symmetries)
    count = len(some[0]) if some else 0
    if not 0 < count <= MOST_POINTS or any(sorted(one) != list(range(count)) for one in some):
        raise GameError(
            f"{name}: symmetries() must yield where each of the same 1 to {MOST_POINTS} points goes, each to another"
        )
    group = [tuple(range(count))]
    for one in group:
        for symmetry in some:
            product = tuple(symmetry[point] for point in one)
            if product not in group:
                group.append(product)
        if len(group) > MOST_SYMMETRIES:
            raise GameError(f"{name}: symmetries() make more than {MOST_SYMMETRIES} together")
    return group


def _orbit_counts(group: list[tuple[int, ...]]) -> list[int]:
    """How many orbits there are of sets of each size: on average a symmetry leaves so many as they are (Burnside)."""
    points = len(group[0])
    total = [0] * (points + 1)
    for symmetry in group:
        fixed, seen = [1] + [0] * points, set[int]()
        for begin in range(points):
            point, length = begin, 0
            while point not in seen:
                seen.add(point)
                point, length = symmetry[point], length + 1
            if not length:
                continue
            # A cycle goes into a fixed set whole
            fixed = [fixed[size] + (fixed[size - length] if size >= length else 0) for size in range(points + 1)]
        total = [sum(pair) for pair in zip(total, fixed, strict=True)]
    return [number // len(group) for number in total]


def subsets(points: int, size: int) -> Iterable[int]:
    """All sets of so many points, ascending as numbers."""
    if size == 0:
        yield 0
        return
    chosen, end = (1 << size) - 1, 1 << points
    while chosen < end:
        yield chosen
        low = chosen & -chosen
        carried = chosen + low
        chosen = carried | ((chosen ^ carried) // low >> 2)
