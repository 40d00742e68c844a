"""Segments: groups of states behind a head that says where each begins. How a group is encoded, its codec knows."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from solver.base.errors import DamagedBook
from solver.book.format import Header, seal, unseal

HEAD = struct.Struct("<HBB")  # groups, number of the codec, bytes of a palette index
CHECKSUM = 4
AT = CHECKSUM + HEAD.size  # where the first states of the groups begin
PLACE = 2  # bytes that say where a group begins
SMALLEST = AT + 2  # of no groups

Segment = tuple[memoryview, Any, memoryview, int]
"""All bytes, first states of the groups, where groups begin and the last ends, bytes of a palette index."""


def packed(header: Header, groups: Iterable[tuple[int, bytes]], limit: int) -> Iterator[tuple[int, bytes]]:
    """(first state, record) of each segment, of at most so many bytes, from (first state, bytes) of each group."""
    most_groups = header.encoding.groups
    firsts: list[int] = []
    bodies: list[bytes] = []
    entry = header.key_bytes + PLACE
    size = SMALLEST
    number = 0
    for first_key, body in groups:
        if size + entry + len(body) > limit or len(firsts) == most_groups:
            yield firsts[0], _record(header, number, firsts, bodies)
            firsts, bodies, size, number = [], [], SMALLEST, number + 1
        firsts.append(first_key)
        bodies.append(body)
        size += entry + len(body)
    if firsts:
        yield firsts[0], _record(header, number, firsts, bodies)


def _record(header: Header, number: int, firsts: Sequence[int], bodies: Sequence[bytes]) -> bytes:
    ends = [SMALLEST + (header.key_bytes + PLACE) * len(firsts)]
    for body in bodies:
        ends.append(ends[-1] + len(body))
    head = HEAD.pack(len(firsts), header.encoding.number, header.index_bytes)
    places = states_packed(firsts, header.key_bytes) + struct.pack(f"<{len(ends)}H", *ends)
    return seal(header.book_id, number, head + places + b"".join(bodies))


def segment_of(path: Path, header: Header, number: int, first_key: int, record: memoryview) -> Segment:
    """A segment whose checksum holds and that begins with the state `first_key`. Raises DamagedBook."""
    name = f"{path}: segment {number}"
    unseal(header.book_id, number, record, name)
    if len(record) < AT:
        raise DamagedBook(f"{name} is malformed: fetch or solve the book again")
    count, *layout = HEAD.unpack_from(record, CHECKSUM)
    expected = [header.encoding.number, header.index_bytes]
    size = header.key_bytes
    group_limit = min(header.encoding.groups, (len(record) - SMALLEST) // (size + PLACE))
    if layout != expected or not 0 < count <= group_limit:
        raise DamagedBook(f"{name} is malformed: fetch or solve the book again")
    firsts, starts = _head(record, count, size)
    if starts[count] != len(record):
        raise DamagedBook(f"{name} ends elsewhere than it says: fetch or solve the book again")
    if firsts[0] != first_key:
        raise DamagedBook(f"{name} begins elsewhere than the directory says: fetch or solve the book again")
    return record, firsts, starts, header.index_bytes


def _head(record: memoryview, count: int, size: int) -> tuple[Any, memoryview]:
    """First states of so many groups, of so many bytes each, and where groups begin."""
    end = AT + size * count
    return states_of(record[AT:end], size), record[end : end + PLACE * (count + 1)].cast("H")


def states_packed(states: Sequence[int], size: int) -> bytes:
    """States of so many bytes each, side by side."""
    if size == 8:
        return struct.pack(f"<{len(states)}Q", *states)
    return b"".join([state.to_bytes(size, "little") for state in states])


def states_of(packed: memoryview, size: int) -> Any:
    """They again: a view, or a list where they are wide."""
    if size == 8:
        return packed.cast("Q")
    return [int.from_bytes(packed[offset : offset + size], "little") for offset in range(0, len(packed), size)]


def laid_out(record: bytes, size: int = 8) -> Segment:
    """A checked segment, whose first states take so many bytes each."""
    view = memoryview(record)
    count, _, index_bytes = HEAD.unpack_from(view, CHECKSUM)
    return view, *_head(view, count, size), index_bytes


def bodies_of(record: bytes, size: int = 8) -> Iterator[tuple[memoryview, int, int]]:
    """The bytes of each group of a checked segment, its first key, and the bytes of an index."""
    view, firsts, starts, index_bytes = laid_out(record, size)
    for first_key, begin, end in zip(firsts, starts, starts[1:], strict=False):
        yield view[begin:end], first_key, index_bytes


def groups_of(header: Header, record: bytes) -> Iterator[tuple[list[int], list[int]]]:
    """States and palette indices of each group of a checked segment. Raises DamagedBook."""
    decode = header.encoding.decode
    for body in bodies_of(record, header.key_bytes):
        yield decode(*body)
