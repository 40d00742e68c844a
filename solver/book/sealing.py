"""Records of a book: the keys they lie under, and the checksum that each begins with."""

from __future__ import annotations

import struct
import zlib

from solver.base.errors import DamagedBook

SEGMENT_SIZE = 65_520
BODY = SEGMENT_SIZE - 4  # bytes behind the checksum
DIRECTORY_KEY = b"directory"
GAME_KEY = b"graph"
PALETTE_KEY = b"palette"


def segment_key(number: int) -> bytes:
    """Return the key of a segment's record."""
    return number.to_bytes(8, "big")


def part_key(kind: bytes, part_index: int) -> bytes:
    """Return the key of a part of a record that is not a segment: `DIRECTORY_KEY`, `GAME_KEY` or `PALETTE_KEY`."""
    return kind + part_index.to_bytes(4, "big")


def seal(book_id: bytes, number: int, body: bytes) -> bytes:
    """The record: its checksum, then the body."""
    return struct.pack("<I", _checksum(book_id, number, body)) + body


def unseal(
    book_id: bytes, number: int, record: bytes | memoryview, name: str, limit: int = SEGMENT_SIZE
) -> bytes | memoryview:
    """The body of a record whose checksum holds; raises DamagedBook otherwise."""
    fits = 4 <= len(record) <= limit
    if not fits or int.from_bytes(record[:4], "little") != _checksum(book_id, number, record[4:]):
        raise DamagedBook(f"{name} fails its checksum: fetch or solve the book again")
    return record[4:]


def _checksum(book_id: bytes, number: int, body: bytes | memoryview) -> int:
    return zlib.crc32(body, zlib.crc32(book_id + number.to_bytes(8, "little")))
