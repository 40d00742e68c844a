"""Numbers of positions, compiled: those of `rules.orbits` and of `games.common.choices`, from look-up tables.

Choices come from a table of binomials, and the last cells of one from a table as well: their branches cannot be
predicted. Connect-four 5x5, CPU: 0.1 us for the rank of a state, and as much for the state of a rank.

Orbits of 24 points, 9 men of either side, 16 symmetries take 14 MB, made in a second. A canonical state's number takes
10 ns.
"""

from __future__ import annotations

import functools
import itertools
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload, register_jitable
from numpy.typing import NDArray

from solver.compiled.inlining import PART
from solver.compiled.operators import bit_count
from solver.compiled.tracing import TRUSTED
from solver.games.common import choices
from solver.rules.orbits import BYTE, LeastSets, Orbits, subsets
from solver.store.addresses import byte_at, half_at, word_at

PIECE = 6  # points that are looked up together
WORD = 64


class Arrays(NamedTuple):
    """Tables of a layout.

    Attributes:
        first: The first number of a table (rests, most of mine + 1, most of theirs + 1), -1 where there is none.
        tables: Of each table, its first number, rest, mine and theirs (tables, 4).
        binomials: (points + 1, points + 1).
        images: Of each symmetry and byte of a set of points, its image (symmetries, bytes, 256).
        least: For each orbit of the other's men, its least set.
        same: For each orbit, the bits of the symmetries that leave its least set as it is.
        least_begin: Where those of a size begin in it.
        marks: A bit for each set of the other's men: whether it is the least of its orbit. A size begins with a word.
        before: How many of a size's are marked in earlier words.
        marks_begin: Where the words of a size begin.
        high, low: The number of a set among those of its size, of its upper half by size, and of its lower half.
        sets: The sets of a size among so many points, ascending.
        sets_begin: Where those of (points, size) begin in it.
        squeeze, spread: What `_squeezed` and `_spread` give, of a PIECE among a PIECE.
    """

    first: NDArray[np.int64]
    tables: NDArray[np.int64]
    binomials: NDArray[np.int64]
    images: NDArray[np.uint32]
    least: NDArray[np.uint32]
    same: NDArray[np.uint64]
    least_begin: NDArray[np.int64]
    marks: NDArray[np.uint64]
    before: NDArray[np.uint32]
    marks_begin: NDArray[np.int64]
    high: NDArray[np.uint32]
    low: NDArray[np.uint32]
    sets: NDArray[np.uint32]
    sets_begin: NDArray[np.int64]
    squeeze: NDArray[np.uint8]
    spread: NDArray[np.uint8]


@functools.lru_cache(maxsize=4)
def arrays_of(numbering: Orbits) -> Arrays:
    """The tables of a game's layout."""
    layout, constants = numbering.layout, numbering.constants
    points, mine = layout.points, constants["MINE"]
    high, low = _halves(points)
    least = [np.array(sets, np.uint32) for sets in map(constants["LEAST"].__getitem__, range(constants["THEIRS"]))]
    images = np.array(layout.images, np.uint32)
    marks, before = zip(*(_marked(points, size, some, high, low) for size, some in enumerate(least)), strict=True)
    wanted = sorted({(points - table.theirs, table.mine) for table in layout.tables})
    sets = [np.fromiter(subsets(*pair), np.uint32, comb(*pair)) for pair in wanted]
    sets_begin = np.full((points + 1, mine), -1, np.int64)
    for pair, begin in zip(wanted, _begins(sets), strict=False):
        sets_begin[pair] = begin
    return Arrays(
        *(compilable(constants[name]) for name in ("FIRST", "TABLES", "BINOMIALS")),
        images,
        np.concatenate(least),
        _same(images, np.concatenate(least)),
        _begins(least),
        np.concatenate(marks),
        np.concatenate(before),
        _begins(marks),
        high,
        low,
        np.concatenate(sets),
        sets_begin,
        *_pieces(),
    )


def compilable(value: Any) -> Any:
    """What kernels have in place of a constant of `rules.numbering.Numbers`: arrays."""
    if isinstance(value, LeastSets):
        return tuple(np.array(sets, np.int32) for sets in map(value.__getitem__, range(value.sizes)))
    if not isinstance(value, dict):
        return np.array(value, np.int64) if isinstance(value, list) else value
    array = np.zeros([1 + max(axis) for axis in zip(*value, strict=True)], np.int64)
    for place, entry in value.items():
        array[place] = entry
    return array


def _begins(parts: Any) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, parts)])


def _same(images: NDArray[np.uint32], sets: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Bits of the symmetries that leave each set as it is."""
    same = np.zeros(len(sets), np.uint64)
    for number, symmetry in enumerate(images):
        image = np.zeros_like(sets)
        for at, part in enumerate(symmetry):
            image |= part[sets >> BYTE * at & 255]
        same |= (image == sets).astype(np.uint64) << np.uint64(number)
    return same


def _marked(
    points: int, size: int, least: NDArray[np.uint32], high: NDArray[np.uint32], low: NDArray[np.uint32]
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """The words of `Arrays.marks` and `Arrays.before` of a size."""
    bits = np.zeros(-(-comb(points, size) // WORD) * WORD, np.uint8)
    half = len(low)
    bits[high[size, least // half] + low[least % half]] = 1
    words = np.packbits(bits, bitorder="little").view("<u8")
    counts = bits.reshape(-1, WORD).sum(axis=1, dtype=np.uint32)
    return words, np.cumsum(counts, dtype=np.uint32) - counts


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


def _pieces() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """`Arrays.squeeze` and `Arrays.spread`, by set << PIECE | points or places."""
    every = np.arange(1 << PIECE)
    squeeze = np.zeros((len(every), len(every)), np.uint8)
    spread = np.zeros_like(squeeze)
    for among in range(len(every)):
        for place, bit in enumerate(bit for bit in range(PIECE) if among >> bit & 1):
            squeeze[among] |= ((every >> bit & 1) << place).astype(np.uint8)
            spread[among] |= ((every >> place & 1) << bit).astype(np.uint8)
    return squeeze.reshape(-1), spread.reshape(-1)


class Addresses(NamedTuple):
    """Where the arrays of `Arrays` lie, and how many entries their rows have.

    Kernels take these in place of the arrays (`store.addresses` says why).
    """

    points: int
    symmetries: int
    bytes: int
    rests: int
    mine: int
    theirs: int
    table_count: int
    half: int
    arrays: Any


def addresses_of(points: int, arrays: Arrays) -> Addresses:
    """The addresses of some arrays, valid as long as these live."""
    counts = *arrays.images.shape[:2], *arrays.first.shape, len(arrays.tables), len(arrays.low).bit_length() - 1
    return Addresses(points, *counts, Arrays._make(array.ctypes.data for array in arrays))


@register_jitable(**PART)
def _place(at: Addresses, size: Any, points: Any) -> Any:
    """How many sets of this size are less than a set."""
    upper, lower = points >> at.half, points & (1 << at.half) - 1
    return half_at(at.arrays.high, (size << at.half) + upper) + half_at(at.arrays.low, lower)


@register_jitable(**PART)
def _image(at: Addresses, symmetry: Any, points: Any) -> Any:
    """Where a symmetry takes a set of points."""
    row = at.arrays.images + (symmetry * at.bytes << BYTE + 2)
    image = half_at(row, points & 255)
    for byte in range(1, at.bytes):
        image |= half_at(row + (byte << BYTE + 2), points >> BYTE * byte & 255)
    return image


@register_jitable(**PART)
def _squeezed(at: Addresses, points: Any, among: Any) -> Any:
    """Some of a set's points, as the places that they have among all of it."""
    places, shift = np.int64(0), np.int64(0)
    while among:
        piece = among & (1 << PIECE) - 1
        places |= byte_at(at.arrays.squeeze, piece << PIECE | points & (1 << PIECE) - 1) << shift
        shift += bit_count(piece)
        among >>= PIECE
        points >>= PIECE
    return places


@register_jitable(**PART)
def _spread(at: Addresses, places: int, among: int) -> Any:
    """The inverse of `_squeezed`."""
    points, shift = np.int64(0), 0
    while among:
        piece = among & (1 << PIECE) - 1
        points |= byte_at(at.arrays.spread, piece << PIECE | places & (1 << PIECE) - 1) << shift
        places >>= bit_count(piece)
        among >>= PIECE
        shift += PIECE
    return points


@register_jitable(**PART)
def orbit_entry(at: Addresses, state: int) -> Any:
    """Twice the number of a canonical state, and one more if it is symmetric; negative if it has none."""
    board = (np.int64(1) << at.points) - 1
    mine, theirs, rest = state & board, state >> at.points & board, state >> 2 * at.points
    own, other = bit_count(mine), bit_count(theirs)
    if mine & theirs or rest >= at.rests or own >= at.mine or other >= at.theirs:
        return np.int64(-2)
    first = word_at(at.arrays.first, (rest * at.mine + own) * at.theirs + other)
    place = _place(at, other, theirs)
    index, bit = word_at(at.arrays.marks_begin, other) + (place >> 6), place & WORD - 1
    word = word_at(at.arrays.marks, index)
    if first < 0 or word >> bit & 1 == 0:
        return np.int64(-2)
    orbit = half_at(at.arrays.before, index) + bit_count(word & (np.int64(1) << bit) - 1)
    each = word_at(at.arrays.binomials, (at.points - other) * (at.points + 1) + own)
    number = first + orbit * each + _place(at, own, _squeezed(at, mine, board & ~theirs))
    same = word_at(at.arrays.same, word_at(at.arrays.least_begin, other) + orbit) >> 1
    symmetry = np.int64(1)
    while same:
        if same & 1 and _image(at, symmetry, mine) == mine:
            return number << 1 | 1
        same = same >> 1 & (np.int64(1) << 62) - 1
        symmetry += 1
    return number << 1


@register_jitable(**PART)
def table_of(at: Addresses, number: int) -> Any:
    """The index of the table of a number."""
    low, after = np.int64(0), at.table_count
    while after - low > 1:
        middle = (low + after) // 2
        if word_at(at.arrays.tables, 4 * middle) <= number:
            low = middle
        else:
            after = middle
    return low


@register_jitable(**PART)
def orbit_position(at: Addresses, table: int, number: int) -> Any:
    """The state of a number of a table, which is not canonical where another number stands for the position."""
    first, rest = word_at(at.arrays.tables, 4 * table), word_at(at.arrays.tables, 4 * table + 1)
    own, other = word_at(at.arrays.tables, 4 * table + 2), word_at(at.arrays.tables, 4 * table + 3)
    each = word_at(at.arrays.binomials, (at.points - other) * (at.points + 1) + own)
    orbit = (number - first) // each
    theirs = half_at(at.arrays.least, word_at(at.arrays.least_begin, other) + orbit)
    sets = word_at(at.arrays.sets_begin, (at.points - other) * at.mine + own)
    mine = half_at(at.arrays.sets, sets + number - first - orbit * each)
    among = (np.int64(1) << at.points) - 1 & ~theirs
    return _spread(at, mine, among) | theirs << at.points | rest << 2 * at.points


MAX_INDEX_BITS = 64  # bits of a state, and one more than its cells; all numbers of the table fit 63 bits
WAYS = np.array([[comb(items, some) for some in range(MAX_INDEX_BITS)] for items in range(MAX_INDEX_BITS)], np.int64)

LOW = 10  # cells that are chosen all at once
# The choices of so many of the LOW lowest cells in order: a row for each number of them, a column for each place
PATTERNS = np.zeros((LOW + 1, comb(LOW, LOW // 2)), np.int64)
for _some in range(LOW + 1):
    _chosen = sorted(sum(1 << cell for cell in cells) for cells in itertools.combinations(range(LOW), _some))
    PATTERNS[_some, : len(_chosen)] = _chosen


def choose(items: int, some: int) -> Any:
    """Return the binomial coefficient of `some` items out of `items`."""
    if not (0 <= some < MAX_INDEX_BITS and 0 <= items < MAX_INDEX_BITS):
        raise ValueError("choices are of at most 63 items")
    return WAYS[items, some]


def place_of(chosen: int, cells: int) -> Any:
    """Return the number of a choice of cells among all choices of as many cells."""
    place = some = 0
    while chosen:
        cell = chosen & -chosen
        some += 1
        place += WAYS[(cells & cell - 1).bit_count(), some]
        chosen ^= cell
    return place


def choice_at(place: int, some: int, cells: Any) -> Any:
    """Return the choice of `some` cells that has the number `place`: the inverse of `place_of`."""
    left = cells.bit_count()
    chosen = 0
    while some > 0 and left > 0 and (left > LOW or not 0 <= place < WAYS[left, some]):
        cell = 1 << cells.bit_length() - 1
        left -= 1
        if place >= WAYS[left, some]:
            place -= WAYS[left, some]
            chosen |= cell
            some -= 1
        cells ^= cell
    if some > 0 and left > 0:
        pattern = PATTERNS[some, place]
        while pattern:
            cell = cells & -cells
            chosen |= cell & -(pattern & 1)
            pattern >>= 1
            cells ^= cell
    return chosen


def _taught(twin: Any) -> Any:
    """Let Numba compile this function in place of the one of its name; the latter."""
    plain = getattr(choices, twin.__name__)
    options: Any = {"forceinline": True, **PART}
    overload(plain, strict=False, jit_options=options)(lambda *given: twin)
    TRUSTED.add(plain)
    return plain


TWINS = [_taught(twin) for twin in (choose, place_of, choice_at)]
