"""Records of a book: the keys they lie under, their checksums, and palettes too long for a header."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from solver.base.errors import DamagedBook
from solver.base.value import Value

SEGMENT_SIZE = 65_520
BODY = SEGMENT_SIZE - 4  # bytes behind the checksum
DIRECTORY_KEY = b"directory"
GAME_KEY = b"graph"
PALETTE_KEY = b"palette"
PALETTE_PART = 4_000  # values to a record
MOST_VALUES = 1 << 21  # of any palette: a reader takes 200 bytes for each


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


def palette_records(book_id: bytes, palette: Sequence[Value]) -> list[tuple[bytes, bytes]]:
    """Keys and records of a palette."""
    records = []
    for part_index, begin in enumerate(range(0, len(palette), PALETTE_PART)):
        values = palette[begin : begin + PALETTE_PART]
        numbers = [number for score, distance in values for number in (score, -1 if distance is None else distance)]
        records.append(
            (part_key(PALETTE_KEY, part_index), seal(book_id, part_index, struct.pack(f"<{len(numbers)}q", *numbers)))
        )
    return records


def long_palette(book_id: bytes, size: int, read_record: Callable[[bytes], Any]) -> list[tuple[int, int | None]]:
    """The scores and distances of a palette in records of its own."""
    numbers: list[int] = []
    if size > MOST_VALUES:
        raise ValueError("more values than a book may have")
    for part_index in range(-(-size // PALETTE_PART)):
        record = read_record(part_key(PALETTE_KEY, part_index))
        if record is None:
            raise ValueError(f"part {part_index} of the palette is missing")
        numbers += memoryview(unseal(book_id, part_index, record, f"part {part_index} of the palette")).cast("q")
    if len(numbers) != 2 * size:
        raise ValueError("the palette has another size")
    return [(score, None if distance == -1 else distance) for score, distance in zip(*[iter(numbers)] * 2, strict=True)]


def value_in(pair: Sequence[Any], types: tuple[type, ...]) -> Value:
    """The value of a header's [score, distance], of these types of scores."""
    score, distance = pair
    if type(score) not in types or not (distance is None or (type(distance) is int and distance >= 0)):
        raise ValueError("a value is no [score, distance]")
    return Value(score, distance)
