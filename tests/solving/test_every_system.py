"""Tests that must hold on every system: kills, two writers, readers of a book that is replaced, the ends of commands.

Windows has neither signals nor a way to replace an open file, so it keeps these promises by other means.
"""

import os
import subprocess
import sys

import pytest

from solver.book import Book
from tests import ROOT
from tests.commands import run
from tests.processes import SWEEP, command, digest, gets_on, is_one_line, only, resumed, truth

pytest.importorskip("numba")


def begun(book):
    """A solve that has a checkpoint."""
    process = subprocess.Popen(command(SWEEP, book, "--checkpoint", 0), cwd=ROOT, stdout=subprocess.DEVNULL)
    gets_on(process, book)
    assert process.poll() is None
    return process


def test_a_second_writer_is_refused_and_a_kill_loses_nothing(tmp_path):
    book = tmp_path / "book.lmdb"
    with begun(book) as process:
        code, error = resumed(SWEEP, book)
        process.kill()
    assert code == 6 and is_one_line(error)
    assert f"book.lmdb.work is locked by process {process.pid}: wait for it, or name another book" in error
    assert not book.exists() and process.returncode
    assert resumed(SWEEP, book)[0] == 0
    assert digest(book) == truth(SWEEP)[0]
    assert only(tmp_path, "book.lmdb")


ASKED = """
import pathlib, signal, sys, threading, time
from solver.base import system

def ask():
    while not pathlib.Path(sys.argv[5] + ".work", "manifest.json").exists():
        time.sleep(0.01)
    system.interrupt(getattr(signal, "SIGBREAK", signal.SIGTERM))

threading.Thread(target=ask, daemon=True).start()
"""


def test_what_asks_a_solve_to_end_leaves_its_checkpoint(tmp_path):
    """SIGTERM, and on Windows Ctrl-Break, which a process without a console can only send to itself."""
    book = tmp_path / "book.lmdb"
    python, option, code, *words = command(SWEEP, book, "--checkpoint", 0)
    done = subprocess.run([python, option, ASKED + code, *words], cwd=ROOT, capture_output=True, text=True, timeout=300)
    error = done.stderr
    assert done.returncode == 143, error
    assert is_one_line(error) and f"terminated: go on with solver solve {SWEEP}" in error
    assert (tmp_path / "book.lmdb.work" / "manifest.json").exists()
    assert resumed(SWEEP, book)[0] == 0
    assert digest(book) == truth(SWEEP)[0]


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


ENDLESS = """
from typing import NamedTuple

class Endless(NamedTuple):
    size: int = 1

    def initial(self):
        return 1

    def actions(self, state):
        while True:
            pass

    def result(self, state, action):
        return state

    def is_terminal(self, state):
        return False

    def utility(self, state):
        return 0
"""


def test_rules_that_never_end_are_stopped(tmp_path):
    """On Windows too, which has no timer that sends a signal."""
    (tmp_path / "endless.py").write_text(ENDLESS, encoding="utf-8")
    code = "from solver.check import conformance; conformance.SLOW = 0.3; import solver.__main__ as m; m.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", str(tmp_path / "endless.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2 and is_one_line(done.stderr), done
    assert "its rules take more than 0.3 seconds for a state: they must end" in done.stderr


def test_text_has_the_same_bytes_on_every_system(tmp_path):
    """No line ends in \\r\\n, and signs that a console lacks are written in another way, not refused."""
    solver = [sys.executable, "-m", "solver"]
    environment = {**os.environ, "PYTHONIOENCODING": "cp437"}
    command = [*solver, "query", "tic-tac-toe", "start"]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, env=environment).stdout
    assert out and b"\r" not in out
    table = tmp_path / "book.csv"
    assert subprocess.run([*solver, "export", "tic-tac-toe", "-q", "-o", table], cwd=ROOT).returncode == 0
    content = table.read_bytes()
    assert content.startswith(b"state,") and b"\r" not in content
