"""Segments: groups of states behind a head that says where each begins. How a group is encoded, its codec knows."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from solver.base.errors import DamagedBook
from solver.book.codecs import CODECS
from solver.book.format import Header, seal, unseal

HEAD = struct.Struct("<HBB")  # groups, number of the codec, bytes of a palette index
CHECKSUM = 4
AT = CHECKSUM + HEAD.size  # where the first states of the groups begin
ENTRY = 8 + 2  # a group's first state, and where it begins
SMALLEST = AT + 2  # of no groups

Segment = tuple[memoryview, memoryview, memoryview, int]
"""All bytes, first states of the groups, where groups begin and the last ends, bytes of a palette index."""


def packed(header: Header, groups: Iterable[tuple[int, bytes]], most: int) -> Iterator[tuple[int, bytes]]:
    """(first state, record) of each segment, of at most so many bytes, from (first state, bytes) of each group."""
    most_groups = CODECS[header.codec].GROUPS
    firsts: list[int] = []
    bodies: list[bytes] = []
    size = SMALLEST
    number = 0
    for first, body in groups:
        if size + ENTRY + len(body) > most or len(firsts) == most_groups:
            yield firsts[0], _record(header, number, firsts, bodies)
            firsts, bodies, size, number = [], [], SMALLEST, number + 1
        firsts.append(first)
        bodies.append(body)
        size += ENTRY + len(body)
    if firsts:
        yield firsts[0], _record(header, number, firsts, bodies)


def _record(header: Header, number: int, firsts: Sequence[int], bodies: Sequence[bytes]) -> bytes:
    ends = [SMALLEST + ENTRY * len(firsts)]
    for body in bodies:
        ends.append(ends[-1] + len(body))
    head = HEAD.pack(len(firsts), CODECS[header.codec].NUMBER, header.index_bytes)
    places = struct.pack(f"<{len(firsts)}Q{len(ends)}H", *firsts, *ends)
    return seal(header.book_id, number, head + places + b"".join(bodies))


def segment_of(path: Path, header: Header, number: int, first: int, record: memoryview) -> Segment:
    """A segment whose checksum holds and that begins with the state `first`. Raises DamagedBook."""
    name = f"{path}: segment {number}"
    unseal(header.book_id, number, record, name)
    if len(record) < AT:
        raise DamagedBook(f"{name} is malformed: fetch or solve the book again")
    count, *layout = HEAD.unpack_from(record, CHECKSUM)
    expected = [CODECS[header.codec].NUMBER, header.index_bytes]
    most = min(CODECS[header.codec].GROUPS, (len(record) - SMALLEST) // ENTRY)
    if layout != expected or not 0 < count <= most:
        raise DamagedBook(f"{name} is malformed: fetch or solve the book again")
    firsts = record[AT : AT + 8 * count].cast("Q")
    starts = record[AT + 8 * count : SMALLEST + ENTRY * count].cast("H")
    if starts[count] != len(record):
        raise DamagedBook(f"{name} ends elsewhere than it says: fetch or solve the book again")
    if firsts[0] != first:
        raise DamagedBook(f"{name} begins elsewhere than the directory says: fetch or solve the book again")
    return record, firsts, starts, header.index_bytes


def laid_out(record: bytes) -> Segment:
    """A checked segment."""
    view = memoryview(record)
    count, _, index_bytes = HEAD.unpack_from(view, CHECKSUM)
    end = AT + 8 * count
    return view, view[AT:end].cast("Q"), view[end : SMALLEST + ENTRY * count].cast("H"), index_bytes


def bodies_of(record: bytes) -> Iterator[tuple[memoryview, int, int]]:
    """The bytes of each group of a checked segment, its first key, and the bytes of an index."""
    view, firsts, starts, index_bytes = laid_out(record)
    for first, begin, end in zip(firsts, starts, starts[1:], strict=False):
        yield view[begin:end], first, index_bytes


def groups_of(header: Header, record: bytes) -> Iterator[tuple[list[int], list[int]]]:
    """States and palette indices of each group of a checked segment. Raises DamagedBook."""
    decode = CODECS[header.codec].decode
    for body in bodies_of(record):
        yield decode(*body)
