"""Alpha-beta by null windows with a transposition table, for any acyclic game of the protocol.

A value is found by bisection: each `prove` asks whether a state is worth at least a bound, and every state below it
is searched with that null window only (Pascal Pons, Solving Connect 4, 2017); `question` has their order.

Every child is settled by the rules' own answers, if they suffice, before any is searched; where it leaves a single
reply, that is played on, without a node, until there is a choice. Then the table is asked about all children that are
left, and only then the most promising of them is searched. Near the end of a game, where a search costs less than a
look into memory, each is looked up when its turn comes.

A node is a state with a choice, unsettled. Cost in connect-four 7x6: 100-250 ns a node. The parts of the loop go into
it, and their arrays are without owners: counted as referred to, they would cost a tenth of the time.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numba.extending import register_jitable

from solver.compiled.binding import inlined, kernel
from solver.compiled.exact.moves import FAR, end_merit, key_of, lifted, look_at, settle_first
from solver.compiled.exact.table import IDLE, LIMIT, WIN, bucket_of, busy_place, find, high_of, keep, low_of
from solver.compiled.states import Words, copy_row, folded, is_missing, put_state, state_at
from solver.search import SearchStatus
from solver.store.addresses import borrowed, prefetch_at

game: Any = None  # constants of the bound copies
SCORES = REPLIES = LONGEST = False
MORE = ()

ENTRIES = 2  # of a bucket of the table
SPLIT_PLIES = 20  # threads that search one state share their work as deep as this
PROBED = 10  # plies left, as far as the rules say, from which on all children are looked up before one is searched
TAKEN = -(1 << 63)  # the promise of a move that needs no search any more
WIDE = 512  # rows of `moves` that a state finds free

# columns of `moves`, the children of all plies of the path one after another: `SIGN` and `AWAY` are what `lifted`
# takes, `BOUND` what is asked of the child, `CHOICES` its replies
Move = IntEnum("Move", "STATE KEY CHOICES SIGN AWAY BOUND PROMISE", start=0)
ROW = 8
# columns of `frames`, the plies of the path: at first those of the child's row
Frame = IntEnum("Frame", "STATE KEY CHOICES SIGN AWAY BOUND BEST FIRST END LEFT NODES", start=0)
FRAME = 12
# fields of `search`, which outlives a call: a call that ran out of its allowance goes on where it stopped
Field = IntEnum("Field", "PLY ENTERING RESULT COUNT LOW HIGH ASKED KEPT", start=0)  # COUNT: nodes; KEPT: entries
FIELDS = 8
FULL = FAR + 1  # in place of a merit: `moves` has too few rows


@inlined
def put(moves: Words, at: int, child: Any, key: Any, choices: int, asked: Any, promise: Any) -> None:
    """Write a row of `moves`: the child, and the question to ask of it: sign, plies away, bound."""
    sign, away, bound = asked
    put_state(moves, at, Move.STATE, child, MORE)
    put_state(moves, at, Move.KEY, key, MORE)
    put_state(moves, at, Move.CHOICES, choices, MORE)
    moves[at, Move.SIGN] = sign
    moves[at, Move.AWAY] = away
    moves[at, Move.BOUND] = bound
    moves[at, Move.PROMISE] = promise


@inlined
def looked_up(table: Words, key: Any, bound: int) -> Any:
    """Return the table's bound on a state, if it tells whether the state is worth `bound` or more. Otherwise LIMIT."""
    data = find(table, key)
    if data:
        if low_of(data) >= bound:
            return low_of(data)
        if high_of(data) < bound:
            return high_of(data)
    return LIMIT


@inlined
def consider(
    table: Any, moves: Words, state: Any, action: Any, bound: int, best: Any, at: int, probed: Any
) -> tuple[Any, Any]:
    """Settle an action's child, or else put it in row `at` of `moves`.

    Returns the best merit of settled children, and the next free row.
    """
    merit, child, replies, sign, away, asked, promise = look_at(state, action, bound)
    if merit != LIMIT:
        return max(best, merit), at
    key = np.int64(-1)
    if probed:
        key = key_of(child)
        # The look-ups follow once all children are listed. Until then the processor fetches their cache lines.
        prefetch_at(np.int64(table.ctypes.data) + 8 * bucket_of(key, len(table), ENTRIES))
    put(moves, at, child, key, replies, (sign, away, asked), promise)
    return best, at + 1


@inlined
def list_children(
    table: Words, moves: Words, state: Any, choices: int, bound: int, first: int, probed: Any
) -> tuple[Any, Any]:
    """Settle the children that need no search, and list the others in moves[first:].

    Returns the best merit of the settled children, and the end of the list; -1 if there is no room.
    """
    best, end_slot = np.int64(-LIMIT), first
    if REPLIES:
        while choices and best < bound:
            action = (choices & -choices).bit_length() - 1
            # Clear the lowest bit: the next reply is the lowest one left.
            choices &= choices - 1
            best, end_slot = consider(table, moves, state, action, bound, best, end_slot, probed)
    else:
        for action in game.actions(state):
            # More than WIDE moves
            if end_slot >= len(moves):
                return best, np.int64(-1)
            best, end_slot = consider(table, moves, state, action, bound, best, end_slot, probed)
            if best >= bound:
                break
    return best, end_slot


@inlined
def probe_children(table: Words, moves: Words, bound: int, best: int, first: int, last: int) -> tuple[Any, Any]:
    """Look moves[first:last] up in the table.

    Returns the best merit, improved by the table, and how many moves are left to be searched.
    """
    left = last - first
    for j in range(first, last):
        known = looked_up(table, state_at(moves, j, Move.KEY, MORE), moves[j, Move.BOUND])
        if known != LIMIT:
            best = max(best, lifted(known, moves[j, Move.SIGN], moves[j, Move.AWAY]))
            if best >= bound:
                break
            # The table's bound settles this child, though it does not cut off: it needs no search.
            moves[j, Move.PROMISE] = TAKEN
            left -= 1
    return best, left


@inlined
def arrive(table: Words, frames: Words, moves: Words, ply: int, nodes: Any) -> Any:
    """Look at the state of frames[ply].

    Returns its merit or a bound, as `prove` has it; LIMIT if moves[FIRST:END] must be searched; FULL if `moves` has too
    few rows.
    """
    state, key = state_at(frames, ply, Frame.STATE, MORE), state_at(frames, ply, Frame.KEY, MORE)
    bound, first_slot = frames[ply, Frame.BOUND], frames[ply, Frame.FIRST]
    choices = state_at(frames, ply, Frame.CHOICES, MORE)
    # The caller has not settled the root, as `look_at` does for children.
    if ply == 0:
        key = np.int64(-1)
        result, choices = settle_first(state, bound)
        if result != LIMIT:
            return result
    if is_missing(key, MORE):
        key = key_of(state)
    result = looked_up(table, key, bound)
    if result != LIMIT:
        return result
    # Close to the end a search is cheaper than a miss of the cache, so children are not looked up beforehand.
    probed = not LONGEST or game.longest(state) >= PROBED
    best, end_slot = list_children(table, moves, state, choices, bound, first_slot, probed)
    if end_slot < 0:
        return FULL
    left = end_slot - first_slot
    if best >= bound or left == 0:
        return best
    if probed and left > 1:
        best, left = probe_children(table, moves, bound, best, first_slot, end_slot)
        if best >= bound:
            return best
        # No child reached the bound, and none is left: `best` is an upper bound of the state.
        if left == 0:
            keep(table, key, -WIN, best, 1)
            return best
    put_state(frames, ply, Frame.KEY, key, MORE)
    frames[ply, Frame.BEST] = best
    frames[ply, Frame.END] = end_slot
    frames[ply, Frame.LEFT] = left
    frames[ply, Frame.NODES] = nodes
    return LIMIT


@inlined
def go_back(table: Words, frames: Words, busy: Words, search: Words, ply: int, result: int, nodes: int) -> Any:
    """Take the result of the next ply back to the state of frames[ply].

    Returns that state's result, or LIMIT if moves are left to be searched.
    """
    if len(busy) > 1 and ply + 1 < SPLIT_PLIES:
        state = folded(state_at(frames, ply + 1, Frame.STATE, MORE))
        busy_slot = busy_place(busy, state)
        # Another state may have taken the slot; then its thread clears it.
        if busy[busy_slot] == state:
            busy[busy_slot] = IDLE
    result = max(frames[ply, Frame.BEST], lifted(result, frames[ply + 1, Frame.SIGN], frames[ply + 1, Frame.AWAY]))
    bound = frames[ply, Frame.BOUND]
    # The bound is not reached yet: go on with the next move.
    if result < bound and frames[ply, Frame.LEFT] > 0:
        frames[ply, Frame.BEST] = result
        return LIMIT
    if result != FAR:
        search[Field.KEPT] += 1
        # The table prefers entries that took more nodes. Powers of two are exact enough for that.
        work = int(nodes - frames[ply, Frame.NODES]).bit_length()
        if result >= bound:
            keep(table, state_at(frames, ply, Frame.KEY, MORE), result, WIN, work)
        else:
            keep(table, state_at(frames, ply, Frame.KEY, MORE), -WIN, result, work)
    return result


@inlined
def is_busy(busy: Words, moves: Words, at: int) -> Any:
    """Return whether a thread is searching the state of a row."""
    state = folded(state_at(moves, at, Move.STATE, MORE))
    return busy[busy_place(busy, state)] == state


@inlined
def enter(frames: Words, moves: Words, busy: Words, ply: int, nodes: int) -> None:
    """Put the most promising move that is left on the path.

    Near the root, a move that another thread is searching is put off. The first move is not: its siblings are only
    worth searching if it fails (Tom Kerrigan's simplification of ABDADA, 2014).
    """
    first_slot, end_slot = frames[ply, Frame.FIRST], frames[ply, Frame.END]
    # Few moves are left, and each is chosen once, so a scan is faster than sorting them.
    top = first_slot
    for j in range(first_slot + 1, end_slot):
        if moves[j, Move.PROMISE] > moves[top, Move.PROMISE]:
            top = j
    if len(busy) > 1 and ply + 1 < SPLIT_PLIES:
        # More nodes than at the arrival: the first move was searched already, and failed.
        if nodes > frames[ply, Frame.NODES] and is_busy(busy, moves, top):
            for j in range(first_slot, end_slot):
                if moves[j, Move.PROMISE] != TAKEN and not is_busy(busy, moves, j):
                    top = j
                    break
        state = folded(state_at(moves, top, Move.STATE, MORE))
        busy[busy_place(busy, state)] = state
    moves[top, Move.PROMISE] = TAKEN
    frames[ply, Frame.LEFT] -= 1
    # The children of the next ply are written behind those of this one.
    frames[ply + 1, Frame.FIRST] = end_slot
    copy_row(frames, ply + 1, moves, top, Move.PROMISE, MORE)


@kernel
def prove(table: Words, frames: Words, moves: Words, busy: Words, search: Words, allowance: int) -> Any:
    """Search whether the state of frames[0] is worth at least its BOUND.

    If so, search[RESULT] is a lower bound of its merit, otherwise an upper bound.

    Args:
        table: (a power of two,) int64, shared by all threads.
        frames: (plies, FRAME) int64, the path.
        moves: (n, ROW) int64, the children of all plies of the path.
        busy: (a power of two,) int64, the states that threads are searching.
        search: (FIELDS,) int64, which outlives the call.
        allowance: Nodes after which to pause.

    Returns:
        DONE; OUTSIDE if the rules gave a bad number; PAUSED after `allowance` nodes, or NO_ROOM if an array is too
        small. After the last two, call it again with the same arguments, or larger arrays.
    """
    table, frames, moves, busy = borrowed(table), borrowed(frames), borrowed(moves), borrowed(busy)
    search = borrowed(search)
    ply, nodes = search[Field.PLY], search[Field.COUNT]
    stop = nodes + allowance
    while True:
        # Pause before a state is looked at, so that the path is whole and the call can be repeated.
        if nodes >= stop or ply + 2 >= len(frames) or frames[ply, Frame.FIRST] + WIDE > len(moves):
            search[Field.PLY], search[Field.COUNT] = ply, nodes
            return SearchStatus.PAUSED if nodes >= stop else SearchStatus.NO_ROOM
        nodes += 1
        result = arrive(table, frames, moves, ply, nodes)
        # The state is looked at again when there is room
        if result == FULL:
            search[Field.PLY], search[Field.COUNT] = ply, nodes - 1
            return SearchStatus.NO_ROOM
        # A settled state may settle its parent, and so on up the path.
        while result != LIMIT and result != FAR and ply > 0:
            ply -= 1
            result = go_back(table, frames, busy, search, ply, result, nodes)
        if result == FAR:
            search[Field.PLY], search[Field.COUNT] = ply, nodes
            return SearchStatus.OUTSIDE
        if result != LIMIT:
            search[Field.PLY], search[Field.ENTERING], search[Field.RESULT], search[Field.COUNT] = 0, 0, result, nodes
            return SearchStatus.DONE
        enter(frames, moves, busy, ply, nodes)
        ply += 1


@kernel
def solve(table: Words, frames: Words, moves: Words, busy: Words, search: Words, allowance: int) -> Any:
    """The exact merit of the state in frames[0]: search[LOW] == search[HIGH] when DONE.

    At first search[LOW] and search[HIGH] bound it, search[ASKED] is LIMIT and all other fields are 0.
    May return PAUSED, NO_ROOM or OUTSIDE, like `prove`.
    """
    if game.is_terminal(state_at(frames, 0, Frame.STATE, MORE)):
        search[Field.LOW] = search[Field.HIGH] = end_merit(state_at(frames, 0, Frame.STATE, MORE))
        return SearchStatus.OUTSIDE if search[Field.LOW] == FAR else SearchStatus.DONE
    longest = game.longest(state_at(frames, 0, Frame.STATE, MORE)) if LONGEST and not SCORES else np.int64(0)
    stop = search[Field.COUNT] + allowance
    while True:
        if search[Field.ENTERING] == 0 and search[Field.PLY] == 0:
            if search[Field.LOW] >= search[Field.HIGH]:
                return SearchStatus.DONE
            low, high, question_bound = search[Field.LOW], search[Field.HIGH], search[Field.ASKED]
            search[Field.ASKED] = frames[0, Frame.BOUND] = question(low, high, longest, question_bound, SCORES)
            search[Field.ENTERING] = 1
            frames[0, Frame.FIRST] = 0
        status = prove(table, frames, moves, busy, search, stop - search[Field.COUNT])
        if status != SearchStatus.DONE:
            return status
        if search[Field.RESULT] >= search[Field.ASKED]:
            search[Field.LOW] = max(search[Field.LOW], search[Field.RESULT])
        else:
            search[Field.HIGH] = min(search[Field.HIGH], search[Field.RESULT])
        if longest > 0:
            # no win or loss takes longer than the game; what bounds the question need not bound the merit
            if 0 < search[Field.HIGH] < WIN - longest and search[Field.LOW] <= 0:
                search[Field.HIGH] = 0
            if longest - WIN < search[Field.LOW] < 0 and search[Field.HIGH] >= 0:
                search[Field.LOW] = 0


SOON = (2, 3, 4, 5)  # tenths of the plies that are left


@register_jitable(forceinline=True)
def question(low: Any, high: Any, longest: Any, asked: Any, scores: bool) -> Any:
    """The bound to ask about next, low < bound <= high.

    First whether it is won, or lost, soon, each time a tenth of the plies that are left later, up to half of them: a
    shallow search tells. Then who wins, if anyone. Then how soon: halves of a quick win or loss, of a slow one from the
    slow end, near to the known bounds.

    asked: the bound asked before, LIMIT at first. longest: plies that the game can still take, 0 if unknown.
    """
    if low + 1 == high:
        return high
    if scores:
        if asked == LIMIT:
            return max(low + 1, min(np.int64(1), high))
        return low + 1 if asked <= low else high
    if low > 0:
        return low + 1 + (high - low - 1) // (2 if high == WIN else 4)
    if high < 0:
        return high - (high - low - 1) // (2 if low == -WIN else 4)
    if longest > 0:
        for tenths in SOON:
            quick = max((longest * tenths + 5) // 10, 1)
            if high >= WIN - quick:
                return WIN - quick
        for tenths in SOON:
            quick = max((longest * tenths + 5) // 10, 1)
            if low < quick - WIN:
                return quick - WIN
    return np.int64(1) if high > 0 else np.int64(0)
