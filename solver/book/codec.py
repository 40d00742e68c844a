"""Encoding groups of states, in the subset of Python that runs plain and compiled alike, and decoding them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from solver.book.format import GROUP, INSTANT, Header, unseal
from solver.errors import DamagedBook

GROUP_HEAD = 3
KEY_FORMATS: tuple[Any, ...] = ("", "B", "H", "I", "Q")
WIDTHS = (0, 1, 2, 4, 8)  # bits of a value
OFTEN_WRONG = (IndexError, ValueError, TypeError, struct.error)

Segment = tuple[memoryview, memoryview, memoryview]  # all bytes, first states of the groups, where groups begin


def encode_chunk(
    states: Sequence[int], indices: Sequence[int], palette_size: int, index_bytes: int
) -> tuple[bytes, list[int]]:
    """The groups of the states one after the other, and the bytes of each."""
    out = bytearray(bound(len(states), index_bytes))
    lengths = [0] * groups(len(states))
    used = encode_groups(states, indices, 0, len(states), index_bytes, [0] * palette_size, out, lengths)
    return bytes(out[:used]), lengths


def groups(count: int) -> int:
    """The groups that count states make."""
    return (count + GROUP - 1) // GROUP


def bound(count: int, index_bytes: int) -> int:
    """An upper bound of the bytes that count states encode to."""
    return groups(count) * GROUP_HEAD + count * (index_bytes + 1 + 8) + groups(count)


def encode_groups(
    states: Any, indices: Any, begin: int, end: int, index_bytes: int, scratch: Any, out: Any, lengths: Any
) -> int:
    """Encode states[begin:end] (ascending, < 2**63) and their palette indices into `out`; the bytes used.

    `lengths` gets the bytes of each group; `scratch`, as long as the palette and zero, maps palette indices to local
    places: group * 256 + place, so that it need not be cleared between groups.
    """
    at = 0
    group = 0
    first = begin
    while first < end:
        group += 1
        count = min(GROUP, end - first)
        start = at
        at += GROUP_HEAD
        entries = 0
        for i in range(first, first + count):
            index = indices[i]
            if scratch[index] >> 8 != group:
                scratch[index] = group << 8 | entries
                entries += 1
                for byte in range(index_bytes):
                    out[at] = index >> 8 * byte & 255
                    at += 1
        width = 0
        while 1 << width < entries:
            width = max(1, 2 * width)
        if width:
            per_byte = 8 // width
            for i in range(count):
                place = scratch[indices[first + i]] & 255
                if i % per_byte == 0:
                    out[at + i // per_byte] = place
                else:
                    out[at + i // per_byte] |= place << i % per_byte * width
            at += (count + per_byte - 1) // per_byte
        lowest = states[first]
        span = states[first + count - 1] - lowest
        mode, size = 1, 1
        while span >> 8 * size - 1 > 1:
            mode += 1
            size *= 2
        if (span >> 3) + 1 <= count * size:
            mode = 0
            for byte in range((span >> 3) + 1):
                out[at + byte] = 0
            for i in range(first, first + count):
                offset = states[i] - lowest
                out[at + (offset >> 3)] |= 1 << (offset & 7)
            at += (span >> 3) + 1
        else:
            for i in range(first, first + count):
                offset = states[i] - lowest
                for byte in range(size):
                    out[at] = offset >> 8 * byte & 255
                    at += 1
        out[start] = mode | width << 3
        out[start + 1] = count - 1
        out[start + 2] = entries - 1
        lengths[group - 1] = at - start
        first += count
    return at


def segment_of(path: Path, header: Header, number: int, first: int, record: memoryview) -> Segment:
    """A segment whose checksum holds and that begins with the state `first`. Raises DamagedBook."""
    name = f"{path}: segment {number}"
    unseal(header.book_id, number, record, name)
    if len(record) < 8:
        raise DamagedBook(f"{name} is malformed: fetch or solve the book again")
    count, codec, index_bytes = struct.unpack_from("<HBB", record, 4)
    if codec != INSTANT or index_bytes != header.index_bytes or len(record) < 10 + 10 * count or not count:
        raise DamagedBook(f"{name} is malformed: fetch or solve the book again")
    segment = record, record[8 : 8 + 8 * count].cast("Q"), record[8 + 8 * count : 10 + 10 * count].cast("H")
    if segment[2][count] != len(record):
        raise DamagedBook(f"{name} ends elsewhere than it says: fetch or solve the book again")
    if segment[1][0] != first:
        raise DamagedBook(f"{name} begins elsewhere than the directory says: fetch or solve the book again")
    return segment


def groups_of(record: bytes) -> Iterator[tuple[list[int], list[int]]]:
    """States and palette indices of each group of a segment. Raises DamagedBook."""
    view = memoryview(record)
    count, _, index_bytes = struct.unpack_from("<HBB", view, 4)
    firsts = struct.unpack_from(f"<{count}Q", view, 8)
    starts = struct.unpack_from(f"<{count + 1}H", view, 8 + 8 * count)
    for first, begin, end in zip(firsts, starts, starts[1:], strict=False):
        yield decode_group(view[begin:end], first, index_bytes)


def decode_group(body: memoryview, first: int, index_bytes: int) -> tuple[list[int], list[int]]:
    """The states and palette indices of a group; raises DamagedBook if they do not fit together."""
    try:
        kind, count, entries = body[0], body[1] + 1, body[2] + 1
        width = kind >> 3
        values = 3 + entries * index_bytes
        keys = values + (count * width + 7 >> 3)
        palette = [int.from_bytes(body[at : at + index_bytes], "little") for at in range(3, values, index_bytes)]
        packed = int.from_bytes(body[values:keys], "little")
        mask = (1 << width) - 1
        indices = [palette[packed >> place * width & mask] for place in range(count)]
        if kind & 7:
            offsets = body[keys:].cast(KEY_FORMATS[kind & 7]).tolist()
        else:
            bits = int.from_bytes(body[keys:], "little")
            offsets = [offset for offset in range(bits.bit_length()) if bits >> offset & 1]
    except OFTEN_WRONG as error:
        raise DamagedBook(f"a group is malformed ({error})") from None
    if width not in WIDTHS or not offsets or offsets[0]:
        raise DamagedBook("a group is malformed (it does not begin with its first state)")
    if len(offsets) != count:
        raise DamagedBook(f"a group of {count} states has {len(offsets)} keys")
    return [first + offset for offset in offsets], indices
