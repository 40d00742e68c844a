"""Books of states of more than 63 bits, and the books that such games have."""

import contextlib
import dataclasses
import functools
import json
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver import Player
from solver.base import extras
from solver.base.errors import BookError, MissingState
from solver.base.options import Options
from solver.base.value import Value
from solver.book import Book
from solver.book.solution import Trim
from solver.book.streaming import pack
from solver.edit.comparing import diff, merge, sample
from solver.edit.trimming import trim
from solver.export import export
from solver.games.connect_four import ConnectFour
from solver.solving import pipeline
from solver.solving.ways.grown import Growing
from solver.verifying import verification
from tests.books import VALUES, assert_is_read, looked_up
from tests.refusals import raises
from tests.rules.test_wide import Declared
from tests.ways import plainly

verify = functools.partial(verification.verify, search=1e9)  # a search ends, however slow the machine is


states = st.one_of(st.integers(0, (1 << width) - 1) for width in (8, 64, 65, 128))


@settings(max_examples=25)
@given(
    values=st.dictionaries(states, st.sampled_from(VALUES), max_size=600),
    base=st.integers(0, (1 << 511) - (1 << 128)),
)
def test_what_is_written_is_read(tmp_path_factory, values, base):
    values = {base + state: value for state, value in values.items()}
    path = tmp_path_factory.mktemp("books") / "random.lmdb"
    assert_is_read(path, values, steps=(-1, 1, 1 << 64, -(1 << 64)), state_bytes=64)


def test_states_of_64_bits_are_not_taken_for_those_of_63(path, monkeypatch):
    plainly(monkeypatch)
    game = type("Full", (ConnectFour,), {"bits": 64})(3, 3, 3)
    with pipeline.solve(game, path, max_ply=2) as book:
        assert book.header.state_bytes == 16 and len(book) > 5


def test_many_segments_and_parts_of_the_directory(path, monkeypatch):
    monkeypatch.setattr("solver.book.format.DIRECTORY_PART", 16)
    values = {number * 3**300: Value(number % 2) if number % 2 == 0 else Value(1, number) for number in range(5000)}
    assert_is_read(path, values, state_bytes=64)
    with Book(path) as book:
        assert len(book.directory) > 4 and book.header.longest == (4999, 4999 * 3**300)
        asked = [3**300 * number + number % 2 for number in range(90)] + [1 << 64, -1]
        if extras.has_kernels():
            assert looked_up(book, asked) == [values.get(state) for state in asked]
            raises(MissingState, f"lacks 2 of 3 states, the first is {1 << 64} ", book.lookup, [3**300, 1 << 64, -1])


@pytest.fixture(scope="module")
def opening(tmp_path_factory):
    """Opening books of one game, declared once with 63 bits and once with 100."""
    folder = tmp_path_factory.mktemp("opening")
    with pytest.MonkeyPatch.context() as patch:
        plainly(patch)
        patch.setattr("solver.solving.job.random_games", lambda game, progress: [])
        for name, game in (("narrow", ConnectFour(3, 3, 3)), ("wide", Declared(3, 3, 3))):
            pipeline.solve(game, folder / name, max_ply=3).close()
    return folder / "narrow", folder / "wide"


def test_an_opening_book_has_the_same_values_in_any_width(opening):
    narrow, path = opening
    with Book(narrow) as one, Book(path, Declared(3, 3, 3)) as book:
        assert dict(book.items()) == dict(one.items())
        assert (book.header.codec, book.header.state_bytes, one.header.state_bytes) == ("instant", 16, 0)
        assert book.header.longest == one.header.longest
        start = book.game.initial()
        assert Player(book).analyse(start) == Player(one).analyse(start)
        assert all(book[state] == one[state] for state in map(one.rules.canonical, one))
    assert verify(path, Declared(3, 3, 3)).verdict == "proved"


def test_what_is_made_of_a_book_takes_wide_states(opening, tmp_path):
    _, path = opening
    kinds = {"trimmed": {"max_ply": 1}, "small": {"max_bytes": path.stat().st_size}}
    for name, options in (kinds | {"first": {"side": "first", "plies": 1}}).items():
        trim(path, tmp_path / f"{name}.lmdb", Trim(**options), Declared(3, 3, 3))
        assert verify(tmp_path / f"{name}.lmdb", Declared(3, 3, 3)).verdict == "proved"
    difference = diff(tmp_path / "trimmed.lmdb", path)
    assert difference.only_second > 0 == difference.only_first == difference.other_values
    merge(tmp_path / "trimmed.lmdb", path, tmp_path / "merged.lmdb")
    with Book(tmp_path / "merged.lmdb") as merged, Book(path, Declared(3, 3, 3)) as book:
        assert dict(merged.items()) == dict(book.items()) and merged.header.state_bytes == 16
        assert dict(sample(book, 10)).items() <= dict(book.items()).items()


def test_another_codec_is_refused(opening, path):
    raises(BookError, "has states of 128 bits, the codec compact takes 63", pack, opening[1], path)
    assert pack(opening[1], path, "instant", Declared(3, 3, 3)).state_bytes == 16
    assert path.read_bytes() == opening[1].read_bytes()


def test_tables_have_wide_states_as_text_and_are_imported(opening, tmp_path):
    _, path = opening
    with Book(path, Declared(3, 3, 3)) as book:
        for ending in (".jsonl", ".sqlite", ".csv"):
            export(book, tmp_path / f"table{ending}")
        rows = [json.loads(line) for line in (tmp_path / "table.jsonl").read_text("utf-8").splitlines()]
        assert [row["state"] for row in rows] == [str(state) for state in book]
        with contextlib.closing(sqlite3.connect(tmp_path / "table.sqlite")) as table:
            assert {int(state) for (state,) in table.execute("select state from states")} == set(book)
        values = dict(book.items())
    pipeline.import_values(Declared(3, 3, 3), tmp_path / "table.jsonl", tmp_path / "again.lmdb")
    with Book(tmp_path / "again.lmdb") as book:
        assert dict(book.items()) == values


@pytest.mark.slow
def test_a_grown_book_has_the_same_values_in_any_width(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr("solver.solving.ways.grown.ROUND", 4)
    plan = Growing(positions=60, depth=2, error=2.0, exact=40)
    for game in (ConnectFour(4, 4), Declared(4, 4)):
        name = type(game).__name__
        pipeline.grow(game, tmp_path / name, plan, Options(workers=1))
        pipeline.grow(game, tmp_path / name, dataclasses.replace(plan, positions=120), Options(workers=2))
    path = tmp_path / "Declared"
    with Book(tmp_path / "ConnectFour") as one, Book(path, Declared(4, 4)) as book:
        assert dict(book.items()) == dict(one.items()) and book.header.state_bytes == 16
    assert verify(path, Declared(4, 4)).verdict == "consistent"
    trim(path, tmp_path / "trimmed", Trim(max_ply=1), Declared(4, 4))
    assert diff(tmp_path / "trimmed", path).only_second > 0
