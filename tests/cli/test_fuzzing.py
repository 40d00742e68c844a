"""No command line ends in a traceback, hangs, or fails without a word: thousands at random by `make stress`.

Every verb with odd options, values and files, each in a process of its own.
"""

import atexit
import contextlib
import functools
import os
import random
import signal
import struct
import sys
import threading
import traceback
from pathlib import Path

import click
import pytest

from solver import __main__
from solver.base import extras
from solver.book import Book, shipped
from solver.book.format import seal, segment_key
from solver.cli import COMMANDS, main
from tests import DATA
from tests.books import rewritten

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="Linux")

SECONDS = 300  # after which a command hangs, and is ended
CLASSES = ("Race", "Greedy", "High", "Low", "Broken", "Floating", "Silent", "Leaving", "Nobody", "", "NamedTuple")
NUMBERS = (
    "0", "1", "2", "7", "-1", "", "1e3", "1e400", "nan", "inf", "0x10", "1_000", "²", str(1 << 63), str(1 << 64),
    "9" * 5000,
)  # fmt: skip
TEXTS = ("", " ", "-", "--", ".", "\n", "\udcff", "é" * 300, "%s", "{}", "=1+1", "a,b", "'", '"', "\\", "\x1b[31m")
POSITIONS = (
    "start", "a1", "5", "5 1", "1,2", "#0", "#1", "#-1", "#", "#1e5", f"#{1 << 62}", f"#{1 << 64}", "#" + "9" * 5000,
    "1" * 5000,
)  # fmt: skip
GAMES = (
    "tic-tac-toe", "coins:7,2", "coins", "nim:1,2", "nim", "piglet:3", "hexapawn:3,3", "tree:tree.json",
    "tree:tree.json,min", "tree:fifo", "tree:zero", "tree:odd.json", "graph:moves.csv", "moves.csv", "odd.csv",
    "graph:odd.json", "graph:", "openspiel:kuhn_poker", "tree:", "tree", "coins:0", "coins:-1", "coins:7,2,true",
    "coins:7,2,maybe", "coins:coins=7", "coins:coins=7,coins=7", "coins:nothing=7", "coins:1e9", f"coins:{1 << 64}",
    "coins:,", "coins:;", ":", "::", "::Race", "connect-four:1000,1000", "connect-four:4", "kalah:0,0", "nosuch",
    "no-such:1", "os::path", "json::JSONDecoder", "nosuch::Game", "nosuch.py::Game", "fifo.py::Race", "zero.py::Race",
    "folder.py::Race", "empty.py::Race", "loop.py::Race", "torn.py::Race", "../rules.py::Race", "chess-ending:KQ",
    "chess-ending:", "pig:0", "dots-and-boxes:1,1",
)  # fmt: skip
OUTPUTS = (
    "out.lmdb", "out.csv", "out.jsonl", "out.sqlite", "out.bin", "out.eval", "out.png", "out.svg", "out/",
    "site/../../x/", "nosuch/out.lmdb", "folder.py", "fifo", "zero", "/dev/full", "/dev/null", "good.lmdb/",
    "good.lmdb", "", ".", "/", "out", "n" * 255, "n" * 5000, "n" * 240 + ".lmdb", "\udcff.lmdb", "\udcff.csv",
    "\udcff/", "new\nline.csv", "dangling", "loop.py", "/proc/self/mem", "good.lmdb/x/",
)  # fmt: skip
DEAR = {"check": 0.1, "estimate": 0.1, "learn": 0.2, "match": 0.3, "games": 0.3, "books": 0.3}  # or soon known
BOOKS = ("good.lmdb", "chance.lmdb", "forged.lmdb", "again.lmdb", "tic-tac-toe", "coins:7,2")
ENDINGS = {"export": (".csv", ".jsonl", ".sqlite", ".bin", "/"), "learn": (".eval",), "info": (".svg",)}
ODD_GAMES = (*BOOKS, *GAMES, *(f"rules.py::{name}" for name in CLASSES))
MEANT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # values of parameters, and odd ones: () for any file
    **dict.fromkeys(("source", "first", "second", "judge", "book"), (BOOKS, ODD_GAMES)),
    **dict.fromkeys(("game", "game_text", "named"), (("tic-tac-toe", "piglet:3", "rules.py::Race"), ODD_GAMES)),
    **dict.fromkeys(("positions", "position", "start"), (("start", "start", "#0", "b2", "1"), POSITIONS)),
    "columns": (("state", "state,score", "board,best"), ("tier", "state,state", "", ",", "nosuch")),
    "file": (("values.jsonl",), ()), "games": (("games.txt", "2"), ()), "evaluate": (("odd.eval",), ()),
    "module": (("odd.eval",), ()), "hidden": (("4",), ("-1", "", "9" * 5000)), "distance": (("1..3",), ("3..1", "..")),
    "ply": (("..2",), ("3..1", "..")), **dict.fromkeys(("memory", "max_bytes"), (("1G",), ("0", "1M", "8G", "-1"))),
    "cluster": (("local:0",), ("local", "local:x")),
}  # fmt: skip
STDIN = ("", "start\n", "q\n", "1\n2\nhint\nundo\nquit\n", "a1\nb2\nzz\n#5\n", "\0\xff\n", "[1, 2]\n", "\n\n\n")


def fault_of(verb: str, code: int, out: str, err: str) -> str | None:
    """The fault of a command's result; its exit code is negative for a signal."""
    if code < 0:
        return "hangs" if code == -signal.SIGKILL else f"signal {-code}"
    if "Traceback" in err or "Traceback" in out or "Exception ignored" in err:
        return "traceback"
    if code not in range(8) or (code == 1 and verb != "diff"):
        return f"exit {code}"
    return None if code in (0, 1, 7) or err.strip() else f"exit {code} in silence"


def furnish(folder: Path) -> None:
    """Files of every kind, good and odd."""
    good = shipped.path_of("tic-tac-toe").read_bytes()
    files = {
        "good.lmdb": good,
        "chance.lmdb": shipped.path_of("piglet").read_bytes(),
        "again.lmdb": good,
        "cut.lmdb": good[: len(good) // 2],
        "changed.lmdb": bytes(byte ^ (index % 997 == 5) for index, byte in enumerate(good)),
        "empty": b"",
        "empty.py": b"",
        "torn.py": b"class Race(:\n",
        "rules.py": (DATA / "fuzzed.txt").read_bytes(),
        "tree.json": b"[[3, 12, 8], [2, 4, 6], [14, 5, 2]]",
        "moves.csv": b"state,action,next,reward\na,x,b,\na,y,c,1\nb,z,a,\nb,w,d,1\n",
        "odd.csv": b"state,next,player,weight\na,b,,1/0\n",
        "odd.json": b'{"tree": [[], 1e400, {"root": NaN}]}',
        "deep.json": b"[" * 100_000,
        "values.jsonl": b'{"state": 0, "score": 1, "distance": 1}\n[]\n',
        "games.txt": "5\n1 5\nzz\n\udcff\n".encode(errors="surrogateescape"),
        "odd.eval": b"solver.eval\0" + struct.pack("<I", 1) + bytes(40),
        "\udcff.lmdb": good,
        "g" * 250 + ".lmdb": good,
        "-q.lmdb": good,
        "new\nline.lmdb": good,
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with Book(folder / "chance.lmdb") as book:
        rewritten(book.path, folder / "forged.lmdb", functools.partial(_forged, book.header.book_id))
    for name in ("fifo", "fifo.py"):
        os.mkfifo(folder / name)
    (folder / "folder.py").mkdir()
    links = {"zero": "/dev/zero", "zero.py": "/dev/zero", "loop.py": "loop.py", "dangling": "nowhere"}
    for name, target in links.items():
        (folder / name).symlink_to(target)


def _forged(book_id: bytes, key: bytes, record: bytes) -> bytes:
    """Other keys and values behind a checksum that is right."""
    if bytes(key) != segment_key(0):
        return record
    chance, body = random.Random(5), bytearray(record[4:])
    for _ in range(9):
        body[chance.randrange(len(body) // 2, len(body))] ^= 1 << chance.randrange(8)
    return seal(book_id, 0, bytes(body))


def command_line(chance: random.Random, folder: Path) -> list[str]:
    """A verb, what it takes, more or less of it, and some of its options."""
    verb = chance.choices([*COMMANDS, "", "nosuch"], [DEAR.get(name, 1.0) for name in (*COMMANDS, "", "nosuch")])[0]
    command = main.get_command(click.Context(main), verb) if verb in COMMANDS else None
    if command is None or chance.random() < 0.02:
        return [verb, *chance.choices([*TEXTS, *NUMBERS, "--help", "-h"], k=chance.randrange(3))]
    words: list[str] = []
    files = sorted(path.name for path in folder.iterdir())
    oddness = chance.choice((0.0, 0.15, 1.0))
    for parameter in command.params:
        for _ in range(_times(chance, parameter, oddness)):
            if isinstance(parameter, click.Option):
                words.append(chance.choice(parameter.opts))
                if parameter.is_flag:
                    continue
            words.append(_value(chance, verb, parameter, files, is_odd=chance.random() < oddness))
    if chance.random() < 0.1 * oddness:
        chance.shuffle(words)
    return [verb, *_bounded(verb, words)]


def _times(chance: random.Random, parameter, oddness: float) -> int:
    if parameter.required or parameter.nargs != 1:
        return chance.choices((0, 1, 2), (0.03 * oddness, 0.92, 0.05 * oddness))[0]
    return chance.choices((0, 1, 2), (0.85, 0.14, 0.01 * oddness))[0]


def _value(chance: random.Random, verb: str, parameter, files: list[str], is_odd: bool) -> str:
    """A value that the parameter is meant for, or an odd one, now and then any."""
    if is_odd and chance.random() < 0.2:
        return chance.choice((*TEXTS, *NUMBERS, *POSITIONS, *GAMES, *OUTPUTS, *files))
    if choices := getattr(parameter.type, "choices", None):
        return str(chance.choice(list(choices)))
    if parameter.param_type_name == "option" and parameter.name in ("output", "book", "plot", "save"):
        return chance.choice(OUTPUTS) if is_odd else f"out{chance.choice(ENDINGS.get(verb, ('.lmdb',)))}"
    meant, odd = MEANT.get(parameter.name, (("1", "2"), NUMBERS))
    return chance.choice(odd or files) if is_odd else chance.choice(meant)


def _bounded(verb: str, words: list[str]) -> list[str]:
    """So that none takes long by right."""
    most = dict.fromkeys(("query", "play"), "--budget 0.01") | {"match": "--budget 0.01 --games 2"}
    return words + (most | {"learn": "--states 100", "estimate": "--seconds 1"}).get(verb, "").split()


def run(line: list[str], folder: Path, stdin: str) -> tuple[int, str, str]:
    """Run a command line in a fork of this process. Returns its exit code, output and errors."""
    outputs = [os.memfd_create(name) for name in ("out", "err")]
    process = os.fork()
    if process == 0:
        _become(line, folder, stdin, outputs)
    timer = threading.Timer(SECONDS, os.kill, (process, signal.SIGKILL))
    timer.start()
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    timer.cancel()
    timer.join()  # Python warns of a fork beside threads
    out, err = (os.pread(descriptor, 1 << 20, 0).decode(errors="replace") for descriptor in outputs)
    for descriptor in outputs:
        os.close(descriptor)
    return code, out, err


def _become(line: list[str], folder: Path, stdin: str, outputs: list[int]) -> None:
    """In the child: the program, to its end."""
    try:
        import resource

        atexit._clear()  # what the parent has to do in the end
        os.chdir(folder)
        reading, writing = os.pipe()
        os.write(writing, stdin.encode(errors="surrogateescape"))
        os.close(writing)
        for descriptor, standard in zip((reading, *outputs), range(3), strict=True):
            os.dup2(descriptor, standard)
        sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
        sys.stderr = os.fdopen(2, "w", errors="backslashreplace")
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        sys.argv = ["solver", *line]
        __main__.main()
    except BaseException:
        with contextlib.suppress(Exception):
            traceback.print_exc()
            sys.stderr.flush()
    finally:
        os._exit(99)


@pytest.fixture(autouse=True)
def nothing_is_served_for_ever(monkeypatch):
    """What `serve` has made ready it would serve until a signal, in a browser of its own."""
    monkeypatch.setattr("click.launch", lambda url: 0)
    if extras.has("starlette", "uvicorn", "httptools"):
        monkeypatch.setattr("solver.serve.running.run", lambda make, sockets, *_: [one.close() for one in sockets])


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(2, 8))
def test_odd_command_lines_by_the_hundred(tmp_path, seed):
    furnish(tmp_path)
    chance = random.Random(seed)
    lines = [command_line(chance, tmp_path) for _ in range(500)]
    ended = [(line, *run(line, tmp_path, chance.choice(STDIN))) for line in lines]
    assert [one for one in ended if fault_of(one[0][0], *one[1:]) is not None] == []
