"""Books: what is written is read, look-ups, palettes, codecs, folding, writing."""

import contextlib
import importlib.util
import os
import random

import lmdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.base import errors, extras
from solver.base.value import Value
from solver.book import Book
from solver.book.check import check_book
from solver.book.codecs import codec_of, compact, instant
from solver.book.codecs.instant import GROUP_STATES
from solver.book.format import PALETTE_KEY, SEGMENT_SIZE, part_key
from solver.book.writer import write_book
from solver.rules.fingerprint import fingerprint
from solver.rules.game import load_game
from solver.solving import pipeline
from solver.verifying import verification
from tests import books, make_fifo, naive
from tests.games import LARGE_GAMES, SMALL_GAMES
from tests.refusals import failing, raises
from tests.ways import slow

states = st.integers(0, 2**63 - 1)
dense = st.integers(0, 5000)
some_values = st.sampled_from(books.VALUES)


@settings(max_examples=60)
@given(
    values=st.one_of(st.dictionaries(keys, some_values, max_size=600) for keys in (states, dense)),
    codec=st.sampled_from(books.KEYED_BY_STATE),
)
def test_what_is_written_is_read(tmp_path_factory, values, codec):
    books.assert_is_read(tmp_path_factory.mktemp("books") / "random.lmdb", values, codec=codec)


@pytest.mark.parametrize("codec", books.KEYED_BY_STATE)
@pytest.mark.parametrize("count", [0, 1, 2, GROUP_STATES - 1, GROUP_STATES, GROUP_STATES + 1, 20_000])
@pytest.mark.parametrize("spread", [0, 1, 200, 10**5, 10**10, 2**48])
def test_sizes_and_densities(path, count, spread, codec):
    sample = books.sample_values(count, spread=spread or 1e-9)
    values = {state: value for state, value in sample.items() if state < 2**63}
    books.assert_is_read(path, values, codec=codec)


@pytest.mark.parametrize("codec", books.KEYED_BY_STATE)
@pytest.mark.parametrize("size", [1, 2, 3, 17, 256, 257, 300, *slow(70_000)])
def test_palettes_of_any_size(path, size, codec):
    books.assert_is_read(path, {7 * state: Value(state * 31 % size) for state in range(max(1000, size))}, codec=codec)


def test_a_palette_beyond_the_header_has_records_of_its_own(tmp_path, path, monkeypatch):
    monkeypatch.setattr("solver.book.format.HEADER_SIZE", 8000)
    monkeypatch.setattr("solver.book.format.PALETTE_PART", 1000)
    values = {3 * state: Value(1, state) if state % 2 else Value(-1, state) for state in range(1, 2500)}
    books.assert_is_read(path, values | {1: Value(0)})
    for part in range(3):
        changes = (lambda record: None, lambda record: record[:-16], lambda record: record[::-1])
        for number, change in enumerate(changes):

            def damage(key, record, part=part, change=change):
                return change(record) if bytes(key) == part_key(PALETTE_KEY, part) else record

            copy = books.rewritten(path, tmp_path / f"damaged{part}{number}.lmdb", damage)
            raises(errors.DamagedBook, "palette", Book, copy)


def test_more_values_than_a_book_holds_are_refused_at_once(path, monkeypatch):
    monkeypatch.setattr("solver.book.format.MOST_VALUES", 2)
    values = {state: Value(1, state) for state in (1, 2, 3)}
    raises(errors.ResourceError, "a book holds 2 different values, not 3", books.write_values, path, values)


@pytest.mark.slow
def test_a_game_with_more_values_than_two_bytes_count(path):
    with pipeline.solve(load_game("coins:140000"), path) as book:
        assert len(book.header.palette) == 70_000 and book[140_000] == book.root
    assert verification.verify(path).states == 140_000


def test_groups_are_what_the_documentation_says():
    group = [1000, 1001, 1003], [7, 9, 7]
    payload, counts, lengths = instant.CODEC.encode_chunk(*group, 10, 1)
    assert (payload.hex(" "), counts, lengths) == ("08 02 01 07 09 02 0b", [3], [7])
    payload = bytes.fromhex("00 02 00 00 00 03 00 e3 06 00 63 e7 64 07 00")
    assert compact.decode(memoryview(payload), 1000, 1) == group
    found, counts, lengths = compact.encode_chunk(*group, 10, 1)
    assert (counts, lengths) == ([3], [len(found)])
    assert compact.decode(memoryview(found), 1000, 1) == group


def test_the_compiled_encoder_writes_the_same_bytes():
    np, compiled = pytest.importorskip("numpy"), pytest.importorskip("solver.book.codecs.arrays")
    for spread in (1, 300, 10**12):
        for palette_size, index_bytes in ((60, 1), (300, 2), (70_000, 4)):
            values = books.sample_values(3000, spread=spread)
            keys = sorted(values)
            indices = [books.VALUES.index(values[state]) * 1151 % palette_size for state in keys]
            arrays = np.array(keys), np.array(indices, np.int32)
            for name in books.KEYED_BY_STATE:
                codec = codec_of(name)
                plain, counts, lengths = codec.encode_chunk(keys, indices, palette_size, index_bytes)
                payload, *same = compiled.encoder_of(codec)(*arrays, palette_size, index_bytes)
                assert (bytes(payload), same) == (plain, [counts, lengths])
                assert (sum(counts), sum(lengths)) == (len(keys), len(plain))


def test_the_same_content_is_the_same_bytes(path):
    def backwards(function, parts):
        return reversed([function(part) for part in reversed(list(parts))])

    contents = set()
    for mapping in (map, map, backwards):
        books.write_values(path, books.sample_values(40_000), map=mapping)
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_many_states_are_looked_up_at_once(either, tmp_path):
    np = pytest.importorskip("numpy")
    pytest.importorskip("numba")
    path, values = either
    chance = random.Random(12)
    asked = chance.choices(sorted(values), k=1500)
    asked += [state + 1 for state in asked] + [chance.getrandbits(chance.choice((8, 20, 32, 63))) for _ in range(1500)]
    asked += [0, -1, -(2**63), 2**63 - 1, max(values), max(values) + 1, min(values), min(values) - 1]
    with Book(path) as book:
        for some in (asked, sorted(asked), asked[:1], []):
            assert books.looked_up(book, np.array(some, np.int64)) == [values.get(state) for state in some]
        assert [column.shape for column in book.lookup(np.full((3, 4), min(values), np.int32))] == [(3, 4)] * 3
        assert [column.dtype for column in book.lookup([min(values)])] == [np.int64, np.int64, bool]
        assert [column.shape for column in book.lookup(min(values))] == [()] * 3
        assert [column.shape for column in book.lookup([])] == [(0,)] * 3
        for odd in (np.array([2**63, 2**64 - 1], np.uint64), [-1, 2**63], [2**70], [-(2**70), np.uint64(2**63)]):
            assert not book.lookup(odd, missing="mask").known.any()
        for odd in ([1.5], ["1"], [None], np.array([4.0]), np.array([True]), [[1], [2, 3]], {4}, "4", [4, 5.0]):
            raises(errors.StateTypeError, "not a state: pass an int|one array of integers", book.lookup, odd)
    raises(errors.BookError, "is closed", book.lookup, [1])
    sparse = {2**60 + 2**38 * state * state: Value(state * 31 % 300) for state in range(3000)} | {7: Value(5)}
    with books.book_of(tmp_path / "sparse.lmdb", sparse, codec=book.header.codec) as book:
        asked = [*sparse, *(state + 1 for state in sparse)]
        assert books.looked_up(book, np.array(asked)) == [sparse.get(state) for state in asked]


def test_a_look_up_of_many_counts_the_states_that_are_missing(either):
    np = pytest.importorskip("numpy")
    pytest.importorskip("numba")
    path, values = either
    held = sorted(values)[:1000]
    gaps = [state for state in range(held[0], held[-1]) if state not in values][:7]
    with Book(path) as book:
        assert [*book.lookup(held).scores] == [values[state].score for state in held]
        for states, said in (
            (held[:3] + gaps, f"sample.lmdb lacks 7 of 10 states, the first is {gaps[0]} "),
            (np.array(gaps[::-1] + held).reshape(19, 53), f"lacks 7 of 1,007 states, the first is {gaps[-1]} "),
            ([held[0], 2**70, -1], f"lacks 2 of 3 states, the first is {2**70} "),
        ):
            with pytest.raises(errors.MissingState, match=said) as caught:
                book.lookup(states)
            assert isinstance(caught.value, KeyError) and 'missing="mask"' in str(caught.value)
        marked = book.lookup(held[:1] + gaps, missing="mask")
        assert marked.known.tolist() == [True] + [False] * 7
        assert set(marked.scores[1:].tolist()) == {-(2**63)} and set(marked.distances[1:].tolist()) == {-1}
        raises(errors.MethodError, 'missing=None is not .*"raise" or "mask"', book.lookup, held, missing=None)


@pytest.mark.parametrize("gone, said", [(("numpy", "numba"), "NumPy and Numba are"), (("numba",), "Numba is")])
def test_without_the_extra_states_are_looked_up_one_by_one(sample, monkeypatch, gone, said):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in gone else find(name))
    monkeypatch.setattr(extras, "kernel_defect", extras.kernel_defect.__wrapped__)
    with Book(sample[0]) as book:
        raises(errors.SolverError, f"arrays, and {said} missing: pip install", book.lookup, [1])


def test_states_are_integers_of_any_kind_and_nothing_else(either):
    path, values = either
    state = sorted(values)[100]
    with Book(path) as book:
        same = [type("Whole", (), {"__index__": lambda self: state})()]
        if importlib.util.find_spec("numpy"):
            import numpy as np

            same += [kind(state) for kind in (np.int16, np.int32, np.int64, np.uint16, np.uint64)] + [np.array(state)]
        for number in same:
            assert book[number] == book.get(number) == book.find(number) == values[state] and number in book
        for odd in (float(state), str(state), None, True, (state,)):
            for ask in (book.__getitem__, book.get, book.find, book.__contains__):
                raises(errors.StateTypeError, "not a state: pass an int", ask, odd)
    assert issubclass(errors.StateTypeError, TypeError) and issubclass(errors.StateTypeError, errors.PositionError)


def test_a_folded_book_knows_symmetric_states_or_says_that_it_cannot(tmp_path):
    game = load_game("connect-four:4,3")
    left, right = game.result(game.initial(), 0), game.result(game.initial(), 3)
    kept = game.canonical(left)
    gone = left + right - kept
    folded = {"symmetry": True, "game": "connect-four:4,3", "rules": fingerprint(game)}
    with books.book_of(tmp_path / "b.lmdb", {kept: Value(0)}, **folded) as book:
        assert book[gone] == Value(0) == book.get(gone) and gone in book
        assert (gone, Value(0)) not in book.items()
        assert books.looked_up(book, [gone, kept, 0, -1]) == [Value(0), Value(0), None, None]
        for odd in (-1, 2**63, 2**200, game.result(game.initial(), 1)):
            assert book.get(odd, "nothing") == "nothing" and odd not in book
    for facts, error, message in (
        ({"game": "own.py::Own"}, errors.ForeignBook, "folded by symmetry: .* outside this package: name its rules"),
        ({"rules": "1" * 64}, errors.ForeignBook, "may be folded by symmetry: .* was made by rules 11111111"),
        ({"symmetry": False}, errors.MissingState, f"state {gone} is not in b.lmdb"),
    ):
        with books.book_of(tmp_path / "b.lmdb", {kept: Value(0)}, **folded | facts) as book:
            assert book[kept] == Value(0) and kept in book and book.find(gone) is None and list(book) == [kept]
            asking = (book.get, book.__contains__, lambda state, book=book: book.lookup([kept, state]))
            for ask in (book.__getitem__, *(asking if error is errors.ForeignBook else ())):
                raises(error, message, ask, gone)


@pytest.mark.parametrize("codec", ["instant", "compact", "ranked"])
def test_a_folded_book_values_every_state_of_the_game(path, codec, monkeypatch):
    pytest.importorskip("numba")
    from solver.book import bulk

    game = load_game("connect-four:3,3,3")
    truth = {state: value for state, value in naive.solve(game).items() if not game.is_terminal(state)}
    with pipeline.solve(game, path, codec=codec) as book:
        assert len(book) < len(truth)
        asked = random.Random(3).sample(sorted(truth), 300)
        assert all(book[state] == truth[state] for state in asked)
        several = asked[:: 30 if codec == "ranked" else 1]
        for many in (bulk.PLAIN_LIMIT, 1) if codec == "instant" else (bulk.PLAIN_LIMIT,):
            monkeypatch.setattr(bulk, "PLAIN_LIMIT", many)
            assert books.looked_up(book, several) == [truth[state] for state in several]


FOLDED = [text for text in (*SMALL_GAMES, *LARGE_GAMES, "chess-ending:KBNK") if hasattr(load_game(text), "canonical")]


@pytest.mark.parametrize("text", FOLDED)
def test_a_folded_book_misses_any_number_but_images(path, text):
    """Its rules are asked for the canonical state of whatever is not a state at all."""
    game = load_game(text)
    chance = random.Random(8)
    with books.book_of(path, {5: Value(0)}, symmetry=True, game=text, rules=fingerprint(game)) as book:
        for _ in range(60):
            number = 6 + chance.getrandbits(chance.choice((5, 20, 40, 62)))
            with contextlib.suppress(ArithmeticError, LookupError, ValueError):  # rules need not bear it
                if game.canonical(number) == 5:
                    assert book[number] == Value(0)
                    continue
            raises(errors.MissingState, "is not in book.lmdb", book.__getitem__, number)


def test_nothing_is_left_behind_when_writing_fails(path):
    books.write_values(path, {1: Value(1, 1)})
    before = path.read_bytes()
    for failure in (ValueError, KeyboardInterrupt):
        raises(failure, None, books.write_values, path, {2: Value(1, 1)}, encode=failing(failure))
    assert path.read_bytes() == before and [*path.parent.iterdir()] == [path]


def test_a_book_that_no_reader_takes_is_not_written(path):
    for facts, reason in (
        ({"game": "graph:bad\x07name.csv"}, "not a name of a game"),
        ({"root": Value(1, None)}, "no value of such a game"),
        ({"root": Value(1, 2**64)}, "numbers are below 2.*63"),
    ):
        raises(errors.BookError, reason, books.write_values, path, {1: Value(1, 1), 2: Value(-1, 2)}, facts=facts)
    assert not list(path.parent.iterdir())


@pytest.mark.posix("names of files that Windows does not take")
@pytest.mark.parametrize("name", ["bad\x07name.csv", "turned\u202ename.csv"])
def test_names_that_no_book_can_hold_are_refused_before_solving(tmp_path, name):
    (tmp_path / name).write_text("state,next\na,b\nb,\n")
    with pytest.raises(errors.GameError, match="not a valid game name: rename the file") as refused:
        pipeline.solve(str(tmp_path / name), tmp_path / "book.lmdb")
    assert str(refused.value).isprintable()


def test_states_out_of_order_are_refused(path):
    header = books.header_of(dict.fromkeys(range(512), Value(0)))
    write_book(path, header, [([*range(256, 512), *range(256)], [0] * 512)])
    raises(errors.DamagedBook, "not ascending", check_book, path)


@pytest.mark.parametrize("target", ["", "no/such/folder/book.lmdb", "fifo"])
def test_targets_that_cannot_be_written_are_refused_first(tmp_path, target):
    make_fifo(tmp_path / "fifo")
    reason = "is a folder|does not exist|is not a regular"
    raises(errors.BookError, reason, books.write_values, tmp_path / target, {1: Value(0)})


def test_a_full_disk_is_named(path, monkeypatch):
    full = lmdb.DiskError("mdb_txn_commit: No space left on device")
    monkeypatch.setattr("solver.book.writer._copy", failing(full))
    raises(errors.ResourceError, "is full .* make room", books.write_values, path, {1: Value(0)})
    assert list(path.parent.iterdir()) == []


def test_file_permissions_follow_the_umask(path):
    books.write_values(path, {1: Value(0)})
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_segments_fill_their_pages(sample):
    sizes = [len(record) for key, record in books.records_of(sample[0]).items() if len(key) == 8]
    assert max(sizes) <= SEGMENT_SIZE
    assert min(sizes[:-1]) > SEGMENT_SIZE - 1000
