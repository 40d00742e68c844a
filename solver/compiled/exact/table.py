"""The transposition table of the compiled alpha-beta: for a state both bounds proven so far and their cost.

A table is a run of words, (2 * entries,) int64, a power of two of them, aligned so that a bucket of two entries lies
in one line of the cache; of two entries in a bucket the cheaper one makes way. An entry is two words:

    key     the state, inverted, xor-ed with the data times MIXER
    data    lower bound | upper bound << 24 | log2 of the nodes they cost << 48, bounds with LIMIT added; never 0

Threads share a table without locks (Hyatt and Mann, ICGA Journal 25(1), 2002). If two threads wrote a word each of an
entry, it matches no key and passes for missing. That holds on two conditions. A reader takes each word once, and checks
the key against the data that it goes on to use. And the data are mixed: keys are states, not hashes, so two entries of
neighbours, a few bits apart, could be torn into an entry of a third.

Of a wide state (`compiled.wide`) the further words of the key, treated alike, come behind the data, and an entry is as
many words as the next power of two.

Zeros are empty entries, so a new table costs nothing until it is used, and a table may begin as the head of a longer
run of zeros and be `spread` over more of it in place: a bucket's entries stay, or go to buckets that are still empty.

`busy` (a power of two,) int64 notes which states threads that search together are at, as well as it can.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from solver.base.errors import MethodError
from solver.compiled.operators import raised_to
from solver.compiled.states import MIXER, Words, folded, in_place_of, unpacked, where_wide, word_count, word_in
from solver.compiled.wide import WORD, Wide
from solver.store.shared import part, shared

LIMIT = 1 << 23  # above all merits
WIN = LIMIT - 1  # the merit of a win now
LOW_BITS = (1 << 24) - 1
WORK_SHIFT = 48
GROWTH = 4
LOAD = 1  # entries kept, for each there is room for, after which a table grows
UNSIGNED = np.uint64(int(MIXER) & (1 << 64) - 1)
LINE = 8  # words of a line of the cache
IDLE = -1  # in `busy`: no state


def new_table(size: int) -> Words:
    """Return an empty table of at most `size` bytes, a power of two. Raises MethodError if that is too small."""
    if size < 1024:
        raise MethodError(f"a table of {size} bytes is too small: --table 64M")
    words = 1 << (size // 8).bit_length() - 1
    # Begin at a line of the cache, so that a bucket of two entries needs a single fetch.
    room = np.zeros(words + LINE, np.int64)
    start = -room.ctypes.data // 8 % LINE
    return room[start : start + words]


def size_of(key: Any) -> int:
    """Return the words of an entry of such a key."""
    return 2


@in_place_of(size_of)
def _size_of(key: Any) -> Any:
    size = 1 << (key.width // WORD).bit_length() if isinstance(key, Wide) else 2
    return lambda key: size


@register_jitable(forceinline=True)
def mixed_with(data: Any) -> Any:
    """Return the number that the words of a key are xor-ed with. One changed bit of the data changes many of its bits.

    The product wraps, so it is unsigned: the compiler assumes that signed numbers never wrap.
    """
    return np.int64(np.uint64(data) * UNSIGNED)


@register_jitable(forceinline=True)
def has_key(table: Words, at: int, key: Any, behind: int, mixed: int) -> Any:
    """Return whether an entry has a key: its words, xor-ed with `mixed`, are those of the key.

    They are the word at `at` and, of a wide key, the words from `at + behind + 1` on.
    """
    differs = table[at] ^ mixed ^ ~word_in(key, 0)
    for place in range(1, word_count(key)):
        differs |= table[at + behind + place] ^ mixed ^ ~word_in(key, place)
    return differs == 0


@register_jitable(forceinline=True)
def write_key(table: Words, at: int, key: Any, behind: int, mixed: int) -> None:
    """Write the key of an entry, as `has_key` finds it."""
    table[at] = ~word_in(key, 0) ^ mixed
    for place in range(1, word_count(key)):
        table[at + behind + place] = ~word_in(key, place) ^ mixed


def key_at(table: Any, at: Any, more: Any) -> Any:
    """Return the key of the entry at a word. `more`: `extra_words` of `compiled.states`."""
    return ~(table[at] ^ mixed_with(table[at + 1]))


@where_wide(key_at)
def _key_at(table: Any, at: Any, more: Any) -> Any:
    words, raised = 1 + len(more), raised_to(WORD * (1 + len(more)))

    def read(table: Words, at: int, more: Any) -> Any:
        mixed = mixed_with(table[at + 1])
        key = raised(~(table[at] ^ mixed), 0)
        for place in range(1, words):
            key |= raised(~(table[at + 1 + place] ^ mixed), place)
        return key

    return read


@register_jitable(forceinline=True)
def bucket_of(key: Any, words: int, entries: Any = 2) -> Any:
    """Return the first word of a key's bucket of so many entries, in a table of so many words."""
    mixed = folded(key) * MIXER
    size = entries * size_of(key)
    # The high bits of the product depend on all bits of the key; the low ones do not.
    return (mixed >> 20 ^ mixed >> 42) * size & words - size


@register_jitable(forceinline=True)
def find(table: Words, key: Any) -> Any:
    """Return the data of a key, or 0. They are read once, since another thread may write the entry at any time."""
    bucket = bucket_of(key, len(table))
    data = table[bucket + 1]
    if has_key(table, bucket, key, 1, mixed_with(data)):
        return data
    bucket += size_of(key)
    data = table[bucket + 1]
    if has_key(table, bucket, key, 1, mixed_with(data)):
        return data
    return np.int64(0)


@register_jitable(forceinline=True)
def low_of(data: int) -> Any:
    """Return the proven lower bound in an entry's data."""
    return (data & LOW_BITS) - LIMIT


@register_jitable(forceinline=True)
def high_of(data: int) -> Any:
    """Return the proven upper bound in an entry's data."""
    return (data >> 24 & LOW_BITS) - LIMIT


@part
def keep(table: Words, key: Any, low: int, high: int, work: int) -> None:
    """Store bounds, joined with those known. If the bucket is full, the entry that cost less makes way."""
    bucket, size = bucket_of(key, len(table)), size_of(key)
    data = table[bucket + 1]
    if not has_key(table, bucket, key, 1, mixed_with(data)):
        # Another state has the first place. This one may have the second.
        cost, data = data >> WORK_SHIFT, table[bucket + size + 1]
        data = data if has_key(table, bucket + size, key, 1, mixed_with(data)) else np.int64(0)
        # A state that cost less than the first entry's goes to the second place. Otherwise the first entry moves there,
        # and the one that was there is lost.
        if data or work < cost:
            bucket += size
        else:
            for slot in range(bucket, bucket + size):
                table[slot + size] = table[slot]
    # Both searches proved their bounds, so the tighter of each holds.
    if data:
        low, high = max(low, low_of(data)), min(high, high_of(data))
        work = max(work, data >> WORK_SHIFT)
    data = low + LIMIT | high + LIMIT << 24 | work << WORK_SHIFT
    table[bucket + 1] = data
    write_key(table, bucket, key, 1, mixed_with(data))


@register_jitable(forceinline=True)
def busy_place(busy: Words, state: Any) -> Any:
    """Return the place in `busy` of a state that is being searched, `folded`."""
    return state * MIXER >> 30 & len(busy) - 1


@shared
def spread(table: Words, used: Any, more: Any) -> None:
    """Distribute the entries of table[:used] over the whole table, which is empty beyond."""
    size = size_of(key_at(table, 0, more))
    for at in range(0, used, 2 * size):
        first, first_data = key_at(table, at, more), table[at + 1]
        second, second_data = key_at(table, at + size, more), table[at + size + 1]
        for place in range(at, at + 2 * size):
            table[place] = 0
        # The second entry goes first, so that the first one can take the first place again if both stay in the bucket.
        if second_data:
            keep(table, second, low_of(second_data), high_of(second_data), second_data >> WORK_SHIFT)
        if first_data:
            keep(table, first, low_of(first_data), high_of(first_data), first_data >> WORK_SHIFT)


def exact_entries(table: Words, more: tuple[int, ...] = ()) -> dict[int, int]:
    """Return the keys and merits of all entries whose bounds have met."""
    words = 1 + len(more)
    entries = table.reshape(-1, 1 << words.bit_length())
    data = entries[:, 1]
    low = (data & LOW_BITS) - LIMIT
    high = (data >> 24 & LOW_BITS) - LIMIT
    # Bounds that have met are the exact merit.
    met = (low == high) & (data != 0)
    keys = ~(entries[met][:, [0, *range(2, words + 1)]] ^ data[met, None] * MIXER)
    return dict(zip(unpacked(keys), low[met].tolist(), strict=True))
