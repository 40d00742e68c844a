"""The steps of CONTRIBUTING.md for adding things, done once."""

import re
import types
from bisect import bisect_right
from pathlib import Path

import pytest

from solver import Book, export, load_game, pack, solve, verify
from solver.base import extras
from solver.base.errors import DamagedBook, MethodError
from solver.base.options import Options
from solver.book import codecs, streaming
from solver.search.alphabeta import minimax
from solver.solving import pipeline
from solver.solving.job import Outcome, solved_by
from tests import naive
from tests.conftest import FailuresAsTheyCome
from tests.refusals import raises

READERS = Path(codecs.__file__).parents[2] / "web" / "reader"
SUBTRACTION = '''
"""Subtraction: take one to three of a heap; who takes the last one wins (Berlekamp, Conway and Guy, 1982)."""

from typing import NamedTuple

class Subtraction(NamedTuple):
    heap: int = 21
    def initial(self): return self.heap << 1
    def to_move(self, state): return state & 1
    def actions(self, state): return range(1, min(3, state >> 1) + 1)
    def result(self, state, action): return (state - 2 * action) ^ 1
    def is_terminal(self, state): return state < 2
    def utility(self, state): return -1
'''


def test_a_game_is_a_file_of_rules(tmp_path):
    (tmp_path / "subtraction.py").write_text(SUBTRACTION)
    name = f"{tmp_path / 'subtraction.py'}:12"
    with solve(name, tmp_path / "book.lmdb") as book:
        game = load_game(name)
        truth = naive.solve(game)
        assert {state: book[state] for state in book} == {state: truth[state] for state in book}
        assert book.root.score == -1  # a multiple of four
    assert verify(tmp_path / "book.lmdb", game).verdict == "proved"


def encode_chunk(keys, indices, palette_size, index_bytes, machine=None):
    """Groups of a byte, the number of states, eight bytes a state, and as many as an index takes for each."""
    out, counts, lengths = b"", [], []
    for first in range(0, len(keys), PLAIN.group):
        group = list(zip(keys[first : first + PLAIN.group], indices[first : first + PLAIN.group], strict=True))
        states = b"".join(int(key).to_bytes(8, "little") for key, _ in group)
        values = b"".join(int(index).to_bytes(index_bytes, "little") for _, index in group)
        out += bytes([len(group)]) + states + values
        counts.append(len(group))
        lengths.append(1 + len(states) + len(values))
    return out, counts, lengths


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


def test_every_codec_has_a_reader_for_pages():
    for codec in map(codecs.CODECS.__getitem__, codecs.NAMES):
        reader = (READERS / f"{codec.name}.js").read_text("utf-8")
        assert f'export const NAME = "{codec.name}";\nexport const NUMBER = {codec.number};\n' in reader
        assert ("export const asksRules = true;" in reader) == codec.asks_rules
        assert ("export const takesWide = true;" in reader) == codec.takes_wide
        assert ("export class Steps" in reader) == codec.is_stepped


def test_a_codec_is_a_record_of_three_functions(tmp_path, monkeypatch):
    monkeypatch.setitem(codecs.NAMES, "plain", "")
    monkeypatch.setitem(codecs.CODECS, "plain", PLAIN)
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
    with pytest.raises(MethodError, match="--table has no effect with minimax alone"):
        pipeline.run("tic-tac-toe", None, Options(table=1 << 20), way)
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


def test_a_failure_is_printed_when_it_happens(request):
    lines = []
    watch = FailuresAsTheyCome(types.SimpleNamespace(write_line=lambda line, **colours: lines.append(line)))
    for outcome, said in (("passed", None), ("failed", "OSError: no\nmore")):
        watch.pytest_runtest_logreport(pytest.TestReport("a.py::b", ("a.py", 1, "b"), {}, outcome, said, "call"))
    assert lines[0] == "\nFAILED a.py::b: OSError: no"
    assert re.fullmatch(r"a\.py:2; to run it alone: .+ -m pytest -m '' a\.py::b", lines[1]) and len(lines) == 2
