"""Grown books against their rules: backed-up values must follow from the moves, exact ones are searched for.

Nothing proves an estimate; that it is the one which a search of the book's depth gives is not tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import MutableSequence
from typing import Any

from solver.base.errors import DamagedBook
from solver.base.estimates import is_estimate
from solver.base.progress import Progress
from solver.base.value import merit_of
from solver.book import Book
from solver.rules.game import Rules
from solver.rules.width import column_of


def check(book: Book, rules: Rules, progress: Progress) -> tuple[MutableSequence[int], int]:
    """Compare each value whose moves are all known with the value that they give it.

    Returns the exact values that do not follow from their moves, and how many values are exact. Raises DamagedBook that
    names a state.
    """
    kind, unproved, exact = book.header.estimate, column_of(rules.bits), 0
    assert kind is not None
    counts: Counter[str] = Counter()
    for checked, (state, value) in enumerate(book.items()):
        if rules.is_terminal(state) or rules.canonical(state) != state:
            raise _wrong(book, state, "is terminal or not canonical and should not be stored")
        counts[value.leaning] += 1
        merits = _made(book, rules, state)
        derived = kind.backed_up(merits) if merits and None not in merits else None
        if derived is None:
            known = [merit for merit in merits if merit is not None and not isinstance(merit, float)]
            off = not is_estimate(value) and known and max(known) > merit_of(value)
        else:
            off = (is_estimate(value) or not isinstance(derived, float)) and kind.value(derived) != value
        if off:
            raise _wrong(book, state, "has another value than its children give it")
        exact += not is_estimate(value)
        if not is_estimate(value) and (derived is None or isinstance(derived, float)):
            unproved.append(state)
        if checked % 1024 == 0:
            progress("verify", checked, len(book))
    if counts != Counter(book.counts):
        raise DamagedBook(f"{book.path}: its header counts {book.counts}, its states are {dict(counts)}: grow it again")
    return unproved, exact


def _made(book: Book, rules: Rules, state: int) -> list[Any]:
    """The merits that the moves of a state give it, None where the book does not know."""
    kind, made = book.header.estimate, []
    assert kind is not None
    for action in rules.actions(state):
        child = rules.result(state, action)
        value = None if rules.is_terminal(child) else book.find(rules.canonical(child))
        merit = rules.end(child) if rules.is_terminal(child) else None if value is None else merit_of(value)
        same, gain = rules.same_mover(state, action, child), rules.gain(state, action)
        made.append(None if merit is None else kind.lifted(merit, same, gain))
    return made


def _wrong(book: Book, state: int, what: str) -> DamagedBook:
    return DamagedBook(f"{book.path}: state {state} {what}: grow it again")
