"""What files need that must survive: whole or not at all, a lock that goes with its process, folders synced too."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
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
    sweep_up(target)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        yield partial
        with open(partial, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(partial, target)
        sync_folder(target.parent)
    finally:
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """The path of a folder to make beside `target`, which it then replaces, synced; on any error it is removed.

    It holds files only. Folders are not exchanged in one step: a kill between the two leaves the older one beside its
    place, and the next writer puts it back.
    """
    sweep_up(target)
    partial, older = (target.with_name(f".{target.name}.{os.getpid()}.{end}") for end in ("partial", "replaced"))
    try:
        yield partial
        for path in sorted(partial.iterdir()):
            with open(path, "rb+") as file:
                os.fsync(file.fileno())
        sync_folder(partial)
        if target.exists():
            os.rename(target, older)
        os.rename(partial, target)
        sync_folder(target.parent)
    finally:
        if older.exists() and not target.exists():
            os.rename(older, target)
        for path in (partial, older):
            shutil.rmtree(path, ignore_errors=True)


def sweep_up(target: Path) -> None:
    """Remove what writers of a file or folder who were killed have left beside it."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.([0-9]{{1,10}})\.(build|partial|replaced)")
    for path in target.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if not match or _is_alive(int(match[1])):
            continue
        if match[2] == "replaced" and not target.exists():
            os.rename(path, target)
        elif path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


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
