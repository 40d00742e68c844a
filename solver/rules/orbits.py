"""Positions by number where men of two sides stand on points that symmetries exchange: each orbit is counted once.

`symmetries()` yields for each symmetry the point that every point goes to, and `tables()` how many men either side may
have: (rest, mine, theirs), where `rest` are the bits of a state beside its men's. A state has the mover's men in its
lowest bits, one for each point, the other's above them, and the rest above both.

Two positions that a symmetry exchanges are one, that of the least state (`canonical` must say so). So the other's men
are the least of their images, and their orbits are few. A position's number is that of its table, of the orbit of the
other's men there, and of the mover's men among the points that are left (by the combinatorial number system). Where the
other's men are symmetric themselves, several numbers belong to one position: the least counts (Gasser, Solving Nine
Men's Morris, 1996, numbers positions in this way, by the orbits of one side).

Cost: 16 symmetries of 24 points, plainly: orbits of nine men 0.6 s when they are first asked for, then 8 us a number.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from math import comb
from typing import Any, NamedTuple

from solver.base.errors import GameError
from solver.rules.numbering import Numbers

MOST_POINTS = 26
MOST_REST = 1 << 12  # values of the bits above the men's
MOST_SYMMETRIES = 64
BYTE = 8


class Table(NamedTuple):
    """Positions with as many men.

    Attributes:
        rest: The bits of a state above its men's, moved down.
        mine, theirs: Men of the side to move, and of the other.
        first: The number of the first position.
        each: How many numbers an orbit of the other's men takes.
    """

    rest: int
    mine: int
    theirs: int
    first: int
    each: int


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
        image, at = 0, 0
        while points:
            image |= self.images[symmetry][at][points & 255]
            points >>= BYTE
            at += 1
        return image


# The globals of bound methods: of a layout its points, numbers and tables; how long the axes of FIRST are
POINTS = SIZE = COUNT = RESTS = MINE = THEIRS = 0
FIRST: Any = {}  # of each (rest, mine, theirs) the first number, -1 without a table
TABLES = BINOMIALS = FIRST  # of each table first, rest, mine and theirs
LEAST: Any = ()  # of each size the least sets


def rank(self: Any, state: Any) -> Any:
    """Return the number of a canonical state, or -1 if it has none."""
    board = (1 << POINTS) - 1
    mine, theirs, rest = state & board, state >> POINTS & board, state >> 2 * POINTS
    own, other = mine.bit_count(), theirs.bit_count()
    if mine & theirs or not 0 <= rest < RESTS or own >= MINE or other >= THEIRS or FIRST[rest, own, other] < 0:
        return -1
    least = LEAST[other]
    low, after = 0, len(least)
    while after - low > 1:
        middle = (low + after) // 2
        if least[middle] <= theirs:
            low = middle
        else:
            after = middle
    if least[low] != theirs:
        return -1
    number, count, free = 0, 0, board & ~theirs
    while mine:
        man = mine & -mine
        count += 1
        number += BINOMIALS[(man - 1 & free).bit_count(), count]
        mine ^= man
    return FIRST[rest, own, other] + low * BINOMIALS[POINTS - other, own] + number


def unrank(self: Any, rank: int) -> Any:
    """Return the state with a number, or -1 if there is none. Several numbers stand for some positions."""
    if rank < 0 or rank >= SIZE:
        return -1
    low, after = 0, COUNT
    while after - low > 1:
        middle = (low + after) // 2
        if TABLES[middle, 0] <= rank:
            low = middle
        else:
            after = middle
    own, other = TABLES[low, 2], TABLES[low, 3]
    each, place = BINOMIALS[POINTS - other, own], POINTS - other
    number = rank - TABLES[low, 0]
    theirs = LEAST[other][number // each]
    number = number % each
    mine = 0
    for point in range(POINTS - 1, -1, -1):
        if theirs >> point & 1:
            continue
        place -= 1
        # The greatest place that leaves a number for the men below
        if own > 0 and BINOMIALS[place, own] <= number:
            number -= BINOMIALS[place, own]
            own -= 1
            mine |= 1 << point
    return mine | theirs << POINTS | TABLES[low, 1] << 2 * POINTS


class Orbits(Numbers):
    """Numbers by the orbits of the other's men."""

    METHODS = rank, unrank

    @functools.cached_property
    def layout(self) -> Layout:
        return layout_of(self.game)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.layout.size

    @property
    def firsts(self) -> list[int]:
        """The first number of each table."""
        return [table.first for table in self.layout.tables]

    @functools.cached_property
    def constants(self) -> dict[str, Any]:  # type: ignore[override]
        points, _, tables, size = self.layout
        shape = [1 + max(counts) for counts in zip(*(table[:3] for table in tables), strict=True)]
        none = dict.fromkeys(itertools.product(*map(range, shape)), -1)
        facts = [(table.first, *table[:3]) for table in tables]
        return {
            **{"POINTS": points, "SIZE": size, "COUNT": len(tables)},
            **dict(zip(("RESTS", "MINE", "THEIRS"), shape, strict=True)),
            "FIRST": none | {table[:3]: table.first for table in tables},
            "TABLES": {(row, column): fact for row, table in enumerate(facts) for column, fact in enumerate(table)},
            "BINOMIALS": {(n, k): comb(n, k) for n in range(points + 1) for k in range(points + 1)},
            "LEAST": LeastSets(self.game, shape[2]),
        }

    def images(self, state: int) -> list[int]:
        """A position and those that symmetries make of it, each once."""
        layout = self.layout
        points, board = layout.points, (1 << layout.points) - 1
        rest = state >> 2 * points << 2 * points
        found = [
            layout.image(symmetry, state & board) | layout.image(symmetry, state >> points & board) << points
            for symmetry in range(len(layout.images))
        ]
        return [rest | men for men in dict.fromkeys(found)]


class LeastSets(dict[int, list[int]]):
    """The `orbits` of a game by the size of their sets, each found when it is first asked for."""

    def __init__(self, game: Any, sizes: int) -> None:
        self.game, self.sizes = game, sizes

    def __missing__(self, men: int) -> list[int]:
        self[men] = orbits(self.game, men)
        return self[men]


@functools.lru_cache(maxsize=16, typed=True)  # typed: named tuples of two games may be equal
def layout_of(game: Any) -> Layout:
    """The layout of a game with `symmetries` and `tables`. Raises GameError for what cannot be."""
    name = type(game).__name__
    group = closed(name, [tuple(symmetry) for symmetry in game.symmetries()])
    points = len(group[0])
    images = [_images(symmetry) for symmetry in group]
    tables, first = [], 0
    counts = _orbit_counts(group)
    wanted = [tuple(table) for table in game.tables()]
    for rest, mine, theirs in wanted:
        if not (0 <= rest < MOST_REST and mine >= 0 and theirs >= 0 and mine + theirs <= points):
            raise GameError(
                f"{name}: tables() yields ({rest}, {mine}, {theirs}): the rest must be below {MOST_REST}, and"
                f" {points} points must hold the men"
            )
    if callable(getattr(game, "tier", None)):
        wanted.sort(key=lambda table: game.tier(_some_position(points, *table)))
    for rest, mine, theirs in wanted:
        each = comb(points - theirs, mine)
        tables.append(Table(rest, mine, theirs, first, each))
        first += counts[theirs] * each
    if len({table[:3] for table in tables}) < len(tables):
        raise GameError(f"{name}: tables() yields a table twice")
    return Layout(points, images, tables, first)


def _some_position(points: int, rest: int, mine: int, theirs: int) -> int:
    """One with so many men, all of a table being of one tier."""
    return (1 << mine) - 1 | (1 << theirs) - 1 << mine + points | rest << 2 * points


@functools.lru_cache(maxsize=256, typed=True)
def orbits(game: Any, men: int) -> list[int]:
    """The sets of so many points that are the least of their images, ascending."""
    layout = layout_of(game)
    # A set of points has MOST_POINTS / BYTE bytes at most
    tables = [(image + [[0]] * 3)[:4] for image in layout.images[1:]]
    found = []
    for points in subsets(layout.points, men):
        low, middle, high, top = points & 255, points >> 8 & 255, points >> 16 & 255, points >> 24
        for first, second, third, fourth in tables:
            if first[low] | second[middle] | third[high] | fourth[top] < points:
                break
        else:
            found.append(points)
    return found


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


def _images(symmetry: tuple[int, ...]) -> list[list[int]]:
    """For each byte of a set of points, the images of the 256 sets within it."""
    tables = []
    for first in range(0, len(symmetry), BYTE):
        images = [0]
        for target in symmetry[first : first + BYTE]:
            images += [image | 1 << target for image in images]
        tables.append(images + [0] * (256 - len(images)))
    return tables


def _orbit_counts(group: list[tuple[int, ...]]) -> list[int]:
    """How many orbits there are of sets of each size: on average a symmetry leaves so many as they are (Burnside)."""
    points = len(group[0])
    total = [0] * (points + 1)
    for symmetry in group:
        fixed = [1] + [0] * points
        for length in _cycles(symmetry):
            fixed = [fixed[size] + (fixed[size - length] if size >= length else 0) for size in range(points + 1)]
        total = [sum(pair) for pair in zip(total, fixed, strict=True)]
    return [number // len(group) for number in total]


def _cycles(symmetry: tuple[int, ...]) -> list[int]:
    """The lengths of a symmetry's cycles."""
    lengths, seen = [], set[int]()
    for begin in range(len(symmetry)):
        point, length = begin, 0
        while point not in seen:
            seen.add(point)
            point, length = symmetry[point], length + 1
        lengths += [length] if length else []
    return lengths


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
