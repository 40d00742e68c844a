"""Books: solutions in one memory-mapped file. The layout is in `format`."""

from solver.book.check import check_book
from solver.book.codecs import DEFAULT, check_codec
from solver.book.format import Header
from solver.book.reader import Book
from solver.book.trim import Trim
from solver.book.writer import check_target, placed, write_book

__all__ = ["DEFAULT", "Book", "Header", "Trim", "check_book", "check_codec", "check_target", "placed", "write_book"]
