"""The choices of `games.common.choices`, compiled, from look-up tables.

Choices come from a table of binomials, and the last cells of one from a table as well: their branches cannot be
predicted. Connect-four 5x6, CPU: 0.05 us for the rank of a state, and as much for the state of a rank.
"""

from __future__ import annotations

import inspect
import itertools
import types
from math import comb
from typing import Any

import numpy as np
from numba.extending import overload

from solver.compiled.tracing import TRUSTED
from solver.games.common import choices
from solver.store.shared import PART, part

MAX_INDEX_BITS = 64  # bits of a state, and one more than its cells; all numbers of the table fit 63 bits
WAYS = np.array([[comb(items, some) for some in range(MAX_INDEX_BITS)] for items in range(MAX_INDEX_BITS)], np.int64)

LOW = 10  # cells that are chosen all at once
# The choices of so many of the LOW lowest cells in order: a row for each number of them, a column for each place
PATTERNS = np.zeros((LOW + 1, comb(LOW, LOW // 2)), np.int64)
for _some in range(LOW + 1):
    _chosen = sorted(sum(1 << cell for cell in cells) for cells in itertools.combinations(range(LOW), _some))
    PATTERNS[_some, : len(_chosen)] = _chosen

MOST = 9  # boxes, and items of each, whose ways are in a table: by items of each, boxes, items
FILLINGS = np.zeros((MOST, MOST, MOST**2), np.int64)
FILLINGS[:, 0, 0] = 1
for _most, _boxes in itertools.product(range(MOST), range(1, MOST)):
    FILLINGS[_most, _boxes] = np.convolve(FILLINGS[_most, _boxes - 1], [1] * (_most + 1))[: MOST**2]
# A copy, since Numba takes `fillings` itself for the one below
beyond_table = part(types.FunctionType(choices.fillings.__wrapped__.__code__, vars(choices)))


def choose(items: int, some: int) -> Any:
    """Return the binomial coefficient of `some` items out of `items`."""
    if not (0 <= some < MAX_INDEX_BITS and 0 <= items < MAX_INDEX_BITS):
        raise ValueError("choices are of at most 63 items")
    return WAYS[items, some]


def fillings(items: int, boxes: int, most: int) -> Any:
    """Return in how many ways equal items fill boxes that hold so many each."""
    if 0 <= boxes < MOST and 0 <= most < MOST:
        return FILLINGS[most, boxes, items] if 0 <= items < MOST * MOST else 0
    return beyond_table(items, boxes, most)


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
    plain = inspect.unwrap(getattr(choices, twin.__name__))
    options: Any = {"forceinline": True, **PART}
    overload(plain, strict=False, jit_options=options)(lambda *given: twin)
    TRUSTED.add(plain)
    return plain


TWINS = [_taught(twin) for twin in (choose, fillings, place_of, choice_at)]
