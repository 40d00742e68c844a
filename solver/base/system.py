"""Differences between operating systems. No other module asks which one this is.

Files, processes, memory, sockets and signals: each function does the same on Linux, macOS and Windows, or the closest
thing, and its docstring names the difference. The command line imports this module before anything else,
so it imports little; On macOS and Windows `psutil` replaces `/proc` of Linux.
"""

from __future__ import annotations

import _thread
import contextlib
import errno
import functools
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any


# Files

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)  # a flag for `open_descriptor`: fail where the name is a symbolic link
NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # another: do not wait for the other end of a pipe
BINARY = getattr(os, "O_BINARY", 0)
HELD = 1.0  # seconds for which another program may have a file open, as virus scanners do
DEVICES = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}  # and COM1 to LPT9
LOCKED_BYTE = (1 << 31) - 2  # the byte that a lock takes on Windows, where nobody else can read what is locked

_position = _thread.allocate_lock()  # of all descriptors: only Windows has to move one


def open_descriptor(path: str | os.PathLike[str], flags: int, mode: int = 0o666) -> int:
    """Return the descriptor of a file whose bytes are read and written as they are. Raises OSError."""
    return os.open(path, flags | BINARY, mode)


if sys.platform == "win32":

    def read_at(descriptor: int, size: int, offset: int) -> bytes:
        """Read up to `size` bytes from a place in a file, in any thread."""
        with _position:
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.read(descriptor, size)

    def write_at(descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """Write bytes to a place in a file, in any thread; how many were written."""
        with _position:
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.write(descriptor, data)

else:
    read_at, write_at = os.pread, os.pwrite


def cut(descriptor: int, size: int) -> None:
    """Shorten a file; on Windows it stays as it is while some of it is mapped into memory."""
    try:
        os.ftruncate(descriptor, size)
    except OSError:
        if sys.platform != "win32":
            raise


def sync(descriptor: int) -> None:
    """Wait until written data is on the disk. On macOS `fsync` alone does not wait for the disk itself."""
    if sys.platform == "darwin":
        import fcntl

        # Some file systems do not know the call
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, getattr(fcntl, "F_FULLFSYNC", 51))
            return
    os.fsync(descriptor)


def sync_path(path: str | os.PathLike[str]) -> None:
    """Sync the content of a file, or the names in a folder; Windows syncs names by itself."""
    if sys.platform == "win32" and os.path.isdir(path):
        return
    # Windows syncs only what may be written to, and other systems open no folder for that
    descriptor = open_descriptor(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def replace(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Rename a file to a name that another file may have, which then is gone. Raises OSError."""
    _patiently(lambda: os.replace(source, target))


def rename(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Rename a file or folder. Raises OSError."""
    _patiently(lambda: os.rename(source, target))


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file, if it is there. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        _patiently(lambda: os.unlink(path))


def discard(path: str | os.PathLike[str]) -> bool:
    """Remove a file, if it is there; False where it stays since some of it is mapped, on Windows. Raises OSError."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except PermissionError:
        if sys.platform != "win32":
            raise
        return False
    return True


def file_limit() -> int | None:
    """Return the bytes that a file may have at most (`ulimit -f`). None for any number, as on Windows."""
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _patiently(change: Callable[[], None]) -> None:
    """Change a name; on Windows try again for a second while another program has the file open."""
    deadline = time.monotonic() + HELD
    while True:
        try:
            return change()
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def check_name(name: str) -> None:
    """Raise OSError if Windows would take the name of a file for something else: a device, or a stream in a file."""
    device = name.partition(".")[0].rstrip().upper()
    is_device = device in DEVICES or (device[:3] in ("COM", "LPT") and device[3:] in set("123456789"))
    if sys.platform == "win32" and (is_device or name.endswith((".", " ")) or set(name) & set('<>:"/\\|?*')):
        raise OSError(errno.EINVAL, "Windows has no such name for a file", name)


def is_held(path: str | os.PathLike[str]) -> bool:
    """Whether another program, or this one, has a file open and so keeps it from being replaced, as on Windows."""
    if sys.platform == "win32":
        try:
            rename(path, path)
        except PermissionError:
            return True
        except OSError:
            # It is not there
            pass
    return False


def remove_open(path: str | os.PathLike[str], descriptor: int) -> None:
    """Remove a file that this process has open, and close it. Raises OSError.

    Windows removes no open file, so it is closed first; a file that another has opened meanwhile stays.
    """
    if sys.platform == "win32":
        os.close(descriptor)
        with contextlib.suppress(PermissionError):
            remove(path)
    else:
        try:
            remove(path)
        finally:
            os.close(descriptor)


def lock(descriptor: int) -> None:
    """Lock a file until it is closed, against other descriptors as well. Raises OSError if another has the lock."""
    if sys.platform == "win32":
        import msvcrt

        with _position:
            before = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(descriptor, before, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


# Processes

CAN_FORK = hasattr(os, "fork")
PARENT_DEATH_SIGNAL = 1  # the option of prctl


def cores(root: Path | None = None) -> int:
    """Return the number of processors that this process may use, whole ones of a control group's quota."""
    from pathlib import Path

    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for folder, is_second in _groups(root or Path("/"), "cpu"):
        with contextlib.suppress(OSError, ValueError):
            names = ["cpu.max"] if is_second else ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
            quota, period = " ".join((folder / name).read_text("ascii") for name in names).split()
            # "max" and -1 are not limits
            if int(quota) > 0:
                count = min(count, max(1, int(quota) // int(period)))
    return count


def is_alive(process: int) -> bool:
    """Whether there is a process of that number."""
    # On Windows os.kill(process, 0) would end the process
    if sys.platform == "win32":
        import psutil

        return process < 1 << 31 and bool(psutil.pid_exists(process))
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def fork_is_safe() -> bool:
    """Whether a child may go on with all that is loaded: on Linux, as long as there is one thread."""
    try:
        return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


@functools.cache
def share_turns() -> int:
    """Let `turn` hold between this process and those that it forks from now on, on Linux.

    Returns the descriptor of a file without a name, of which processes lock a byte for each piece of work. Raises
    OSError where files cannot be locked.
    """
    import fcntl
    import tempfile

    descriptor, path = tempfile.mkstemp()
    os.unlink(path)
    fcntl.lockf(descriptor, fcntl.LOCK_SH, 1, 1 << 31)  # behind all that stand for work
    return descriptor


@contextlib.contextmanager
def turn(name: str, wait: bool = True) -> Iterator[None]:
    """Do a piece of work while no other process does it (`share_turns`), after a `wait` or else BlockingIOError.

    A process that dies keeps nobody waiting.
    """
    if not share_turns.cache_info().currsize:
        yield
        return
    import fcntl

    # Forks have the same hashes
    byte = hash(name) & 0x7FFFFFFF
    fcntl.lockf(share_turns(), fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    try:
        yield
    finally:
        fcntl.lockf(share_turns(), fcntl.LOCK_UN, 1, byte)


def end_with_parent() -> None:
    """In a child on Linux: it is killed when its parent ends."""
    import ctypes

    ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, int(signal.SIGKILL))


def after_fork(function: Callable[[], None]) -> None:
    """Have a function called in every child that is forked."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def end_family(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait so many seconds until a process ends, then kill it and the children that it leaves.

    It must have been started with `start_new_session`. On Windows the children of one that ended by itself stay.
    """
    deadline = time.monotonic() + seconds
    if sys.platform == "win32":
        import psutil

        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(seconds / 100)
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
    else:
        with contextlib.suppress(OSError):
            # the process is not reaped before its group is killed: until then no other group gets its number
            ended = os.WEXITED | os.WNOWAIT | os.WNOHANG
            while not os.waitid(os.P_PID, process.pid, ended) and time.monotonic() < deadline:
                time.sleep(seconds / 100)
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def command_words(command: str) -> list[str] | str:
    """Return the program and its arguments, as `subprocess` takes them. Raises ValueError for an open quotation.

    Windows takes the text as it is, since there \\ is not a mark of quotation but part of paths.
    """
    import shlex

    return command if sys.platform == "win32" else shlex.split(command)


def limit_memory(size: int) -> None:
    """Let this process take so many bytes of memory at most, and leave no core file; on Windows there is no limit."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


# Memory

HUGE = 4 << 20  # bytes from which large pages pay
GUESS = 3_500_000_000  # bytes that are taken to be free on a Linux that does not say


def available_memory(root: Path) -> int:
    """Return the bytes of memory that processes may still take; `root` is the folder that has `proc` and `sys`.

    On Linux the limits of the control groups of this process count too.
    """
    try:
        facts = dict(line.split(":", 1) for line in (root / "proc/meminfo").read_text("ascii").splitlines())
        free = int(facts["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        if sys.platform == "linux":
            free = GUESS
        else:
            import psutil

            free = psutil.virtual_memory().available
    for folder, is_second in _groups(root, "memory"):
        used = "memory.current" if is_second else "memory.usage_in_bytes"
        name, idle = "inactive_file " if is_second else "total_inactive_file ", 0
        with contextlib.suppress(OSError, ValueError):
            # Files that the system keeps for the group, and would give up
            lines = (folder / "memory.stat").read_text("utf-8").splitlines()
            idle = next((int(line.removeprefix(name)) for line in lines if line.startswith(name)), 0)
        for limit in ("memory.max", "memory.high") if is_second else ("memory.limit_in_bytes",):
            with contextlib.suppress(OSError, ValueError):
                taken = int((folder / used).read_text("utf-8")) - idle
                free = min(free, max(0, int((folder / limit).read_text("utf-8")) - taken))
    return free


def _groups(root: Path, controller: str) -> Iterator[tuple[Path, bool]]:
    """Yield the folders of this process's control groups, with those around them, and whether of version 2."""
    try:
        lines = (root / "proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if not controllers or controller in controllers.split(","):
            top = root / "sys/fs/cgroup" / (controller if controllers else "")
            group = top / name.lstrip("/")
            for folder in [group, *group.parents][: len([part for part in name.split("/") if part]) + 1]:
                yield folder, not controllers


def resident_memory() -> int:
    """Return the bytes of memory that this process has; 0 where the system does not say."""
    if sys.platform == "linux":
        return _pages_of_process(1) or 0
    import psutil

    return int(psutil.Process().memory_info().rss)


def mapped_file_memory() -> int | None:
    """Return the bytes of mapped files that this process has in memory; None where the system does not say."""
    return _pages_of_process(2)


def _pages_of_process(column: int) -> int | None:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[column]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def trim_heap() -> None:
    """Return memory that was freed to the system, which glibc would keep for later."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


def advise_unneeded(mapped: Any) -> None:
    """Let the pages of a mapped file go: they come back from the file when they are read."""
    import mmap

    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


class Room:
    """Address space that takes memory only where something is. `buffer` has its bytes, zeros at first.

    Bytes may be read and written once they are taken by `take`. POSIX systems give a page when it is first written to,
    so there everything may be from the start; Windows gives pages only when it is asked.
    """

    def __init__(self, size: int) -> None:
        self.buffer: Any
        if sys.platform == "win32":
            import ctypes
            import weakref

            self._kernel: Any = ctypes.WinDLL("kernel32", use_last_error=True)
            self._kernel.VirtualAlloc.restype = ctypes.c_void_p
            self._kernel.VirtualFree.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint
            self._base = self._allocate(None, size, 0x2000)  # MEM_RESERVE
            self.buffer = (ctypes.c_char * size).from_address(self._base)
            weakref.finalize(self.buffer, self._kernel.VirtualFree, self._base, 0, 0x8000)  # MEM_RELEASE
        else:
            import mmap

            # Python's module does not know the flag on all systems: it is 0x4000 on Linux and 0x40 on macOS
            reserved = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0x40)
            self.buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | reserved)
            if size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
                # A system without large pages
                with contextlib.suppress(OSError):
                    self.buffer.madvise(mmap.MADV_HUGEPAGE)

    def take(self, begin: int, end: int) -> None:
        """Make the bytes from `begin` to `end` ready. Raises OSError where memory has run out."""
        if sys.platform == "win32" and begin < end:
            self._allocate(self._base + begin, end - begin, 0x1000)  # MEM_COMMIT

    def give_back(self, begin: int, end: int) -> None:
        """Let the memory of the whole pages from `begin` to `end` go; their bytes are lost."""
        import mmap

        first_page = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE
        length = end // mmap.PAGESIZE * mmap.PAGESIZE - first_page
        if length <= 0:
            return
        if sys.platform == "win32":
            self._kernel.VirtualFree(self._base + first_page, length, 0x4000)  # MEM_DECOMMIT
        else:
            # MADV_DONTNEED of macOS keeps the memory until another process wants it
            self.buffer.madvise(getattr(mmap, "MADV_FREE_REUSABLE", mmap.MADV_DONTNEED), first_page, length)

    if sys.platform == "win32":

        def _allocate(self, base: int | None, size: int, kind: int) -> int:
            import ctypes

            address = self._kernel.VirtualAlloc(ctypes.c_void_p(base), ctypes.c_size_t(size), kind, 4)  # PAGE_READWRITE
            if not address:
                raise ctypes.WinError(ctypes.get_last_error())
            return int(address)


# Sockets

SPREADS = sys.platform == "linux"  # whether sockets of one port share its connections (SO_REUSEPORT)


def address_option() -> int:
    """Return the socket option by which a server may have the port of one that has just ended, but of no other."""
    import socket

    # the usual option would let two servers have the port at once on Windows
    return int(getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR))


# Signals

CAN_HOLD = hasattr(signal, "pthread_sigmask")  # whether signals can be held back for a while
ENDING: dict[int, int] = {signal.SIGINT: 130, signal.SIGTERM: 143}  # what asks a program to end, and its exit code then
if sys.platform == "win32":
    ENDING[signal.SIGBREAK] = 143  # Ctrl-Break
# signals of the two bells; Windows has no signal of a timer, so two serve that are of no other use here
ALARM: int = getattr(signal, "SIGALRM", signal.SIGABRT)
COMPUTED: int = getattr(signal, "SIGVTALRM", signal.SIGFPE)


def ring(bell: int, seconds: float, again: float = 0.0) -> None:
    """Send the signal ALARM after so many seconds, or COMPUTED after so many of computing; then `again` and again.

    0 seconds: never. The signal's handler runs in the main thread.
    """
    if sys.platform == "win32":
        _bells[bell].set(seconds, again)
    else:
        signal.setitimer(signal.ITIMER_REAL if bell == ALARM else signal.ITIMER_VIRTUAL, seconds, again)


def interrupt(number: int) -> None:
    """Have the handler of a signal run in the main thread; on Windows only after the call that it waits for."""
    if sys.platform == "win32":
        _thread.interrupt_main(number)
    else:
        os.kill(os.getpid(), number)


def is_set(bell: int) -> bool:
    """Whether a signal will come."""
    if sys.platform == "win32":
        return _bells[bell].at > 0
    return signal.getitimer(signal.ITIMER_REAL if bell == ALARM else signal.ITIMER_VIRTUAL)[0] > 0


if sys.platform == "win32":

    class _Bell:
        """A thread that looks at a clock, and interrupts the main thread by a signal."""

        def __init__(self, number: int, clock: Callable[[], float]) -> None:
            self.number, self.clock = number, clock
            self.at = self.again = 0.0
            self._lock, self._is_watched = _thread.allocate_lock(), False

        def set(self, seconds: float, again: float) -> None:
            with self._lock:
                self.at, self.again = self.clock() + seconds if seconds else 0.0, again
                if self.at and not self._is_watched:
                    self._is_watched = True
                    _thread.start_new_thread(self._watch, ())

        def _watch(self) -> None:
            while True:
                time.sleep(0.02)
                with self._lock:
                    if not self.at:
                        self._is_watched = False
                        return
                    if self.clock() < self.at:
                        continue
                    self.at += self.again
                _thread.interrupt_main(self.number)

    _bells = {ALARM: _Bell(ALARM, time.monotonic), COMPUTED: _Bell(COMPUTED, time.process_time)}


_handlers: list[object] = []  # that the system calls, so they must live as long as the process


def at_closing(number: int) -> None:
    """Have a signal's handler run when the window of the console is closed on Windows; elsewhere that is SIGHUP.

    The system ends the process five seconds later.
    """
    if sys.platform == "win32" and not _handlers:
        import ctypes

        @ctypes.WINFUNCTYPE(ctypes.c_int, ctypes.c_uint)
        def handle(event: int) -> int:
            # Ctrl-C and Ctrl-Break, which Python takes
            if event < 2:
                return 0
            interrupt(number)
            time.sleep(10)
            return 1

        _handlers.append(handle)
        ctypes.WinDLL("kernel32").SetConsoleCtrlHandler(handle, 1)
