"""Sorted runs of states, plain arrays or packed ones, of which ranges of keys are read.

Whoever reads a range of several runs has a kernel unpack what lies in it, whatever the runs are: `Table`. Thousands of
runs are read in thousands of pieces: where those begin is found once, run by run, and not by each that reads one.
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
from solver.store.packing import AT, BLOCK, BLOCKS, END, FIRST, WIDTHS, WORDS, Words, pack, plan, unpack
from solver.store.shared import read_only, shared
from solver.store.sorting import first_beyond, first_from, gallop

States = NDArray[np.int64]
Blocks = NDArray[np.int64]
# of a run in a table: how many blocks, 0 where it is plain; states; the addresses of its blocks, and of its words or
# states; how many words; how many states are before its first block, and words before its own
ROWS, SIZE, INDEX, DATA, LENGTH, BEFORE, BASE = range(7)
LAST = (1 << 63) - 1  # of all keys
OUTLOOK = 1 << 12  # states of a plain run for which one stands where runs are to be cut
CUTS = 1 << 26  # places in runs that a table remembers


@dataclass(frozen=True)
class Packed:
    """A packed run: blocks (n, 3) int64 and its words; `before` states and `base` words of others come before it."""

    blocks: Blocks
    words: Words
    before: int = 0
    base: int = 0
    last: int | None = None  # its last state, if that is known

    def __len__(self) -> int:
        return int(self.blocks[-1, END]) - self.before if len(self.blocks) else 0

    def at(self, places: NDArray[np.int64]) -> States:
        """The states at ascending places."""
        states = np.empty(len(places), np.int64)
        pick(self.blocks, read_only(self.words), self.before, self.base, places, states)
        return states


Run = States | Packed


def packed(states: States) -> Packed:
    """Sorted states without doubles, packed."""
    if not len(states):
        return Packed(np.empty((0, 3), np.int64), np.empty(0, np.uint64))
    report = np.zeros(3, np.int64)
    plan(states, report)
    blocks, words = np.empty((report[BLOCKS], 3), np.int64), np.empty(report[WORDS], np.uint64)
    rows, used = pack(states, report[WIDTHS], blocks, words)
    return Packed(blocks[:rows].copy(), words[:used].copy(), last=int(states[-1]))


class Table:
    """Runs of which ranges of keys are read, in any thread. It keeps them."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = [run for run in runs if len(run)]
        self.rows = np.array([_row(run) for run in self.runs], np.int64).reshape(-1, 7)
        self._cuts = np.zeros(1, np.int64), np.zeros((1, len(self.rows)), np.uint32)
        self._ends = np.where(self.rows[:, ROWS], self.rows[:, ROWS] - 1, self.rows[:, SIZE]).astype(np.uint32)

    def __len__(self) -> int:
        return int(self.rows[:, SIZE].sum())

    def read(self, low: int, high: int) -> tuple[States, NDArray[np.int64]]:
        """The states of all runs from `low` to `high`, run after run, and for each run (n, 2) where those begin
        in it, and how many they are."""
        spans = np.empty((len(self.rows), 2), np.int64)
        begins, ends = self._places(low), self._places(high + 1)
        found = np.empty(bound(self.rows, begins, ends), np.int64)
        count = gather(self.rows, low, high, begins, ends, found, spans)
        return found[:count], spans

    def cut(self, keys: States) -> None:
        """Find where the runs have these ascending keys, between which they are about to be read."""
        keys = np.concatenate([[0], keys[:: 1 + len(keys) * len(self.rows) // CUTS]])
        self._cuts = keys, np.zeros((len(keys), len(self.rows)), np.uint32)
        find(self.rows, *self._cuts)

    def _places(self, key: int) -> NDArray[np.uint32]:
        """What `find` says of a key."""
        if key > LAST:
            return self._ends
        keys, places = self._cuts
        cut = int(np.searchsorted(keys, key, "right")) - 1
        found: NDArray[np.uint32] = places[cut]
        if keys[cut] != key:
            found = found.copy()
            find(self.rows, np.array([key]), found[np.newaxis])
        return found

    def between(self, low: int, high: int) -> States:
        """The states of all runs from `low` to `high`, run after run."""
        return self.read(low, high)[0]

    def outlook(self) -> tuple[States, NDArray[np.int64]]:
        """Some of the states, in ascending order, and for how many each stands."""
        keys, sizes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for run in self.runs:
            if isinstance(run, Packed):
                keys.append(run.blocks[:, FIRST])
                sizes.append(np.diff(run.blocks[:, END], prepend=run.before))
            else:
                keys.append(run[::OUTLOOK])
                sizes.append(np.full(len(keys[-1]), OUTLOOK))
                sizes[-1][-1] = len(run) - (len(keys[-1]) - 1) * OUTLOOK
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
    """The block from `low` to below `high` that has the key, if any has: the last whose first state is not above it, or
    `low`."""
    while high - low > 1:
        middle = (low + high) >> 1
        if blocks[middle, FIRST] <= key:
            low = middle
        else:
            high = middle
    return low


@shared
def find(rows: Blocks, keys: States, places: NDArray[np.uint32]) -> None:
    """places (keys, runs): where each run has its first state that is not below each of the ascending keys; of a packed
    one the last block that is not behind it. Those of the first key are looked for from where they are said to be."""
    place: Any = 0
    for run in range(len(rows)):
        row, place = rows[run], np.int64(places[0, run])
        if row[ROWS]:
            blocks = table_at(row[INDEX], row[ROWS], 3)
            for i in range(len(keys)):
                place = block_of(blocks, place, row[ROWS], keys[i])
                places[i, run] = place
        else:
            states = words_at(row[DATA], row[SIZE])
            for i in range(len(keys)):
                place = gallop(states, keys[i], place)
                places[i, run] = place


@shared
def bound(rows: Blocks, begins: NDArray[np.uint32], ends: NDArray[np.uint32]) -> int:
    """How many states the runs of a table have at most between places: those of all blocks that meet it."""
    most = 0
    for run in range(len(rows)):
        row, first, end = rows[run], np.int64(begins[run]), np.int64(ends[run])
        if row[ROWS]:
            blocks = table_at(row[INDEX], row[ROWS], 3)
            most += blocks[end, END] - (blocks[first - 1, END] if first else row[BEFORE])
        else:
            most += int(end - first)
    return most


@shared
def gather(
    rows: Blocks,
    low: int,
    high: int,
    begins: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    found: States,
    spans: Blocks,
) -> int:
    """What `Table.read` says, into found (of at least `bound`) and spans (runs, 2); how many states there are."""
    count = 0
    for run in range(len(rows)):
        row, begin, first, end = rows[run], count, np.int64(begins[run]), np.int64(ends[run])
        if row[ROWS]:
            blocks, packs = table_at(row[INDEX], row[ROWS], 3), unsigned_at(row[DATA], row[LENGTH])
            before = blocks[first - 1, END] if first else row[BEFORE]
            spans[run, 0] = before - row[BEFORE]
            for place in range(first, end + 1):
                size = blocks[place, END] - before
                unpack(packs, blocks[place, AT] - row[BASE], blocks[place, FIRST], size, found, count)
                count, before = count + size, blocks[place, END]
            skipped = first_from(found, low, begin, count) - begin
            spans[run, 0] += skipped
            count = first_beyond(found, high, begin, count) - skipped
            for i in range(begin, count if skipped else begin):
                found[i] = found[i + skipped]
        else:
            states = words_at(row[DATA], row[SIZE])
            spans[run, 0] = first
            for i in range(first, end):
                found[count] = states[i]
                count += 1
        spans[run, 1] = count - begin
    return count


@shared
def pick(blocks: Blocks, packs: Words, before: int, base: int, places: NDArray[np.int64], states: States) -> None:
    """states[i] = the state at places[i], which ascend, of packed blocks."""
    whole, current = np.empty(BLOCK, np.int64), -1
    begin: Any = 0
    for i in range(len(places)):
        place = places[i] + before
        if current < 0 or place >= blocks[current, END]:
            low, high = current + 1, len(blocks) - 1
            while low < high:
                middle = (low + high) >> 1
                if blocks[middle, END] <= place:
                    low = middle + 1
                else:
                    high = middle
            current, begin = low, blocks[low - 1, END] if low else np.int64(before)
            unpack(packs, blocks[low, AT] - base, blocks[low, FIRST], blocks[low, END] - begin, whole, 0)
        states[i] = whole[place - begin]


def unseen(keys: States, run: Packed) -> States:
    """The sorted keys that a packed run does not have, in their own memory. Blocks without a key are not unpacked."""
    if not len(run):
        return keys
    return keys[: _unseen(keys, read_only(run.blocks), read_only(run.words), run.before, run.base)]


@shared
def _unseen(keys: States, blocks: Blocks, packs: Words, before: int, base: int) -> int:
    """Move the keys that packed blocks do not have to the front; how many they are."""
    whole: Any = np.empty(BLOCK, np.int64)
    row: Any = 0
    at = count = 0
    while at < len(keys):
        step = 1
        while row + step < len(blocks) and blocks[row + step, FIRST] <= keys[at]:
            row, step = row + step, 2 * step
        row = block_of(blocks, row, min(len(blocks), row + step), keys[at])
        size, place = blocks[row, END] - (blocks[row - 1, END] if row else before), 0
        unpack(packs, blocks[row, AT] - base, blocks[row, FIRST], size, whole, 0)
        while at < len(keys) and (row + 1 == len(blocks) or keys[at] < blocks[row + 1, FIRST]):
            while place < size and whole[place] < keys[at]:
                place += 1
            if place == size or whole[place] != keys[at]:
                keys[count] = keys[at]
                count += 1
            at += 1
    return count


def unpacked(run: Packed) -> States:
    """All states of a packed run."""
    return Table([run]).between(0, LAST)
