"""Moves inside a tier, kept by the blocks of their children until they become lists of parents.

The children of a run of states lie anywhere in the tier. Block by block, their counters and lists stay in the cache,
and no two threads write to one block.

Cost: 4 bytes a move, in memory, or in a file if the memory lacks room for moves and index.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.store.shared import read_only, shared
from solver.store.work import Column, Work
from solver.sweep.parents import Lists, never_in

CACHED_STATES = 1 << 14  # states whose moves are kept at a time, at most
MOVES_PER_STATE = 16  # moves of a state for which there is room at first
BLOCK_BITS = 15  # of a place within its block: with those of a state in its chunk, and one more, fewer than 31
CHUNK_ENTRY = 1 << 31
BLOCKS_PER_CALL = 64  # blocks whose moves are gathered in one call, and whose pages of a file are let go together
FILE_NAME = "moves"
Ints = NDArray[np.int64]


class Step(NamedTuple):
    """The moves of some chunks of states, by block of the child.

        entry of a chunk    CHUNK_ENTRY + number of the chunk in the step
        entry of a move     state in its chunk (upper bits) | same player again (1 bit) | child in its block
        (BLOCK_BITS)

    Attributes:
        firsts: The first state of each chunk.
        begins: The entries of a block are entries[begins[block]:begins[block + 1]].
        entries: uint32; empty if the entries lie in the file.
    """

    firsts: Ints
    begins: Ints
    entries: NDArray[np.uint32]


class Inside:
    """The moves inside a tier.

    Args:
        size: The number of states.
        room: The number of moves that the memory holds.
        work: The work folder, for a file.
    """

    def __init__(self, size: int, room: int, work: Work) -> None:
        self.size, self.blocks = size, range((size - 1 >> BLOCK_BITS) + 1)
        self.room, self.work = room, work
        self._file: Column | None = None
        self._steps: list[Step] = []
        # Chunks of the step under way
        self._chunks: dict[int, tuple[NDArray[np.uint32], Ints]] = {}
        self._joined = np.empty(0, np.uint32)

    def keep(self, moves: NDArray[np.uint32], open_children: NDArray[Any], begin: int, end: int) -> None:
        """Keep the moves of a chunk, as `count_children` lists them; in any thread."""
        begins = np.zeros(len(self.blocks) + 1, np.int64)
        self._chunks[begin] = by_block(moves, open_children, begin, end, begins), begins

    def count(self, team: Workers, degrees: NDArray[Any]) -> None:
        """Add the moves that were kept since the last call to the degrees of their children."""
        firsts = sorted(self._chunks)
        entries, begins = zip(*(self._chunks.pop(chunk) for chunk in firsts), strict=True)
        # Chunks come from many threads. In the order of their states the result is always the same.
        sizes, offsets = np.diff(np.stack(begins), axis=1), np.cumsum([0, *map(len, entries)])
        if len(self._joined) < offsets[-1]:
            self._joined = np.empty(offsets[-1] * 5 // 4, np.uint32)
        joined, begins_in_joined = self._joined, np.stack(begins) + offsets[:-1, np.newaxis]

        def copy_chunk(chunk: int) -> None:
            joined[offsets[chunk] : offsets[chunk + 1]] = entries[chunk]

        for _ in team.map(copy_chunk, range(len(firsts))):
            pass
        # One entry more for each chunk that has moves to the block: its mark.
        ends = np.cumsum([0, *(sizes + (sizes > 0)).sum(axis=0)])
        step, block_count = Step(np.array(firsts), ends, np.empty(ends[-1], np.uint32)), len(self.blocks)

        def gather_blocks(first_block: int) -> None:
            end_block = min(first_block + BLOCKS_PER_CALL, block_count)
            gather(joined, begins_in_joined, first_block, end_block, ends, step.entries, degrees)

        for _ in team.map(gather_blocks, range(0, block_count, BLOCKS_PER_CALL)):
            pass
        self.room -= len(step.entries)
        self._steps.append(step)

    def fits(self, states: int) -> bool:
        """Tell whether the moves of all states can be kept, after those of so many.

        If the memory is short the moves go to a file, provided that the disk has room for them and for the index.
        """
        if self.room >= 0:
            return True
        if self._file is None:
            moves = sum(len(step.entries) for step in self._steps)
            # Room for the moves of all states, by the share so far, and for the index.
            if self.work.free() < 3 * moves * np.dtype(np.uint32).itemsize * self.size // states:
                return False
            self._file = self.work.column(FILE_NAME, np.uint32, numbered=True)
        for step_index, (firsts, begins, entries) in enumerate(self._steps):
            if len(entries):
                self._steps[step_index] = Step(firsts, begins + self._file.size, np.empty(0, np.uint32))
                self._file.append(entries)
        return True

    def turn_around(self, team: Workers, alternates: bool, lists: Lists, progress: Progress) -> None:
        """Enter all moves that lead to the states of some lists, which are whole blocks."""
        entries_in_file = read_only(self._file.view()) if self._file else np.empty(0, np.uint32)

        def enter(block: int) -> int:
            for firsts, begins, entries in self._steps:
                entries = read_only(entries) if len(entries) else entries_in_file
                turn_around(alternates, firsts, entries[begins[block] : begins[block + 1]], block, lists)
            return block

        for block in team.map(enter, range(lists.low >> BLOCK_BITS, (lists.high - 1 >> BLOCK_BITS) + 1)):
            if self._file and block % BLOCKS_PER_CALL == 0:
                self._file.release()
            progress("index moves", min(block + 1 << BLOCK_BITS, self.size), self.size)

    def discard(self) -> None:
        """Remove the file."""
        if self._file:
            self.work.discard(self._file)


@shared
def by_block(moves: NDArray[Any], open_children: NDArray[Any], begin: int, end: int, begins: NDArray[Any]) -> Any:
    """Sort the moves of a chunk by block of the child.

    Args:
        moves: As `count_children` lists them.
        open_children: The number of each state's moves.
        begin: The first state of the chunk.
        end: The state after its last.
        begins: Written, (blocks + 1,): the begin of each block's moves. All 0 before.

    Returns:
        Entries as in `Step`, without marks.
    """
    entries = np.empty(len(moves), np.uint32)
    for move in moves:
        begins[(np.int64(move) >> BLOCK_BITS + 1) + 1] += 1
    for block in range(1, len(begins)):
        begins[block] += begins[block - 1]
    # counting sort: a pass to count, a pass to place
    ends, move_index = begins.copy(), 0
    for owner in range(end - begin):
        for _ in range(np.int64(open_children[begin + owner]) & never_in(open_children) - 1):
            move = np.int64(moves[move_index])
            block, index_in_block = move >> BLOCK_BITS + 1, move >> 1 & (1 << BLOCK_BITS) - 1
            entries[ends[block]] = (2 * owner + (move & 1)) << BLOCK_BITS | index_in_block
            ends[block] += 1
            move_index += 1
    return entries


@shared
def gather(
    entries: NDArray[Any],
    begins: NDArray[Any],
    first_block: Any,
    end_block: Any,
    ends: NDArray[Any],
    gathered: NDArray[Any],
    degrees: NDArray[Any],
) -> None:
    """Join the entries of all chunks for some blocks, and add them to the degrees.

    Args:
        entries: The entries of all chunks.
        begins: Those of a block in a chunk are entries[begins[chunk, block]:begins[chunk, block + 1]].
        first_block: The first block to join.
        end_block: The block after the last.
        ends: Where each block begins in `gathered`.
        gathered: Written, as `Step` describes it.
        degrees: Raised for each child.
    """
    for block in range(first_block, end_block):
        cursor = ends[block]
        # A block's degrees stay in the cache while all chunks add to them.
        for chunk in range(len(begins)):
            chunk_begin, chunk_end = begins[chunk, block], begins[chunk, block + 1]
            if chunk_begin < chunk_end:
                gathered[cursor] = CHUNK_ENTRY + chunk
                cursor += 1
            for j in range(chunk_begin, chunk_end):
                gathered[cursor] = entries[j]
                degrees[(block << BLOCK_BITS) + (np.int64(entries[j]) & (1 << BLOCK_BITS) - 1)] += 1
                cursor += 1


@shared
def turn_around(alternates: bool, firsts: NDArray[Any], entries: NDArray[Any], block: int, lists: Lists) -> None:
    """Enter the moves of a step that lead to a block's states into the lists of these states."""
    _, _, ends, offset, parents = lists
    owners = np.int64(0)
    for j in range(len(entries)):
        entry = np.int64(entries[j])
        if entry >= CHUNK_ENTRY:
            # a mark: the entries that follow are of another chunk
            owners = 2 * firsts[entry - CHUNK_ENTRY]
        else:
            child_index = (block << BLOCK_BITS) + (entry & (1 << BLOCK_BITS) - 1)
            parent = owners + (entry >> BLOCK_BITS)
            # Lists fill from their ends down, so their ends become their begins.
            end = np.int64(ends[child_index]) - 1
            parents[end - offset] = parent >> 1 if alternates else parent
            ends[child_index] = end
