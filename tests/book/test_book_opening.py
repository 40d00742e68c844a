"""How books are opened: often, in threads and processes, while replaced, by digest; and what is not a book."""

import concurrent.futures
import contextlib
import hashlib
import multiprocessing
import os
import pickle
import random
import threading

import pytest

from solver.base.errors import BookError, DamagedBook, ForeignBook
from solver.base.value import Value
from solver.book import Book, pages
from tests import make_fifo
from tests.books import VALUES, book_of, write_values
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


def _answers(path, states):
    with Book(path) as book:
        return [book[state] for state in states]


@pytest.mark.posix("forks")
def test_readers_survive_a_fork_and_threads(either):
    path, values = either
    known = random.Random(3).sample(sorted(values), 2000)
    expected = [values[state] for state in known]
    with Book(path) as book:
        assert book[known[0]] == expected[0]
        child = os.fork()
        if child == 0:
            os._exit([book[state] for state in known] != expected or _answers(path, known) != expected)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert list(pool.map(book.__getitem__, known)) == expected
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        assert processes.apply(_answers, (path, known[:50])) == expected[:50]


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
def test_readers_of_a_book_that_is_replaced_see_old_or_new(path):
    write_values(path, {state: Value(1) for state in range(1000)})

    def read():
        assert len({value.score for value in _answers(path, range(0, 1000, 50))}) == 1

    with reading_meanwhile(read):
        for generation in range(2, 30):
            write_values(path, {state: Value(generation) for state in range(1000)})


def test_books_are_compared_by_their_digests(tmp_path, monkeypatch):
    values = {3 * state: VALUES[state] for state in range(5)}
    others = values | {3: VALUES[5]}
    book, same, other = (book_of(tmp_path / str(n), some) for n, some in enumerate((values, values, others)))
    assert book == values and values == book and book != others and book != {}
    monkeypatch.setattr(Book, "items", None)  # millions of states are not gone through
    assert book == same and book != other and book in [other, same] and len({book, same, other}) == 2
    for one in (book, same, other):
        one.close()
    assert book == same


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
    data = path.read_bytes()
    for place in (0, len(data) // 2, len(data) - 1):  # also where no look-up would ever notice
        (tmp_path / "new").write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        os.replace(tmp_path / "new", path)
        raises(DamagedBook, f"not {sha256}", Book, path, sha256=sha256)
        raises(DamagedBook, f"not {sha256}", pickle.loads, pickled)  # noqa: S301
    path.write_bytes(b"")
    raises(DamagedBook, "not", Book, path, sha256=sha256)


@pytest.mark.posix("replaces an open file")
def test_a_file_that_is_replaced_while_it_is_hashed_is_not_taken_for_the_other(tmp_path, monkeypatch, sample):
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
    book = book_of("book.lmdb", {5: Value(1, 1)})
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    pickled = pickle.dumps(book)
    with pickle.loads(pickled) as again:  # noqa: S301
        assert again[5] == Value(1, 1) and again == book
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        assert processes.apply(Book.get, (book, 5)) == Value(1, 1)
    book.close()
    raises(BookError, "is closed: open it again", pickle.dumps, book)
    write_values(tmp_path / "book.lmdb", {5: Value(-1, 2)})
    raises(ForeignBook, "another book than the one that was pickled", pickle.loads, pickled)  # noqa: S301


def test_files_that_are_no_books(tmp_path):
    (tmp_path / "text").write_text("no book" * 1000)
    (tmp_path / "empty").touch()
    make_fifo(tmp_path / "fifo")
    devices = [path for path in ("/dev/null", "/dev/zero") if (tmp_path / path).exists()]  # Windows has none
    for path in ("text", "empty", "fifo", "", *devices):
        raises(ForeignBook, "not a regular file|not an LMDB file", Book, tmp_path / path)
    raises(BookError, "cannot be read .No such file", Book, tmp_path / "absent")
