"""Sorted states in a bit less than a byte each, and runs of them, packed or plain, read by ranges of keys.

Gaps between states are stored in one of four widths, in blocks of up to BLOCK_STATES that are unpacked as a whole:

    block row    first state | states up to its end | begin of its words
    words        widths of the four classes, 6 bits each
                 class of each gap, 2 bits each, 32 to a word
                 gaps, lowest bits first, across words
                 a spare word, so that a reader of a gap may always read two words

A gap is the number of absent states between two neighbours. The four widths are those that make the packed states
shortest. Classes lie apart from gaps, so that the begin of the next gap is known before this one is read. To pack a
state takes 8 ns, to unpack it 2.

A `Table` holds several runs. To read a range, a kernel unpacks the blocks of each run that meet it. Thousands of runs
are read in thousands of ranges: the table finds all their begins first, run by run, and keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types as nb
from numba.extending import intrinsic
from numpy.typing import NDArray

from solver.store.addresses import table as table_at
from solver.store.addresses import unsigned as unsigned_at
from solver.store.addresses import words as words_at
from solver.store.shared import part, read_only, shared
from solver.store.sorting import gallop, lower_bound, upper_bound

BLOCK_STATES = 1024  # states
FIRST, END, AT = range(3)  # of a block: its first state, the states up to its end, where its words begin
MANY_GAPS, SAMPLE_STEP = 1 << 13, 7  # gaps, and which of so many are looked at
MAX_GAP_BITS = 62  # bits of a gap: a wider one ends its block
WIDTHS, WORDS, BLOCKS = 0, 1, 2  # what `plan` reports: the widths, and how many words and blocks there are at most
States = NDArray[np.int64]
Blocks = NDArray[np.int64]
Words = NDArray[np.uint64]
# of a run in a table: how many blocks, 0 where it is plain; states; the addresses of its blocks, and of its words or
# states; how many words; how many states are before its first block, and words before its own
ROWS, SIZE, INDEX, DATA, LENGTH, BEFORE, BASE = range(7)
LAST = (1 << 63) - 1  # of all keys
STATES_PER_SAMPLE = 1 << 12  # states of a plain run for which one stands where runs are to be cut
MAX_CUTS = 1 << 26  # places in runs that a table remembers


@intrinsic
def _length_of(typingctx: Any, number: Any) -> Any:
    """Return the number of bits of a number from 0 on, as Numba's intrinsic."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        zeros = builder.ctlz(values[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)

    return nb.int64(nb.int64), emit


length_of: Any = _length_of  # takes (number): the typing context is Numba's


@shared
def plan(states: States, report: NDArray[np.int64]) -> None:
    """Choose the widths for sorted states without duplicates.

    Many gaps are sampled: every seventh is looked at.

    Args:
        states: Ascending states.
        report: Written, (3,) int64: the widths, and upper bounds of the numbers of words and blocks.
    """
    counts, bits_in_use, block_count = (
        np.zeros(MAX_GAP_BITS + 1, np.int64),
        np.int64(0),
        1 + len(states) // BLOCK_STATES,
    )
    for i in range(1, len(states)):
        bits_in_use |= states[i] - states[i - 1] - 1
    if length_of(bits_in_use) > MAX_GAP_BITS:
        for i in range(1, len(states)):
            block_count += length_of(states[i] - states[i - 1] - 1) > MAX_GAP_BITS
    step = 1 if len(states) < MANY_GAPS else SAMPLE_STEP
    for i in range(1, len(states), step):
        counts[min(MAX_GAP_BITS, length_of(states[i] - states[i - 1] - 1))] += 1
    counts[min(MAX_GAP_BITS, length_of(bits_in_use))] += 1
    widths, bits = best_widths(counts)
    report[WIDTHS], report[BLOCKS] = widths, block_count
    report[WORDS] = (len(states) * (widths >> 18 & 63) >> 6) + (len(states) >> 5) + 5 * block_count


@part
def best_widths(counts: NDArray[np.int64]) -> tuple[Any, Any]:
    """Choose the four widths that take the fewest bits, by dynamic programming over the classes.

    Args:
        counts: The number of gaps of each length in bits.

    Returns:
        The widths, 6 bits each, and the bits of all gaps.
    """
    widest = 0
    for bits in range(len(counts)):
        if counts[bits]:
            widest = bits
    fewest_bits, narrower_of = np.zeros((4, widest + 1), np.int64), np.zeros((4, widest + 1), np.int64)
    gaps_below = np.cumsum(counts)
    for width in range(widest + 1):
        fewest_bits[0, width] = gaps_below[width] * width
    # fewest_bits[row, width]: the bits of all gaps up to `width` in `row` + 1 classes, the widest of that width
    for row in range(1, 4):
        for width in range(widest + 1):
            fewest_bits[row, width], narrower_of[row, width] = fewest_bits[row - 1, width], width
            for narrower in range(width):
                bits = fewest_bits[row - 1, narrower] + (gaps_below[width] - gaps_below[narrower]) * width
                if bits < fewest_bits[row, width]:
                    fewest_bits[row, width], narrower_of[row, width] = bits, narrower
    widths, width = np.int64(0), widest
    for row in range(3, -1, -1):
        widths |= width << 6 * row
        width = narrower_of[row, width]
    return widths, fewest_bits[3, widest]


@shared
def pack(states: States, widths: int, blocks: NDArray[np.int64], words: Words) -> tuple[int, int]:
    """Write blocks (n, 3) int64 and words uint64; return the number of both that were filled."""
    word_count, begin, block_count = 0, 0, 0
    while begin < len(states):
        end = begin + 1
        while (
            end < len(states)
            and end < begin + BLOCK_STATES
            and length_of(states[end] - states[end - 1] - 1) <= MAX_GAP_BITS
        ):
            end += 1
        blocks[block_count, FIRST], blocks[block_count, END], blocks[block_count, AT] = states[begin], end, word_count
        words[word_count] = np.uint64(widths)
        word_count = put(states, begin, end, widths, words, word_count + 1)
        begin = end
        block_count += 1
    return block_count, word_count


@part
def put(states: States, begin: int, end: int, widths: int, words: Words, class_begin: int) -> Any:
    """Write the classes and the gaps of states[begin:end] to words[class_begin:]; return the index after them."""
    first_width, second, third = widths & 63, widths >> 6 & 63, widths >> 12 & 63
    kinds, gaps, bits_filled = np.uint64(0), np.uint64(0), np.int64(0)
    cursor = class_begin + (end - begin + 30 >> 5)
    for i in range(end - begin - 1):
        gap = states[begin + i + 1] - states[begin + i] - 1
        bits = length_of(gap)
        # without a branch, which nobody could predict
        kind = np.int64(bits > first_width) + np.int64(bits > second) + np.int64(bits > third)
        kinds |= np.uint64(kind) << np.uint64(2 * (i & 31))
        if i & 31 == 31:
            words[class_begin + (i >> 5)], kinds = kinds, np.uint64(0)
        gaps |= np.uint64(gap) << np.uint64(bits_filled)
        width = widths >> 6 * kind & 63
        bits_filled += width
        if bits_filled >= 64:
            bits_filled -= 64
            words[cursor] = gaps
            gaps = np.uint64(gap) >> np.uint64(1) >> np.uint64(width - bits_filled - 1) if bits_filled else np.uint64(0)
            cursor += 1
    if end - begin - 1 & 31:
        words[class_begin + (end - begin - 1 >> 5)] = kinds
    words[cursor], words[cursor + 1] = gaps, np.uint64(0)
    return cursor + 2


@part
def unpack(words: Words, offset: int, first_key: int, count: int, out: States, out_index: int) -> None:
    """Unpack the `count` states of a block whose words begin at `offset` to out[place:]."""
    widths = np.int64(words[offset])
    bit: Any = (offset + 1 + (count + 30 >> 5)) << 6
    state: Any = np.int64(first_key)
    out[out_index] = state
    kinds = np.uint64(0)
    for i in range(count - 1):
        if i & 31 == 0:
            kinds = words[offset + 1 + (i >> 5)]
        width = widths >> 6 * np.int64(kinds & np.uint64(3)) & 63
        kinds >>= np.uint64(2)
        word, low = bit >> 6, np.uint64(bit & 63)
        gap = words[word] >> low | words[word + 1] << np.uint64(1) << (np.uint64(63) - low)
        state += np.int64(gap & (np.uint64(1) << np.uint64(width)) - np.uint64(1)) + 1
        bit += width
        out[out_index + i + 1] = state


@dataclass(frozen=True)
class Packed:
    """A packed run.

    Attributes:
        blocks: A row for each block, (n, 3) int64: see above.
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
        rows = []
        for run in self.runs:
            if isinstance(run, Packed):
                blocks, words = run.blocks, run.words
                addresses = blocks.ctypes.data, words.ctypes.data
                rows.append([len(blocks), len(run), *addresses, len(words), run.before, run.base])
            else:
                rows.append([0, len(run), 0, run.ctypes.data, 0, 0, 0])
        self.rows: NDArray[np.int64] = np.array(rows, np.int64).reshape(-1, 7)
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


@part
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
