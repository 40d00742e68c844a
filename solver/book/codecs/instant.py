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

Group of expectations, which have no palette: numbers of steps. The bytes of an index are then 0.
    u8 key mode | u8 states - 1 | u8 bits of a value, 0 to 32 | u32 the least number
    values: numbers less the least, lowest bits first, side by side
    keys, mode 0: bitmap; modes 8-64: of state - first the mode - 8 lowest bits, side by side; then from a new byte on
        the rest of each in unary (Elias 1974, Fano 1971): as many zeros as it is more than that of the state before,
        and a one. They take 2 bits a state more than the logarithm of their mean distance

Worked group: states 1000, 1020, 1050 with the numbers 70, 73, 70
    0c | 02 | 02 | 46 00 00 00 | 0c | 40 02 | 25
    mode 12, 3 states, 2 bits a value, from 70 on: 0 3 0; of 0, 20, 50 the 4 lowest bits 0 4 2; the rest 0 1 3: 1 01 001

Encoding and decoding are in the subset of Python that runs plain and compiled alike. States of more than 63 bits are
read and written in plain Python; a look-up takes 5 us.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from solver.base.errors import DamagedBook
from solver.book.codecs import PLAIN, Codec, Groups, Machine, as_list, number_at, population
from solver.rules.width import USUAL

GROUP_STATES = 256
HEAD = 3
LEAST_BYTES = 4
MOST_BYTES = HEAD + 4 + 1 + 4  # of a state, besides its key
KEY_BYTES = (0, 1, 2, 4, 8, 16, 32, 64)
KEY_FORMATS: tuple[Any, ...] = ("", "B", "H", "I", "Q")
WORD_MODES, PACKED = 4, 8  # key modes: the last of states of one word, the first with bits side by side
MOST_LOW_BITS = 56  # of a key, so that they lie in 8 bytes
WIDTHS = (0, 1, 2, 4, 8)  # bits of a value
MOST_WIDTH = 32  # of a number of steps
MASKS = tuple((1 << width) - 1 for width in range(9))

from_bytes = int.from_bytes


def encode_chunk(
    states: Sequence[int], indices: Sequence[int], palette_size: int, index_bytes: int, machine: Machine = PLAIN
) -> Groups:
    """Encode ascending states and their palette indices, or numbers of steps, as groups."""
    counts = [min(GROUP_STATES, len(states) - begin) for begin in range(0, len(states), GROUP_STATES)]
    key_bytes = KEY_BYTES[-1] if len(states) and int(states[-1]) >> USUAL else 10
    # The last 16 for two states that are far apart, whose unary part is the longest
    room = (MOST_BYTES + key_bytes) * len(states) + 16
    out, lengths = machine.new_bytes(room), machine.new_integers(len(counts))
    encode = machine.compiled(*ENCODER)
    used = encode(states, indices, index_bytes, machine.new_integers(palette_size), out, lengths)
    return out[:used], counts, as_list(lengths)


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
        if index_bytes:
            offset = put_values(indices, first_index, count, group + 1, index_bytes, scratch, out, start)
        else:
            offset = put_numbers(indices, first_index, count, out, start)
        offset = put_keys(states, first_index, count, index_bytes == 0, out, start, offset)
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


def put_numbers(numbers: Any, first_index: int, count: int, out: Any, start: int) -> int:
    """Write a group's head and numbers of steps at `start`, and return the offset behind them."""
    least = greatest = int(numbers[first_index])
    for i in range(first_index + 1, first_index + count):
        number = int(numbers[i])
        least, greatest = min(least, number), max(greatest, number)
    width = 0
    while greatest - least >> width:
        width += 1
    out[start] = 0
    out[start + 1] = count - 1
    out[start + 2] = width
    for byte in range(LEAST_BYTES):
        out[start + HEAD + byte] = least >> 8 * byte & 255
    return put_bits(numbers, first_index, count, least, width, out, start + HEAD + LEAST_BYTES)


def put_keys(states: Any, first_index: int, count: int, packs: bool, out: Any, start: int, at: int) -> int:
    """Write a group's keys at `at`, and their mode into its head at `start`. Returns the offset behind the keys."""
    lowest = states[first_index]
    span = states[first_index + count - 1] - lowest
    mode, size, low_bits = 1, 1, 0
    if packs:
        while low_bits < MOST_LOW_BITS and span // count >> low_bits > 1:
            low_bits += 1
        list_bytes = (count * low_bits + 7 >> 3) + ((span >> low_bits) + count + 7 >> 3)
    else:
        # Double the size of an offset until the largest one fits.
        while span >> 8 * size - 1 > 1:
            mode += 1
            size *= 2
        list_bytes = count * size
    # A bitmap takes a bit for each state between the first and the last. It wins in dense groups.
    if (span >> 3) + 1 <= list_bytes:
        return put_marks(states, first_index, count, 0, 0, out, at, at + (span >> 3) + 1)
    if packs:
        out[start] = PACKED + low_bits
        lows_end = put_bits(states, first_index, count, lowest, low_bits, out, at)
        return put_marks(states, first_index, count, low_bits, 1, out, lows_end, at + list_bytes)
    out[start] |= mode
    for i in range(first_index, first_index + count):
        offset = states[i] - lowest
        for byte in range(size):
            out[at] = offset >> 8 * byte & 255
            at += 1
    return at


def put_marks(
    states: Any, first_index: int, count: int, low_bits: int, apart: int, out: Any, begin: int, end: int
) -> int:
    """Fill out[begin:end] with bits of which those of the states are set, each `apart` more; return `end`."""
    for byte in range(begin, end):
        out[byte] = 0
    for i in range(count):
        bit = (states[first_index + i] - states[first_index] >> low_bits) + apart * i
        out[begin + (bit >> 3)] |= 1 << (bit & 7)
    return end


def put_bits(items: Any, first_index: int, count: int, least: int, width: int, out: Any, start: int) -> int:
    """Write the lowest `width` bits of so many items, less the least, from the byte `start` on; the byte behind."""
    end = start + (count * width + 7 >> 3)
    for byte in range(start, end):
        out[byte] = 0
    for i in range(count):
        bit = i * width
        bits = (int(items[first_index + i]) - least & (1 << width) - 1) << (bit & 7)
        for byte in range((bit & 7) + width + 7 >> 3):
            out[start + (bit >> 3) + byte] |= bits >> 8 * byte & 255
    return end


ENCODER = encode_groups, put_bits, put_marks, put_values, put_numbers, put_keys


def find(segment: Any, state: int) -> int | None:
    """Return the palette index of a state, which is not below the segment's first. None if it is not stored."""
    view, firsts, starts, index_bytes = segment
    group = bisect_right(firsts, state) - 1
    group_begin = starts[group]
    mode = view[group_begin]
    count = view[group_begin + 1] + 1
    palette = group_begin + HEAD
    if index_bytes:
        width = mode >> 3
        mode &= 7
        values = palette + (view[group_begin + 2] + 1) * index_bytes
    else:
        width = view[group_begin + 2]
        values = palette + LEAST_BYTES
        if 0 < mode < PACKED:
            raise ValueError("steps with keys side by side")
    keys = values + (count * width + 7 >> 3)
    offset = state - firsts[group]
    if not mode:
        # The number of set bits before a state's own bit is its index in the group.
        place = place_of_bit(view, keys, starts[group + 1], offset)
    elif mode <= WORD_MODES:
        # Offsets are sorted, so a typed view of them can be bisected without a copy.
        known = view[keys : keys + count * KEY_BYTES[mode]]
        if mode > 1:
            known = known.cast(KEY_FORMATS[mode])
        place = bisect_left(known, offset)
        if place == count or known[place] != offset:
            return None
    elif mode < PACKED:
        size = KEY_BYTES[mode]
        place = place_of_key(view[keys : keys + count * size].tobytes(), size, offset)
    else:
        place = place_in_bits(view[keys : starts[group + 1]], mode - PACKED, count, offset)
    if place < 0:
        return None
    place *= width  # now a bit
    if not index_bytes:
        begin = values + (place >> 3)
        packed = from_bytes(view[begin : begin + 5], "little")
        least = from_bytes(view[palette:values], "little")
        return int(least + (packed >> (place & 7) & (1 << width) - 1))
    place = view[values + (place >> 3)] >> (place & 7) & MASKS[width]
    if index_bytes == 1:
        return view[palette + place]  # type: ignore[no-any-return]
    group_begin = palette + place * index_bytes
    index: int = from_bytes(view[group_begin : group_begin + index_bytes], "little")
    return index


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


def place_in_bits(keys: Any, low_bits: int, count: int, offset: int) -> int:
    """Return the index of an offset among keys, `low_bits` of each and the rest in unary, or -1."""
    unary = from_bytes(keys[count * low_bits + 7 >> 3 :], "little")
    high, low = offset >> low_bits, offset & (1 << low_bits) - 1
    # A state far behind the group, for which shifts would take all memory
    if high >= 8 * len(keys):
        return -1
    # Bits that hold fewer than `high` zeros, and that hold as many
    before, behind = high - 1, high + count
    while behind - before > 1:
        middle = before + behind >> 1
        if middle - (unary & (1 << middle) - 1).bit_count() < high:
            before = middle
        else:
            behind = middle
    while unary >> behind & 1:
        bit = (behind - high) * low_bits
        if from_bytes(keys[bit >> 3 : (bit >> 3) + 8], "little") >> (bit & 7) & (1 << low_bits) - 1 == low:
            return behind - high
        behind += 1
    return -1


def find_all(segment: Any, states: Any, indices: Any, compiled: Callable[..., Any]) -> None:
    """The palette indices of ascending states, none below the segment's first, or -1, written to `indices`."""
    helpers = find_group, population, number_at, bits_at, head_of, find_packed, find_offset, value_at
    if not compiled(find_sorted, *helpers)(*segment, states, indices):
        raise ValueError("a group does not fit together")


def find_sorted(view: Any, firsts: Any, starts: Any, index_bytes: int, states: Any, indices: Any) -> bool:
    """The compiled part of `find_all`. Returns False if a group is malformed."""
    # The byte of a bitmap up to which keys were counted, and how many
    group, counted, before = 0, -1, 0
    for i in range(len(states)):
        if group < len(firsts) - 1 and firsts[group + 1] <= states[i]:
            group, counted = find_group(firsts, group, states[i]), -1
        begin, end = int(starts[group]), int(starts[group + 1])
        count, mode, _, _, keys = head_of(view, begin, end, index_bytes)
        offset = states[i] - firsts[group]
        indices[i] = -1
        # The first state is beyond 63 bits
        if count == 0 or offset < 0 or WORD_MODES < mode < PACKED:
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


def head_of(view: Any, begin: int, end: int, index_bytes: int) -> tuple[int, int, int, int, int]:
    """Return of a group its states, the mode of its keys, the bits of a value, and where values and keys begin.

    It has no states if it is malformed.
    """
    # Checksums can be forged: every address is checked before it is read.
    if end > len(view) or begin + HEAD > end:
        return 0, 0, 0, 0, 0
    # Numba keeps a byte unsigned, which does not go with signed numbers.
    kind, count, number = int(view[begin]) & 255, int(view[begin + 1]) + 1, int(view[begin + 2]) & 255
    if index_bytes:
        mode, width, values = kind & 7, kind >> 3, begin + HEAD + (number + 1) * index_bytes
    else:
        mode, width, values = kind, number, begin + HEAD + LEAST_BYTES
    keys = values + (count * width + 7 >> 3)
    key_bytes = count * (1 << mode >> 1) if mode < PACKED else count * (mode - PACKED) + 7 >> 3
    if not index_bytes and 0 < mode < PACKED:
        return 0, 0, 0, 0, 0
    if width > (WIDTHS[-1] if index_bytes else MOST_WIDTH) or mode > PACKED + MOST_LOW_BITS or keys + key_bytes > end:
        return 0, 0, 0, 0, 0
    return count, mode, width, values, keys


def value_at(view: Any, begin: int, index: int, index_bytes: int) -> int:
    """Return the palette index of one of a group's states, or -1 if that lies beyond the local palette."""
    palette = begin + HEAD
    if not index_bytes:
        width = int(view[begin + 2])
        return number_at(view, palette, LEAST_BYTES) + bits_at(view, palette + LEAST_BYTES, index * width, width)
    width = int(view[begin]) >> 3
    values = palette + (int(view[begin + 2]) + 1) * index_bytes
    bit = index * width
    place = palette + (int(view[values + (bit >> 3)]) >> (bit & 7) & (1 << width) - 1) * index_bytes
    return number_at(view, place, index_bytes) if place + index_bytes <= values else -1


def bits_at(view: Any, begin: int, bit: int, width: int) -> int:
    """Return the number of at most 56 bits that begins with this one, counted from the byte `begin`."""
    shift = bit & 7
    return number_at(view, begin + (bit >> 3), shift + width + 7 >> 3) >> shift & (1 << width) - 1


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
    if mode >= PACKED:
        return find_packed(view, keys, end, mode - PACKED, count, offset)
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


def find_packed(view: Any, keys: int, end: int, low_bits: int, count: int, offset: int) -> int:
    """`place_in_bits`, compiled."""
    lows = keys
    keys += count * low_bits + 7 >> 3
    high, ones, byte = offset >> low_bits, 0, keys
    while byte < end and 8 * (byte + 1 - keys) - ones - population(int(view[byte])) < high:
        ones += population(int(view[byte]))
        byte += 1
    for bit in range(8 * (byte - keys), 8 * (end - keys)):
        if int(view[keys + (bit >> 3)]) >> (bit & 7) & 1:
            # More keys than states
            if ones == count:
                return count
            if bit - ones > high:
                return -1
            if bit - ones == high and bits_at(view, lows, ones * low_bits, low_bits) == offset & (1 << low_bits) - 1:
                return ones
            ones += 1
    return -1


def decode(body: memoryview, first_key: int, index_bytes: int) -> tuple[list[int], list[int]]:
    """The states and palette indices of a group. Raises DamagedBook."""
    states, indices = [0] * GROUP_STATES, [0] * GROUP_STATES
    count = decode_group(body, first_key, index_bytes, states, indices)
    if count < 0:
        raise DamagedBook("a group is malformed: fetch or solve the book again")
    return states[:count], indices[:count]


def decode_all(segment: Any, states: Any, indices: Any, compiled: Callable[..., Any]) -> int:
    """All states and palette indices of a segment, written; how many, or -1 if they do not fit together."""
    helpers = number_at, bits_at, head_of, decode_group
    return int(compiled(decode_groups, *helpers)(*segment, states, indices))


def decode_groups(view: Any, firsts: Any, starts: Any, index_bytes: int, states: Any, indices: Any) -> int:
    """The compiled part of `decode_all`."""
    offset = 0
    for group in range(len(firsts)):
        begin, end = int(starts[group]), int(starts[group + 1])
        # Compiled, a key fits one word.
        if not begin <= end <= len(view) or WORD_MODES < head_of(view, begin, end, index_bytes)[1] < PACKED:
            return -1
        count = decode_group(view[begin:end], firsts[group], index_bytes, states[offset:], indices[offset:])
        if count < 0:
            return -1
        offset += count
    return offset


def decode_group(body: Any, first_key: int, index_bytes: int, states: Any, indices: Any) -> int:
    """Write the states and palette indices of a group, and return how many. -1 if it is malformed or does not fit."""
    count, mode, width, values, keys = head_of(body, 0, len(body), index_bytes)
    size, low_bits = 1 << mode >> 1 if mode < PACKED else 0, max(0, mode - PACKED)
    lows = keys
    keys += count * low_bits + 7 >> 3
    if not 0 < count <= len(states) or keys >= len(body) or (size and keys + count * size != len(body)):
        return -1
    if index_bytes and width not in WIDTHS:
        return -1
    # Offsets give the states directly.
    count_found = count if size else 0
    for i in range(count_found):
        states[i] = first_key + number_at(body, keys + i * size, size)
    # Set bits are read one by one; this range is empty for offsets.
    for byte in range(keys, keys if size else len(body)):
        bits, bit = int(body[byte]), byte - keys << 3
        while bits:
            if bits & 1:
                if count_found == count:
                    return -1
                states[count_found] = first_key + bit
                if mode:
                    high = bit - count_found
                    if high >> USUAL - low_bits:
                        return -1
                    low = bits_at(body, lows, count_found * low_bits, low_bits)
                    states[count_found] = first_key + (high << low_bits) + low
                count_found += 1
            bits, bit = bits >> 1, bit + 1
    # The first state's bit or offset must be 0, or the directory points to the wrong group.
    if count_found != count or states[0] != first_key:
        return -1
    # Keys of more than a word only where they have to be
    if WORD_MODES < mode < PACKED and states[count - 1] - first_key >> USUAL <= 1:
        return -1
    if not index_bytes:
        least = number_at(body, HEAD, LEAST_BYTES)
        for i in range(count):
            indices[i] = least + bits_at(body, values, i * width, width)
        return count
    entries, mask = int(body[2]) + 1, (1 << width) - 1
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
    encode_chunk=encode_chunk,
    finder=lambda: find,
    decode=decode,
    find_all=find_all,
    decode_all=decode_all,
    takes_all=True,
)
