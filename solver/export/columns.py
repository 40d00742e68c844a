"""The columns of a book's tables, one row a stored state, in the order of the book: ascending.

state     the state's number
board     as the game shows it, of several lines for most games
value     win, draw or loss, for the side to move; nothing of expectations
score     1, 0, -1, the margin, the expectation, or the nimber, -1 for 0
distance  plies to the end; nothing for draws and margins
tier      what the rules call so: it grows along the game, in many games it is the ply
best      the best moves in the game's notation; nothing where the book does not know them
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from solver.base.errors import BookError, DamagedBook, LayoutError, MethodError
from solver.base.progress import Progress
from solver.base.value import Value, keeps, sign_of
from solver.book import Book
from solver.play.player import Player
from solver.rules.boards.text import is_drawn
from solver.rules.game import own_method
from solver.rules.notation import namer, show

COLUMNS = {"state": int, "board": str, "value": str, "score": int, "distance": int, "tier": int, "best": list}
OF_RULES = {"board", "tier", "best"}  # which are not in the book itself
STEP = 1024  # rows between two reports

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
    chosen = _fitting(book) if names is None else _checked(names)
    header = book.header
    # Databases hold no more than 63 bits
    kind = str if header.state_bytes else int
    cells = _cells(book, chosen, kind)
    about = {
        "game": header.game,
        "rules": header.rules,
        "method": header.method,
        "scope": header.scope,
        "symmetry": "folded" if header.symmetry else "none",
        "states": str(header.stored),
        "digest": header.digest,
    }
    meaning = header.expectation or header.estimate
    if meaning:
        about |= {name: str(fact) for name, fact in meaning._asdict().items()}

    def row(state: int, value: Value) -> Row:
        return tuple([cell(state, value) for cell in cells])

    return Table(chosen, rows_of(book, book.items(), row, progress), about, header.kind.number, kind)


def _fitting(book: Book) -> list[str]:
    rules = book.rules
    silent = [*book.header.kind.silent, *(() if rules.tiered else ("tier",))]
    silent += [] if own_method(book.game, "show") or is_drawn(book.game) else ["board"]
    return [name for name in COLUMNS if name not in silent]


def _checked(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in COLUMNS:
            raise MethodError(f"no column {name!r}: choose from {', '.join(COLUMNS)}")
    if not names or len(set(names)) < len(names):
        raise MethodError(f"a table has some columns, each once: choose from {', '.join(COLUMNS)}")
    return list(names)


def _cells(book: Book, names: list[str], kind: type) -> list[Cell]:
    """Return a function for each column: from a state and its value to the entry. Only some columns load the rules."""
    cells: dict[str, Cell] = {
        "state": lambda state, value: kind(state),
        "value": lambda state, value: value.outcome,
        "score": lambda state, value: value.score,
        "distance": lambda state, value: value.distance,
    }
    if not OF_RULES.isdisjoint(names):
        game, rules = book.game, book.rules
        if "tier" in names and not rules.tiered:
            raise MethodError(f"the rules of {rules.name} have no tiers: omit the column tier")
        cells["board"] = lambda state, value: show(game, state)
        cells["tier"] = lambda state, value: rules.tier(state)
        cells["best"] = _best_of(book)
    return [cells[name] for name in names]


def _best_of(book: Book) -> Cell:
    """Return a function that lists the moves known to keep a state's value.

    It returns None if there is none, which in a complete book happens only where chance decides.
    """
    player, complete = Player(book, live=False), book.header.scope == "complete" and not book.header.kind.error
    named, signed = namer(player.game), book.header.kind.signed

    def best(state: int, value: Value) -> list[str] | None:
        value = sign_of(value) if signed else value
        _, moves = player.examine(state)
        known = [(move.action, move.value) for move in moves if move.value is not None]
        keepers = [action for action, worth in known if (keeps(worth, value) if signed else worth == value)]
        if moves and not keepers and complete:
            raise DamagedBook(f"{book.path}: no move from state {state} has its value: verify the book, solve it again")
        return [named(state, action) for action in keepers] or None

    return best


def rows_of(
    book: Book, pairs: Iterable[tuple[int, Value]], row: Callable[[int, Value], Row | None], progress: Progress
) -> Iterator[Row]:
    """Yield the row of each state of a book and its value, where `row` makes one. Raises DamagedBook."""
    written = 0
    for state, value in pairs:
        try:
            record = row(state, value)
        except (BookError, LayoutError, MemoryError):
            raise
        except Exception as error:
            # Rules need not bear numbers that are no states
            name = type(error).__name__
            raise DamagedBook(f"{book.path}: {state} is not a state of its game ({name}): solve it again") from None
        if record is not None:
            yield record
        written += 1
        if written % STEP == 0:
            progress("export", written, len(book))
    progress("export", written, len(book))
