"""Exports: other programs read the book's values back."""

import contextlib
import csv
import io
import json
import os
import re
import sqlite3
import struct
import sys
import tracemalloc
import zlib

import pytest

import solver
from solver import Trim, trim
from solver.base.errors import MethodError
from solver.base.value import Value
from solver.book import Book
from solver.book.format import seal
from solver.export import COLUMNS, ENDINGS, TABLES, export, site
from solver.export.bin import PREFIX
from solver.export.tables import Table, stream_csv
from solver.play.player import Player
from solver.rules.fingerprint import fingerprint
from solver.rules.game import load_game
from solver.rules.notation import format_action, show
from tests.books import book_of, sample_values, write_expectations, write_values
from tests.commands import ok
from tests.exports import FORMAT, SIMPLE, STEPS_VECTOR, VECTOR, dump, exported
from tests.processes import python
from tests.refusals import failing, fails, raises
from tests.written import write_rules, write_third


def rows_of(source):
    """The expected tables of a book, made in another way."""
    with Book(source) as book:
        player, game = Player(book), book.game
        for state, value in book.items():
            best = [format_action(game, state, move.action) for move in player.analyse(state) if move.best]
            mover = 1 if show(game, state).endswith("W to move") else 2
            yield state, "/".join(game.cells(state, mover - 1)), mover, value.outcome, *value, game.tier(state), best


def read(path):
    """The names and rows of a table, read by what others would use."""
    if path.suffix == ".csv":
        with open(path, newline="", encoding="utf-8") as file:
            return typed(*csv.reader(file))
    if path.suffix == ".jsonl":
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return list(lines[0]), [tuple(line.values()) for line in lines]
    if path.suffix == ".parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
        return table.column_names, list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert path.suffix == ".sqlite", f"no reader of {path.suffix}: add one to read() of tests/export/test_export.py"
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        cursor = database.execute("SELECT * FROM states")
        return typed([column[0] for column in cursor.description], *cursor)


def typed(names, *rows):
    """The names and rows of a table of texts, of the types that the columns have."""

    def value(kind, text):
        return None if text in ("", None) else text.split(" ") if kind is list else kind(text)

    kinds = [COLUMNS[name] for name in names]
    return names, [tuple(map(value, kinds, row)) for row in rows]


def test_no_text_of_a_csv_is_a_formula():
    rows = [(1, "=1+1\n+---", -1, None, ["-2", "3"]), (2, "|+|", 0, -3, ["\t1"]), (3, "@x", 1, 5, None)]
    file = io.StringIO(newline="")
    stream_csv(Table(["state", "board", "score", "distance", "best"], iter(rows), {}), file)
    first, *others = [*csv.reader(io.StringIO(file.getvalue(), newline=""))][1:]
    assert first == ["1", "'=1+1\n+---", "-1", "", "'-2 3"]
    assert others == [["2", "|+|", "0", "-3", "'\t1"], ["3", "'@x", "1", "5", ""]]


def test_texts_of_the_rules_stand_as_they_are(tmp_path):
    """Boards become one line, words of the page's own stay in a summary, and a start may be an end."""
    fields = '"""Race to the GAME-BOARD."""\ngoal: int = 2'
    race = write_rules(tmp_path / "race.py", fields=fields, show="f'=\\r\\n{state}\\r'")
    with solver.solve(race) as book:
        export(book, tmp_path / "b.csv", ["state", "board"])
        export(book, f"{tmp_path}/site/")
    assert (tmp_path / "b.csv").read_bytes() == b"state,board\n0,'=/0\n1,'=/1\n"
    assert '"Race to the GAME-BOARD. Solved' in (tmp_path / "site" / "index.html").read_text("utf-8")
    assert site.entry_of("race", load_game(f"{race}:0"), None)["board"] == "=\r\n0\r"


@pytest.mark.posix("pipes with names")
def test_a_pipe_gets_the_form_that_its_ending_says(small, tmp_path):
    for ending, begin in ((".csv", b"state,score\n"), (".jsonl", b'{"state":'), ("", b"state,score\n"), (".bin", None)):
        os.mkfifo(pipe := tmp_path / f"pipe{ending}")
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        if begin is None:
            raises(MethodError, "a stream is csv or jsonl: name a file for bin", export, small, pipe)
        else:
            export(small, pipe, ["state", "score"])
            assert os.read(reader, 1 << 16).startswith(begin)
        os.close(reader)


@pytest.mark.parametrize("ending", TABLES)
def test_tables_are_read_back(small, tmp_path, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    expected, chosen = list(rows_of(small)), ["distance", "best", "state"]
    assert read(exported(small, tmp_path / f"book{ending}")) == (list(COLUMNS), expected)
    few = [(row[5], row[7], row[0]) for row in expected]
    assert read(exported(small, tmp_path / f"few{ending}", chosen)) == (chosen, few)
    again = exported(small, tmp_path / f"again{ending}")
    assert again.read_bytes() == (tmp_path / f"book{ending}").read_bytes()


def test_a_database_says_what_book_it_is_of(small, tmp_path):
    with contextlib.closing(sqlite3.connect(exported(small, tmp_path / "book.sqlite", SIMPLE))) as database:
        about = dict(database.execute("SELECT name, value FROM about"))
    with Book(small) as book:
        assert (about["game"], about["digest"], about["states"]) == ("hexapawn", book.digest, "37")


@pytest.mark.parametrize("ending", [ending for ending in ENDINGS if ending != ".parquet"])
def test_states_of_any_size_and_no_states(tmp_path, ending):
    values = {state: Value(state % 3 - 1, None if state % 3 == 1 else 7) for state in (0, 2**53 + 1, 2**62, 2**63 - 1)}
    for number, some in enumerate((values, {})):
        source, target = tmp_path / f"{number}.lmdb", tmp_path / f"{number}{ending}"
        write_values(source, some)
        exported(source, target, None if ending == ".bin" else SIMPLE)
        if ending != ".bin" and some:
            assert read(target)[1] == [(state, *value) for state, value in some.items()]


def test_best_moves_are_those_that_are_known(tmp_path):
    trim("tic-tac-toe", tmp_path / "opening.lmdb", Trim(max_ply=1))
    _, rows = read(exported(tmp_path / "opening.lmdb", tmp_path / "opening.jsonl", ["tier", "best"]))
    (start,) = (best for *_, tier, best in rows_of("tic-tac-toe") if tier == 0)
    assert sorted(rows) == [(0, start), *[(1, None)] * 3]
    solver.solve("tic-tac-toe", tmp_path / "wdl.lmdb", wdl=True).close()
    _, rows = read(exported(tmp_path / "wdl.lmdb", tmp_path / "wdl.jsonl", ["state", "best"]))
    assert rows == [(row[0], row[-1]) for row in rows_of(tmp_path / "wdl.lmdb")]


@pytest.mark.parametrize("ending", [ending for ending in ENDINGS if ending != ".parquet"])
def test_nothing_is_left_of_an_export_that_fails(small, tmp_path, ending):
    (tmp_path / f".book{ending}.999999999.partial").write_text("left by an export that was killed")
    target = exported(small, tmp_path / f"book{ending}")
    before = target.read_bytes()
    with Book(small) as book:
        raises(KeyboardInterrupt, None, export, book, target, progress=failing(KeyboardInterrupt))
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_a_damaged_book_is_not_exported(tmp_path):
    with book_of(tmp_path / "book.lmdb", sample_values(20_000)) as book:
        *_, last = book.segments()
    data = bytearray((tmp_path / "book.lmdb").read_bytes())
    data[data.index(last) + len(last) // 2] ^= 1
    (tmp_path / "book.lmdb").write_bytes(data)
    for ending in (".csv", ".jsonl", ".sqlite", ".bin"):
        columns = [] if ending == ".bin" else ["--columns", "state,score"]
        fails(5, "fails its checksum", "export", tmp_path / "book.lmdb", "-o", tmp_path / f"book{ending}", *columns)
    assert [path.name for path in tmp_path.iterdir()] == ["book.lmdb"]


FULL = """
import resource, signal, sys
from solver.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
main(["export", *sys.argv[1:]])
"""


@pytest.mark.faults
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_is_said_in_one_line(tmp_path, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    write_values(tmp_path / "book.lmdb", sample_values(50_000))
    columns = [] if ending == ".bin" else ["--columns", "state,score"]
    done = python(FULL, tmp_path / "book.lmdb", "-o", tmp_path / f"full{ending}", *columns)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (6, "", 1), done.stderr
    assert "may have 20,000 bytes at most: raise the limit" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["book.lmdb"]


def test_memory_does_not_grow_with_the_book(tmp_path):
    write_values(tmp_path / "book.lmdb", sample_values(20_000))
    for ending in (".csv", ".bin"):
        tracemalloc.start()
        exported(tmp_path / "book.lmdb", tmp_path / f"book{ending}", SIMPLE if ending == ".csv" else None)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        tracemalloc.stop()


def test_what_cannot_be_exported_leaves_nothing(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    fails(2, "pip install 'solverbook[parquet]'", "export", small, "-o", tmp_path / "b.parquet")
    path, facts = tmp_path / "forged.lmdb", {"game": "hexapawn", "rules": fingerprint(load_game("hexapawn"))}
    write_values(path, {(1 << 60) + 5: Value(1, 1)}, facts=facts)
    fails(5, "is not a state of its game", "export", path, "-o", tmp_path / "forged.csv")
    assert [*tmp_path.iterdir()] == [path]


def test_a_game_of_your_own(tmp_path):
    rules = write_third(tmp_path / "third.py")
    path = tmp_path / "own.lmdb"
    values = {state: Value(1, state) for state in range(1, 9)}
    write_values(path, values, facts={"game": "third.py::Third", "rules": fingerprint(load_game(rules))})
    fails(5, "--game", "export", path, "-o", tmp_path / "own.csv")
    assert "own.csv: 8 states" in ok("export", path, "-o", tmp_path / "own.csv", "--columns", "state,score")
    assert read(tmp_path / "own.csv")[1] == [(state, 1) for state in values]
    assert "8 states" in ok("export", path, "-o", tmp_path / "own.bin")


@pytest.mark.parametrize("vector", [VECTOR, STEPS_VECTOR], ids=["values", "steps"])
def test_the_file_is_what_the_documentation_says(tmp_path, vector):
    (write_values if vector is VECTOR else write_expectations)(tmp_path / "vector.lmdb", vector)
    data = exported(tmp_path / "vector.lmdb", tmp_path / "vector.bin").read_bytes()
    prefix = PREFIX.unpack_from(data)
    _, _, codec, size, stored, book_id, facts, values, segments, index_bytes, _ = prefix
    assert (codec, size, stored, segments) == (0, len(data), 4, 1)
    assert (values, index_bytes) == ((3, 1) if vector is VECTOR else (0, 0))
    assert struct.unpack_from("<I", data, 60)[0] == zlib.crc32(data[:60])
    ends = [64, 64 + facts, 68 + facts + 16 * values, 72 + facts + 16 * (values + segments), size]
    parts = [data[begin:end] for begin, end in zip(ends, ends[1:], strict=False)]
    for number, part in zip((0, 1, 2, 0), parts, strict=True):
        assert part == seal(book_id, number, part[4:])
    text, said = FORMAT.read_text("utf-8"), [parts[0][4:].decode()]
    blocks = re.findall(r"^```(?:json|text)\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    if vector is VECTOR:
        assert json.loads(parts[0][4:])["longest"] == {"distance": 3, "state": "5"}
        assert blocks[:3] == [dump(data[:64]), *said, "\n".join(dump(part[4:]) for part in parts[1:])]
    else:
        assert blocks[3:] == [*said, dump(parts[2][4:]) + "\n" + dump(parts[3][4:])]
    assert f"The crc32 of `solver` is `{zlib.crc32(b'solver'):08x}`." in text
