"""Games and options that a solve refuses: before any work, in one line, and leaving nothing behind."""

import errno
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from solver.base import extras, options, system
from solver.base.errors import GameError, MethodError, ResourceError
from solver.base.extras import LEAST_MEMORY, MEMORY_SHARE, free_memory
from solver.base.files import hold
from solver.base.kinds import Method
from solver.book import Book, shipped
from solver.rules.game import load_game
from solver.solving import pipeline
from tests.commands import run
from tests.processes import BY_KERNELS
from tests.refusals import failing, raises
from tests.ways import by_kernels, compiled, plainly
from tests.written import write_rules


@pytest.mark.parametrize("max_ply", [1, 40])  # the last beyond all new states
@pytest.mark.parametrize("text", ["mu-torere", "pong-hau-ki", "nine-holes"])
def test_opening_books_of_games_with_cycles_are_refused(tmp_path, monkeypatch, text, max_ply):
    plainly(monkeypatch)
    message = f"{text} has cycles, .*: use retrograde analysis"
    raises(MethodError, message, pipeline.solve, load_game(text), tmp_path / "book.lmdb", max_ply=max_ply)
    assert list(tmp_path.iterdir()) == []


def test_a_method_that_nobody_knows_is_refused():
    raises(MethodError, "no method 'magic': choose one of", pipeline.solve, "coins", method="magic")


def test_plain_python_ends_where_the_memory_does(monkeypatch, tmp_path):
    plainly(monkeypatch)
    for method in (Method.MINIMAX, Method.RETROGRADE):
        monkeypatch.setattr(method, "facts", method.facts._replace(state_bytes=1 << 20))
    with pytest.raises(ResourceError, match="states are too many for plain Python .*pip install.* --memory"):
        pipeline.solve(load_game("connect-four"), tmp_path / "book.lmdb", memory=LEAST_MEMORY)
    assert list(tmp_path.iterdir()) == []


GIB = 1 << 30
INACTIVE = f"anon 1\ninactive_file {2 * GIB}\n"
GROUPS = [  # of a process, files of control groups, in gibibytes or texts, free gibibytes
    ("", {}, 10),
    ("0::/", {"memory.max": "max"}, 10),
    # the group's own limit, what files take of it not counted
    ("0::/a/b", {"a/b/memory.max": 8, "a/b/memory.current": 6, "a/b/memory.stat": INACTIVE}, 4),
    # that of the group around it
    ("0::/a/b", {"a/memory.high": 3, "a/memory.current": 0, "a/b/memory.max": 8, "a/b/memory.current": 0}, 3),
    # version 1, in a container that sees its own group as the top
    ("3:memory,hugetlb:/docker/1\n", {"memory/memory.limit_in_bytes": 5, "memory/memory.usage_in_bytes": 1}, 4),
]


@pytest.mark.parametrize(("group", "files", "free"), GROUPS, ids=range(len(GROUPS)))
def test_free_memory_is_what_the_control_groups_leave(tmp_path, group, files, free):
    texts = {"proc/meminfo": f"MemTotal: 1 kB\nMemAvailable: {10 * GIB >> 10} kB\n", "proc/self/cgroup": group}
    texts |= {f"sys/fs/cgroup/{name}": fact if type(fact) is str else str(fact * GIB) for name, fact in files.items()}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert free_memory(tmp_path) == int(MEMORY_SHARE * free * GIB)


@pytest.mark.parametrize("kernels", [False, pytest.param(True, marks=compiled)])
def test_rules_that_fail_where_no_random_game_went_are_named_with_the_state(tmp_path, monkeypatch, kernels):
    if kernels:
        by_kernels(monkeypatch)
    monkeypatch.setattr("solver.solving.job.random_games", lambda game, progress: [])
    failing = write_rules(tmp_path / "failing.py", result="state + action + 0 // (7 - state)", tier="state")
    raises(GameError, r"state 7.*fails: ZeroDivisionError", pipeline.solve, load_game(failing), tmp_path / "book.lmdb")
    assert [path.name for path in tmp_path.glob("book*")] == []


@compiled
@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [
        ("numpy", "raise ImportError('a C\\n library')", "(ImportError: a C library): install it again"),
        ("numba", "raise SystemError('built for 2.0')", "(SystemError: built for 2.0): install it again"),
    ],
)
def test_a_broken_installation_is_named_and_done_without(tmp_path, name, code, reason):
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(code)
    first = [str(tmp_path), str(Path(pipeline.__file__).parents[2])]
    code = f"import sys; sys.path[:0] = {first}; {BY_KERNELS}"
    command = [sys.executable, "-c", code, "solve", "kalah:2,3", "-o", "book.lmdb"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr.startswith(f"Note: {options.PLAINLY}: ")
    assert f" is installed but fails {reason}" in done.stderr and done.stderr.count("\n") == 1
    assert Book(tmp_path / "book.lmdb").header.stored == 80


def make_large(name):
    with open(name, "wb") as file:
        file.truncate(1 << 40)


ODD_FILES = {"folder": os.mkdir}
if sys.platform != "win32":  # which has no such pipes and devices, nor files with holes
    ODD_FILES |= {"fifo": os.mkfifo, "zero": lambda name: os.symlink("/dev/zero", name), "large": make_large}


@pytest.mark.parametrize(
    ("command", "code", "too_large"),
    [
        ("info BOOK", 5, 5),
        ("info FILE", 2, 2),
        ("query tic-tac-toe start --evaluate FILE", 2, 2),
        ("play tic-tac-toe --evaluate FILE", 2, 2),
        ("match BOOK evaluate", 2, 5),
        ("match FILE evaluate", 2, 2),
        ("import FILE tic-tac-toe -o b.lmdb", 2, 2),
        ("grade tic-tac-toe FILE", 2, 2),
        ("solve tree:FILE", 2, 2),
        ("check FILE::Game", 2, 2),
    ],
)
def test_no_input_is_waited_for_or_without_end(tmp_path, monkeypatch, command, code, too_large):
    monkeypatch.chdir(tmp_path)
    for name, make in ODD_FILES.items():
        make(name)
        make(f"{name}.py")
        found, out, err = run(*command.replace("FILE", f"{name}.py").replace("BOOK", name).split())
        assert (found, out) == (too_large if name == "large" else code, ""), err
        assert err.splitlines()[-1].startswith("Error: ") and "Traceback" not in err
    assert sorted(os.listdir()) == sorted([*ODD_FILES, *(f"{name}.py" for name in ODD_FILES)])


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"result": "len([0] * (1 << 60))"}, 6, "state 0: .*MemoryError"),
        ({"tier": "(1 << 64) + state"}, 2, "state 0.*: has tier 18446744073709551616"),
        ({"actions": "None"}, 2, r"state 0: actions\(0\) fails"),
    ],
)
def test_rules_that_fail_are_told_from_memory_that_does_not_suffice(tmp_path, body, code, message):
    odd = write_rules(tmp_path / "race.py", **body)
    for command in ("solve", "check", "line", "play"):
        found, _, err = run(command, odd, "-q", stdin="quit\n")
        assert found == code and re.match(f"Error: .*{message}", err), err


@pytest.mark.parametrize(
    "name", ["book.lmdb/", "no/book.lmdb", "n" * 255, "n" * 5000, "folder/../book.lmdb/", "/dev/full", "."]
)
def test_names_that_no_file_can_have_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    book = shipped.path_of("coins")
    commands = ["solve connect-four -o", f"pack {book} -o", f"learn {book} -o", "info coins --plot"]
    for command in [*commands, *["export coins -o"] * (not name.endswith("/"))]:  # which is a page
        code, _, err = run(*command.split(), name)
        assert code == 2 and err.splitlines()[-1].startswith("Error: "), err
    assert os.listdir() == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_names_that_are_no_text_are_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book = os.fsdecode(b"\xff.lmdb")
    code, out, _ = run("solve", "coins", "-o", book)
    assert code == 0 and "written to \\udcff.lmdb" in out
    for command in ("verify", "info", "query"):
        assert run(command, book, *["start"][: command == "query"])[0] == 0
    assert run("export", book, "-o", os.fsdecode(b"\xff.csv"))[0] == 0
    assert sorted(os.listdir(b".")) == [b"\xff.csv", b"\xff.lmdb"]


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="a file that cannot be read")
@pytest.mark.posix("/proc")
def test_a_file_that_cannot_be_read_is_said():
    said = "Error: /proc/self/mem cannot be read (Input/output error): fetch it again\n"
    assert run("info", "/proc/self/mem") == (5, "", said)


@pytest.fixture
def config():
    """Numba's settings, which are looked at anew."""
    yield pytest.importorskip("numba").config
    for function in (extras.kernel_defect, extras.has_cache):
        function.cache_clear()


def test_where_numba_must_not_compile_plain_python_runs(config, monkeypatch):
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    extras.kernel_defect.cache_clear()
    assert "NUMBA_DISABLE_JIT" in extras.remedy() and not extras.has_kernels()


@pytest.mark.interpreted
@pytest.mark.parametrize("words", ["prove hex:2 --table 64K", "grow connect-four:4,3 --positions 2 --depth 1"])
def test_one_process_at_a_time_writes_a_book(tmp_path, words):
    book, locked = tmp_path / "book.lmdb", tmp_path / "book.lmdb.lock"
    command = (*words.split(), "-q", "-o", book)
    descriptor = hold(locked, book)
    code, _, error = run(*command)
    assert code == 6
    assert error == f"Error: {book} is locked by process {os.getpid()}: wait for it, or name another book\n"
    os.close(descriptor)  # as when the process is killed: the file stays
    assert locked.exists() and run(*command)[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["book.lmdb"]


@pytest.fixture
def tight(monkeypatch):
    """No memory for libraries, none of which is loaded yet."""
    for name in ("numba", "sklearn.neural_network"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(system, "Room", failing(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))))
    # Nothing is remembered
    monkeypatch.setattr(extras, "kernel_defect", extras.kernel_defect.__wrapped__)


@compiled
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("prove", "hex:3", "-o", "b.lmdb"), 6),
        (("grow", "hex:3", "--positions", 20, "-o", "b.lmdb"), 6),
        (("learn", "tic-tac-toe", "-o", "b.eval"), 6),
        (("match", "random", "random", "--game", "tic-tac-toe"), 6),
        (("estimate", "tic-tac-toe"), 6),
        (("solve", "tic-tac-toe", "-q", "-o", "b.lmdb"), 0),
    ],
)
def test_libraries_that_do_not_fit_in_memory_are_not_called_broken(tight, tmp_path, monkeypatch, words, code):
    monkeypatch.chdir(tmp_path)
    actual, _, error = run(*words)
    assert actual == code, error
    assert bool(code) == ("NumPy and Numba need " in error and "raise the limit (ulimit -v)" in error), error
    assert error.count("Error: ") == bool(code)


@compiled
@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="needs scikit-learn")
def test_scikit_learn_is_not_loaded_where_it_does_not_fit(tight, monkeypatch):
    monkeypatch.setattr(extras, "kernel_defect", lambda: None)
    raises(ResourceError, "scikit-learn and SciPy need .* bytes of addresses: raise the limit", extras.require_learning)


def test_without_a_place_for_its_cache_numba_compiles_all_the_same(config, monkeypatch):
    from solver.store.shared import shared

    monkeypatch.setattr(config, "CACHE_LOCATOR_CLASSES", "UserProvidedCacheLocator")
    monkeypatch.setattr(config, "CACHE_DIR", "")
    for function in (extras.kernel_defect, extras.has_cache):
        function.cache_clear()
    assert extras.has_kernels() and not extras.has_cache()

    def doubled(number):
        return 2 * number

    assert shared(doubled)(21) == 42


COUNTED = """
from functools import cache

COUNT, SEEN = 0, {}

@cache
def is_over(state):
    return state == 9
"""


@pytest.mark.parametrize(
    ("result", "changed"),
    [("global COUNT; COUNT += 1", "COUNT"), ("SEEN[state] = action", "SEEN"), ("SEEN.get(state)", None)],
)
@pytest.mark.parametrize("options", [{}, {"max_ply": 3}, {"method": "alphabeta"}])
def test_rules_that_change_what_they_name_are_refused(tmp_path, monkeypatch, result, changed, options):
    """Their book would be one of other rules at once. What is kept by functools.cache is not a rule."""
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    path = tmp_path / "book.lmdb"
    bodies = {"actions": "yield 1", "result": f"{result}\nreturn state + action", "is_terminal": "is_over(state)"}
    game = load_game(write_rules(tmp_path / "counting.py", head=COUNTED, **bodies))
    if changed is None:
        with pipeline.solve(game, path, **options) as book:
            assert book.root.score
        return
    raises(GameError, f": {changed} changed while the rules ran", pipeline.solve, game, path, **options)
    assert [file.name for file in tmp_path.glob("*.lmdb*")] == []
