"""The steps of CONTRIBUTING.md for adding things, done once, and what the scripts count and time."""

import shutil
import subprocess
import sys
import types
from bisect import bisect_right

import pytest

from solver import Book, export, pack, solve, verify
from solver.base import extras
from solver.base.errors import DamagedBook, MethodError
from solver.base.options import Options
from solver.book import codecs, streaming
from solver.search.alphabeta import minimax
from solver.solving import pipeline
from solver.solving.job import Outcome, solved_by
from tests import ROOT, naive
from tests.refusals import raises
from tests.written import write_rules


def test_a_game_is_a_file_of_rules(tmp_path):
    with solve(write_rules(tmp_path / "race.py", fields="goal: int = 12"), tmp_path / "book.lmdb") as book:
        truth = naive.solve(book.game)
        assert {state: book[state] for state in book} == {state: truth[state] for state in book}
    assert verify(tmp_path / "book.lmdb", book.game).verdict == "proved"


def encode_chunk(keys, indices, palette_size, index_bytes, machine=None):
    """Groups of a byte, the number of states, eight bytes a state, and as many as an index takes for each."""
    groups, counts = [], []
    for first in range(0, len(keys), PLAIN.group):
        chosen = slice(first, first + PLAIN.group)
        states = b"".join(int(key).to_bytes(8, "little") for key in keys[chosen])
        values = b"".join(int(index).to_bytes(index_bytes, "little") for index in indices[chosen])
        counts.append(len(states) // 8)
        groups.append(bytes([counts[-1]]) + states + values)
    return b"".join(groups), counts, [*map(len, groups)]


def decode(body, first, index_bytes):
    count = body[0]
    if len(body) != 1 + count * (8 + index_bytes):
        raise DamagedBook("a group has another length than its states")
    values = body[1 + 8 * count :]
    keys = [int.from_bytes(body[1 + 8 * i : 9 + 8 * i], "little") for i in range(count)]
    return keys, [int.from_bytes(values[i * index_bytes : (i + 1) * index_bytes], "little") for i in range(count)]


def find(segment, key):
    view, firsts, starts, index_bytes = segment
    group = bisect_right(firsts, key) - 1
    keys, indices = decode(view[starts[group] : starts[group + 1]], firsts[group], index_bytes)
    return indices[keys.index(key)] if key in keys else None


FUNCTIONS = {"encode_chunk": encode_chunk, "finder": lambda: find, "decode": decode}
PLAIN = codecs.Codec("plain", 99, group=64, groups=64, block=64, **FUNCTIONS)


@pytest.mark.interpreted
def test_a_codec_is_a_record_of_three_functions(tmp_path, monkeypatch):
    monkeypatch.setitem(codecs.NAMES, "plain", "")
    monkeypatch.setitem(sys.modules, f"{codecs.__name__}.plain", types.SimpleNamespace(CODEC=PLAIN))
    with solve("tic-tac-toe", tmp_path / "instant.lmdb") as book:
        truth = dict(book.items())
    pack(tmp_path / "instant.lmdb", tmp_path / "plain.lmdb", "plain")
    with Book(tmp_path / "plain.lmdb") as book:
        assert book.header.codec == "plain" and dict(book.items()) == truth
        assert all(book[state] == value for state, value in truth.items())
    assert verify(tmp_path / "plain.lmdb").verdict == "proved"
    if extras.has_kernels():  # which the codec has none of: it goes the plain way
        monkeypatch.setattr(streaming, "PLAIN_LIMIT", 0)
        pack(tmp_path / "instant.lmdb", tmp_path / "again.lmdb", "plain")
        assert (tmp_path / "again.lmdb").read_bytes() == (tmp_path / "plain.lmdb").read_bytes()
        with Book(tmp_path / "again.lmdb") as book:
            assert book.lookup([*truth]).scores.tolist() == [value.score for value in truth.values()]
    pack(tmp_path / "plain.lmdb", tmp_path / "back.lmdb", "instant")
    assert (tmp_path / "back.lmdb").read_bytes() == (tmp_path / "instant.lmdb").read_bytes()


def test_a_way_of_solving_is_a_name_what_it_heeds_and_two_functions(tmp_path):
    def solve_plainly(job):
        return Outcome(solved_by(job.rules, minimax(job.rules).table), "minimax", "complete")

    way = types.SimpleNamespace(name="minimax alone", heeds=set(), refuses=lambda job: None, solve=solve_plainly)
    pipeline.run("tic-tac-toe", tmp_path / "own.lmdb", Options(), way)
    solve("tic-tac-toe", tmp_path / "usual.lmdb").close()
    assert (tmp_path / "own.lmdb").read_bytes() == (tmp_path / "usual.lmdb").read_bytes()
    raises(MethodError, "--table has no effect", pipeline.run, "tic-tac-toe", None, Options(table=1 << 20), way)
    way.refuses = lambda job: f"{job.rules.name} is refused"
    raises(MethodError, "tic-tac-toe is refused", pipeline.run, "tic-tac-toe", None, Options(), way)


def test_a_table_is_a_function_of_its_rows(tmp_path, monkeypatch):
    def write_tsv(table, path):
        path.write_text("".join("\t".join(map(str, row)) + "\n" for row in (table.names, *table.rows)))

    monkeypatch.setitem(export.TABLES, ".tsv", write_tsv)
    monkeypatch.setattr(export, "ENDINGS", (*export.ENDINGS, ".tsv"))
    with Book("tic-tac-toe") as book:
        export.export(book, tmp_path / "book.tsv", ["state", "score"])
        lines = (tmp_path / "book.tsv").read_text("utf-8").splitlines()
        assert lines[0] == "state\tscore"
        assert lines[1:] == [f"{state}\t{book[state].score}" for state in book]


sys.path.insert(0, str(ROOT / "scripts"))

import shape  # noqa: E402

BODY = "\n    x = 0" * 40
TAKEN = ", ".join("abcdefghi")


def test_lines_of_code_arguments_and_rooms_are_counted():
    for source, warning in (
        ("x = 0\n" * 401, "here.py: 401 lines of code, more than 400"),
        ("x = 0\n\n# why\n" * 400, None),
        (f"def f():{BODY}", "here.py:1: f has 41 lines of code, more than 40"),
        (f'def f():\n    """Do it.\n{BODY}\n    """\n    # why\n\n    return 0', None),
        (f"@numba.njit(cache=True)\ndef f():{BODY}", None),
        (f"@shared\ndef f():{BODY}{BODY}", "here.py:2: f has 81 lines of code, more than 60"),
        (f"def f({TAKEN}): ...", "here.py:1: f takes 9 arguments, more than 8"),
        (f"def f(self, a, *b, c, d, e, f, g, **h): {TAKEN}", None),
        (f"@click.command('solve')\ndef f({TAKEN}): ...", None),
    ):
        assert list(shape.warnings_of(source, "here.py")) == ([] if warning is None else [warning])
    tower = {f"room{number}": {f"room{below}" for below in range(number)} for number in range(25)}
    said = [line.partition(", more")[0] for line in shape.warnings_of_rooms(tower)]
    assert said == ["solver: 25 rooms", "solver: 25 floors", "solver: 300 arrows"]


@pytest.mark.posix("make and a shell")
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("failing", ["ruff", None])
def test_lint_runs_all_tools_and_then_fails_if_one_did(tmp_path, failing):
    for tool in ("ruff", "mypy", "python"):
        (tmp_path / tool).write_text(f"#!/bin/sh\necho {tool} ran\nexit {int(tool == failing)}\n")
        (tmp_path / tool).chmod(0o755)
    command = ["make", "--silent", "--assume-old=setup", f"BIN={tmp_path}", "lint"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    ran = [line.split()[0] for line in done.stdout.splitlines() if line.endswith(" ran")]
    assert (ran, done.returncode == 0) == (["ruff", "ruff", "mypy", "python"], failing is None)


PROGRAM = """
import sys
for line in sys.stdin:
    moves = line.strip()
    print({answer})
"""


@pytest.mark.posix("counts the time of children")
def test_another_program_is_timed_and_its_scores_are_read(tmp_path):
    pytest.importorskip("numba")
    import bench_search

    program = tmp_path / "program.py"
    for answer, scores in (
        ("moves, -3, 17, 0.5", [-3, -3]),
        ("f'score: {len(moves)} nodes: 12'", [2, 3]),
        ("'nothing' if moves == '12' else '7'", [None, 7]),
        ("'4') if moves == '12' else sys.exit(0", [4, None]),
    ):
        program.write_text(PROGRAM.format(answer=answer))
        seconds, found = bench_search.ask(f"{sys.executable} {program}", ["12", "334"])
        assert found == scores and seconds > 0
    report = bench_search.compare(f"{sys.executable} {program}", [("12", -3), ("334", 7)], 1.0)
    assert report["wrong"] == 2  # another score, and none


@pytest.mark.posix("counts the time of children")
def test_processes_are_timed_with_their_bytecode_written(monkeypatch):
    import benchmark

    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert benchmark.run([sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"]).output == "False\n"
