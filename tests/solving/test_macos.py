"""A solve without the calls that macOS lacks: affinity of processors, /proc, large pages, a fork to compile.

It is a stand-in, on Linux: nobody has run the tests on macOS itself.
"""

import subprocess
import sys

import pytest

import solver
from tests.ways import until

pytest.importorskip("numba")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="takes away what Linux has")

STAND_IN = """
import builtins, fcntl, io, mmap, os, sys, types
import numba, numpy  # which load the libraries of the system that there really is

for module, names in (
    (os, ("sched_getaffinity", "posix_fadvise", "fdatasync", "posix_fallocate", "pidfd_open")),
    (mmap, ("MADV_HUGEPAGE", "MAP_NORESERVE", "MAP_POPULATE")),
):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)

def without_proc(function):
    def found(path, *more, **options):
        if str(path).startswith(("/proc", "/sys")):
            raise FileNotFoundError(2, "No such file or directory", path)
        return function(path, *more, **options)
    return found

builtins.open = io.open = without_proc(open)
os.open, os.listdir = without_proc(os.open), without_proc(os.listdir)

def no_fork():
    raise AssertionError("a fork beside threads is not safe on macOS")

os.fork = no_fork
control, synced = fcntl.fcntl, []
F_FULLFSYNC = 51

def controlled(descriptor, command, *more):
    return synced.append(1) if command == F_FULLFSYNC else control(descriptor, command, *more)

fcntl.fcntl = controlled
Facts = types.SimpleNamespace
sys.modules["psutil"] = Facts(
    virtual_memory=lambda: Facts(available=4 << 30), Process=lambda: Facts(memory_info=lambda: Facts(rss=100 << 20))
)
sys.platform = "darwin"

from solver.solving.ways import plain
plain.PLAIN_LIMIT = 0  # nothing is too small to be compiled
from solver.cli import main
try:
    main()
finally:
    print(len(synced), "synced", file=sys.stderr)
"""


def started(folder, *words):
    command = [sys.executable, "-c", STAND_IN, *map(str, words)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_it_solves_resumes_and_verifies(tmp_path):
    words = "solve", "connect-four:4,4", "-o", "book.lmdb", "--checkpoint", "0"
    with started(tmp_path, *words) as killed:
        until(lambda: (tmp_path / "book.lmdb.work" / "manifest.json").exists() or killed.poll() is not None)
        killed.kill()
    assert killed.returncode == -9
    with started(tmp_path, *words) as solving:
        out, err = solving.communicate(timeout=120)
    assert solving.returncode == 0, err
    assert "value    draw" in out and "going on" in err.lower()
    assert int(err.rpartition("\n")[0].rpartition("\n")[2].split()[0]) > 5  # disks were told to write
    assert [path.name for path in tmp_path.iterdir()] == ["book.lmdb"]
    with started(tmp_path, "verify", "book.lmdb") as verifying:
        out, err = verifying.communicate(timeout=120)
    assert "proved: 67,163 states" in out, err
    with solver.solve("connect-four:4,4") as here, solver.Book(tmp_path / "book.lmdb") as there:
        assert here == there
