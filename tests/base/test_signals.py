"""SIGINT and SIGTERM: the same two exit codes from the program's first line to its last. Each is sent at an event."""

import os
import signal
import subprocess

import pytest

from solver.base import signals
from solver.base.system import ENDING
from tests.commands import run
from tests.processes import python

pytestmark = pytest.mark.posix("signals")
BOTH = pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])


def program(before, *arguments):
    """The program, as its console script calls it, after some lines of Python; exit code, stdout, stderr."""
    code = f"import os, signal, sys\n{before}\nfrom solver.__main__ import main\nmain()"
    done = python(code, *arguments, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


WHILE_IMPORTING = """
class Sends:
    def find_spec(self, name, path=None, target=None):
        if name == "{}":
            os.kill(os.getpid(), {})
sys.meta_path.insert(0, Sends())"""


@BOTH
def test_a_signal_at_the_beginning_or_the_end_of_the_interpreter(number, code):
    """Send a signal while modules are imported, and at exit. The text that the command has printed stays."""
    at_exit = f"import atexit\natexit.register(os.kill, os.getpid(), {number})"
    said = {130: "interrupted", 143: "terminated"}
    for before, words, output in (
        (WHILE_IMPORTING.format("click", number), "games", ""),
        (at_exit, "--version", "solver"),
    ):
        ended, out, err = program(before, words)
        assert (ended, out[:6], err) == (code, output, f"Error: {said[code]}\n")


def test_whatever_comes_after_an_interruption_its_code_stays():
    """The alarm that asks again for an end may come late, and another signal, too: while threads are waited for."""
    late = """
import atexit, threading
from solver import cli
say = cli._say
def said(message, code):
    say(message, code)
    threading.Thread(target=lambda: [os.kill(os.getpid(), one) for one in (14, 14)]).start()
    atexit.register(lambda: [os.kill(os.getpid(), one) for one in (14, 2, 15)])
    return code
cli._say = said
"""
    late += WHILE_IMPORTING.format("solver.cli.games", 2)
    assert program(late, "games") == (130, "", "\nError: interrupted\n")


@BOTH
def test_an_interrupted_solve_says_so_and_leaves_nothing(tmp_path, monkeypatch, number, code):
    monkeypatch.setattr("solver.cli.common.Bars.__call__", lambda *facts, **more: os.kill(os.getpid(), number))
    book = tmp_path / "b.lmdb"
    ended, out, err = run("solve", "tic-tac-toe", "--no-symmetry", "-o", book)
    assert (ended, out) == (code, "")
    assert err.strip().splitlines()[-1].endswith(f"solver solve tic-tac-toe --no-symmetry -o {book}")
    assert len(err.strip().splitlines()) == 1  # after the line that ^C has broken
    assert list(tmp_path.iterdir()) == []


def test_who_calls_the_command_line_from_python_keeps_their_handlers():
    earlier = [signal.getsignal(number) for number in ENDING]
    assert run("--version")[0] == 0
    assert [signal.getsignal(number) for number in ENDING] == earlier


def test_a_signal_that_python_makes_another_error_of_is_a_signal(monkeypatch, tmp_path):
    """As where a class is made while its module is imported."""

    def send(*facts, **more):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except signals.Terminated as error:
            raise RuntimeError("Error calling __set_name__") from error

    monkeypatch.setattr("solver.cli.common.Bars.__call__", send)
    code, _, err = run("solve", "tic-tac-toe", "--no-symmetry", "-o", tmp_path / "b.lmdb")
    assert code == 143 and err.startswith("Error: terminated: go on with")
