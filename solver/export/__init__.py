"""A book in other forms: tables for data work, `.bin`, one file that other languages read, and a page around it.

A page may be of a game alone, too, which it searches.

All of them stream: memory does not grow with the book. The same book gives the same bytes.
`docs/reference/format.md` describes the files.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from solver.base.errors import BookError, MethodError, ResourceError
from solver.base.files import fullness, replacing
from solver.base.progress import Progress, silent
from solver.book import Book, Source, open_source
from solver.book.writer import UNMARKED, check_target
from solver.export import bin, site, tables
from solver.export.tables import COLUMNS, table_of, write_training
from solver.puzzles import Puzzle
from solver.rules.game import Game, load_game, name_in

BINARY, PARQUET = ".bin", ".parquet"
STREAMS = {".csv": tables.stream_csv, ".jsonl": tables.stream_jsonl}
TABLES = {".sqlite": tables.write_sqlite, PARQUET: tables.write_parquet}
ENDINGS = (*STREAMS, *TABLES, BINARY)
# A table of text is ours if its first line has these names alone, and one of them that nobody writes for `import`; and
# if its first row has the number of a state and, where `value` alone stands beside that, a word
NAMES = rb"(board|mover|value|score|distance|tier|best)"
CSV = rb"\Astate(?!(,score|,distance)*\n|,value\n(?!\d+,(win|draw|loss)?\n|\Z))(," + NAMES + rb")+\n(\d|\Z)"
JSONL = rb'\A\{"state":"?\d+"?,"(?=.*\b((board|mover|tier|best)":|value":["n]))' + NAMES + rb'":'
MARKS = {
    ".csv": CSV,
    ".jsonl": JSONL,
    ".sqlite": rb"CREATE TABLE about \(name TEXT PRIMARY KEY, value TEXT\) WITHOUT ROWID",
    PARQUET: rb"(?s)\bgame\b.+\brules\b.+\bdigest\b.+PAR1\Z",
    BINARY: rb"\A" + bin.MAGIC,
}

__all__ = ["COLUMNS", "ENDINGS", "export", "export_all", "is_page"]


def is_page(path: str | os.PathLike[str]) -> bool:
    """Whether an export there becomes a page: a folder that is there, or a name that ends in a slash."""
    return str(path).endswith(("/", os.sep)) or os.path.isdir(path)


def export(
    source: Source,
    path: str | os.PathLike[str] | TextIO,
    columns: Sequence[str] | None = None,
    *,
    training: bool = False,
    form: str | None = None,
    puzzles: Sequence[Puzzle] = (),
    progress: Progress = silent,
) -> list[str]:
    """Write a book, or the one at a path, to a file whose ending says the form; `columns` of a table, all if left out.

    `training` makes a .parquet for learners (`training`). A folder, one that is there or a name that ends in a slash,
    becomes a page for browsers; of a book that ends early one that searches on, if the search of its game is shipped
    or Numba is there to build it. A page takes a game, or its name, in place of a book: then it answers by its search
    alone. The export appears whole or not at all. Returns the parts that a page lacks and the reasons, a line each.
    Raises MethodError for another ending or column, for rules that cannot run in a page, and for games alone that
    cannot be searched there; GameError, BookError, ResourceError.

    `form` says "csv" or "jsonl" where no ending does. `path` may also be an open text file or a pipe, which gets
    a table row by row, as CSV where nothing says the form. A page sets `puzzles`, as `find_puzzles` returns them.
    """
    if not isinstance(path, (str, os.PathLike)):
        # To an open file, or a pipe, row by row
        form = form or "csv"
        if f".{form}" not in STREAMS or training or puzzles:
            other = "a folder for puzzles" if puzzles else f"a file for {'a training set' if training else form}"
            raise MethodError(f"a stream is {' or '.join(ending[1:] for ending in STREAMS)}: name {other}")
        with _opened(source, False) as opened:
            if not isinstance(opened, Book):
                raise MethodError(f"{form} holds a book, and this is a game: solve it first")
            STREAMS[f".{form}"](table_of(opened, columns, progress), path)
        return []
    if Path(path).is_fifo():
        ending = Path(path).suffix.lower()
        form = form or (ending[1:] if ending in ENDINGS else None)
        with tables.open_text(Path(path), "w") as file:
            return export(source, file, columns, training=training, form=form, puzzles=puzzles, progress=progress)
    if form is not None and (is_page(path) or Path(path).suffix.lower() in {*ENDINGS} - {f".{form}"}):
        raise MethodError(f"{path} is not for {form}: name a file that ends in .{form}, or leave the form out")
    target = Path(os.path.realpath(path) if is_page(path) else path)
    if puzzles and not is_page(path):
        raise MethodError(f"{path} is not a page, and puzzles go into one: name a folder, with a slash")
    if columns is not None and (is_page(path) or target.suffix.lower() == BINARY):
        raise MethodError(f"{path} holds the whole book: columns are chosen for {', '.join(ENDINGS[:-1])}")
    if training and (target.suffix.lower() != PARQUET or columns is not None):
        raise MethodError(f"a training set is a {PARQUET} with columns of its own: name a file, leave --columns out")
    with _writing(target), _opened(source, is_page(path)) as opened:
        if is_page(path):
            book, game = (opened, opened.game) if isinstance(opened, Book) else (None, opened)
            site.check_folder(target)
            if book is not None:
                # A book that cannot even say what the start is worth makes no page
                book.get(book.rules.first())
            with replacing(target) as folder:
                return site.write(game, book, folder, "", puzzles, progress)
        ending = f".{form}" if form else target.suffix.lower()
        if ending not in ENDINGS:
            known = f"a file that ends in {', '.join(ENDINGS)}, or a folder for a page, with a slash: {target.name}/"
            raise MethodError(f"{target}: what to write is not known: name {known}")
        if not isinstance(opened, Book):
            raise MethodError(
                f"{ending} holds a book, and this is a game: solve it first, or write a page, {target.stem}/"
            )
        check_target(target, MARKS.get(ending, UNMARKED))
        table = None if training or ending == BINARY else table_of(opened, columns, progress)
        with replacing(target) as partial:
            if table is None:
                (write_training if training else bin.write)(opened, partial, progress)
            elif ending in STREAMS:
                with tables.open_text(partial, "x") as file:
                    STREAMS[ending](table, file)
            else:
                TABLES[ending](table, partial)
        return []


def export_all(
    sources: Sequence[Source],
    path: str | os.PathLike[str],
    *,
    puzzles: Sequence[Sequence[Puzzle]] = (),
    progress: Progress = silent,
) -> list[str]:
    """Write the pages of several books, or games that are searched, into a folder, with an index of their boards.

    As `export` writes a page, with the `puzzles` of each source, if there are any; raises MethodError also where two
    are of one game.
    """
    if not is_page(path):
        raise MethodError(f"{path} holds one book: name one, or for the pages of several a folder, with a slash: site/")
    target = Path(os.path.realpath(path))
    with _writing(target), contextlib.ExitStack() as stack:
        opened = [stack.enter_context(_opened(source, True)) for source in sources]
        pairs = [(one.game, one) if isinstance(one, Book) else (one, None) for one in opened]
        # Refuse double names before building anything
        site.folders_of(game for game, _ in pairs)
        site.check_folder(target, site.index_files([]), site.GAMES_FILE)
        with replacing(target) as folder:
            entries = [(*pair, some) for pair, some in zip(pairs, puzzles or [()] * len(pairs), strict=True)]
            return site.write_index(entries, folder, progress)


@contextlib.contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Turn the system's errors while a file is written into a ResourceError."""
    try:
        yield
    except BookError:  # an OSError, too
        raise
    except OSError as error:
        fault = fullness(error, target.parent) or f"{target} cannot be written ({error.strerror or error}): make room"
        raise ResourceError(f"{fault}, then again") from None


@contextlib.contextmanager
def _opened(source: Source, for_page: bool) -> Iterator[Book | Game]:
    """The book or game that a source names, which is closed behind if it was opened here; but for a page a book."""
    if isinstance(source, Book):
        yield source
    elif name_in(source) is None:
        yield load_game(source)
    elif for_page:
        with open_source(source) as opened:
            yield opened.game if opened.book is None else opened.book
    else:
        with Book(source) as book:
            yield book
