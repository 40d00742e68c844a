"""Books: what was written is read, what is absent is missing, and no damaged file is believed."""

import concurrent.futures
import contextlib
import hashlib
import itertools
import multiprocessing
import os
import pickle
import random
import struct
import subprocess
import sys
import textwrap
import threading
import tracemalloc
import types
import zlib
from pathlib import Path

import lmdb
import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver import extras, pipeline, verification
from solver.book import Book, Header, check_book, pages, write_book
from solver.book.codecs import CODECS, compact, instant
from solver.book.codecs.instant import GROUP
from solver.book.format import HEADER_KEY, SEGMENT_SIZE, palette_key, seal, segment_key
from solver.book.segments import groups_of, segment_of
from solver.errors import BookError, DamagedBook, ForeignBook, GameError, MissingState, ResourceError, SolverError
from solver.fingerprint import fingerprint
from solver.game import load_game
from solver.games import CATALOGUE, FROM_FILES
from solver.value import Value
from tests.books import KEYED_BY_STATE, header_of, write_values
from tests.games import LARGE_GAMES, SMALL_GAMES

VALUES = [Value(0), *(Value(1, one) for one in range(1, 30)), *(Value(-1, one) for one in range(30))]


def sample_values(count, *, spread=6, seed=1):
    """States at random distances, values in runs, as in real games."""
    chance = random.Random(seed)
    values, state = {}, chance.randrange(1000)
    for _ in range(count):
        values[state] = VALUES[min(len(VALUES) - 1, int(chance.expovariate(0.2)))]
        state += 1 + int(chance.expovariate(1 / spread))
    return values


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A book of several segments, its path and its values."""
    return sample_book(tmp_path_factory, "instant")


@pytest.fixture(scope="module")
def compacted(tmp_path_factory):
    """The same, compact."""
    return sample_book(tmp_path_factory, "compact")


@pytest.fixture(params=["instant", "compact"])
def either(request):
    """Each of the two."""
    return request.getfixturevalue({"instant": "sample", "compact": "compacted"}[request.param])


def sample_book(tmp_path_factory, codec):
    path = tmp_path_factory.mktemp("books") / "sample.lmdb"
    values = sample_values(150_000)
    write_values(path, values, facts={"codec": codec})
    return path, values


states = st.integers(0, 2**63 - 1)
dense = st.integers(0, 5000)
some_values = st.sampled_from(VALUES)


@settings(max_examples=60, deadline=None)
@given(
    values=st.one_of(st.dictionaries(keys, some_values, max_size=600) for keys in (states, dense)),
    codec=st.sampled_from(KEYED_BY_STATE),
)
def test_what_is_written_is_read(tmp_path_factory, values, codec):
    path = tmp_path_factory.mktemp("books") / "random.lmdb"
    write_values(path, values, facts={"codec": codec})
    with Book(path) as book:
        assert dict(book.items()) == values
        assert list(book) == sorted(values)
        assert len(book) == len(values)
        for state, value in values.items():
            assert book[state] == value
        near = {state + step for state in values for step in (-1, 1)} - set(values)
        for state in near:
            assert book.get(state) is None
    assert check_book(path).stored == len(values)


@pytest.mark.parametrize("codec", KEYED_BY_STATE)
@pytest.mark.parametrize("count", [0, 1, 2, GROUP - 1, GROUP, GROUP + 1, 20_000])
@pytest.mark.parametrize("spread", [0, 1, 200, 10**5, 10**10, 2**48])
def test_sizes_and_densities(tmp_path, count, spread, codec):
    values = {state: value for state, value in sample_values(count, spread=spread or 1e-9).items() if state < 2**63}
    write_values(tmp_path / "book.lmdb", values, facts={"codec": codec})
    with Book(tmp_path / "book.lmdb") as book:
        assert dict(book.items()) == values
        chance = random.Random(2)
        for state in chance.sample(sorted(values), min(300, len(values))):
            assert book[state] == values[state]
            assert book.get(state + 1) == values.get(state + 1)


@pytest.mark.parametrize("codec", KEYED_BY_STATE)
@pytest.mark.parametrize("size", [1, 2, 3, 17, 256, 257, 300, 70_000])
def test_palettes_of_any_size(tmp_path, size, codec):
    values = {7 * state: Value(state * 31 % size) for state in range(max(1000, size))}
    write_values(tmp_path / "book.lmdb", values, facts={"codec": codec})
    with Book(tmp_path / "book.lmdb") as book:
        assert dict(book.items()) == values
        assert all(book[state] == values[state] for state in list(values)[::97])
    check_book(tmp_path / "book.lmdb")


def test_a_palette_beyond_the_header_has_records_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr("solver.book.format.HEADER_SIZE", 8000)
    monkeypatch.setattr("solver.book.format.PALETTE_PART", 1000)
    values = {3 * state: Value(1, state) if state % 2 else Value(-1, state) for state in range(1, 2500)}
    values[1] = Value(0)
    path = tmp_path / "book.lmdb"
    header = write_values(path, values)
    with Book(path) as book:
        assert dict(book.items()) == values
        assert book.header == header
        assert all(book[state] == values[state] for state in values)
    assert check_book(path) == header
    for part in range(3):
        changes = (lambda record: None, lambda record: record[:-16], lambda record: record[::-1])
        for number, change in enumerate(changes):

            def damage(key, record, part=part, change=change):
                return change(record) if bytes(key) == palette_key(part) else record

            with pytest.raises(DamagedBook, match="palette"):
                Book(rewritten(path, tmp_path / f"damaged{part}{number}.lmdb", damage))


def test_more_values_than_a_book_holds_are_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("solver.book.writer.MOST_VALUES", 2)
    with pytest.raises(ResourceError, match="a book holds 2 different values, not 3"):
        write_values(tmp_path / "book.lmdb", {state: Value(1, state) for state in (1, 2, 3)})


@pytest.mark.slow
def test_a_game_with_400_000_values(tmp_path):
    path = tmp_path / "coins.lmdb"
    header = pipeline.solve(load_game("coins:400000"), path).header
    assert len(header.palette) == 200_000
    with Book(path) as book:
        assert book.header == header
        assert book[400_000] == header.root
    assert verification.verify(path).states == 400_000


def test_a_codec_is_one_module_that_the_rest_of_a_book_does_not_know(tmp_path, monkeypatch):
    """Groups of 7 states, each with its index in four bytes: written, looked up, read whole and checked."""
    pair = struct.Struct("<QI")

    def encode_chunk(states, indices, palette_size, index_bytes):
        pairs = [pair.pack(*both) for both in zip(states, indices, strict=True)]
        groups = [b"".join(pairs[at : at + 7]) for at in range(0, len(pairs), 7)]
        return b"".join(groups), [len(group) // 12 for group in groups], [len(group) for group in groups]

    def decode(body, first, index_bytes):
        return [list(column) for column in zip(*pair.iter_unpack(body), strict=True)]

    def find(segment, state):
        return dict(pair for group in groups_of(header, segment[0]) for pair in zip(*group, strict=True)).get(state)

    codec = types.SimpleNamespace(
        NAME="pairs", NUMBER=9, GROUP=7, GROUPS=700, BLOCK=7, bound=lambda count, index_bytes: 12 * count,
        encode_chunk=encode_chunk, decode=decode, finder=lambda: find,
    )  # fmt: skip
    monkeypatch.setitem(CODECS, codec.NAME, codec)
    values = sample_values(7 * 1500)
    header = write_values(tmp_path / "book.lmdb", values, facts={"codec": codec.NAME}, part=7 * 700)
    assert check_book(tmp_path / "book.lmdb") == header
    with Book(tmp_path / "book.lmdb") as book:
        assert (dict(book.items()), book.get(max(values) + 1)) == (values, None)
        assert all(book[state] == values[state] for state in [*values][::100])
        assert dict(book.group(0, lambda count: count - 1)).items() <= values.items()


def test_groups_are_what_the_documentation_says():
    group = [1000, 1001, 1003], [7, 9, 7]
    payload, counts, lengths = instant.encode_chunk(*group, 10, 1)
    assert (payload.hex(" "), counts, lengths) == ("08 02 01 07 09 02 0b", [3], [7])
    payload = bytes.fromhex("00 02 00 00 00 03 00 e3 06 00 63 e7 64 07 00")
    assert compact.decode(memoryview(payload), 1000, 1) == group
    found, counts, lengths = compact.encode_chunk(*group, 10, 1)
    assert (counts, lengths) == ([3], [len(found)])
    assert compact.decode(memoryview(found), 1000, 1) == group


def test_the_compiled_encoder_writes_the_same_bytes():
    np = pytest.importorskip("numpy")
    pytest.importorskip("numba")
    from solver.sweep import pack

    for spread in (1, 300, 10**12):
        for palette_size, index_bytes in ((60, 1), (300, 2), (70_000, 4)):
            values = sample_values(3000, spread=spread)
            keys = sorted(values)
            indices = [VALUES.index(values[state]) * 1151 % palette_size for state in keys]
            arrays = np.array(keys), np.array(indices, np.int32)
            for name in KEYED_BY_STATE:
                codec = CODECS[name]
                plain, counts, lengths = codec.encode_chunk(keys, indices, palette_size, index_bytes)
                compiled, *same = pack.ENCODERS[name](*arrays, palette_size, index_bytes)
                assert (bytes(compiled), same) == (plain, [counts, lengths])
                assert (sum(counts), sum(lengths)) == (len(keys), len(plain))


def test_the_same_content_is_the_same_bytes(tmp_path):
    values = sample_values(40_000)

    def backwards(function, parts):
        return reversed([function(part) for part in reversed(list(parts))])

    digests = set()
    for place, mapping in enumerate((map, map, backwards)):
        path = tmp_path / f"book{place}.lmdb"
        write_values(path, values, map=mapping)
        digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(digests) == 1


def test_absent_states_are_missing_never_a_value(either):
    path, values = either
    with Book(path) as book:
        chance = random.Random(5)
        for _ in range(20_000):
            state = chance.getrandbits(chance.choice((8, 20, 32, 63)))
            assert book.get(state) == values.get(state)
        for odd in (-1, 2**63, 2**200, "4", None, 1.5, (1,)):
            assert book.get(odd, "nothing") == "nothing"
            assert odd not in book
        with pytest.raises(MissingState, match=r"state 2305843009213693952 is not in sample.lmdb"):
            book[2**61]


def looked_up(book, states):
    """What `lookup` says of states, as `get` would."""
    found = book.lookup(states)
    columns = (column.ravel().tolist() for column in found)
    return [
        Value(score, None if distance < 0 else distance) if known else None
        for score, distance, known in zip(*columns, strict=True)
    ]


def test_many_states_are_looked_up_at_once(either, tmp_path):
    np = pytest.importorskip("numpy")
    pytest.importorskip("numba")
    path, values = either
    chance = random.Random(12)
    asked = chance.choices(sorted(values), k=6000)
    asked += [state + 1 for state in asked] + [chance.getrandbits(chance.choice((8, 20, 32, 63))) for _ in range(6000)]
    asked += [0, -1, -(2**63), 2**63 - 1, max(values), max(values) + 1, min(values), min(values) - 1]
    with Book(path) as book:
        for some in (asked, sorted(asked), asked[:1], []):
            assert looked_up(book, np.array(some, np.int64)) == [values.get(state) for state in some]
        assert [column.shape for column in book.lookup(np.zeros((3, 4), np.int32))] == [(3, 4)] * 3
        assert [column.dtype for column in book.lookup([5])] == [np.int64, np.int64, bool]
        assert not book.lookup(np.array([2**63, 2**64 - 1], np.uint64)).known.any()
        for odd in ([1.5], ["1"], [None], [2**70]):
            with pytest.raises(TypeError, match="states are integers"):
                book.lookup(odd)
    with pytest.raises(BookError, match="is closed"):
        book.lookup([1])
    sparse = {2**60 + 2**38 * state * state: Value(state * 31 % 300) for state in range(3000)} | {7: Value(5)}
    write_values(tmp_path / "sparse.lmdb", sparse, facts={"codec": book.codec})
    with Book(tmp_path / "sparse.lmdb") as book:
        asked = [*sparse, *(state + 1 for state in sparse)]
        assert looked_up(book, np.array(asked)) == [sparse.get(state) for state in asked]


def test_without_the_extra_states_are_looked_up_one_by_one(sample, monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    with Book(sample[0]) as book, pytest.raises(SolverError, match="works on arrays; .*pip install"):
        book.lookup([1])


def test_a_closed_book_says_so(sample):
    path, values = sample
    book = Book(path)
    state = next(iter(values))
    assert book[state] == values[state]
    book.close()
    book.close()
    for use in (lambda: book[state], lambda: book.get(state), lambda: list(book), lambda: list(book.items())):
        with pytest.raises(BookError, match="closed"):
            use()
    assert "closed" in repr(book)


def test_one_file_may_be_opened_often(sample, tmp_path):
    path, values = sample
    link = tmp_path / "link.lmdb"
    link.symlink_to(path)
    state = next(iter(values))
    with Book(path) as first:
        with Book(path) as second, Book(link) as third:
            assert first[state] == second[state] == third[state]
        assert first[state] == values[state]


def test_a_replaced_book_is_a_new_book(tmp_path):
    path = tmp_path / "book.lmdb"
    write_values(path, {5: Value(1, 1)})
    old = Book(path)
    write_values(path, {5: Value(-1, 2)})
    with Book(path) as new:
        assert (old[5], new[5]) == (Value(1, 1), Value(-1, 2))
    old.close()


def _ask(path, states, expected):
    with Book(path) as book:
        return [book[state] for state in states] == expected


def test_readers_survive_a_fork_and_threads(either):
    path, values = either
    chance = random.Random(3)
    known = chance.sample(sorted(values), 2000)
    with Book(path) as book:
        assert book[known[0]] == values[known[0]]
        child = os.fork()
        if child == 0:
            fine = all(book[state] == values[state] for state in known)
            os._exit(0 if fine and _ask(path, known, [values[state] for state in known]) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            expected = [values[state] for state in known]
            assert list(pool.map(book.__getitem__, known)) == expected
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        assert processes.apply(_ask, (path, known[:50], [values[state] for state in known[:50]]))


def test_closing_in_one_thread_while_others_read(sample):
    path, values = sample
    known = random.Random(4).sample(sorted(values), 500)
    wrong = []
    stop = threading.Event()
    box = [Book(path)]

    def read():
        while not stop.is_set():
            for state in known:
                try:
                    if box[0][state] != values[state]:
                        wrong.append(state)
                except BookError:
                    pass

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(40):
        old, box[0] = box[0], Book(path)
        old.close()
    stop.set()
    for thread in threads:
        thread.join()
    box[0].close()
    assert not wrong


def test_readers_of_a_book_that_is_replaced_see_old_or_new(tmp_path):
    path = tmp_path / "book.lmdb"
    write_values(path, {state: Value(1) for state in range(1000)})
    wrong = []
    stop = threading.Event()

    def read():
        while not stop.is_set():
            with Book(path) as book:
                scores = {book[state].score for state in range(0, 1000, 50)}
                if len(scores) != 1:
                    wrong.append(scores)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for generation in range(2, 30):
        write_values(path, {state: Value(generation) for state in range(1000)})
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_books_are_compared_by_their_digests(sample, tmp_path):
    path, values = sample
    write_values(tmp_path / "same.lmdb", values)
    write_values(tmp_path / "other.lmdb", {**values, min(values): VALUES[5]})
    with Book(path) as book, Book(tmp_path / "same.lmdb") as same, Book(tmp_path / "other.lmdb") as other:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Book, "items", None)  # millions of states are not gone through
            assert book == same
            assert book != other
            assert book in [other, same]
            assert len({book, same, other}) == 2
        assert book != {}
        small = {state: values[state] for state in sorted(values)[:5]}
        write_values(tmp_path / "small.lmdb", small)
        with Book(tmp_path / "small.lmdb") as few:
            assert few == small
            assert small == few
            assert few != {**small, 0: VALUES[3]}
    assert book == same  # closed


def test_only_the_file_with_the_sha256_is_opened(tmp_path, either):
    path = tmp_path / "book.lmdb"
    path.write_bytes(either[0].read_bytes())
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    state, value = next(iter(either[1].items()))
    for text in (sha256, sha256.upper()):
        with Book(path, sha256=text) as book:
            assert book[state] == value
    for wrong in ("", "abc", sha256[:-1], f"{sha256}0", f"0x{sha256[2:]}"):
        with pytest.raises(BookError, match="64 hex digits"):
            Book(path, sha256=wrong)
    with Book(path, sha256=sha256) as book:
        pickled = pickle.dumps(book)
    data = bytearray(path.read_bytes())
    for place in (0, len(data) // 2, len(data) - 1):  # also where no look-up would ever notice
        damaged = bytearray(data)
        damaged[place] ^= 1
        (tmp_path / "new").write_bytes(damaged)
        os.replace(tmp_path / "new", path)
        with pytest.raises(DamagedBook, match=f"not {sha256}"):
            Book(path, sha256=sha256)
        with pytest.raises(DamagedBook, match=f"not {sha256}"):
            pickle.loads(pickled)  # noqa: S301
    path.write_bytes(b"")
    with pytest.raises(DamagedBook, match="not"):
        Book(path, sha256=sha256)


def test_a_file_that_is_replaced_while_it_is_hashed_is_not_taken_for_the_other(tmp_path, monkeypatch, sample):
    """Another book takes the place of the one that was hashed before it is mapped."""
    path, other = tmp_path / "book.lmdb", tmp_path / "other.lmdb"
    path.write_bytes(sample[0].read_bytes())
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    write_values(other, {5: Value(1, 1)})
    check = pages.check

    def check_slowly(file):
        check(file)
        if other.exists():
            os.replace(other, path)

    monkeypatch.setattr(pages, "check", check_slowly)
    with pytest.raises(DamagedBook, match=f"not {sha256}"):
        Book(path, sha256=sha256)


def test_a_pickled_book_opens_again_where_it_lay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_values("book.lmdb", {5: Value(1, 1)})
    book = Book("book.lmdb")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    pickled = pickle.dumps(book)
    again = pickle.loads(pickled)  # noqa: S301
    assert again[5] == Value(1, 1)
    assert again == book
    again.close()
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        assert processes.apply(Book.get, (book, 5)) == Value(1, 1)
    book.close()
    with pytest.raises(BookError, match="is closed: open it again"):
        pickle.dumps(book)
    write_values(tmp_path / "book.lmdb", {5: Value(-1, 2)})
    with pytest.raises(ForeignBook, match="is another book than the one that was pickled"):
        pickle.loads(pickled)  # noqa: S301


def test_a_state_that_symmetry_has_folded_away_is_explained(tmp_path):
    game = load_game("connect-four:4,3")
    left, right = game.result(game.initial(), 0), game.result(game.initial(), 3)
    kept = game.canonical(left)
    gone = left + right - kept
    header = header_of({kept: Value(0)}, symmetry=True, game="connect-four:4,3", rules=fingerprint(game))
    for facts, message in (
        ({}, f"state {gone} is not in b.lmdb, which is folded by symmetry: ask for its canonical state, {kept}$"),
        ({"game": "own.py::Own"}, f"{gone} is not in b.lmdb, which is folded by symmetry: ask for game.canonical"),
        ({"rules": "1" * 64}, f"state {gone} is not in b.lmdb$"),
        ({"symmetry": False}, f"state {gone} is not in b.lmdb$"),
    ):
        write_book(tmp_path / "b.lmdb", header._replace(**facts), [([kept], [0])])
        with Book(tmp_path / "b.lmdb") as book:
            assert book[kept] == Value(0)
            with pytest.raises(MissingState, match=message):
                book[gone]
            with pytest.raises(MissingState, match="is not in b.lmdb"):
                book[-1]


FOLDED = [
    text for text in (*SMALL_GAMES, *LARGE_GAMES, "chess-ending:KBNK") if hasattr(load_game(text), "canonical")
]


@pytest.mark.parametrize("text", FOLDED)
def test_a_folded_book_misses_any_number(tmp_path, text):
    """Its rules are asked for the canonical state of whatever is no state at all."""
    game = load_game(text)
    header = header_of({5: Value(0)}, symmetry=True, game=text, rules=fingerprint(game))
    write_book(tmp_path / "b.lmdb", header, [([5], [0])])
    chance = random.Random(8)
    with Book(tmp_path / "b.lmdb") as book:
        for _ in range(60):
            with pytest.raises(MissingState, match="is not in b.lmdb"):
                book[6 + chance.getrandbits(chance.choice((5, 20, 40, 62)))]


# writing


def test_nothing_is_left_behind_when_writing_fails(tmp_path):
    path = tmp_path / "book.lmdb"
    write_values(path, {1: Value(1, 1)})
    before = path.read_bytes()
    for failure in (ValueError("encoder"), KeyboardInterrupt()):

        def fail(*_, failure=failure):
            raise failure

        with pytest.raises(type(failure)):
            write_values(path, {2: Value(1, 1)}, encode=fail)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["book.lmdb"]


def test_states_out_of_order_are_refused(tmp_path):
    header = header_of(dict.fromkeys(range(512), Value(0)))
    states = [*range(256, 512), *range(256)]
    write_book(tmp_path / "book.lmdb", header, [(states, [0] * 512)])
    with pytest.raises(DamagedBook, match="not ascending"):
        check_book(tmp_path / "book.lmdb")


@pytest.mark.parametrize("target", ["", "no/such/folder/book.lmdb", "fifo"])
def test_targets_that_cannot_be_written_are_refused_first(tmp_path, target):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(BookError, match="is a folder|does not exist|is no file"):
        write_values(tmp_path / target, {1: Value(0)})


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    def full(*_, **__):
        raise lmdb.DiskError("mdb_txn_commit: No space left on device")

    monkeypatch.setattr("solver.book.writer._copy", full)
    with pytest.raises(ResourceError, match="is full .* make room"):
        write_values(tmp_path / "book.lmdb", {1: Value(0)})
    assert list(tmp_path.iterdir()) == []


def test_file_permissions_follow_the_umask(tmp_path):
    path = tmp_path / "book.lmdb"
    write_values(path, {1: Value(0)})
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


# refusals


def rewritten(path, target, change):
    """A copy whose records went through `change(key, record)`, LMDB's structure intact."""
    with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as source, source.begin() as transaction:
        records = [(key, change(key, record)) for key, record in transaction.cursor()]
    with (
        lmdb.open(str(target), subdir=False, lock=False, map_size=1 << 28, lib_version=0) as copy,
        copy.begin(write=True) as transaction,
    ):
        for key, record in records:
            if record is not None:
                transaction.put(key, record)
    return target


def with_header(path, target, **changes):
    def change(key, record):
        if key != HEADER_KEY:
            return record
        fields = {**msgpack.unpackb(record[4:]), **changes}
        fields = {name: value for name, value in fields.items() if value != "absent"}
        return seal(fields.get("book_id", b""), 0, msgpack.packb(fields))

    return rewritten(path, target, change)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"magic": "other"}, ForeignBook, "no mark of a book"),
        ({"version": 2}, ForeignBook, "format version 2, this package reads 1"),
        ({"version": "absent"}, ForeignBook, "format version None"),
        ({"byte_order": "big"}, DamagedBook, "unknown layout"),
        ({"complete": False}, DamagedBook, "unknown layout"),
        ({"palette": [[1, 1], [1]]}, DamagedBook, "malformed"),
        ({"palette": [[1.5, None]]}, DamagedBook, "no \\[score, distance\\]"),
        ({"stored": -1}, DamagedBook, "malformed"),
        ({"stored": "many"}, DamagedBook, "stored is no int"),
        ({"root": "absent"}, DamagedBook, "malformed: KeyError"),
        ({"method": "guessing"}, DamagedBook, "unknown method"),
        ({"book_id": b"short"}, DamagedBook, "no book id"),
    ],
)
def test_headers_that_are_not_ours_are_refused(sample, tmp_path, changes, error, message):
    path = with_header(sample[0], tmp_path / "changed.lmdb", **changes)
    with pytest.raises(error, match=message):
        Book(path)


LIES = {
    "a palette of doubles": lambda h: {"palette": [h["palette"][0], *h["palette"]]},
    "a palette out of order": lambda h: {"palette": h["palette"][::-1]},
    "a score of no such game": lambda h: {"palette": [[7, 1], *h["palette"][1:]]},
    "a score beyond 64 bits": lambda h: {"palette": [[1 << 63, None]]},
    "a margin in a game of outcomes": lambda h: {"palette": [[3, None], *h["palette"]]},
    "a palette of records that are not there": lambda h: {"palette": 1 << 60},
    "more values than states": lambda h: {"palette": [[1, d] for d in range(4000)], "numbers": None},
    "numbers of other states": lambda h: {"numbers": [1] * len(h["palette"])},
    "numbers of nothing": lambda h: {"numbers": [0, h["stored"], *[0] * (len(h["palette"]) - 2)]},
    "numbers that are none": lambda h: {"numbers": [[]] * len(h["palette"])},
    "more states than segments can hold": lambda h: {
        "stored": 1 << 40, "states": 1 << 40, "counts": {"win": 1 << 40, "draw": 0, "loss": 0}
    },
    "no states": lambda h: {"stored": 0, "states": 0, "counts": {"win": 0, "draw": 0, "loss": 0}},
    "states that do not add up": lambda h: {"states": h["states"] + 1},
    "terminal states below zero": lambda h: {"terminal": -1, "states": h["states"] - 1},
    "counts that do not add up": lambda h: {"counts": {**h["counts"], "win": 0}},
    "a count below zero": lambda h: {"counts": {**h["counts"], "win": -1}},
    "tiers that do not add up": lambda h: {"tiers": [[0, h["states"] - 1, 0, h["states"] - 1, 0, 0]]},
    "tiers of another shape": lambda h: {"tiers": [[0, h["states"]]]},
    "a longest win that is none": lambda h: {"longest": None},
    "a longest win of another length": lambda h: {"longest": [999, 5]},
    "a longest win nowhere": lambda h: {"longest": [h["longest"][0], -1]},
    "a root of no such game": lambda h: {"root": [5, None]},
    "a part of a game that is all": lambda h: {"scope": "ply 4"},
    "alpha-beta that is all": lambda h: {"method": "alphabeta"},
    "an unknown scope": lambda h: {"scope": "nearly"},
    "an endless name": lambda h: {"game": "nim:" + "1," * 100_000 + "1"},
    "a name that writes to the terminal": lambda h: {"game": "coins\x1b[2J"},
    "rules that are no hash": lambda h: {"rules": "\x1b[2J"},
    "no digest": lambda h: {"digest": ""},
}


@pytest.mark.parametrize("lie", LIES)
def test_headers_that_contradict_themselves_are_refused(lying, tmp_path, lie):
    """All checksums are right."""
    path, fields = lying
    with pytest.raises(DamagedBook, match="malformed|cannot hold"):
        Book(with_header(path, tmp_path / "lie.lmdb", **LIES[lie](fields)))


@pytest.fixture(scope="module")
def lying(tmp_path_factory):
    """A small book and the fields of its header."""
    path = tmp_path_factory.mktemp("books") / "small.lmdb"
    write_values(path, sample_values(3000))
    with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as source, source.begin() as transaction:
        return path, msgpack.unpackb(transaction.get(HEADER_KEY)[4:])


@pytest.mark.parametrize("place", ["/dev/zero", "fifo", "exercise.json"])
def test_a_book_opens_no_path_that_it_names(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    Path("exercise.json").write_text("[[3, 12], [2, 4]]")
    write_book("book.lmdb", header_of({5: Value(0)}, game=f"tree:{place}"), [([5], [0])])
    with Book("book.lmdb") as book:
        with pytest.raises(ForeignBook, match=f"name its rules, --game tree:PATH/{place}"):
            book.game  # noqa: B018
        with pytest.raises(MissingState):
            book[6]


MONSTROUS = ["9" * 18, ",".join(["9" * 18] * 4), ",".join("1" * 2000), "9" * 4000]


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name not in FROM_FILES])
def test_parameters_without_measure_in_a_header_take_neither_time_nor_memory(tmp_path, name):
    for text in MONSTROUS:
        write_book(tmp_path / "book.lmdb", header_of({5: Value(0)}, game=f"{name}:{text}", symmetry=True), [([5], [0])])
        with Book(tmp_path / "book.lmdb") as book:
            with pytest.raises((GameError, ForeignBook)):
                book.game  # noqa: B018
            with pytest.raises(MissingState):
                book[6]


def bomb(depth):
    return b"\x91" * depth + b"\x01"


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"abc",
        bomb(100_000),
        b"\xdb\xff\xff\xff\xff",
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        msgpack.packb([1, 2]),
        msgpack.packb({1: 2}),
        bytes(2 << 20),
    ],
)
def test_hostile_headers_are_refused(sample, tmp_path, record):
    def change(key, old):
        return seal(b"", 0, record) if key == HEADER_KEY else old

    with pytest.raises((DamagedBook, ForeignBook)):
        Book(rewritten(sample[0], tmp_path / "bomb.lmdb", change))


def test_unfinished_files_are_refused(sample, tmp_path):
    path = rewritten(sample[0], tmp_path / "headless.lmdb", lambda key, record: None if key == HEADER_KEY else record)
    with pytest.raises(DamagedBook, match="no header: it is no book, or its writing did not end"):
        Book(path)


def swap(records, first, second):
    records[first], records[second] = records[second], records[first]


@pytest.mark.parametrize("damage", ["swapped", "duplicated", "zeroed", "missing", "of another book"])
def test_segments_out_of_place_are_noticed(sample, tmp_path, damage):
    path, values = sample
    with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as source, source.begin() as transaction:
        records = {bytes(key): bytes(record) for key, record in transaction.cursor()}
    zero, one = segment_key(0), segment_key(1)
    if damage == "swapped":
        swap(records, zero, one)
    elif damage == "duplicated":
        records[zero] = records[one]
    elif damage == "zeroed":
        records[zero] = bytes(len(records[zero]))
    elif damage == "missing":
        del records[zero]
    else:
        other = tmp_path / "other.lmdb"
        write_values(other, {**values, max(values) + 1: VALUES[0]})
        with lmdb.open(str(other), subdir=False, readonly=True, lock=False) as source, source.begin() as transaction:
            records[zero] = transaction.get(zero)
    changed = rewritten(path, tmp_path / "damaged.lmdb", lambda key, record: records.get(bytes(key)))
    with pytest.raises(DamagedBook), Book(changed) as book:
        book[min(values)]
    with pytest.raises(DamagedBook):
        check_book(changed)


def test_hostile_segments_with_good_checksums_raise_nothing_else(either, tmp_path):
    """Whatever a segment holds, a look-up answers, misses, or says damaged."""
    path, values = either
    chance = random.Random(7)
    with Book(path) as book:
        book_id = book.header.book_id
    known = [state for state in sorted(values)[:5000:50]]
    for trial in range(40):

        def change(key, record):
            if bytes(key) != segment_key(0):
                return record
            body = bytearray(record[4:])
            for _ in range(50):
                body[chance.randrange(min(len(body), 3000))] = chance.randrange(256)
            return seal(book_id, 0, bytes(body))

        changed = rewritten(path, tmp_path / f"hostile{trial}.lmdb", change)
        try:
            with Book(changed) as book:
                for state in known:
                    with contextlib.suppress(DamagedBook):
                        book.get(state)
        except DamagedBook:
            pass


def decoded(header, record, numba_too):
    """States and palette indices of a segment, ascending and inside the palette, or None if it is refused."""
    try:
        groups = [pair for group in groups_of(header, record) for pair in zip(*group, strict=True)]
    except DamagedBook:
        groups = None
    if groups is not None:
        states, indices = zip(*groups, strict=True)
        ascending = all(low < high for low, high in itertools.pairwise(states)) and states[-1] < 1 << 63
        groups = groups if ascending and max(indices) < len(header.palette) else None
    if numba_too:
        import numpy as np

        from solver.kernels.reading import decode_segment, tally_values

        room = np.empty(5000, np.int64), np.empty(5000, np.int32)
        count = decode_segment(record, *room)
        tallies = np.zeros(len(header.palette), np.int64), np.zeros(len(header.palette), np.int64)
        whole = count >= 0 and tally_values(*room, count, -1, *tallies) >= 0
        found = list(zip(*(column[:count].tolist() for column in room), strict=True))
        assert groups == (found if whole else None)
    return groups


@pytest.mark.parametrize("codec", KEYED_BY_STATE)
@pytest.mark.parametrize("spread", [2, 40, 10**5])
def test_what_verification_reads_is_what_a_lookup_answers(tmp_path, spread, codec):
    """Segments with good checksums, whatever they hold: plain, compiled and look-ups read the same or refuse."""
    numba_too = extras.has_kernels()
    write_values(tmp_path / "book.lmdb", sample_values(1000, spread=spread), facts={"codec": codec})
    chance = random.Random(spread)
    accepted = 0
    with Book(tmp_path / "book.lmdb") as book:
        (record,) = book.segments()
        palette = book.header.palette
        for _ in range(150):
            body = bytearray(record[4:])
            body[chance.randrange(4, len(body) if chance.random() < 0.5 else 60)] ^= 1 << chance.randrange(8)
            (start,) = struct.unpack_from("<H", record, 8 + 8 * record[4])  # of the first group
            body[start - 4 + chance.randrange(3)] ^= chance.randrange(4) << chance.randrange(6)
            altered = seal(book.header.book_id, 0, bytes(body))
            try:
                segment = segment_of(book.path, book.header, 0, book.directory[0], memoryview(altered))
            except DamagedBook:
                continue
            book._mapped.segments[0], book._mapped.find = segment, CODECS[codec].finder()
            pairs = decoded(book.header, altered, numba_too)
            if pairs is not None:
                accepted += 1
                known = {state: palette[index] for state, index in pairs}
                asked = {state + step for state in known for step in (-1, 0, 1)}
                for state in asked:
                    assert book.get(state) == known.get(state)
                if numba_too:
                    assert looked_up(book, [*asked]) == [known.get(state) for state in asked]
            elif numba_too:
                with contextlib.suppress(DamagedBook):
                    book.lookup(range(0, 50_000, 7))
    assert accepted > 8 or codec == "compact"  # of which few bits can change and leave a group that fits together


def group_of(book, number=0):
    """The bytes of one group of a book's first segment, and its first state."""
    view, firsts, starts, _ = book._mapped.load(0)
    return bytes(view[starts[number] : starts[number + 1]]), firsts[number]


def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


HEADS = {  # key mode, states - 1, bytes of the keys - 1, those once deflated
    "a bitmap beyond its bound": lambda mode, count, size, packed: (0, count, 0xFFFF, packed),
    "more states than a group": lambda mode, count, size, packed: (mode, 6144, size, packed),
    "offsets of nine bytes": lambda mode, count, size, packed: (9, count, 9 * (count + 1) - 1, packed),
    "offsets that are not as many": lambda mode, count, size, packed: (2, count, size + 1, packed),
    "keys that end early": lambda mode, count, size, packed: (mode, count, size + 1, packed),
    "keys that go on": lambda mode, count, size, packed: (mode, count, size - 1, packed),
    "keys cut short": lambda mode, count, size, packed: (mode, count, size, packed - 9),
    "keys behind the group": lambda mode, count, size, packed: (mode, count, size, 0xFFFF),
    "a state more than keys": lambda mode, count, size, packed: (mode, count + 1, size, packed),
    "a state less than keys": lambda mode, count, size, packed: (mode, count - 1, size, packed),
}


@pytest.mark.parametrize("lie", HEADS)
def test_compact_groups_of_other_sizes_than_they_say_are_refused(compacted, lie):
    with Book(compacted[0]) as book:
        group, first = group_of(book)
        head = struct.Struct("<BHHH")
        altered = head.pack(*HEADS[lie](*head.unpack_from(group))) + group[head.size :]
        assert len(compact.decode(memoryview(group), first, 1)[0]) == 6144
        with pytest.raises(DamagedBook, match="a group "):
            compact.decode(memoryview(altered), first, 1)


def test_what_bombs_deflate_to_is_not_made(tmp_path, compacted):
    """Keys and values of 60 MB in a segment of 64 KB, all checksums right: a look-up makes what the group declares."""
    with Book(compacted[0]) as book:
        header, values = book.header, deflated(bytes(60 << 20))
        bitmap = deflated(b"\xff" * 768)
    for place, (keys, palette) in enumerate(((values, b""), (bitmap, values))):
        body = struct.pack("<BHHH", 0, 6143, 767, len(keys) & 0xFFFF) + keys + palette
        path = tmp_path / f"bomb{place}.lmdb"
        whole = header._replace(stored=6144, numbers=None, states=6144, counts={"win": 6144, "draw": 0, "loss": 0})
        write_book(path, whole, [(range(6144), [0] * 6144)], encode=lambda *_, body=body: (body, [6144], [len(body)]))
        tracemalloc.start()
        try:
            with Book(path) as book:
                for state in (5, 6143, 5, 6143, 6144):
                    with contextlib.suppress(DamagedBook):
                        assert book.get(state) in (book.header.palette[0], None)
                with pytest.raises(DamagedBook, match="a group is malformed"):
                    list(book)
                if extras.has_kernels():
                    from solver.kernels import reading

                    with pytest.raises(DamagedBook, match="a group is malformed"):
                        list(reading.read_parts(book))
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()


def test_a_compact_book_keeps_some_groups_decoded(tmp_path, monkeypatch):
    """Whatever was asked before, in few slots: first states, last ones, absent ones."""
    monkeypatch.setattr(compact, "SLOTS", 3)
    values = sample_values(40_000) | {2**60 + 2**40 * state: VALUES[state % 50] for state in range(3000)}
    write_values(tmp_path / "book.lmdb", values, facts={"codec": "compact"})
    chance = random.Random(6)
    with Book(tmp_path / "book.lmdb") as book:
        for state in chance.choices(sorted(values), k=4000):
            assert [book.get(state + step) for step in (1, 0, -1)] == [values.get(state + step) for step in (1, 0, -1)]


def test_threads_share_a_compact_book(compacted):
    path, values = compacted
    known = random.Random(3).choices(sorted(values), k=3000)
    asked = [[state + step for state in known] for step in (0, 1, 0, 1, 0, 1)]
    with Book(path) as book, concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda states: list(map(book.get, states)), asked)) == [
            list(map(values.get, states)) for states in asked
        ]


def test_files_that_are_no_books(tmp_path):
    text = tmp_path / "text"
    text.write_text("no book" * 1000)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    empty = tmp_path / "empty"
    empty.touch()
    for path in (text, fifo, empty, tmp_path, Path("/dev/null"), Path("/dev/zero")):
        with pytest.raises(ForeignBook, match="no regular file|no LMDB file"):
            Book(path)
    with pytest.raises(BookError, match="there is no file"):
        Book(tmp_path / "absent")


def test_other_lmdb_files_are_no_books(tmp_path):
    path = tmp_path / "other.lmdb"
    environment = lmdb.open(str(path), subdir=False, lock=False, lib_version=0)
    with environment, environment.begin(write=True) as transaction:
        transaction.put(b"key", b"value")
    with pytest.raises(DamagedBook, match="no header"):
        Book(path)


CORRUPTION = """
    import random, sys
    from solver.book import Book
    from solver.errors import BookError

    path, seed, trials = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    whole = open(path, "rb").read()
    with Book(path) as book:
        truth = dict(book.items())
    chance = random.Random(seed)
    states = chance.sample(sorted(truth), 200)
    refused = harmless = 0
    for trial in range(trials):
        data = bytearray(whole)
        kind = trial % 4
        if kind == 0:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[4096 * chance.randrange(len(data) // 4096) + chance.randrange(64)] = chance.randrange(256)
        elif kind == 2:
            del data[chance.choice((0, 1, 15, 100, 4095, 4096, 8191, 8192, chance.randrange(len(data)))) :]
        else:
            at = chance.randrange(len(data))
            data[at : at + 300] = bytes(300)
            del data[len(whole) :]
        damaged = path + f".{seed}.{trial}"
        open(damaged, "wb").write(data)
        wrong = False
        try:
            with Book(damaged) as book:
                for state in states:
                    try:
                        assert book[state] == truth[state], f"trial {trial} answered wrongly"
                    except BookError:
                        wrong = True
                        break
        except BookError:
            wrong = True
        refused += wrong
        harmless += not wrong
    print(refused, harmless)
"""


def corrupt(path, seed, trials):
    """How many of the damaged copies were refused and how many answered rightly; a signal or a wrong answer fails."""
    code = textwrap.dedent(CORRUPTION)
    command = [sys.executable, "-c", code, str(path), str(seed), str(trials)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, (run.returncode, run.stderr[-2000:])
    return [int(word) for word in run.stdout.split()]


@pytest.mark.parametrize("codec", KEYED_BY_STATE)
def test_no_corruption_gives_a_wrong_value_or_a_signal(tmp_path, codec):
    path = tmp_path / "book.lmdb"
    write_values(path, sample_values(60_000), facts={"codec": codec})
    refused, harmless = corrupt(path, 1, 200)
    assert refused > 60
    assert refused + harmless == 200


@pytest.mark.faults
@pytest.mark.parametrize("codec", KEYED_BY_STATE)
@pytest.mark.parametrize("seed", range(2, 12))
def test_no_corruption_of_ten_thousand_gives_a_wrong_value_or_a_signal(tmp_path, seed, codec):
    path = tmp_path / "book.lmdb"
    write_values(path, sample_values(60_000, seed=seed), facts={"codec": codec})
    assert sum(corrupt(path, seed, 1000)) == 1000


FLIPS = """
    import os, random, sys
    from pathlib import Path
    from solver.book import Book, pages
    from solver.errors import BookError

    path, begin, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with Book(path) as book:
        truth = dict(book.items())
        firsts = list(book.directory)
    with pages.open_file(Path(path)) as opened:
        tree = pages._tree(opened)
        walk = pages._Walk(opened, tree)
        segments = [at - 16 for leaf in walk.below(tree.root, 1, b"", None) for key, at, _ in leaf if len(key) == 8]
    places = [(page * 4096 + byte, None) for page in (0, 1, *walk.seen) for byte in range(4096)]
    places += [(at + byte, first) for at, first in zip(segments, firsts, strict=True) for byte in range(16)]
    whole = Path(path).read_bytes()
    file = os.open(path, os.O_RDWR)
    states = random.Random(1).sample(sorted(truth), 100)
    tried = refused = 0
    for number in range(begin, 8 * len(places), step):
        (place, first), bit = places[number >> 3], number & 7
        print(f"bit {bit} of byte {place}", file=sys.stderr)
        os.pwrite(file, bytes([whole[place] ^ 1 << bit]), place)
        asked = (states[number % 100], states[-1] + 1) if first is None else (first,)
        try:
            with Book(path) as book:
                for state in asked:
                    assert book.get(state) == truth.get(state), f"another value of {state}"
        except BookError:
            refused += 1
        tried += 1
        os.pwrite(file, whole[place : place + 1], place)
        if tried % 1000 == 1:
            with Book(path) as book:
                assert book[states[0]] == truth[states[0]]
    print(tried, refused)
"""


def flipped(path, begin, step):
    """How many single bits of the pages of the tree and of the heads of segments were flipped, how many refused."""
    command = [sys.executable, "-c", textwrap.dedent(FLIPS), str(path), str(begin), str(step)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, (run.returncode, run.stderr[-300:])
    return [int(word) for word in run.stdout.split()]


def write_with_branches(path, count, pages_a_segment):
    """A book with a branch page: of short segments, as those of 64 KB would need 10 MB."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("solver.book.writer.SEGMENT_SIZE", 4096 * pages_a_segment - 16)
        write_values(path, sample_values(count, spread=10**5))
    return path


@pytest.fixture(scope="module")
def branched(tmp_path_factory):
    return write_with_branches(tmp_path_factory.mktemp("books") / "branched.lmdb", 100_000, 1)


def test_some_bits_of_the_structure(tmp_path, branched):
    path = tmp_path / "book.lmdb"
    path.write_bytes(branched.read_bytes())
    tried, refused = flipped(path, 5, 487)
    assert tried > 300
    assert refused > tried // 8


@pytest.mark.faults
def test_every_single_bit_of_the_structure(tmp_path):
    path = write_with_branches(tmp_path / "book.lmdb", 450_000, 3)
    tried, refused = flipped(path, 0, 1)
    assert tried > 8 * 4096 * 5
    assert refused > tried // 8


def put(form, place, *numbers):
    """An alteration of a file's bytes: of page `place[0]`, at byte `place[1]`."""
    return lambda data, at: struct.pack_into(form, data, at[place[0]] * 4096 + place[1], *numbers)


def node(page, number, form, offset, value):
    """An alteration of a node: value may be a function of the pages."""

    def change(data, at):
        (place,) = struct.unpack_from("<H", data, at[page] * 4096 + 16 + 2 * number)
        number_now = value(at) if callable(value) else value
        struct.pack_into(form, data, at[page] * 4096 + place + offset, number_now)

    return change


def swap_places(data, at):
    first, second = struct.unpack_from("<HH", data, at["leaf"] * 4096 + 16)
    struct.pack_into("<HH", data, at["leaf"] * 4096 + 16, second, first)


def many_pages(data, at):
    for meta in (0, 1):
        struct.pack_into("<Q", data, 4096 * meta + 136, (1 << 24) - 1)


ALTERED = {
    "a record of four gigabytes": node("leaf", 0, "<I", 0, 0xFFFFFFFF),
    "a record that ends behind the file": node("leaf", -1, "<I", 0, 1 << 19),
    "a record longer than the file": node("leaf", 3, "<I", 0, 1 << 20),
    "a run outside the file": node("leaf", 2, "<Q", 16, 1 << 62),
    "a run at the last page": node("leaf", 2, "<Q", 16, lambda at: at["last"]),
    "a run in the meta pages": node("leaf", 2, "<Q", 16, 0),
    "a record of another kind": node("leaf", 2, "<H", 4, 6),
    "a key outside the page": node("leaf", 2, "<H", 6, 0xFFFF),
    "a node outside the page": put("<H", ("leaf", 16), 4095),
    "a node in the head of the page": put("<H", ("leaf", 18), 2),
    "places over all the page": put("<HH", ("leaf", 12), 4096, 4096),
    "an odd place": put("<H", ("leaf", 12), 17),
    "no node": put("<H", ("leaf", 12), 16),
    "a begin behind the page": put("<H", ("leaf", 14), 0xFFFF),
    "keys that descend": swap_places,
    "a branch to itself": node("branch", 0, "<I", 0, lambda at: at["branch"]),
    "a leaf twice": node("branch", 1, "<I", 0, lambda at: at["leaf"]),
    "a branch to a segment": node("branch", 1, "<I", 0, 2),
    "a branch to a meta page": node("branch", 1, "<I", 0, 0),
    "a branch outside the file": node("branch", 1, "<H", 4, 1),
    "a branch of one child": put("<H", ("branch", 12), 18),
    "a leaf that calls itself a branch": put("<H", ("leaf", 10), 1),
    "a branch that calls itself a leaf": put("<H", ("branch", 10), 2),
    "a root of no depth": put("<H", ("meta", 94), 1),
    "a root that is too deep": put("<H", ("meta", 94), 40),
    "the wrong root": put("<Q", ("meta", 128), 2),
    "more records than there are": put("<Q", ("meta", 120), 1 << 40),
    "duplicates": put("<H", ("meta", 92), 4),
    "a file of many pages": many_pages,
}
READ_ALL = """
    import sys
    from solver.book import Book
    from solver.errors import BookError

    for path in sys.argv[1:]:
        try:
            with Book(path) as book:
                print("read", sum(1 for _ in book.items()))
        except BookError as error:
            print("refused")
"""


def test_pages_altered_by_hand_are_refused(tmp_path, branched):
    """Each in a file of more than 256 KB; what LMDB would follow beyond the end of the file is a signal."""
    whole = branched.read_bytes()
    last, root = (struct.unpack_from("<Q", whole, 4096 + place)[0] for place in (136, 128))
    (place,) = struct.unpack_from("<H", whole, root * 4096 + 16)
    at = {"meta": 1, "branch": root, "leaf": struct.unpack_from("<I", whole, root * 4096 + place)[0], "last": last}
    paths = []
    for number, change in enumerate(ALTERED.values()):
        data = bytearray(whole)
        change(data, at)
        paths.append(tmp_path / f"{number}.lmdb")
        paths[-1].write_bytes(data)
    os.truncate(paths[-1], 4096 << 24)
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(READ_ALL), *map(str, paths)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert dict(zip(ALTERED, run.stdout.splitlines(), strict=True)) == dict.fromkeys(ALTERED, "refused")


def test_bytes_behind_the_last_page_do_no_harm(tmp_path, sample):
    """Books of more than 256 KB had 64 KB there once."""
    path = tmp_path / "padded.lmdb"
    path.write_bytes(sample[0].read_bytes() + bytes(65536))
    assert check_book(path).stored == len(sample[1])


def test_every_length_of_a_truncated_file_is_refused(sample, tmp_path):
    whole = sample[0].read_bytes()
    path = tmp_path / "cut.lmdb"
    for length in {0, 1, 16, 39, 40, 4095, 4096, 8191, 8192, 8193, len(whole) // 2, len(whole) - 4096, len(whole) - 1}:
        path.write_bytes(whole[:length])
        with pytest.raises(BookError):
            Book(path)


def test_the_check_finds_flipped_bits_anywhere(either, tmp_path):
    whole = either[0].read_bytes()
    chance = random.Random(9)
    path = tmp_path / "flipped.lmdb"
    missed = 0
    for _ in range(25):
        data = bytearray(whole)
        data[chance.randrange(8192, len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        try:
            check_book(path)
            missed += 1  # the bit lies in unused bytes of a page
        except BookError:
            pass
    assert missed <= 3


def test_segments_fill_their_pages(sample):
    with lmdb.open(str(sample[0]), subdir=False, readonly=True, lock=False) as source, source.begin() as transaction:
        sizes = [len(record) for key, record in transaction.cursor() if len(key) == 8]
    assert max(sizes) <= SEGMENT_SIZE
    assert min(sizes[:-1]) > SEGMENT_SIZE - 1000


def test_header_round_trip():
    header = header_of(sample_values(5000), digest="0f" * 32).identified()
    assert Header.unpack(header.pack()) == header
    assert struct.unpack("<I", header.pack()[:4])[0] > 0
