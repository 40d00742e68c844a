"""Headers that are damaged, of other formats, hostile, or that contradict themselves are refused."""

import contextlib
from pathlib import Path

import msgpack
import pytest

from solver.base.errors import DamagedBook, ForeignBook, GameError, MissingState
from solver.base.value import Value
from solver.book import Book
from solver.book.format import HEADER_KEY, check_facts, seal
from solver.book.solution import Trim
from solver.games import CATALOGUE, FROM_FILES
from tests import make_fifo
from tests.books import book_of, header_of, records_of, rewritten, sample_values, with_header, write_values
from tests.refusals import raises


@pytest.fixture(scope="module")
def lying(tmp_path_factory):
    """A small book and the fields of its header."""
    path = tmp_path_factory.mktemp("books") / "small.lmdb"
    write_values(path, sample_values(3000))
    return path, msgpack.unpackb(records_of(path)[HEADER_KEY][4:])


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"magic": "other"}, ForeignBook, "no mark of a book"),
        ({"format": 2}, ForeignBook, "format 2, this package reads 1"),
        ({"format": "absent"}, ForeignBook, "format None"),
        (
            {"format": "absent", "version": 1},
            ForeignBook,
            "older than format 1: make it anew, solver solve 'coins' -o BOOK",
        ),
        ({"keys": "ranks"}, DamagedBook, "unknown layout"),
        ({"values": "steps"}, DamagedBook, "unknown layout"),
        ({"sparse": 2}, DamagedBook, "unknown layout"),
        ({"byte_order": "big"}, DamagedBook, "unknown layout"),
        ({"complete": False}, DamagedBook, "unknown layout"),
        ({"palette": [[1, 1], [1]]}, DamagedBook, "malformed"),
        ({"palette": [[1.5, None]]}, DamagedBook, "no \\[score, distance\\]"),
        ({"stored": -1}, DamagedBook, "malformed"),
        ({"stored": "many"}, DamagedBook, "stored is not of type int"),
        ({"root": "absent"}, DamagedBook, "malformed: a part is missing"),
        ({"method": "guessing"}, DamagedBook, "unknown method"),
        ({"book_id": b"short"}, DamagedBook, "no book id"),
    ],
)
def test_headers_that_are_not_ours_are_refused(lying, tmp_path, changes, error, message):
    raises(error, message, Book, with_header(lying[0], tmp_path / "changed.lmdb", **changes))


def of_wins(count):
    return {"stored": count, "states": count, "counts": {"win": count, "draw": 0, "loss": 0}}


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
    "more states than segments can hold": lambda h: of_wins(1 << 40),
    "no states": lambda h: of_wins(0),
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
    raises(DamagedBook, "malformed|cannot hold", Book, with_header(path, tmp_path / "lie.lmdb", **LIES[lie](fields)))


SOURCE = "0" * 64
TRIM = Trim(SOURCE, "complete", side="first", plies=2)
TRIMMED = {"scope": "trimmed", "states": None, "terminal": None, "root": Value(1, 3), "trim": TRIM}
WIDE = {"state_bytes": 16}


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (TRIMMED, None),
        (TRIMMED | {"trim": None}, "scope and trim"),
        (TRIMMED | {"scope": "complete"}, "scope and trim"),
        (TRIMMED | {"trim": TRIM._replace(plies=3)}, "makes up"),
        (TRIMMED | {"trim": TRIM._replace(plies=True)}, "makes up"),
        (TRIMMED | {"trim": TRIM._replace(side="third")}, "makes up"),
        (TRIMMED | {"trim": TRIM._replace(source="here")}, "names no book"),
        (TRIMMED | {"trim": TRIM._replace(scope="trimmed")}, "unknown method or scope"),
        (TRIMMED | {"trim": TRIM._replace(max_ply=-1)}, "limits"),
        (TRIMMED | {"trim": TRIM._replace(max_bytes=1 << 64)}, "limits"),
        (TRIMMED | {"trim": Trim(SOURCE, "complete")}, "nothing out"),
        (TRIMMED | {"states": 4}, "whole game without one"),
        (TRIMMED | {"wdl": 1}, "distance"),
        (TRIMMED | {"wdl": True}, "no value"),
        (WIDE, None),
        (WIDE | {"state_bytes": 8}, "no size"),
        (WIDE | {"state_bytes": 12}, "differ|no size"),
        (WIDE | {"state_bytes": 72}, "differ|no size"),
        (WIDE | {"longest": (1, 1 << 128)}, "differ|no size"),
    ],
)
def test_facts_of_trimmed_and_wide_books_that_contradict_themselves_are_refused(facts, message):
    header = header_of({1: Value(1, 3), 2: Value(0), 3: Value(-1, 2)}, digest=SOURCE, **facts)
    with pytest.raises(ValueError, match=message) if message else contextlib.nullcontext():
        check_facts(header)


@pytest.mark.parametrize("place", ["/dev/zero", "fifo", "exercise.json"])
def test_a_book_opens_no_path_that_it_names(tmp_path, path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    make_fifo("fifo")
    Path("exercise.json").write_text("[[3, 12], [2, 4]]", encoding="utf-8")
    with book_of(path, {5: Value(0)}, game=f"tree:{place}") as book:
        raises(ForeignBook, f"name its rules, --game tree:(PATH/)?{place}", getattr, book, "game")
        raises(MissingState, None, book.__getitem__, 6)


MONSTROUS = ["9" * 18, ",".join(["9" * 18] * 4), ",".join("1" * 2000), "9" * 4000]


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name not in FROM_FILES])
def test_parameters_without_measure_in_a_header_take_neither_time_nor_memory(path, name):
    for text in MONSTROUS:
        with book_of(path, {5: Value(0)}, game=f"{name}:{text}", symmetry=True) as book:
            raises((GameError, ForeignBook), None, getattr, book, "game")
            raises(ForeignBook, "may be folded by symmetry: ", book.__getitem__, 6)


HOSTILE = [b"", b"abc", b"\x91" * 100_000 + b"\x01", bytes(2 << 20), msgpack.packb([1, 2]), msgpack.packb({1: 2})]
HOSTILE += [kind + b"\xff\xff\xff\xff" for kind in (b"\xdb", b"\xdd", b"\xdf")]  # of four gigabytes


@pytest.mark.parametrize("header", [None, *(seal(b"", 0, record) for record in HOSTILE)], ids=range(10))
def test_hostile_and_missing_headers_are_refused(lying, tmp_path, header):
    path = rewritten(lying[0], tmp_path / "bomb.lmdb", lambda key, record: header if key == HEADER_KEY else record)
    raises((DamagedBook, ForeignBook), "no header: .*its writing did not end" if header is None else None, Book, path)
