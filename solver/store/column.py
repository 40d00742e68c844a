"""The files of a work folder: integers of one type, appended, and read by mapping them into memory.

A column gets its file when it is more than a few pages, or a checkpoint speaks of it: a game of many thousands of plies
makes one for each, most of which are gone before that.
"""

from __future__ import annotations

import mmap
import os
import zlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.base import system

READ = 64 << 20  # bytes read at once for a checksum
BACKLOG = 256 << 20  # bytes written between two syncs in the background
FILED = 1 << 16  # bytes from which a column is a file


class Folder(Protocol):
    """The part of a work folder that a column needs. `folder` is None if its file has no name."""

    folder: Path | None

    def about_to_write(self, size: int) -> None: ...
    def sync_later(self, descriptor: int) -> None: ...
    def guarded(self) -> AbstractContextManager[None]: ...
    def create(self, name: str) -> int: ...
    def read(self, size: int) -> None: ...


class Column:
    """An append-only file of integers of one type; `size` of them are written. Read it by `view`.

    `saved`: how many of them the last checkpoint has, -1 if it does not know the column. `descriptor` is that of the
    file, -1 if there is none yet.
    """

    def __init__(
        self, work: Folder, name: str, dtype: Any, descriptor: int = -1, size: int = 0, checksum: int = 0
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
        """Cut off the last entries; where the last checkpoint has more (`saved`), the next is due at once."""
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
