"""A book in other forms: tables for data work, `.bin`, one file that other languages read, and a page around it.

All of them stream: memory does not grow with the book. The same book gives the same bytes. `docs/format.md` says what
the files hold.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from solver.base.errors import BookError, MethodError, ResourceError
from solver.base.files import replacing, replacing_folder
from solver.base.progress import Progress, silent
from solver.book import Book, check_target
from solver.export import bin, site, tables
from solver.export.columns import COLUMNS, table_of

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

    A folder, one that is there or a name that ends in a slash, becomes a page for browsers; of a book that ends early
    one that searches on, if the search of its game is shipped or Numba is there to build it. What is written is there
    whole or not at all. Raises MethodError for another ending or column, and for rules that cannot run in a page;
    BookError, ResourceError.
    """
    is_page = str(path).endswith(("/", os.sep)) or os.path.isdir(path)
    target = Path(os.path.realpath(path) if is_page else path)
    ending = target.suffix.lower()
    if not is_page and ending not in ENDINGS:
        known = f"name a file that ends in {', '.join(ENDINGS)}, or a folder for a page, with a slash: {target.name}/"
        raise MethodError(f"{path}: what to write is not known: {known}")
    if columns is not None and (is_page or ending == BINARY):
        raise MethodError(f"{path} holds the whole book: columns are chosen for {', '.join(TABLES)}")
    site.check_folder(target) if is_page else check_target(target)
    try:
        if is_page:
            module = site.module_of(book, progress)
            with replacing_folder(target) as folder:
                site.write(book, folder, progress, module)
        elif ending == BINARY:
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
