"""The steps of going backward inside a tier: count open children, list parents, settle states.

The analyses of tiers with cycles share them, on one machine and in shards.

Moves inside a tier are kept by the blocks of their children until they become lists of parents. The children of a run
of states lie anywhere in the tier. Block by block, their counters and lists stay in the cache, and no two threads write
to one block. Cost: 4 bytes a move, in memory, or in a file if the memory lacks room for moves and index.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types as nb
from numba.extending import intrinsic
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.base.progress import Progress
from solver.compiled.edges import BATCH_MOVES, NOT_TERMINAL, Moves, lift
from solver.store.addresses import prefetch
from solver.store.directory import BEGIN, MISSING, TierLookup
from solver.store.packed import LAST
from solver.store.shared import part, read_only, shared
from solver.store.work import Column, Work
from solver.sweep.batch import BEYOND, FINE, LOST_CHILD, NARROW, SCORING, new_batch, next_batch, value_at
from solver.sweep.scale import WIN

NO_MERIT = np.iinfo(np.int16).min  # no merit known from finished games and other tiers
RESOLVED = -(1 << 14)  # in a counter of open children: below 0, whatever is still subtracted
NOW, LATER = 1, 2  # when a state is resolved
PREFETCH_DISTANCE = 32  # entries whose place in memory is asked for ahead of its turn
CACHED_STATES = 1 << 14  # states whose moves are kept at a time, at most
MOVES_PER_STATE = 16  # moves of a state for which there is room at first
BLOCK_BITS = 15  # of a place within its block: with those of a state in its chunk, and one more, fewer than 31
CHUNK_ENTRY = 1 << 31
BLOCKS_PER_CALL = 64  # blocks whose moves are gathered in one call, and whose pages of a file are let go together
FILE_NAME = "moves"
Ints = NDArray[np.int64]


@intrinsic
def fetch_add(typingctx: Any, array: Any, index: Any, number: Any) -> Any:
    """Add to an element of a contiguous 1-d array in one step, for all threads; return the element before."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(view.data, [arguments[1]])
        amount = context.cast(builder, arguments[2], signature.args[2], signature.args[0].dtype)
        return builder.atomic_rmw("add", pointer, amount, "monotonic")

    return array.dtype(array, nb.intp, number), emit


class Counted(NamedTuple):
    """Arrays over the states of a tier.

    Attributes:
        endless: The worth of play without end (int16), or empty if it is always 0. Merits are counted from it.
        degrees: The number of moves inside the tier that lead to a state.
        left: The number of open children (int16 or int32), plus `never_in(left)` if a child is drawn.
        candidates: The best merit (int16) by children that are finished or in later tiers.
    """

    endless: NDArray[Any]
    degrees: NDArray[Any]
    left: NDArray[Any]
    candidates: NDArray[np.int16]


@shared
def count_children(
    moves: Moves, lookup: TierLookup, tier_row: int, begin: int, end: int, counted: Counted, inner_moves: NDArray[Any]
) -> tuple[Any, Any, Any]:
    """Count the open children of a tier's states and take the merits of the others.

    Args:
        moves: The compiled moves.
        lookup: The tier and the tiers of its children.
        tier_row: The row of the tier.
        begin: The first state, counted from the tier's first.
        end: The state after the last.
        counted: Written for these states.
        inner_moves: Room for the moves inside the tier (uint32), or of length 0: then they are not kept, and the
            degrees are counted here. An entry is twice the index of a child, and one more if the same player moves
            again.

    Returns:
        A fault and the state that has it: FINE, LOST_CHILD, BEYOND, SCORING, or NARROW if `left` must be wider.
        Then the moves inside the tier, by state, in `inner_moves` or a larger array; the caller enters them into the
        degrees.
    """
    endless, degrees, open_children, candidates = counted
    inner_count, is_keeping = 0, len(inner_moves) > 0
    for i in range(begin, end):
        candidates[i], open_children[i] = NO_MERIT, 0
    tier_begin = lookup.table[tier_row, BEGIN]
    batch, cursor = new_batch(BATCH_MOVES), tier_begin + begin
    while cursor < tier_begin + end:
        batch, count, next_state = next_batch(moves, lookup, cursor, tier_begin + end, 0, LAST, batch)
        if count < 0:
            return LOST_CHILD, lookup.states[next_state], inner_moves
        # Double the room, so that all copies together cost as much as one pass.
        if is_keeping and inner_count + count > len(inner_moves):
            larger = np.empty(2 * len(inner_moves) + count, np.uint32)
            # A slice assigned to a slice takes two seconds to compile
            for j in range(inner_count):
                larger[j] = inner_moves[j]
            inner_moves = larger
        edges, rows, state_indices = batch.edges, batch.rows, batch.places
        owners, merits, rewards = edges.owners, edges.merits, edges.rewards
        for j in range(0 if is_keeping else count):
            if rows[j] == tier_row:
                prefetch(degrees, state_indices[j])
        for j in range(count):
            owner, merit = cursor - tier_begin + (owners[j] >> 1), merits[j]
            if merit == NOT_TERMINAL:
                if state_indices[j] == MISSING:
                    return LOST_CHILD, lookup.states[tier_begin + owner], inner_moves
                if rows[j] == tier_row:
                    # A score inside a cycle could be repeated for ever: the value would have no limit.
                    if moves.rewarded and rewards[j]:
                        return SCORING, lookup.states[tier_begin + owner], inner_moves
                    if is_keeping:
                        inner_moves[inner_count] = 2 * state_indices[j] + (owners[j] & 1)
                        inner_count += 1
                    else:
                        # Other threads count the same children.
                        fetch_add(degrees, state_indices[j], 1)
                    open_children[owner] += 1
                    # the counter has run into the bit of drawn children
                    if open_children[owner] & never_in(open_children) - 1 == 0:
                        return NARROW, lookup.states[tier_begin + owner], inner_moves
                    continue
                merit = lift(value_at(lookup, rows[j], state_indices[j]), (owners[j] & 1) == 1, moves.scores)
                if moves.rewarded:
                    merit += rewards[j]
            if not give(merit, owner, endless, open_children, candidates):
                return BEYOND, lookup.states[tier_begin + owner], inner_moves
        cursor = next_state
    return FINE, np.int64(0), inner_moves[:inner_count]


@part
def never_in(open_children: NDArray[Any]) -> Any:
    """Return the bit of a counter that says: a child is drawn.

    It keeps the counter from coming down to 0, so the state is never lost.
    """
    return 1 << 8 * open_children.itemsize - 2


@part
def give(
    merit: int, state_index: int, endless: NDArray[Any], open_children: NDArray[Any], candidates: NDArray[Any]
) -> bool:
    """Let a child give its merit to a state; return False if the candidates cannot hold it."""
    # merits are counted from the worth of endless play, which then is 0 and the draw of the analysis
    merit_above = merit - (endless[state_index] if len(endless) else 0)
    if not -WIN < merit < WIN or not -WIN < merit_above < WIN:
        return False
    merit = merit_above
    # The best child that is finished or in a later tier bounds the state from below.
    candidates[state_index] = max(np.int64(candidates[state_index]), merit)
    if merit == 0:
        open_children[state_index] |= never_in(open_children)
    return True


class Lists(NamedTuple):
    """The parents of a range of a tier's states.

    Attributes:
        low: The first state of the range.
        high: The state after its last.
        ends: The end of each state's list, less `offset`; it goes down to the begin as the list fills.
        offset: The number of entries before the range.
        parents: The entries of the range.
    """

    low: int
    high: int
    ends: NDArray[Any]
    offset: int
    parents: NDArray[Any]


@shared
def list_parents(moves: Moves, lookup: TierLookup, tier_row: int, begin: int, end: int, lists: Lists) -> None:
    """Enter the states begin..end of a tier into the lists of their children.

    An entry is a state's index. In a game with moves again it is twice that, and one more if the same player moves.

    Args:
        moves: The compiled moves.
        lookup: A look-up of this tier alone.
        tier_row: The row of the tier.
        begin: The first state, counted from the tier's first.
        end: The state after the last.
        lists: Filled.
    """
    begin_child, end_child, ends, offset, parents = lists
    tier_begin = lookup.table[tier_row, BEGIN]
    batch, cursor = new_batch(BATCH_MOVES), tier_begin + begin
    while cursor < tier_begin + end:
        batch, count, next_state = next_batch(moves, lookup, cursor, tier_begin + end, 0, LAST, batch)
        owners, state_indices = batch.edges.owners, batch.places
        # Ask for the ends first: their cache lines arrive together.
        for j in range(count):
            prefetch(ends, state_indices[j])
        for j in range(count):
            # Those that were passed over are MISSING
            if begin_child <= state_indices[j] < end_child:
                owner = 2 * (cursor - tier_begin) + owners[j]
                entry = owner >> 1 if moves.alternates else owner
                parents[np.int64(fetch_add(ends, state_indices[j], -1)) - 1 - offset] = entry
        cursor = next_state


@shared
def settle(open_children: NDArray[Any], candidates: NDArray[Any], begin: int, end: int, due: NDArray[Any]) -> None:
    """Write due[begin:end]: the plies in which a state is decided if nothing wins it sooner; 0 if that is not known.

    At the begin, finished games and other tiers decide it.
    """
    for i in range(begin, end):
        due[i] = 0
        # A win by a later tier may still be beaten by a quicker one inside.
        if open_children[i] < 0 or candidates[i] > 0:
            due[i] = WIN - abs(candidates[i])
        # No child is left inside the tier: the best of the others decides, now.
        elif open_children[i] == 0:
            due[i] = WIN + candidates[i]
            open_children[i] = RESOLVED


@shared
def claim(state_indices: NDArray[Any], open_children: NDArray[Any]) -> Any:
    """Resolve states that finished games and other tiers win; return those that nothing won sooner."""
    claimed = np.empty(len(state_indices), np.int64)
    count = 0
    for state_index in state_indices:
        # A quicker win may have resolved the state since it was entered.
        if open_children[state_index] >= 0:
            open_children[state_index] = RESOLVED
            claimed[count] = state_index
            count += 1
    return claimed[:count]


@part
def hear(parent: Any, lifted: int, open_children: NDArray[Any], merits: NDArray[Any]) -> Any:
    """Give a state the merit of one of its open children, now resolved.

    Returns:
        NOW if that resolves the state; LATER if it resolves it as late as other tiers delay it; else 0.
    """
    # Resolved before, and so by a quicker win or an earlier loss.
    if open_children[parent] < 0:
        return 0
    # One won child suffices. The first to arrive is the quickest, since rounds go by distance.
    if lifted > 0:
        merits[parent] = lifted
        open_children[parent] = RESOLVED
        return NOW
    # A lost child only counts when it is the last one, and when no later tier wins.
    if fetch_add(open_children, parent, -1) != 1 or merits[parent] > 0:
        return 0
    # All children inside lose. A later tier may lose more slowly, which is better.
    is_delayed = merits[parent] > lifted
    if not is_delayed:
        merits[parent] = lifted
    open_children[parent] = RESOLVED
    return LATER if is_delayed else NOW


@shared
def go_back(
    alternates: bool,
    scores: bool,
    frontier: NDArray[Any],
    row_offsets: NDArray[Any],
    parents: NDArray[Any],
    open_children: NDArray[Any],
    merits: NDArray[Any],
) -> tuple[Any, Any]:
    """Resolve the parents of some states of one distance.

    Returns:
        The parents that are resolved one ply later (at once if merits are scores), and those that other tiers
        delay. Both are sorted by child, perhaps with duplicates.
    """
    move_count, shift = 0, 0 if alternates else 1
    # Each move can resolve one parent at most: this is the room that the results need.
    for state_index in frontier:
        move_count += np.int64(row_offsets[state_index + 1]) - np.int64(row_offsets[state_index])
    resolved, delayed = np.empty(move_count, np.int64), np.empty(move_count, np.int64)
    count = delayed_count = 0
    for i in range(len(frontier)):
        # memory fetches the row offsets, then the parents, then the counters, each ahead of its turn
        if i + PREFETCH_DISTANCE < len(frontier):
            prefetch(row_offsets, frontier[i + PREFETCH_DISTANCE])
        if i + PREFETCH_DISTANCE // 2 < len(frontier):
            prefetch(parents, np.int64(row_offsets[frontier[i + PREFETCH_DISTANCE // 2]]))
        merit, end = np.int64(merits[frontier[i]]), np.int64(row_offsets[frontier[i] + 1])
        for parent_index in range(np.int64(row_offsets[frontier[i]]), end):
            prefetch(open_children, np.int64(parents[parent_index]) >> shift)
        for parent_index in range(np.int64(row_offsets[frontier[i]]), end):
            entry = np.int64(parents[parent_index])
            parent = entry >> shift
            when = hear(parent, lift(merit, not alternates and entry & 1 == 1, scores), open_children, merits)
            if when == NOW:
                resolved[count] = parent
                count += 1
            elif when == LATER:
                delayed[delayed_count] = parent
                delayed_count += 1
    return resolved[:count].copy(), delayed[:delayed_count].copy()


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

        team.each(copy_chunk, range(len(firsts)))
        # One entry more for each chunk that has moves to the block: its mark.
        ends = np.cumsum([0, *(sizes + (sizes > 0)).sum(axis=0)])
        step, block_count = Step(np.array(firsts), ends, np.empty(ends[-1], np.uint32)), len(self.blocks)

        def gather_blocks(first_block: int) -> None:
            end_block = min(first_block + BLOCKS_PER_CALL, block_count)
            gather(joined, begins_in_joined, first_block, end_block, ends, step.entries, degrees)

        team.each(gather_blocks, range(0, block_count, BLOCKS_PER_CALL))
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
