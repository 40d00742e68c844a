"""What files need that must survive: whole or not at all, a lock that goes with its process, folders synced too."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from solver.errors import ResourceError


def sync_folder(folder: Path) -> None:
    """Make the names in a folder as lasting as the files."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """The path of a file to write beside `target`, which it then replaces, synced; on any error it is removed."""
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        yield partial
        with open(partial, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(partial, target)
        sync_folder(target.parent)
    finally:
        partial.unlink(missing_ok=True)


def lock(descriptor: int, path: Path) -> None:
    """Lock a file against other processes, until it is closed. Raises ResourceError if one has it."""
    try:
        import fcntl
    except ImportError:  # not a POSIX system
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ResourceError(f"{path} is in use by another solver: wait for it, or name another book") from None
