"""Moves inside a tier, kept by the blocks of places to which they lead, until they are made lists of parents.

The places that a run of states leads to lie anywhere in the tier. Block by block, what is counted and written for them
stays in the cache, and no two threads write to one block.

Cost: 4 bytes a move, in memory or, where there is no room for them and for the index, in a file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.store.column import Column
from solver.store.shared import read_only, shared
from solver.store.work import Work
from solver.sweep.parents import Lists, never_in

CHUNK = 1 << 14  # states whose moves are kept at a time, at most
EACH = 16  # moves of a state for which there is room at first
BITS = 15  # of a place within its block: with those of a state in its chunk, and one more, fewer than 31
MARK = 1 << 31
MANY = 64  # blocks whose moves are gathered in one call, and whose pages of a file are let go together
FILE = "moves"
Ints = NDArray[np.int64]


class Step(NamedTuple):
    """The moves of some states in chunks, whose first places are `firsts`: those to a block are [begins[block]:
    begins[block + 1]] of `entries` (uint32) or, where these are empty, of the file. There, chunk after chunk, MARK and
    its number, then for each move the child's place in its block, above it twice the state's in its chunk, and one if
    the same player moves."""

    firsts: Ints
    begins: Ints
    entries: NDArray[np.uint32]


class Inside:
    """The moves inside a tier of so many states; `room` is for how many more there is memory."""

    def __init__(self, size: int, room: int, work: Work) -> None:
        self.size, self.blocks = size, range((size - 1 >> BITS) + 1)
        self.room, self.work = room, work
        self._file: Column | None = None
        self._steps: list[Step] = []
        self._chunks: dict[int, tuple[NDArray[np.uint32], Ints]] = {}  # of the step under way
        self._whole = np.empty(0, np.uint32)

    def keep(self, moves: NDArray[np.uint32], left: NDArray[Any], first: int, last: int) -> None:
        """Keep the moves of a chunk, as `count_children` lists them; in any thread."""
        begins = np.zeros(len(self.blocks) + 1, np.int64)
        self._chunks[first] = by_block(moves, left, first, last, begins), begins

    def count(self, team: Workers, degrees: NDArray[Any]) -> None:
        """Add to the degrees what was kept since they were last counted."""
        firsts = sorted(self._chunks)
        entries, begins = zip(*(self._chunks.pop(first) for first in firsts), strict=True)
        sizes, before = np.diff(np.stack(begins), axis=1), np.cumsum([0, *map(len, entries)])
        if len(self._whole) < before[-1]:
            self._whole = np.empty(before[-1] * 5 // 4, np.uint32)
        whole, places = self._whole, np.stack(begins) + before[:-1, np.newaxis]

        def put(chunk: int) -> None:
            whole[before[chunk] : before[chunk + 1]] = entries[chunk]

        for _ in team.map(put, range(len(firsts))):
            pass
        ends = np.cumsum([0, *(sizes + (sizes > 0)).sum(axis=0)])
        step, last = Step(np.array(firsts), ends, np.empty(ends[-1], np.uint32)), len(self.blocks)
        for _ in team.map(
            lambda low: gather(whole, places, low, min(low + MANY, last), ends, step.entries, degrees),
            range(0, last, MANY),
        ):
            pass
        self.room -= len(step.entries)
        self._steps.append(step)

    def fits(self, states: int) -> bool:
        """Whether all moves can be kept, of which there are those of so many states: where memory is short they go to a
        file, if the disk has room for all, and for the index."""
        if self.room >= 0:
            return True
        if self._file is None:
            moves = sum(len(step.entries) for step in self._steps)
            if self.work.free() < 3 * moves * np.dtype(np.uint32).itemsize * self.size // states:
                return False
            self._file = self.work.column(FILE, np.uint32, numbered=True)
        for place, (firsts, begins, entries) in enumerate(self._steps):
            if len(entries):
                self._steps[place] = Step(firsts, begins + self._file.size, np.empty(0, np.uint32))
                self._file.append(entries)
        return True

    def turn_around(self, team: Workers, alternates: bool, lists: Lists, progress: Progress) -> None:
        """Enter all moves that lead to the states of some lists, which are whole blocks."""
        filed = read_only(self._file.view()) if self._file else np.empty(0, np.uint32)

        def enter(block: int) -> int:
            for firsts, begins, entries in self._steps:
                part = (read_only(entries) if len(entries) else filed)[begins[block] : begins[block + 1]]
                turn_around(alternates, firsts, part, block, lists)
            return block

        for block in team.map(enter, range(lists.low >> BITS, (lists.high - 1 >> BITS) + 1)):
            if self._file and block % MANY == 0:
                self._file.release()
            progress("index moves", min(block + 1 << BITS, self.size), self.size)

    def discard(self) -> None:
        """They are not needed any more."""
        if self._file:
            self.work.discard(self._file)


@shared
def by_block(moves, left, begin, end, begins):
    """The moves of the states begin..end, as `count_children` lists them, as entries of `Step` without marks; begins
    (blocks + 1,), all 0, are told where those to each block begin."""
    entries = np.empty(len(moves), np.uint32)
    for move in moves:
        begins[(np.int64(move) >> BITS + 1) + 1] += 1
    for block in range(1, len(begins)):
        begins[block] += begins[block - 1]
    ends, at = begins.copy(), 0
    for owner in range(end - begin):
        for _ in range(np.int64(left[begin + owner]) & never_in(left) - 1):
            move = np.int64(moves[at])
            block, place = move >> BITS + 1, move >> 1 & (1 << BITS) - 1
            entries[ends[block]] = (2 * owner + (move & 1)) << BITS | place
            ends[block] += 1
            at += 1
    return entries


@shared
def gather(entries, begins, low, high, ends, gathered, degrees):
    """Put what each chunk has for the blocks low..high, from begins[chunk, block] to begins[chunk, block + 1] of
    `entries`, together as `Step` has it, from ends[low] on; and add these moves to the degrees of the states to which
    they lead."""
    for block in range(low, high):
        at = ends[block]
        for chunk in range(len(begins)):
            first, last = begins[chunk, block], begins[chunk, block + 1]
            if first < last:
                gathered[at] = MARK + chunk
                at += 1
            for j in range(first, last):
                gathered[at] = entries[j]
                degrees[(block << BITS) + (np.int64(entries[j]) & (1 << BITS) - 1)] += 1
                at += 1


@shared
def turn_around(alternates, firsts, entries, block, lists):
    """Enter the moves of a step that lead to a block's states into the lists of these."""
    _, _, ends, offset, parents = lists
    owners = np.int64(0)
    for j in range(len(entries)):
        entry = np.int64(entries[j])
        if entry >= MARK:
            owners = 2 * firsts[entry - MARK]
        else:
            place, parent = (block << BITS) + (entry & (1 << BITS) - 1), owners + (entry >> BITS)
            end = np.int64(ends[place]) - 1
            parents[end - offset] = parent >> 1 if alternates else parent
            ends[place] = end
