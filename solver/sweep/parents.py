"""Going backward inside a tier: counts of open children, lists of parents, and what a settled state does to them.

The analyses of tiers with cycles, on one machine and in shards, and of graphs in arrays share these steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types as nb
from numba.extending import intrinsic, register_jitable
from numpy.typing import NDArray

from solver.base import value
from solver.compiled.edges import OPEN, ROOM
from solver.store.directory import BEGIN, MISSING
from solver.store.packed import LAST
from solver.store.prefetch import prefetch
from solver.store.shared import shared
from solver.sweep.batch import BEYOND, FINE, LOST_CHILD, NARROW, SCORING, new_batch, next_batch, value_at
from solver.sweep.scale import WIN

lift = register_jitable(value.lift)

NONE = np.iinfo(np.int16).min  # no merit known from finished games and other tiers
RESOLVED = -(1 << 14)  # in a counter of open children: below 0, whatever is still subtracted
NOW, LATER = 1, 2  # when a state is resolved


@intrinsic
def fetch_add(typingctx: Any, array: Any, index: Any, number: Any) -> Any:
    """Add to an element of a contiguous 1-d array as one step, for all threads; the element before."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(view.data, [arguments[1]])
        amount = context.cast(builder, arguments[2], signature.args[2], signature.args[0].dtype)
        return builder.atomic_rmw("add", pointer, amount, "monotonic")

    return array.dtype(array, nb.intp, number), emit


AHEAD = 32  # entries whose place in memory is asked for ahead of its turn


class Counted(NamedTuple):
    """Of the states of a tier: what play without end is worth (int16), or empty where that is nothing everywhere, with
    merits above it; how many moves inside the tier lead there; how many open children it has (int16 or int32), plus
    `never_in(left)` where a child is drawn; and the best merit (int16) by children finished or in later tiers."""

    endless: NDArray[Any]
    degrees: NDArray[Any]
    left: NDArray[Any]
    candidates: NDArray[np.int16]


@shared
def count_children(moves, known, own, begin, end, counted, kept):
    """For the states begin..end of the tier in row `own`, counted from its first: what `Counted` says.

    Returns a fault and its state: FINE, LOST_CHILD, BEYOND, SCORING, or NARROW if `left` must be wider; and the moves
    inside the tier, by state, in `kept` (uint32) or a larger array: an entry is twice the place of a child, and one if
    the same player moves. What is kept is left to others to enter into the degrees; where `kept` is of no length
    nothing is.
    """
    endless, degrees, left, candidates = counted
    inside, keeping = 0, len(kept) > 0
    for i in range(begin, end):
        candidates[i], left[i] = NONE, 0
    first = known.table[own, BEGIN]
    batch, at = new_batch(ROOM), first + begin
    while at < first + end:
        batch, count, done = next_batch(moves, known, at, first + end, 0, LAST, batch)
        if count < 0:
            return LOST_CHILD, known.states[done], kept
        if keeping and inside + count > len(kept):
            larger = np.empty(2 * len(kept) + count, np.uint32)
            for j in range(inside):  # a slice assigned to a slice takes two seconds to compile
                larger[j] = kept[j]
            kept = larger
        edges, rows, places = batch.edges, batch.rows, batch.places
        owners, merits, rewards = edges.owners, edges.merits, edges.rewards
        for j in range(0 if keeping else count):
            if rows[j] == own:
                prefetch(degrees, places[j])
        for j in range(count):
            owner, merit = at - first + (owners[j] >> 1), merits[j]
            if merit == OPEN:
                if places[j] == MISSING:
                    return LOST_CHILD, known.states[first + owner], kept
                if rows[j] == own:
                    if moves.rewarded and rewards[j]:
                        return SCORING, known.states[first + owner], kept
                    if keeping:
                        kept[inside] = 2 * places[j] + (owners[j] & 1)
                        inside += 1
                    else:
                        fetch_add(degrees, places[j], 1)
                    left[owner] += 1
                    if left[owner] & never_in(left) - 1 == 0:
                        return NARROW, known.states[first + owner], kept
                    continue
                merit = lift(value_at(known, rows[j], places[j]), (owners[j] & 1) == 1, moves.scores)
                if moves.rewarded:
                    merit += rewards[j]
            if not give(merit, owner, endless, left, candidates):
                return BEYOND, known.states[first + owner], kept
        at = done
    return FINE, np.int64(0), kept[:inside]


@register_jitable
def never_in(left):
    """The bit of a counter of open children that says: a child is drawn, so the others cannot bring it down to 0."""
    return 1 << 8 * left.itemsize - 2


@register_jitable
def give(merit, i, endless, left, candidates):
    """A child gives state i this merit; False if no candidate is so large."""
    above = merit - (endless[i] if len(endless) else 0)
    if not -WIN < merit < WIN or not -WIN < above < WIN:
        return False
    merit = above
    candidates[i] = max(np.int64(candidates[i]), merit)
    if merit == 0:
        left[i] |= never_in(left)
    return True


class Lists(NamedTuple):
    """The lists of the states low..high of a tier: `ends` (n,) are where they end, less `offset` in `parents`, and go
    down to where they begin."""

    low: int
    high: int
    ends: NDArray[Any]
    offset: int
    parents: NDArray[Any]


@shared
def list_parents(moves, inside, own, begin, end, lists):
    """Enter the states begin..end of a tier into the lists of their children; `inside` is what is known of it alone.

    An entry is a state's place or, in a game with moves again, twice that and one if the same player moves.
    """
    low, high, ends, offset, parents = lists
    first = inside.table[own, BEGIN]
    batch, at = new_batch(ROOM), first + begin
    while at < first + end:
        batch, count, done = next_batch(moves, inside, at, first + end, 0, LAST, batch)
        owners, places = batch.edges.owners, batch.places
        for j in range(count):
            prefetch(ends, places[j])
        for j in range(count):
            if low <= places[j] < high:  # those that were passed over are MISSING
                owner = 2 * (at - first) + owners[j]
                entry = owner >> 1 if moves.alternates else owner
                parents[np.int64(fetch_add(ends, places[j], -1)) - 1 - offset] = entry
        at = done


@shared
def settle(left, candidates, begin, end, due):
    """due[begin:end] = in how many plies a state is decided, if nothing wins it sooner; 0 where that is not known.

    At first finished games and other tiers decide it.
    """
    for i in range(begin, end):
        due[i] = 0
        if left[i] < 0 or candidates[i] > 0:
            due[i] = WIN - abs(candidates[i])
        elif left[i] == 0:
            due[i] = WIN + candidates[i]
            left[i] = RESOLVED


@shared
def claim(places, left):
    """Of the places of states that finished games and other tiers win, those that nothing won sooner."""
    claimed = np.empty(len(places), np.int64)
    count = 0
    for place in places:
        if left[place] >= 0:
            left[place] = RESOLVED
            claimed[count] = place
            count += 1
    return claimed[:count]


@register_jitable
def hear(parent, lifted, left, merits):
    """A state hears what one of its open children, now resolved, gives it: whether that resolves it NOW, or LATER,
    as late as other tiers delay it; else 0."""
    if left[parent] < 0:
        return 0
    if lifted > 0:
        merits[parent] = lifted
        left[parent] = RESOLVED
        return NOW
    if fetch_add(left, parent, -1) != 1 or merits[parent] > 0:
        return 0
    late = merits[parent] > lifted
    if not late:
        merits[parent] = lifted
    left[parent] = RESOLVED
    return LATER if late else NOW


@shared
def go_back(alternates, scores, front, begins, parents, left, merits):
    """The parents that the states of `front`, all of one distance, resolve, sorted, perhaps with doubles.

    Returns those that are resolved one ply later, or at once where merits are scores, and those that other tiers delay.
    """
    room, shift = 0, 0 if alternates else 1
    for place in front:
        room += np.int64(begins[place + 1]) - np.int64(begins[place])
    reached, delayed = np.empty(room, np.int64), np.empty(room, np.int64)
    count = late = 0
    for i in range(len(front)):
        if i + AHEAD < len(front):
            prefetch(begins, front[i + AHEAD])
        if i + AHEAD // 2 < len(front):
            prefetch(parents, np.int64(begins[front[i + AHEAD // 2]]))
        merit, last = np.int64(merits[front[i]]), np.int64(begins[front[i] + 1])
        for at in range(np.int64(begins[front[i]]), last):
            prefetch(left, np.int64(parents[at]) >> shift)
        for at in range(np.int64(begins[front[i]]), last):
            entry = np.int64(parents[at])
            parent = entry >> shift
            heard = hear(parent, lift(merit, not alternates and entry & 1 == 1, scores), left, merits)
            if heard == NOW:
                reached[count] = parent
                count += 1
            elif heard == LATER:
                delayed[late] = parent
                late += 1
    return reached[:count].copy(), delayed[:late].copy()
