"""Books of format 1, kept as files: every later version reads them. Only new ranks of their game make a book anew."""

import csv

import pytest

from solver.book import Book
from solver.book.check import check_book
from tests.books import KEPT
from tests.exports import needs_node, node

KINDS = "bare conversion exact grown margins nimbers opening outcomes proof steps trimmed wide"
by_name = pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])


def test_a_book_of_each_codec_and_kind_is_kept():
    assert {path.stem.split("-")[0] for path in KEPT} == {*KINDS.split()}
    assert {path.stem.split("-")[1] for path in KEPT} == {"instant", "compact", "ranked"}


@by_name
def test_a_kept_book_has_the_values_of_its_table(path):
    with open(path.with_suffix(".csv"), encoding="utf-8", newline="") as file:
        rows = {
            int(row["state"]): (float(row["score"]), int(row["distance"]) if row.get("distance") else None)
            for row in csv.DictReader(file)
        }
    with Book(path) as book:
        assert book.header.codec == path.stem.split("-")[1] and sorted(book) == sorted(rows)
        assert all((book[state].score, book[state].distance) == value for state, value in rows.items())
    assert check_book(path).stored == len(rows)


@needs_node
@pytest.mark.parametrize("path", [path for path in KEPT if "ranked" not in path.stem], ids=lambda path: path.stem)
def test_javascript_reads_kept_files(path):
    found = node("answers", path.with_suffix(".bin"), path.with_suffix(".csv"))
    assert found["entries"] == found["length"] > 0 and found["facts"]["format"] == 1


@needs_node
def test_javascript_refuses_a_file_made_before(tmp_path):
    data = KEPT[0].with_suffix(".bin").read_bytes()
    (tmp_path / "old.bin").write_bytes(data[:6] + b"\r" + data[7:])
    said = node("ruleless", tmp_path / "old.bin")
    assert said.startswith("DamagedBook: the book is older than format 1: make it anew, solver solve")
