"""A book in other forms: tables for data work, and `.bin`, one file that other languages read.

All of them stream: memory does not grow with the book. The same book gives the same bytes. `docs/format.md` says what
the files hold.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from solver.book import Book, check_target
from solver.errors import BookError, MethodError, ResourceError
from solver.export import bin, tables
from solver.export.columns import COLUMNS, table_of
from solver.files import replacing
from solver.progress import Progress, silent

TABLES = {
    ".csv": tables.write_csv,
    ".jsonl": tables.write_jsonl,
    ".sqlite": tables.write_sqlite,
    ".parquet": tables.write_parquet,
}
BINARY = ".bin"
ENDINGS = (*TABLES, BINARY)

__all__ = ["COLUMNS", "ENDINGS", "export"]


def export(
    book: Book,
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    progress: Progress = silent,
) -> None:
    """Write a book to a file whose name's ending says the form; `columns` of a table, all that fit if left out.

    The file is there whole or not at all. Raises MethodError for another ending or column, BookError, ResourceError.
    """
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        raise MethodError(f"{path}: what to write is not known: name a file that ends in {', '.join(ENDINGS)}")
    if ending == BINARY and columns is not None:
        raise MethodError(f"{path} holds the whole book: columns are chosen for {', '.join(TABLES)}")
    if ending == BINARY and book.ranking is not None:
        raise MethodError(f"{book.path} is ranked, which only the game's rules can read: solver pack it compact first")
    check_target(target)
    try:
        if ending == BINARY:
            with replacing(target) as partial:
                bin.write(book, partial, progress)
        else:
            table = table_of(book, columns, progress)
            with replacing(target) as partial:
                TABLES[ending](table, partial)
    except BookError:  # an OSError, too
        raise
    except OSError as error:
        raise ResourceError(f"{target} cannot be written ({error.strerror or error}): make room, then again") from None
