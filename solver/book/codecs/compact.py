"""The `compact` codec: a quarter of the size of `instant`, for ten times its time.

Group, up to 6,144 states; at most 128 groups to a segment
    u8 key mode | u16 states - 1 | u16 bytes of the keys - 1 | u16 bytes of the keys, deflated
    keys, raw deflate (RFC 1951, no distance beyond 8 KB), mode 0: bitmap of first..last state, lowest bit first, at
        most 12 KB; modes 1-8: state - first in so many bytes, the highest bytes of all states first, the lowest last
    values, raw deflate likewise: the palette index of each state, in 1, 2 or 4 bytes

Worked group: states 1000, 1001, 1003 with palette indices 7, 9, 7, indices of one byte
    00 | 02 00 | 00 00 | 03 00 | e3 06 00 | 63 e7 64 07 00
    bitmap, 3 states, 1 byte of keys, 3 deflated: 0b; values: 07 09 07

A group ends before its bitmap exceeds 12 KB, but not before it has 1,024 states, and where 65,536 states do; so the
bytes do not depend on how the states are cut into parts. They depend on zlib: its versions may deflate to different
bytes, which all inflate to the same. docs/explanation/tried.md has its cost and the alternatives.
"""

from __future__ import annotations

import functools
import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from solver.base.errors import DamagedBook, reason
from solver.book.codecs import OFTEN_WRONG, PLAIN, Codec, Find, Groups, Machine, number_at, population, unpacked

MAX_GROUP_STATES = 6144
BLOCK_STATES = 1 << 16
MIN_BITMAP_STATES = 1024  # states to a group that no bitmap can hold
BITMAP = 12 << 10
BITMAP_BITS = 8 * BITMAP
HEAD = struct.Struct("<BHHH")
LEVEL = 6  # 9 saves 3 % and takes four times as long
WINDOW = -13  # raw; 8 KB are filled sooner than 32, and the deflated bytes are as many
SLOTS = 379  # decoded groups that a book keeps: 7 MB at most where indices take a byte, 14 where four; a prime

from_bytes = int.from_bytes


def encode_chunk(
    states: Sequence[int], indices: Sequence[int], palette_size: int, index_bytes: int, machine: Machine = PLAIN
) -> Groups:
    """The groups of the states one after the other, the states and the bytes of each.

    zlib, which takes most of the time, lets go of the GIL.
    """
    values = machine.packed(indices, index_bytes)
    layout = machine.compiled(lay_out, length, put_keys)
    keys = machine.new_bytes(min(len(states), BLOCK_STATES) * (BITMAP // MIN_BITMAP_STATES) + 2 * BITMAP)
    rows = tuple(machine.new_integers(BLOCK_STATES // MIN_BITMAP_STATES + 1) for _ in range(3))
    bodies: list[bytes] = []
    counts: list[int] = []
    written = 0
    # Blocks begin at fixed numbers of states, so that any number of threads writes the same bytes.
    for begin in range(0, len(states), BLOCK_STATES):
        offset = 0
        for number in range(layout(states[begin : begin + BLOCK_STATES], keys, *rows)):
            count, mode, size = (int(row[number]) for row in rows)
            packed_keys = deflated(keys[offset : offset + size], zlib.Z_DEFAULT_STRATEGY)
            packed_values = deflated(values[written * index_bytes : (written + count) * index_bytes], zlib.Z_FILTERED)
            bodies.append(HEAD.pack(mode, count - 1, size - 1, len(packed_keys)) + packed_keys + packed_values)
            counts.append(count)
            offset += size
            written += count
    return b"".join(bodies), counts, [len(body) for body in bodies]


def lay_out(states: Any, keys: Any, counts: Any, modes: Any, sizes: Any) -> int:
    """Cut a block of states into groups and write their keys one after the other: how many groups there are.

    `counts`, `modes` and `sizes` get the states, the key mode and the bytes of the keys of each.
    """
    offset = 0
    first_index = 0
    number = 0
    while first_index < len(states):
        count = length(states, first_index)
        span = states[first_index + count - 1] - states[first_index]
        mode = 0
        # Too wide for a bitmap: store offsets, in as many bytes as the last one needs.
        if span >= BITMAP_BITS:
            while mode < 8 and span >> 8 * mode:
                mode += 1
        size = put_keys(states, first_index, count, mode, keys, offset)
        counts[number] = count
        modes[number] = mode
        sizes[number] = size
        offset += size
        first_index += count
        number += 1
    return number


def length(states: Any, first_index: int) -> int:
    """The states of the group that begins at `first_index`."""
    left = len(states) - first_index
    # States whose bitmap is small enough, and no more than which are
    fits, limit = 1, min(MAX_GROUP_STATES, left)
    # Bisect for the longest group whose span fits a bitmap.
    while fits < limit:
        middle = (fits + limit + 1) // 2
        if states[first_index + middle - 1] - states[first_index] < BITMAP_BITS:
            fits = middle
        else:
            limit = middle - 1
    return int(max(fits, min(MIN_BITMAP_STATES, left)))


def put_keys(states: Any, first_index: int, count: int, mode: int, keys: Any, at: int) -> int:
    """Write the keys of a group at `at`: how many bytes they are."""
    lowest = states[first_index]
    if mode == 0:
        size: int = (states[first_index + count - 1] - lowest >> 3) + 1
        for byte in range(size):
            keys[at + byte] = 0
        for i in range(first_index, first_index + count):
            offset = states[i] - lowest
            keys[at + (offset >> 3)] |= 1 << (offset & 7)
        return size
    # Byte planes, high bytes first: high bytes hardly change, so DEFLATE packs them well.
    for plane in range(mode):
        shift = 8 * (mode - 1 - plane)
        for i in range(count):
            keys[at + plane * count + i] = states[first_index + i] - lowest >> shift & 255
    return mode * count


def deflated(data: Any, strategy: int) -> bytes:
    """Compress data by DEFLATE, with one of zlib's strategies."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, WINDOW, 9, strategy)
    return packer.compress(data) + packer.flush()


def inflated(data: Any, size: int) -> bytes:
    """Decompress the first `size` bytes. Never makes more, whatever the data claim."""
    # The second argument limits the output, so that damaged data cannot fill the memory.
    data_out = zlib.decompressobj(WINDOW).decompress(data, size)
    if len(data_out) != size:
        raise ValueError("data end early")
    return data_out


def finder() -> Find:
    """A look-up in the segments of one file, which keeps SLOTS groups decoded.

    Each has its place, by its first state, so that threads need no lock: they read a group that is there, or decode it.
    Values are decoded up to the one that is asked for, and all of them when the group is asked again.
    """
    slots: list[tuple[int, int, int, int, bytes, bytes] | None] = [None] * SLOTS

    def find(segment: Any, state: int) -> int | None:
        values: bytes
        view, firsts, starts, index_bytes = segment
        group = bisect_right(firsts, state) - 1
        first_key = firsts[group]
        known = slots[first_key % SLOTS]
        fresh = False
        # Another group holds the slot, or none: decode, and take its place.
        if known is None or known[0] != first_key:
            fresh = True
            offset = starts[group]
            mode, count, size, packed = _head(view, offset)
            offset += HEAD.size
            known = first_key, mode, count, offset + packed, inflated(view[offset : offset + packed], size), b""
        first_key, mode, count, offset, keys, values = known
        place = _place(keys, mode, count, state - first_key)
        if place is not None and not 0 <= place < count:
            raise ValueError("as many keys as states are not there")
        # The first question decodes the values up to its own; a second one decodes all.
        if place is not None and len(values) < (place + 1) * index_bytes:
            fresh, size = True, (place + 1 if fresh else count) * index_bytes
            values = inflated(view[offset : starts[group + 1]], size)
        if fresh:
            slots[first_key % SLOTS] = first_key, mode, count, offset, keys, values
        if place is None:
            return None
        if index_bytes == 1:
            return values[place]
        index: int = from_bytes(values[place * index_bytes : (place + 1) * index_bytes], "little")
        return index

    return find


def _head(view: memoryview, offset: int) -> tuple[int, int, int, int]:
    """The key mode of the group at a place, its states, the bytes of its keys, and those once deflated."""
    mode, count, size, packed = HEAD.unpack_from(view, offset)
    count, size = count + 1, size + 1
    if count > MAX_GROUP_STATES or size > BITMAP or mode > 8 or (mode and size != mode * count):
        raise ValueError("its sizes are those of no group")
    return mode, count, size, packed


def _place(keys: bytes, mode: int, count: int, offset: int) -> int | None:
    """Which of a group's states is so far behind the first, or None."""
    if mode == 0:
        byte = offset >> 3
        if byte >= len(keys):
            return None
        bits = keys[byte]
        bit = 1 << (offset & 7)
        if not bits & bit:
            return None
        # Count the set bits on the shorter side: the place of a state is the number of bits before it.
        if 2 * byte < len(keys):
            return int(from_bytes(keys[:byte], "little").bit_count() + (bits & bit - 1).bit_count())
        return int(count - from_bytes(keys[byte:], "little").bit_count() + (bits & bit - 1).bit_count())
    shift = 8 * mode
    if offset >> shift:
        return None
    # Search in the next plane
    low, high = 0, count
    # Each plane narrows the range of candidates, as in a trie.
    for _ in range(mode):
        shift -= 8
        byte = offset >> shift & 255
        low = bisect_left(keys, byte, low, high)
        high = bisect_right(keys, byte, low, high)
        if low == high:
            return None
        low, high = low + count, high + count
    return low % count


def find_all(segment: Any, states: Any, indices: Any, compiled: Callable[..., Any]) -> None:
    """The palette indices of ascending states, none below the segment's first, or -1, written to `indices`."""
    view, firsts, starts, index_bytes = segment
    body = memoryview(view)
    places, pick = compiled(find_places, population), compiled(pick_values, number_at)
    begin = 0
    # All states of one group are looked up together, so that each group is inflated once.
    while begin < len(states):
        group = bisect_right(firsts, states[begin]) - 1
        end = len(states)
        if group + 1 < len(firsts):
            end = bisect_left(states, firsts[group + 1], begin)
        offset, stop = int(starts[group]), int(starts[group + 1])
        mode, count, size, packed = _head(body, offset)
        offset += HEAD.size
        keys = inflated(body[offset : offset + packed], size)
        last_index = places(keys, mode, count, firsts[group], states[begin:end], indices[begin:end])
        if last_index >= count:
            raise ValueError("as many keys as states are not there")
        if last_index >= 0:
            pick(
                inflated(body[offset + packed : stop], (last_index + 1) * index_bytes), index_bytes, indices[begin:end]
            )
        begin = end


def find_places(keys: Any, mode: int, count: int, first_key: int, states: Any, places: Any) -> int:
    """Which of a group's states each of the ascending states is, or -1; the last of them."""
    last_index = -1
    # The byte of the bitmap and the number of states before it; or the byte of the offsets
    byte = index = 0
    for i in range(len(states)):
        offset = states[i] - first_key
        places[i] = -1
        if mode == 0:
            if not 0 <= offset >> 3 < len(keys):
                continue
            # The states ascend, so the count of bits goes on where it stopped.
            while byte < offset >> 3:
                index += population(int(keys[byte]))
                byte += 1
            if int(keys[byte]) >> (offset & 7) & 1:
                places[i] = last_index = index + population(int(keys[byte]) & (1 << (offset & 7)) - 1)
            continue
        while index < count:
            key = 0
            for plane in range(mode):
                key = key << 8 | int(keys[plane * count + index])
            if key >= offset:
                if key == offset:
                    places[i] = last_index = index
                break
            index += 1
    return last_index


def pick_values(values: Any, index_bytes: int, indices: Any) -> None:
    """Put the palette indices of places, or -1, into their place."""
    for i in range(len(indices)):
        if indices[i] >= 0:
            indices[i] = number_at(values, indices[i] * index_bytes, index_bytes)


def decode(body: memoryview, first_key: int, index_bytes: int) -> tuple[list[int], list[int]]:
    """The states and palette indices of a group; raises DamagedBook if they do not fit together."""
    mode, count, keys, values = _opened(body, index_bytes)
    if mode == 0:
        bits_of = _bits_of_bytes()
        offsets = [8 * byte + bit for byte, bits in enumerate(keys) if bits for bit in bits_of[bits]]
    else:
        planes = [keys[plane * count : (plane + 1) * count] for plane in range(mode)]
        offsets = [from_bytes(offset, "big") for offset in zip(*planes, strict=True)]
    # The directory names the first state: its offset must be 0.
    if not offsets or offsets[0]:
        raise DamagedBook("a group is malformed (it does not begin with its first state)")
    if len(offsets) != count:
        raise DamagedBook(f"a group of {count} states has {len(offsets)} keys")
    return [first_key + offset for offset in offsets], list(unpacked(values, index_bytes))


@functools.cache
def _bits_of_bytes() -> list[list[int]]:
    """The bits that are set in each byte. A look-up of one state needs none of them."""
    return [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]


def _opened(body: memoryview, index_bytes: int) -> tuple[int, int, bytes, bytes]:
    """The key mode of a group, its states, its keys and its values; raises DamagedBook."""
    try:
        mode, count, size, packed = _head(body, 0)
        keys = whole(body[HEAD.size : HEAD.size + packed], size)
        return mode, count, keys, whole(body[HEAD.size + packed :], count * index_bytes)
    except OFTEN_WRONG as error:
        raise DamagedBook(f"a group is malformed ({reason(error)})") from None


def decode_all(segment: Any, states: Any, indices: Any, compiled: Callable[..., Any]) -> int:
    """All states and palette indices of a segment, written; how many, or -1 if they do not fit together.

    Raises DamagedBook.
    """
    view, firsts, starts, index_bytes = segment
    body, spread, pick = memoryview(view), compiled(spread_keys), compiled(pick_values, number_at)
    offset = 0
    for group in range(len(firsts)):
        mode, count, keys, values = _opened(body[int(starts[group]) : int(starts[group + 1])], index_bytes)
        chunk = indices[offset : offset + count]
        if len(chunk) < count or spread(keys, mode, firsts[group], states[offset : offset + count], chunk) != count:
            return -1
        pick(values, index_bytes, chunk)
        offset += count
    return offset


def spread_keys(keys: Any, mode: int, first_key: int, states: Any, places: Any) -> int:
    """Write the states of a group and their indices.

    Returns:
        How many there are; one more than there is room for; or 0 if the group does not begin at `first_key`.
    """
    # Offsets name their number, a bitmap has to be counted.
    count_found = len(states) if mode else 0
    for i in range(count_found):
        offset = 0
        for plane in range(mode):
            offset = offset << 8 | int(keys[plane * count_found + i])
        states[i] = first_key + offset
    for byte in range(0 if mode else len(keys)):
        bits, state = int(keys[byte]), first_key + 8 * byte
        while bits:
            if bits & 1:
                if count_found == len(states):
                    return count_found + 1
                states[count_found] = state
                count_found += 1
            bits, state = bits >> 1, state + 1
    for i in range(count_found):
        places[i] = i
    return count_found if count_found and states[0] == first_key else 0


def whole(data: Any, size: int) -> bytes:
    """All that was deflated, `size` bytes; raises ValueError if it is more or less, or something lies behind it."""
    stream = zlib.decompressobj(WINDOW)
    # Ask for one byte more: data that are too long show themselves.
    unpacked = stream.decompress(data, size + 1)
    if len(unpacked) != size or not stream.eof or stream.unused_data:
        raise ValueError("data do not end where they should")
    return unpacked


CODEC = Codec(
    "compact",
    1,
    MAX_GROUP_STATES,
    groups=128,
    block=BLOCK_STATES,
    encode_chunk=encode_chunk,
    finder=finder,
    decode=decode,
    find_all=find_all,
    decode_all=decode_all,
    share=0.4,
)
