"""Solves in processes of their own, in which faults are injected, and the same without a fault."""

import contextlib
import functools
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from solver.solving.ways import plain
from tests import ROOT
from tests.commands import run
from tests.ways import until

SWEEP = "connect-four:4,4"
CYCLIC = "three-mens-morris:1"
LONG = {"sweep": ("connect-four:5,5", 0.3), "retrograde": ("neutreeko", 0.2)}  # and seconds between checkpoints

# small games are worth no checkpoint: here they are solved like large ones
BY_KERNELS = (
    "import solver.__main__; from solver.solving.ways import plain; plain.PLAIN_LIMIT = 0; solver.__main__.main()"
)


def command_line(*words):
    """The text of a command, as an engine's is given on this system."""
    words = [*map(str, words)]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def python(code, *arguments, **options):
    """Run Python code in another process, which imports this checkout. Options are those of `subprocess.run`."""
    options["env"] = {**os.environ, "PYTHONPATH": str(ROOT), **options.get("env", {})}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def has_ended(number):
    """Whether a process has ended, though nobody may have asked for its exit code."""
    try:
        return Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def command(game, book, *options):
    return [sys.executable, "-c", BY_KERNELS, "solve", game, "-q", "-o", str(book), *map(str, options)]


def started(game, book, *options, **pipes):
    """Start a solve in another process. Name the pipes that you read."""
    return subprocess.Popen(command(game, book, *options), cwd=ROOT, stdout=subprocess.DEVNULL, text=True, **pipes)


def solve(game, book, *options, **keywords):
    """Exit code and stderr of a solve."""
    keywords |= {"env": {**os.environ, "PYTHONPATH": str(ROOT), **keywords.get("env", {})}, "text": True}
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    done = subprocess.run(command(game, book, *options), **pipes, **keywords)
    return done.returncode, done.stderr


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def resumed(game, book, *options):
    """The same by the same command in this process, to which nothing happens: quicker by what it takes to begin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "PLAIN_LIMIT", 0)
        code, _, error = run("solve", game, "-q", "-o", book, *options)
    return code, error


@functools.cache
def truth(game, *options):
    """The digest of a game's undisturbed book, and how long it took."""
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder, "book.lmdb")
        assert resumed(game, book, *options)[0] == 0  # compiles
        book.unlink()
        started = time.monotonic()
        assert solve(game, book, *options)[0] == 0
        return digest(book), time.monotonic() - started


def is_one_line(error):
    return len(error.strip().splitlines()) == 1 and error.strip().startswith("Error: ")


def only(folder, *names):
    return sorted(path.name for path in folder.iterdir()) == sorted(names)


def checkpoint(book):
    """Which checkpoint an unfinished solve of this book has reached; None before the first."""
    with contextlib.suppress(FileNotFoundError):
        status = book.with_name(book.name + ".work").joinpath("manifest.json").stat()
        return status.st_ino, status.st_mtime_ns
    return None


def gets_on(process, book, checkpoints=1):
    """Wait until a solve has written some more checkpoints, or has ended."""
    for _ in range(checkpoints):
        begun = checkpoint(book)
        until(lambda begun=begun: checkpoint(book) not in (None, begun) or process.poll() is not None)


# the solve stops at its first checkpoint, and does what the test says
AT_A_CHECKPOINT = """
import signal, sys
from solver.base import system
from solver.store.work import Work

checkpoint = Work.checkpoint

def then(self, state):
    checkpoint(self, state)
    print("kept", flush=True)
    {}

Work.checkpoint = then
"""


AS_WRITTEN = "import pytest; from tests.interpreted import interpret; interpret(pytest.MonkeyPatch())\n"


def acting(game, book, act, *, compiles=True, **pipes):
    """A solve by kernels, compiled or as they are written, that acts at its first checkpoint."""
    python, option, code, *words = command(game, book, "--checkpoint", 0)
    code = ("" if compiles else AS_WRITTEN) + AT_A_CHECKPOINT.format(act) + code
    return subprocess.Popen([python, option, code, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, **pipes)


def interrupted(game, book):
    """A work folder with a checkpoint."""
    with acting(game, book, "sys.stdin.read()", stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "kept\n"
        process.kill()
    return book.with_name(book.name + ".work")
