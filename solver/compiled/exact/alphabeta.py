"""Alpha-beta by null windows with a transposition table, for any acyclic game of the protocol.

A value is found by bisection: each `prove` asks whether a state is worth at least a bound, and every state below it
is searched with that null window only (Pascal Pons, Solving Connect 4, 2017); `windows` has their order.

Every child is settled by what the rules say of it, if that answers, before any is searched; where it leaves a single
reply, that is played on, without a node, until there is a choice. Then the table is asked about all children that are
left, and only then the most promising of them is searched. Near the end of a game, where a search costs less than a
look into memory, each is looked up when its turn comes.

A node is a state with a choice, unsettled. Cost in connect-four 7x6: 100-250 ns a node. The parts of the loop go into
it, and their arrays are without owners: counted as referred to, they would cost a tenth of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.compiled.binding import inlined, kernel
from solver.compiled.exact.moves import FAR, end_merit, key_of, lifted, look_at, settle_first
from solver.compiled.exact.table import IDLE, LIMIT, WIN, bucket_of, busy_place, find, high_of, keep, low_of
from solver.compiled.exact.windows import question
from solver.compiled.states import BEYOND, COLUMNS, folded, is_missing, put_state, state_at
from solver.compiled.views import borrowed
from solver.store.prefetch import prefetch_at

game: Any = None  # constants of the bound copies
SCORES = REPLIES = LONGEST = False
MORE = ()

SPLIT_PLIES = 20  # threads that search one state share their work as deep as this
PROBED = 10  # plies left, as far as the rules say, from which on all children are looked up before one is searched
TAKEN = -(1 << 63)  # the promise of a move that needs no search any more
WIDE = 512  # rows of `moves` that a state finds free

# columns of `moves`, the children of all plies of the path one after another: `SIGN` and `AWAY` are what `lifted`
# takes, `BOUND` what is asked of the child, `CHOICES` its replies
STATE, KEY, CHOICES, SIGN, AWAY, BOUND, PROMISE = range(7)
ROW = 8
# columns of `frames`, the plies of the path: those of the child's row, then
BEST, FIRST, END, LEFT, NODES = range(6, 11)
FRAME = 12
# fields of `search`, which outlives a call: a call that ran out of its allowance goes on where it stopped
PLY, ENTERING, RESULT, COUNT, LOW, HIGH, ASKED, KEPT = range(8)  # COUNT: nodes; KEPT: entries
FIELDS = 8
# what `solve` and `prove` return; CROWDED: give `frames` or `moves` more rows; OUTSIDE: frames[search[PLY]] or a child
# of it is worth more than an entry of the table holds
PAUSED, DONE, CROWDED, OUTSIDE = range(4)
FULL = FAR + 1  # in place of a merit: `moves` has too few rows


@inlined
def put(moves, at, child, key, choices, asked, promise):
    """Write a row of `moves`; what is asked of the child: sign, plies away, bound."""
    sign, away, bound = asked
    put_state(moves, at, STATE, child, MORE)
    put_state(moves, at, KEY, key, MORE)
    put_state(moves, at, CHOICES, choices, MORE)
    moves[at, SIGN] = sign
    moves[at, AWAY] = away
    moves[at, BOUND] = bound
    moves[at, PROMISE] = promise


@inlined
def looked_up(table, key, bound):
    """What the table says of a state that answers whether it is worth at least `bound`: a bound on its merit; or LIMIT.
    """
    data = find(table, key)
    if data:
        if low_of(data) >= bound:
            return low_of(data)
        if high_of(data) < bound:
            return high_of(data)
    return LIMIT


@inlined
def consider(table, moves, state, action, bound, best, at, probed):
    """Take an action's child for `best`, where it is settled, or else for row `at` of `moves`: what both are then."""
    merit, child, replies, sign, away, asked, promise = look_at(state, action, bound)
    if merit != LIMIT:
        return max(best, merit), at
    key = np.int64(-1)
    if probed:
        key = key_of(child)
        prefetch_at(np.int64(table.ctypes.data) + 8 * bucket_of(key, len(table)))
    put(moves, at, child, key, replies, (sign, away, asked), promise)
    return best, at + 1


@inlined
def list_children(table, moves, state, choices, bound, first, probed):
    """The best merit of the settled children, and the end of moves[first:], the others; -1 if there is no room."""
    best, last = np.int64(-LIMIT), first
    if REPLIES:
        while choices and best < bound:
            action = (choices & -choices).bit_length() - 1
            choices &= choices - 1
            best, last = consider(table, moves, state, action, bound, best, last, probed)
    else:
        for action in game.actions(state):
            if last >= len(moves):  # more than WIDE moves
                return best, np.int64(-1)
            best, last = consider(table, moves, state, action, bound, best, last, probed)
            if best >= bound:
                break
    return best, last


@inlined
def probe_children(table, moves, bound, best, first, last):
    """`best` with what the table knows of moves[first:last], and how many of them are left to be searched."""
    left = last - first
    for j in range(first, last):
        known = looked_up(table, state_at(moves, j, KEY, MORE), moves[j, BOUND])
        if known != LIMIT:
            best = max(best, lifted(known, moves[j, SIGN], moves[j, AWAY]))
            if best >= bound:
                break
            moves[j, PROMISE] = TAKEN
            left -= 1
    return best, left


@inlined
def arrive(table, frames, moves, ply, nodes):
    """Look at the state of frames[ply]: a result, or LIMIT where moves[FIRST:END] have to be searched, or FULL."""
    state, key = state_at(frames, ply, STATE, MORE), state_at(frames, ply, KEY, MORE)
    bound, first = frames[ply, BOUND], frames[ply, FIRST]
    choices = state_at(frames, ply, CHOICES, MORE)
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
    probed = not LONGEST or game.longest(state) >= PROBED
    best, last = list_children(table, moves, state, choices, bound, first, probed)
    if last < 0:
        return FULL
    left = last - first
    if best >= bound or left == 0:
        return best
    if probed and left > 1:
        best, left = probe_children(table, moves, bound, best, first, last)
        if best >= bound:
            return best
        if left == 0:
            keep(table, key, -WIN, best, 1)
            return best
    put_state(frames, ply, KEY, key, MORE)
    frames[ply, BEST] = best
    frames[ply, END] = last
    frames[ply, LEFT] = left
    frames[ply, NODES] = nodes
    return LIMIT


@inlined
def go_back(table, frames, busy, search, ply, result, nodes):
    """Take the result of the next ply's state back to that of frames[ply]: its result, or LIMIT if moves are left."""
    if len(busy) > 1 and ply + 1 < SPLIT_PLIES:
        state = folded(state_at(frames, ply + 1, STATE, MORE))
        place = busy_place(busy, state)
        if busy[place] == state:
            busy[place] = IDLE
    result = max(frames[ply, BEST], lifted(result, frames[ply + 1, SIGN], frames[ply + 1, AWAY]))
    bound = frames[ply, BOUND]
    if result < bound and frames[ply, LEFT] > 0:
        frames[ply, BEST] = result
        return LIMIT
    if result != FAR:
        search[KEPT] += 1
        work = int(nodes - frames[ply, NODES]).bit_length()
        if result >= bound:
            keep(table, state_at(frames, ply, KEY, MORE), result, WIN, work)
        else:
            keep(table, state_at(frames, ply, KEY, MORE), -WIN, result, work)
    return result


@inlined
def is_busy(busy, moves, at):
    """Whether a thread is at the state of a row."""
    state = folded(state_at(moves, at, STATE, MORE))
    return busy[busy_place(busy, state)] == state


@inlined
def enter(frames, moves, busy, ply, nodes):
    """Put the most promising move that is left on the path.

    Near the root one that another thread is at is put off, but for the first, whose brothers are only worth the while
    if it fails (Tom Kerrigan's simplification of ABDADA, 2014).
    """
    first, last = frames[ply, FIRST], frames[ply, END]
    top = first
    for j in range(first + 1, last):
        if moves[j, PROMISE] > moves[top, PROMISE]:
            top = j
    if len(busy) > 1 and ply + 1 < SPLIT_PLIES:
        if nodes > frames[ply, NODES] and is_busy(busy, moves, top):
            for j in range(first, last):
                if moves[j, PROMISE] != TAKEN and not is_busy(busy, moves, j):
                    top = j
                    break
        state = folded(state_at(moves, top, STATE, MORE))
        busy[busy_place(busy, state)] = state
    moves[top, PROMISE] = TAKEN
    frames[ply, LEFT] -= 1
    frames[ply + 1, FIRST] = last
    for field in range(PROMISE):
        frames[ply + 1, field] = moves[top, field]
    for field in range(BEYOND, BEYOND + COLUMNS * len(MORE)):
        frames[ply + 1, field] = moves[top, field]


@kernel
def prove(table, frames, moves, busy, search, allowance):
    """Whether the state of frames[0] is worth at least its BOUND: search[RESULT] is then a lower bound, else upper.

    table (a power of two,) int64, frames (plies, FRAME) int64, moves (n, ROW) int64, busy (a power of two,) int64,
    search (FIELDS,) int64. Returns PAUSED after `allowance` nodes or CROWDED, to be called again with the same
    arguments, or DONE, or OUTSIDE.
    """
    table, frames, moves, busy = borrowed(table), borrowed(frames), borrowed(moves), borrowed(busy)
    search = borrowed(search)
    ply, nodes = search[PLY], search[COUNT]
    stop = nodes + allowance
    while True:
        if nodes >= stop or ply + 2 >= len(frames) or frames[ply, FIRST] + WIDE > len(moves):
            search[PLY], search[COUNT] = ply, nodes
            return PAUSED if nodes >= stop else CROWDED
        nodes += 1
        result = arrive(table, frames, moves, ply, nodes)
        if result == FULL:  # the state is looked at again when there is room
            search[PLY], search[COUNT] = ply, nodes - 1
            return CROWDED
        while result != LIMIT and result != FAR and ply > 0:
            ply -= 1
            result = go_back(table, frames, busy, search, ply, result, nodes)
        if result == FAR:
            search[PLY], search[COUNT] = ply, nodes
            return OUTSIDE
        if result != LIMIT:
            search[PLY], search[ENTERING], search[RESULT], search[COUNT] = 0, 0, result, nodes
            return DONE
        enter(frames, moves, busy, ply, nodes)
        ply += 1


@kernel
def solve(table, frames, moves, busy, search, allowance):
    """The exact merit of the state in frames[0]: search[LOW] == search[HIGH] when DONE.

    At first search[LOW] and search[HIGH] bound it, search[ASKED] is LIMIT and all other fields are 0.
    May return PAUSED, CROWDED or OUTSIDE, like `prove`.
    """
    if game.is_terminal(state_at(frames, 0, STATE, MORE)):
        search[LOW] = search[HIGH] = end_merit(state_at(frames, 0, STATE, MORE))
        return OUTSIDE if search[LOW] == FAR else DONE
    longest = game.longest(state_at(frames, 0, STATE, MORE)) if LONGEST and not SCORES else np.int64(0)
    stop = search[COUNT] + allowance
    while True:
        if search[ENTERING] == 0 and search[PLY] == 0:
            if search[LOW] >= search[HIGH]:
                return DONE
            search[ASKED] = frames[0, BOUND] = question(search[LOW], search[HIGH], longest, search[ASKED], SCORES)
            search[ENTERING] = 1
            frames[0, FIRST] = 0
        status = prove(table, frames, moves, busy, search, stop - search[COUNT])
        if status != DONE:
            return status
        if search[RESULT] >= search[ASKED]:
            search[LOW] = max(search[LOW], search[RESULT])
        else:
            search[HIGH] = min(search[HIGH], search[RESULT])
        if longest > 0:
            # no win or loss takes longer than the game; what bounds the question need not bound the merit
            if 0 < search[HIGH] < WIN - longest and search[LOW] <= 0:
                search[HIGH] = 0
            if longest - WIN < search[LOW] < 0 and search[HIGH] >= 0:
                search[LOW] = 0
