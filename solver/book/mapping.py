"""Files of books in mapped memory: one mapping of each file in a process, shared by all books of it.

The file is examined as plain bytes before LMDB maps it, and every segment's checksum is verified when it is first
touched. A mapping is closed when the last look-up that uses it has ended: each look-up holds a reference to the
`Mapped` that it reads from.

A segment is groups of states behind a head that says where each begins. How a group is encoded, its codec knows.
"""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import struct
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lmdb

from solver.base.errors import BookError, DamagedBook, ForeignBook
from solver.base.system import after_fork
from solver.book import pages
from solver.book.format import DIRECTORY_KEY, GAME_KEY, HEADER_KEY, PALETTE_KEY, Header, part_key, segment_key, unseal
from solver.book.solution import HASH

HASHED = 1 << 20  # bytes at a time
SEGMENT_HEAD = struct.Struct("<HBB")  # groups, number of the codec, bytes of a palette index
CHECKSUM = 4
KEYS_BEGIN = CHECKSUM + SEGMENT_HEAD.size  # where the first states of the groups begin
PLACE = 2  # bytes that say where a group begins
SMALLEST = KEYS_BEGIN + PLACE  # of no groups

Segment = tuple[memoryview, Any, memoryview, int]
"""All bytes, first states of the groups, where groups begin and the last ends, bytes of a palette index."""


class Mapped:
    """One mapped file: its environment, one read transaction, its codec, and the segments touched so far."""

    registered: _Registered  # as the books of this process share it

    def __init__(self, path: Path, identity: tuple[int, int, int]) -> None:
        self.path, self._identity = path, identity
        self.environment: Any = open_environment(path, readonly=True, create=False, readahead=False, max_spare_txns=0)
        self.transaction: Any = self.environment.begin(buffers=True)
        missing = " has no header: it is not a book, or its writing did not end; solve it again"
        record = self._record(HEADER_KEY, "the header", missing)
        try:
            self.header: Header = Header.unpack(bytes(record), self.transaction.get)
        except (DamagedBook, ForeignBook) as error:
            raise type(error)(f"{self.path}: {error}") from None
        self.values = self.header.values
        self.codec = self.header.encoding
        self.find = self.codec.finder()
        records = self._parts(DIRECTORY_KEY, DIRECTORY_KEY.decode())
        directory = memoryview(b"".join(records))
        part_counts = [next(n for n in itertools.count() if not self._has(kind, n)) for kind in (GAME_KEY, PALETTE_KEY)]
        segments = self.environment.stat()["entries"] - 1 - len(records) - sum(part_counts)
        size = self.header.key_bytes
        if len(directory) != size * segments:
            raise DamagedBook(f"{path}: {len(directory) // size} directory entries for {segments} segments")
        if not segments <= self.header.stored <= segments * self.codec.groups * self.codec.group:
            raise DamagedBook(f"{path}: {segments} segments cannot hold {self.header.stored} states")
        # The first state of each segment: a list takes 40 bytes of each 64 KB, and bisecting it half the time
        self.directory: list[int] = list(states_of(directory, size))
        self.segments: list[Segment | None] = [None] * len(self.directory)

    def _record(self, key: bytes, name: str, missing: str) -> memoryview:
        """A record, as a view of mapped memory."""
        try:
            record: memoryview | None = self.transaction.get(key)
        except lmdb.Error as error:
            raise DamagedBook(f"{self.path}: {name} cannot be read: {error}") from None
        if record is None:
            raise DamagedBook(f"{self.path}{missing}")
        return record

    def segment(self, number: int) -> Segment:
        """A segment, loaded if it is not yet."""
        return self.segments[number] or self.load(number)

    def load(self, number: int) -> Segment:
        """A segment, its checksum verified, kept for the next look-up."""
        self.refuse_altered()
        name = f"segment {number}"
        record = self._record(segment_key(number), name, f": {name} is missing: fetch or solve the book again")
        segment = segment_of(self.path, self.header, number, self.directory[number], record)
        self.segments[number] = segment
        return segment

    def refuse_altered(self) -> None:
        """Raise DamagedBook if the file has another size by now: to read a mapped page that it lacks is fatal."""
        now = _identity(self.path)
        if now is not None and now != self._identity and now[:2] == self._identity[:2]:
            raise DamagedBook(f"{self.path} was written over while it was open: write a new file, and mv it there")

    def keeps_game(self) -> bool:
        """Whether the book keeps a game that no name tells."""
        return self._has(GAME_KEY, 0)

    def game(self) -> bytes:
        """Return the record of a game that has no name. Empty in most books."""
        return b"".join(self._parts(GAME_KEY, "the game"))

    def _has(self, kind: bytes, part_index: int) -> bool:
        return self.transaction.get(part_key(kind, part_index)) is not None

    def _parts(self, kind: bytes, name: str) -> list[bytes]:
        """The bodies of all records of a kind."""
        records: list[bytes] = []
        while (record := self.transaction.get(part_key(kind, len(records)))) is not None:
            what = f"{self.path}: {name} part {len(records)}"
            records.append(bytes(unseal(self.header.book_id, len(records), record, what)))
        return records


class _Registered:
    """A file mapped in this process, by device and inode: LMDB must not map it twice, so its books share it.

    Its end is not left to the destructor of `Mapped`, since another thread may open the file again while that runs.
    """

    def __init__(self, identity: tuple[int, int], mapped: Mapped) -> None:
        self.identity = identity
        self.mapped = weakref.ref(mapped, lambda _: self.close())
        self.views, self.transaction, self.environment = mapped.segments, mapped.transaction, mapped.environment
        self.afterwards: Callable[[], Any] | None = None  # called once, when no book has the file mapped any more

    def close(self) -> None:
        """Unmap the file, whose `Mapped` is gone; views of its memory go first."""
        with _opening:
            if _registered.get(self.identity) is self:
                del _registered[self.identity]
                self.views.clear()
                self.transaction.abort()
                self.environment.close()
                if self.afterwards is not None:
                    self.afterwards()


_registered: dict[tuple[int, int], _Registered] = {}
_opening = threading.RLock()  # reentrant: while one book is opened, a garbage collection may let go of another


@atexit.register
def _unmap_temporary() -> None:
    """Unmap temporary books, since Windows removes no file that is mapped."""
    for registered in [*_registered.values()]:
        if registered.afterwards is not None:
            registered.close()


def open_environment(path: Path, **options: Any) -> Any:
    """Open a file by LMDB, not while another thread closes a book.

    A book that was replaced gives its inode free when it is closed. A new file may get that inode before LMDB has
    forgotten it, and LMDB opens no file twice in a process.
    """
    with _opening:
        return lmdb.open(os.fsencode(path), subdir=False, lock=False, max_dbs=0, **options)


def _renew_lock() -> None:
    global _opening
    _opening = threading.RLock()


after_fork(_renew_lock)  # the thread that held it is not in the child


def mapped_file(path: Path, sha256: str | None = None) -> Mapped:
    """The mapping of a file, new or shared with the other books of this file; of no other sha256, if one is given."""
    if sys.byteorder != "little":
        raise ForeignBook("books are little-endian, this machine is not: read it elsewhere")
    with _opening:
        while True:
            identity = _examine(path, sha256)
            registered = _registered.get(identity[:2])
            if registered is not None:
                mapped = registered.mapped()
                if mapped is not None:
                    mapped.refuse_altered()
                    return mapped
                # Its last book has just gone, in a thread that waits for this lock
                registered.close()
            mapped, failure = None, None
            try:
                mapped = Mapped(path, identity)
            except lmdb.Error as error:
                failure = error
            if _identity(path) != identity:
                # The file was replaced meanwhile, so which one is mapped is not known
                continue
            if mapped is None:
                raise DamagedBook(f"{path} cannot be opened: {failure}")
            mapped.registered = _registered[identity[:2]] = _Registered(identity[:2], mapped)
            return mapped


def _examine(path: Path, sha256: str | None) -> tuple[int, int, int]:
    """Device, inode and size of a file whose structure LMDB can follow without a signal."""
    with pages.open_file(path) as file:
        try:
            if sha256 is not None:
                if not HASH.fullmatch(sha256.lower()):
                    raise BookError(
                        f"was to have {sha256[:80]!r}, which is not a sha256: 64 hex digits, as sha256sum prints them"
                    )
                digest = hashlib.sha256()
                while block := file.read(HASHED):
                    digest.update(block)
                if digest.hexdigest() != sha256.lower():
                    raise DamagedBook(f"has sha256 {digest.hexdigest()}, not {sha256.lower()}: fetch it again")
            pages.check(file)
        except BookError as error:
            raise type(error)(f"{path} {error}") from None
        except OSError as error:
            raise DamagedBook(f"{path} cannot be read ({error.strerror}): fetch it again") from None
        status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size


def segment_of(path: Path, header: Header, number: int, first_key: int, record: memoryview) -> Segment:
    """A segment whose checksum holds and that begins with the state `first_key`. Raises DamagedBook."""
    name = f"{path}: segment {number}"
    unseal(header.book_id, number, record, name)
    if len(record) < KEYS_BEGIN:
        raise DamagedBook(f"{name} is malformed: fetch or solve the book again")
    count, *layout = SEGMENT_HEAD.unpack_from(record, CHECKSUM)
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
    end = KEYS_BEGIN + size * count
    return states_of(record[KEYS_BEGIN:end], size), record[end : end + PLACE * (count + 1)].cast("H")


def states_of(packed: memoryview, size: int) -> Any:
    """States side by side, of so many bytes each: a view, or a list where they are wide."""
    if size == 8:
        return packed.cast("Q")
    return [int.from_bytes(packed[offset : offset + size], "little") for offset in range(0, len(packed), size)]


def laid_out(record: bytes, size: int = 8) -> Segment:
    """A checked segment, whose first states take so many bytes each."""
    view = memoryview(record)
    count, _, index_bytes = SEGMENT_HEAD.unpack_from(view, CHECKSUM)
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
