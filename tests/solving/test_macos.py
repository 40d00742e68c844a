"""A solve without the calls that macOS lacks: affinity of processors, /proc, large pages, a fork to compile.

It is a stand-in, on Linux: nobody has run the tests on macOS itself.
"""

import subprocess
import sys

import pytest

import solver

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
for words in (["solve", "tic-tac-toe", "-o", "book.lmdb", "--checkpoint", "0"], ["verify", "book.lmdb"]):
    try:
        main(words)
    except SystemExit as end:
        assert not end.code
assert len(synced) > 5  # disks were told to write
"""


def test_it_solves_and_verifies(tmp_path):
    done = subprocess.run([sys.executable, "-c", STAND_IN], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "value    draw" in done.stdout and "proved: 627 states" in done.stdout, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["book.lmdb"]
    with solver.solve("tic-tac-toe") as here, solver.Book(tmp_path / "book.lmdb") as there:
        assert here == there
