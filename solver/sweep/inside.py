"""Moves inside a tier, kept by the blocks of places to which they lead, until they are made lists of parents.

The places that a run of states leads to lie anywhere in the tier. Block by block, what is counted and written for them
stays in the cache, and no two threads write to one block.

Cost: 4 bytes a move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.store.shared import shared
from solver.sweep.parents import never_in

CHUNK = 1 << 14  # states whose moves are kept at a time, at most
EACH = 16  # moves of a state for which there is room at first
BITS = 15  # of a place within its block: with those of a state in its chunk, and one more, fewer than 32
MANY = 64  # blocks whose moves are counted in one call
Ints = NDArray[np.int64]


class Step(NamedTuple):
    """The moves of some states in chunks, whose first places are `firsts`: those of a chunk to a block are entries
    [begins[chunk, block]:begins[chunk, block + 1]]. An entry (uint32) is the child's place in its block, above it twice
    the state's in its chunk, and one if the same player moves."""

    firsts: Ints
    entries: NDArray[np.uint32]
    begins: Ints


class Inside:
    """The moves inside a tier of so many states; `room` is for how many more there is memory."""

    def __init__(self, size: int, room: int) -> None:
        self.size, self.blocks = size, range((size - 1 >> BITS) + 1)
        self.room = room
        self._steps: list[Step] = []
        self._chunks: dict[int, tuple[NDArray[np.uint32], Ints]] = {}  # of the step under way

    def keep(self, moves: NDArray[np.uint32], left: NDArray[Any], first: int, last: int) -> None:
        """Keep the moves of a chunk, as `count_children` lists them; in any thread."""
        begins = np.zeros(len(self.blocks) + 1, np.int64)
        self._chunks[first] = by_block(moves, left, first, last, begins), begins

    def count(self, team: Workers, degrees: NDArray[Any]) -> None:
        """Add to the degrees what was kept since they were last counted."""
        firsts = sorted(self._chunks)
        entries, begins = zip(*(self._chunks.pop(first) for first in firsts), strict=True)
        ends = np.cumsum([0, *map(len, entries)])
        whole = np.empty(ends[-1], np.uint32)

        def put(chunk: int) -> None:
            whole[ends[chunk] : ends[chunk + 1]] = entries[chunk]

        for _ in team.map(put, range(len(firsts))):
            pass
        step = Step(np.array(firsts), whole, np.stack(begins) + ends[:-1, np.newaxis])
        last = len(self.blocks)
        for _ in team.map(lambda low: count_parents(step, low, min(low + MANY, last), degrees), range(0, last, MANY)):
            pass
        self._steps.append(step)
        self.room -= len(step.entries)

    def turn_around(
        self, team: Workers, alternates: bool, ends: NDArray[Any], parents: NDArray[np.uint32], progress: Progress
    ) -> None:
        """Enter all moves into the lists of their children; `ends` as `Lists` has them."""

        def enter(block: int) -> int:
            for step in self._steps:
                turn_around(alternates, step, block, ends, parents)
            return block

        for block in team.map(enter, self.blocks):
            progress("index moves", min(block + 1 << BITS, self.size), self.size)


@shared
def by_block(moves, left, begin, end, begins):
    """The moves of the states begin..end, as `count_children` lists them, as entries of `Step`; begins (blocks + 1,),
    all 0, are told where those to each block begin."""
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
def count_parents(step, low, high, degrees):
    """Add to the degrees of the states of the blocks low..high the moves that lead there."""
    entries, begins = step.entries, step.begins
    for block in range(low, high):
        for chunk in range(len(begins)):
            for j in range(begins[chunk, block], begins[chunk, block + 1]):
                degrees[(block << BITS) + (np.int64(entries[j]) & (1 << BITS) - 1)] += 1


@shared
def turn_around(alternates, step, block, ends, parents):
    """Enter the moves that lead to a block's states into the lists of these."""
    firsts, entries, begins = step
    for chunk in range(len(begins)):
        owners = 2 * firsts[chunk]
        for j in range(begins[chunk, block], begins[chunk, block + 1]):
            entry = np.int64(entries[j])
            place, parent = (block << BITS) + (entry & (1 << BITS) - 1), owners + (entry >> BITS)
            end = np.int64(ends[place]) - 1
            parents[end] = parent >> 1 if alternates else parent
            ends[place] = end
