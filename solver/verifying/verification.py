"""A book against its rules: structure and checksums, then every value against its children.

It shares nothing with the solver but the rules. What it finds true of every state of a complete book is, by induction
over the distances, a proof that the values are those of perfect play: a win has a lost child one ply nearer the end and
none nearer still, a loss has all children won and the last of them one ply nearer, a draw has no lost child and a drawn
one; no child is missing. Margins, and wins and losses without a distance, are proved by induction over the moves: each
is the best of the children's, and no play comes back to a state, or they might rest on each other in a circle; where
margins were found by retrograde analysis it may, and what holds each up is found anew (`grounds`). An
expectation is the mean or the best of the children's, but for the rounding of both that the header admits; as that adds
up, bounds of all values are found anew (`bounding`): they prove how far a value may be from the truth.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Iterator, MutableSequence
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Any, NamedTuple

from solver.base import extras
from solver.base.errors import DamagedBook, ResourceError, SolverError, UncompiledRules
from solver.base.kinds import NIMBER
from solver.base.memory import working_memory
from solver.base.options import Options
from solver.base.progress import Progress, silent
from solver.base.value import Value, merit_of
from solver.book import Book
from solver.book.check import check_book, check_counts
from solver.book.doors import Source
from solver.book.solution import TierCount
from solver.rules.game import Game, Rules, is_built_in, is_name_of, is_score_game
from solver.rules.vanishing import edges
from solver.rules.width import column_of
from solver.search.derive import derived
from solver.verifying import bounding, claims, estimates, grounds, playing
from solver.verifying.claims import Means

FEW = 20_000  # states that are verified in plain Python alone
SEARCH = 10.0  # seconds of searching for the values of a book that is not complete
SPOTS, RUN = 128, 16  # of more states as many runs of so many
ACYCLIC = ("minimax", "expectiminimax", "nimbers")  # methods that solve no game in which play comes back to a state
PLAIN_BYTES = 200  # of memory a state that is verified in plain Python alone


UPWARD = Context(prec=3, rounding=ROUND_CEILING)  # digits of a bound
PROVED, CONSISTENT, WRONG = "proved", "consistent", "wrong"  # the verdicts, of which the last is raised


class Report(NamedTuple):
    """The verdict, PROVED or CONSISTENT: the values are those of perfect play, or only agree with each other; in words
    what it rests on; stored states, whether every child was there to be compared, and the seconds it took.

    `plain` of the states were verified with the rules as plain Python: all of them in a small book and without the
    kernels, else a sample. `played` are the sides for which it was played out, if it was to be, and `positions` those
    in which they were to move. `to_search` are the values of a book that is not complete which do not follow from other
    values, the start's among them if it is not stored; so many of them were proved `by_search`.
    `within`: how far an expectation is from the truth at most, None if that was not proved.
    """

    verdict: str
    basis: str
    states: int
    closed: bool
    seconds: float
    plain: int
    played: tuple[str, ...] = ()
    positions: int = 0
    by_search: int = 0
    to_search: int = 0
    within: float | None = None


def verify(
    path: Source,
    game: Game | str | None = None,
    *,
    workers: int | None = None,
    memory: int | None = None,
    play: bool = False,
    search: float = SEARCH,
    progress: Progress = silent,
) -> Report:
    """Verify a book, or the one at a path; `game` are its rules or their name, needed for a game of your own.

    `memory` bounds the bytes that it takes, as in `solve`. A book that is wrong has no report: raises DamagedBook that
    names the first thing wrong, ForeignBook if the rules are others; ResourceError if nothing can be said. A book that
    is not complete lacks children: what is there is compared, `closed` is False, and for at most `search` seconds the
    values that do not follow from others are searched for (`claims`). `play` also plays the book out against every
    reply (`playing`).
    """
    means = Means(search, workers, working_memory(memory))
    started = time.perf_counter()
    with Book(path, game) as book:
        header = book.header
        rules = Rules(book.game, header.symmetry, header.wdl, header.kind is NIMBER)
        _check_claims(book, rules)
        closed = book.header.scope == "complete"
        if closed:
            plain = _check_whole(book, rules, means, progress)
            _check_root(book, rules)
            verdict, basis, within = _judged(book, rules, means, progress)
            by_search, to_search, proof = 0, 0, None
        else:
            verdict, basis, by_search, to_search, proof = _claimed(book, rules, means, progress)
            plain, within = len(book), None
        played, positions = (proof or playing.prove(book, book.game, progress)) if play else ((), 0)
        passed = time.perf_counter() - started
        return Report(verdict, basis, len(book), closed, passed, plain, played, positions, by_search, to_search, within)


def _claimed(book: Book, rules: Rules, means: Means, progress: Progress) -> tuple[str, str, int, int, Any]:
    """The verdict on a book that is not complete, what it rests on, what was searched for, and played out."""
    check_book(book.path, progress, book.game)
    _check_root(book, rules)
    if book.header.estimate is not None:
        unproved, exact = estimates.check(book, rules, progress)
        found = claims.judge(book, rules, unproved, means, progress)
        basis = f"{exact:,} values are exact: {found.basis}; the others are estimates"
        return CONSISTENT, basis, found.by_search, found.to_search, found.played
    values = _Plain(book, rules, False)
    _check_values(values, progress)
    found = claims.judge(book, rules, values.unproved, means, progress)
    return PROVED if found.proved else CONSISTENT, found.basis, found.by_search, found.to_search, found.played


def _judged(book: Book, rules: Rules, means: Means, progress: Progress) -> tuple[str, str, float | None]:
    """The verdict on a complete book in which nothing wrong was found, what it rests on, and how far expectations are
    from the truth at most."""
    agrees, claim = "every value agrees with its children's, roundings apart", book.header.kind.error
    if not claim:
        return PROVED, "every value follows from its children", None
    options = Options(symmetry=rules.symmetry, workers=means.workers, memory=means.memory, progress=progress)
    off, why = bounding.bound(book, rules, options)
    if off is None:
        return CONSISTENT, f"{agrees}; how far they may be from the truth was not bounded: {why}", None
    within = math.nextafter(float(off), math.inf)
    words = f"every value is within {UPWARD.create_decimal_from_float(within):.2e} of the truth"
    if off <= Fraction(claim):
        return PROVED, words, min(within, claim)
    return CONSISTENT, f"{agrees}; {words}, the header claims {claim:.2e}", within


def _check_claims(book: Book, rules: Rules) -> None:
    """What the header says of the rules; their fingerprint is right."""
    header, text = book.header, rules.name
    if is_built_in(text) and not is_name_of(header.game, rules.game):
        raise DamagedBook(f"{book.path}: its header says {header.game}, the rules are those of {text}: solve again")
    if header.score_game != is_score_game(rules.game):
        raise DamagedBook(f"{book.path}: its header says score_game {header.score_game}, the rules do not: solve again")
    if header.symmetry and not rules.folds:
        raise DamagedBook(f"{book.path}: its header says that it is folded, the rules know no symmetry: solve again")
    if header.kind.basis.name != rules.kind.name:
        raise DamagedBook(f"{book.path}: header and rules differ on whether it is a game of chance: solve again")
    if header.tiers is not None and not rules.tiered:
        raise DamagedBook(f"{book.path}: its header lists tiers, the rules know none: solve again")


def _check_whole(book: Book, rules: Rules, means: Means, progress: Progress) -> int:
    """All of a complete book, with the kernels where that can be: of how many states in plain Python."""
    stays, number = _compiled(book, rules, means, progress), 0
    if stays is not None:
        number = _check_sample(book, rules)
    if stays is None or (stays and book.header.method in ACYCLIC):
        if PLAIN_BYTES * len(book) > means.memory:
            raise ResourceError(
                f"{len(book):,} states take about {PLAIN_BYTES * len(book):,} bytes in plain Python: pip install"
                " 'solverbook[solve]', or more --memory"
            )
        if stays is None:
            check_book(book.path, progress, book.game)
            plain = _Plain(book, rules, True)
            _check_values(plain, progress)
            plain.check_whole()
            stays, number = plain.stays, len(book)
        if stays and book.header.method in ACYCLIC:
            _check_acyclic(book, rules, progress)
        elif stays and book.header.method == "retrograde" and book.header.score_game:
            grounds.check(book, rules, progress)
    return number


def _compiled(book: Book, rules: Rules, means: Means, progress: Progress) -> bool | None:
    """Verify with the kernels; whether some move does not raise the tier. None where that cannot be done."""
    if len(book) <= FEW or rules.plain_only or not extras.has_kernels():
        return None
    from solver.verifying import audit

    try:
        return audit.check_values(book, rules.game, memory=means.memory, workers=means.workers, progress=progress)
    except UncompiledRules:
        return None


def _check_acyclic(book: Book, rules: Rules, progress: Progress) -> None:
    """Follow all play, depth first, in a book that lacks no child. Raises DamagedBook where a state comes again."""
    followed: set[int] = set()
    for first in book:
        path = {first: _unfinished(rules, first)} if first not in followed else {}
        while path:
            state, children = next(reversed(path.items()))
            child = next((one for one in children if one not in followed), None)
            if child is None:
                path.pop(state)
                followed.add(state)
                if len(followed) % 1024 == 0:
                    progress("follow", len(followed), len(book))
            elif child in path:
                raise DamagedBook(
                    f"{book.path}: play comes back to state {child}, which {book.header.method} does not solve: solve"
                    " again"
                )
            else:
                path[child] = _unfinished(rules, child)


def _unfinished(rules: Rules, state: int) -> Iterator[int]:
    """The unfinished states that moves lead to, canonical ones."""
    for *_, child in edges(rules, state):
        if not rules.is_terminal(child):
            yield rules.canonical(child)


def _check_sample(book: Book, rules: Rules) -> int:
    """Some of what the compiled rules have confirmed, with the rules as plain Python: how many states that were."""
    plain = _Plain(book, rules, True)
    sample = list(_spread(book))
    for state, value in sample:
        try:
            plain.check(state, value)
        except DamagedBook as error:
            raise DamagedBook(
                f"{error}; compiled, the rules agree with the book: their arithmetic must stay within 64 bits"
            ) from None
    return len(sample)


def _spread(book: Book) -> Iterator[tuple[int, Value]]:
    """Some thousand of a book's states, in runs spread over it; the same ones each time."""
    chance = random.Random(book.header.digest)
    for spot in range(SPOTS):
        group = book.group(spot * len(book.directory) // SPOTS, chance.randrange)
        begin = chance.randrange(max(1, len(group) - RUN + 1))
        yield from group[begin : begin + RUN]


def _check_values(plain: _Plain, progress: Progress) -> None:
    """Every value against its children, in plain Python."""
    number = len(plain.book)
    for done, (state, value) in enumerate(plain.book.items()):
        try:
            plain.check(state, value)
        except (SolverError, MemoryError):
            raise
        except Exception as error:  # rules need not bear numbers that are no states
            name = type(error).__name__
            raise DamagedBook(f"{plain.book.path}: the rules fail at state {state} ({name}): solve again") from error
        if done % 1024 == 0:
            progress("verify", done, number)
    progress("verify", number, number)
    if not plain.closed:
        plain.check_counts()


class _Plain:
    """A book that is verified in plain Python, and the states that were met so far."""

    def __init__(self, book: Book, rules: Rules, closed: bool) -> None:
        self.book, self.rules, self.closed = book, rules, closed
        self.canonical, self.kind = rules.canonical, book.header.kind
        self.reached: set[int] = set()  # canonical children, finished ones included
        self.stays = False  # whether some move to an unfinished state does not raise the tier
        self.unproved: MutableSequence[int] = column_of(rules.bits)  # states that do not follow from their children
        self.outcomes = Counter[str]()
        self.by_distance = not rules.scores
        self.asks = book.header.method in ACYCLIC or not self.by_distance  # about tiers
        self.settle = claims.settling(book, rules, self.by_distance)

    def check(self, state: int, value: Value) -> None:
        """A state's value against its children."""
        if self.rules.is_terminal(state) or self.canonical(state) != state:
            raise self._wrong(state, "is terminal or not canonical and should not be stored")
        if self.rules.vanishing is not None and self.rules.vanishing(state):
            raise self._wrong(state, "vanishes and should not be stored")
        best, whole, rises = self._derived(state)
        if whole and best is None:
            raise self._wrong(state, "has no moves")
        if self.closed and not whole:
            raise self._wrong(state, "has a child that the book lacks")
        if best is not None and not self.kind.agrees(best, value) and (whole or best > merit_of(value)):
            raise self._wrong(state, "has another value than its children give it")
        if self.closed:
            return
        self.outcomes[value.outcome] += 1
        if not (whole and (rises or self.by_distance)):
            self.unproved.append(state)

    def check_counts(self) -> None:
        """After all states of a book that is not complete: the counts are theirs; exact entries add finished ones."""
        said, exact = self.book.counts, self.book.header.scope == "exact"
        if any(self.outcomes[name] > said[name] or not (exact or self.outcomes[name] == said[name]) for name in said):
            raise DamagedBook(
                f"{self.book.path}: its header counts {said}, its states are {dict(self.outcomes)}: solve again"
            )

    def check_whole(self) -> None:
        """After all states: each is reached by a move or a start, each start is there, and all counts are right."""
        starts = [self.canonical(state) for state in self.rules.roots()]
        self.reached.update(starts)
        for state in starts:
            if _value(self.book, self.rules, state) is None:
                raise DamagedBook(f"{self.book.path}: the start {state} is missing: solve again")
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
                found = rules.end(key)
            else:
                value = self.book.find(key)
                if value is not None:
                    rises = rises and not (self.asks and rules.tier(key) <= rules.tier(state))
                elif self.settle is not None:
                    value = self.settle(state, child)
                if value is None:
                    return None
                found = merit_of(value)
            if self.closed:
                self.reached.add(key)
            return found

        best, unknown = derived(rules, state, merit)
        self.stays |= not rises
        return best, not unknown, rises

    def _counted(self) -> list[TierCount]:
        """All states that were met, by tier if the header lists tiers, counted."""
        rules, listed = self.rules, self.book.header.tiers
        tallies = {tier.tier: [0] * 5 for tier in listed} if listed else {0: [0] * 5}
        for state in self.reached:
            number = rules.tier(state) if listed else 0
            if number not in tallies:
                raise self._wrong(state, "is of a tier that the header does not list")
            value = _value(self.book, rules, state)
            assert value is not None
            tally = tallies[number]
            tally[0] += 1
            tally[1] += rules.is_terminal(state)
            tally[2 if value.score > 0 else 4 if value.score < 0 else 3] += 1
        return [TierCount(number, *tally) for number, tally in tallies.items()]

    def _wrong(self, state: int, what: str) -> DamagedBook:
        return DamagedBook(f"{self.book.path}: state {state} {what}: solve again")


def _value(book: Book, rules: Rules, state: int) -> Value | None:
    return rules.ended(state) if rules.is_terminal(state) else book.find(state)


def _check_root(book: Book, rules: Rules) -> None:
    root = _value(book, rules, rules.canonical(rules.game.initial()))
    if root != book.header.root and not (root is None and book.header.scope != "complete"):
        raise DamagedBook(f"{book.path}: the header says {book.header.root} of the start, the book {root}: solve again")
