"""Command lines at random: every verb with odd options, values and files, each in a process of its own."""

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
from typing import NamedTuple

import click

from solver import __main__
from solver.book import Book, shipped
from solver.book.format import seal, segment_key
from solver.cli import COMMANDS, main
from tests import DATA
from tests.books import rewritten

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
STDIN = ("", "start\n", "q\n", "1\n2\nhint\nundo\nquit\n", "a1\nb2\nzz\n#5\n", "\0\xff\n", "[1, 2]\n", "\n\n\n")


class Ended(NamedTuple):
    """The result of a command: exit code, negative for a signal."""

    line: list[str]
    code: int
    out: str
    err: str

    def fault(self) -> str | None:
        """The fault of that result."""
        if self.code < 0:
            return "hangs" if self.code == -signal.SIGKILL else f"signal {-self.code}"
        if "Traceback" in self.err or "Traceback" in self.out or "Exception ignored" in self.err:
            return "traceback"
        if self.code not in range(8) or (self.code == 1 and self.line[0] != "diff"):
            return f"exit {self.code}"
        return None if self.code in (0, 1, 7) or self.err.strip() else f"exit {self.code} in silence"


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
    oddness = chance.choice((0.0, 0.15, 1.0))
    for parameter in command.params:
        for _ in range(_times(chance, parameter, oddness)):
            if isinstance(parameter, click.Option):
                words.append(chance.choice(parameter.opts))
                if parameter.is_flag:
                    continue
            odd = chance.random() < oddness
            words.append(_value(chance, parameter, folder) if odd else _good(chance, verb, parameter))
    if chance.random() < 0.1 * oddness:
        chance.shuffle(words)
    return [verb, *_bounded(verb, words)]


def _times(chance: random.Random, parameter, oddness: float) -> int:
    if parameter.required or parameter.nargs != 1:
        return chance.choices((0, 1, 2), (0.03 * oddness, 0.92, 0.05 * oddness))[0]
    return chance.choices((0, 1, 2), (0.85, 0.14, 0.01 * oddness))[0]


def _good(chance: random.Random, verb: str, parameter) -> str:
    """A value that the parameter is meant for, mostly."""
    name = parameter.name
    if choices := getattr(parameter.type, "choices", None):
        return str(chance.choice(list(choices)))
    if parameter.param_type_name == "option" and name in ("output", "book", "plot", "save"):
        endings = {"export": (".csv", ".jsonl", ".sqlite", ".bin", "/"), "learn": (".eval",), "info": (".svg",)}
        return "out" + chance.choice(endings.get(verb, (".lmdb",)))
    if name in ("source", "first", "second", "judge") or (name == "book" and verb != "solve"):
        return chance.choice(("good.lmdb", "chance.lmdb", "forged.lmdb", "again.lmdb", "tic-tac-toe", "coins:7,2"))
    if name in ("game", "game_text", "named"):
        return chance.choice(("tic-tac-toe", "coins:7,2", "piglet:3", "rules.py::Race", "tree:tree.json"))
    if name == "columns":
        return chance.choice(("state", "state,score", "board,best"))
    of = {"positions": ("start", "#0", "b2", "1"), "position": ("start", "#4100"), "start": ("start",)}
    of |= {"file": ("values.jsonl",), "games": ("games.txt", "2"), "evaluate": ("odd.eval",), "hidden": ("4",)}
    of |= {"distance": ("1..3",), "ply": ("..2",), "memory": ("1G",), "max_bytes": ("1M",), "cluster": ("local:0",)}
    return chance.choice(of.get(name, ("1", "2")))


def _value(chance: random.Random, parameter, folder: Path) -> str:
    """A value that the parameter may be meant for, or any."""
    name, files = parameter.name, sorted(path.name for path in folder.iterdir())
    pick = chance.random()
    if pick < 0.05:
        return chance.choice((*TEXTS, *NUMBERS, *POSITIONS, *GAMES, *OUTPUTS, *files))
    if name in ("output", "book", "plot", "save") and parameter.param_type_name == "option":
        return chance.choice(OUTPUTS)
    if choices := getattr(parameter.type, "choices", None):
        return str(chance.choice(list(choices)))
    if name in ("source", "game", "game_text", "named", "first", "second", "book", "judge"):
        books, rules = ["good.lmdb", "chance.lmdb", "tic-tac-toe", "coins:7,2"], [f"rules.py::{one}" for one in CLASSES]
        return chance.choice(chance.choice((books, files, GAMES, rules)))
    if name in ("positions", "position", "start"):
        return chance.choice(POSITIONS)
    if name in ("file", "games", "evaluate", "module"):
        return chance.choice([*files, "/dev/null", "/proc/self/mem", "-"])
    if name == "columns":
        return chance.choice(("state", "state,score", "board,best", "tier", "state,state", "", ",", "nosuch"))
    sizes = ("1M", "8G", "0", "1..3", "..2", "3..1", "local", "local:0")
    return chance.choice(chance.choice((("1", "2"), NUMBERS, sizes)))


def _bounded(verb: str, words: list[str]) -> list[str]:
    """So that none takes long by right."""
    most = dict.fromkeys(("query", "play"), "--budget 0.01") | {"match": "--budget 0.01 --games 2"}
    return words + (most | {"learn": "--states 100", "estimate": "--seconds 1"}).get(verb, "").split()


def run(line: list[str], folder: Path, stdin: str) -> Ended:
    """Run a command line in a fork of this process."""
    outputs = [os.memfd_create(name) for name in ("out", "err")]
    process = os.fork()
    if process == 0:
        _become(line, folder, stdin, outputs)
    timer = threading.Timer(SECONDS, os.kill, (process, signal.SIGKILL))
    timer.start()
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    timer.cancel()
    timer.join()  # Python warns of a fork beside threads
    texts = []
    for descriptor in outputs:
        os.lseek(descriptor, 0, os.SEEK_SET)
        with open(descriptor, encoding="utf-8", errors="replace") as file:
            texts.append(file.read(1 << 20))
    return Ended(line, code, *texts)


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


def faults(seed: int, count: int, folder: Path) -> list[tuple[str, Ended]]:
    """The faults of so many command lines in a folder."""
    furnish(folder)
    chance = random.Random(seed)
    ended = [run(command_line(chance, folder), folder, chance.choice(STDIN)) for _ in range(count)]
    return [(fault, one) for one in ended if (fault := one.fault()) is not None]
