"""How books are opened: often, in threads and processes, while replaced, by digest; and what is not a book."""

import concurrent.futures
import contextlib
import hashlib
import multiprocessing
import os
import pickle
import random
import threading
from pathlib import Path

import lmdb
import pytest

from solver.base.errors import BookError, DamagedBook, ForeignBook
from solver.base.value import Value
from solver.book import Book, pages
from tests import make_fifo
from tests.books import VALUES, write_values
from tests.refusals import raises


def test_a_closed_book_says_so(sample):
    path, values = sample
    book = Book(path)
    state = next(iter(values))
    assert book[state] == values[state]
    book.close()
    book.close()
    for use in (lambda: book[state], lambda: book.get(state), lambda: list(book), lambda: list(book.items())):
        raises(BookError, "closed", use)
    assert "closed" in repr(book)


def test_one_file_may_be_opened_often(sample, tmp_path):
    path, values = sample
    link = tmp_path / "link.lmdb"
    link.hardlink_to(path)
    state = next(iter(values))
    with Book(path) as first:
        with Book(path) as second, Book(link) as third:
            assert first[state] == second[state] == third[state]
        assert first[state] == values[state]


def _ask(path, states, expected):
    with Book(path) as book:
        return [book[state] for state in states] == expected


@pytest.mark.posix("forks")
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


@contextlib.contextmanager
def reading_meanwhile(read):
    """Call `read` again and again in four threads; it must never fail."""
    stop = threading.Event()

    def reading():
        while not stop.is_set():
            read()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(reading) for _ in range(4)]
        try:
            yield
        finally:
            stop.set()
        for reader in readers:
            reader.result()


def test_closing_in_one_thread_while_others_read(sample):
    path, values = sample
    known = random.Random(4).sample(sorted(values), 500)
    box = [Book(path)]

    def read():
        for state in known:
            with contextlib.suppress(BookError):
                assert box[0][state] == values[state]

    with reading_meanwhile(read):
        for _ in range(40):
            old, box[0] = box[0], Book(path)
            old.close()
    box[0].close()


@pytest.mark.posix("replaces an open file")
def test_readers_of_a_book_that_is_replaced_see_old_or_new(tmp_path):
    path = tmp_path / "book.lmdb"
    write_values(path, {state: Value(1) for state in range(1000)})

    def read():
        with Book(path) as book:
            assert len({book[state].score for state in range(0, 1000, 50)}) == 1

    with reading_meanwhile(read):
        for generation in range(2, 30):
            write_values(path, {state: Value(generation) for state in range(1000)})


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
        raises(BookError, "64 hex digits", Book, path, sha256=wrong)
    with Book(path, sha256=sha256) as book:
        pickled = pickle.dumps(book)
    data = bytearray(path.read_bytes())
    for place in (0, len(data) // 2, len(data) - 1):  # also where no look-up would ever notice
        damaged = bytearray(data)
        damaged[place] ^= 1
        (tmp_path / "new").write_bytes(damaged)
        os.replace(tmp_path / "new", path)
        raises(DamagedBook, f"not {sha256}", Book, path, sha256=sha256)
        with pytest.raises(DamagedBook, match=f"not {sha256}"):
            pickle.loads(pickled)  # noqa: S301
    path.write_bytes(b"")
    raises(DamagedBook, "not", Book, path, sha256=sha256)


@pytest.mark.posix("replaces an open file")
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
    raises(DamagedBook, f"not {sha256}", Book, path, sha256=sha256)


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
    raises(BookError, "is closed: open it again", pickle.dumps, book)
    write_values(tmp_path / "book.lmdb", {5: Value(-1, 2)})
    with pytest.raises(ForeignBook, match="is another book than the one that was pickled"):
        pickle.loads(pickled)  # noqa: S301


def test_files_that_are_no_books(tmp_path):
    text = tmp_path / "text"
    text.write_text("no book" * 1000)
    fifo = tmp_path / "fifo"
    make_fifo(fifo)
    empty = tmp_path / "empty"
    empty.touch()
    for path in (text, fifo, empty, tmp_path, Path("/dev/null"), Path("/dev/zero")):
        raises(ForeignBook, "not a regular file|not an LMDB file", Book, path)
    raises(BookError, "cannot be read .No such file", Book, tmp_path / "absent")


def test_other_lmdb_files_are_no_books(tmp_path):
    path = tmp_path / "other.lmdb"
    environment = lmdb.open(str(path), subdir=False, lock=False, lib_version=0)
    with environment, environment.begin(write=True) as transaction:
        transaction.put(b"key", b"value")
    raises(DamagedBook, "no header", Book, path)
