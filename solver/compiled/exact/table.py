"""The transposition table of the compiled alpha-beta: for a state both bounds proven so far and what that cost.

A table is a run of words, (2 * entries,) int64, a power of two of them, aligned so that a bucket of two entries lies
in one line of the cache; of two entries in a bucket the cheaper one makes way. An entry is two words:

    key     the state, inverted, xor-ed with the data: where threads tear an entry, it matches no key, so they share
            a table without locks (Hyatt and Mann, ICGA Journal 25(1), 2002)
    data    lower bound | upper bound << 24 | log2 of the nodes they cost << 48, bounds with LIMIT added

Zeros are empty entries, so a new table costs nothing until it is used, and a table may begin as the head of a longer
run of zeros and be `spread` over more of it in place: a bucket's entries stay, or go to buckets that are still empty.

`busy` (a power of two,) int64 notes which states threads that search together are at, as well as it can.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base.errors import MethodError
from solver.store.shared import shared

Words = NDArray[np.int64]

LIMIT = 1 << 23  # above all merits
WIN = LIMIT - 1  # the merit of a win now
LOW_BITS = (1 << 24) - 1
WORK_SHIFT = 48
GROWTH = 4
LOAD = 1  # entries kept, for each there is room for, after which a table grows
LINE = 8  # words of a line of the cache
IDLE = -1  # in `busy`: no state


def new_table(size: int) -> Words:
    """An empty table of the largest power of two of bytes within `size`. Raises MethodError if that is too small."""
    if size < 1024:
        raise MethodError(f"a table of {size} bytes is too small: --table 64M")
    words = 1 << (size // 8).bit_length() - 1
    room = np.zeros(words + LINE, np.int64)
    start = -room.ctypes.data // 8 % LINE
    return room[start : start + words]


@register_jitable(forceinline=True)
def bucket_of(key, words):
    """The first word of a key's bucket in a table of so many words."""
    mixed = key * np.int64(-7046029254386353131)
    return (mixed >> 20 ^ mixed >> 42) << 2 & words - 4


@register_jitable(forceinline=True)
def find(table, key):
    """The first word of the entry of a key, or -1."""
    at = bucket_of(key, len(table))
    if table[at] ^ table[at + 1] == ~key:
        return at
    if table[at + 2] ^ table[at + 3] == ~key:
        return at + 2
    return -1


@register_jitable(forceinline=True)
def low_of(data):
    """The proven lower bound in an entry's data."""
    return (data & LOW_BITS) - LIMIT


@register_jitable(forceinline=True)
def high_of(data):
    """The proven upper bound in an entry's data."""
    return (data >> 24 & LOW_BITS) - LIMIT


@register_jitable
def keep(table, key, low, high, work):
    """Store bounds, joined with what is known; of the bucket's entries the one that cost less makes way."""
    at = find(table, key)
    if at >= 0:
        data = table[at + 1]
        low, high = max(low, low_of(data)), min(high, high_of(data))
        work = max(work, data >> WORK_SHIFT)
    else:
        at = bucket_of(key, len(table))
        if work >= table[at + 1] >> WORK_SHIFT:
            table[at + 2] = table[at]
            table[at + 3] = table[at + 1]
        else:
            at += 2
    data = low + LIMIT | high + LIMIT << 24 | work << WORK_SHIFT
    table[at + 1] = data
    table[at] = ~key ^ data


@register_jitable(forceinline=True)
def busy_place(busy, state):
    """Where a state that is being searched is noted."""
    mixed = state * np.int64(-7046029254386353131)
    return mixed >> 30 & len(busy) - 1


@shared
def spread(table, used):
    """Carry the entries of table[:used] over to the whole table, which is empty beyond."""
    for at in range(0, used, 4):
        first, first_data, second, second_data = table[at], table[at + 1], table[at + 2], table[at + 3]
        table[at] = table[at + 1] = table[at + 2] = table[at + 3] = 0
        if second_data:
            keep(table, ~(second ^ second_data), low_of(second_data), high_of(second_data), second_data >> WORK_SHIFT)
        if first_data:
            keep(table, ~(first ^ first_data), low_of(first_data), high_of(first_data), first_data >> WORK_SHIFT)


def exact_entries(table: Words) -> dict[int, int]:
    """Keys to merits: all entries whose bounds have met."""
    data = table[1::2]
    keys = ~(table[::2] ^ data)
    low = (data & LOW_BITS) - LIMIT
    high = (data >> 24 & LOW_BITS) - LIMIT
    met = (low == high) & (data != 0)
    return dict(zip(keys[met].tolist(), low[met].tolist(), strict=True))
