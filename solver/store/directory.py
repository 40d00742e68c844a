"""Where a state is among the sorted states of all tiers: leading bits, then bisection.

States crowd: of some games thousands are in one cell. There bisection begins among fences, every 16th of the states,
which are more often in the cache.

Look-ups come in batches: each stage is done for all of them, so that their cache misses overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base.tiers import Tier
from solver.store.prefetch import prefetch
from solver.store.shared import read_only, shared

BATCH = 512  # states looked up together
CELL = 4  # states to a cell
FENCE = 4  # bits of how many states there are from one fence to the next
CROWDED = 2 << FENCE  # states in a cell, from which on fences are looked at
MOST_STATES = (1 << 32) - 1  # of a tier: what a cell can hold
PART = 1 << 20  # cells made at a time
BEGIN, END, SHIFT, PREFIX, FIRST, CELLS, MERITS = range(7)  # columns of the table, a row for each tier
MISSING = -1
PASSED = -2  # instead of the row of a tier: its states are not looked up


class Known(NamedTuple):
    """What a look-up reads: the states and merits of all tiers, and where each state is; of `states` fences."""

    states: NDArray[np.int64]
    merits: NDArray[Any]
    table: NDArray[np.int64]
    slots: NDArray[np.int32]
    first_tier: int
    cells: NDArray[np.uint32]
    fences: NDArray[np.int64]

    def read_only(self) -> Known:
        """The same, which nobody writes to: so files and memory are one type, and a kernel compiles once for both."""
        states, merits, cells, fences = map(read_only, (self.states, self.merits, self.cells, self.fences))
        return self._replace(states=states, merits=merits, cells=cells, fences=fences)

    def inside(self, row: int) -> Known:
        """The same, in which states of other tiers than that of a row are passed over."""
        return self._passing(self.slots != row)

    def beyond(self, row: int) -> Known:
        """The same, in which the states of that tier are."""
        return self._passing(self.slots == row)

    def _passing(self, passed: NDArray[np.bool_]) -> Known:
        slots = self.slots.copy()
        slots[passed] = PASSED
        return self._replace(slots=slots)


@dataclass(frozen=True, slots=True)
class Layer(Tier):
    """A tier whose unfinished states are [begin:end] of all; its part of the directory; how many packed blocks there
    are up to its end."""

    begin: int
    shift: int
    prefix: int
    first_cell: int
    cells: int
    blocks: int

    @property
    def end(self) -> int:
        return self.begin + self.kept


def prefixes_of(states: NDArray[np.int64]) -> tuple[int, int, int]:
    """How one tier's states are divided: shift, first prefix, and the cells of the directory."""
    return divided(int(states[0]), int(states[-1]), len(states)) if len(states) else (0, 0, 1)


def divided(low: int, high: int, count: int) -> tuple[int, int, int]:
    """The same of so many states from `low` to `high`."""
    shift = max(0, ((high - low) * CELL // count).bit_length() - 1)
    prefix = low >> shift
    return shift, prefix, (high >> shift) - prefix + 2


def cells_of(states: NDArray[np.int64], shift: int, prefix: int, cells: int) -> Iterator[NDArray[np.uint32]]:
    """The directory of one tier's states: for each prefix where its states begin, and their end; in parts."""
    place = 0
    for cell in range(0, cells, PART):
        part = np.empty(min(PART, cells - cell), np.uint32)
        fill(states[place:], place, shift, prefix, cell, part)
        place = int(part[-1])
        yield part


@shared
def fill(
    states: NDArray[np.int64], before: int, shift: int, prefix: int, first: int, cells: NDArray[np.uint32]
) -> None:
    """Fill the cells from number `first` on, counted from `prefix`: where in their tier the states of each begin.

    `states` are some of them, with `before` others before. The end of the last cell may be 2**63, which no number is:
    so a state's cell is counted from `prefix`.
    """
    place = 0
    for cell in range(len(cells)):
        while place < len(states) and (states[place] >> shift) - prefix < first + cell:
            place += 1
        cells[cell] = before + place


def table_of(layers: Sequence[Layer]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The table that `locate` reads, and the row of each tier counted from the first."""
    table = np.zeros((len(layers), 7), np.int64)
    total = layers[-1].end if layers else 0
    for row, layer in zip(table, layers, strict=True):
        # merits are written from the last tier to the first
        row[:] = layer.begin, layer.end, layer.shift, layer.prefix, layer.first_cell, layer.cells, total - layer.end
    slots = np.full(layers[-1].number - layers[0].number + 1 if layers else 0, -1, np.int32)
    slots[[layer.number - layers[0].number for layer in layers]] = np.arange(len(layers))
    return table, slots


def known_of(tiers: Sequence[tuple[int, NDArray[np.int64]]], merits: NDArray[Any]) -> Known:
    """The states of some tiers, in order, and the merits of all but those of the first."""
    first, table = tiers[0][0], np.zeros((len(tiers), 7), np.int64)
    slots = np.full(tiers[-1][0] - first + 1, MISSING, np.int32)
    cells: list[NDArray[np.uint32]] = []
    begin = cell = 0
    for row, (tier, states) in enumerate(tiers):
        shift, prefix, size = prefixes_of(states)
        cells.extend(cells_of(states, shift, prefix, size))
        end = begin + len(states)
        table[row] = begin, end, shift, prefix, cell, size, max(0, begin - len(tiers[0][1]))
        slots[tier - first] = row
        begin, cell = end, cell + size
    states = np.concatenate([states for _, states in tiers])
    return Known(states, merits, table, slots, first, np.concatenate(cells), states[:: 1 << FENCE].copy()).read_only()


@register_jitable
def new_places(room: int) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Arrays for `locate`: the rows of so many keys, their places, and scratch."""
    return np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int64)


@register_jitable
def between_fences(fences: NDArray[np.int64], key: int, low: int, high: int, base: int) -> tuple[int, int]:
    """Those of the places from `low` to `high`, counted from `base`, that a key can have."""
    first, last = (base + low - 1 >> FENCE), (base + high - 1 >> FENCE) + 1
    while last - first > 1:
        middle = (first + last) >> 1
        if fences[middle] <= key:
            first = middle
        else:
            last = middle
    return max(low, (first << FENCE) - base), min(high, (first + 1 << FENCE) - base)


@shared
def locate(
    known: Known,
    keys: NDArray[np.int64],
    rows: NDArray[np.int32],
    count: int,
    places: NDArray[np.int64],
    highs: NDArray[np.int64],
) -> None:
    """places[:count]: where keys[:count] are in the tiers of rows[:count], from its first state; or MISSING.

    `highs` is scratch of the same length.
    """
    states, table, cells = known.states, known.table, known.cells
    for j in range(count):
        row = rows[j]
        places[j] = highs[j] = 0
        if row < 0:
            continue
        cell = (keys[j] >> table[row, SHIFT]) - table[row, PREFIX]
        if cell < 0 or cell >= table[row, CELLS] - 1:
            continue
        cell += table[row, FIRST]
        places[j] = cells[cell]
        highs[j] = cells[cell + 1]
        if highs[j] - places[j] > CROWDED:
            places[j], highs[j] = between_fences(known.fences, keys[j], places[j], highs[j], table[row, BEGIN])
            prefetch(states, table[row, BEGIN] + (places[j] + highs[j] >> 1))
        prefetch(states, table[row, BEGIN] + places[j])
    for j in range(count):
        row = rows[j]
        key, base = keys[j], table[row, BEGIN] if row >= 0 else 0
        low, high = places[j], highs[j]
        while high - low > 1:
            middle = (low + high) >> 1
            if states[base + middle] <= key:
                low = middle
            else:
                high = middle
        places[j] = low if high > low and states[base + low] == key else MISSING
