"""The steps of CONTRIBUTING.md for adding things, done once."""

import sys
import types
from bisect import bisect_right
from pathlib import Path

import pytest

from solver import Book, export, pack, solve, verify
from solver.base import extras
from solver.base.errors import DamagedBook, MethodError
from solver.base.options import Options
from solver.book import codecs, streaming
from solver.search.alphabeta import minimax
from solver.solving import pipeline
from solver.solving.job import Outcome, solved_by
from tests import naive
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


READERS = Path(codecs.__file__).parents[2] / "web" / "reader"
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


def test_every_codec_has_a_reader_for_pages():
    for codec in map(codecs.codec_of, codecs.NAMES):
        reader = (READERS / f"{codec.name}.js").read_text("utf-8")
        assert f'export const NAME = "{codec.name}";\nexport const NUMBER = {codec.number};\n' in reader
        assert ("export const asksRules = true;" in reader) == codec.asks_rules
        assert ("export const takesAll = true;" in reader) == codec.takes_all
