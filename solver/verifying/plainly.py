"""A book against its rules in plain Python: the judge of every verdict, and of every fault that the kernels report."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, MutableSequence
from typing import Any

from solver.base.errors import DamagedBook
from solver.base.methods import Method
from solver.base.progress import Progress
from solver.base.value import Value, merit_of
from solver.book import Book
from solver.book.check import check_counts
from solver.book.solution import TierCount
from solver.rules.game import Rules
from solver.rules.width import column_of
from solver.search.derive import conversion_of, derived
from solver.verifying import claims
from solver.verifying.searching import failing


class Unconfirmed(DamagedBook):
    """A book that the kernels call wrong, by no state that plain Python could be asked about."""


@contextlib.contextmanager
def of_the_whole() -> Iterator[None]:
    """Raise Unconfirmed in place of DamagedBook."""
    try:
        yield
    except DamagedBook as error:
        raise Unconfirmed(str(error)) from error


class Plain:
    """A book that is verified in plain Python, and the states that were met so far."""

    def __init__(self, book: Book, rules: Rules, closed: bool) -> None:
        self.book, self.rules, self.closed = book, rules, closed
        self.canonical, self.kind = rules.canonical, book.header.kind
        # Canonical children, finished ones included
        self.reached: set[int] = set()
        # Whether some move to an unfinished state does not raise the tier
        self.stays: bool = False
        # States that do not follow from their children
        self.unproved: MutableSequence[int] = column_of(rules.bits)
        self.outcomes: Counter[str] = Counter[str]()
        self.by_distance: bool = not rules.scores
        self.asks: bool = Method(book.header.method).is_acyclic or not self.by_distance  # about tiers
        self.settle = claims.settling(book, rules, self.by_distance)
        self._tiers = {tier.tier for tier in book.header.tiers or ()}

    def check(self, state: int, value: Value) -> None:
        """Check a state's value against its children. Raises DamagedBook."""
        with failing(self.book.path, f"at state {state}"):
            self._check(state, value)

    def check_again(self, state: int) -> None:
        """Check a state of a complete book that the kernels call wrong. Raises DamagedBook if it is."""
        value = self.book.find(state)
        if value is not None:
            self.check(state, value)
        self._row(state)

    def check_start(self, state: int) -> None:
        """Look for a start of a complete book. Raises DamagedBook if it is missing."""
        if value_in(self.book, self.rules, self.canonical(state)) is None:
            raise DamagedBook(f"{self.book.path}: the start {state} is missing: solve again")

    def _check(self, state: int, value: Value) -> None:
        if self.rules.is_terminal(state) or self.canonical(state) != state:
            raise self._wrong(state, "is terminal or not canonical and should not be stored")
        if self.rules.vanishing is not None and self.rules.vanishing(state):
            raise self._wrong(state, "vanishes and should not be stored")
        best, is_complete, rises = self._derived(state)
        if is_complete and best is None:
            raise self._wrong(state, "has no moves")
        if self.closed and not is_complete:
            raise self._wrong(state, "has a child that the book lacks")
        if best is not None and not self.kind.agrees(best, value) and (is_complete or best > merit_of(value)):
            raise self._wrong(state, "has another value than its children give it")
        if self.kind.converts and value.score:
            self._check_conversion(state, int(value.score))
        if self.closed:
            return
        self.outcomes[value.outcome] += 1
        if not (is_complete and (rises or self.by_distance)):
            self.unproved.append(state)

    def _check_conversion(self, state: int, score: int) -> None:
        """Check a distance to a conversion against those of the children."""
        find, plies = self.book.find, self.book.plies_to_conversion

        def worth(key: int) -> tuple[int, int]:
            value = find(key)
            return (0, 0) if value is None else (int(value.score), plies(key) or 0)

        if plies(state) != conversion_of(self.rules, state, score, worth):
            raise self._wrong(state, "is not as far from a conversion as its children say")

    def check_counts(self) -> None:
        """After all states of a book that is not complete: the counts are theirs; exact entries add finished ones."""
        stated, exact = self.book.counts, self.book.header.scope == "exact"
        if any(
            self.outcomes[name] > stated[name] or not (exact or self.outcomes[name] == stated[name]) for name in stated
        ):
            raise DamagedBook(
                f"{self.book.path}: its header counts {stated}, its states are {dict(self.outcomes)}: solve again"
            )

    def check_whole(self) -> None:
        """After all states: each is reached by a move or a start, each start is there, and all counts are right."""
        for state in self.rules.roots():
            self.check_start(state)
            self.reached.add(self.canonical(state))
        for state in self.book:
            if state not in self.reached:
                raise DamagedBook(
                    f"{self.book.path}: no move leads to state {state}, and play does not start there: solve again"
                )
        check_counts(self.book, self._counted())

    def _derived(self, state: int) -> tuple[Any, bool, bool]:
        """The merit that the children give a state; whether all were known, and all moves raise the tier."""
        rules, rises = self.rules, True

        def merit(child: int) -> Any:
            nonlocal rises
            key = self.canonical(child)
            if rules.is_terminal(key):
                merit_at_end = rules.end(key)
            else:
                value = self.book.find(key)
                if value is not None:
                    rises = rises and not (self.asks and rules.tier(key) <= rules.tier(state))
                elif self.settle is not None:
                    value = self.settle(state, child)
                if value is None:
                    return None
                merit_at_end = merit_of(value)
            if self.closed:
                self.reached.add(key)
            return merit_at_end

        best, unknown = derived(rules, state, merit)
        self.stays |= not rises
        return best, not unknown, rises

    def _counted(self) -> list[TierCount]:
        """All states that were met, by tier if the header lists tiers, counted."""
        rules, listed = self.rules, self.book.header.tiers
        tallies = {tier.tier: [0] * 5 for tier in listed} if listed else {0: [0] * 5}
        for state in self.reached:
            value = value_in(self.book, rules, state)
            assert value is not None
            tally = tallies[self._row(state)]
            tally[0] += 1
            tally[1] += rules.is_terminal(state)
            tally[2 if value.score > 0 else 4 if value.score < 0 else 3] += 1
        return [TierCount(number, *tally) for number, tally in tallies.items()]

    def _row(self, state: int) -> int:
        """The tier of a state, 0 where the header lists none. Raises DamagedBook if the header does not list it."""
        if not self._tiers:
            return 0
        tier: int = self.rules.tier(state)
        if tier not in self._tiers:
            raise self._wrong(state, "is of a tier that the header does not list")
        return tier

    def _wrong(self, state: int, what: str) -> DamagedBook:
        return DamagedBook(f"{self.book.path}: state {state} {what}: solve again")


def check_values(plain: Plain, progress: Progress) -> None:
    """Check every value against its children."""
    number = len(plain.book)
    for checked, (state, value) in enumerate(plain.book.items()):
        plain.check(state, value)
        if checked % 1024 == 0:
            progress("verify", checked, number)
    progress("verify", number, number)
    if not plain.closed:
        plain.check_counts()


def value_in(book: Book, rules: Rules, state: int) -> Value | None:
    """The value of a canonical state: the rules' if it is terminal, else the book's, None if it is missing."""
    return rules.ended(state) if rules.is_terminal(state) else book.find(state)
