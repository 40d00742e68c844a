"""Find states among the sorted states of all tiers.

The leading bits of a state choose a cell of a directory, and bisection finds the state in that cell. Some games crowd
thousands of states into one cell. Bisection then begins among the fences: every 16th state, copied to an array of their
own, which stays in the cache.

Look-ups come in batches. Each stage runs for the whole batch, so that the cache misses of its keys overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.tiers import Tier
from solver.store.addresses import prefetch
from solver.store.shared import part, read_only, shared

LOOKUP_BATCH = 512  # states looked up together
CELL_STATES = 4  # states to a cell
FENCE = 4  # bits of how many states there are from one fence to the next
FENCED_CELL_SIZE = 2 << FENCE  # states in a cell, from which on fences are looked at
MAX_TIER_STATES = (1 << 32) - 1  # of a tier: what a cell can hold
BEGIN, END, SHIFT, PREFIX, FIRST, CELLS, MERITS = range(7)  # columns of the table, a row for each tier
MISSING = -1
PASSED = -2  # instead of the row of a tier: its states are not looked up


class TierLookup(NamedTuple):
    """The arrays that a look-up reads.

    Attributes:
        states: All states, tier after tier, ascending in each tier: (n,) int64.
        merits: Their merits, from the last tier to the first: (n,) of the scale's type.
        table: A row of seven numbers for each tier: BEGIN to MERITS.
        slots: The row of each tier, counted from `first_tier`: int32; MISSING for no such tier.
        first_tier: The tier of slots[0].
        cells: The directories of all tiers: uint32.
        fences: Every 16th state: int64.
    """

    states: NDArray[np.int64]
    merits: NDArray[Any]
    table: NDArray[np.int64]
    slots: NDArray[np.int32]
    first_tier: int
    cells: NDArray[np.uint32]
    fences: NDArray[np.int64]

    def read_only(self) -> TierLookup:
        """Return the same arrays, closed to writers.

        Then arrays of files and of memory have one type, and a kernel compiles once for both.
        """
        states, merits, cells, fences = map(read_only, (self.states, self.merits, self.cells, self.fences))
        return self._replace(states=states, merits=merits, cells=cells, fences=fences)

    def only(self, row: int) -> TierLookup:
        """Return a look-up that passes over the states of all tiers but one."""
        return self._passing(self.slots != row)

    def without(self, row: int) -> TierLookup:
        """Return a look-up that passes over the states of one tier."""
        return self._passing(self.slots == row)

    def _passing(self, passed: NDArray[np.bool_]) -> TierLookup:
        slots = self.slots.copy()
        slots[passed] = PASSED
        return self._replace(slots=slots)


@dataclass(frozen=True, slots=True)
class Layer(Tier):
    """A tier of a solve: where its states, its cells and its packed blocks lie.

    Attributes:
        begin: The index of its first unfinished state among those of all tiers.
        shift: The bits of a state below its cell.
        prefix: The cell of its first state, before the directory's own count.
        first_cell: The index of its first cell in the directory.
        cells: The number of its cells.
        blocks: The number of packed blocks up to the end of the tier.
    """

    begin: int
    shift: int
    prefix: int
    first_cell: int
    cells: int
    blocks: int

    @property
    def end(self) -> int:
        """The index after its last state."""
        return self.begin + self.kept


def division(least_state: int, greatest_state: int, count: int) -> tuple[int, int, int]:
    """Return the shift, the first prefix and the number of cells for so many states of a range."""
    shift = max(0, ((greatest_state - least_state) * CELL_STATES // count).bit_length() - 1)
    prefix = least_state >> shift
    return shift, prefix, (greatest_state >> shift) - prefix + 2


def cells_of(states: NDArray[np.int64]) -> tuple[int, int, NDArray[np.uint32]]:
    """Divide the ascending states of a tier into cells.

    Returns:
        The shift, the first prefix, and the directory: a cell holds the index of its first state, the last cell the
        number of states.
    """
    shift, prefix, count = division(int(states[0]), int(states[-1]), len(states)) if len(states) else (0, 0, 1)
    cells = np.empty(count, np.uint32)
    fill(states, 0, shift, prefix, 0, cells)
    return shift, prefix, cells


@shared
def fill(
    states: NDArray[np.int64], states_before: int, shift: int, prefix: int, first_cell: int, cells: NDArray[np.uint32]
) -> None:
    """Write the first state index of each cell.

    The end of the last cell may be 2**63, which is not an int64. So cells are counted from `prefix`.

    Args:
        states: Some of the tier's states, ascending.
        states_before: The number of the tier's states before these.
        shift: The bits of a state below its cell.
        prefix: The cell of the tier's first state.
        first_cell: The number of cells[0], counted from `prefix`.
        cells: Written.
    """
    state_index = 0
    for cell in range(len(cells)):
        while state_index < len(states) and (states[state_index] >> shift) - prefix < first_cell + cell:
            state_index += 1
        cells[cell] = states_before + state_index


def table_of(layers: Sequence[Layer]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the table that `locate` reads, and the row of each tier counted from the first."""
    table = np.zeros((len(layers), 7), np.int64)
    total = layers[-1].end if layers else 0
    for row, layer in zip(table, layers, strict=True):
        # merits are written from the last tier to the first
        row[:] = layer.begin, layer.end, layer.shift, layer.prefix, layer.first_cell, layer.cells, total - layer.end
    # tiers may be numbered with gaps: those have no row
    slots = np.full(layers[-1].number - layers[0].number + 1 if layers else 0, -1, np.int32)
    slots[[layer.number - layers[0].number for layer in layers]] = np.arange(len(layers))
    return table, slots


def lookup_of(tiers: Sequence[tuple[int, NDArray[np.int64]]], merits: NDArray[Any]) -> TierLookup:
    """Make a look-up of some tiers.

    Args:
        tiers: Pairs of a tier and its states, in the order of the tiers.
        merits: The merits of the states of all tiers but the first.
    """
    first_tier, table = tiers[0][0], np.zeros((len(tiers), 7), np.int64)
    slots = np.full(tiers[-1][0] - first_tier + 1, MISSING, np.int32)
    cells: list[NDArray[np.uint32]] = []
    begin = cell = 0
    for row, (tier, states) in enumerate(tiers):
        shift, prefix, own_cells = cells_of(states)
        cells.append(own_cells)
        end = begin + len(states)
        table[row] = begin, end, shift, prefix, cell, len(own_cells), max(0, begin - len(tiers[0][1]))
        slots[tier - first_tier] = row
        begin, cell = end, cell + len(own_cells)
    states = np.concatenate([states for _, states in tiers])
    return TierLookup(
        states, merits, table, slots, first_tier, np.concatenate(cells), states[:: 1 << FENCE].copy()
    ).read_only()


@part
def new_indices(room: int) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Make the arrays of `locate` for so many keys: rows, state indices, and scratch."""
    return np.empty(room, np.int32), np.empty(room, np.int64), np.empty(room, np.int64)


@part
def between_fences(fences: NDArray[np.int64], key: int, low: int, high: int, base: int) -> tuple[int, int]:
    """Narrow a range of indices that may hold a key.

    Args:
        fences: Every 16th of all states.
        key: The state that is looked for.
        low: The first index of the range in its tier.
        high: The index after its last.
        base: The index of the tier's first state among those of all tiers.
    """
    fence, fence_end = (base + low - 1 >> FENCE), (base + high - 1 >> FENCE) + 1
    while fence_end - fence > 1:
        middle = (fence + fence_end) >> 1
        if fences[middle] <= key:
            fence = middle
        else:
            fence_end = middle
    return max(low, (fence << FENCE) - base), min(high, (fence + 1 << FENCE) - base)


@shared
def locate(
    lookup: TierLookup,
    keys: NDArray[np.int64],
    rows: NDArray[np.int32],
    count: int,
    state_indices: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> None:
    """Find keys in their tiers.

    Args:
        lookup: The arrays to read.
        keys: States, in any order.
        rows: The row in the table of each key's tier; a negative one is not looked up.
        count: The number of keys.
        state_indices: Written: the index of each key in its tier, or MISSING.
        ends: Scratch of the same length.
    """
    # First stage, for all keys: the cell gives a range of indices, and memory begins to fetch its first state.
    states, table, cells = lookup.states, lookup.table, lookup.cells
    for j in range(count):
        row = rows[j]
        state_indices[j] = ends[j] = 0
        if row < 0:
            continue
        cell = (keys[j] >> table[row, SHIFT]) - table[row, PREFIX]
        if cell < 0 or cell >= table[row, CELLS] - 1:
            continue
        cell += table[row, FIRST]
        state_indices[j] = cells[cell]
        ends[j] = cells[cell + 1]
        if ends[j] - state_indices[j] > FENCED_CELL_SIZE:
            state_indices[j], ends[j] = between_fences(
                lookup.fences, keys[j], state_indices[j], ends[j], table[row, BEGIN]
            )
            prefetch(states, table[row, BEGIN] + (state_indices[j] + ends[j] >> 1))
        prefetch(states, table[row, BEGIN] + state_indices[j])
    for j in range(count):
        row = rows[j]
        key, base = keys[j], table[row, BEGIN] if row >= 0 else 0
        low, high = state_indices[j], ends[j]
        # Second stage: bisection. By now the states of a short cell are in the cache.
        while high - low > 1:
            middle = (low + high) >> 1
            if states[base + middle] <= key:
                low = middle
            else:
                high = middle
        state_indices[j] = low if high > low and states[base + low] == key else MISSING
