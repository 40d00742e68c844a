"""A book as one immutable little-endian file without LMDB: for readers in other languages.

    prefix     64 bytes, see PREFIX
    facts      crc32, JSON in ASCII: the header without its palette; whole numbers that JavaScript cannot hold are text
    palette    crc32, then the score and the distance, or -1, of each value, i64; none in a book of expectations; of an
               estimate the score as f64 and -2
    directory  crc32, then the first state of each segment, in as many bytes as the prefix says, and where in the
               file the segment begins, u64
    segments   as the book has them, one after the other to the end of the file

Facts, palette and directory are sealed like the records of a book (`book.format`), as numbers 0, 1 and 2. Byte by
byte, with examples: `docs/reference/format.md`. `web/reader/` reads it.
"""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

from solver.base.progress import Progress
from solver.base.value import is_estimate
from solver.book import Book, Header
from solver.book.format import FORMAT, LATER, seal

MAGIC = b"solver\x1a\n"
# magic, format, number of the codec, bytes of the file, stored states, book id, bytes of the facts, values of the
# palette, segments, bytes of a palette index, of a state; then the crc32 of these
PREFIX = struct.Struct("<8sIIQQ8sIIIII")
CHECKSUM = struct.Struct("<I")
PLACE = struct.Struct("<Q")
VALUE, ESTIMATE = struct.Struct("<qq"), struct.Struct("<dq")
MAX_JSON_INTEGER = (1 << 53) - 1  # the largest whole number that all JSON readers take as it is


def write(book: Book, path: Path, progress: Progress) -> None:
    """Write the book to a new file; each segment's checksum is verified on the way."""
    header, firsts = book.header, book.directory
    facts = seal(header.book_id, 0, facts_of(header))
    values = [
        ESTIMATE.pack(value.score, -2)
        if is_estimate(value)
        else VALUE.pack(value.score, -1 if value.distance is None else value.distance)
        for value in header.outcomes
    ]
    palette = seal(header.book_id, 1, b"".join(values))
    begin = PREFIX.size + CHECKSUM.size + len(facts) + len(palette)
    places = [begin + CHECKSUM.size + (header.key_bytes + PLACE.size) * len(firsts)]
    with open(path, "xb") as file:
        file.seek(places[0])
        for number, segment in enumerate(book.segments(), 1):
            file.write(segment)
            places.append(places[-1] + len(segment))
            progress("export", header.stored * number // len(firsts), header.stored)
        states = [first_key.to_bytes(header.key_bytes, "little") for first_key in firsts]
        entries = b"".join(state + PLACE.pack(offset) for state, offset in zip(states, places, strict=False))
        prefix = PREFIX.pack(
            MAGIC,
            FORMAT,
            header.encoding.number,
            places[-1],
            header.stored,
            header.book_id,
            len(facts),
            len(header.palette),
            len(firsts),
            header.index_bytes,
            header.key_bytes,
        )
        file.seek(0)
        file.write(prefix + CHECKSUM.pack(zlib.crc32(prefix)))
        file.write(facts + palette + seal(header.book_id, 2, entries))
    progress("export", header.stored, header.stored)


def facts_of(header: Header) -> bytes:
    """Return a book's facts, as JSON. Its file has no distances to a conversion."""
    if header.kind.converts:
        header = header.of_kind(header.kind.basis)._replace(longest=None)
    facts = header.layout | header._asdict()
    for name in ("palette", "numbers", "book_id"):
        del facts[name]
    for name in LATER:
        fact: Any = facts.pop(name)
        if fact or (name == "start" and fact is not None):
            facts[name] = fact if type(fact) in (bool, int) else fact._asdict()
    facts["root"] = header.root._asdict()
    facts["tiers"] = header.tiers and [tier._asdict() for tier in header.tiers]
    facts["longest"] = header.longest and {"distance": header.longest[0], "state": str(header.longest[1])}
    return json.dumps(_portable(facts), separators=(",", ":")).encode()


def _portable(value: Any) -> Any:
    """The same with whole numbers as text that JavaScript would round."""
    if isinstance(value, dict):
        return {name: _portable(element) for name, element in value.items()}
    if isinstance(value, list):
        return [_portable(element) for element in value]
    return str(value) if type(value) is int and abs(value) > MAX_JSON_INTEGER else value
