"""The work folder of one solve: append-only files, and a manifest that says how far they can be trusted.

A file is only ever appended to. A checkpoint syncs the files, then replaces the manifest, which has the length and
checksum of each and where the solve stands. After a crash the files are cut back to what the last manifest says, so it
does not matter what was written since. The manifest is the only file that is replaced, by rename.

Without a folder the files have no names and nothing outlives the process. Cost: a checksum at about 1 GB/s on the
bytes written; syncing goes on in the background once there is something worth keeping.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from solver.base import system
from solver.base.errors import ResourceError
from solver.base.files import fullness, hold
from solver.store.column import Column
from solver.store.records import sealed, unsealed

LAYOUT = 2  # of the manifest, and of the records in it
MANIFEST = "manifest.json"
LOCK = "lock"
OURS = re.compile(r"[a-z]{1,20}(-[0-9]{1,12})?\.column|manifest\.json(\.new)?|lock")
DISK_CHECK_BYTES = 64 << 20  # bytes written between two looks at the disk
RESERVE = 64 << 20  # bytes of disk that are left alone
CHECKPOINT_SPACING = 20  # times as long as a checkpoint takes, with what is written for it, until the next


class Work:
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
        """Whether the time between checkpoints has passed, or that many times it: then one is to be made at once."""
        now = time.monotonic()
        wait = max(times * self.every, CHECKPOINT_SPACING * self._took if self.every else 0)
        self._due = now if self.folder is not None and now - self.saved > wait else 0.0
        return self._due > 0

    def checkpoint(self, state: Any) -> None:
        """From here an interrupted solve can go on; `state` is a record, as `store.records` reads them."""
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
                raise ResourceError(self._full(free))

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
            raise ResourceError(f"{where}: mend it, then the same command goes on") from error

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
        if self._lock >= 0 and self.folder is not None:
            locked, self._lock = self._lock, -1
            if self.kept:
                os.close(locked)
            else:
                self._remove(self.folder, locked)

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _remove(self, folder: Path, locked: int) -> None:
        """Remove all our files. The manifest goes first, so that an interrupted removal leaves no checkpoint."""
        with self.guarded():
            try:
                _forget(folder / MANIFEST)
                for path in self._ours(folder):
                    if path.name != LOCK:
                        system.discard(path)
            except BaseException:
                os.close(locked)
                raise
            system.remove_open(folder / LOCK, locked)
        # Someone put a file of their own there
        with contextlib.suppress(OSError):
            folder.rmdir()

    def _full(self, free: int) -> str:
        folder = self.folder or tempfile.gettempdir()
        return f"the disk of {folder} is full ({free:,} bytes free): make room, then the same command goes on"

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
        try:
            manifest = folder / MANIFEST
            if restart:
                _forget(manifest)
            if manifest.exists():
                self._take_over(manifest)
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

    def _take_over(self, manifest: Path) -> None:
        remedy = "--restart discards it, or name another book"
        if manifest.is_symlink() or not stat.S_ISREG(manifest.stat().st_mode) or manifest.stat().st_size > 1 << 30:
            raise ResourceError(f"{manifest} is not a checkpoint: {remedy}")
        try:
            facts = unsealed(manifest.read_bytes())
        except ValueError:
            raise ResourceError(f"{manifest} is damaged: {remedy}") from None
        if (facts.get("format"), facts.get("identity")) != (LAYOUT, self.identity):
            raise ResourceError(f"{self.folder} belongs to another solve or version, or to changed rules: {remedy}")
        self._numbers = facts["numbers"]
        for name, (dtype, size, checksum) in facts["columns"].items():
            if not OURS.fullmatch(f"{name}.column"):
                raise ResourceError(f"{manifest} names a file that is not ours: {remedy}")
            try:
                descriptor = system.open_descriptor(manifest.parent / f"{name}.column", os.O_RDWR | system.NO_FOLLOW)
            except FileNotFoundError:
                raise ResourceError(f"{self.folder} lacks the file {name}.column: {remedy}") from None
            self.columns[name] = Column(self, name, dtype, descriptor, size, checksum)
            if not self.columns[name].check():
                raise ResourceError(f"{self.folder}: the file {name}.column is damaged: {remedy}")
        self.resumed = facts["state"]
        self.kept = True

    @staticmethod
    def _ours(folder: Path) -> list[Path]:
        return [path for path in folder.iterdir() if OURS.fullmatch(path.name)]


def _forget(manifest: Path) -> None:
    """Remove a manifest for good, before anything that it speaks of."""
    if manifest.exists() or manifest.is_symlink():
        system.remove(manifest)
        system.sync_path(manifest.parent)
