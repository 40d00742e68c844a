"""Alpha-beta by null windows with a transposition table, for any acyclic game of the protocol.

A value is found by bisection: each `prove` asks whether a state is worth at least a bound, and every state below it
is searched with that null window only (Pascal Pons, Solving Connect 4, 2017); `windows` has their order.

Every child is settled by what the rules say of it, if that answers, before any is searched; where it leaves a single
reply, that is played on, without a node, until there is a choice. Then the table is asked about all children that are
left, and only then the most promising of them is searched. Near the end of a game, where a search costs less than a
look into memory, each is looked up when its turn comes.

What the rules may add: `replies` and `outlook` (forced moves, quick ends), `followup`, `promise` (order), `bounds`,
`longest`. A node is a state with a choice, unsettled. Cost in connect-four 7x6: 100-250 ns a node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from solver.base import value
from solver.compiled.binding import inlined, kernel
from solver.compiled.exact.table import IDLE, LIMIT, WIN, bucket_of, busy_place, find, high_of, keep, low_of
from solver.compiled.exact.windows import question
from solver.store.prefetch import prefetch_at

game: Any = None  # constants of the bound copies
SCORES = ALTERNATES = AGAIN = REWARD = FOLDS = REPLIES = OUTLOOK = FOLLOWUP = BOUNDS = LONGEST = False

lift = register_jitable(value.lift)
drop = register_jitable(value.drop)

SPLIT_PLIES = 20  # threads that search one state share their work as deep as this
PROBED = 10  # plies left, as far as the rules say, from which on all children are looked up before one is searched
FORCED = 64  # single replies that are played on at most, lest a game with cycles goes on for ever
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
FAR = 1 << 30  # what stands for a merit outside -WIN..WIN
SLOW = 1 << 22  # above the plies that an ended game may still take, and the plies of a path


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
def lifted(merit, sign, away):
    """A merit as an earlier state sees it: `sign` is 1 if the same player moves there, else -1.

    away: the plies between; in a score game what that player gains on the way.
    """
    if not SCORES:
        return lift(merit, sign > 0, False, away)
    merit = sign * merit + away
    return FAR if REWARD and not -WIN <= merit <= WIN else merit


@inlined
def dropped(bound, sign, away):
    """What is asked of a state, where `lifted` is asked whether it is at least `bound`."""
    if not SCORES:
        return drop(bound, True, False, away) if sign > 0 else drop(bound, False, False, away) + 1
    return bound - away if sign > 0 else away - bound + 1


@inlined
def settle(state, bound, foreseen):
    """What answers without search whether a state is worth at least `bound`: a bound on its merit, or FAR.

    If nothing does, LIMIT; then its replies. `foreseen`: a reply led here.
    """
    if REWARD and not -WIN < bound <= WIN:
        return FAR, 0
    if not (REPLIES and OUTLOOK) and game.is_terminal(state):
        return end_merit(state), 0
    choices = 0
    if OUTLOOK:
        outlook = game.followup(state) if FOLLOWUP and foreseen else game.outlook(state)
        if outlook > 0:
            return 1 if SCORES else WIN - 1, 0
        if outlook < 0:
            return -1 if SCORES else 2 - WIN, 0
    if REPLIES:
        choices = game.replies(state)
        if OUTLOOK and choices == 0 and game.is_terminal(state):  # a draw: wins and losses were foreseen
            return end_merit(state), 0
    if bound > best_possible():
        return best_possible(), 0
    if bound <= worst_possible():
        return worst_possible(), 0
    if BOUNDS:
        lower, upper = game.bounds(state)
        if not SCORES:  # a win is worth at least the slowest
            slowest = WIN - game.longest(state) if LONGEST else 0
            lower = slowest if lower > 0 else 0 if lower == 0 else -WIN
            upper = -slowest if upper < 0 else 0 if upper == 0 else WIN
        if lower >= bound:
            return lower if lower <= WIN else FAR, 0
        if upper < bound:
            return upper if upper >= -WIN else FAR, 0
    return LIMIT, choices


@kernel
def settle_first(state, bound):
    """`settle` for the state that is asked about."""
    return settle(state, bound, False)


@inlined
def sign_of(state, action, child):
    """1 if the same player moves again, else -1."""
    if AGAIN:
        return 1 if game.again(state, action) else -1
    if ALTERNATES:
        return -1
    return 1 if game.to_move(child) == game.to_move(state) else -1


@inlined
def gained(state, action):
    """The plies that an action takes; in a score game what it scores, or FAR."""
    if not REWARD:
        return 0 if SCORES else 1
    gain = game.reward(state, action)
    return gain if -WIN <= gain <= WIN else FAR


@inlined
def look_at(state, action, bound):
    """The merit that an action gives a state, where its child is settled, or FAR; else LIMIT. Then what `moves` holds.

    That is the child, its replies, sign, away, and what is asked of it. Where only one reply is left, the child is
    what comes after it.
    """
    child = game.result(state, action)
    sign = sign_of(state, action, child)
    away = gained(state, action)
    if REWARD and away == FAR:
        return FAR, child, 0, sign, away, bound, 0
    asked = dropped(bound, sign, away)
    merit, choices = settle(child, asked, True)
    promise = game.promise(state, action)
    if REPLIES:
        played = 1
        while merit == LIMIT and choices & choices - 1 == 0 and played < FORCED:
            reply = choices.bit_length() - 1
            after = game.result(child, reply)
            away += sign * gained(child, reply) if SCORES else 1
            sign *= sign_of(child, reply, after)
            child = after
            if REWARD and not -WIN <= away <= WIN:
                return FAR, child, 0, sign, away, bound, 0
            asked = dropped(bound, sign, away)
            merit, choices = settle(child, asked, True)
            played += 1
    if merit != LIMIT and merit != FAR:
        merit = lifted(merit, sign, away)
    return merit, child, choices, sign, away, asked, promise


@inlined
def put(moves, at, child, key, choices, asked, promise):
    """Write a row of `moves`; what is asked of the child: sign, plies away, bound."""
    sign, away, bound = asked
    moves[at, STATE] = child
    moves[at, KEY] = key
    moves[at, CHOICES] = choices
    moves[at, SIGN] = sign
    moves[at, AWAY] = away
    moves[at, BOUND] = bound
    moves[at, PROMISE] = promise


@kernel
def prove(table, frames, moves, busy, search, allowance):
    """Whether the state of frames[0] is worth at least its BOUND: search[RESULT] is then a lower bound, else upper.

    table (a power of two,) int64, frames (plies, FRAME) int64, moves (n, ROW) int64, busy (a power of two,) int64,
    search (FIELDS,) int64. Returns PAUSED after `allowance` nodes or CROWDED, to be called again with the same
    arguments, or DONE, or OUTSIDE.

    It is long because arrays that are handed to a function with branches are counted as referred to, which costs a
    tenth of the time.
    """
    ply, nodes = search[PLY], search[COUNT]
    stop = nodes + allowance
    address, words = np.int64(table.ctypes.data), len(table)
    while True:
        # look at the state of frames[ply]: either there is a result, or moves[first:last] are left to be searched
        first = frames[ply, FIRST]
        if nodes >= stop or ply + 2 >= len(frames) or first + WIDE > len(moves):
            search[PLY], search[COUNT] = ply, nodes
            return PAUSED if nodes >= stop else CROWDED
        nodes += 1
        state = frames[ply, STATE]
        bound = frames[ply, BOUND]
        key = frames[ply, KEY]
        choices = frames[ply, CHOICES]
        last = first
        best = -LIMIT
        result = LIMIT
        if ply == 0:
            key = np.int64(-1)
            result, choices = settle_first(state, bound)
        if result == LIMIT:
            if key < 0:
                key = key_of(state)
            at = find(table, key)
            if at >= 0:
                data = table[at + 1]
                if low_of(data) >= bound:
                    result = low_of(data)
                elif high_of(data) < bound:
                    result = high_of(data)
        if result == LIMIT:
            probed = not LONGEST or game.longest(state) >= PROBED
            if REPLIES:
                while choices:
                    action = (choices & -choices).bit_length() - 1
                    choices &= choices - 1
                    merit, child, replies, sign, away, asked, promise = look_at(state, action, bound)
                    if merit != LIMIT:
                        best = max(best, merit)
                        if best >= bound:
                            break
                        continue
                    code = key_of(child) if probed else np.int64(-1)
                    if probed:
                        prefetch_at(address + 8 * bucket_of(code, words))
                    put(moves, last, child, code, replies, (sign, away, asked), promise)
                    last += 1
            else:
                for action in game.actions(state):
                    if last >= len(moves):
                        # more than WIDE moves: look at this state again when there is room
                        search[PLY], search[COUNT] = ply, nodes - 1
                        return CROWDED
                    merit, child, replies, sign, away, asked, promise = look_at(state, action, bound)
                    if merit != LIMIT:
                        best = max(best, merit)
                        if best >= bound:
                            break
                        continue
                    code = key_of(child) if probed else np.int64(-1)
                    if probed:
                        prefetch_at(address + 8 * bucket_of(code, words))
                    put(moves, last, child, code, replies, (sign, away, asked), promise)
                    last += 1
            left = last - first
            if best >= bound or left == 0:
                result = best
            elif probed and left > 1:
                for j in range(first, last):
                    at = find(table, moves[j, KEY])
                    if at >= 0:
                        data = table[at + 1]
                        asked = moves[j, BOUND]
                        if low_of(data) >= asked or high_of(data) < asked:
                            known = low_of(data) if low_of(data) >= asked else high_of(data)
                            best = max(best, lifted(known, moves[j, SIGN], moves[j, AWAY]))
                            if best >= bound:
                                break
                            moves[j, PROMISE] = TAKEN
                            left -= 1
                if best >= bound:
                    result = best
                elif left == 0:
                    result = best
                    keep(table, key, -WIN, best, 1)
        if result == LIMIT:
            frames[ply, KEY] = key
            frames[ply, BEST] = best
            frames[ply, END] = last
            frames[ply, LEFT] = left
            frames[ply, NODES] = nodes
        # go back to the first state with moves left that its result leaves open
        while result != LIMIT:
            if result == FAR:
                search[PLY], search[COUNT] = ply, nodes
                return OUTSIDE
            if ply == 0:
                search[PLY], search[ENTERING], search[RESULT], search[COUNT] = 0, 0, result, nodes
                return DONE
            if len(busy) > 1 and ply < SPLIT_PLIES:
                place = busy_place(busy, frames[ply, STATE])
                if busy[place] == frames[ply, STATE]:
                    busy[place] = IDLE
            result = max(frames[ply - 1, BEST], lifted(result, frames[ply, SIGN], frames[ply, AWAY]))
            ply -= 1
            bound = frames[ply, BOUND]
            if result < bound and frames[ply, LEFT] > 0:
                frames[ply, BEST] = result
                result = LIMIT
            elif result != FAR:
                search[KEPT] += 1
                work = (nodes - frames[ply, NODES]).bit_length()
                if result >= bound:
                    keep(table, frames[ply, KEY], result, WIN, work)
                else:
                    keep(table, frames[ply, KEY], -WIN, result, work)
        # enter the most promising move that is left; near the root one that another thread is at is put off, but for
        # the first, whose brothers are only worth the while if it fails (Tom Kerrigan's simplification of ABDADA, 2014)
        first, last = frames[ply, FIRST], frames[ply, END]
        top = first
        for j in range(first + 1, last):
            if moves[j, PROMISE] > moves[top, PROMISE]:
                top = j
        if len(busy) > 1 and ply + 1 < SPLIT_PLIES:
            if nodes > frames[ply, NODES] and busy[busy_place(busy, moves[top, STATE])] == moves[top, STATE]:
                for j in range(first, last):
                    if moves[j, PROMISE] != TAKEN and busy[busy_place(busy, moves[j, STATE])] != moves[j, STATE]:
                        top = j
                        break
            busy[busy_place(busy, moves[top, STATE])] = moves[top, STATE]
        moves[top, PROMISE] = TAKEN
        frames[ply, LEFT] -= 1
        ply += 1
        frames[ply, FIRST] = last
        for field in range(PROMISE):
            frames[ply, field] = moves[top, field]


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
