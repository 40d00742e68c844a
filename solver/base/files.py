"""Files that must survive: written whole or not at all, synced with their folders, locked while a process lives.

`open_input` opens every file that a user names to be read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from solver.base import system
from solver.base.errors import BookError, ResourceError

NO_PLACE = {
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL),
}
NO_FILE = "it is not a regular file"
ATTEMPTS = 100  # to put a folder in its place, which others may do at the same moment


def open_input(path: str | os.PathLike[str], max_bytes: int | None = None, *, buffering: int = -1) -> BinaryIO:
    """A regular file to read, of so many bytes at most: pipes would be waited for, and devices have no end.

    Raises OSError, whose `strerror` is in words.
    """
    try:
        descriptor = system.open_descriptor(path, os.O_RDONLY | system.NO_WAIT)
    except (ValueError, TypeError) as error:
        # A name that no file can have, or no name
        raise OSError(errno.ENOENT, str(error), path) from None
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, f"{error.strerror}{near_miss(Path(path))}", path) from None
    except PermissionError:
        # Windows does not open directories
        if os.path.isdir(path):
            raise OSError(errno.EINVAL, NO_FILE, os.fspath(path)) from None
        raise
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and (max_bytes is None or status.st_size <= max_bytes):
        return open(descriptor, "rb", buffering=buffering)
    os.close(descriptor)
    if stat.S_ISREG(status.st_mode):
        raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes, of {max_bytes:,} at most", os.fspath(path))
    raise OSError(errno.EINVAL, NO_FILE, os.fspath(path))


def near_miss(path: Path) -> str:
    """Return "; did you mean FILE?" if another file of that folder has nearly the name of a missing one, else ""."""
    # On this path alone
    import difflib

    with contextlib.suppress(OSError):
        for other in difflib.get_close_matches(path.name, os.listdir(path.parent), 1, 0.8):
            return f"; did you mean {path.with_name(other)}?"
    return ""


def read_input(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """All of a regular file of so many bytes at most, those that say nothing of their size included. Raises OSError."""
    with open_input(path, max_bytes) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"it has more than {max_bytes:,} bytes", os.fspath(path))
    return content


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """The path of a file or folder to write beside `target`, which it then replaces, synced; removed on any error.

    Folders are not exchanged in one step: a kill between the two leaves the older one beside its place, and the next
    writer puts it back. Of several writers at the same time the last one's folder stays.
    """
    system.check_name(target.name)
    sweep_up(target)
    partial, older = (target.with_name(f".{target.name}.{os.getpid()}.{end}") for end in ("partial", "replaced"))
    try:
        yield partial
        for path in (*partial.rglob("*"), partial):
            system.sync_path(path)
        if partial.is_dir():
            _exchange(partial, target, older)
        else:
            system.replace(partial, target)
        system.sync_path(target.parent)
    finally:
        if older.exists() and not target.exists():
            # Another writer's has come there meanwhile
            with contextlib.suppress(OSError):
                system.rename(older, target)
        for path in (partial, older):
            _remove(path)


def fullness(error: Exception, folder: Path) -> str | None:
    """What keeps files in a folder from growing, and the remedy: the disk, or a limit. None for other errors.

    LMDB and SQLite report a write that a limit cut off as a full disk, or as an error of input and output.
    """
    import shutil

    number, limit = getattr(error, "errno", None), system.file_limit()
    free = shutil.disk_usage(folder).free if folder.exists() else 0
    is_full = number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or "No space left" in str(error)
    is_cut = any(words in str(error) for words in (os.strerror(errno.EIO), "disk I/O error"))
    if limit is not None and free > limit and (is_full or is_cut):
        return f"{folder}: a file may have {limit:,} bytes at most: raise the limit (ulimit -f)"
    if not is_full:
        return None
    return f"the disk of {folder} is full ({free:,} bytes free): make room"


def write_whole(target: str | os.PathLike[str], data: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        BookError: No file can be there.
        ResourceError: The disk is full, or fails.
    """
    try:
        with replacing(Path(target)) as partial:
            partial.write_bytes(data)
    except OSError as error:
        full = system.file_limit() is not None and fullness(error, Path(target).parent)
        if full:
            raise ResourceError(f"{full}, then again") from None
        reason = f"{target} cannot be written ({error.strerror or error})"
        if error.errno in NO_PLACE:
            raise BookError(f"{reason}: name another file") from None
        raise ResourceError(f"{reason}: make room, then again") from None


def _exchange(partial: Path, target: Path, older: Path) -> None:
    """Rename a folder to its final name, and any folder there to `older`. Other processes may do so at any time."""
    for attempt in range(ATTEMPTS):
        _remove(older)
        # Nothing is there, or another has taken it away
        with contextlib.suppress(FileNotFoundError):
            system.rename(target, older)
        try:
            system.rename(partial, target)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or attempt == ATTEMPTS - 1:
                raise


def sweep_up(target: Path) -> None:
    """Remove files that killed writers of a file or folder have left beside it."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.([0-9]{{1,10}})\.(build|partial|replaced)")
    for path in target.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if not match or system.is_alive(int(match[1])):
            continue
        if match[2] == "replaced" and not target.exists():
            # Another writer was first
            with contextlib.suppress(OSError):
                system.rename(path, target)
        else:
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    else:
        system.remove(path)


def lock(descriptor: int, path: Path) -> None:
    """Lock a file against other processes, until it is closed. Raises ResourceError if one has it."""
    try:
        system.lock(descriptor)
    except OSError:
        raise ResourceError(f"{path} is in use by another solver: wait for it, or name another book") from None


def hold(path: Path, shown: Path) -> int:
    """Make and lock a file that has the name of this process; its descriptor. The folder is made, too.

    The lock goes with the process, however it ends. Raises ResourceError, which calls the file `shown`.
    """
    for _ in range(ATTEMPTS):
        path.parent.mkdir(exist_ok=True)
        try:
            descriptor = system.open_descriptor(path, os.O_RDWR | os.O_CREAT | system.NO_FOLLOW)
        except FileNotFoundError:
            # Another solver has just finished and removed the folder
            continue
        try:
            lock(descriptor, shown)
        except ResourceError:
            owner = system.read_at(descriptor, 20, 0).decode(errors="replace").strip()
            os.close(descriptor)
            if not owner.isdigit():
                raise
            raise ResourceError(f"{shown} is locked by process {owner}: wait for it, or name another book") from None
        os.ftruncate(descriptor, 0)
        system.write_at(descriptor, f"{os.getpid()}\n".encode(), 0)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)
    raise ResourceError(f"{shown} comes and goes: name another book")
