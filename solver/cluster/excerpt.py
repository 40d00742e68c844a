"""What one task sees of a solution: the states of its shard and the children that it asked for, as one small `Known`.

So the passes of the sweep do for a shard what they do for a whole game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.cluster.blocks import Block, States, collect, count_dealt
from solver.compiled.edges import MOST_ACTIONS, OPEN, Moves, list_edges, new_edges
from solver.store.directory import Known, cells_of, prefixes_of
from solver.store.runs import are_scattered, by_tier
from solver.store.shared import read_only, shared

CHUNK = 1 << 15  # states whose children are listed in one call
CHILDREN = 1 << 18  # children of one call, sorted in cache


@shared
def open_children(moves, states, begin, end, tier, listed, span):
    """List the children in tiers above `tier` of states[begin:end], as many as fit: their number, and the first state
    left over; span (2,) int64 gets their lowest and highest tier. With a win they are the unfinished ones alone."""
    count, done = list_edges(moves, states, begin, end, listed)
    keys, tiers, merits = listed.keys, listed.tiers, listed.merits
    left = 0
    for i in range(count):
        if (moves.win == 0 or merits[i] == OPEN) and tiers[i] > tier:
            keys[left], tiers[left] = keys[i], tiers[i]
            span[0] = min(span[0], tiers[i]) if left else tiers[i]
            span[1] = max(span[1], tiers[i]) if left else tiers[i]
            left += 1
    return left, done


def children_of(moves: Moves, tier: int, states: States) -> dict[int, list[States]]:
    """Sorted runs of the children in later tiers of unfinished states, by tier: see `open_children`."""
    runs: dict[int, list[States]] = {}
    scattered: list[tuple[States, States]] = []
    room = min(CHILDREN, 64 * max(1, len(states)))
    listed, spare, span = new_edges(room), np.empty(room, np.int64), np.zeros(2, np.int64)
    at = 0
    while at < len(states):
        count, done = open_children(moves, states, at, min(at + CHUNK, len(states)), tier, listed, span)
        if done == at:
            room *= 2
            assert room <= 4 * MOST_ACTIONS, "the pass forward has listed the same moves"
            listed, spare = new_edges(room), np.empty(room, np.int64)
            continue
        at, low, high = int(done), int(span[0]), int(span[1])
        if are_scattered(count, low, high):
            scattered.append((listed.keys[:count].copy(), listed.tiers[:count].copy()))
            continue
        for later, run in by_tier(listed.keys, listed.tiers, spare, count, low, high):
            runs.setdefault(later, []).append(run)
    for later, run in gathered(scattered):
        runs.setdefault(later, []).append(run)
    return runs


def gathered(scattered: Sequence[tuple[States, NDArray[np.int64]]]) -> list[tuple[int, States]]:
    """States of many tiers as a sorted run for each tier."""
    if not scattered:
        return []
    states, tiers = (np.concatenate(arrays) for arrays in zip(*scattered, strict=True))
    return list(by_tier(states, tiers, np.empty_like(states), len(states), int(tiers.min()), int(tiers.max())))


def look_up(keys: States, states: States, known: NDArray[Any], values: NDArray[Any]) -> None:
    """values[i] = known[j] where states[j] == keys[i], both ascending; what is not there stays as it is."""
    _look_up(read_only(keys), read_only(states), read_only(known), values)


@shared
def _look_up(keys, states, known, values):
    low = 0
    for i in range(len(keys)):
        key = keys[i]
        step = 1
        high = low
        while high < len(states) and states[high] < key:
            low = high + 1
            high += step
            step *= 2
        high = min(high, len(states))
        while low < high:
            middle = (low + high) // 2
            if states[middle] < key:
                low = middle + 1
            else:
                high = middle
        if low < len(states) and states[low] == key:
            values[i] = known[low]


def miniature(
    tier: int, states: States, children: Block, bits: int, answers: Sequence[NDArray[Any]], kind: np.dtype[Any]
) -> Known:
    """States of a tier, and behind them their unfinished children of later tiers, with the values that their 2**`bits`
    shards have answered. A child whose value is the least number of its type nobody has reached: it is left out."""
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
    layers = [(tier, states), *((later, part) for later, part in Block(index, keys).of(0))]
    table = np.zeros((len(layers), 7), np.int64)
    slots = np.full(layers[-1][0] - tier + 1, -1, np.int32)
    cells: list[NDArray[np.uint32]] = []
    begin = first = 0
    for row, (later, part) in enumerate(layers):
        shift, prefix, size = prefixes_of(part)
        cells.extend(cells_of(part, shift, prefix, size))
        # the values of the states themselves are not there
        table[row] = begin, begin + len(part), shift, prefix, first, size, max(0, begin - len(states))
        slots[later - tier] = row
        begin, first = begin + len(part), first + size
    return Known(np.concatenate([states, keys]), values, table, slots, tier, np.concatenate(cells)).read_only()
