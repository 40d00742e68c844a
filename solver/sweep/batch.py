"""List the moves of a run of states and look up their children: the begin of every pass over moves.

A batch holds as many moves as stay in the first cache, so that the cache misses of the look-ups overlap. If one state
has more moves than that, the arrays grow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import MethodError
from solver.base.kinds import LOST
from solver.check.conformance import confirmed
from solver.compiled import edges
from solver.compiled.edges import Edges, Moves
from solver.rules.game import Rules
from solver.search.retrograde import scoring
from solver.store.directory import MERITS, MISSING, PASSED, TierLookup, locate, new_indices
from solver.store.packed import LAST
from solver.store.shared import part
from solver.sweep.scale import WIN, TooWide

# what a pass over moves returns, before the state at fault
FINE, LOST_CHILD, TOO_WIDE, BEYOND, NARROW, SCORING = range(6)


class Batch(NamedTuple):
    """Moves in the order of their states, and the places of their children.

    Attributes:
        edges: The moves, as `edges.edges` lists them.
        rows: The row of each child's tier in the table of the look-up; PASSED if the child is finished, not asked for,
            or of a tier that is passed over.
        places: The index of each child in its tier, or MISSING.
        highs: Scratch of the look-up.
    """

    edges: Edges
    rows: NDArray[np.int32]
    places: NDArray[np.int64]
    highs: NDArray[np.int64]


@part
def new_batch(move_count: Any) -> Any:
    """Make arrays for so many moves."""
    return Batch(edges.new_edges(move_count), *new_indices(move_count))


@part
def next_edges(moves: Moves, states: NDArray[Any], begin: int, end: int, listed: Edges) -> tuple[Any, Any, Any]:
    """List the moves of unfinished states[begin:end]: of as many states as fit, but of one at least.

    Returns:
        `listed`, or larger arrays; the number of moves; and the first state that is left over. If that state has
        a fault, no moves or too many, the number is -fault.
    """
    count, next_state = edges.list_edges(moves, states, begin, end, listed)
    while next_state == begin and count >= 0:
        # not even one state fits: double the arrays, up to a limit
        if len(listed.keys) > edges.MOST_ACTIONS:
            return listed, np.int64(-edges.CROWDED), next_state
        listed = edges.new_edges(2 * len(listed.keys))
        count, next_state = edges.list_edges(moves, states, begin, end, listed)
    return listed, count, next_state


@part
def next_batch(
    moves: Moves, lookup: TierLookup, begin: int, end: int, least_key: int, greatest_key: int, batch: Batch
) -> tuple[Any, Any, Any]:
    """List moves of the look-up's states as `next_edges` does, and look up the unfinished children in a range of keys.

    Returns:
        The batch, the number of moves, and the first state that is left over.
    """
    listed, count, next_state = next_edges(moves, lookup.states, begin, end, batch.edges)
    rows, state_indices, ends = batch.rows, batch.places, batch.highs
    # The list of moves grew, so the look-up needs larger arrays, too.
    if len(rows) < len(listed.keys):
        rows, state_indices, ends = new_indices(len(listed.keys))
    keys, tiers, merits = listed.keys, listed.tiers, listed.merits
    slots, first_tier = lookup.slots, lookup.first_tier
    for j in range(count):
        rows[j] = PASSED
        # finished children bring their merit along: only open ones are looked up
        if merits[j] == edges.NOT_TERMINAL and least_key <= keys[j] <= greatest_key:
            # Tiers are few and close together: an array by tier replaces a search.
            slot = tiers[j] - first_tier
            rows[j] = slots[slot] if 0 <= slot < len(slots) else MISSING
    locate(lookup, keys, rows, count, state_indices, ends)
    return Batch(listed, rows, state_indices, ends), count, next_state


@part
def widest_of(values: NDArray[Any]) -> Any:
    """Return the largest margin that an array of merits may hold."""
    # 64 - 8 * itemsize bits are missing at the top of a smaller number.
    return min(edges.MOST_MARGIN, LAST >> 64 - 8 * values.itemsize)


@part
def least_unmet(merits: NDArray[Any], first: int, last: int, met: NDArray[Any], mark: int) -> Any:
    """The least nimber that none of the moves first..last leads to (mex), as a merit.

    Args:
        merits: What the moves are worth to who makes them.
        first: The first move.
        last: The index after the last.
        met: (more than there are moves,) int64, without this mark. Changed in place.
        mark: The number of the state.
    """
    for j in range(first, last):
        # No state has so many moves that a larger one counts
        nimber = max(-merits[j], 0)
        if nimber < len(met):
            met[nimber] = mark
    least = 0
    while met[least] == mark:
        least += 1
    return np.int64(least if least else LOST)


@part
def value_at(lookup: TierLookup, row: int, state_index: int) -> Any:
    """Return the merit of a state by its tier's row and its index there."""
    return np.int64(lookup.merits[lookup.table[row, MERITS] + state_index])


def refuse(rules: Rules, fault: int, state: int) -> None:
    """Raise the error for a fault of a backward pass.

    Raises:
        TooWide: TOO_WIDE: a margin exceeds the type of the merits; a wider type may hold it.
        MethodError: BEYOND: no merit in a tier with cycles can hold a margin. SCORING: a move scores and stays in its
            tier.
        GameError: LOST_CHILD: a child was never reached, or a state has no moves, or too many.
    """
    if fault == TOO_WIDE:
        raise TooWide
    if fault == BEYOND:
        raise too_wide(rules)
    if fault == SCORING:
        raise scoring(rules, int(state))
    if fault == LOST_CHILD:
        raise confirmed(rules.game, [int(state)], f"state {state} {edges.FAULTS[edges.UNKNOWN_CHILD]}", known=False)


def too_wide(rules: Rules) -> MethodError:
    """Return the refusal of margins that are too large in a game whose play may come back to a state."""
    return MethodError(f"{rules.name} has margins beyond {WIN - 1:,} where play may come back: count in larger units")
