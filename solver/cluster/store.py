"""The files of a solve on a cluster, wherever fsspec reaches: a folder, S3.

A shard file's name has its kind and the digest of its bytes, and appears whole or not at all. Numbered commits record
the work that is done, each written after all files that it names: a solve goes on behind the last of them, and
files that none names are of no use. Nothing is ever decided by listing a folder.

Whoever drives a solve holds its lease, a file that is renewed while it lives.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import io
import json
import os
import random
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import fsspec
import numpy as np
from numpy.typing import NDArray

from solver.base import system
from solver.base.errors import ResourceError, SolverError
from solver.base.files import NO_PLACE
from solver.store.documents import sealed, unsealed

Result = TypeVar("Result")
OPERATION_TRIES = 8  # of an operation that fails
READ_TRIES = 3  # tries of a file that is not as it should be
FIRST_RETRY_SECONDS = 0.05  # seconds before the second try, twice as long before each further one
TOGETHER_SECONDS = 0.1  # seconds within which drivers may have started together
RENEWED = 5.0  # seconds between two signs of life
LOOKED = 10.0  # seconds in which one must be seen of a holder who seems silent: clocks of machines differ
EXPIRED = 60.0  # seconds without one after which a lease has ended
DIGITS = 24  # of a digest in a file's name
LEASE = "lease"
HOLDER = {"host": str, "process": int, "token": str, "time": float}  # what a lease says
OURS = re.compile(rf"\.?(lease|commit-\d{{6}}|[a-z]+[_0-9a-z-]+\.[0-9a-f]{{{DIGITS}}})(\.[0-9a-f]{{32}})?")
# What no second try will pass; stores give EINVAL for what was damaged on its way
FATAL = NO_PLACE - {errno.EINVAL} | {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EEXIST}
WRONG = (ValueError, KeyError, TypeError)  # what reading JSON may raise


class File(NamedTuple):
    """A shard file: its name, which ends in the digest, and how many numbers it holds."""

    name: str
    length: int


class Slice(NamedTuple):
    """A part of a file, in bytes, and its digest."""

    name: str
    begin: int
    end: int
    digest: str


class Sliced(NamedTuple):
    """A file of several parts: where the bytes of each end, and their digests."""

    name: str
    ends: NDArray[np.int64]
    digests: NDArray[np.bytes_]

    def part(self, number: int) -> Slice:
        begin = int(self.ends[number - 1]) if number else 0
        return Slice(self.name, begin, int(self.ends[number]), self.digests[number].decode())


class Damaged(SolverError):
    """A shard file is missing, or is not the one that its name promises. Names the file, and the host that found it."""

    @property
    def name(self) -> str:
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.name} is damaged or lost, as {self.args[1]} sees it"


def digest_of(data: Any) -> str:
    """The digest of bytes, as names of files and segments have it."""
    return hashlib.sha256(data).hexdigest()[:DIGITS]


class Store:
    """The folder of one solve. Raises ResourceError for trouble that outlasts some tries."""

    def __init__(self, url: str) -> None:
        try:
            self.files, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
        except Exception as error:
            # Each kind of store has errors of its own
            raise ResourceError(f"--store {url}: {one_line(error)}: name a folder or another URL") from None
        self.root: str = root.rstrip("/")
        protocol = self.files.protocol
        protocols = {protocol} if isinstance(protocol, str) else set(protocol)
        # For workers in other folders
        self.url: str = self.root if "file" in protocols else url.rstrip("/")
        # where a file appears under its name before it is whole, it is given the name when it is
        self.renames: bool = not {"s3", "s3a", "gs", "gcs", "abfs", "az", "memory"} & protocols
        self._lease: Lease | None = None

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def put(self, label: str, array: NDArray[Any]) -> File:
        """Keep an array in a file; an array of the same bytes is the same file, and an empty one needs none."""
        if not array.size:
            return File("", 0)
        data = np.ascontiguousarray(array).data.cast("B")
        file = File(f"{label}.{digest_of(data)}", array.size)
        self.write(file.name, data)
        return file

    def put_parts(self, label: str, parts: Sequence[Any]) -> Sliced:
        """Keep arrays or bytes in one file, of which each can be read alone."""
        file = self.put(label, np.frombuffer(b"".join(parts), np.uint8))
        ends = np.cumsum([memoryview(part).nbytes for part in parts])
        return Sliced(file.name, ends, np.array([digest_of(part) for part in parts], np.bytes_))

    def get(self, file: File, dtype: Any) -> NDArray[Any]:
        """The array of a file, read-only. Raises Damaged."""
        if not file.length:
            return np.empty(0, dtype)
        digest = file.name.rpartition(".")[2]
        return np.frombuffer(self.read(file.name, 0, file.length * np.dtype(dtype).itemsize, digest), dtype)

    def write(self, name: str, data: memoryview | bytes, lasting: bool = False) -> None:
        """Write a file that appears whole or not at all.

        A `lasting` one is on the disk when this returns. Another one may be lost with the power; then its digest is
        missed, and it is computed again.
        """

        def once() -> None:
            if not self.renames:
                self.files.pipe_file(self.path(name), bytes(data))
                return
            part = self.path(f".{name}.{uuid.uuid4().hex}")
            try:
                with self.files.open(part, "wb") as file:
                    file.write(data)
                    file.flush()
                    if lasting:
                        # It is on no disk of ours
                        with contextlib.suppress(AttributeError, io.UnsupportedOperation):
                            system.sync(file.fileno())
                self.files.mv(part, self.path(name))
            except BaseException:
                # What is left of it takes room
                with contextlib.suppress(Exception):
                    self.files.rm_file(part)
                raise

        self._surely(once)

    def read(self, name: str, begin: int, end: int, digest: str | None = None) -> bytes:
        """The bytes begin..end of a file. Raises Damaged if it is missing, too short, or has another digest."""

        def once() -> bytes:
            data: bytes = self.files.cat_file(self.path(name), start=begin, end=end) if begin < end else b""
            if len(data) != end - begin or (digest is not None and digest_of(data) != digest):
                raise EOFError(f"{name} is not what was written")
            return data

        try:
            return self._patiently(once)
        except (FileNotFoundError, EOFError):
            raise Damaged(name, socket.gethostname()) from None

    def remove(self, names: Sequence[str]) -> None:
        """Remove files that nobody needs any more, where they are still there."""
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                self._patiently(functools.partial(self.files.rm_file, self.path(name)))

    def commit(self, number: int, facts: dict[str, Any]) -> None:
        """Commit events for good, if this process still drives the solve."""
        if self._lease is not None:
            self._lease.confirm()
        self.write(f"commit-{number:06}", sealed(facts), True)

    def committed(self, number: int) -> dict[str, Any] | None:
        """Return the contents of a commit. None if it was never made."""
        name = f"commit-{number:06}"

        def once() -> dict[str, Any]:
            return unsealed(self.files.cat_file(self.path(name)))

        try:
            return self._patiently(once, wrong=WRONG)
        except FileNotFoundError:
            return None
        except WRONG:
            raise ResourceError(f"{self.url}/{name} is damaged: --restart discards what was done") from None

    def require(self, folder: str) -> None:
        """Raise ResourceError if there are folders, and not this one."""
        if self.renames and not self._patiently(functools.partial(self.files.isdir, folder)):
            raise ResourceError(f"{self.url}: there is no folder {folder}: make it where all nodes see it")

    def hold(self) -> None:
        """Take the lease of the solve until `leave`. Raises ResourceError if another process has it."""
        # Elsewhere there are no folders
        if self.renames:
            self.require(self.root.rpartition("/")[0] or "/")
            self._surely(functools.partial(self.files.makedirs, self.root, exist_ok=True))
        self._lease = Lease(self)

    def listed(self) -> list[str]:
        """The names of all our files that are there, those of a try that broke off included."""
        try:
            paths = self._patiently(functools.partial(self.files.ls, self.root, detail=False, refresh=True))
        except FileNotFoundError:
            return []
        names = [path.rstrip("/").rpartition("/")[2] for path in paths]
        return [name for name in names if OURS.fullmatch(name)]

    def clear(self) -> None:
        """Remove all of our files but the lease.

        Commits go first, from the last on, so that an interruption leaves the earlier ones. Raises ResourceError if
        another process has taken over.
        """
        if self._lease is not None:
            self._lease.confirm()
        names = sorted((name.startswith("commit"), name) for name in self.listed() if name != LEASE)
        self.remove([name for _, name in reversed(names)])

    def leave(self) -> None:
        """Let go of the lease, and remove the folder, unless there is something in it that is not ours."""
        if self._lease is not None:
            self._lease.release()
        with contextlib.suppress(FileNotFoundError, SolverError):
            if self.renames and not self._patiently(functools.partial(self.files.ls, self.root, detail=False)):
                self._patiently(functools.partial(self.files.rmdir, self.root))

    def _patiently(self, operation: Callable[[], Result], wrong: tuple[type[Exception], ...] = (EOFError,)) -> Result:
        """Run an operation that may fail for a while, because a store is throttled or restarted.

        An error that is the file's own fault, by `wrong`, is raised as it is, after fewer tries.
        """
        for attempt in range(1, OPERATION_TRIES + 1):
            try:
                return operation()
            except FileNotFoundError:
                raise
            except Exception as error:
                number = getattr(error, "errno", None)
                is_wrong = isinstance(error, wrong)
                if attempt < (READ_TRIES if is_wrong else OPERATION_TRIES) and number not in FATAL:
                    time.sleep(FIRST_RETRY_SECONDS * 2 ** (attempt - 1) * (0.5 + random.random()))
                    continue
                if is_wrong:
                    raise
                raise self._failed(error) from error
        raise AssertionError("unreachable")

    def _surely(self, operation: Callable[[], Result]) -> Result:
        """`_patiently`, where it is the folder or the bucket that is missing."""
        try:
            return self._patiently(operation)
        except FileNotFoundError as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> ResourceError:
        where = f"{self.url} on {socket.gethostname()}"
        return ResourceError(f"{where}: {one_line(error)}: fix it, then the same command goes on")


store_at = functools.lru_cache(maxsize=16)(Store)  # the store of this process for a URL


class Lease:
    """The right to drive a solve: a file with the name of its holder and the time of its last sign of life."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.holder = {"host": socket.gethostname(), "process": os.getpid(), "token": uuid.uuid4().hex}
        self._ended = threading.Event()
        other = self._read()
        if other is not None:
            is_over = False
            # Its holder may be known to be gone, or has been silent for long
            is_here = other["host"] == self.holder["host"]
            if is_here and other["process"] == os.getpid():
                is_over = other["token"] not in _held
            elif is_here and not system.is_alive(other["process"]):
                is_over = True
            elif abs(time.time() - other["time"]) >= EXPIRED:
                time.sleep(LOOKED)
                is_over = self._read() in (other, None)
            if not is_over:
                raise ResourceError(
                    f"{store.url} is driven by process {other['process']} on {other['host']}: wait for it, or name"
                    " another store"
                )
        _held.add(self.holder["token"])
        self._write()
        # If several start together, the last one to write holds the lease
        time.sleep(TOGETHER_SECONDS * random.random())
        self.confirm()
        self._thread = threading.Thread(target=self._renew, daemon=True)
        self._thread.start()

    def confirm(self) -> None:
        """Raise ResourceError if another process has taken over."""
        other = self._read()
        if other is None or other["token"] != self.holder["token"]:
            raise ResourceError(f"{self.store.url}: another process has taken over: leave it the solve")

    def release(self) -> None:
        """Give no more signs of life, and remove the file, where the store still can."""
        self._ended.set()
        # If the store fails, it tries again and again
        self._thread.join(RENEWED)
        _held.discard(self.holder["token"])
        with contextlib.suppress(SolverError):
            self.confirm()
            self.store.remove([LEASE])

    def _renew(self) -> None:
        while not self._ended.wait(RENEWED):
            with contextlib.suppress(SolverError):
                self.confirm()
                self._write()

    def _write(self) -> None:
        self.store.write(LEASE, json.dumps({**self.holder, "time": time.time()}).encode())

    def _read(self) -> dict[str, Any] | None:
        """Return the contents of the file. None if there is none, or if it cannot be read."""

        def once() -> dict[str, Any]:
            found = json.loads(self.store.files.cat_file(self.store.path(LEASE)))
            return {name: kind(found[name]) for name, kind in HOLDER.items()}

        try:
            return self.store._patiently(once, wrong=WRONG)
        except (FileNotFoundError, *WRONG):
            return None


_held: set[Any] = set()  # the tokens of this process


def one_line(error: BaseException) -> str:
    """Return the message of an error, in one line."""
    return " ".join(str(error).split())[:200].rstrip(".: ") or type(error).__name__
