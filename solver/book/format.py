"""The book on disk: one LMDB 0.9 file that answers by memory mapping.

Version history
    1   the `instant` codec. Later books have `numbers` in their header; earlier ones are read without.

Records of the main database, in key order
    8 bytes, big-endian n         segment n
    "directory" + 4 bytes n       part n of the directory: crc32, then the first state of each segment, u64
    "header"                      crc32, then a msgpack map, the fields of `Header`

All integers but the keys are little-endian. A crc32 runs over the book id, the record's number as u64, and the rest
of the record, so a record of another book or another place does not pass.

Segment, at most 65,520 bytes: whole pages of LMDB
    u32 crc32 | u16 groups n | u8 codec, 0 instant | u8 bytes of a palette index: 1, 2 or 4
    n u64 first state of each group | n + 1 u16 where each group begins, and the end | groups

Group, up to 256 states
    u8 key mode + 8 * value width, 0, 1, 2, 4 or 8 bits | u8 states - 1 | u8 local palette entries - 1
    local palette, indices into the header's palette
    values: local palette places, lowest bits first
    keys, mode 0: bitmap of first..last state, lowest bit first; modes 1-4: state - first, in 1, 2, 4 or 8 bytes

Worked group: states 1000, 1001, 1003 with palette indices 7, 9, 7, indices of one byte
    08 | 02 | 01 | 07 09 | 02 | 0b
    bitmap and 1 bit a value, 3 states, 2 entries, places 0 1 0, keys 1000 + {0, 1, 3}

Why so, in bits a state on connect-four 5x4: one LMDB record a state 161, fixed-width offsets 26, this 12; its
look-ups are as fast as those of plain records. Only non-terminal states are stored: rules tell terminal ones.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgpack

from solver.errors import DamagedBook, ForeignBook
from solver.solved import TierCount
from solver.value import Value

MAGIC = "solverbook"
VERSION = 1
GROUP = 256
SEGMENT_SIZE = 65_520
# Behind its last page a file of more than SMALL bytes has MARGIN zeros, so that a record that seems longer than it is,
# or seems to begin elsewhere, can be read up to the size of a segment, to fail its checksum: reading beyond the end of
# a mapped file is a signal. The tree of a smaller file is walked as plain bytes before it is mapped.
SMALL = 256 << 10
MARGIN = 64 << 10
HEADER_SIZE = 1 << 20
HEADER_KEY = b"header"
DIRECTORY_KEY = b"directory"
DIRECTORY_PART = 8_000  # first states to a directory record
INSTANT = 0
KEY_BYTES = (0, 1, 2, 4, 8)

METHODS = ("minimax", "retrograde", "alphabeta")


class Header(NamedTuple):
    """What a book says of itself. `states`, `terminal` and `tiers` are None where the scope is not complete.

    `numbers` are the stored states of each value of the palette; None in a book that did not count them yet.
    """

    game: str
    rules: str
    method: str
    scope: str
    symmetry: bool
    score_game: bool
    palette: list[Value]
    states: int | None
    terminal: int | None
    stored: int
    counts: dict[str, int]
    tiers: list[TierCount] | None
    root: Value
    longest: tuple[int, int] | None
    book_id: bytes = b""
    digest: str = ""
    codec: str = "instant"
    numbers: list[int] | None = None

    def identified(self) -> Header:
        """With the book id, which follows from all that is known before the records are written."""
        facts = msgpack.packb(list(self._replace(book_id=b"", digest="")))
        return self._replace(book_id=hashlib.sha256(facts).digest()[:8])

    @property
    def index_bytes(self) -> int:
        """Bytes of a palette index."""
        return 1 if len(self.palette) <= 1 << 8 else 2 if len(self.palette) <= 1 << 16 else 4

    def pack(self) -> bytes:
        """The header's record."""
        fields = {"magic": MAGIC, "version": VERSION, "byte_order": "little", "group": GROUP, **self._asdict()}
        return seal(self.book_id, 0, msgpack.packb({**fields, "complete": True}))

    @classmethod
    def unpack(cls, record: bytes) -> Header:
        """The header in a record. Raises ForeignBook for another format or version, DamagedBook for the rest."""
        fields = _fields(record)
        if fields.get("magic") != MAGIC:
            raise ForeignBook("the header has no mark of a book of this package")
        if fields.get("version") != VERSION:
            raise ForeignBook(
                f"the book has format version {str(fields.get('version'))[:20]}, this package reads {VERSION}:"
                " install the package that wrote it, or solve again"
            )
        book_id = fields.get("book_id")
        if not isinstance(book_id, bytes) or len(book_id) != 8:
            raise DamagedBook("the header has no book id")
        unseal(book_id, 0, record, "header", HEADER_SIZE)
        try:
            return cls._checked(fields)
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedBook(f"the header is malformed: {type(error).__name__} {str(error)[:80]}") from None

    @classmethod
    def _checked(cls, fields: dict[str, Any]) -> Header:
        """A header of fields of the right types; raises what goes wrong."""
        if fields["complete"] is not True or fields["byte_order"] != "little" or fields["group"] != GROUP:
            raise ValueError("unknown layout")
        kinds = {
            "game": str,
            "rules": str,
            "scope": str,
            "symmetry": bool,
            "score_game": bool,
            "stored": int,
            "digest": str,
        }
        for name, kind in kinds.items():
            if type(fields[name]) is not kind:
                raise ValueError(f"{name} is no {kind.__name__}")
        if fields["method"] not in METHODS or fields["codec"] != "instant" or fields["stored"] < 0:
            raise ValueError("unknown method or codec")
        for name in ("states", "terminal"):
            if fields[name] is not None and (type(fields[name]) is not int or fields[name] < 0):
                raise ValueError(f"{name} is no count")
        header = cls(**{name: fields[name] for name in cls._fields if name != "numbers"}, numbers=fields.get("numbers"))
        if header.numbers is not None and len(header.numbers) != len(header.palette):
            raise ValueError("numbers and palette differ")
        return header._replace(
            numbers=None if header.numbers is None else [int(number) for number in header.numbers],
            palette=[_value(pair) for pair in header.palette],
            counts={name: int(header.counts[name]) for name in ("win", "draw", "loss")},
            tiers=None if header.tiers is None else [TierCount(*map(int, row)) for row in header.tiers],
            root=_value(header.root),
            longest=None if header.longest is None else (int(header.longest[0]), int(header.longest[1])),
        )


def _value(pair: Sequence[Any]) -> Value:
    score, distance = pair
    if type(score) is not int or not (distance is None or (type(distance) is int and distance >= 0)):
        raise ValueError("a value is no [score, distance]")
    return Value(score, distance)


def _fields(record: bytes) -> dict[str, Any]:
    """The msgpack map of a header record; nothing large or deep is built from hostile bytes."""
    if not 4 < len(record) <= HEADER_SIZE:
        raise DamagedBook(f"the header has {len(record)} bytes")
    limit = len(record)
    try:
        fields = msgpack.unpackb(
            record[4:], max_str_len=limit, max_bin_len=limit, max_array_len=limit, max_map_len=100, max_ext_len=0
        )
    except (ValueError, msgpack.exceptions.UnpackException, RecursionError) as error:
        raise DamagedBook(f"the header cannot be read: {type(error).__name__}") from None
    if not isinstance(fields, dict):
        raise ForeignBook("the header is no map")
    return fields


def segment_key(number: int) -> bytes:
    return number.to_bytes(8, "big")


def directory_key(part: int) -> bytes:
    return DIRECTORY_KEY + part.to_bytes(4, "big")


def seal(book_id: bytes, number: int, body: bytes) -> bytes:
    """The record: its checksum, then the body."""
    return struct.pack("<I", _checksum(book_id, number, body)) + body


def unseal(
    book_id: bytes, number: int, record: bytes | memoryview, name: str, most: int = SEGMENT_SIZE
) -> bytes | memoryview:
    """The body of a record whose checksum holds; raises DamagedBook otherwise."""
    fits = 4 <= len(record) <= most
    if not fits or int.from_bytes(record[:4], "little") != _checksum(book_id, number, record[4:]):
        raise DamagedBook(f"{name} fails its checksum: fetch or solve the book again")
    return record[4:]


def _checksum(book_id: bytes, number: int, body: bytes | memoryview) -> int:
    return zlib.crc32(body, zlib.crc32(book_id + number.to_bytes(8, "little")))
