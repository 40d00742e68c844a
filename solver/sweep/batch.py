"""The moves of a run of states, listed, and their children looked up: what every pass over moves begins with.

As many at a time as stay in the first cache, so that the cache misses of the look-ups overlap; where one state has more
moves than that, room is made for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base.errors import MethodError
from solver.check.conformance import confirmed
from solver.compiled.edges import (
    CROWDED,
    FAULTS,
    MOST_ACTIONS,
    MOST_MARGIN,
    OPEN,
    UNKNOWN_CHILD,
    Edges,
    list_edges,
    new_edges,
)
from solver.rules.game import Rules
from solver.search.retrograde import scoring
from solver.store.directory import MERITS, MISSING, PASSED, locate, new_indices
from solver.store.packed import LAST
from solver.sweep.scale import WIN, TooWide

# what a pass over moves returns, before the state at fault
FINE, LOST_CHILD, TOO_WIDE, BEYOND, NARROW, SCORING = range(6)


class Batch(NamedTuple):
    """Moves in the order of their states, as `edges.edges` lists them, and where their children are.

    rows[j] is the child's tier, by its row in the table of `Known`; PASSED if the child is finished, not asked for, or
    of a tier that is passed over. places[j] is its place in that tier, or MISSING. `highs` is scratch.
    """

    edges: Edges
    rows: NDArray[np.int32]
    places: NDArray[np.int64]
    highs: NDArray[np.int64]


@register_jitable
def new_batch(room):
    """Room for so many moves."""
    rows, places, highs = new_indices(room)
    return Batch(new_edges(room), rows, places, highs)


@register_jitable
def next_edges(moves, states, at, end, edges):
    """List the moves of unfinished states[at:end], of as many as fit, but of one at least: `edges`, or larger arrays;
    how many moves; the first state left over. Where that has a fault, no moves or too many, the number is -fault."""
    count, done = list_edges(moves, states, at, end, edges)
    while done == at and count >= 0:
        if len(edges.keys) > MOST_ACTIONS:
            return edges, np.int64(-CROWDED), done
        edges = new_edges(2 * len(edges.keys))
        count, done = list_edges(moves, states, at, end, edges)
    return edges, count, done


@register_jitable
def next_batch(moves, known, at, end, low, high, batch):
    """List moves of known.states as `next_edges` does, and look up the unfinished children with keys from `low` to
    `high`: the arrays, how many moves, and the first state left over."""
    edges, count, done = next_edges(moves, known.states, at, end, batch.edges)
    rows, places, highs = batch.rows, batch.places, batch.highs
    if len(rows) < len(edges.keys):
        rows, places, highs = new_indices(len(edges.keys))
    find_rows(known, count, low, high, edges, rows)
    locate(known, edges.keys, rows, count, places, highs)
    return Batch(edges, rows, places, highs), count, done


@register_jitable
def find_rows(known, count, low, high, edges, rows):
    """Fill rows[:count] as `Batch` has them."""
    keys, tiers, merits = edges.keys, edges.tiers, edges.merits
    slots, first = known.slots, known.first_tier
    for j in range(count):
        rows[j] = PASSED
        if merits[j] == OPEN and low <= keys[j] <= high:
            slot = tiers[j] - first
            rows[j] = slots[slot] if 0 <= slot < len(slots) else MISSING


@register_jitable
def widest_of(values):
    """The largest margin that an array of merits may hold."""
    return min(MOST_MARGIN, LAST >> 64 - 8 * values.itemsize)


@register_jitable
def value_at(known, row, place):
    """What is known of the state at a place of a tier."""
    return np.int64(known.merits[known.table[row, MERITS] + place])


def refuse(rules: Rules, fault: int, state: int) -> None:
    """Raise what a pass backward found wrong with a state.

    Raises:
        TooWide: TOO_WIDE, a margin that the values cannot hold: wider ones may.
        MethodError: BEYOND, a margin that no value in a tier with cycles can hold; SCORING, a move that scores and
            stays in its tier.
        GameError: LOST_CHILD, a child that nobody reached, or no moves, or too many.
    """
    if fault == TOO_WIDE:
        raise TooWide
    if fault == BEYOND:
        raise too_wide(rules)
    if fault == SCORING:
        raise scoring(rules, int(state))
    if fault == LOST_CHILD:
        raise confirmed(rules.game, [int(state)], f"state {state} {FAULTS[UNKNOWN_CHILD]}", known=False)


def too_wide(rules: Rules) -> MethodError:
    """The refusal of margins that are too large where play may come back to a state."""
    return MethodError(f"{rules.name} has margins beyond {WIN - 1:,} where play may come back: count in larger units")
