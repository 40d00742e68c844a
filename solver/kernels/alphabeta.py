"""Alpha-beta by null windows with a fixed transposition table, for any acyclic game of the protocol.

A value is found by bisection: each `prove` asks whether a state is worth at least a bound, and every state below it
is searched with that null window only (Pascal Pons, Solving Connect 4, 2017; the order of the questions, extremes
first, is his too: a question about a quick win looks only a few plies deep). The table keeps for a state both bounds
proven so far and the cost of proving them; of two entries in a bucket the cheaper one makes way. Keys are stored
xor-ed with their data (Hyatt and Mann, ICGA Journal 25(1), 2002), so threads may share a table without locks: a torn
entry matches no key. All children are probed before one is searched.

What the rules may add: `replies` and `outlook` (forced moves, quick ends), `promise` (order), `bounds`, `longest`.
Cost: 70-100 ns a node in connect-four 7x6 while the table fits the cache, which is why it starts small and grows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from solver import value
from solver.kernels.compiled import inlined, kernel

game: Any = None  # constants of the bound copies
SCORES = ALTERNATES = FOLDS = REPLIES = OUTLOOK = BOUNDS = LONGEST = False

lift = register_jitable(value.lift)
drop = register_jitable(value.drop)

WIN = (1 << 23) - 1  # the merit of a win now
LIMIT = 1 << 23  # above all merits; bounds are stored with this offset in 24 bits each
LOW_BITS = (1 << 24) - 1
WORK_SHIFT = 48  # log2 of the nodes that an entry cost
SPLIT_PLIES = 20  # threads that search one state share their work as deep as this
EMPTY = -1  # key xor data of an entry that no state has

# columns of `frames`: a ply of the path; `moves` holds the children of all plies of the path one after another
STATE, BOUND, KEY, BEST, FIRST, NEXT, END, NODES, SAME = range(9)
FRAME = 9
# fields of `search`, which outlives a call: a call that ran out of its allowance goes on where it stopped
PLY, ENTERING, RESULT, COUNT, LOW, HIGH, ASKED = range(7)
FIELDS = 7
# what `solve` and `prove` return; CROWDED: give `frames` or `moves` more rows; OUTSIDE: frames[search[PLY]] or a child
# of it is worth more than an entry of the table holds
PAUSED, DONE, CROWDED, OUTSIDE = range(4)
FAR = 1 << 30  # what stands for a merit outside -WIN..WIN
SLOW = 1 << 22  # above the plies that an ended game may still take, and the plies of a path


@register_jitable(forceinline=True)
def bucket_of(key, slots):
    """The first word of a bucket: two entries of two words each. slots is a power of two, two a bucket."""
    mixed = key * np.int64(-7046029254386353131)
    return (mixed >> 20 ^ mixed >> 42) & slots - 2 << 1


@register_jitable(forceinline=True)
def busy_place(busy, state):
    """Where a state that is being searched is noted."""
    mixed = state * np.int64(-7046029254386353131)
    return mixed >> 30 & len(busy) - 1


@register_jitable(forceinline=True)
def find(table, key):
    """The first word of the entry of a key, or -1."""
    at = bucket_of(key, len(table) >> 1)
    if table[at] ^ table[at + 1] == key:
        return at
    if table[at + 2] ^ table[at + 3] == key:
        return at + 2
    return -1


@register_jitable(forceinline=True)
def low_of(data):
    """The proven lower bound in an entry's data."""
    return (data & LOW_BITS) - LIMIT


@register_jitable(forceinline=True)
def high_of(data):
    """The proven upper bound in an entry's data."""
    return (data >> 24 & LOW_BITS) - LIMIT


@register_jitable
def keep(table, key, low, high, work):
    """Store bounds, joined with what is known; of the bucket's entries the one that cost less makes way."""
    at = find(table, key)
    if at >= 0:
        data = table[at + 1]
        low, high = max(low, low_of(data)), min(high, high_of(data))
        work = max(work, data >> WORK_SHIFT)
    else:
        at = bucket_of(key, len(table) >> 1)
        if work >= table[at + 1] >> WORK_SHIFT:
            table[at + 2] = table[at]
            table[at + 3] = table[at + 1]
        else:
            at += 2
    data = low + LIMIT | high + LIMIT << 24 | work << WORK_SHIFT
    table[at + 1] = data
    table[at] = key ^ data


@kernel
def rehash(old, new):
    """Carry all entries of a table over into an empty one."""
    for at in range(0, len(old), 2):
        if old[at] != EMPTY or old[at + 1] != 0:
            data = old[at + 1]
            keep(new, old[at] ^ data, low_of(data), high_of(data), data >> WORK_SHIFT)


@inlined
def key_of(state):
    """The state that stands for its symmetric ones in the table."""
    return game.canonical(state) if FOLDS else state


@inlined
def best_possible():
    """The largest merit of a state that the static look-ahead leaves open."""
    if SCORES:
        return WIN
    return WIN - 3 if OUTLOOK else WIN - 1


@inlined
def worst_possible():
    """The least merit of a state that the static look-ahead leaves open."""
    if SCORES:
        return -WIN
    return 4 - WIN if OUTLOOK else 1 - WIN


@inlined
def end_merit(state):
    """A terminal state's merit, or FAR."""
    utility = game.utility(state)
    if SCORES:
        return utility if -WIN <= utility <= WIN else FAR
    left = game.plies_left(state)
    return utility * (WIN - left) if -1 <= utility <= 1 and 0 <= left < SLOW else FAR


@inlined
def settle(state, bound):
    """A bound on the state's merit that answers whether it is at least `bound` without search, or LIMIT, or FAR."""
    if OUTLOOK:
        # a draw may end the game with any move; wins and losses were foreseen
        if game.is_terminal(state):
            return end_merit(state)
        outlook = game.outlook(state)
        if outlook > 0:
            return 1 if SCORES else WIN - 1
        if outlook < 0:
            return -1 if SCORES else 2 - WIN
    if BOUNDS:
        lower, upper = game.bounds(state)
        if not SCORES:  # a win is worth at least the slowest
            slowest = WIN - game.longest(state) if LONGEST else 0
            lower = slowest if lower > 0 else 0 if lower == 0 else -WIN
            upper = -slowest if upper < 0 else 0 if upper == 0 else WIN
        if lower >= bound:
            return lower if lower <= WIN else FAR
        if upper < bound:
            return upper if upper >= -WIN else FAR
    if bound > best_possible():
        return best_possible()
    if bound <= worst_possible():
        return worst_possible()
    return LIMIT


@inlined
def insert(moves, first, last, child, promise, same):
    """Put a child among moves[first:last], (n, 3) int64: child, promise, same mover; most promising first."""
    at = last
    while at > first and moves[at - 1, 1] < promise:
        moves[at, 0] = moves[at - 1, 0]
        moves[at, 1] = moves[at - 1, 1]
        moves[at, 2] = moves[at - 1, 2]
        at -= 1
    moves[at, 0] = child
    moves[at, 1] = promise
    moves[at, 2] = same


@kernel
def prove(table, frames, moves, busy, search, allowance):
    """Whether the state of frames[0] is worth at least its BOUND: search[RESULT] is then a lower bound, else upper.

    table (2 * slots,) int64, frames (plies, FRAME) int64, moves (n, 3) int64, busy (a power of two,) int64,
    search (FIELDS,) int64. Returns PAUSED after `allowance` nodes or CROWDED, to be called again with the same
    arguments, or DONE, or OUTSIDE.
    """
    ply = search[PLY]
    entering = search[ENTERING]
    result = search[RESULT]
    nodes = search[COUNT]
    stop = nodes + allowance
    while True:
        if entering:
            if nodes >= stop or ply + 2 >= len(frames) or frames[ply, FIRST] + 512 > len(moves):
                search[PLY], search[ENTERING], search[COUNT] = ply, 1, nodes
                return PAUSED if nodes >= stop else CROWDED
            nodes += 1
            state = frames[ply, STATE]
            bound = frames[ply, BOUND]
            first = frames[ply, FIRST]
            last = first
            best = -LIMIT
            key = np.int64(-1)
            result = settle(state, bound)
            if result == FAR:
                search[PLY], search[COUNT] = ply, nodes
                return OUTSIDE
            if result != LIMIT:
                entering = 0
            else:
                choices: Any = game.replies(state) if REPLIES else 3
                if choices & choices - 1:  # a forced move is made, neither looked up nor stored
                    key = key_of(state)
                    at = find(table, key)
                    if at >= 0:
                        data = table[at + 1]
                        if low_of(data) >= bound:
                            result = low_of(data)
                            entering = 0
                        elif high_of(data) < bound:
                            result = high_of(data)
                            entering = 0
            if entering:
                if REPLIES:
                    while choices:
                        action = (choices & -choices).bit_length() - 1
                        choices &= choices - 1
                        insert(moves, first, last, game.result(state, action), game.promise(state, action), 0)
                        last += 1
                else:
                    for action in game.actions(state):
                        child = game.result(state, action)
                        same = 0
                        if not ALTERNATES:
                            same = 1 if game.to_move(child) == game.to_move(state) else 0
                        if not OUTLOOK and game.is_terminal(child):
                            merit = end_merit(child)
                            if merit == FAR:
                                search[PLY], search[COUNT] = ply, nodes
                                return OUTSIDE
                            best = max(best, lift(merit, same == 1, SCORES))
                            if best >= bound:
                                break
                            continue
                        if last >= len(moves):
                            # more than 512 moves: expand this state again when there is room
                            search[PLY], search[ENTERING], search[COUNT] = ply, 1, nodes - 1
                            return CROWDED
                        insert(moves, first, last, child, game.promise(state, action), same)
                        last += 1
                if best >= bound or last == first:
                    result = best
                    entering = 0
                elif last - first > 1:
                    known, last = last, first
                    for j in range(first, known):
                        at = find(table, key_of(moves[j, 0]))
                        if at >= 0:
                            data = table[at + 1]
                            same = moves[j, 2] == 1
                            seen = lift(low_of(data) if same else high_of(data), same, SCORES)
                            if seen >= bound:
                                result = seen
                                entering = 0
                                break
                            seen = lift(high_of(data) if same else low_of(data), same, SCORES)
                            if seen < bound:  # this child cannot do it
                                best = max(best, seen)
                                continue
                        moves[last, 0] = moves[j, 0]
                        moves[last, 2] = moves[j, 2]
                        last += 1
                    if entering and last == first:
                        result = best
                        entering = 0
                        keep(table, key, -WIN, best, 1)
            if entering:
                frames[ply, KEY] = key
                frames[ply, BEST] = best
                frames[ply, END] = last
                frames[ply, NODES] = nodes
                frames[ply, NEXT] = first
                ply += 1
                enter_next(frames, moves, busy, ply)
                continue
        # leave the state with its result
        while True:
            if ply == 0:
                search[PLY], search[ENTERING], search[RESULT], search[COUNT] = 0, 0, result, nodes
                return DONE
            same = frames[ply, SAME] == 1
            if len(busy) > 1 and ply < SPLIT_PLIES:
                place = busy_place(busy, frames[ply, STATE])
                if busy[place] == frames[ply, STATE]:
                    busy[place] = EMPTY
            ply -= 1
            best = max(frames[ply, BEST], lift(result, same, SCORES))
            bound = frames[ply, BOUND]
            if best < bound and frames[ply, NEXT] < frames[ply, END]:
                frames[ply, BEST] = best
                ply += 1
                enter_next(frames, moves, busy, ply)
                entering = 1
                break
            result = best
            if frames[ply, KEY] >= 0:
                work = (nodes - frames[ply, NODES]).bit_length()
                if best >= bound:
                    keep(table, frames[ply, KEY], best, WIN, work)
                else:
                    keep(table, frames[ply, KEY], -WIN, best, work)


@inlined
def enter_next(frames, moves, busy, ply):
    """Set up frames[ply] for the next child of the ply above.

    Near the root a child that another thread is searching is put off, but for the first: its brothers are only worth
    the while if it fails (Tom Kerrigan's simplification of ABDADA, 2014).
    """
    j = frames[ply - 1, NEXT]
    if len(busy) > 1 and ply < SPLIT_PLIES:
        last = frames[ply - 1, END]
        if j > frames[ply - 1, FIRST]:
            for i in range(j, last):
                if busy[busy_place(busy, moves[i, 0])] != moves[i, 0]:
                    moves[i, 0], moves[j, 0] = moves[j, 0], moves[i, 0]
                    moves[i, 2], moves[j, 2] = moves[j, 2], moves[i, 2]
                    break
        busy[busy_place(busy, moves[j, 0])] = moves[j, 0]
    frames[ply - 1, NEXT] = j + 1
    same = moves[j, 2]
    frames[ply, STATE] = moves[j, 0]
    frames[ply, SAME] = same
    bound = frames[ply - 1, BOUND]
    frames[ply, BOUND] = drop(bound, True, SCORES) if same == 1 else drop(bound, False, SCORES) + 1
    frames[ply, FIRST] = frames[ply - 1, END]


@inlined
def question(low, high, longest, asked):
    """The bound to ask about next, low < bound <= high: quick wins and quick losses first.

    longest: plies that the game can still take, 0 if unknown.
    """
    if SCORES:
        if asked == LIMIT:
            return max(low + 1, min(np.int64(1), high))
        return low + 1 if asked <= low else high
    if low > 0:
        return WIN - (2 * WIN - high - low) // 2
    if high < 0:
        return (2 * WIN + low + high + 1) // 2 - WIN
    if longest == 0:
        return np.int64(1) if high > 0 else np.int64(0)
    # places: 1 is the slowest win, -1 the slowest loss, 0 a draw
    most = longest - (WIN - high) + 1 if high > 0 else 0
    least = (WIN + low) - longest - 1 if low < 0 else 0
    middle = least + (most - least) // 2
    if middle <= 0 and least // 2 < middle:
        middle = -(-least // 2)
    elif middle >= 0 and most // 2 > middle:
        middle = most // 2
    place = middle + 1
    if place > 0:
        return WIN - (longest - place + 1)
    return 0 if place == 0 else (longest + place + 1) - WIN


@kernel
def solve(table, frames, moves, busy, search, allowance):
    """The exact merit of the state in frames[0]: search[LOW] == search[HIGH] when DONE.

    At first search[LOW] and search[HIGH] bound it, search[ASKED] is LIMIT and all other fields are 0.
    May return PAUSED, CROWDED or OUTSIDE, like `prove`.
    """
    if game.is_terminal(frames[0, STATE]):
        search[LOW] = search[HIGH] = end_merit(frames[0, STATE])
        return OUTSIDE if search[LOW] == FAR else DONE
    longest = game.longest(frames[0, STATE]) if LONGEST and not SCORES else np.int64(0)
    stop = search[COUNT] + allowance
    while True:
        if search[ENTERING] == 0 and search[PLY] == 0:
            if search[LOW] >= search[HIGH]:
                return DONE
            search[ASKED] = frames[0, BOUND] = question(search[LOW], search[HIGH], longest, search[ASKED])
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
            # no win or loss takes longer than the game
            if 0 < search[HIGH] < WIN - longest:
                search[HIGH] = 0
            if longest - WIN < search[LOW] < 0:
                search[LOW] = 0
