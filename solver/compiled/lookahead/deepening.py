"""Depth-limited alpha-beta with an evaluation at the cutoff: `search.heuristic`, compiled once for all games.

What a state is worth at a depth is well defined: the end of the game where play comes to it within so many plies, else
the estimate of where it stands then. That value is found, whatever order and windows the search takes: the one that
`search.heuristic` finds. Nothing but the depth bounds a path, so games may have cycles.

The first move is searched with the whole window, of the others it is only asked whether they are better (principal
variation search: Marsland and Campbell, Parallel Search of Strongly Ordered Game Trees, 1982). Moves are ordered by the
table's, then by `promise`; where the rules have none, the move comes second that was too good when the path was last at
this ply (Akl and Newborn, The Principal Continuation and the Killer Heuristic, 1977). The last ply takes neither frames
nor table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from solver.base import value
from solver.compiled.inlining import PART
from solver.compiled.lookahead.bounds import ACTION_SHIFT, OWN_IMAGE, WHOLE, keep, remembered
from solver.compiled.lookahead.depth import (
    ACTION,
    ALPHA,
    BEST,
    BEST_ROW,
    BETA,
    BETTER,
    CHILD,
    CHOICE,
    CODE,
    COUNT,
    CROWDED,
    CUT,
    END,
    FIRST,
    FOUND,
    GAIN,
    INFINITY,
    KEY,
    KILLER,
    LEFT,
    OPEN,
    OPENED,
    PAUSED,
    PLACE,
    PLY,
    PROMISE,
    ROW,
    SCOUTS,
    SIGN,
    STATE,
    TAKEN,
    UNTRIED,
    Path,
    lifted,
    list_moves_at,
)
from solver.compiled.lookahead.model import Model
from solver.compiled.states import BEYOND, COLUMNS, put_state, state_at, state_in
from solver.compiled.views import borrowed
from solver.store.shared import shared

WIN = value.WIN
WIDE = 512  # rows of `moves` that a state finds free


@register_jitable(forceinline=True, **PART)
def dropped(bound, gain, scores):
    """A bound on a state's merit as one on its child's, but for the sign: the inverse of `lifted`."""
    bound -= gain
    if not scores:
        if bound >= 1:
            bound += 1
        elif bound <= -1:
            bound -= 1
    return bound


@register_jitable(forceinline=True, **PART)
def is_own_image(frames, ply, more):
    """Whether the frame's state stands for all symmetric ones."""
    return state_at(frames, ply, STATE, more) == state_at(frames, ply, KEY, more)


@register_jitable(forceinline=True, **PART)
def put_away(memory, path, ply, more):
    """Store what was found of the frame's state; but not of the root, nor of the last ply."""
    frames, windows, moves, _ = path
    if ply > 0 and frames[ply, LEFT] > 1:
        best = windows[ply, BEST]
        low = best if best > windows[ply, ALPHA] else -INFINITY
        high = best if best < windows[ply, BETA] else INFINITY
        note = frames[ply, LEFT]
        if frames[ply, CUT] == 0:
            note |= WHOLE
        if is_own_image(frames, ply, more):
            note |= OWN_IMAGE
        if low == best:
            note |= moves[frames[ply, BEST_ROW], ACTION] + 1 << ACTION_SHIFT
        keep(memory[0], memory[1], state_at(frames, ply, KEY, more), note, low, high)


@register_jitable(forceinline=True, **PART)
def arrive(rules, memory, path, model, ply):
    """Look at the frame's state: FOUND if its merit or a bound outside its window is known, OPENED if it needs search.

    Or what keeps it from that.
    """
    address, scores, more = rules[0], rules[1], rules[2:]
    frames, windows, _, search = path
    left, wanted = frames[ply, LEFT], search[CHOICE]
    if ply > 0:
        alpha, beta, wanted = windows[ply, ALPHA], windows[ply, BETA], np.int64(-1)
        if not scores and (alpha >= WIN - 1 or beta <= 1 - WIN):  # no win or loss is so quick
            windows[ply, BEST] = WIN - 1 if alpha >= WIN - 1 else 1 - WIN
            return FOUND
        if left > 1:
            merit, note = remembered(memory, state_at(frames, ply, KEY, more), left, alpha, beta, scores)
            if merit == merit:
                frames[ply, CUT] = note & WHOLE == 0
                windows[ply, BEST] = merit
                return FOUND
            if (note & OWN_IMAGE != 0) == is_own_image(frames, ply, more):
                wanted = (note >> ACTION_SHIFT) - 1
    status: Any = list_moves_at(address, path, model, ply, wanted)
    if status == FOUND:
        put_away(memory, path, ply, more)
    return status


@register_jitable(forceinline=True, **PART)
def enter(path, ply, row, again, rules):
    """Put the child of a row on the path. `again`: it is known to be better, and asked by how much."""
    frames, windows, moves, _ = path
    scores, more = rules[1], rules[2:]
    best, beta = windows[ply, BEST], windows[ply, BETA]
    floor = best if best > windows[ply, ALPHA] else windows[ply, ALPHA]
    scouts = frames[ply, OPEN] != 0 and best > -INFINITY and not again
    low, high = dropped(floor, moves[row, GAIN], scores), dropped(beta, moves[row, GAIN], scores)
    if ply == 0 and row < frames[0, BEST_ROW]:  # as good is better: it comes first
        low = np.nextafter(low, -INFINITY)
    if scouts or high <= low:  # rounding may have closed a narrow window
        high = np.nextafter(low, INFINITY)
    frames[ply, ROW] = row
    frames[ply, SCOUTS] = scouts
    frames[ply + 1, STATE] = moves[row, CHILD]
    frames[ply + 1, KEY] = moves[row, CODE]
    for column in range(BEYOND, BEYOND + COLUMNS * len(more)):
        frames[ply + 1, column] = moves[row, column]
    frames[ply + 1, LEFT] = frames[ply, LEFT] - 1
    frames[ply + 1, FIRST] = frames[ply, END]
    frames[ply + 1, OPEN] = frames[ply, OPEN] != 0 and not scouts
    frames[ply + 1, CUT] = 0
    windows[ply + 1, ALPHA] = low if moves[row, SIGN] > 0 else -high
    windows[ply + 1, BETA] = high if moves[row, SIGN] > 0 else -low


@register_jitable(forceinline=True, **PART)
def go_back(memory, path, ply, rules):
    """Take what was found of the next ply's state back to this one's: FOUND if that settles it, OPENED if not.

    BETTER: the move is, as far as a narrow window tells, and is to be asked again by how much.
    """
    frames, windows, moves, _ = path
    scores = rules[1]
    row, best, beta = frames[ply, ROW], windows[ply, BEST], windows[ply, BETA]
    frames[ply, CUT] |= frames[ply + 1, CUT]
    merit = lifted(windows[ply + 1, BEST], moves[row, SIGN], moves[row, GAIN], scores)
    level = ply == 0 and row < frames[0, BEST_ROW] and merit == best
    if frames[ply, SCOUTS] != 0 and merit < beta and ((merit > best and merit > windows[ply, ALPHA]) or level):
        return BETTER
    if merit > best or level:
        windows[ply, BEST] = merit
        frames[ply, BEST_ROW] = row
    if merit < beta and frames[ply, UNTRIED] > 0:
        return OPENED
    if merit >= beta:
        frames[ply, KILLER] = moves[row, ACTION] + 1
    put_away(memory, path, ply, rules[2:])
    return FOUND


@register_jitable(forceinline=True, **PART)
def take(path, ply):
    """The row of the most promising move that is left, which is so no longer."""
    frames, _, moves, _ = path
    top = frames[ply, FIRST]
    for row in range(top + 1, frames[ply, END]):
        if moves[row, PROMISE] > moves[top, PROMISE]:
            top = row
    moves[top, PROMISE] = TAKEN
    frames[ply, UNTRIED] -= 1
    return top


@shared
def look(rules, memory, path, model, allowance):
    """Search the state of frames[0] to the depth of its LEFT: its merit is then windows[0, BEST].

    rules: the address of `list_moves`, whether values are scores, and `more` (`compiled.states`), one after the other;
    memory: table and bounds, see `bounds`.
    search[CHOICE] is the first best action in the game's order, and at first the one to begin with, or -1; frames[0,
    CUT] is whether a state was cut off. Returns PAUSED after `allowance` nodes or CROWDED, to be called again when
    there is room; FOUND, OUTSIDE or STUCK. Before, `begin`.
    """
    frames, windows, moves, search = path
    frames, windows, moves, search = borrowed(frames), borrowed(windows), borrowed(moves), borrowed(search)
    path = Path(frames, windows, moves, search)
    memory = borrowed(memory[0]), borrowed(memory[1])
    shape, weights, relu, scale, inputs, units = model
    model = Model(borrowed(shape), borrowed(weights), relu, scale, borrowed(inputs), borrowed(units))
    ply = search[PLY]
    stop = search[COUNT] + allowance
    while True:
        if search[COUNT] >= stop or frames[ply, FIRST] + WIDE > len(moves):
            search[PLY] = ply
            return PAUSED if search[COUNT] >= stop else CROWDED
        search[COUNT] += 1
        status = arrive(rules, memory, path, model, ply)
        while status == FOUND and ply > 0:
            ply -= 1
            status = go_back(memory, path, ply, rules)
        if status != OPENED and status != BETTER:
            search[PLY] = ply
            if status == FOUND:
                search[CHOICE] = moves[frames[0, BEST_ROW], ACTION]
            return status
        row = take(path, ply) if status == OPENED else frames[ply, ROW]
        enter(path, ply, row, status == BETTER, rules)
        ply += 1


@shared
def begin(path, depth):
    """Set out to search a state, which is to be written to frames[0]; what comes first is search[CHOICE]."""
    frames, windows, _, search = path
    for field in range(frames.shape[1]):
        frames[0, field] = 0
    frames[0, LEFT], frames[0, OPEN] = depth, 1
    windows[0, ALPHA], windows[0, BETA], windows[0, BEST] = -INFINITY, INFINITY, -INFINITY
    search[PLY] = 0


@register_jitable(**PART)
def is_known(path, scores):
    """Whether more depth cannot change what was found: no state was cut off, or the win or loss comes before those."""
    frames, windows, _, _ = path
    return frames[0, CUT] == 0 or (not scores and WIN - abs(windows[0, BEST]) <= frames[0, LEFT] + 1)


@shared
def choose(rules, memory, path, model, states, depth, found, allowance):
    """Search unfinished states (`compiled.states`) from search[PLACE] on, each deepened to `depth`; as `look` returns.

    found: their best actions (n,) int64, the places of those among all, (n,) int64, and the merits (n,) float64.
    frames[0, LEFT] is 0 at first.
    """
    frames, windows, _, search = path
    actions, places, merits = found
    stop = search[COUNT] + allowance
    while search[PLACE] < len(states):
        place = search[PLACE]
        if frames[0, LEFT] == 0:
            search[CHOICE] = -1
            begin(path, 1)
            put_state(frames, 0, STATE, state_in(states, place, rules[2:]), rules[2:])
        status = look(rules, memory, path, model, stop - search[COUNT])
        if status != FOUND:
            return status
        if frames[0, LEFT] < depth and not is_known(path, rules[1]):
            begin(path, frames[0, LEFT] + 1)
            put_state(frames, 0, STATE, state_in(states, place, rules[2:]), rules[2:])
            continue
        actions[place], places[place], merits[place] = search[CHOICE], frames[0, BEST_ROW], windows[0, BEST]
        frames[0, LEFT] = 0
        search[PLACE] += 1
    return FOUND
