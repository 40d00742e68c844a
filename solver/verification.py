"""A book against its rules: structure and checksums, then every value against its children.

It shares nothing with the solver but the rules. What it finds true of every stored state is, by induction over the
distances (or the tiers of a score game), a proof that the values are those of perfect play: a win has a lost child
one ply nearer the end and none nearer still, a loss has all children won and the last of them one ply nearer, a
draw has no lost child and a drawn one, a margin is the best of the children's; no child is missing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from solver import extras
from solver.book import Book
from solver.book.check import check_book, check_records
from solver.errors import DamagedBook, UncompiledRules
from solver.game import Game, canonical_of, is_score_game, same_mover_of, starts_of
from solver.progress import Progress, silent
from solver.value import Value


class Report(NamedTuple):
    """What was verified: stored states, whether every child was there to be compared, and the seconds it took."""

    states: int
    closed: bool
    seconds: float


def verify(
    path: str | os.PathLike[str],
    game: Game | None = None,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Report:
    """Verify a book; `game` are its rules, needed for a game that is not one of the package.

    Raises DamagedBook naming the first thing wrong, ForeignBook if the rules are others. The exact entries of an
    alpha-beta search lack the children that were cut off: what is there is compared, and `closed` is False.
    """
    started = time.perf_counter()
    with Book(path) as book:
        rules = game if game is not None else book.game
        book.check_rules(rules)
        closed = book.header.scope == "complete"
        if not _compiled(book, rules, closed, workers, progress):
            check_book(path, progress)
            _check_values(book, rules, closed, progress)
        _check_root(book, rules)
        return Report(len(book), closed, time.perf_counter() - started)


def _compiled(book: Book, game: Game, closed: bool, workers: int | None, progress: Progress) -> bool:
    """Verify with the kernels; False where that cannot be done."""
    if not closed or getattr(game, "plain_only", False) or not extras.has_kernels():
        return False
    from solver.kernels import audit

    check_records(book)
    try:
        strays = audit.check_values(book, game, workers=workers, progress=progress)
    except UncompiledRules:
        return False
    _refuse_strays(book, iter(strays))
    return True


def _refuse_strays(book: Book, strays: Iterator[int]) -> None:
    for state in strays:
        raise DamagedBook(f"{book.path}: no move leads to state {state}, and play does not start there: solve again")


def _check_values(book: Book, game: Game, closed: bool, progress: Progress) -> None:
    """Every value against its children, in plain Python."""
    canonical = canonical_of(game, book.header.symmetry)
    starts = {canonical(state) for state in starts_of(game)}
    reached = set(starts)
    for done, (state, value) in enumerate(book.items()):
        if game.is_terminal(state) or canonical(state) != state:
            raise DamagedBook(f"{book.path}: state {state} is terminal or not canonical and should not be stored")
        best, whole = _best_of_children(book, game, canonical, state, reached)
        if closed and not whole:
            raise DamagedBook(f"{book.path}: state {state} has a child that the book lacks: solve again")
        if best is not None and best != value and (whole or _preference(best) > _preference(value)):
            raise DamagedBook(f"{book.path}: state {state} has another value than its children give it: solve again")
        if done % 1024 == 0:
            progress("verify", done, len(book))
    progress("verify", len(book), len(book))
    if closed:
        _refuse_strays(book, (state for state in book if state not in reached))


def _best_of_children(
    book: Book, game: Game, canonical: Callable[[int], int], state: int, reached: set[int]
) -> tuple[Value | None, bool]:
    """The best of the children's values, one ply earlier, and whether all were known."""
    same_mover = same_mover_of(game)
    best: Value | None = None
    whole = True
    for action in game.actions(state):
        child = game.result(state, action)
        value = _value(book, game, canonical(child))
        if value is None:
            whole = False
            continue
        reached.add(canonical(child))
        score = value.score if same_mover(state, child) else -value.score
        seen = Value(score, None if value.distance is None else value.distance + 1)
        if best is None or _preference(seen) > _preference(best):
            best = seen
    return best, whole


def _value(book: Book, game: Game, state: int) -> Value | None:
    if not game.is_terminal(state):
        found: Value | None = book.get(state)
        return found
    utility = game.utility(state)
    left = game.plies_left(state) if hasattr(game, "plies_left") else 0
    return Value(utility, None if is_score_game(game) or utility == 0 else left)


def _preference(value: Value) -> tuple[int, int]:
    """Higher scores first, then quick wins, then slow losses."""
    distance = value.distance or 0
    return value.score, -distance if value.score > 0 else distance


def _check_root(book: Book, game: Game) -> None:
    root = _value(book, game, canonical_of(game, book.header.symmetry)(game.initial()))
    if root != book.header.root:
        raise DamagedBook(f"{book.path}: the header says {book.header.root} of the start, the book {root}: solve again")
