"""The file of searches that were interrupted: a line that says what is searched, numbers, arrays, and a checksum."""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import DamagedBook, ResourceError
from solver.base.files import fullness, replacing

SEAL = 4  # bytes of the checksum
MOST_FACTS = 1 << 16  # bytes of the first line


def write(path: Path, facts: str, numbers: Sequence[int], arrays: Sequence[NDArray[Any]]) -> None:
    """Write numbers and arrays behind a line of `facts`. Raises ResourceError if there is no room."""
    try:
        with replacing(path) as partial, open(partial, "wb") as file:
            sealed = _Sealed(file)
            sealed.write(f"{facts} {len(arrays)}\n".encode())
            for array in (np.array(numbers), *arrays):
                np.save(sealed, array, allow_pickle=False)
            file.write(sealed.checksum.to_bytes(SEAL, "little"))
    except OSError as error:
        fault = fullness(error, path.parent) or f"{path} cannot be written ({error.strerror or error}): make room"
        raise ResourceError(f"{fault}, then again") from None


def read(path: Path, facts: str) -> tuple[list[int], list[NDArray[Any]]] | None:
    """The numbers and arrays of a file that `write` wrote; None if there is no file.

    Raises ResourceError if it has other facts, DamagedBook if it is damaged.
    """
    if not path.is_file():
        return None
    with open(path, "rb") as file:
        line = file.readline(MOST_FACTS)
    begins, _, count = line.decode("utf-8", "replace").rstrip("\n").rpartition(" ")
    if begins != facts:
        raise ResourceError(f"{path} is of another proof or version: --restart discards it, or name another book")
    # Opened again, as on Windows a mapping moves the file that was read to its begin
    with open(path, "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data, memoryview(data) as view:
            if zlib.crc32(view[:-SEAL]).to_bytes(SEAL, "little") != view[-SEAL:]:
                raise DamagedBook(f"{path} is damaged: --restart begins anew")
        file.seek(len(line))
        numbers, *arrays = (np.load(file, allow_pickle=False) for _ in range(1 + int(count)))
        return numbers.tolist(), arrays


class _Sealed:
    """A file to write to, and the checksum of all that was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.checksum = file, 0

    def write(self, data: bytes) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)
