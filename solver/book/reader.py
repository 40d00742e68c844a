"""Reading a book: a Mapping from stored states to values, answered from mapped memory in about 1.5 us.

Safety comes first: the file is examined as plain bytes before LMDB maps it, every segment's checksum is verified
when it is first touched, and views of mapped memory never leave this module. An environment is shared by all books
of one file in the process, and closed when the last look-up that uses it has ended: each look-up holds a reference
to the `_Mapped` it reads from, `close` only lets go of the book's.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import lmdb

from solver.book import pages
from solver.book.codec import KEY_FORMATS, OFTEN_WRONG, Segment, decode_group, groups_of, segment_of
from solver.book.format import (
    DIRECTORY_KEY,
    HEADER_KEY,
    KEY_BYTES,
    MOST_STATES,
    Header,
    directory_key,
    palette_key,
    segment_key,
    unseal,
)
from solver.errors import BookError, DamagedBook, ForeignBook, MissingState, SolverError
from solver.fingerprint import fingerprint
from solver.game import STATE_LIMIT, Game, Rules, game_text, is_built_in, load_game
from solver.value import Value

from_bytes = int.from_bytes


class Book(Mapping[int, Value]):
    """The values of a book's stored states: all non-terminal ones, canonical where the book is folded by symmetry.

    `book[state]` raises MissingState, `get` has a default; iteration is in ascending order. Many threads may read at
    once, the same file may be opened many times, and readers survive a fork. Raises DamagedBook or ForeignBook on
    files that cannot be trusted, at opening or when the damaged part is first touched.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._mapped: _Mapped | None = _mapped(self.path)
        self.header = self._mapped.header
        self._place = self.path.absolute()

    def __getitem__(self, state: int) -> Value:
        value: Value | None = self.get(state)
        if value is None:
            raise MissingState(f"state {state} is not in {self.path.name}{self._folded(state)}")
        return value

    def _folded(self, state: Any) -> str:
        """Where to look instead for a state that symmetry has folded away."""
        if not self.header.symmetry or not isinstance(state, int) or not 0 <= state < STATE_LIMIT:
            return ""
        if not is_built_in(self.header.game):
            return ", which is folded by symmetry: ask for game.canonical(state)"
        try:
            twin = self._canonical(state)
        except (ArithmeticError, LookupError, ValueError):  # of a number that is no state
            return ""
        if twin == state or twin not in self:
            return ""
        return f", which is folded by symmetry: ask for its canonical state, {twin}"

    @functools.cached_property
    def _canonical(self) -> Callable[[int], int]:
        """The `canonical` of the package's rules, if they are those of the book."""
        try:
            return Rules(self.game).canonical
        except (SolverError, OSError):
            return lambda state: state

    def get(self, state: Any, default: Any = None) -> Any:
        """The value of a state, or the default."""
        mapped = self._mapped
        if mapped is None:
            raise BookError(f"{self.path} is closed: open it again")
        try:
            number = bisect_right(mapped.directory, state) - 1
            if number < 0:
                return default
            view, firsts, starts = mapped.segments[number] or mapped.load(number)
            group = bisect_right(firsts, state) - 1
            at = starts[group]
            kind = view[at]
            count = view[at + 1] + 1
            width = kind >> 3
            palette = at + 3
            values = palette + (view[at + 2] + 1) * mapped.index_bytes
            keys = values + (count * width + 7 >> 3)
            offset = state - firsts[group]
            if kind & 7:
                size = KEY_BYTES[kind & 7]
                known = view[keys : keys + count * size].cast(KEY_FORMATS[kind & 7])
                place = bisect_left(known, offset)
                if place == count or known[place] != offset:
                    return default
            else:
                byte = keys + (offset >> 3)
                if byte >= starts[group + 1]:
                    return default
                bits = view[byte]
                bit = 1 << (offset & 7)
                if not bits & bit:
                    return default
                place = from_bytes(view[keys:byte], "little").bit_count() + (bits & bit - 1).bit_count()
            place *= width  # now a bit
            place = view[values + (place >> 3)] >> (place & 7) & (1 << width) - 1
            if mapped.index_bytes == 1:
                return mapped.palette[view[palette + place]]
            at = palette + place * mapped.index_bytes
            return mapped.palette[from_bytes(view[at : at + mapped.index_bytes], "little")]
        except OFTEN_WRONG as error:
            if not isinstance(state, int):
                return default
            raise DamagedBook(f"{self.path}: a segment is malformed ({error}): fetch or solve the book again") from None

    def __contains__(self, state: object) -> bool:
        return self.get(state) is not None

    def __len__(self) -> int:
        return self.header.stored

    def __iter__(self) -> Iterator[int]:
        for states, _ in self._groups():
            yield from states

    def items(self) -> Any:
        """(state, value) pairs in ascending order of the states."""
        return _Items(self)

    def _pairs(self) -> Iterator[tuple[int, Value]]:
        palette = self.header.palette
        for states, places in self._groups():
            for state, place in zip(states, places, strict=True):
                yield state, palette[place]

    def _groups(self) -> Iterator[tuple[list[int], list[int]]]:
        """States and palette indices of each group."""
        for record in self.segments():
            yield from groups_of(record)

    def group(self, number: int, choose: Callable[[int], int]) -> list[tuple[int, Value]]:
        """The pairs of one group of segment `number`: `choose` says which of so many."""
        if self._mapped is None:
            raise BookError(f"{self.path} is closed: open it again")
        view, firsts, starts = self._mapped.segments[number] or self._mapped.load(number)
        place = choose(len(firsts))
        states, indices = decode_group(view[starts[place] : starts[place + 1]], firsts[place], self._mapped.index_bytes)
        return [(state, self.header.palette[index]) for state, index in zip(states, indices, strict=True)]

    @property
    def directory(self) -> Sequence[int]:
        """The first state of each segment."""
        if self._mapped is None:
            raise BookError(f"{self.path} is closed: open it again")
        return self._mapped.directory

    def segments(self) -> Iterator[bytes]:
        """Copies of the segments' records, each after its checksum was verified."""
        mapped = self._mapped
        if mapped is None:
            raise BookError(f"{self.path} is closed: open it again")
        for number in range(len(mapped.segments)):
            yield bytes((mapped.segments[number] or mapped.load(number))[0])

    @property
    def game(self) -> Game:
        """The game of the header, if it is one of the package's and its rules are those that made the book.

        A book never runs code that it names: for a user's own game pass the game to whoever needs it.
        """
        if not is_built_in(self.header.game):
            name, kind, rest = self.header.game.partition(":")
            where = f"PATH/{name}::{rest[1:]}" if rest[:1] == ":" else f"{name}{kind}PATH/{rest}"
            raise ForeignBook(
                f"{self.path} is of a game outside this package: name its rules, --game {where},"
                " or in Python Player(book, game)"
            )
        game = load_game(self.header.game)
        self.check_rules(game)
        return game

    def check_rules(self, game: Game) -> None:
        """Raise ForeignBook unless these are the rules that made the book."""
        rules = fingerprint(game)
        if rules != self.header.rules:
            raise ForeignBook(
                f"{self.path} was made by rules {self.header.rules[:8]} ({self.header.game}), these are"
                f" {rules[:8]} ({game_text(game)}): solve again"
            )

    def close(self) -> None:
        """Let go of the file; look-ups under way in other threads finish."""
        self._mapped = None

    def __eq__(self, other: object) -> bool:
        """Books are equal if their headers and so their digests are; any other mapping is compared by its items."""
        return self.header == other.header if isinstance(other, Book) else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self.header.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickled book is opened again where it lay, if it is the same book."""
        if self._mapped is None:
            raise BookError(f"{self.path} is closed: open it again")
        return _reopened, (str(self._place), self.header.digest)

    def __enter__(self) -> Book:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Book {self.path.name}: {self.header.game}, {len(self):,} states{'' if self._mapped else ', closed'}>"


def _reopened(path: str, digest: str) -> Book:
    book = Book(path)
    if book.header.digest != digest:
        raise ForeignBook(f"{path} is another book than the one that was pickled: pickle it again")
    return book


class _Items:
    """The view that Mapping.items promises, without a look-up for each state."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def __len__(self) -> int:
        return len(self._book)

    def __iter__(self) -> Iterator[tuple[int, Value]]:
        return self._book._pairs()

    def __contains__(self, pair: object) -> bool:
        return isinstance(pair, tuple) and len(pair) == 2 and self._book.get(pair[0]) == pair[1]


class _Mapped:
    """One mapped file: its environment, one read transaction, and the segments touched so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.environment = lmdb.open(
            str(path),
            subdir=False,
            readonly=True,
            lock=False,
            create=False,
            readahead=False,
            max_dbs=0,
            max_spare_txns=0,
        )
        self.transaction = self.environment.begin(buffers=True)
        self.header = self._read_header()
        self.palette = self.header.palette
        self.index_bytes = self.header.index_bytes
        self.directory = self._read_directory()
        self.segments: list[Segment | None] = [None] * len(self.directory)

    def record(self, key: bytes, name: str) -> memoryview:
        """A record, as a view of mapped memory."""
        try:
            found: memoryview | None = self.transaction.get(key)
        except lmdb.Error as error:
            raise DamagedBook(f"{self.path}: {name} cannot be read: {error}") from None
        if found is None:
            raise DamagedBook(f"{self.path}: {name} is missing: fetch or solve the book again")
        return found

    def load(self, number: int) -> Segment:
        """A segment, its checksum verified, kept for the next look-up."""
        record = self.record(segment_key(number), f"segment {number}")
        segment = segment_of(self.path, self.header, number, self.directory[number], record)
        self.segments[number] = segment
        return segment

    def _read_header(self) -> Header:
        try:
            found = self.transaction.get(HEADER_KEY)
        except lmdb.Error as error:
            raise DamagedBook(f"{self.path}: the header cannot be read: {error}") from None
        if found is None:
            raise DamagedBook(f"{self.path} has no header: it is no book, or its writing did not end; solve it again")
        try:
            return Header.unpack(bytes(found), self.transaction.get)
        except (DamagedBook, ForeignBook) as error:
            raise type(error)(f"{self.path}: {error}") from None

    def _read_directory(self) -> memoryview | Any:
        """The first state of each segment, (n,) u64."""
        parts: list[bytes] = []
        while (found := self.transaction.get(directory_key(len(parts)))) is not None:
            name = f"{self.path}: {DIRECTORY_KEY.decode()} part {len(parts)}"
            parts.append(bytes(unseal(self.header.book_id, len(parts), found, name)))
        directory = memoryview(b"".join(parts))
        others = 1 + len(parts)
        while self.transaction.get(palette_key(others - 1 - len(parts))) is not None:
            others += 1
        segments = self.environment.stat()["entries"] - others
        if len(directory) != 8 * segments:
            raise DamagedBook(f"{self.path}: {len(directory) // 8} directory entries for {segments} segments")
        if not segments <= self.header.stored <= segments * MOST_STATES:
            raise DamagedBook(f"{self.path}: {segments} segments cannot hold {self.header.stored} states")
        return directory.cast("Q")


class _Registered:
    """A file mapped in this process, by device and inode: LMDB must not map it twice, so its books share it.

    Its end is not left to the destructor of `_Mapped`, since another thread may open the file again while that runs.
    """

    def __init__(self, identity: tuple[int, int], mapped: _Mapped) -> None:
        self.identity = identity
        self.mapped = weakref.ref(mapped, lambda _: self.close())
        self.views, self.transaction, self.environment = mapped.segments, mapped.transaction, mapped.environment

    def close(self) -> None:
        """Unmap the file, whose `_Mapped` is gone; views of its memory go first."""
        with _opening:
            if _registered.get(self.identity) is self:
                del _registered[self.identity]
                self.views.clear()
                self.transaction.abort()
                self.environment.close()


_registered: dict[tuple[int, int], _Registered] = {}
_opening = threading.RLock()  # reentrant: while one book is opened, a garbage collection may let go of another


def _renew_lock() -> None:
    global _opening
    _opening = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)  # the thread that held it is not in the child


def _mapped(path: Path) -> _Mapped:
    """The mapping of a file, new or shared with the other books of this file."""
    if sys.byteorder != "little":
        raise ForeignBook("books are little-endian, this machine is not: read it elsewhere")
    with _opening:
        while True:
            identity = _examine(path)
            registered = _registered.get(identity)
            if registered is not None:
                mapped = registered.mapped()
                if mapped is not None:
                    return mapped
                registered.close()  # its last book has just gone, in a thread that waits for this lock
            mapped, failure = None, None
            try:
                mapped = _Mapped(path)
            except lmdb.Error as error:
                failure = error
            if _identity(path) != identity:
                continue  # the file was replaced meanwhile, so which one is mapped is not known
            if mapped is None:
                raise DamagedBook(f"{path} cannot be opened: {failure}")
            _registered[identity] = _Registered(identity, mapped)
            return mapped


def _examine(path: Path) -> tuple[int, int]:
    """Device and inode of a file whose structure LMDB can follow without a signal."""
    with pages.open_file(path) as file:
        try:
            pages.check(file)
        except BookError as error:
            raise type(error)(f"{path} {error}") from None
        status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
