"""Tables of a book as files, and training sets: rows of stored states, in the order of the book, none kept.

The columns of a table
    state     the state's number
    board     the rows of cells with "/" between them, as a position may be written; else as the game shows it
    mover     who is to move, 1 or 2; nothing where neither the state nor its cells tell
    value     win, draw or loss, for the side to move; nothing of expectations
    score     1, 0, -1, the margin, the expectation, or the nimber, -1 for 0
    distance  plies to the end; nothing for draws and margins
    tier      what the rules call so: it grows along the game, in many games it is the ply
    best      the best moves in the game's notation; nothing where the book does not know them

A training set has a row for each stored position where a player moves, in a Parquet file
    state       the state's number
    split       train, validation or test: by a hash of the state, so that no position is in two of them
    planes      0 or 1, planes x rows x columns one after the other (`layout`)
    legal       0 or 1 for each action of the layout
    score       1, 0, -1, the margin, or the expectation, for the side to move
    distance    plies to the end; nothing for draws and margins
    best        0 or 1 for each action: whether it is a best one, the quickest win and the slowest loss among equals
    regret      for each action how much of the score it gives away, 0 for one that keeps it; nothing if it is not legal
    distances   for each action the plies to the end after it, itself included; nothing where that means nothing

The metadata have the shape of the planes, what each is, and the actions as the rules number them.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO, cast

from solver.base.errors import BookError, DamagedBook, LayoutError, MethodError, ResourceError
from solver.base.files import fullness
from solver.base.progress import Progress
from solver.base.value import Value, keeps, sign_of
from solver.book import Book
from solver.export.layout import layout_of
from solver.play.player import Player
from solver.rules.boards.text import is_drawn, mover_of
from solver.rules.game import is_graph, own_method
from solver.rules.notation import board_of, namer

COLUMNS = dict(state=int, board=str, mover=int, value=str, score=int, distance=int, tier=int, best=list)
OF_RULES = {"board", "mover", "tier", "best"}  # which are not in the book itself
STEP = 1024  # rows between two reports
ROW_GROUP, TRAINING_GROUP = 1 << 16, 1 << 14  # rows that a Parquet file keeps together, and a training set
FORMULA = "=+-@\t\r\n"  # how one begins
TYPES = {int: "INTEGER", float: "REAL", str: "TEXT", list: "TEXT"}
SPLITS = (("train", 0.8), ("validation", 0.9), ("test", 1.0))  # and the shares up to which they go

Cell = Callable[[int, Value], Any]
Row = tuple[Any, ...]


class Table(NamedTuple):
    """A table to write.

    It has the columns' names, the rows as tuples, which can be read once, and the book's facts. `number` is the type of
    scores, and `state` that of states: text if they take more than 63 bits.
    """

    names: list[str]
    rows: Iterator[Row]
    about: dict[str, str]
    number: type = int
    state: type = int

    def kinds(self) -> list[type]:
        """Return the types of the columns: int, float, str, or list of str. Distances and best moves may be None."""
        own_kinds = {"score": self.number, "state": self.state}
        return [own_kinds.get(name, COLUMNS[name]) for name in self.names]


def table_of(book: Book, names: Sequence[str] | None, progress: Progress) -> Table:
    """The table of a book; without names with all columns that say something. Raises MethodError, ForeignBook."""
    header = book.header
    if names is None:
        silent = [*header.kind.silent, *(() if book.rules.tiered else ("tier",))]
        silent += [] if own_method(book.game, "show") or is_drawn(book.game) else ["board"]
        silent += [] if own_method(book.game, "to_move") or own_method(book.game, "from_cells") else ["mover"]
        names = [name for name in COLUMNS if name not in silent]
    for name in names:
        if name not in COLUMNS:
            raise MethodError(f"no column {name!r}: choose from {', '.join(COLUMNS)}")
    if not names or len(set(names)) < len(names):
        raise MethodError(f"a table has some columns, each once: choose from {', '.join(COLUMNS)}")
    # Databases hold no more than 63 bits
    kind = str if header.state_bytes else int
    columns: dict[str, Cell] = {
        "state": lambda state, value: kind(state),
        "value": lambda state, value: value.outcome,
        "score": lambda state, value: value.score,
        "distance": lambda state, value: value.distance,
    }
    # Only some columns load the rules
    if not OF_RULES.isdisjoint(names):
        game, rules = book.game, book.rules
        if "tier" in names and not rules.tiered:
            raise MethodError(f"the rules of {rules.name} have no tiers: omit the column tier")
        mover = functools.lru_cache(1)(lambda state: mover_of(game, state))
        columns["board"] = lambda state, value: _in_line(board_of(game, state, mover(state) or 0))
        columns["mover"] = lambda state, value: None if (side := mover(state)) is None else side + 1
        columns["tier"] = lambda state, value: rules.tier(state)
        columns["best"] = _best_of(book)
    cells = [columns[name] for name in names]
    about = {name: str(getattr(header, name)) for name in ("game", "rules", "method", "scope")}
    folded = "folded" if header.symmetry else "none"
    about |= {"symmetry": folded, "states": str(header.stored), "digest": header.digest}
    meaning = header.expectation or header.estimate
    if meaning:
        about |= {name: str(fact) for name, fact in meaning._asdict().items()}

    def row(state: int, value: Value) -> Row:
        return tuple([cell(state, value) for cell in cells])

    return Table(list(names), rows_of(book, row, progress), about, header.kind.number, kind)


def _in_line(board: Sequence[str] | str) -> str:
    return "/".join(board.splitlines() if isinstance(board, str) else board)


def _best_of(book: Book) -> Cell:
    """Return a function that lists the best of the moves that are known to keep a state's value.

    It returns None if there is none, which in a complete book happens only where chance decides.
    """
    player, complete = Player(book, live=False), book.header.scope == "complete" and not book.header.kind.error
    named, signed = namer(player.game), book.header.kind.signed

    def best(state: int, value: Value) -> list[str] | None:
        value = sign_of(value) if signed else value
        _, moves = player.examine(state)
        keepers = [move.action for move in moves if move.best and move.value is not None and keeps(move.value, value)]
        if moves and not keepers and complete:
            raise DamagedBook(f"{book.path}: no move from state {state} has its value: verify the book, solve it again")
        return [named(state, action) for action in keepers] or None

    return best


def rows_of(book: Book, row: Callable[[int, Value], Row | None], progress: Progress) -> Iterator[Row]:
    """Yield the row of each state of a book and its value, where `row` makes one. Raises DamagedBook."""
    written = 0
    for state, value in book.items():
        try:
            record = row(state, value)
        except (BookError, LayoutError, MemoryError):
            raise
        except Exception as error:
            # Rules need not bear numbers that are not states
            name = type(error).__name__
            raise DamagedBook(f"{book.path}: {state} is not a state of its game ({name}): solve it again") from None
        if record is not None:
            yield record
        written += 1
        if written % STEP == 0:
            progress("export", written, len(book))
    progress("export", written, len(book))


def stream_csv(table: Table, file: TextIO) -> None:
    """A line of names, then a line a state; best moves with spaces between, nothing where nothing is known.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.names)
    # Texts are texts in spreadsheets, too (OWASP, CSV injection); numbers stay numbers
    texts = [place for place, kind in enumerate(table.kinds()) if kind in (str, list)]
    for row in _flat(table):
        found = [place for place in texts if row[place] and row[place][0] in FORMULA]
        writer.writerow([f"'{cell}" if place in found else cell for place, cell in enumerate(row)] if found else row)


def stream_jsonl(table: Table, file: TextIO) -> None:
    """A JSON object a line; best moves are a list, null where nothing is known."""
    encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
    file.writelines(encode(dict(zip(table.names, row, strict=True))) + "\n" for row in table.rows)


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
            arrays = []
            for column, field in zip(zip(*group, strict=True), schema, strict=True):
                if isinstance(column[0], (bytes, bytearray)):
                    # They become lists of bytes in one piece
                    flat = pyarrow.py_buffer(b"".join(column))
                    values = pyarrow.Array.from_buffers(pyarrow.uint8(), len(flat), [None, flat])
                    arrays.append(pyarrow.FixedSizeListArray.from_arrays(values, type=field.type))
                elif pyarrow.types.is_dictionary(field.type):
                    arrays.append(pyarrow.array(column, pyarrow.string()).dictionary_encode().cast(field.type))
                else:
                    arrays.append(pyarrow.array(column, field.type))
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))


def _flat(table: Table) -> Iterator[tuple[Any, ...]]:
    """The rows, lists of moves as one text."""
    if "best" not in table.names:
        return table.rows
    place = table.names.index("best")
    return (row[:place] + (row[place] and " ".join(row[place]),) + row[place + 1 :] for row in table.rows)


def split_of(state: int) -> str:
    """Which part a state belongs to, whatever the book: 80 % train, 10 % validation, 10 % test."""
    share = int.from_bytes(hashlib.sha256(str(state).encode()).digest()[:8], "big") / 2**64
    return next(name for name, end in SPLITS if share < end or end == 1.0)


def write_training(book: Book, path: Path, progress: Progress) -> None:
    """Write the training set of a book. Raises MethodError without pyarrow and for estimates, DamagedBook."""
    try:
        import pyarrow
    except ImportError:
        raise MethodError("a training set needs pyarrow: pip install 'solverbook[parquet]'") from None
    if book.header.estimate is not None:
        raise MethodError(f"{book.path} holds estimates, which are not exact: learn from a solved book")
    book.header.kind.refuse("learn", book.path.name)
    rules = book.rules
    if is_graph(rules.name):
        raise MethodError(
            f"{rules.name} is a graph: a state is a position's number and an action a place in a list, from which"
            " nothing is learned. Export it as csv, or train in OpenSpiel with PlayerPolicy"
        )
    layout = layout_of(rules, book)
    number = pyarrow.float64() if book.header.kind.number is float else pyarrow.int64()
    planes, rows, columns = layout.shape
    mask = pyarrow.list_(pyarrow.uint8(), len(layout.actions))
    about = {
        "game": book.header.game,
        "rules": book.header.rules,
        "digest": book.header.digest,
        "shape": json.dumps([planes, rows, columns]),
        "planes": json.dumps([*(layout.symbols or ["bits of the state"]), "second player to move"]),
        "actions": json.dumps(layout.actions),
    }
    fields = {
        "state": pyarrow.string() if book.header.state_bytes else pyarrow.int64(),
        "split": pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
        "planes": pyarrow.list_(pyarrow.uint8(), planes * rows * columns),
        "legal": mask,
        "score": number,
        "distance": pyarrow.int32(),
        "best": mask,
        "regret": pyarrow.list_(number, len(layout.actions)),
        "distances": pyarrow.list_(pyarrow.int32(), len(layout.actions)),
    }
    schema = pyarrow.schema(list(fields.items()), metadata=about)
    player, kind, count = Player(book, live=False), str if book.header.state_bytes else int, len(layout.actions)

    def row(state: int, value: Value) -> Row | None:
        _, moves = player.examine(state)
        # Chance decides
        if not moves:
            return None
        legal, best = bytearray(count), bytearray(count)
        regret: list[Any] = [None] * count
        distances: list[Any] = [None] * count
        for move in moves:
            number = layout.number(move.action)
            legal[number], best[number] = 1, move.best
            if move.value is not None:
                regret[number] = value.score - move.value.score
                distances[number] = move.value.distance
        planes = layout.planes(rules, state)
        return kind(state), split_of(state), planes, legal, value.score, value.distance, best, regret, distances

    write_groups(path, schema, rows_of(book, row, progress), TRAINING_GROUP)
