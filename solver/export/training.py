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

The metadata have the shape of the planes, what each is, and the actions as the rules number them.
"""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from solver.base.errors import MethodError
from solver.base.progress import Progress
from solver.base.value import Value
from solver.book import Book
from solver.export.columns import Row, rows_of
from solver.export.layout import Layout, layout_of
from solver.export.tables import write_groups
from solver.play.player import Player
from solver.rules.game import is_graph

ROW_GROUP = 1 << 14  # rows that the file keeps together
SPLITS = (("train", 0.8), ("validation", 0.9), ("test", 1.0))  # and the shares up to which they go


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
    row = functools.partial(_row, Player(book, live=False), layout, str if book.header.state_bytes else int)
    write_groups(path, _schema(pyarrow, book, layout), rows_of(book, book.items(), row, progress), ROW_GROUP)


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


def _row(player: Player, layout: Layout, kind: type, state: int, value: Value) -> Row | None:
    """A position's row; None where chance decides."""
    _, moves = player.examine(state)
    if not moves:
        return None
    count = len(layout.actions)
    legal, best = bytearray(count), bytearray(count)
    regret: list[Any] = [None] * count
    distances: list[Any] = [None] * count
    for move in moves:
        number = layout.number(move.action)
        legal[number], best[number] = 1, move.best
        if move.value is not None:
            regret[number] = value.score - move.value.score
            distances[number] = move.value.distance
    planes = layout.planes(player.rules, state)
    return kind(state), split_of(state), planes, legal, value.score, value.distance, best, regret, distances
