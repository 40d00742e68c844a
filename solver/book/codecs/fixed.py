"""The `fixed` codec: fixed-point numbers in place of palette indices, for books of expectations.

Group, up to 256 states
    u8 key mode, as in `instant` | u8 states - 1 | u8 bits of a value, 0 to 32 | u32 the least number
    values: numbers less the least, lowest bits first, side by side
    keys, as in `instant`

Worked group: states 1000, 1001, 1003 with the numbers 70, 73, 70
    00 | 02 | 02 | 46 00 00 00 | 0c | 0b
    bitmap, 3 states, 2 bits a value, from 70 on: 0 3 0, keys 1000 + {0, 1, 3}

Encoding is in the subset of Python that runs plain and compiled alike.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from solver.book.codecs.instant import (
    BLOCK,
    GROUP,
    KEY_BYTES,
    KEY_FORMATS,
    OFTEN_WRONG,
    POPULATION,
    counts,
    find_group,
    find_offset,
    from_bytes,
    groups,
    population,
    put_keys,
)
from solver.errors import DamagedBook

__all__ = ["BLOCK", "GROUP", "counts", "groups", "put_keys"]
NAME, NUMBER = "fixed", 3
GROUPS = 1308  # of 40 bytes, values all alike, states side by side
HEAD = 7
BASE = 3  # where the least number is
MOST_BITS = 32


def encode_chunk(
    states: Sequence[int], numbers: Sequence[int], palette_size: int, index_bytes: int
) -> tuple[bytes, list[int], list[int]]:
    """The groups of the states one after the other, the states and the bytes of each."""
    out = bytearray(bound(len(states), index_bytes))
    lengths = [0] * groups(len(states))
    used = encode_groups(states, numbers, out, lengths)
    return bytes(out[:used]), counts(len(states)), lengths


def bound(count: int, index_bytes: int) -> int:
    """An upper bound of the bytes that count states encode to."""
    return groups(count) * (HEAD + 1) + count * (index_bytes + 8)


def encode_groups(states: Any, numbers: Any, out: Any, lengths: Any) -> int:
    """Encode states (ascending, < 2**63) and their numbers into `out`; the bytes used. `lengths`: of each group."""
    at = 0
    first = 0
    while first < len(states):
        count = min(GROUP, len(states) - first)
        start = at
        at = put_numbers(numbers, first, count, out, at)
        at = put_keys(states, first, count, out, start, at)
        lengths[first // GROUP] = at - start
        first += count
    return at


def put_numbers(numbers: Any, first: int, count: int, out: Any, start: int) -> int:
    """Write a group's head and numbers at `start`; the byte behind."""
    least = most = int(numbers[first])
    for i in range(first + 1, first + count):
        number = int(numbers[i])
        least, most = min(least, number), max(most, number)
    width = 0
    while most - least >> width:
        width += 1
    out[start], out[start + 1], out[start + 2] = 0, count - 1, width
    for byte in range(4):
        out[start + BASE + byte] = least >> 8 * byte & 255
    at, held, bits = start + HEAD, 0, 0
    for i in range(first, first + count):
        held |= int(numbers[i]) - least << bits
        bits += width
        while bits >= 8:
            out[at] = held & 255
            at, held, bits = at + 1, held >> 8, bits - 8
    if bits:
        out[at] = held
        at += 1
    return at


def finder() -> Callable[[Any, int], int | None]:
    """The look-up, which keeps nothing."""
    return find


def find(segment: Any, state: int) -> int | None:
    """The number of a state, not below the segment's first; None if it is not there."""
    view, firsts, starts, _ = segment
    group = bisect_right(firsts, state) - 1
    at = starts[group]
    mode, count, width = view[at], view[at + 1] + 1, view[at + 2]
    keys = at + HEAD + (count * width + 7 >> 3)
    offset = state - firsts[group]
    if mode:
        known = view[keys : keys + count * KEY_BYTES[mode]]
        if mode > 1:
            known = known.cast(KEY_FORMATS[mode])
        place = bisect_left(known, offset)
        if place == count or known[place] != offset:
            return None
    else:
        byte = keys + (offset >> 3)
        if byte >= starts[group + 1]:
            return None
        bit = 1 << (offset & 7)
        if not view[byte] & bit:
            return None
        place = from_bytes(view[keys:byte], "little").bit_count() + POPULATION[view[byte] & bit - 1]
    bit = place * width
    begin = at + HEAD + (bit >> 3)
    packed = from_bytes(view[begin : min(begin + 5, keys)], "little")
    number: int = from_bytes(view[at + BASE : at + HEAD], "little") + (packed >> (bit & 7) & (1 << width) - 1)
    return number


def find_all(segment: Any, states: Any, found: Any, compiled: Callable[..., Any]) -> None:
    """The numbers of ascending states, none below the segment's first, or -1, written to `found`."""
    if not compiled(find_sorted, find_group, find_offset, population, number_at)(*segment[:3], states, found):
        raise ValueError("a group does not fit together")


def find_sorted(view: Any, firsts: Any, starts: Any, states: Any, found: Any) -> bool:
    """`find_all`, compiled; False where groups do not fit together."""
    group = 0
    for i in range(len(states)):
        if group < len(firsts) - 1 and firsts[group + 1] <= states[i]:
            group = find_group(firsts, group, states[i])
        at, end = int(starts[group]), int(starts[group + 1])
        if end > len(view) or at + HEAD > end:
            return False
        mode, count, width = int(view[at]), int(view[at + 1]) + 1, int(view[at + 2])
        keys = at + HEAD + (count * width + 7 >> 3)
        if keys > end or width > MOST_BITS or mode > 4 or (mode and keys + (count << mode - 1) > end):
            return False
        offset = states[i] - firsts[group]
        found[i] = -1
        if offset < 0:  # of a first state beyond 63 bits
            return False
        if mode:
            place = find_offset(view, keys, mode, count, offset)
        else:
            byte = keys + (offset >> 3)
            if byte >= end or not int(view[byte]) >> (offset & 7) & 1:
                continue
            place = population(int(view[byte]) & (1 << (offset & 7)) - 1)
            for before in range(keys, byte):
                place += population(int(view[before]))
        if place >= count:
            return False
        if place >= 0:
            found[i] = number_at(view, at, place * width, width)
    return True


def number_at(view: Any, at: int, bit: int, width: int) -> int:
    """The number whose bits begin with this one in the group at `at`."""
    number = 0
    for byte in range((bit & 7) + width + 7 >> 3):
        number |= int(view[at + HEAD + (bit >> 3) + byte]) << 8 * byte
    number = number >> (bit & 7) & (1 << width) - 1
    for byte in range(4):
        number += int(view[at + BASE + byte]) << 8 * byte
    return number


def decode(body: memoryview, first: int, index_bytes: int) -> tuple[list[int], list[int]]:
    """The states and numbers of a group; raises DamagedBook if they do not fit together."""
    try:
        mode, count, width = body[0], body[1] + 1, body[2]
        keys = HEAD + (count * width + 7 >> 3)
        least = from_bytes(body[BASE:HEAD], "little")
        packed, mask = from_bytes(body[HEAD:keys], "little"), (1 << width) - 1
        numbers = [least + (packed >> place * width & mask) for place in range(count)]
        if mode:
            offsets = body[keys:].cast(KEY_FORMATS[mode]).tolist()
        else:
            bits = from_bytes(body[keys:], "little")
            offsets = [offset for offset in range(bits.bit_length()) if bits >> offset & 1]
    except OFTEN_WRONG as error:
        raise DamagedBook(f"a group is malformed ({error})") from None
    if width > MOST_BITS or not offsets or offsets[0]:
        raise DamagedBook("a group is malformed (it does not begin with its first state)")
    if len(offsets) != count:
        raise DamagedBook(f"a group of {count} states has {len(offsets)} keys")
    return [first + offset for offset in offsets], numbers
