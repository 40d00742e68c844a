"""Books: solutions in one memory-mapped file. The layout is in `format`."""

from solver.book.codecs import DEFAULT, check_codec
from solver.book.format import Header
from solver.book.reader import Book
from solver.book.solution import Trim

__all__ = ["DEFAULT", "Book", "Header", "Trim", "check_codec"]
