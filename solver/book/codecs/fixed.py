"""The `fixed` codec: fixed-point numbers in place of palette indices, for books of expectations.

Group, up to 256 states
    u8 key mode | u8 states - 1 | u8 bits of a value, 0 to 32 | u32 the least number
    values: numbers less the least, lowest bits first, side by side
    keys, mode 0: bitmap of first..last state, lowest bit first; modes 1 to 63: of state - first the mode - 1 lowest
        bits, side by side; then from a new byte on the rest of each in unary (Elias 1974, Fano 1971): as many zeros as
        it is more than that of the state before, and a one

Such keys take 2 bits a state more than the logarithm of their mean distance.

Worked group: states 1000, 1001, 1003 with the numbers 70, 73, 70
    00 | 02 | 02 | 46 00 00 00 | 0c | 0b
    bitmap, 3 states, 2 bits a value, from 70 on: 0 3 0, keys 1000 + {0, 1, 3}

Worked group: states 1000, 1020, 1050 with the same
    05 | 02 | 02 | 46 00 00 00 | 0c | 40 02 | 25
    mode 5: of 0, 20, 50 the 4 lowest bits 0 4 2; the rest 0 1 3: 1 01 001

Encoding and decoding are in the subset of Python that runs plain and compiled alike.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from typing import Any

from solver.book.codecs import Codec, instant, population
from solver.book.codecs.instant import from_bytes, place_of_bit
from solver.rules.numbering import bound

HEAD = 7
MOST_BYTES = HEAD + 4 + 2  # of a state, besides its key
BASE = 3  # where the least number is
MOST_BITS, MOST_MODE = 32, 63


def put_values(
    numbers: Any, first_index: int, count: int, mark: int, index_bytes: int, scratch: Any, out: Any, start: int
) -> int:
    """Write a group's head and numbers at `start`; the byte behind. `instant.put_values` takes the same arguments."""
    least = greatest = int(numbers[first_index])
    for i in range(first_index + 1, first_index + count):
        number = int(numbers[i])
        least, greatest = min(least, number), max(greatest, number)
    width = 0
    while greatest - least >> width:
        width += 1
    out[start], out[start + 1], out[start + 2] = 0, count - 1, width
    for byte in range(4):
        out[start + BASE + byte] = least >> 8 * byte & 255
    return put_bits(numbers, first_index, count, least, width, out, start + HEAD)


def put_keys(states: Any, first_index: int, count: int, out: Any, start: int, at: int) -> int:
    """Write a group's keys at `at`, and their mode into its head at `start`; the byte behind."""
    lowest = states[first_index]
    span = int(states[first_index + count - 1] - lowest)
    low_bits = 0
    while span // count >> low_bits > 1:
        low_bits += 1
    lows = at + (count * low_bits + 7 >> 3)
    end = lows + ((span >> low_bits) + count + 7 >> 3)
    if (span >> 3) + 1 <= end - at:
        low_bits, lows, end = -1, at, at + (span >> 3) + 1
    out[start] = low_bits + 1
    for byte in range(at, end):
        out[byte] = 0
    if low_bits >= 0:
        put_bits(states, first_index, count, lowest, low_bits, out, at)
    for i in range(count):
        offset = int(states[first_index + i] - lowest)
        bit = offset if low_bits < 0 else (offset >> low_bits) + i
        out[lows + (bit >> 3)] |= 1 << (bit & 7)
    return int(end)


def put_bits(items: Any, first_index: int, count: int, least: int, width: int, out: Any, start: int) -> int:
    """Write the lowest `width` bits of so many items, less the least, from the byte `start` on; the byte behind."""
    end = start + (count * width + 7 >> 3)
    for byte in range(start, end):
        out[byte] = 0
    for i in range(count):
        bits, written = int(items[first_index + i]) - least & (1 << width) - 1, 0
        while written < width:
            bit = i * width + written
            out[start + (bit >> 3)] |= bits << (bit & 7) & 255
            bits, written = bits >> 8 - (bit & 7), written + 8 - (bit & 7)
    return end


def find(segment: Any, state: int) -> int | None:
    """The number of a state, not below the segment's first; None if it is not there."""
    view, firsts, starts, _ = segment
    group = bisect_right(firsts, state) - 1
    at = starts[group]
    mode, count, width = view[at], view[at + 1] + 1, view[at + 2]
    keys = at + HEAD + (count * width + 7 >> 3)
    offset = state - firsts[group]
    if mode:
        index = _place(view[keys : starts[group + 1]], mode - 1, count, offset)
    else:
        index = place_of_bit(view, keys, starts[group + 1], offset)
    if index < 0:
        return None
    bit = index * width
    begin = at + HEAD + (bit >> 3)
    packed = from_bytes(view[begin : begin + 5], "little")
    number: int = from_bytes(view[at + BASE : at + HEAD], "little") + (packed >> (bit & 7) & (1 << width) - 1)
    return number


def _place(keys: Any, low_bits: int, count: int, offset: int) -> int:
    """Which of the keys, `low_bits` of each and the rest in unary, an offset is; or -1."""
    lows = count * low_bits + 7 >> 3
    unary, high, low = from_bytes(keys[lows:], "little"), offset >> low_bits, offset & (1 << low_bits) - 1
    # Bits that hold fewer than `high` zeros, and that hold as many
    before, behind = high - 1, high + count
    while behind - before > 1:
        middle = before + behind >> 1
        if middle - (unary & (1 << middle) - 1).bit_count() < high:
            before = middle
        else:
            behind = middle
    while unary >> behind & 1:
        index = behind - high
        bit = index * low_bits
        if from_bytes(keys[bit >> 3 : (bit >> 3) + 9], "little") >> (bit & 7) & (1 << low_bits) - 1 == low:
            return index
        behind += 1
    return -1


def head_of(view: Any, begin: int, end: int, index_bytes: int) -> tuple[int, int, int]:
    """The states of a group, the mode of its keys, and where they begin; no states if it is malformed."""
    if end > len(view) or begin + HEAD > end:
        return 0, 0, 0
    mode, count, width = int(view[begin]), int(view[begin + 1]) + 1, int(view[begin + 2])
    keys = begin + HEAD + (count * width + 7 >> 3)
    if keys + (count * max(0, mode - 1) + 7 >> 3) > end or width > MOST_BITS or mode > MOST_MODE:
        return 0, 0, 0
    return count, mode, keys


def value_at(view: Any, begin: int, index: int, index_bytes: int) -> int:
    """The number of one of a group's states."""
    width = int(view[begin + 2])
    return bits_at(view, begin + BASE, 0, 32) + bits_at(view, begin + HEAD, index * width, width)


def find_offset(view: Any, keys: int, end: int, mode: int, count: int, offset: int) -> int:
    """`_place`, compiled."""
    low_bits = mode - 1
    lows = keys + (count * low_bits + 7 >> 3)
    high, low = offset >> low_bits, offset & (1 << low_bits) - 1
    byte, ones = lows, 0
    while byte < end and 8 * (byte + 1 - lows) - ones - population(int(view[byte])) < high:
        ones += population(int(view[byte]))
        byte += 1
    bit = 8 * (byte - lows)
    while bit - ones < high and bit < 8 * (end - lows):
        ones += int(view[lows + (bit >> 3)]) >> (bit & 7) & 1
        bit += 1
    while bit < 8 * (end - lows) and int(view[lows + (bit >> 3)]) >> (bit & 7) & 1:
        if (ones + 1) * low_bits <= 8 * (lows - keys) and bits_at(view, keys, ones * low_bits, low_bits) == low:
            return ones
        ones += 1
        bit += 1
    return -1


def bits_at(view: Any, begin: int, bit: int, width: int) -> int:
    """The number of so many bits that begins with this one, counted from the byte `begin`."""
    number, bits_read = 0, 0
    while bits_read < width:
        byte_index, shift = begin + (bit + bits_read >> 3), bit + bits_read & 7
        number |= (int(view[byte_index]) >> shift) << bits_read
        bits_read += 8 - shift
    return number & (1 << width) - 1


def plain_bits_at(view: Any, begin: int, bit: int, width: int) -> int:
    """`bits_at`, for Python."""
    packed = from_bytes(view[begin + (bit >> 3) : begin + (bit + width + 7 >> 3)], "little")
    return packed >> (bit & 7) & (1 << width) - 1


def decode_group(body: Any, first_key: int, index_bytes: int, states: Any, numbers: Any) -> int:
    """Write the states and numbers of a group; how many, or -1 if they do not fit together."""
    if len(body) <= HEAD:
        return -1
    mode, count, width = int(body[0]), int(body[1]) + 1, int(body[2])
    keys = HEAD + (count * width + 7 >> 3)
    low_bits = max(0, mode - 1)
    lows = keys + (count * low_bits + 7 >> 3)
    if mode > MOST_MODE or width > MOST_BITS or count > len(states) or lows >= len(body):
        return -1
    least, count_found = bits_at(body, BASE, 0, 32), 0
    for byte in range(lows, len(body)):
        bits, bit = int(body[byte]), byte - lows << 3
        while bits:
            if bits & 1:
                high = bit - count_found if mode else bit
                if count_found == count or high >> 63 - low_bits:
                    return -1
                states[count_found] = (
                    first_key + (high << low_bits) + bits_at(body, keys, count_found * low_bits, low_bits)
                )
                numbers[count_found] = least + bits_at(body, HEAD, count_found * width, width)
                count_found += 1
            bits, bit = bits >> 1, bit + 1
    return count if count_found == count and states[0] == first_key else -1


CODEC = Codec(
    "fixed",
    3,
    instant.GROUP_STATES,
    groups=1308,  # of 40 bytes, values all alike, states side by side
    block=instant.GROUP_STATES,
    encode_chunk=instant.encoder(MOST_BYTES, put_bits, put_values, put_keys),
    finder=lambda: find,
    decode=partial(instant.decoded, bound(decode_group, {"bits_at": plain_bits_at})),
    find_all=partial(instant.found_all, (bits_at, head_of, find_offset, value_at)),
    decode_all=partial(instant.decoded_all, bits_at, decode_group),
    is_stepped=True,
)
