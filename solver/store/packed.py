"""Sorted runs of states, as plain arrays or packed, read by ranges of keys.

A `Table` holds several runs. To read a range, a kernel unpacks the blocks of each run that meet it. Thousands of runs
are read in thousands of ranges: the table finds all their begins first, run by run, and keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.store.addresses import table as table_at
from solver.store.addresses import unsigned as unsigned_at
from solver.store.addresses import words as words_at
from solver.store.packing import AT, BLOCK_STATES, BLOCKS, END, FIRST, WIDTHS, WORDS, Words, pack, plan, unpack
from solver.store.shared import read_only, shared
from solver.store.sorting import gallop, lower_bound, upper_bound

States = NDArray[np.int64]
Blocks = NDArray[np.int64]
# of a run in a table: how many blocks, 0 where it is plain; states; the addresses of its blocks, and of its words or
# states; how many words; how many states are before its first block, and words before its own
ROWS, SIZE, INDEX, DATA, LENGTH, BEFORE, BASE = range(7)
LAST = (1 << 63) - 1  # of all keys
STATES_PER_SAMPLE = 1 << 12  # states of a plain run for which one stands where runs are to be cut
MAX_CUTS = 1 << 26  # places in runs that a table remembers


@dataclass(frozen=True)
class Packed:
    """A packed run.

    Attributes:
        blocks: A row for each block, (n, 3) int64: see `packing`.
        words: The packed gaps: uint64.
        before: The number of states in other runs before the first block.
        base: The number of words of other runs before these.
        last: The last state, if it is known.
    """

    blocks: Blocks
    words: Words
    before: int = 0
    base: int = 0
    last: int | None = None  # its last state, if that is known

    def __len__(self) -> int:
        return int(self.blocks[-1, END]) - self.before if len(self.blocks) else 0

    def at(self, state_indices: NDArray[np.int64]) -> States:
        """Return the states at ascending indices."""
        states = np.empty(len(state_indices), np.int64)
        pick(self.blocks, read_only(self.words), self.before, self.base, state_indices, states)
        return states


Run = States | Packed


def packed(states: States) -> Packed:
    """Pack sorted states without duplicates."""
    if not len(states):
        return Packed(np.empty((0, 3), np.int64), np.empty(0, np.uint64))
    report = np.zeros(3, np.int64)
    plan(states, report)
    blocks, words = np.empty((report[BLOCKS], 3), np.int64), np.empty(report[WORDS], np.uint64)
    block_count, word_count = pack(states, report[WIDTHS], blocks, words)
    return Packed(blocks[:block_count].copy(), words[:word_count].copy(), last=int(states[-1]))


class Table:
    """Sorted runs that any thread may read by ranges of keys. The table keeps the runs alive.

    Args:
        runs: Sorted arrays of states, and packed runs; empty ones are left out.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs: list[Run] = [run for run in runs if len(run)]
        self.rows: NDArray[np.int64] = np.array([_row(run) for run in self.runs], np.int64).reshape(-1, 7)
        self._cuts = np.zeros(1, np.int64), np.zeros((1, len(self.rows)), np.uint32)
        self._ends = np.where(self.rows[:, ROWS], self.rows[:, ROWS] - 1, self.rows[:, SIZE]).astype(np.uint32)

    def __len__(self) -> int:
        return int(self.rows[:, SIZE].sum())

    def read(self, low: int, high: int) -> tuple[States, NDArray[np.int64]]:
        """Read all states in a range of keys, run after run.

        Args:
            low: The least key.
            high: The greatest key; it belongs to the range.

        Returns:
            The states: (n,) int64. For each run (runs, 2): the index in the run of its first state in the
            range, and the number of its states there.
        """
        spans = np.empty((len(self.rows), 2), np.int64)
        begins, ends = self._begins_of(low), self._begins_of(high + 1)
        states = np.empty(max_states(self.rows, begins, ends), np.int64)
        count = gather(self.rows, low, high, begins, ends, states, spans)
        return states[:count], spans

    def cut(self, keys: States) -> None:
        """Find and keep the begins of some ascending keys in all runs, before ranges between them are read."""
        keys = np.concatenate([[0], keys[:: 1 + len(keys) * len(self.rows) // MAX_CUTS]])
        self._cuts = keys, np.zeros((len(keys), len(self.rows)), np.uint32)
        find_begins(self.rows, *self._cuts)

    def _begins_of(self, key: int) -> NDArray[np.uint32]:
        """Return the begin of a key in each run, as `find_begins` writes it."""
        if key > LAST:
            return self._ends
        keys, begins = self._cuts
        cut_index = int(np.searchsorted(keys, key, "right")) - 1
        run_begins: NDArray[np.uint32] = begins[cut_index]
        if keys[cut_index] != key:
            run_begins = run_begins.copy()
            find_begins(self.rows, np.array([key]), run_begins[np.newaxis])
        return run_begins

    def between(self, low: int, high: int) -> States:
        """Return the states in a range of keys, both ends included, run after run."""
        return self.read(low, high)[0]

    def outlook(self) -> tuple[States, NDArray[np.int64]]:
        """Return a sample of the states, ascending, and the number of states that each of them stands for."""
        keys, sizes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for run in self.runs:
            if isinstance(run, Packed):
                keys.append(run.blocks[:, FIRST])
                sizes.append(np.diff(run.blocks[:, END], prepend=run.before))
            else:
                keys.append(run[::STATES_PER_SAMPLE])
                sizes.append(np.full(len(keys[-1]), STATES_PER_SAMPLE))
                sizes[-1][-1] = len(run) - (len(keys[-1]) - 1) * STATES_PER_SAMPLE
        states, weights = np.concatenate(keys), np.concatenate(sizes)
        order = np.argsort(states, kind="stable")
        return states[order], weights[order]


def _row(run: Run) -> list[int]:
    if isinstance(run, Packed):
        blocks, words = run.blocks, run.words
        return [len(blocks), len(run), blocks.ctypes.data, words.ctypes.data, len(words), run.before, run.base]
    return [0, len(run), 0, run.ctypes.data, 0, 0, 0]


@register_jitable
def block_of(blocks: Blocks, low: int, high: int, key: int) -> int:
    """Return the last block from `low` to below `high` whose first state is at most the key; else `low`."""
    while high - low > 1:
        middle = (low + high) >> 1
        if blocks[middle, FIRST] <= key:
            low = middle
        else:
            high = middle
    return low


@shared
def find_begins(rows: Blocks, keys: States, begins: NDArray[np.uint32]) -> None:
    """Find where the ranges that begin at some keys begin in each run.

    In a plain run this is the index of the first state that is not below the key. In a packed run it is the last
    block that begins at or before the key.

    Args:
        rows: The runs: rows of a table.
        keys: Ascending keys.
        begins: Written: (keys, runs). The search for the first key starts at the numbers that are there.
    """
    begin: Any = 0
    for run in range(len(rows)):
        row, begin = rows[run], np.int64(begins[0, run])
        if row[ROWS]:
            blocks = table_at(row[INDEX], row[ROWS], 3)
            for i in range(len(keys)):
                begin = block_of(blocks, begin, row[ROWS], keys[i])
                begins[i, run] = begin
        else:
            states = words_at(row[DATA], row[SIZE])
            for i in range(len(keys)):
                begin = gallop(states, keys[i], begin)
                begins[i, run] = begin


@shared
def max_states(rows: Blocks, begins: NDArray[np.uint32], ends: NDArray[np.uint32]) -> int:
    """Return the greatest number of states between begins of runs: those of all blocks that meet the range."""
    state_count = 0
    for run in range(len(rows)):
        row, first_begin, end = rows[run], np.int64(begins[run]), np.int64(ends[run])
        if row[ROWS]:
            blocks = table_at(row[INDEX], row[ROWS], 3)
            state_count += blocks[end, END] - (blocks[first_begin - 1, END] if first_begin else row[BEFORE])
        else:
            state_count += int(end - first_begin)
    return state_count


@shared
def gather(
    rows: Blocks,
    low: int,
    high: int,
    begins: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    states: States,
    spans: Blocks,
) -> int:
    """Copy the states of a range from all runs.

    Args:
        rows: The runs: rows of a table.
        low: The least key.
        high: The greatest key.
        begins: The begins of `low` in the runs.
        ends: The begins of `high` + 1.
        states: Written; it has at least `max_states` items.
        spans: Written, (runs, 2): as `Table.read` returns it.

    Returns:
        The number of states.
    """
    count = 0
    for run in range(len(rows)):
        row, begin, run_begin, end = rows[run], count, np.int64(begins[run]), np.int64(ends[run])
        if row[ROWS]:
            blocks, packs = table_at(row[INDEX], row[ROWS], 3), unsigned_at(row[DATA], row[LENGTH])
            states_before = blocks[run_begin - 1, END] if run_begin else row[BEFORE]
            spans[run, 0] = states_before - row[BEFORE]
            for block in range(run_begin, end + 1):
                size = blocks[block, END] - states_before
                unpack(packs, blocks[block, AT] - row[BASE], blocks[block, FIRST], size, states, count)
                count, states_before = count + size, blocks[block, END]
            skipped = lower_bound(states, low, begin, count) - begin
            spans[run, 0] += skipped
            count = upper_bound(states, high, begin, count) - skipped
            for i in range(begin, count if skipped else begin):
                states[i] = states[i + skipped]
        else:
            run_states = words_at(row[DATA], row[SIZE])
            spans[run, 0] = run_begin
            for i in range(run_begin, end):
                states[count] = run_states[i]
                count += 1
        spans[run, 1] = count - begin
    return count


@shared
def pick(
    blocks: Blocks, packs: Words, before: int, base: int, state_indices: NDArray[np.int64], states: States
) -> None:
    """Write the states at ascending indices of packed blocks."""
    block_states, block_index = np.empty(BLOCK_STATES, np.int64), -1
    block_begin: Any = 0
    for i in range(len(state_indices)):
        state_index = state_indices[i] + before
        if block_index < 0 or state_index >= blocks[block_index, END]:
            low, high = block_index + 1, len(blocks) - 1
            while low < high:
                middle = (low + high) >> 1
                if blocks[middle, END] <= state_index:
                    low = middle + 1
                else:
                    high = middle
            block_index, block_begin = low, blocks[low - 1, END] if low else np.int64(before)
            # the next indices are likely to lie in the same block
            unpack(packs, blocks[low, AT] - base, blocks[low, FIRST], blocks[low, END] - block_begin, block_states, 0)
        states[i] = block_states[state_index - block_begin]


def unseen(keys: States, run: Packed) -> States:
    """Return the sorted keys that a packed run lacks, overwriting `keys`. Blocks without a key are not unpacked."""
    if not len(run):
        return keys
    return keys[: _unseen(keys, read_only(run.blocks), read_only(run.words), run.before, run.base)]


@shared
def _unseen(keys: States, blocks: Blocks, packs: Words, before: int, base: int) -> int:
    """Move the keys that packed blocks lack to the front; return their number."""
    block_states: Any = np.empty(BLOCK_STATES, np.int64)
    block_index: Any = 0
    key_index = count = 0
    while key_index < len(keys):
        step = 1
        while block_index + step < len(blocks) and blocks[block_index + step, FIRST] <= keys[key_index]:
            block_index, step = block_index + step, 2 * step
        block_index = block_of(blocks, block_index, min(len(blocks), block_index + step), keys[key_index])
        # a block is unpacked only if a key may lie in it
        size, state_index = blocks[block_index, END] - (blocks[block_index - 1, END] if block_index else before), 0
        unpack(packs, blocks[block_index, AT] - base, blocks[block_index, FIRST], size, block_states, 0)
        while key_index < len(keys) and (
            block_index + 1 == len(blocks) or keys[key_index] < blocks[block_index + 1, FIRST]
        ):
            while state_index < size and block_states[state_index] < keys[key_index]:
                state_index += 1
            if state_index == size or block_states[state_index] != keys[key_index]:
                keys[count] = keys[key_index]
                count += 1
            key_index += 1
    return count


def unpacked(run: Packed) -> States:
    """Return all states of a packed run."""
    return Table([run]).between(0, LAST)
