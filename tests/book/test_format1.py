"""Books of format 1, kept as files from the day it began: every later version reads them. Nobody makes them anew."""

import csv

import pytest

from solver.base.errors import ForeignBook
from solver.book import Book
from solver.book.check import check_book
from tests.books import KEPT, with_header
from tests.exports import needs_node, node

KINDS = "bare conversion exact grown margins nimbers opening outcomes proof steps trimmed wide"
by_name = pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])


def test_a_book_of_each_codec_and_kind_is_kept():
    assert {path.stem.split("-")[0] for path in KEPT} == {*KINDS.split()}
    assert {path.stem.split("-")[1] for path in KEPT} == {"instant", "compact", "ranked"}


@by_name
def test_a_kept_book_has_the_values_of_its_table(path):
    with open(path.with_suffix(".csv"), encoding="utf-8", newline="") as file:
        rows = [(int(row["state"]), float(row["score"]), row.get("distance") or None) for row in csv.DictReader(file)]
    with Book(path) as book:
        assert book.header.codec == path.stem.split("-")[1] and len(book) == len(rows)
        for state, score, distance in rows:
            value = book[state]
            assert (value.score, value.distance) == (score, None if distance is None else int(distance))
        assert sorted(book) == sorted(state for state, _, _ in rows)
    assert check_book(path).stored == len(rows)


@needs_node
@pytest.mark.parametrize("path", [path for path in KEPT if "ranked" not in path.stem], ids=lambda path: path.stem)
def test_javascript_reads_kept_files(path):
    found = node("answers", path.with_suffix(".bin"), path.with_suffix(".csv"))
    assert found["entries"] == found["length"] > 0 and found["facts"]["format"] == 1


def test_a_book_made_before_is_refused_with_the_remedy(tmp_path):
    path = with_header(KEPT[0], tmp_path / "old.lmdb", format="absent", version=1)
    with pytest.raises(
        ForeignBook, match="older than format 1: make it anew, solver solve 'connect-four:3,3,3' -o BOOK"
    ):
        Book(path)


@needs_node
def test_javascript_refuses_a_file_made_before(tmp_path):
    data = KEPT[0].with_suffix(".bin").read_bytes()
    (tmp_path / "old.bin").write_bytes(data[:6] + b"\r" + data[7:])
    said = node("ruleless", tmp_path / "old.bin")
    assert said.startswith("DamagedBook: the book is older than format 1: make it anew, solver solve")
