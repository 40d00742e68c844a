"""Books: solutions in one memory-mapped file. The layout is in `format`."""

from solver.book.check import check_book
from solver.book.format import Header
from solver.book.reader import Book
from solver.book.writer import check_target, write_book

__all__ = ["Book", "Header", "check_book", "check_target", "write_book"]
