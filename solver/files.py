"""What files need that must survive: a lock that goes with its process, and folders synced like the files in them."""

from __future__ import annotations

import os
from pathlib import Path

from solver.errors import ResourceError


def sync_folder(folder: Path) -> None:
    """Make the names in a folder as lasting as the files."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
