"""The moves of a run of states, listed, and their children looked up: what every pass over moves begins with.

As many at a time as stay in the first cache, so that the cache misses of the look-ups overlap; where one state has more
moves than that, room is made for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

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
from solver.rules.game import Game
from solver.store.directory import MERITS, MISSING, PASSED, locate, new_places
from solver.store.packed import LAST
from solver.sweep.scale import TooWide

TOO_WIDE = -2  # instead of a culprit: a margin that the values cannot hold


class Batch(NamedTuple):
    """Moves as `edges.edges` lists them whose children were looked up, with the row of the child's tier in the table of
    `Known` and its place there, or MISSING. `rest` are the others, all but tiers: of merit OPEN where the
    child is not finished, but not asked for. `highs` is scratch."""

    edges: Edges
    rows: NDArray[np.int32]
    places: NDArray[np.int64]
    highs: NDArray[np.int64]
    rest: Edges


@register_jitable
def new_batch(room):
    """Room for so many moves."""
    rows, places, highs = new_places(room)
    return Batch(new_edges(room), rows, places, highs, new_edges(room))


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
    `high`: the arrays, how many these are, how many the rest, and the first state left over."""
    edges, count, done = next_edges(moves, known.states, at, end, batch.edges)
    if len(batch.places) < len(edges.keys):
        batch = new_batch(len(edges.keys))
    batch = Batch(edges, batch.rows, batch.places, batch.highs, batch.rest)
    if count < 0:
        return batch, count, 0, done
    count, others = part(moves, known, count, low, high, batch)
    locate(known, edges.keys, batch.rows, count, batch.places, batch.highs)
    return batch, count, others, done


@register_jitable
def part(moves, known, count, low, high, batch):
    """Part listed moves as `Batch` has them; how many there are of each."""
    keys, tiers, owners, merits, rewards, weights = batch.edges
    rest_keys, _, rest_owners, rest_merits, rest_rewards, rest_weights = batch.rest
    rows, slots, first = batch.rows, known.slots, known.first_tier
    asked = others = 0
    for j in range(count):
        row = PASSED
        if merits[j] == OPEN and low <= keys[j] <= high:
            slot = tiers[j] - first
            row = slots[slot] if 0 <= slot < len(slots) else MISSING
        if row == PASSED:
            rest_keys[others], rest_owners[others], rest_merits[others] = keys[j], owners[j], merits[j]
            if moves.rewarded:
                rest_rewards[others] = rewards[j]
            if moves.weighted:
                rest_weights[others] = weights[j]
            others += 1
        else:
            keys[asked], owners[asked], rows[asked] = keys[j], owners[j], row
            if moves.rewarded or moves.weighted:
                rewards[asked], weights[asked] = rewards[j], weights[j]
            asked += 1
    return asked, others


@register_jitable
def widest_of(values):
    """The largest margin that an array of merits may hold."""
    return min(MOST_MARGIN, LAST >> 64 - 8 * values.itemsize)


@register_jitable
def value_at(known, row, place):
    """What is known of the state at a place of a tier."""
    return np.int64(known.merits[known.table[row, MERITS] + place])


def refuse(game: Game, culprit: int) -> None:
    """Raise what a pass backward found wrong, if it did."""
    if culprit == TOO_WIDE:
        raise TooWide
    if culprit >= 0:
        raise confirmed(game, [int(culprit)], f"state {culprit} {FAULTS[UNKNOWN_CHILD]}", known=False)
