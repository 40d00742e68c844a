"""Writing a book: encode, pack into segments, build an LMDB file beside the target, and rename it into place.

Nothing is rewritten in place: readers of an older book at the same path keep theirs. On an error or an interruption
nothing is left behind. The bytes depend on the content alone, whatever the `map`.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import lmdb

from solver.base import system
from solver.base.errors import BookError, DamagedBook, ForeignBook, ResourceError, excerpt
from solver.base.files import fullness, open_input, replacing, sweep_up
from solver.base.progress import Progress, silent
from solver.book import format as layout
from solver.book import pages
from solver.book.format import Header
from solver.book.mapping import PLACE, SEGMENT_HEAD, SMALLEST, open_environment
from solver.book.solution import Encoded, Part

CHUNK = 1 << 18  # states, of which every BLOCK of a codec is a part
MAP_SLACK_BYTES = 1 << 20  # bytes of the map that LMDB may need besides the records: branches, pages that are copied
SEGMENTS_PER_TRANSACTION = 256  # segments to a transaction, 16 MB: dirty pages are held in memory
Encode = Callable[..., tuple[Any, Sequence[int], Sequence[int]]]
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
MOST_NAME = 200  # bytes: others are made of it, with up to 255
MARKED = 1 << 16  # bytes at either end of a file that show what it is
UNMARKED = b"(?!)"  # the mark of text that bears none: it replaces nothing
FILE_IN_USE = "is open, here or in another program, and Windows replaces no open file: close it first"


def check_target(path: str | os.PathLike[str], mark: bytes | None = None) -> Path:
    """Return the path, if a file can be written there and replaces nothing but an earlier one of its kind.

    Every command and function that writes to a path of the user's asks here, before any work is done.

    Args:
        path: Where to write.
        mark: A pattern that all files of this kind bear in their first or last 64 KB. None for a book.

    Raises:
        BookError: With the reason.
    """
    with nameable(path):
        target = Path(path)
        folder = target.parent
        if str(path).endswith(("/", os.sep)) or not target.name:
            raise BookError(f"{str(path)!r} names a folder: name a file")
        if len(os.fsencode(target.name)) > MOST_NAME:
            raise BookError(f"the name {target.name[:40]!r}... is too long: one of {MOST_NAME} bytes at most")
        try:
            system.check_name(target.name)
        except OSError as error:
            raise BookError(f"{target} cannot be written ({error.strerror}): name another") from None
        if target.is_dir():
            raise BookError(f"{target} is a folder: name a file")
        if target.exists() and not target.is_file():
            raise BookError(f"{target} exists and is not a regular file: choose another path")
        if not folder.is_dir():
            raise BookError(f"the folder {folder} does not exist: make it first")
        if not os.access(folder, os.W_OK):
            raise BookError(f"the folder {folder} cannot be written to: choose another or change its permissions")
        if system.is_held(target):
            raise BookError(f"{target} {FILE_IN_USE}")
        if target.exists() and not _is_ours(target, mark):
            raise BookError(f"{target} exists and is not an earlier result: name another file, or remove it first")
        return target


def _is_ours(path: Path, mark: bytes | None) -> bool:
    """Whether a file is empty, or bears the mark; None for the header of a book."""
    with open_input(path, buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if mark is not None or not size:
            edges = [pages.read(file, MARKED, 0), pages.read(file, MARKED, max(0, size - MARKED))]
            return not size or any(re.search(mark or b"", edge) for edge in edges)
        try:
            headers = [record for record in pages.records(file) if record[0] == layout.HEADER_KEY]
            return any(layout.MAGIC.encode() in pages.read(file, min(size, MARKED), at) for _, at, size in headers)
        except BookError:
            return False


@contextlib.contextmanager
def nameable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn the system's error about an impossible file name into a BookError."""
    try:
        yield
    except BookError:
        raise
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BookError(f"{excerpt(path, 80)} cannot be written ({reason}): name another file") from None


@contextlib.contextmanager
def placed(target: str | os.PathLike[str], *sources: Any) -> Iterator[Path]:
    """Yield the path to write a book to that takes the place of one of its `sources` when the block ends.

    The block is to close that book, since Windows replaces no open file. Where `target` is not a source it is yielded
    itself. Raises BookError for a path that cannot be a book's.
    """
    path = check_target(target)
    replaces = False
    for source in sources:
        # A source that is not a path, or of a file that is not there, is not replaced
        with contextlib.suppress(OSError, ValueError, TypeError):
            replaces = replaces or os.path.samefile(source, path)
    if not replaces:
        yield path
        return
    try:
        with replacing(path) as partial:
            yield partial
    except PermissionError as error:
        raise BookError(
            f"{path} {FILE_IN_USE}" if system.is_held(path) else f"{path} cannot be written: {error}"
        ) from error


def write_book(
    path: str | os.PathLike[str],
    header: Header,
    chunks: Iterable[Part | Encoded],
    *,
    game: bytes = b"",
    encode: Encode | None = None,
    map: Map = map,
    progress: Progress = silent,
) -> Header:
    """Write a book, and return its header as written, with its digest.

    Args:
        path: Where to write it.
        header: The header without digest.
        chunks: Pairs (states, indices into the palette), `header.stored` states in all, ascending from chunk to chunk.
            All chunks but the last hold a multiple of the codec's block. `Encoded` ones are written as they are.
        game: The record of a game that has no name.
        encode: Replaces the codec's own encoder, for compiled code. Must give the same bytes.
        map: Replaces `map`, for threads. Must keep the order.
        progress: Called as the work goes on.

    Raises:
        ResourceError: The disk is too small.
        BookError: The file cannot be written.
    """
    target = check_target(path)
    if len(header.palette) > layout.MOST_VALUES:
        raise ResourceError(
            f"a book holds {layout.MOST_VALUES:,} different values, not {len(header.palette):,}: solve less"
        )
    sweep_up(target)
    try:
        header = header.identified()
    except OverflowError:
        raise BookError(f"{target} cannot be written: a book's numbers are below 2**63: scale the rules down") from None
    build = target.with_name(f".{target.name}.{os.getpid()}.build")
    finished = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with _disk_errors(target):
            encode = encode or header.encoding.encode_chunk
            header = _build(build, header, _encoded(header, chunks, encode, map, progress), game)
            _copy(build, finished)
            _read_back(finished, header)
            system.replace(finished, target)
            system.sync_path(target.parent)
    finally:
        for leftover in (build, finished):
            system.remove(leftover)
    return header


def _encoded(
    header: Header, chunks: Iterable[Part | Encoded], encode: Encode, map: Map, progress: Progress
) -> Iterator[tuple[int, bytes]]:
    """(first state, bytes) of each group, in order."""
    block, written = header.encoding.block, 0

    def groups(chunk: Part | Encoded) -> Encoded:
        return chunk if isinstance(chunk, Encoded) else encoded(encode, *chunk, len(header.palette), header.index_bytes)

    for firsts, payload, lengths, states in map(groups, chunks):
        if written % block:
            raise ValueError(f"a part that is not the last ends within a block of {block}")
        view, offset = memoryview(payload), 0
        for first_key, length in zip(firsts, lengths, strict=True):
            yield first_key, bytes(view[offset : offset + length])
            offset += length
        written += states
        progress("write", written, header.stored)
    if written != header.stored:
        raise ValueError(f"{written} states came, the header says {header.stored}")


def encoded(encode: Encode, states: Any, indices: Any, palette_size: int, index_bytes: int) -> Encoded:
    """The groups that an encoder makes of states and palette indices."""
    payload, counts, lengths = encode(states, indices, palette_size, index_bytes)
    begins = accumulate(counts, initial=0)
    return Encoded([int(states[next(begins)]) for _ in counts], payload, lengths, len(states))


def _build(path: Path, header: Header, groups: Iterable[tuple[int, bytes]], game: bytes) -> Header:
    """Write all records into a new LMDB file; the header with the digest."""
    digest = hashlib.sha256()
    with open_environment(path, map_size=MAP_SLACK_BYTES, sync=False, lib_version=0, mode=0o666) as environment:

        def put(records: list[tuple[bytes, bytes]], counted: bool = True) -> None:
            # A full map would lose their transaction. It grows in steps: on Windows the file has the size of the map
            facts, page = environment.info(), environment.stat()["psize"]
            room = (facts["last_pgno"] + 1) * page + MAP_SLACK_BYTES
            room += sum(len(record) + 2 * page for _, record in records)
            if room > facts["map_size"]:
                environment.set_mapsize(max(room, facts["map_size"] // 8 * 9) // page * page)
            with environment.begin(write=True) as transaction, transaction.cursor() as cursor:
                _, added = cursor.putmulti(records, append=True)
            # Append does not raise
            if added != len(records):
                raise BookError(f"{path}: {len(records) - added} records were not written: keys are not ascending")
            if counted:
                _count(digest, records)

        def put_part(key: bytes, index: int, part: bytes) -> None:
            put([(layout.part_key(key, index), layout.seal(header.book_id, index, part))])

        firsts: list[int] = []
        batch: list[tuple[bytes, bytes]] = []
        for first_key, record in _segments(header, groups):
            batch.append((layout.segment_key(len(firsts)), record))
            firsts.append(first_key)
            if len(batch) == SEGMENTS_PER_TRANSACTION:
                put(batch)
                batch = []
        put(batch)
        keys_per_part = layout.DIRECTORY_PART * 8 // header.key_bytes
        for part_index, begin in enumerate(range(0, len(firsts), keys_per_part)):
            part_keys = _states_packed(firsts[begin : begin + keys_per_part], header.key_bytes)
            put_part(layout.DIRECTORY_KEY, part_index, part_keys)
        for part_index, begin in enumerate(range(0, len(game), layout.BODY)):
            put_part(layout.GAME_KEY, part_index, game[begin : begin + layout.BODY])
        palette = header.palette_records()
        _count(digest, palette)
        header = header._replace(digest=digest.hexdigest())
        put([(layout.HEADER_KEY, header.pack()), *palette], counted=False)
    return header


def _segments(header: Header, groups: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """(first state, record) of each segment from (first state, bytes) of each group."""
    most_groups = header.encoding.groups
    firsts: list[int] = []
    bodies: list[bytes] = []
    entry = header.key_bytes + PLACE
    size = SMALLEST
    number = 0
    for first_key, body in groups:
        if size + entry + len(body) > layout.SEGMENT_SIZE or len(firsts) == most_groups:
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
    head = SEGMENT_HEAD.pack(len(firsts), header.encoding.number, header.index_bytes)
    places = _states_packed(firsts, header.key_bytes) + struct.pack(f"<{len(ends)}H", *ends)
    return layout.seal(header.book_id, number, head + places + b"".join(bodies))


def _states_packed(states: Sequence[int], size: int) -> bytes:
    """States of so many bytes each, side by side."""
    if size == 8:
        return struct.pack(f"<{len(states)}Q", *states)
    return b"".join([state.to_bytes(size, "little") for state in states])


def _count(digest: Any, records: list[tuple[bytes, bytes]]) -> None:
    for key, record in records:
        digest.update(key)
        digest.update(record)


def _copy(build: Path, finished: Path) -> None:
    """A compact, synced copy: its bytes depend on the records alone."""
    with open_environment(build, readonly=True) as environment, open(finished, "xb") as file:
        environment.copyfd(file.fileno(), compact=True)
        system.sync(file.fileno())


def _read_back(finished: Path, header: Header) -> None:
    """Read the header of a finished file. Raises BookError if no reader would take it, or read another one."""
    with open_environment(finished, readonly=True) as environment, environment.begin() as transaction:
        try:
            again = Header.unpack(transaction.get(layout.HEADER_KEY) or b"", transaction.get)
        except (DamagedBook, ForeignBook) as error:
            raise BookError(f"no reader accepts a book of {header.game!r}, so it was not written: {error}") from error
    if again.pack() != header.pack():
        raise BookError(f"a book of {header.game!r} would be read with another header, so it was not written")


@contextlib.contextmanager
def _disk_errors(target: Path) -> Iterator[None]:
    """LMDB reports a full disk as an input/output error: ask the disk, and say it in words."""
    try:
        yield
    except (lmdb.Error, OSError) as error:
        if isinstance(error, BookError):
            raise
        import shutil

        free = shutil.disk_usage(target.parent).free
        number = getattr(error, "errno", None)
        if number in (errno.EACCES, errno.EPERM, errno.EROFS):
            held = system.is_held(target)
            raise BookError(f"{target} {FILE_IN_USE}" if held else f"{target} cannot be written: {error}") from error
        if number == errno.ENOMEM or isinstance(error, lmdb.MemoryError):
            raise ResourceError(f"no more memory can be mapped for {target}: raise the limit, then again") from error
        full = fullness(OSError(errno.ENOSPC, "") if free < 1 << 20 else error, target.parent)
        if full is not None:
            raise ResourceError(f"{full}, then again") from error
        raise ResourceError(
            f"{target} cannot be written, {free:,} bytes free: {error}: fix the disk, then again"
        ) from error
