"""Depth-limited alpha-beta with an evaluation at the cutoff: `search.heuristic`, compiled once for all games.

The value of a state at a depth is well defined: the end of the game where play comes to it within so many plies, else
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
from numpy.typing import NDArray

from solver.base import value
from solver.compiled.inlining import PART
from solver.compiled.lookahead.bounds import ACTION_SHIFT, OWN_IMAGE, WHOLE_WINDOW, keep, remembered
from solver.compiled.lookahead.depth import INFINITY, TAKEN, Field, Frame, Move, Path, Window, lifted, list_moves_at
from solver.compiled.lookahead.model import Model
from solver.compiled.states import BEYOND, COLUMNS, put_state, state_at, state_in
from solver.search import SearchStatus
from solver.store.addresses import borrowed
from solver.store.shared import shared

WIN = value.WIN
WIDE = 512  # rows of `moves` that a state finds free


@register_jitable(forceinline=True, **PART)
def dropped(bound: float, gain: Any, scores: bool) -> Any:
    """A bound on a state's merit as one on its child's, but for the sign: the inverse of `lifted`."""
    bound -= gain
    if not scores:
        if bound >= 1:
            bound += 1
        elif bound <= -1:
            bound -= 1
    return bound


@register_jitable(forceinline=True, **PART)
def is_own_image(frames: NDArray[Any], ply: int, more: Any) -> Any:
    """Whether the frame's state stands for all symmetric ones."""
    return state_at(frames, ply, Frame.STATE, more) == state_at(frames, ply, Frame.KEY, more)


@register_jitable(forceinline=True, **PART)
def put_away(memory: Any, path: Any, ply: int, more: Any) -> None:
    """Store the result of the frame's state, unless it is the root or at the last ply."""
    frames, windows, moves, _ = path
    if ply > 0 and frames[ply, Frame.LEFT] > 1:
        best = windows[ply, Window.BEST]
        # A result outside the window is only a bound: fail low is an upper one, fail high a lower one.
        low = best if best > windows[ply, Window.ALPHA] else -INFINITY
        high = best if best < windows[ply, Window.BETA] else INFINITY
        note = frames[ply, Frame.LEFT]
        if frames[ply, Frame.CUT] == 0:
            note |= WHOLE_WINDOW
        # The stored action belongs to this image of the state, not to symmetric ones.
        if is_own_image(frames, ply, more):
            note |= OWN_IMAGE
        if low == best:
            note |= moves[frames[ply, Frame.BEST_ROW], Move.ACTION] + 1 << ACTION_SHIFT
        keep(memory[0], memory[1], state_at(frames, ply, Frame.KEY, more), note, low, high)


@register_jitable(forceinline=True, **PART)
def arrive(rules: Any, memory: Any, path: Any, model: Any, ply: int) -> Any:
    """Look at the frame's state: DONE if its merit or a bound outside its window is known, OPENED if it needs search.

    Or the reason that keeps it from that.
    """
    address, scores, more = rules[0], rules[1], rules[2:]
    frames, windows, _, search = path
    left, wanted = frames[ply, Frame.LEFT], search[Field.CHOICE]
    if ply > 0:
        alpha, beta, wanted = windows[ply, Window.ALPHA], windows[ply, Window.BETA], np.int64(-1)
        # No win or loss is so quick
        if not scores and (alpha >= WIN - 1 or beta <= 1 - WIN):
            windows[ply, Window.BEST] = WIN - 1 if alpha >= WIN - 1 else 1 - WIN
            return SearchStatus.DONE
        if left > 1:
            merit, note = remembered(memory, state_at(frames, ply, Frame.KEY, more), left, alpha, beta, scores)
            # NaN means that the table does not know it.
            if merit == merit:
                frames[ply, Frame.CUT] = note & WHOLE_WINDOW == 0
                windows[ply, Window.BEST] = merit
                return SearchStatus.DONE
            # Begin with the best move of an earlier, shallower search.
            if (note & OWN_IMAGE != 0) == is_own_image(frames, ply, more):
                wanted = (note >> ACTION_SHIFT) - 1
    status: Any = list_moves_at(address, path, model, ply, wanted)
    if status == SearchStatus.DONE:
        put_away(memory, path, ply, more)
    return status


@register_jitable(forceinline=True, **PART)
def enter(path: Any, ply: int, row: int, again: bool, rules: Any) -> None:
    """Put the child of a row on the path. `again`: it is known to be better, and asked by how much."""
    frames, windows, moves, _ = path
    scores, more = rules[1], rules[2:]
    best, beta = windows[ply, Window.BEST], windows[ply, Window.BETA]
    floor = best if best > windows[ply, Window.ALPHA] else windows[ply, Window.ALPHA]
    # Principal variation search: ask with a window of no width whether a later move is better at all (Marsland 1983).
    scouts = frames[ply, Frame.OPEN] != 0 and best > -INFINITY and not again
    low, high = dropped(floor, moves[row, Move.GAIN], scores), dropped(beta, moves[row, Move.GAIN], scores)
    # An equal move that comes first is better
    if ply == 0 and row < frames[0, Frame.BEST_ROW]:
        low = np.nextafter(low, -INFINITY)
    # Rounding may have closed a narrow window
    if scouts or high <= low:
        high = np.nextafter(low, INFINITY)
    frames[ply, Frame.ROW] = row
    frames[ply, Frame.SCOUTS] = scouts
    frames[ply + 1, Frame.STATE] = moves[row, Move.CHILD]
    frames[ply + 1, Frame.KEY] = moves[row, Move.CODE]
    for column in range(BEYOND, BEYOND + COLUMNS * len(more)):
        frames[ply + 1, column] = moves[row, column]
    frames[ply + 1, Frame.LEFT] = frames[ply, Frame.LEFT] - 1
    frames[ply + 1, Frame.FIRST] = frames[ply, Frame.END]
    frames[ply + 1, Frame.OPEN] = frames[ply, Frame.OPEN] != 0 and not scouts
    frames[ply + 1, Frame.CUT] = 0
    # If the other side moves next, the window turns around.
    windows[ply + 1, Window.ALPHA] = low if moves[row, Move.SIGN] > 0 else -high
    windows[ply + 1, Window.BETA] = high if moves[row, Move.SIGN] > 0 else -low


@register_jitable(forceinline=True, **PART)
def go_back(memory: Any, path: Any, ply: int, rules: Any) -> Any:
    """Take the next ply's result back to this one's: DONE if that settles it, OPENED if not.

    BETTER: the move is, as far as a narrow window tells, and is to be asked again by how much.
    """
    frames, windows, moves, _ = path
    scores = rules[1]
    row, best, beta = frames[ply, Frame.ROW], windows[ply, Window.BEST], windows[ply, Window.BETA]
    frames[ply, Frame.CUT] |= frames[ply + 1, Frame.CUT]
    merit = lifted(windows[ply + 1, Window.BEST], moves[row, Move.SIGN], moves[row, Move.GAIN], scores)
    level = ply == 0 and row < frames[0, Frame.BEST_ROW] and merit == best
    scouts = frames[ply, Frame.SCOUTS] != 0
    # The scout says better, not by how much: search again with a full window.
    if scouts and merit < beta and ((merit > best and merit > windows[ply, Window.ALPHA]) or level):
        return SearchStatus.BETTER
    if merit > best or level:
        windows[ply, Window.BEST] = merit
        frames[ply, Frame.BEST_ROW] = row
    if merit < beta and frames[ply, Frame.UNTRIED] > 0:
        return SearchStatus.OPENED
    # A move that refutes is tried first in the neighbouring states (killer move).
    if merit >= beta:
        frames[ply, Frame.KILLER] = moves[row, Move.ACTION] + 1
    put_away(memory, path, ply, rules[2:])
    return SearchStatus.DONE


@register_jitable(forceinline=True, **PART)
def take(path: Any, ply: int) -> Any:
    """The row of the most promising move that is left, which is so no longer."""
    frames, _, moves, _ = path
    top = frames[ply, Frame.FIRST]
    # A selection sort, one step at a time: a cut-off saves the rest of it.
    for row in range(top + 1, frames[ply, Frame.END]):
        if moves[row, Move.PROMISE] > moves[top, Move.PROMISE]:
            top = row
    moves[top, Move.PROMISE] = TAKEN
    frames[ply, Frame.UNTRIED] -= 1
    return top


@shared
def look(rules: Any, memory: Any, path: Any, model: Any, allowance: int) -> Any:
    """Search the state of frames[0] to the depth of its LEFT: its merit is then windows[0, BEST].

    rules: the address of `list_moves`, whether values are scores, and `extra_words` (`compiled.states`), one after the
        other;
    memory: table and bounds, see `bounds`.
    search[CHOICE] is the first best action in the game's order, and at first the one to begin with, or -1; frames[0,
    CUT] is whether a state was cut off. Returns PAUSED after `allowance` nodes or NO_ROOM, to be called again when
    there is room; DONE, OUTSIDE or STUCK. Before, `begin`.
    """
    frames, windows, moves, search = path
    frames, windows, moves, search = borrowed(frames), borrowed(windows), borrowed(moves), borrowed(search)
    path = Path(frames, windows, moves, search)
    memory = borrowed(memory[0]), borrowed(memory[1])
    shape, weights, relu, scale, inputs, units = model
    model = Model(borrowed(shape), borrowed(weights), relu, scale, borrowed(inputs), borrowed(units))
    ply = search[Field.PLY]
    stop = search[Field.COUNT] + allowance
    while True:
        # Stop between nodes only, where arrays may grow or another caller may go on.
        if search[Field.COUNT] >= stop or frames[ply, Frame.FIRST] + WIDE > len(moves):
            search[Field.PLY] = ply
            return SearchStatus.PAUSED if search[Field.COUNT] >= stop else SearchStatus.NO_ROOM
        search[Field.COUNT] += 1
        status = arrive(rules, memory, path, model, ply)
        # Take settled results up, as far as they settle their parents.
        while status == SearchStatus.DONE and ply > 0:
            ply -= 1
            status = go_back(memory, path, ply, rules)
        if status != SearchStatus.OPENED and status != SearchStatus.BETTER:
            search[Field.PLY] = ply
            if status == SearchStatus.DONE:
                search[Field.CHOICE] = moves[frames[0, Frame.BEST_ROW], Move.ACTION]
            return status
        row = take(path, ply) if status == SearchStatus.OPENED else frames[ply, Frame.ROW]
        enter(path, ply, row, status == SearchStatus.BETTER, rules)
        ply += 1


@shared
def begin(path: Any, depth: int) -> None:
    """Set out to search a state, which is to be written to frames[0]; the first one is search[CHOICE]."""
    frames, windows, _, search = path
    for field in range(frames.shape[1]):
        frames[0, field] = 0
    frames[0, Frame.LEFT], frames[0, Frame.OPEN] = depth, 1
    windows[0, Window.ALPHA], windows[0, Window.BETA], windows[0, Window.BEST] = -INFINITY, INFINITY, -INFINITY
    search[Field.PLY] = 0


@register_jitable(**PART)
def is_known(path: Any, scores: bool) -> Any:
    """Whether more depth cannot change the result: no state was cut off, or the win or loss comes before those."""
    frames, windows, _, _ = path
    return frames[0, Frame.CUT] == 0 or (not scores and WIN - abs(windows[0, Window.BEST]) <= frames[0, Frame.LEFT] + 1)


@shared
def choose(
    rules: Any,
    memory: Any,
    path: Any,
    model: Any,
    states: NDArray[Any],
    depth: int,
    found: Any,
    allowance: int,
) -> Any:
    """Search unfinished states (`compiled.states`) from search[PLACE] on, each deepened to `depth`; as `look` returns.

    found: their best actions (n,) int64, the places of those among all, (n,) int64, and the merits (n,) float64.
    frames[0, LEFT] is 0 at first.
    """
    frames, windows, _, search = path
    actions, places, merits = found
    stop = search[Field.COUNT] + allowance
    while search[Field.PLACE] < len(states):
        place = search[Field.PLACE]
        if frames[0, Frame.LEFT] == 0:
            search[Field.CHOICE] = -1
            begin(path, 1)
            put_state(frames, 0, Frame.STATE, state_in(states, place, rules[2:]), rules[2:])
        status = look(rules, memory, path, model, stop - search[Field.COUNT])
        if status != SearchStatus.DONE:
            return status
        # Iterative deepening: the last depth's best move leads the next one.
        if frames[0, Frame.LEFT] < depth and not is_known(path, rules[1]):
            begin(path, frames[0, Frame.LEFT] + 1)
            put_state(frames, 0, Frame.STATE, state_in(states, place, rules[2:]), rules[2:])
            continue
        actions[place], places[place] = search[Field.CHOICE], frames[0, Frame.BEST_ROW]
        merits[place] = windows[0, Window.BEST]
        frames[0, Frame.LEFT] = 0
        search[Field.PLACE] += 1
    return SearchStatus.DONE
