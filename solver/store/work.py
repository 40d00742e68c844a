"""The work folder of one solve: append-only files, and a manifest that says how far they can be trusted.

A file is only ever appended to. A checkpoint syncs the files, then replaces the manifest, which has the length and
checksum of each and where the solve stands. After a crash the files are cut back to what the last manifest says, so it
does not matter what was written since. The manifest is the only file that is replaced, by rename.

A column, integers of one type, gets its file when it is more than a few pages, or a checkpoint speaks of it: a game of
many thousands of plies makes one for each, most of which are gone before that.

Without a folder the files have no names and nothing outlives the process. Cost: a checksum at about 1 GB/s on the
bytes written; syncing goes on in the background once there is something worth keeping.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import re
import shutil
import stat
import tempfile
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base import system
from solver.base.errors import ResourceError
from solver.base.files import fullness, hold
from solver.store.documents import sealed, unsealed

LAYOUT = 5  # of the manifest, and of the records in it
MANIFEST = "manifest.json"
LOCK = "lock"
OURS = re.compile(r"[a-z]{1,20}(-[0-9]{1,12})?\.column|manifest\.json(\.new)?|lock")
DISK_CHECK_BYTES = 64 << 20  # bytes written between two looks at the disk
READ = 64 << 20  # bytes read at once for a checksum
BACKLOG = 256 << 20  # bytes written between two syncs in the background
FILED = 1 << 16  # bytes from which a column is a file
RESERVE = 64 << 20  # bytes of disk that are left alone
CHECKPOINT_SPACING = 20  # times as long as a checkpoint takes, with what is written for it, until the next


class Column:
    """An append-only file of integers of one type; `size` of them are written. Read it by `view`.

    `saved`: how many of them the last checkpoint has, -1 if it does not know the column. `descriptor` is that of the
    file, -1 if there is none yet.
    """

    def __init__(
        self, work: Work, name: str, dtype: Any, descriptor: int = -1, size: int = 0, checksum: int = 0
    ) -> None:
        self.work = work
        self.name = name
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.size: int = size
        self.checksum: int = checksum
        self.saved: int = size if descriptor >= 0 else -1
        self._descriptor = descriptor
        # What is written, as long as there is no file
        self._small = bytearray()
        self._unsynced = 0
        self._map: mmap.mmap | None = None
        self._view: NDArray[Any] = np.empty(0, self.dtype)

    @property
    def filed(self) -> bool:
        """Whether it is a file by now."""
        return self._descriptor >= 0

    def append(self, array: NDArray[Any]) -> None:
        """Write at the end. Raises ResourceError when the disk is full or fails."""
        data = np.ascontiguousarray(array, self.dtype).data.cast("B") if len(array) else memoryview(b"")
        self.work.about_to_write(len(data))
        if self._descriptor < 0 and len(self._small) + len(data) < FILED:
            self._small += data
        else:
            self._filed()
            self._write(data, self.size * self.dtype.itemsize)
        if self.work.folder is not None:
            self.checksum = zlib.crc32(data, self.checksum)
        self.size += len(array)
        self._unsynced += len(data)
        if self._unsynced > BACKLOG:
            self._unsynced = 0
            self.work.sync_later(self._filed())

    def view(self) -> NDArray[Any]:
        """All items, mapped, not to be written to."""
        if self.size != len(self._view):
            self._map, self._view = None, np.empty(0, self.dtype)
            if self._descriptor < 0:
                self._view = np.frombuffer(bytes(self._small), self.dtype)
            elif self.size:
                with self.work.guarded():
                    self._map = mmap.mmap(self._descriptor, self.size * self.dtype.itemsize, access=mmap.ACCESS_READ)
                self._view = np.frombuffer(self._map, self.dtype)
        return self._view

    def part(self, begin: int, end: int) -> NDArray[Any]:
        """view()[begin:end], read where mapping the file anew costs more."""
        if end <= len(self._view):
            return self._view[begin:end]
        nbytes = (end - begin) * self.dtype.itemsize
        if self._descriptor < 0 or nbytes > FILED:
            return self.view()[begin:end]
        with self.work.guarded():
            return np.frombuffer(system.read_at(self._descriptor, nbytes, begin * self.dtype.itemsize), self.dtype)

    def release(self) -> None:
        """Let the pages of the view go: they come back from the file when they are read."""
        if self._map is not None:
            system.advise_unneeded(self._map)

    def sync(self) -> None:
        """Wait until the written data are on the disk, for a checkpoint."""
        descriptor = self._filed()
        if self._unsynced:
            with self.work.guarded():
                system.sync(descriptor)
            self._unsynced = 0
        self.saved = self.size

    def truncate(self, size: int) -> None:
        """Cut off the last entries; where the last checkpoint has more (`saved`), the next is due immediately."""
        if size < self.size:
            self._map, self._view = None, np.empty(0, self.dtype)
            with self.work.guarded():
                system.cut(self._filed(), size * self.dtype.itemsize)
            self.size = size
            self.checksum = self._checksum_of(size) if self.work.folder is not None else 0

    def check(self) -> bool:
        """Check that the file has all that the manifest promised, and cut off the rest."""
        wanted = self.size * self.dtype.itemsize
        if os.fstat(self._descriptor).st_size < wanted:
            return False
        system.cut(self._descriptor, wanted)
        return self._checksum_of(self.size) == self.checksum

    def close(self) -> None:
        self._map, self._view, self._small = None, np.empty(0, self.dtype), bytearray()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _filed(self) -> int:
        """The descriptor of the file, which is made if there is none yet."""
        if self._descriptor < 0:
            with self.work.guarded():
                self._descriptor = self.work.create(self.name)
            small, self._small = memoryview(bytes(self._small)), bytearray()
            self._write(small, 0)
        return self._descriptor

    def _write(self, data: memoryview, offset: int) -> None:
        """Write bytes from there on."""
        descriptor = self._descriptor
        with self.work.guarded():
            written = 0
            while written < len(data):
                written += system.write_at(descriptor, data[written : written + (1 << 30)], offset + written)

    def _checksum_of(self, size: int) -> int:
        wanted, bytes_read, checksum = size * self.dtype.itemsize, 0, 0
        while bytes_read < wanted:
            data = system.read_at(self._descriptor, min(READ, wanted - bytes_read), bytes_read)
            if not data:
                return -1
            checksum = zlib.crc32(data, checksum)
            bytes_read += len(data)
        return checksum


class Work(contextlib.AbstractContextManager["Work"]):
    """The columns of a solve and its last checkpoint. `with Work(folder, identity) as work`.

    `identity` says which game, rules and options the files belong to; `every` is the seconds between checkpoints, more
    where these take long; with 0 there is one at every chance. `resumed` is the state given to the last checkpoint of
    an earlier run, None if there was none. Raises ResourceError if the folder belongs to another solve, is in use, or
    cannot be written.
    """

    def __init__(
        self, folder: Path | None = None, identity: str = "", *, restart: bool = False, every: float = 30.0
    ) -> None:
        self.folder = folder
        self.identity = identity
        self.every = every
        self.columns: dict[str, Column] = {}
        self.resumed: Any = None
        # What the next checkpoint says, unless it is given another
        self.state: Any = None
        self.saved: float = time.monotonic()
        self.begun: float = self.saved
        # When the one that is being made was due; 0 for one that nobody asked about
        self._due = 0.0
        # Seconds of the last one
        self._took = 0.0
        # Whether there is a checkpoint
        self.kept: bool = False
        # Bytes read from files after which their pages are let go
        self.mapped = 1 << 30
        self._touched = 0
        # Bytes of files that are in memory when the columns have let theirs go
        self._idle: int | None = None
        # Columns that the last checkpoint may speak of
        self._obsolete: list[str] = []
        # Files of such columns that Windows did not remove
        self._mapped_still: list[Path] = []
        self._numbers = 0
        self._unchecked = DISK_CHECK_BYTES
        self._lock = -1
        self._syncer = ThreadPoolExecutor(1)
        self._syncing: Future[None] | None = None
        if folder is not None:
            with self.guarded():
                self._open(folder, restart)

    def column(self, name: str, dtype: Any, *, numbered: bool = False) -> Column:
        """The column of that name, of an earlier run or new; with `numbered` always a new one of that kind."""
        if numbered:
            self._numbers += 1
            name = f"{name}-{self._numbers}"
        if name not in self.columns:
            self.columns[name] = Column(self, name, dtype)
        return self.columns[name]

    def discard(self, column: Column) -> None:
        """The column is not needed any more; its file goes when no checkpoint speaks of it."""
        del self.columns[column.name]
        filed = column.filed
        column.close()
        if column.saved >= 0:
            self._obsolete.append(column.name)
        elif filed:
            self._delete(column.name)

    def due(self, times: float = 1.0) -> bool:
        """Whether the time between checkpoints has passed, or that many times it: then one is due."""
        now = time.monotonic()
        wait = max(times * self.every, CHECKPOINT_SPACING * self._took if self.every else 0)
        self._due = now if self.folder is not None and now - self.saved > wait else 0.0
        return self._due > 0

    def checkpoint(self, state: Any) -> None:
        """From here an interrupted solve can go on; `state` is a record, as `store.documents` reads them."""
        self.state = state
        if self.folder is None:
            return
        begun = self._due or time.monotonic()
        self._wait()
        for column in self.columns.values():
            column.sync()
        facts = {
            "format": LAYOUT,
            "identity": self.identity,
            "numbers": self._numbers,
            "state": state,
            "columns": {name: [one.dtype.str, one.size, one.checksum] for name, one in self.columns.items()},
        }
        new = self.folder / (MANIFEST + ".new")
        with self.guarded():
            system.remove(new)
            with open(new, "xb") as file:
                file.write(sealed(facts))
                file.flush()
                system.sync(file.fileno())
            # The columns must have their names before the manifest speaks of them
            system.sync_path(self.folder)
            # Set it before the manifest exists: an interrupt in between would remove the folder
            self.kept = True
            system.replace(new, self.folder / MANIFEST)
            system.sync_path(self.folder)
        for name in self._obsolete:
            self._delete(name)
        self._obsolete = []
        self.saved, self._due = time.monotonic(), 0.0
        self._took = self.saved - begun

    def about_to_write(self, size: int) -> None:
        """Stop before the disk is full, not when it is."""
        self._unchecked += size
        if self._unchecked >= DISK_CHECK_BYTES:
            self._unchecked = 0
            free = self.free()
            if free < RESERVE + size:
                folder = self.folder or tempfile.gettempdir()
                raise ResourceError(
                    f"the disk of {folder} is full ({free:,} bytes free): make room, then the same command goes on"
                )

    def read(self, size: int) -> None:
        """Count bytes whose pages were read from the columns' views; let all pages go when they are many.

        Many reads share pages. So where the system tells how many there are, that decides, and the count only says when
        to ask: pages that go too soon come back one by one, each by a fault.
        """
        self._touched += size
        if self._touched <= self.mapped:
            return
        resident = system.mapped_file_memory()
        if resident is not None and self._idle is not None and resident - self._idle < self.mapped:
            self._touched = max(0, resident - self._idle)
            return
        self._touched = 0
        for column in self.columns.values():
            column.release()
        self._idle = system.mapped_file_memory()

    def free(self) -> int:
        """Bytes of disk that can still be written."""
        return shutil.disk_usage(self.folder or tempfile.gettempdir()).free

    def size(self) -> int:
        """Bytes that the columns have."""
        return sum(column.size * column.dtype.itemsize for column in self.columns.values())

    def sync_later(self, descriptor: int) -> None:
        """Sync a file in the background, so that a checkpoint need not wait for all of it at once."""
        if self.folder is not None and time.monotonic() - self.begun > min(10.0, self.every):
            self._wait()
            self._syncing = self._syncer.submit(system.sync, descriptor)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn an error of the disk into a ResourceError that names the folder."""
        try:
            yield
        except OSError as error:
            full = fullness(error, self.folder or Path(tempfile.gettempdir()))
            if full is not None:
                raise ResourceError(f"{full}, then the same command goes on") from error
            if error.errno == errno.ENOMEM:
                raise ResourceError(f"no more memory can be mapped ({error.strerror}): raise the limit") from error
            where = f"{self.folder or tempfile.gettempdir()}: {error.strerror or error}"
            raise ResourceError(f"{where}: fix it, then the same command goes on") from error

    def remove(self) -> None:
        """The solve is complete: nothing of it is needed any more."""
        self.kept = False
        self.close()

    def close(self) -> None:
        """Let go of all files; a folder without a checkpoint is of no use and goes."""
        with contextlib.suppress(ResourceError):
            self._wait()
        self._syncer.shutdown(wait=True)
        for column in self.columns.values():
            column.close()
        self.columns, self._obsolete = {}, []
        if self._lock < 0 or self.folder is None:
            return
        locked, self._lock = self._lock, -1
        if self.kept:
            os.close(locked)
            return
        with self.guarded():
            try:
                # The manifest goes first, so that an interrupted removal leaves no checkpoint
                _forget(self.folder / MANIFEST)
                for path in self._ours(self.folder):
                    if path.name != LOCK:
                        system.discard(path)
            except BaseException:
                os.close(locked)
                raise
            system.remove_open(self.folder / LOCK, locked)
        # Someone put a file of their own there
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _wait(self) -> None:
        """Wait until the background has synced its files. Its error is fatal."""
        if self._syncing is not None:
            with self.guarded():
                self._syncing.result()
            self._syncing = None

    def create(self, name: str) -> int:
        """The descriptor of a new file for the column of that name. Raises OSError."""
        if self.folder is None:
            with tempfile.TemporaryFile() as file:
                return os.dup(file.fileno())
        path = self.folder / f"{name}.column"
        # A killed run left it
        system.remove(path)
        return system.open_descriptor(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.NO_FOLLOW)

    def _delete(self, name: str) -> None:
        """Remove the file of a column, and those that could not be removed before."""
        if self.folder is not None:
            self._mapped_still.append(self.folder / f"{name}.column")
            self._mapped_still = [path for path in self._mapped_still if not system.discard(path)]

    def _open(self, folder: Path, restart: bool) -> None:
        """Lock the folder, and take over the files of an earlier run."""
        self._lock = hold(folder / LOCK, folder)
        manifest, remedy = folder / MANIFEST, "--restart discards it, or name another book"
        try:
            if restart:
                _forget(manifest)
            if manifest.exists():
                status = manifest.lstat()
                if not stat.S_ISREG(status.st_mode) or status.st_size > 1 << 30:
                    raise ResourceError(f"{manifest} is not a checkpoint: {remedy}")
                try:
                    facts = unsealed(manifest.read_bytes())
                except ValueError:
                    raise ResourceError(f"{manifest} is damaged: {remedy}") from None
                if (facts.get("format"), facts.get("identity")) != (LAYOUT, self.identity):
                    raise ResourceError(f"{folder} belongs to another solve or version, or to changed rules: {remedy}")
                self._numbers = facts["numbers"]
                for name, (dtype, size, checksum) in facts["columns"].items():
                    if not OURS.fullmatch(f"{name}.column"):
                        raise ResourceError(f"{manifest} names a file that is not ours: {remedy}")
                    try:
                        descriptor = system.open_descriptor(folder / f"{name}.column", os.O_RDWR | system.NO_FOLLOW)
                    except FileNotFoundError:
                        raise ResourceError(f"{folder} lacks the file {name}.column: {remedy}") from None
                    self.columns[name] = Column(self, name, dtype, descriptor, size, checksum)
                    if not self.columns[name].check():
                        raise ResourceError(f"{folder}: the file {name}.column is damaged: {remedy}")
                self.resumed = facts["state"]
                self.kept = True
            known = {f"{name}.column" for name in self.columns} | {LOCK, MANIFEST}
            for path in self._ours(folder):
                if path.name not in known:
                    system.remove(path)
        except BaseException:
            # Other files there are not ours to remove
            self.kept = True
            for column in self.columns.values():
                column.close()
            os.close(self._lock)
            self._lock = -1
            raise

    @staticmethod
    def _ours(folder: Path) -> list[Path]:
        return [path for path in folder.iterdir() if OURS.fullmatch(path.name)]


def _forget(manifest: Path) -> None:
    """Remove a manifest for good, before anything that it speaks of."""
    if manifest.exists() or manifest.is_symlink():
        system.remove(manifest)
        system.sync_path(manifest.parent)
