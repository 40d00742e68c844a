"""Depth-limited alpha-beta with an evaluation at the cutoff: `search.heuristic`, compiled once for all games.

The value of a state at a depth is well defined: the end of the game where play comes to it within so many plies, else
the estimate of where it stands then. That value is found, whatever order and windows the search takes: the one that
`search.heuristic` finds. Nothing but the depth bounds a path, so games may have cycles.

The first move is searched with the whole window, of the others it is only asked whether they are better (principal
variation search: Marsland and Campbell, Parallel Search of Strongly Ordered Game Trees, 1982). Moves are ordered by the
table's, then by `promise`; where the rules have none, the move comes second that was too good when the path was last at
this ply (Akl and Newborn, The Principal Continuation and the Killer Heuristic, 1977). The last ply takes neither frames
nor table.

The transposition table holds bounds on the value of a state at a depth. It is one run of words, a power of two of them,
aligned so that a bucket of two entries lies in one line of the cache. An entry is four words, of which the last two are
floats: `table` is the run as int64, `bounds` as float64.

    key     the state, inverted: zeros are an empty entry
    note    depth, 20 bits | 1 if no state was cut off below | 1 if the state was its own image | best action + 1, or 0
    low     lower bound
    high    upper bound

Each thread has a table of its own (`searches`), so nobody writes an entry between two looks at it.

Of a wide state (`compiled.wide`) the further words of the key, inverted, come behind these, and an entry is twice as
long as one of `exact.table`.

The value of a state depends on the depth, so a bound is one for that depth alone; but where the end of the game proves
it, it holds for any greater depth, too. The action is that of the state as it was, which may be another image of the
key than the next one: a wrong one costs some order and nothing else. Of a bucket's entries the shallower makes way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from solver.base import value
from solver.compiled.exact.table import bucket_of, has_key, size_of, write_key
from solver.compiled.lookahead.depth import TAKEN, Field, Frame, Model, Move, Path, Window, lifted, list_moves_at
from solver.compiled.states import Words, copy_row, put_state, state_at, state_in
from solver.search import SearchStatus
from solver.store.addresses import borrowed
from solver.store.shared import PART, part, shared

WIN = value.WIN
WIDE = 512  # rows of `moves` that a state finds free
DEPTH_BITS = (1 << 20) - 1
WHOLE_WINDOW = 1 << 20
OWN_IMAGE = 1 << 21
ACTION_SHIFT = 22


@register_jitable(forceinline=True, **PART)
def place_of(key: Any, words: int) -> Any:
    """The first word of a key's bucket in a table of so many words."""
    return bucket_of(key, words >> 1) << 1


@register_jitable(forceinline=True, **PART)
def find(table: Words, key: Any) -> Any:
    """The first word of the entry of a key, or -1."""
    at = place_of(key, len(table))
    if has_key(table, at, key, 3, 0):
        return at
    if has_key(table, at + 2 * size_of(key), key, 3, 0):
        return at + 2 * size_of(key)
    return -1


@register_jitable(forceinline=True, **PART)
def holds_at(note: int, depth: int) -> Any:
    """Whether an entry's bounds are bounds for this depth."""
    known = note & DEPTH_BITS
    return known == depth or (known < depth and note & WHOLE_WINDOW != 0)


@register_jitable(forceinline=True, **PART)
def remembered(memory: Any, key: Any, depth: int, alpha: float, beta: float, scores: bool) -> tuple[Any, Any]:
    """The table's entry for a state: its merit, or a bound outside the window, or else NaN; and the entry's note."""
    table, bounds = memory
    slot = find(table, key)
    if slot < 0:
        return np.nan, np.int64(0)
    note, low, high = table[slot + 1], bounds[slot + 2], bounds[slot + 3]
    if not holds_at(note, depth):
        # A win or loss that less depth has proved
        foreseen = not scores and note & DEPTH_BITS < depth
        low = low if foreseen and low >= 1 else -np.inf
        high = high if foreseen and high <= -1 else np.inf
    if low >= beta or low == high:
        return low, note
    return high if high <= alpha else np.nan, note


@part
def keep(table: Words, bounds: Any, key: Any, note: int, low: float, high: float) -> None:
    """Store bounds, joined with the known bounds for this depth; of the bucket's entries the shallower makes way."""
    depth = note & DEPTH_BITS
    at = find(table, key)
    if at >= 0:
        before = table[at + 1]
        if note >> ACTION_SHIFT == 0:
            note |= before & ~(WHOLE_WINDOW | DEPTH_BITS)
        if holds_at(before, depth):
            if low < high and not before & WHOLE_WINDOW:
                note &= ~WHOLE_WINDOW
            low = low if low > bounds[at + 2] else bounds[at + 2]
            high = high if high < bounds[at + 3] else bounds[at + 3]
    else:
        at = place_of(key, len(table))
        if depth >= table[at + 1] & DEPTH_BITS:
            for place in range(at, at + 2 * size_of(key)):
                table[place + 2 * size_of(key)] = table[place]
        else:
            at += 2 * size_of(key)
    table[at + 1] = note
    write_key(table, at, key, 3, 0)
    bounds[at + 2], bounds[at + 3] = low, high


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
def is_own_image(frames: Words, ply: int, more: Any) -> Any:
    """Whether the frame's state stands for all symmetric ones."""
    return state_at(frames, ply, Frame.STATE, more) == state_at(frames, ply, Frame.KEY, more)


@register_jitable(forceinline=True, **PART)
def put_away(memory: Any, path: Any, ply: int, more: Any) -> None:
    """Store the result of the frame's state, unless it is the root or at the last ply."""
    frames, windows, moves, _ = path
    if ply > 0 and frames[ply, Frame.LEFT] > 1:
        best = windows[ply, Window.BEST]
        # A result outside the window is only a bound: fail low is an upper one, fail high a lower one.
        low = best if best > windows[ply, Window.ALPHA] else -np.inf
        high = best if best < windows[ply, Window.BETA] else np.inf
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
    scouts = frames[ply, Frame.OPEN] != 0 and best > -np.inf and not again
    low, high = dropped(floor, moves[row, Move.GAIN], scores), dropped(beta, moves[row, Move.GAIN], scores)
    # An equal move that comes first is better
    if ply == 0 and row < frames[0, Frame.BEST_ROW]:
        low = np.nextafter(low, -np.inf)
    # Rounding may have closed a narrow window
    if scouts or high <= low:
        high = np.nextafter(low, np.inf)
    frames[ply, Frame.ROW] = row
    frames[ply, Frame.SCOUTS] = scouts
    # Its state and key
    copy_row(frames, ply + 1, moves, row, 2, more)
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
    memory: `table` and `bounds`, as above.
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
    windows[0, Window.ALPHA], windows[0, Window.BETA], windows[0, Window.BEST] = -np.inf, np.inf, -np.inf
    search[Field.PLY] = 0


@part
def is_known(path: Any, scores: bool) -> Any:
    """Whether more depth cannot change the result: no state was cut off, or the win or loss comes before those."""
    frames, windows, _, _ = path
    return frames[0, Frame.CUT] == 0 or (not scores and WIN - abs(windows[0, Window.BEST]) <= frames[0, Frame.LEFT] + 1)


@shared
def choose(
    rules: Any, memory: Any, path: Any, model: Any, states: Words, depth: int, found: Any, allowance: int
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
