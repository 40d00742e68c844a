"""Files of books in mapped memory: one mapping of each file in a process, shared by all books of it.

The file is examined as plain bytes before LMDB maps it, and every segment's checksum is verified when it is first
touched. A mapping is closed when the last look-up that uses it has ended: each look-up holds a reference to the
`Mapped` that it reads from.
"""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import lmdb

from solver.base.errors import BookError, DamagedBook, ForeignBook
from solver.base.system import after_fork
from solver.book import pages
from solver.book.format import DIRECTORY_KEY, GAME_KEY, HEADER_KEY, PALETTE_KEY, Header, part_key, segment_key, unseal
from solver.book.segments import Segment, segment_of, states_of
from solver.book.solution import HASH

HASHED = 1 << 20  # bytes at a time


class Mapped:
    """One mapped file: its environment, one read transaction, its codec, and the segments touched so far."""

    def __init__(self, path: Path, identity: tuple[int, int, int]) -> None:
        self.path, self._identity = path, identity
        self.environment: Any = open_environment(path, readonly=True, create=False, readahead=False, max_spare_txns=0)
        self.transaction: Any = self.environment.begin(buffers=True)
        self.header: Header = self._read_header()
        self.values = self.header.values
        self.codec = self.header.encoding
        self.find = self.codec.finder()
        self.directory: list[int] = self._read_directory()
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

    def _read_header(self) -> Header:
        missing = " has no header: it is no book, or its writing did not end; solve it again"
        record = self._record(HEADER_KEY, "the header", missing)
        try:
            return Header.unpack(bytes(record), self.transaction.get)
        except (DamagedBook, ForeignBook) as error:
            raise type(error)(f"{self.path}: {error}") from None

    def _read_directory(self) -> list[int]:
        """The first state of each segment. A list takes 40 bytes of each 64 KB, and bisecting it half the time."""
        records = self._parts(DIRECTORY_KEY, DIRECTORY_KEY.decode())
        directory = memoryview(b"".join(records))
        part_counts = [next(n for n in itertools.count() if not self._has(kind, n)) for kind in (GAME_KEY, PALETTE_KEY)]
        segments = self.environment.stat()["entries"] - 1 - len(records) - sum(part_counts)
        size = self.header.key_bytes
        if len(directory) != size * segments:
            raise DamagedBook(f"{self.path}: {len(directory) // size} directory entries for {segments} segments")
        if not segments <= self.header.stored <= segments * self.codec.groups * self.codec.group:
            raise DamagedBook(f"{self.path}: {segments} segments cannot hold {self.header.stored} states")
        return list(states_of(directory, size))


class _Registered:
    """A file mapped in this process, by device and inode: LMDB must not map it twice, so its books share it.

    Its end is not left to the destructor of `Mapped`, since another thread may open the file again while that runs.
    """

    def __init__(self, identity: tuple[int, int], mapped: Mapped) -> None:
        self.identity = identity
        self.mapped = weakref.ref(mapped, lambda _: self.close())
        self.views, self.transaction, self.environment = mapped.segments, mapped.transaction, mapped.environment
        self.afterwards: Callable[[], Any] | None = None

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


def when_unmapped(mapped: Mapped, action: Callable[[], Any]) -> None:
    """Do something once, when no book of this process has a file mapped any more, or the interpreter ends."""
    for registered in _registered.values():
        if registered.mapped() is mapped:
            registered.afterwards = action


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
            _registered[identity[:2]] = _Registered(identity[:2], mapped)
            return mapped


def _examine(path: Path, sha256: str | None) -> tuple[int, int, int]:
    """Device, inode and size of a file whose structure LMDB can follow without a signal."""
    with pages.open_file(path) as file:
        try:
            if sha256 is not None:
                _check_hash(file, sha256)
            pages.check(file)
        except BookError as error:
            raise type(error)(f"{path} {error}") from None
        except OSError as error:
            raise DamagedBook(f"{path} cannot be read ({error.strerror}): fetch it again") from None
        status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size


def _check_hash(file: BinaryIO, sha256: str) -> None:
    """Raise DamagedBook unless all bytes of a file have this sha256, BookError if it is none.

    The messages go behind the file's name.
    """
    if not HASH.fullmatch(sha256.lower()):
        raise BookError(f"was to have {sha256[:80]!r}, which is no sha256: 64 hex digits, as sha256sum prints them")
    digest = hashlib.sha256()
    while block := file.read(HASHED):
        digest.update(block)
    if digest.hexdigest() != sha256.lower():
        raise DamagedBook(f"has sha256 {digest.hexdigest()}, not {sha256.lower()}: fetch it again")


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size
