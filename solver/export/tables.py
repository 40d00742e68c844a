"""Tables as files: each function writes the rows of a table to a new file or a stream, none keeps them."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, cast

from solver.base.errors import MethodError, ResourceError
from solver.base.files import fullness
from solver.export.columns import Table

ROW_GROUP = 1 << 16  # rows that a Parquet file keeps together
FORMULA = "=+-@\t\r\n"  # how one begins
TYPES = {int: "INTEGER", float: "REAL", str: "TEXT", list: "TEXT"}


def stream_csv(table: Table, file: TextIO) -> None:
    """A line of names, then a line a state; best moves with spaces between, nothing where nothing is known.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.names)
    writer.writerows(_without_formulas(table))


def stream_jsonl(table: Table, file: TextIO) -> None:
    """A JSON object a line; best moves are a list, null where nothing is known."""
    encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
    names = table.names
    file.writelines(encode(dict(zip(names, row, strict=True))) + "\n" for row in table.rows)


def write_csv(table: Table, path: Path) -> None:
    """The file of `stream_csv`."""
    with open_text(path, "x") as file:
        stream_csv(table, file)


def write_jsonl(table: Table, path: Path) -> None:
    """The file of `stream_jsonl`."""
    with open_text(path, "x") as file:
        stream_jsonl(table, file)


def open_text(path: Path, mode: str) -> TextIO:
    """A file to write text to, whose line ends are LF on every system."""
    return cast(TextIO, open(path, mode, encoding="utf-8", newline=""))


def write_sqlite(table: Table, path: Path) -> None:
    """Write a table `states`, whose key is the state, and a table `about` of the book's facts."""
    columns = ", ".join(
        f"{name} {TYPES[kind]}{' PRIMARY KEY' if name == 'state' else ''}"
        for name, kind in zip(table.names, table.kinds(), strict=True)
    )
    places = ", ".join("?" * len(table.names))
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            # the file is new and is synced when it is whole: a journal would only double the writing
            for setting in ("page_size = 4096", "journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
                database.execute(f"PRAGMA {setting}")
            database.execute("BEGIN")
            database.execute("CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
            database.executemany("INSERT INTO about VALUES (?, ?)", table.about.items())
            database.execute(f"CREATE TABLE states ({columns})")
            database.executemany(f"INSERT INTO states VALUES ({places})", _flat(table))
            database.execute("COMMIT")
    except sqlite3.Error as error:
        fault = fullness(error, path.parent) or f"{path.parent} cannot hold the table ({error}): make room"
        raise ResourceError(f"{fault}, then again") from None


def write_parquet(table: Table, path: Path) -> None:
    """Write a Parquet file of zstd-compressed row groups. Best moves are a list. The metadata hold the book's facts."""
    try:
        import pyarrow
    except ImportError:
        raise MethodError("Parquet needs pyarrow: pip install 'solverbook[parquet]', or write .sqlite") from None
    text = pyarrow.string()
    types = {int: pyarrow.int64(), float: pyarrow.float64(), str: text, list: pyarrow.list_(text)}
    kinds = [types[kind] for kind in table.kinds()]
    schema = pyarrow.schema(list(zip(table.names, kinds, strict=True)), metadata=table.about)
    write_groups(path, schema, table.rows, ROW_GROUP)


def write_groups(path: Path, schema: Any, rows: Iterator[tuple[Any, ...]], size: int) -> None:
    """Write rows to a Parquet file, so many to a group."""
    import pyarrow
    from pyarrow import parquet

    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, size)):
            columns = zip(zip(*group, strict=True), schema, strict=True)
            arrays = [_array(column, field.type) for column, field in columns]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))


def _array(column: tuple[Any, ...], kind: Any) -> Any:
    """A column of some rows; bytes become lists of them in one piece."""
    import pyarrow

    if isinstance(column[0], (bytes, bytearray)):
        flat = pyarrow.py_buffer(b"".join(column))
        values = pyarrow.Array.from_buffers(pyarrow.uint8(), len(flat), [None, flat])
        return pyarrow.FixedSizeListArray.from_arrays(values, type=kind)
    if pyarrow.types.is_dictionary(kind):
        return pyarrow.array(column, pyarrow.string()).dictionary_encode().cast(kind)
    return pyarrow.array(column, kind)


def _without_formulas(table: Table) -> Iterator[Sequence[Any]]:
    """The same with texts that are texts in spreadsheets, too (OWASP, CSV injection). Numbers stay numbers."""
    texts = [place for place, kind in enumerate(table.kinds()) if kind in (str, list)]
    for row in _flat(table):
        found = [place for place in texts if row[place] and row[place][0] in FORMULA]
        yield [f"'{cell}" if place in found else cell for place, cell in enumerate(row)] if found else row


def _flat(table: Table) -> Iterator[tuple[Any, ...]]:
    """The rows, lists of moves as one text."""
    lists = [place for place, kind in enumerate(table.kinds()) if kind is list]
    if not lists:
        return table.rows
    place = lists[0]
    return (row[:place] + (row[place] and " ".join(row[place]),) + row[place + 1 :] for row in table.rows)
