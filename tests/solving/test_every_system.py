"""Tests that must hold on every system: kills, two writers, readers of a book that is replaced, the ends of commands.

Windows has neither signals nor a way to replace an open file, so it keeps these promises by other means. What macOS
lacks is taken away from Linux, as nobody has run the tests on macOS.
"""

import os
import subprocess
import sys

import pytest

import solver
from solver.book import Book
from tests import ROOT
from tests.commands import run
from tests.processes import AS_WRITTEN, acting, digest, is_one_line, only, python, resumed
from tests.ways import slow
from tests.written import write_rules

pytest.importorskip("numba")
GAME = "tic-tac-toe"


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    book = tmp_path_factory.mktemp("truth") / "book.lmdb"
    assert run("solve", GAME, "-q", "-o", book)[0] == 0
    return digest(book)


@pytest.mark.interpreted
def test_a_second_writer_is_refused_and_a_kill_loses_nothing(tmp_path, truth):
    book = tmp_path / "book.lmdb"
    with acting(GAME, book, "sys.stdin.read()", compiles=False, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "kept\n"
        code, error = resumed(GAME, book)
        process.kill()
    assert code == 6 and is_one_line(error)
    assert f"book.lmdb.work is locked by process {process.pid}: wait for it, or name another book" in error
    assert not book.exists() and process.returncode
    assert resumed(GAME, book)[0] == 0
    assert digest(book) == truth
    assert only(tmp_path, "book.lmdb")


@pytest.mark.interpreted
def test_what_asks_a_solve_to_end_leaves_its_checkpoint(tmp_path, truth):
    """SIGTERM, and on Windows Ctrl-Break, which a process without a console can only send to itself."""
    book = tmp_path / "book.lmdb"
    ask = 'system.interrupt(getattr(signal, "SIGBREAK", signal.SIGTERM))'
    with acting(GAME, book, ask, compiles=False, stderr=subprocess.PIPE) as process:
        _, error = process.communicate()
    assert process.returncode == 143, error
    assert is_one_line(error) and f"terminated: go on with solver solve {GAME}" in error
    assert (tmp_path / "book.lmdb.work" / "manifest.json").exists()
    assert resumed(GAME, book)[0] == 0
    assert digest(book) == truth


READER = """
import sys
from solver import Book
with Book(sys.argv[1]) as book:
    before = dict(book.items())
    print("open", flush=True)
    input()
    assert dict(book.items()) == before
"""


def test_a_book_that_another_process_reads_is_replaced_or_stays(tmp_path):
    book = tmp_path / "book.lmdb"
    assert run("solve", "tic-tac-toe", "-q", "-o", book)[0] == 0
    first = digest(book)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", READER, book], cwd=ROOT, **pipes) as reader:
        assert reader.stdout.readline() == "open\n"
        code, _, error = run("solve", "connect-four:3,3", "-q", "-o", book)
        replaced = digest(book)
        reader.communicate("\n")
    assert reader.returncode == 0  # what it read has not changed
    if sys.platform == "win32":
        assert code == 2 and is_one_line(error) and "Windows replaces no open file: close it first" in error
        assert replaced == first
        assert run("solve", "connect-four:3,3", "-q", "-o", book)[0] == 0
    with Book(book) as opened:
        assert opened.header.game == "connect-four:3,3"
    assert only(tmp_path, "book.lmdb")


def test_rules_that_never_end_are_stopped(tmp_path):
    """On Windows too, which has no timer that sends a signal."""
    write_rules(tmp_path / "endless.py", actions="while True:\n    pass")
    code = "from solver.check import conformance; conformance.SLOW = 0.3; import solver.__main__ as m; m.main()"
    done = python(code, "check", tmp_path / "endless.py")
    assert done.returncode == 2 and is_one_line(done.stderr), done
    assert "its rules take more than 0.3 seconds for a state: they must end" in done.stderr


def test_text_has_the_same_bytes_on_every_system(tmp_path):
    """No line ends in \\r\\n, and signs that a console lacks are written in another way, not refused."""
    table, environment = tmp_path / "book.csv", {**os.environ, "PYTHONIOENCODING": "cp437"}
    for words in (("query", GAME, "start"), ("export", GAME, "-q", "-o", table)):
        command = [sys.executable, "-m", "solver", *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, env=environment, check=True)
        assert b"\r" not in done.stdout and (done.stdout or table.read_bytes())
    content = table.read_bytes()
    assert content.startswith(b"state,") and b"\r" not in content


# For a solve without the calls that macOS lacks: affinity of processors, /proc, large pages, a fork to compile
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

# here kernels are made plain Python
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


@pytest.mark.skipif(sys.platform != "linux", reason="takes away what Linux has")
@pytest.mark.parametrize("compiles", [False, *slow(True)])
def test_a_solve_without_what_macos_lacks_is_the_same(tmp_path, compiles):
    code = STAND_IN if compiles else STAND_IN.replace("# here kernels are made plain Python\n", AS_WRITTEN)
    done = python(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "value    draw" in done.stdout and "proved: 627 states" in done.stdout, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["book.lmdb"]
    with solver.solve("tic-tac-toe") as here, solver.Book(tmp_path / "book.lmdb") as there:
        assert here == there
