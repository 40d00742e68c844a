"""The `instant` codec: a look-up reads a few bytes of a group and decodes nothing else.

Group, up to 256 states
    u8 key mode + 8 * value width, 0, 1, 2, 4 or 8 bits | u8 states - 1 | u8 local palette entries - 1
    local palette, indices into the header's palette
    values: local palette places, lowest bits first
    keys, mode 0: bitmap of first..last state, lowest bit first; modes 1-4: state - first, in 1, 2, 4 or 8 bytes; of
        states of more than 63 bits, in opening books and grown ones, modes 5-7: in 16, 32 or 64 bytes

Worked group: states 1000, 1001, 1003 with palette indices 7, 9, 7, indices of one byte
    08 | 02 | 01 | 07 09 | 02 | 0b
    bitmap and 1 bit a value, 3 states, 2 entries, places 0 1 0, keys 1000 + {0, 1, 3}

Encoding and decoding are in the subset of Python that runs plain and compiled alike. States of more than 63 bits are
read and written in plain Python; a look-up takes 5 us.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from solver.base.errors import DamagedBook
from solver.book.codecs import PLAIN, Codec, Groups, Machine, as_list, number_at, population
from solver.rules.width import USUAL

GROUP_STATES = 256
HEAD = 3
MOST_BYTES = HEAD + 4 + 1 + 1  # of a state, besides its key
WORD_MODES = 4  # key modes of states of one word
KEY_BYTES = (0, 1, 2, 4, 8, 16, 32, 64)
KEY_FORMATS: tuple[Any, ...] = ("", "B", "H", "I", "Q")
WIDTHS = (0, 1, 2, 4, 8)  # bits of a value
MASKS = tuple((1 << width) - 1 for width in range(9))

from_bytes = int.from_bytes


def encoder(state_bytes: int, *helpers: Callable[..., int]) -> Callable[..., Groups]:
    """The `Codec.encode_chunk` that cuts states into groups of GROUP_STATES.

    A state takes at most `state_bytes` besides its key. The helpers are `put_values` and `put_keys`, and what they call
    before them.
    """

    def encode_chunk(
        states: Sequence[int], indices: Sequence[int], palette_size: int, index_bytes: int, machine: Machine = PLAIN
    ) -> Groups:
        """Encode ascending states and their palette indices as groups."""
        counts = [min(GROUP_STATES, len(states) - begin) for begin in range(0, len(states), GROUP_STATES)]
        key_bytes = KEY_BYTES[-1] if len(states) and int(states[-1]) >> USUAL else 8
        room = (state_bytes + key_bytes) * len(states)
        out, lengths = machine.new_bytes(room), machine.new_integers(len(counts))
        encode = machine.compiled(encode_groups, *helpers)
        used = encode(states, indices, index_bytes, machine.new_integers(palette_size), out, lengths)
        return out[:used], counts, as_list(lengths)

    return encode_chunk


def encode_groups(states: Any, indices: Any, index_bytes: int, scratch: Any, out: Any, lengths: Any) -> int:
    """Encode ascending states and their palette indices into `out`, and return the bytes used.

    `lengths` gets the bytes of each group. `scratch` has an entry for each value of the palette, 0 at first. An entry
    is (group + 1) << 8 | local index, so it need not be cleared between groups.
    """
    offset = 0
    first_index = 0
    while first_index < len(states):
        group = first_index // GROUP_STATES
        count = min(GROUP_STATES, len(states) - first_index)
        start = offset
        offset = put_values(indices, first_index, count, group + 1, index_bytes, scratch, out, offset)
        offset = put_keys(states, first_index, count, out, start, offset)
        lengths[group] = offset - start
        first_index += count
    return offset


def put_values(
    indices: Any, first_index: int, count: int, mark: int, index_bytes: int, scratch: Any, out: Any, start: int
) -> int:
    """Write a group's head, local palette and values at `start`, and return the offset behind them.

    `mark` is the group's number in `scratch`.
    """
    offset = start + HEAD
    entries = 0
    for i in range(first_index, first_index + count):
        index = indices[i]
        # The first time that the group has this value, it gets the next entry of the local palette.
        if scratch[index] >> 8 != mark:
            scratch[index] = mark << 8 | entries
            entries += 1
            for byte in range(index_bytes):
                out[offset] = index >> 8 * byte & 255
                offset += 1
    width = 0
    # Widths are 0, 1, 2, 4, 8, so that no value lies across two bytes.
    while 1 << width < entries:
        width = max(1, 2 * width)
    out[start] = width << 3
    out[start + 1] = count - 1
    out[start + 2] = entries - 1
    if width:
        per_byte = 8 // width
        for i in range(count):
            value_index = scratch[indices[first_index + i]] & 255
            if i % per_byte == 0:
                out[offset + i // per_byte] = value_index
            else:
                out[offset + i // per_byte] |= value_index << i % per_byte * width
        offset += (count + per_byte - 1) // per_byte
    return offset


def put_keys(states: Any, first_index: int, count: int, out: Any, start: int, at: int) -> int:
    """Write a group's keys at `at`, and their mode into its head at `start`. Returns the offset behind the keys."""
    lowest = states[first_index]
    span = states[first_index + count - 1] - lowest
    mode, size = 1, 1
    # Double the size of an offset until the largest one fits.
    while span >> 8 * size - 1 > 1:
        mode += 1
        size *= 2
    # A bitmap takes a bit for each state between the first and the last. It wins in dense groups.
    if (span >> 3) + 1 <= count * size:
        for byte in range((span >> 3) + 1):
            out[at + byte] = 0
        for i in range(first_index, first_index + count):
            offset = states[i] - lowest
            out[at + (offset >> 3)] |= 1 << (offset & 7)
        at += (span >> 3) + 1
        return at
    out[start] |= mode
    for i in range(first_index, first_index + count):
        offset = states[i] - lowest
        for byte in range(size):
            out[at] = offset >> 8 * byte & 255
            at += 1
    return at


def find(segment: Any, state: int) -> int | None:
    """Return the palette index of a state, which is not below the segment's first. None if it is not stored."""
    view, firsts, starts, index_bytes = segment
    group = bisect_right(firsts, state) - 1
    group_begin = starts[group]
    kind = view[group_begin]
    count = view[group_begin + 1] + 1
    width = kind >> 3
    palette = group_begin + HEAD
    values = palette + (view[group_begin + 2] + 1) * index_bytes
    keys = values + (count * width + 7 >> 3)
    offset = state - firsts[group]
    mode = kind & 7
    if mode > WORD_MODES:
        place = place_of_key(view[keys : starts[group + 1]].tobytes(), KEY_BYTES[mode], offset)
        if place < 0:
            return None
    elif mode:
        # Offsets are sorted, so a typed view of them can be bisected without a copy.
        known = view[keys : keys + count * KEY_BYTES[mode]]
        if mode > 1:
            known = known.cast(KEY_FORMATS[mode])
        place = bisect_left(known, offset)
        if place == count or known[place] != offset:
            return None
    else:
        # The number of set bits before a state's own bit is its index in the group.
        place = place_of_bit(view, keys, starts[group + 1], offset)
        if place < 0:
            return None
    place *= width  # now a bit
    place = view[values + (place >> 3)] >> (place & 7) & MASKS[width]
    if index_bytes == 1:
        return view[palette + place]  # type: ignore[no-any-return]
    group_begin = palette + place * index_bytes
    index: int = from_bytes(view[group_begin : group_begin + index_bytes], "little")
    return index


def place_of_key(keys: bytes, size: int, offset: int) -> int:
    """Return the index of an offset among others of so many bytes, or -1."""
    if offset >> 8 * size:
        return -1
    key = offset.to_bytes(size, "little")
    # The quickest by far, though it goes through half of them
    place = keys.find(key)
    while place > 0 and place % size:
        place = keys.find(key, place + 1)
    return place // size


def place_of_bit(view: Any, begin: int, end: int, bit: int) -> int:
    """Return how many bits are set before a bit of the bitmap view[begin:end]. -1 if the bit itself is not set."""
    byte = begin + (bit >> 3)
    if byte >= end:
        return -1
    bits, bit_mask = view[byte], 1 << (bit & 7)
    if not bits & bit_mask:
        return -1
    index: int = from_bytes(view[begin:byte], "little").bit_count() + (bits & bit_mask - 1).bit_count()
    return index


def found_all(helpers: tuple[Any, ...], segment: Any, states: Any, indices: Any, compiled: Callable[..., Any]) -> None:
    """`Codec.find_all` by a codec's `head_of`, `find_offset` and `value_at`, and what they call before them."""
    if not compiled(find_sorted, find_group, population, *helpers)(*segment, states, indices):
        raise ValueError("a group does not fit together")


def find_sorted(view: Any, firsts: Any, starts: Any, index_bytes: int, states: Any, indices: Any) -> bool:
    """The compiled part of `found_all`. Returns False if a group is malformed."""
    # The byte of a bitmap up to which keys were counted, and how many
    group, counted, before = 0, -1, 0
    for i in range(len(states)):
        if group < len(firsts) - 1 and firsts[group + 1] <= states[i]:
            group, counted = find_group(firsts, group, states[i]), -1
        begin, end = int(starts[group]), int(starts[group + 1])
        count, mode, keys = head_of(view, begin, end, index_bytes)
        offset = states[i] - firsts[group]
        indices[i] = -1
        # The first state is beyond 63 bits
        if count == 0 or offset < 0:
            return False
        if mode:
            index = find_offset(view, keys, end, mode, count, offset)
        else:
            byte = keys + (offset >> 3)
            if byte >= end or not int(view[byte]) >> (offset & 7) & 1:
                continue
            # States ascend, so the count of earlier bits continues from the state before.
            if counted < 0:
                counted, before = keys, 0
            while counted < byte:
                before += population(int(view[counted]))
                counted += 1
            index = before + population(int(view[byte]) & (1 << (offset & 7)) - 1)
        if index >= count:
            return False
        if index >= 0:
            indices[i] = value_at(view, begin, index, index_bytes)
            if indices[i] < 0:
                return False
    return True


def head_of(view: Any, begin: int, end: int, index_bytes: int) -> tuple[int, int, int]:
    """Return the states of a group, the mode of its keys, and where they begin. No states if it is malformed."""
    # Checksums can be forged: every address is checked before it is read.
    if end > len(view) or begin + HEAD > end:
        return 0, 0, 0
    count, width, mode = int(view[begin + 1]) + 1, int(view[begin]) >> 3, int(view[begin]) & 7
    keys = begin + HEAD + (int(view[begin + 2]) + 1) * index_bytes + (count * width + 7 >> 3)
    if keys > end or width > 8 or mode > WORD_MODES or (mode and keys + (count << mode - 1) > end):
        return 0, 0, 0
    return count, mode, keys


def value_at(view: Any, begin: int, index: int, index_bytes: int) -> int:
    """Return the palette index of one of a group's states, or -1 if that lies beyond the local palette."""
    width, palette = int(view[begin]) >> 3, begin + HEAD
    values = palette + (int(view[begin + 2]) + 1) * index_bytes
    bit = index * width
    place = palette + (int(view[values + (bit >> 3)]) >> (bit & 7) & (1 << width) - 1) * index_bytes
    return number_at(view, place, index_bytes) if place + index_bytes <= values else -1


def find_group(firsts: Any, low: int, state: int) -> int:
    """Return the last group, from `low` on, whose first state is not above the state."""
    high = len(firsts) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if firsts[middle] <= state:
            low = middle
        else:
            high = middle - 1
    return low


def find_offset(view: Any, keys: int, end: int, mode: int, count: int, offset: int) -> int:
    """Return the index of an offset among the sorted offsets at view[keys], or -1."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        key = number_at(view, keys + (middle << mode - 1), 1 << mode - 1)
        if key == offset:
            return middle
        if key < offset:
            low = middle + 1
        else:
            high = middle
    return -1


def decoded(decode_group: Any, body: memoryview, first_key: int, index_bytes: int) -> tuple[list[int], list[int]]:
    """`Codec.decode` by a codec's `decode_group`: the states and palette indices of a group. Raises DamagedBook."""
    states, indices = [0] * GROUP_STATES, [0] * GROUP_STATES
    count = decode_group(body, first_key, index_bytes, states, indices)
    if count < 0:
        raise DamagedBook("a group is malformed: fetch or solve the book again")
    return states[:count], indices[:count]


def decoded_all(
    number_at: Any, decode_group: Any, segment: Any, states: Any, indices: Any, compiled: Callable[..., Any]
) -> int:
    """`Codec.decode_all` by a codec's `decode_group`, which calls `number_at`."""
    return int(compiled(decode_groups, number_at, decode_group)(*segment, states, indices))


def decode_groups(view: Any, firsts: Any, starts: Any, index_bytes: int, states: Any, indices: Any) -> int:
    """The compiled part of `decoded_all`."""
    offset = 0
    for group in range(len(firsts)):
        begin, end = int(starts[group]), int(starts[group + 1])
        # Compiled, a key fits one word.
        if not begin < end <= len(view) or int(view[begin]) & 7 > WORD_MODES:
            return -1
        count = decode_group(view[begin:end], firsts[group], index_bytes, states[offset:], indices[offset:])
        if count < 0:
            return -1
        offset += count
    return offset


def decode_group(body: Any, first_key: int, index_bytes: int, states: Any, indices: Any) -> int:
    """Write the states and palette indices of a group, and return how many. -1 if it is malformed or does not fit."""
    if len(body) <= HEAD:
        return -1
    mode, width = int(body[0]) & 7, int(body[0]) >> 3
    count, entries = int(body[1]) + 1, int(body[2]) + 1
    values = HEAD + entries * index_bytes
    keys = values + (count * width + 7 >> 3)
    # Bytes of a key; of a place
    size, mask = 1 << mode >> 1, (1 << width) - 1
    if width not in WIDTHS or count > len(states) or keys >= len(body):
        return -1
    if mode and keys + count * size != len(body):
        return -1
    # Offsets give the states directly.
    count_found = count if mode else 0
    for i in range(count_found):
        states[i] = first_key + number_at(body, keys + i * size, size)
    # A bitmap is read bit by bit; this range is empty for offsets.
    for byte in range(keys, keys if mode else len(body)):
        bits, state = int(body[byte]), first_key + (byte - keys << 3)
        while bits:
            if bits & 1:
                if count_found == count:
                    return -1
                states[count_found] = state
                count_found += 1
            bits, state = bits >> 1, state + 1
    if mode > WORD_MODES and states[count - 1] - first_key >> 63 <= 1:
        return -1
    # The first state's bit or offset must be 0, or the directory points to the wrong group.
    if count_found != count or states[0] != first_key:
        return -1
    for i in range(count):
        bit = i * width
        value_index = int(body[values + (bit >> 3)]) >> (bit & 7) & mask
        if value_index >= entries:
            return -1
        value_offset = HEAD + value_index * index_bytes
        indices[i] = int(body[value_offset]) if index_bytes == 1 else number_at(body, value_offset, index_bytes)
    return count


CODEC = Codec(
    "instant",
    0,
    GROUP_STATES,
    groups=1425,  # of 36 bytes, values of one bit at most, states side by side
    block=GROUP_STATES,
    encode_chunk=encoder(MOST_BYTES, put_values, put_keys),
    finder=lambda: find,
    decode=partial(decoded, decode_group),
    find_all=partial(found_all, (number_at, head_of, find_offset, value_at)),
    decode_all=partial(decoded_all, number_at, decode_group),
    takes_wide=True,
)
