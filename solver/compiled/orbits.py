"""Numbers of positions by orbits, compiled: those of `rules.orbits`, of any image of a position, from look-up tables.

Cost: 24 points, 9 men of either side, 16 symmetries: 24 MB, made in 0.3 s; a number of a position takes 20 ns.
"""

from __future__ import annotations

import functools
from math import comb
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types as nb
from numba.extending import intrinsic, register_jitable
from numpy.typing import NDArray

from solver.compiled.inlining import PART
from solver.compiled.words import bit_count
from solver.rules.orbits import Orbits, orbits, subsets
from solver.store.shared import shared

SYMMETRY_BITS, SYMMETRIC = 6, 1  # of an entry of `Arrays.orbit`


class Arrays(NamedTuple):
    """Tables of a layout.

    Attributes:
        images: Of each symmetry and byte of a set of points, its image (symmetries, bytes, 256).
        first: The first number of a table (rests, most of mine + 1, most of theirs + 1), -1 where there is none.
        tables: Of each table, its first number, rest, mine and theirs (tables, 4).
        binomials: (points + 1, points + 1).
        orbit: For each set of the other's men: the number of its orbit, the symmetry that takes it to the orbit's
            least set (SYMMETRY_BITS), and whether another one leaves that as it is.
        orbit_begin: Where those of a size begin in it.
        least, same: For each orbit, its least set, and the bits of the symmetries that leave it as it is.
        least_begin: Where those of a size begin in them.
        high, low: The number of a set among those of its size, of its upper half by size, and of its lower half.
        sets: The sets of a size among so many points, ascending.
        sets_begin: Where those of (points, size) begin in it.
        squeeze, spread: `orbits.squeezed` and `orbits.spread` of a byte in a byte.
    """

    images: NDArray[np.uint32]
    first: NDArray[np.int64]
    tables: NDArray[np.int64]
    binomials: NDArray[np.int64]
    orbit: NDArray[np.uint32]
    orbit_begin: NDArray[np.int64]
    least: NDArray[np.uint32]
    same: NDArray[np.uint64]
    least_begin: NDArray[np.int64]
    high: NDArray[np.uint32]
    low: NDArray[np.uint32]
    sets: NDArray[np.uint32]
    sets_begin: NDArray[np.int64]
    squeeze: NDArray[np.uint8]
    spread: NDArray[np.uint8]


@functools.lru_cache(maxsize=4)
def arrays_of(numbering: Orbits) -> Arrays:
    """The tables of a game's layout."""
    layout = numbering.layout
    points, tables = layout.points, layout.tables
    mine, theirs = max(table.mine for table in tables), max(table.theirs for table in tables)
    first = np.full((max(table.rest for table in tables) + 1, mine + 1, theirs + 1), -1, np.int64)
    for table in tables:
        first[table.rest, table.mine, table.theirs] = table.first
    binomials = np.array([[comb(n, k) for k in range(points + 1)] for n in range(points + 1)], np.int64)
    high, low = _halves(points)
    images = np.array(layout.images, np.uint32)
    inverse = _inverses(images)
    orbit_begin = np.cumsum([0, *binomials[points, : theirs + 1]])
    orbit = np.zeros(orbit_begin[-1], np.uint32)
    least, same, least_begin = [], [], [0]
    for size in range(theirs + 1):
        sets = _sets(points, size)
        found = np.empty(len(sets), np.uint32), np.empty(len(sets), np.uint64)
        part = orbit[orbit_begin[size] : orbit_begin[size + 1]]
        count = fill_orbits(sets, images, inverse, high, low, part, *found)
        least.append(found[0][:count].copy())
        same.append(found[1][:count].copy())
        least_begin.append(least_begin[-1] + count)
    sets_begin = np.full((points + 1, mine + 1), -1, np.int64)
    listed, at = [], 0
    for free, size in sorted({(points - table.theirs, table.mine) for table in tables}):
        sets_begin[free, size] = at
        listed.append(_sets(free, size))
        at += len(listed[-1])
    squeeze, spread = _bytes()
    return Arrays(
        images,
        first,
        np.array([(table.first, table.rest, table.mine, table.theirs) for table in tables], np.int64),
        binomials,
        orbit,
        orbit_begin,
        np.concatenate(least),
        np.concatenate(same),
        np.array(least_begin, np.int64),
        high,
        low,
        np.concatenate(listed),
        sets_begin,
        squeeze,
        spread,
    )


def _sets(points: int, size: int) -> NDArray[np.uint32]:
    return np.fromiter(subsets(points, size), np.uint32, comb(points, size))


def _halves(points: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """`Arrays.high` and `Arrays.low`."""
    half = (points + 1) // 2
    counts = np.array([value.bit_count() for value in range(1 << half)])
    low = np.zeros(1 << half, np.uint32)
    for size in range(half + 1):
        at = np.flatnonzero(counts == size)
        low[at] = np.arange(len(at))
    high = np.zeros((points + 1, 1 << half), np.uint32)
    for size in range(points + 1):
        # So many sets have a given upper half
        before = np.array([comb(half, size - count) if count <= size else 0 for count in counts.tolist()])
        high[size, 1:] = np.cumsum(before)[:-1]
    return high, low


def _inverses(images: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The symmetry that undoes each."""
    singles = [tuple(int(one[bit // 8, 1 << bit % 8]).bit_length() for bit in range(8 * one.shape[0])) for one in images]
    targets = [[place - 1 for place in single if place] for single in singles]
    undone = [tuple(sorted(range(len(target)), key=target.__getitem__)) for target in targets]
    known = {tuple(target): symmetry for symmetry, target in enumerate(targets)}
    return np.array([known[one] for one in undone], np.int64)


def _bytes() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """`Arrays.squeeze` and `Arrays.spread`, by set << 8 | points or places."""
    squeeze, spread = np.zeros((256, 256), np.uint8), np.zeros((256, 256), np.uint8)
    every = np.arange(256)
    for among in range(256):
        for place, bit in enumerate(bit for bit in range(8) if among >> bit & 1):
            squeeze[among] |= ((every >> bit & 1) << place).astype(np.uint8)
            spread[among] |= ((every >> place & 1) << bit).astype(np.uint8)
    return squeeze.reshape(-1), spread.reshape(-1)


@register_jitable
def image_of(images: NDArray[Any], symmetry: int, points: int) -> Any:
    """Where a symmetry takes a set of points."""
    image = np.int64(images[symmetry, 0, points & 255])
    for at in range(1, images.shape[1]):
        image |= np.int64(images[symmetry, at, points >> 8 * at & 255])
    return image


@register_jitable
def place_of(high: NDArray[Any], low: NDArray[Any], size: int, points: int) -> Any:
    """How many sets of this size are less than a set."""
    half = len(low)
    return np.int64(high[size, points // half]) + np.int64(low[points & half - 1])


@shared
def fill_orbits(
    sets: NDArray[Any],
    images: NDArray[Any],
    inverse: NDArray[Any],
    high: NDArray[Any],
    low: NDArray[Any],
    orbit: NDArray[Any],
    least: NDArray[Any],
    same: NDArray[Any],
) -> Any:
    """Write the orbits of all sets of a size, as `Arrays` has them; how many there are."""
    count = 0
    size = bit_count(np.int64(sets[0])) if len(sets) else 0
    for i in range(len(orbit)):
        orbit[i] = 0xFFFFFFFF
    for i in range(len(sets)):
        if orbit[i] != 0xFFFFFFFF:
            continue
        points, fixed = np.int64(sets[i]), np.int64(0)
        for symmetry in range(len(images)):
            if image_of(images, symmetry, points) == points:
                fixed |= 1 << symmetry
        for symmetry in range(len(images)):
            at = place_of(high, low, size, image_of(images, symmetry, points))
            if orbit[at] == 0xFFFFFFFF:
                orbit[at] = (count << SYMMETRY_BITS | inverse[symmetry]) << 1 | (fixed != 1)
        least[count], same[count] = points, fixed
        count += 1
    return count


class Addresses(NamedTuple):
    """Where the arrays of `Arrays` lie, and how many entries their rows have.

    Kernels take these in place of the arrays: each array that a function is given would be counted as referred to, again
    and again, which takes longer than the look-up.
    """

    points: int
    symmetries: int
    bytes: int
    rests: int
    mine: int
    theirs: int
    table_count: int
    half: int
    images: int
    first: int
    tables: int
    binomials: int
    orbit: int
    orbit_begin: int
    least: int
    same: int
    least_begin: int
    high: int
    low: int
    sets: int
    sets_begin: int
    squeeze: int
    spread: int


def addresses_of(points: int, arrays: Arrays) -> Addresses:
    """The addresses of some arrays, valid as long as these live."""
    symmetries, count, _ = arrays.images.shape
    half = len(arrays.low).bit_length() - 1
    places = (array.ctypes.data for array in arrays)
    return Addresses(points, symmetries, count, *arrays.first.shape, len(arrays.tables), half, *places)


def _loading(bits: int) -> Any:
    """A function that reads a number of so many bits, `(address, index)`, as int64."""

    @intrinsic
    def load(typingctx: Any, address: Any, index: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            kind = ir.IntType(bits)
            pointer = builder.gep(builder.inttoptr(values[0], kind.as_pointer()), [values[1]])
            number = builder.load(pointer)
            return builder.zext(number, ir.IntType(64)) if bits < 64 else number

        return nb.int64(nb.int64, nb.int64), emit

    return load


byte_at, half_at, word_at = _loading(8), _loading(32), _loading(64)


@register_jitable(**PART)
def _image(at: Addresses, symmetry: int, points: int) -> Any:
    row = at.images + (symmetry * at.bytes << 10)
    image = half_at(row, points & 255)
    for byte in range(1, at.bytes):
        image |= half_at(row + (byte << 10), points >> 8 * byte & 255)
    return image


@register_jitable(**PART)
def _place(at: Addresses, size: int, points: int) -> Any:
    return half_at(at.high, (size << at.half) + (points >> at.half)) + half_at(at.low, points & (1 << at.half) - 1)


@register_jitable(**PART)
def _squeezed(at: Addresses, points: int, among: int) -> Any:
    """Some of a set's points, as the places that they have among all of it."""
    places, shift = np.int64(0), np.int64(0)
    for _ in range(at.bytes):
        byte = among & 255
        places |= byte_at(at.squeeze, byte << 8 | points & 255) << shift
        shift += bit_count(byte)
        among >>= 8
        points >>= 8
    return places


@register_jitable(**PART)
def _spread(at: Addresses, places: int, among: int) -> Any:
    """The inverse of `_squeezed`."""
    points = np.int64(0)
    for index in range(at.bytes):
        byte = among & 255
        points |= byte_at(at.spread, byte << 8 | places & 255) << 8 * index
        places >>= bit_count(byte)
        among >>= 8
    return points


@register_jitable(**PART)
def orbit_number(at: Addresses, state: int) -> Any:
    """The number of a position, whichever of its images this is; -1 if it has none."""
    everywhere = (np.int64(1) << at.points) - 1
    mine, theirs, rest = state & everywhere, state >> at.points & everywhere, state >> 2 * at.points
    own, other = bit_count(mine), bit_count(theirs)
    if mine & theirs or rest >= at.rests or own >= at.mine or other >= at.theirs:
        return np.int64(-1)
    first = word_at(at.first, (rest * at.mine + own) * at.theirs + other)
    if first < 0:
        return np.int64(-1)
    entry = half_at(at.orbit, word_at(at.orbit_begin, other) + _place(at, other, theirs))
    orbit, symmetry = entry >> SYMMETRY_BITS + 1, entry >> 1 & (1 << SYMMETRY_BITS) - 1
    among = everywhere & ~_image(at, symmetry, theirs)
    mine = _image(at, symmetry, mine)
    place = _place(at, own, _squeezed(at, mine, among))
    if entry & SYMMETRIC:
        same = word_at(at.same, word_at(at.least_begin, other) + orbit)
        for one in range(1, at.symmetries):
            if same >> one & 1:
                place = min(place, _place(at, own, _squeezed(at, _image(at, one, mine), among)))
    return first + orbit * word_at(at.binomials, (at.points - other) * (at.points + 1) + own) + place


@register_jitable(**PART)
def table_of(at: Addresses, number: int) -> Any:
    """The index of the table of a number."""
    low, after = np.int64(0), at.table_count
    while after - low > 1:
        middle = (low + after) // 2
        if word_at(at.tables, 4 * middle) <= number:
            low = middle
        else:
            after = middle
    return low


@register_jitable(**PART)
def orbit_position(at: Addresses, table: int, number: int) -> Any:
    """The position of a number of a table; -1 where another number stands for it."""
    first, rest = word_at(at.tables, 4 * table), word_at(at.tables, 4 * table + 1)
    own, other = word_at(at.tables, 4 * table + 2), word_at(at.tables, 4 * table + 3)
    each = word_at(at.binomials, (at.points - other) * (at.points + 1) + own)
    orbit = (number - first) // each
    place = number - first - orbit * each
    index = word_at(at.least_begin, other) + orbit
    theirs, same = half_at(at.least, index), word_at(at.same, index)
    among = (np.int64(1) << at.points) - 1 & ~theirs
    sets = word_at(at.sets_begin, (at.points - other) * at.mine + own)
    mine = _spread(at, half_at(at.sets, sets + place), among)
    if same != 1:
        for one in range(1, at.symmetries):
            if same >> one & 1 and _place(at, own, _squeezed(at, _image(at, one, mine), among)) < place:
                return np.int64(-1)
    return mine | theirs << at.points | rest << 2 * at.points


# of the compiled methods: `Arrays` has the others
POINTS = SIZE = 0
FIRST = np.zeros((1, 1, 1), np.int64)
TABLES = BINOMIALS = np.zeros((1, 1), np.int64)
LEAST, LEAST_BEGIN = np.zeros(1, np.int32), np.zeros(1, np.int64)


def rank(self: Any, state: Any) -> Any:
    """Return the number of a canonical state, or -1 if it has none."""
    everywhere = (1 << POINTS) - 1
    mine, theirs, rest = state & everywhere, state >> POINTS & everywhere, state >> 2 * POINTS
    own, other = mine.bit_count(), theirs.bit_count()
    if mine & theirs or rest >= FIRST.shape[0] or own >= FIRST.shape[1] or other >= FIRST.shape[2]:
        return -1
    low, after = LEAST_BEGIN[other], LEAST_BEGIN[other + 1]
    while after - low > 1:
        middle = (low + after) // 2
        if LEAST[middle] <= theirs:
            low = middle
        else:
            after = middle
    if FIRST[rest, own, other] < 0 or LEAST[low] != theirs:
        return -1
    number, count, place = 0, 0, 0
    for point in range(POINTS):
        if mine >> point & 1:
            count += 1
            number += BINOMIALS[place, count]
        place += 1 - (theirs >> point & 1)
    return FIRST[rest, own, other] + (low - LEAST_BEGIN[other]) * BINOMIALS[POINTS - other, own] + number


def unrank(self: Any, rank: int) -> Any:
    """Return the state with a number, or -1 if there is none."""
    if rank < 0 or rank >= SIZE:
        return -1
    low, after = 0, len(TABLES)
    while after - low > 1:
        middle = (low + after) // 2
        if TABLES[middle, 0] <= rank:
            low = middle
        else:
            after = middle
    own, other = TABLES[low, 2], TABLES[low, 3]
    each, place = BINOMIALS[POINTS - other, own], POINTS - other
    number = rank - TABLES[low, 0]
    theirs = np.int64(LEAST[LEAST_BEGIN[other] + number // each])
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


def constants(numbering: Orbits) -> dict[str, Any]:
    """The arrays of a layout, as `rank` and `unrank` name them."""
    layout = numbering.layout
    points, tables = layout.points, layout.tables
    first = np.full((max(table.rest for table in tables) + 1, points + 1, points + 1), -1, np.int64)
    for table in tables:
        first[table.rest, table.mine, table.theirs] = table.first
    most = max(table.theirs for table in tables)
    first = np.ascontiguousarray(first[:, : max(table.mine for table in tables) + 1, : most + 1])
    least = [orbits(numbering.game, size) for size in range(most + 1)]
    return {
        "POINTS": points,
        "SIZE": layout.size,
        "FIRST": first,
        "TABLES": np.array([(table.first, table.rest, table.mine, table.theirs) for table in tables], np.int64),
        "BINOMIALS": np.array([[comb(n, k) for k in range(points + 1)] for n in range(points + 1)], np.int64),
        "LEAST": np.array([points for some in least for points in some], np.int32),
        "LEAST_BEGIN": np.cumsum([0, *map(len, least)]),
    }


METHODS = {function.__name__: function for function in (rank, unrank)}
