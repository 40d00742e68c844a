"""A task's view of a solution: the states of its shard and the children that it asked for, as one small look-up.

So the passes of the sweep do for a shard the same as for a whole game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.cluster.blocks import Block, States, collect, count_dealt
from solver.store.directory import TierLookup, lookup_of
from solver.store.shared import read_only, shared
from solver.store.sorting import gallop


def look_up(keys: States, states: States, known: NDArray[Any], values: NDArray[Any]) -> None:
    """Set values[i] = known[j] where states[j] == keys[i], both ascending. Other values stay as they are."""
    _look_up(read_only(keys), read_only(states), read_only(known), values)


@shared
def _look_up(keys: NDArray[Any], states: NDArray[Any], known: NDArray[Any], values: NDArray[Any]) -> None:
    low = 0
    for i in range(len(keys)):
        low = gallop(states, keys[i], low)
        if low < len(states) and states[low] == keys[i]:
            values[i] = known[low]


def miniature(
    tier: int, states: States, children: Block, bits: int, answers: Sequence[NDArray[Any]], kind: np.dtype[Any]
) -> TierLookup:
    """Build a small game of a tier's states, followed by their unfinished children in later tiers.

    2**`bits` shards have given the children's values. A child whose value is the least number of its type was never
    reached, and is left out.
    """
    begins = np.empty(1 << bits, np.int64)
    count_dealt(children.keys, bits, begins)
    dealt = np.concatenate(answers) if answers else np.empty(0, kind)
    values = np.empty(len(children.keys), kind)
    collect(children.keys, bits, begins, dealt, values)
    keys, index = children.keys, children.table
    lost = values == np.iinfo(kind).min
    if lost.any():
        lost_before = np.concatenate([[0], np.cumsum(lost)])
        index = index.copy()
        index[:, 2] -= lost_before[index[:, 2]]
        keys, values = keys[~lost], values[~lost]
    return lookup_of([(tier, states), *Block(index, keys).of(0)], values)
