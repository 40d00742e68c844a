"""Books: what was written is read, what is absent is missing, and no damaged file is believed."""

import concurrent.futures
import contextlib
import hashlib
import multiprocessing
import os
import random
import struct
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import lmdb
import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.book import Book, Header, check_book, codec, write_book
from solver.book.format import GROUP, HEADER_KEY, SEGMENT_SIZE, seal, segment_key
from solver.errors import BookError, DamagedBook, ForeignBook, MissingState, ResourceError
from solver.value import Value
from tests.books import header_of, write_values

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
    """A book of several segments, its values, its path."""
    path = tmp_path_factory.mktemp("books") / "sample.lmdb"
    values = sample_values(150_000)
    write_values(path, values)
    return path, values


states = st.integers(0, 2**63 - 1)
dense = st.integers(0, 5000)
some_values = st.sampled_from(VALUES)


@settings(max_examples=60, deadline=None)
@given(values=st.one_of(st.dictionaries(keys, some_values, max_size=600) for keys in (states, dense)))
def test_what_is_written_is_read(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("books") / "random.lmdb"
    write_values(path, values)
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


@pytest.mark.parametrize("count", [0, 1, 2, GROUP - 1, GROUP, GROUP + 1, 20_000])
@pytest.mark.parametrize("spread", [0, 1, 200, 10**5, 10**10, 2**48])
def test_sizes_and_densities(tmp_path, count, spread):
    values = {state: value for state, value in sample_values(count, spread=spread or 1e-9).items() if state < 2**63}
    write_values(tmp_path / "book.lmdb", values)
    with Book(tmp_path / "book.lmdb") as book:
        assert dict(book.items()) == values
        chance = random.Random(2)
        for state in chance.sample(sorted(values), min(300, len(values))):
            assert book[state] == values[state]
            assert book.get(state + 1) == values.get(state + 1)


@pytest.mark.parametrize("size", [1, 2, 3, 17, 256, 257, 300, 70_000])
def test_palettes_of_any_size(tmp_path, size):
    values = {7 * state: Value(state * 31 % size) for state in range(max(1000, size))}
    write_values(tmp_path / "book.lmdb", values)
    with Book(tmp_path / "book.lmdb") as book:
        assert dict(book.items()) == values
        assert all(book[state] == values[state] for state in list(values)[::97])
    check_book(tmp_path / "book.lmdb")


def test_groups_are_what_the_documentation_says():
    payload, lengths = codec.encode_chunk([1000, 1001, 1003], [7, 9, 7], 10, 1)
    assert payload.hex(" ") == "08 02 01 07 09 02 0b"
    assert lengths == [7]


def test_the_compiled_encoder_writes_the_same_bytes():
    np = pytest.importorskip("numpy")
    pytest.importorskip("numba")
    from solver.kernels import pack

    for spread in (1, 300, 10**12):
        for palette_size, index_bytes in ((60, 1), (300, 2), (70_000, 4)):
            values = sample_values(3000, spread=spread)
            keys = sorted(values)
            indices = [VALUES.index(values[state]) * 1151 % palette_size for state in keys]
            plain, lengths = codec.encode_chunk(keys, indices, palette_size, index_bytes)
            arrays = np.array(keys), np.array(indices, np.int32)
            compiled, same_lengths = pack.encode_chunk(*arrays, palette_size, index_bytes)
            assert (bytes(compiled), same_lengths) == (plain, lengths)


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


def test_absent_states_are_missing_never_a_value(sample):
    path, values = sample
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


def test_readers_survive_a_fork_and_threads(sample):
    path, values = sample
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


@pytest.mark.parametrize("target", ["", "no/such/folder/book.lmdb"])
def test_targets_that_cannot_be_written_are_refused_first(tmp_path, target):
    with pytest.raises(BookError, match="is a folder|does not exist"):
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


def test_hostile_segments_with_good_checksums_raise_nothing_else(sample, tmp_path):
    """Whatever a segment holds, a look-up answers, misses, or says damaged."""
    path, values = sample
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


def test_no_corruption_gives_a_wrong_value_or_a_signal(tmp_path):
    path = tmp_path / "book.lmdb"
    write_values(path, sample_values(60_000))
    refused, harmless = corrupt(path, 1, 200)
    assert refused > 60
    assert refused + harmless == 200


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(2, 12))
def test_no_corruption_of_ten_thousand_gives_a_wrong_value_or_a_signal(tmp_path, seed):
    path = tmp_path / "book.lmdb"
    write_values(path, sample_values(60_000, seed=seed))
    assert sum(corrupt(path, seed, 1000)) == 1000


def test_every_length_of_a_truncated_file_is_refused(sample, tmp_path):
    whole = sample[0].read_bytes()
    path = tmp_path / "cut.lmdb"
    for length in {0, 1, 16, 39, 40, 4095, 4096, 8191, 8192, 8193, len(whole) // 2, len(whole) - 4096, len(whole) - 1}:
        path.write_bytes(whole[:length])
        with pytest.raises(BookError):
            Book(path)


def test_the_check_finds_flipped_bits_anywhere(sample, tmp_path):
    whole = sample[0].read_bytes()
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
