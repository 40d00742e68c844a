"""The transposition table of the compiled search of limited depth: bounds on the value of a state at a depth.

One run of words, a power of two of them, aligned so that a bucket of two entries lies in one line of the cache. An
entry is four words, of which the last two are floats: `table` is the run as int64, `bounds` as float64.

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
from numpy.typing import NDArray

from solver.compiled.exact.table import Words, bucket_of, has_key, new_table, size_of, write_key
from solver.compiled.inlining import PART

DEPTH_BITS = (1 << 20) - 1
WHOLE_WINDOW = 1 << 20
OWN_IMAGE = 1 << 21
ACTION_SHIFT = 22
DEEPEST = DEPTH_BITS


def new_bounds(size: int) -> tuple[Words, NDArray[np.float64]]:
    """An empty table of the largest power of two of bytes within `size`, both ways. Raises MethodError below 1024."""
    table = new_table(size)
    return table, table.view(np.float64)


@register_jitable(forceinline=True, **PART)
def place_of(key: Any, words: int) -> Any:
    """The first word of a key's bucket in a table of so many words."""
    return bucket_of(key, words >> 1) << 1


@register_jitable(forceinline=True, **PART)
def find(table: NDArray[Any], key: Any) -> Any:
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


@register_jitable(**PART)
def keep(table: NDArray[Any], bounds: NDArray[Any], key: Any, note: int, low: float, high: float) -> None:
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
