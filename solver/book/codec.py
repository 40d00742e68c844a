"""Encoding groups of states, in the subset of Python that runs plain and compiled alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solver.book.format import GROUP

GROUP_HEAD = 3


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
