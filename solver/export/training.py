"""A training set of a book: a row a stored position where a player moves, in a Parquet file.

    state       the state's number
    split       train, validation or test: by a hash of the state, so that no position is in two of them
    planes      0 or 1, planes x rows x columns one after the other (`layout`)
    legal       0 or 1 for each action of the layout
    score       1, 0, -1, the margin, or the expectation, for the side to move
    distance    plies to the end; nothing for draws and margins
    best        0 or 1 for each action: whether it is a best one, the quickest win and the slowest loss among equals
    regret      for each action how much of the score it gives away, 0 for one that keeps it; nothing if it is not legal
    distances   for each action the plies to the end after it, itself included; nothing where that means nothing

The metadata have the shape of the planes, what each is, and the actions as the rules number them. Compiled rules make
the rows of large books (`batches`), plain Python those of all others.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from solver.base import extras
from solver.base.errors import GameError, MethodError
from solver.base.extras import PLAIN_LIMIT
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.book import Book
from solver.export.columns import AT_HAND, rows_of
from solver.export.layout import Layout, layout_of
from solver.play.player import Player
from solver.rules.game import Rules, is_graph

ROW_GROUP = 1 << 14  # rows that the file keeps together
SPLITS = (("train", 0.8), ("validation", 0.9), ("test", 1.0))  # and the shares up to which they go
Row = tuple[Any, ...]
Columns = list[Any]  # tuples of entries, or the arrays of `batches`


def split_of(state: int) -> str:
    """Which part a state belongs to, whatever the book: 80 % train, 10 % validation, 10 % test."""
    share = int.from_bytes(hashlib.sha256(str(state).encode()).digest()[:8], "big") / 2**64
    return next(name for name, end in SPLITS if share < end or end == 1.0)


def write_training(book: Book, path: Path, progress: Progress) -> None:
    """Write the training set of a book. Raises MethodError without pyarrow and for estimates, DamagedBook."""
    try:
        import pyarrow
        from pyarrow import parquet
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
    schema = _schema(pyarrow, book, layout)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for columns in _groups(book, rules, layout, progress):
            pairs = zip(columns, schema, strict=True)
            arrays = [_array(pyarrow, column, field.type) for column, field in pairs]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))


def _batches(book: Book, rules: Rules) -> Any:
    """The book as arrays and its compiled rules; None where rows are few or plain Python has to make them."""
    if len(book) < PLAIN_LIMIT or rules.plain_only or not extras.has_kernels():
        return None
    from solver.export.batches import Batches

    if not Batches.can_take(book, rules):
        return None
    try:
        return Batches(book, rules, split_of, ROW_GROUP)
    except GameError:
        return None


def _schema(pyarrow: Any, book: Book, layout: Layout) -> Any:
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
    return pyarrow.schema(list(fields.items()), metadata=about)


def _array(pyarrow: Any, column: Any, kind: Any) -> Any:
    """A column of some rows; bytes become lists of them in one piece, as do arrays."""
    if not isinstance(column, tuple):
        is_flat = column.ndim == 1
        entries = pyarrow.array(column.ravel()).cast(kind if is_flat else kind.value_type)
        return entries if is_flat else pyarrow.FixedSizeListArray.from_arrays(entries, type=kind)
    if isinstance(column[0], (bytes, bytearray)):
        flat = pyarrow.py_buffer(b"".join(column))
        values = pyarrow.Array.from_buffers(pyarrow.uint8(), len(flat), [None, flat])
        return pyarrow.FixedSizeListArray.from_arrays(values, type=kind)
    if pyarrow.types.is_dictionary(kind):
        return pyarrow.array(column, pyarrow.string()).dictionary_encode().cast(kind)
    return pyarrow.array(column, kind)


def _groups(book: Book, rules: Rules, layout: Layout, progress: Progress) -> Iterator[Columns]:
    """The columns of one row group after the other: by arrays, where compiled rules cannot answer by plain Python."""
    player = functools.cache(lambda: _player_of(book, rules))
    wide = bool(book.header.state_bytes)

    def row(state: int, value: Value) -> Row | None:
        return _row(player(), layout, state, value, wide)

    batches = _batches(book, rules)
    if batches is None:
        rows = rows_of(book, book.items(), row, progress)
        while some := list(islice(rows, ROW_GROUP)):
            yield list(zip(*some, strict=True))
        return
    for begin in range(0, len(batches.states), ROW_GROUP):
        states = batches.states[begin : begin + ROW_GROUP].tolist()
        columns = batches.columns(begin, begin + len(states), layout)
        if columns is None:
            pairs = ((state, book[state]) for state in states)
            columns = list(zip(*rows_of(book, pairs, row, silent), strict=True))
        yield columns
        progress("export", begin + len(states), len(book))
    progress("export", len(book), len(book))


def _player_of(book: Book, rules: Rules) -> Player:
    if len(book) <= AT_HAND and not rules.folds:
        return Player(dict(book.items()), book.game, live=False)
    return Player(book, live=False)


def _row(player: Player, layout: Layout, state: int, value: Value, wide: bool) -> Row | None:
    """A position's row; None where chance decides."""
    moves = player.analyse(state)
    if not moves:
        return None
    regret: list[Any] = [None] * len(layout.actions)
    distances: list[Any] = [None] * len(layout.actions)
    for move in moves:
        number = layout.number(move.action)
        if move.value is not None:
            regret[number] = value.score - move.value.score
            distances[number] = move.value.distance
    return (
        str(state) if wide else state,
        split_of(state),
        layout.planes(player.rules, state),
        layout.mask(move.action for move in moves),
        value.score,
        value.distance,
        layout.mask(move.action for move in moves if move.best),
        regret,
        distances,
    )
