"""A book against its rules in plain Python: the judge of every verdict, and of every fault that the kernels report.

Margins where play may come back to a state need grounds (`check_grounds`). That each is the best of its children's does
not suffice: they may rest on each other in a circle. So what a side is said to get beyond what endless play is worth
must be got by moves that end the game or raise the tier. A state is grounded if a move that gets it does that, or leads
to a grounded one; where it is the other who gets it, if all moves that stay in the tier lead to grounded ones. The
others are gone through again, until a pass finds nothing. By induction over tiers, and over passes within one, a side
then gets it whatever is replied; that it gets no more is shown by the other's best moves, which cost nothing if play
never ends. For that endless play must be worth the same all along, and no move that stays may score.

Cost: a pass over the moves of states that are not grounded for each move that it takes to get there.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, MutableSequence
from typing import Any

from solver.base.errors import DamagedBook, SolverError
from solver.base.expectations import Estimate
from solver.base.kinds import Method
from solver.base.progress import Progress
from solver.base.value import Value, is_estimate, lift, merit_of
from solver.book import Book
from solver.book.check import check_counts
from solver.book.solution import TierCount
from solver.rules.game import Rules
from solver.rules.width import column_of
from solver.search.derive import Lifted, conversion_of, covers, derived, settled, steps_of

SAMPLED = 256  # states with a value that compiled rules have proved, of which plain Python checks one
SETTLED = 1 << 16  # states whose values by a few plies are kept
UNGROUNDED, GROUNDED, SCORING, UNEVEN = range(4)
FAULTS = {
    UNGROUNDED: "has a value that rests on itself: play goes round in a circle",
    SCORING: "has a move that scores and stays in its tier, to which play may come back",
    UNEVEN: "has a move that stays in its tier and changes what endless play is worth",
}


class Unconfirmed(DamagedBook):
    """A book that the kernels call wrong, by no state that plain Python could be asked about."""


@contextlib.contextmanager
def of_the_whole() -> Iterator[None]:
    """Raise Unconfirmed in place of DamagedBook."""
    try:
        yield
    except DamagedBook as error:
        raise Unconfirmed(str(error)) from error


@contextlib.contextmanager
def failing(path: Any, where: str) -> Iterator[None]:
    """Raise DamagedBook for an error of the rules, which need not bear numbers that are not states."""
    try:
        yield
    except (SolverError, MemoryError):
        raise
    except Exception as error:
        raise DamagedBook(f"{path}: the rules fail {where} ({type(error).__name__}): solve again") from error


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
        # As `audit.bounds`; empty where nobody knows
        self.bounds: Any = ()
        # Whether they show answers to all replies in each of its states; to a lost one there may be none
        self.has_answers: bool = False
        self.checks: int = 0
        self.by_distance: bool = not rules.scores
        self.asks: bool = Method(book.header.method).is_acyclic or not self.by_distance  # about tiers
        # States of a grown book whose values are not estimates
        self.exact: int = 0
        self._tiers = {tier.tier for tier in book.header.tiers or ()}
        self.depth: int = 0 if book.trim is None else book.trim.depth
        by_plies = functools.partial(settled, rules, plies=self.depth, find=book.find)
        self._settled = functools.lru_cache(SETTLED)(by_plies)

    def check(self, state: int, value: Value) -> None:
        """Check a state's value against its children. Raises DamagedBook."""
        self.checks += 1
        with failing(self.book.path, f"at state {state}"):
            if self.rules.is_terminal(state) or self.canonical(state) != state:
                raise self._wrong(state, "is terminal or not canonical and should not be stored")
            if self.rules.vanishing is not None and self.rules.vanishing(state):
                raise self._wrong(state, "vanishes and should not be stored")
            if self.book.header.estimate is not None:
                self._check_grown(state, value, self.book.header.estimate)
                return
            best, is_complete, rises = self._derived(state)
            if is_complete and best is None:
                raise self._wrong(state, "has no moves")
            if self.closed and not is_complete:
                raise self._wrong(state, "has a child that the book lacks")
            if best is not None and not self.kind.agrees(best, value) and (is_complete or best > merit_of(value)):
                raise self._wrong(state, "has another value than its children give it")
            if self.kind.converts and value.score:

                def worth(key: int) -> tuple[int, int]:
                    found = find(key)
                    return (0, 0) if found is None else (int(found.score), plies(key) or 0)

                find, plies = self.book.find, self.book.plies_to_conversion
                if plies(state) != conversion_of(self.rules, state, int(value.score), worth):
                    raise self._wrong(state, "is not as far from a conversion as its children say")
            if self.closed:
                return
            self.outcomes[value.leaning] += 1
            if not (is_complete and (rises or self.by_distance)):
                self.unproved.append(state)

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

    def _check_grown(self, state: int, value: Value, kind: Estimate) -> None:
        """Check a value of a grown book against its moves, if all are known. Nothing proves an estimate."""
        rules, merits, is_exact = self.rules, list[Any](), not is_estimate(value)

        def lifted(merit: Any, parent: int, action: int, child: int) -> Any:
            merits.append(kind.lifted(merit, rules.same_mover(parent, action, child), rules.gain(parent, action)))
            return merits[-1]

        _, is_complete, _ = self._derived(state, lifted)
        backed_up = kind.backed_up(merits) if is_complete and merits else None
        follows = backed_up is not None and not isinstance(backed_up, float)
        if backed_up is None:
            off = is_exact and any(merit > merit_of(value) for merit in merits if not isinstance(merit, float))
        else:
            off = (follows or not is_exact) and kind.value(backed_up) != value
        if off:
            raise self._wrong(state, "has another value than its children give it")
        self.outcomes[value.leaning] += 1
        self.exact += is_exact
        if is_exact and not follows:
            self.unproved.append(state)

    def check_counts(self) -> None:
        """After all states of a book that is not complete: the counts are theirs; exact entries add finished ones."""
        stated, exact = self.book.counts, self.book.header.scope == "exact"
        if any(
            self.outcomes[name] > stated[name] or not (exact or self.outcomes[name] == stated[name]) for name in stated
        ):
            raise DamagedBook(
                f"{self.book.path}: its header counts {stated}, its states are {dict(self.outcomes)}: make it again"
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
        tallies = {tier.tier: [0] * 5 for tier in self.book.header.tiers or ()} or {0: [0] * 5}
        for state in self.reached:
            value = value_in(self.book, self.rules, state)
            assert value is not None
            tally = tallies[self._row(state)]
            tally[0] += 1
            tally[1] += self.rules.is_terminal(state)
            tally[2 if value.score > 0 else 4 if value.score < 0 else 3] += 1
        check_counts(self.book, [TierCount(number, *tally) for number, tally in tallies.items()])

    def _derived(self, state: int, lifted: Lifted | None = None) -> tuple[Any, bool, bool]:
        """The merit that the children give a state; whether all were known, and all moves raise the tier."""
        rules, find, rises = self.rules, self.book.find, True

        def merit(child: int) -> Any:
            nonlocal rises
            key = self.canonical(child)
            if rules.is_terminal(key):
                merit_at_end = rules.end(key)
            else:
                value = find(key)
                if value is not None:
                    rises = rises and not (self.asks and rules.tier(key) <= rules.tier(state))
                # A child that is not stored has its value by the plies that go with a trimmed book
                elif self.depth and self.by_distance:
                    value = self._settled(child)
                elif self.depth:
                    # Without distances it rests on stored states of higher tiers than the state's alone
                    floor, tier = rules.tier(state), rules.tier
                    value = settled(rules, child, self.depth, lambda key: find(key) if tier(key) > floor else None)
                if value is None:
                    return None
                merit_at_end = merit_of(value)
            if self.closed:
                self.reached.add(key)
            return merit_at_end

        # In a book for one side, a move whose replies are all answered may be worth the most that there is: then no
        # other move counts, and these take nearly all of the time
        if self.depth and not self.closed and lifted is None and self.kind.reducer == "best":
            for action in rules.actions(state):
                if covers(rules, state, action, self.depth, find):
                    child = rules.result(state, action)
                    worth = merit(child)
                    if worth is not None and rules.lifted(worth, state, action, child) == rules.kind.most:
                        return rules.kind.most, True, rises
        best, unknown = derived(rules, state, merit, lifted=lifted)
        self.stays |= not rises
        return best, not unknown, rises

    def _row(self, state: int) -> int:
        """The tier of a state, 0 where the header lists none. Raises DamagedBook if the header does not list it."""
        if not self._tiers:
            return 0
        tier: int = self.rules.tier(state)
        if tier not in self._tiers:
            raise self._wrong(state, "is of a tier that the header does not list")
        return tier

    def _wrong(self, state: int, what: str) -> DamagedBook:
        if self.book.header.estimate is not None:
            return DamagedBook(f"{self.book.path}: state {state} {what}: grow it again")
        return DamagedBook(f"{self.book.path}: state {state} {what}: solve again")


def check_values(plain: Plain, progress: Progress) -> None:
    """Check every value against its children; one in SAMPLED of those that are a lower bound of their states."""
    number, plain.has_answers = len(plain.book), len(plain.bounds) > 0
    bounds = zip(*plain.bounds, strict=True) if plain.has_answers else itertools.repeat((-math.inf, math.inf))
    for checked, ((state, value), (low, high)) in enumerate(zip(plain.book.items(), bounds, strict=False)):
        plain.has_answers &= bool(low >= value.score > -1)
        if low == value.score <= high and checked % SAMPLED:
            plain.outcomes[value.leaning] += 1
            if high > low:
                plain.unproved.append(state)
        else:
            plain.check(state, value)
        if checked % 1024 == 0:
            progress("verify", checked, number)
    progress("verify", number, number)
    if not plain.closed:
        plain.check_counts()


def value_in(book: Book, rules: Rules, state: int) -> Value | None:
    """The value of a canonical state: the rules' if it is terminal, else the book's, None if it is missing."""
    return rules.ended(state) if rules.is_terminal(state) else book.find(state)


def check_grounds(book: Book, rules: Rules, progress: Progress) -> None:
    """Hold up all values of a book that agree with their children's, in plain Python. Raises DamagedBook."""
    left = dict.fromkeys(book)
    while left:
        before = len(left)
        for state in list(left):
            is_held = _held_up(book, rules, state, left.__contains__)
            if is_held > GROUNDED:
                raise refusal(book, state, is_held)
            if is_held == GROUNDED:
                del left[state]
        if len(left) == before:
            raise refusal(book, next(iter(left)), UNGROUNDED)
        progress("ground", len(book) - len(left), len(book))


def _held_up(book: Book, rules: Rules, state: int, is_open: Callable[[int], bool]) -> int:
    """Whether the value of a state is GROUNDED, UNGROUNDED so far, or neither."""
    score, endless = book[state].score, rules.endless(state)
    by_one, by_all = False, True
    for key, end, same, gain in steps_of(rules, state):
        merit, held = merit_of(book[key]) if end is None else end, True
        if end is None and rules.tier(key) <= rules.tier(state):
            if gain:
                return SCORING
            if lift(rules.endless(key), same, True) != endless:
                return UNEVEN
            held = not is_open(key)
        by_one |= held and lift(merit, same, True) + gain == score
        by_all &= held
    return GROUNDED if score == endless or (by_one if score > endless else by_all) else UNGROUNDED


def refusal(book: Book, state: int, fault: int) -> DamagedBook:
    """Return the error for a state whose value has no ground."""
    return DamagedBook(f"{book.path}: state {state} {FAULTS[fault]}: solve again")
