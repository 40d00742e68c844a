"""Books that are not complete: their claims, and the proofs.

A stored value whose children are all known follows from them, as in a complete book: those that are finished, stored,
or settled by the few plies that go with a trimmed book. The others, and a start that is not stored, are left to a
search. What a book says that it keeps must be there: all that play comes to within a number of plies, or in the first
tiers, but for what those few plies settle; in one for a side all that the side comes to which plays by it.

The search is alpha-beta, compiled where plain Python takes long; where play goes round, retrograde analysis. States are
searched in random order, always the same: those that the time suffices for are a sample of all.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import time
from collections import ChainMap
from collections.abc import Iterable, Iterator, MutableSequence
from typing import Any, NamedTuple

from solver.base import errors, extras
from solver.base.progress import Progress
from solver.base.value import Value
from solver.book import Book, Trim
from solver.book.solution import SIDES
from solver.rules.game import Rules, is_built_in
from solver.search import Budget, alphabeta, retrograde, solution_of
from solver.search.derive import assured, played, settled
from solver.verifying import plainly, playing

REACHED_BYTES = 150  # of memory for a state that play was seen to reach
SOON = 2.0  # seconds that plain Python has before compiled code is loaded
CONFIRM = 10.0  # seconds that plain Python has to confirm that a state is wrong
PATIENT = 0.5  # of the time that is left a state may have so much
ENTRY_BYTES = 200  # of memory an entry of the plain table
CYCLIC_BYTES = 600  # and a state of retrograde analysis


class Means(NamedTuple):
    """The effort that a proof may take: seconds of searching, workers, bytes of memory."""

    search: float
    workers: int | None
    memory: int


class Found(NamedTuple):
    """The proof of an incomplete book's values.

    Attributes:
        proved: Whether all that the book claims is proved.
        basis: The proof, in words.
        by_search: Values that a search proved, of `to_search`.
        to_search: Values that only a search can prove.
        played: The positions that were played out.
        note: Why plain Python searched where the compiled search could not. None if it did not.
    """

    proved: bool
    basis: str
    by_search: int
    to_search: int
    played: playing.Proof | None
    note: str | None = None


def judge(plain: plainly.Plain, means: Means, progress: Progress) -> Found:
    """Prove what is left of a book whose values agree with their children's: `unproved` lack some of those.

    Raises DamagedBook that names a state which is missing, or whose value is another.
    """
    book, rules, unproved = plain.book, plain.rules, plain.unproved
    # The start with the value that the header says of it, if nothing in the book proves that yet
    first_state, start = rules.canonical(rules.first()), dict[int, Value]()
    if not rules.is_terminal(first_state) and book.find(first_state) is None:
        value = None if book.trim is None else settled(rules, first_state, book.trim.depth, book.find)
        if value is None:
            start[first_state] = book.root
        elif value != book.root:
            raise errors.DamagedBook(
                f"{book.path}: the header says {book.root} of the start, the book {value}: solve again"
            )
    played, unlooked = None, None
    if book.trim is not None and book.trim.side is not None:
        played = _played(plain, progress)
    elif not _has_no_gaps(book, rules, means.memory, progress):
        unlooked = "; more states can be reached than memory holds, so gaps were not looked for (--memory)"
    unproved.extend(start)
    values: Any = ChainMap(start, book)  # type: ignore[arg-type]
    search = Search(book.path, rules, values, means.search, means.memory)
    with plainly.failing(book.path, "below a state of it"):
        search.run(unproved, means.workers, progress)
    proved, claim_count = search.proved, len(unproved)
    basis = f"{proved:,} of {claim_count:,} values proved by search"
    if proved < claim_count:
        basis += f" in {means.search:g} s (--search)"
    if claim_count < len(book):
        basis += ", the others follow from their children"
    if not claim_count:
        basis = "every value follows from its children"
    return Found(
        proved == claim_count and unlooked is None, basis + (unlooked or ""), proved, claim_count, played, search.note
    )


def _has_no_gaps(book: Book, rules: Rules, memory: int, progress: Progress) -> bool:
    """Look for what a book says that it keeps and lacks, and for stored states that play does not come to.

    False if memory did not suffice for it. Raises DamagedBook that names a state.
    """
    trim = book.trim
    scope = book.header.scope if trim is None else trim.scope
    if scope in ("exact", "grown"):
        return True  # whatever it holds
    last_tier = None
    if trim is not None and trim.max_bytes is not None:
        last_tier = max(map(rules.tier, book), default=0)
    lacks_some = trim is not None and (trim.plies > 0 or last_tier is not None)
    visited: set[int] = set()
    for count, state in enumerate(_reached(rules, _limit(scope, trim), last_tier, visited)):
        if lacks_some and book.find(state) is None:
            assert trim is not None
            is_late = last_tier is not None and rules.tier(state) >= last_tier
            if not is_late and (not trim.plies or settled(rules, state, trim.plies) is None):
                raise _gap(book, state)
        if not lacks_some and len(visited) > len(book):
            break
        if len(visited) * REACHED_BYTES > memory:
            return False
        if count % 1024 == 0:
            progress("follow", count, None)
    if not lacks_some and (lacking := visited.difference(book)):
        raise _gap(book, min(lacking))
    stray = next((state for state in book if state not in visited), None)
    if stray is not None:
        raise errors.DamagedBook(f"{book.path}: play does not come to state {stray}, or not so soon: solve again")
    return True


def _gap(book: Book, state: int) -> errors.DamagedBook:
    return errors.DamagedBook(f"{book.path} lacks state {state}, which its header says it stores: solve again")


def _reached(rules: Rules, limit: int | None, last_tier: int | None, visited: set[int]) -> Iterator[int]:
    """The unfinished states that play comes to, within so many plies and in tiers to that, if these are given.

    They are added to `visited` somewhat sooner.
    """
    layer = dict.fromkeys(rules.canonical(state) for state in rules.roots() if not rules.is_terminal(state))
    visited.update(layer)
    ply = 0
    while layer:
        following: dict[int, None] = {}
        for state in layer:
            yield state
            for _, _, child in rules.children(state) if ply != limit else ():
                key = rules.canonical(child)
                if (
                    key in visited
                    or rules.is_terminal(child)
                    or (last_tier is not None and rules.tier(key) > last_tier)
                ):
                    continue
                visited.add(key)
                following[key] = None
        layer, ply = following, ply + 1


def _played(plain: plainly.Plain, progress: Progress) -> playing.Proof | None:
    """The states that the sides of a book need are there: they are played out by it alone, or as far as it goes.

    None where it ends before the game does, play may not end, or all answers are known to be there.
    """
    book, rules, trim = plain.book, plain.rules, plain.book.trim
    if trim is None or trim.scope in ("exact", "grown") or trim.max_bytes is not None:
        return None
    limit, sides = _limit(trim.scope, trim), [side for side in (0, 1) if trim.side in (SIDES[side], SIDES[2])]
    if plain.has_answers:
        # Then all later ones are there, if those to the first moves are
        with contextlib.suppress(errors.DamagedBook):
            for side in sides:
                _follow(book, rules, side, 1, trim.depth)
            return None
    try:
        if limit is None:
            return playing.prove(book, book.game, progress, live=False)
    except (errors.MissingState, errors.PositionError) as error:
        raise errors.DamagedBook(f"{book.path} lacks what its side needs: {error}") from None
    except errors.MethodError:
        # Margins whose play goes round in circles
        return None
    for side in sides:
        _follow(book, rules, side, limit, trim.depth)
    return None


def _limit(scope: str, trim: Trim | None) -> int | None:
    """The plies to which a book goes, None if it goes to the end."""
    limits = [int(scope.removeprefix("ply "))] if scope.startswith("ply ") else []
    if trim is not None and trim.max_ply is not None:
        limits.append(trim.max_ply)
    return min(limits, default=None)


def _follow(book: Book, rules: Rules, side: int, limit: int, depth: int) -> None:
    """Follow the play of a side by a book that goes to some ply, against every reply.

    In each state the book must know a move that keeps the value and to whose replies answers are known, but at its end.
    Raises DamagedBook where it does not.
    """

    def chosen(state: int, ply: int) -> list[int]:
        value = assured(rules, state, depth, book.find)
        action = None if value is None else played(rules, state, value, depth + 1, book.find)
        if value is None or (action is None and ply + 2 <= limit):
            raise errors.DamagedBook(f"{book.path} lacks what its side needs at state {state}: solve again")
        return [] if action is None else [action]

    roots = [state for state in rules.roots() if not rules.is_terminal(state)]
    layer = {(rules.canonical(state), rules.mover(state) == side) for state in roots}
    visited = set(layer)
    for ply in range(limit + 1):
        following = set()
        for state, is_own in layer:
            for action in chosen(state, ply) if is_own else rules.actions(state):
                child = rules.result(state, action)
                if not rules.is_terminal(child):
                    following.add((rules.canonical(child), is_own == rules.same_mover(state, action, child)))
        layer = following - visited
        visited |= layer


class Search:
    """The search of some values of a game, within so many seconds of searching. `proved` counts those it found as well.

    `path` is that of the book which has the values. `note` says why plain Python took over from the
    compiled search, if it did.
    """

    def __init__(self, path: Any, rules: Rules, values: Any, seconds: float, memory: int) -> None:
        self.path, self.rules, self.values, self.memory = path, rules, values, memory
        self.left: float = seconds
        self.note: str | None = None
        self._found: set[int] = set()
        self._table: dict[Any, int] = {}

    @property
    def proved(self) -> int:
        """Of how many states a search has found the value."""
        return len(self._found)

    def run(self, states: MutableSequence[int], workers: int | None, progress: Progress) -> None:
        """Search the states, whose order changes. Raises DamagedBook that names one whose value is another."""
        total = len(states)
        todo = _dealt(states)
        compiles = extras.has_kernels() and not self.rules.plain_only
        try:
            hard: list[int] = []
            for state, value in self._plainly(todo, min(SOON, self.left) if compiles else self.left, hard):
                self._compare(state, value)
                if self.proved % 16 == 0:
                    progress("search", self.proved, total)
            rest = itertools.chain(hard, todo)
            first_state = next(rest, None)
            if compiles and first_state is not None and self.left:
                try:
                    for _ in self._run_compiled(itertools.chain([first_state], rest), workers):
                        progress("search", self.proved, total)
                except errors.UncompiledRules as error:
                    self.note = str(error)
                    missing = [state for state in states if state not in self._found]
                    for state, value in self._plainly(iter(missing), self.left, []):
                        self._compare(state, value)
        except errors.MethodError:
            # Play comes back to a state
            if not self.rules.margins:
                self._at_once(states)
        progress("search", self.proved, total)

    def _plainly(self, todo: Iterator[int], seconds: float, hard: list[int]) -> Iterator[tuple[int, Value]]:
        """States with their values by plain alpha-beta; those that take too long go to `hard`."""
        budget = Budget(seconds=seconds)
        for state in todo if seconds else ():
            if len(self._table) * ENTRY_BYTES > self.memory:
                self._table.clear()
            budget_part = budget.part(PATIENT)
            try:
                result = alphabeta.solve(
                    self.rules.game, state, table=self._table, symmetry=self.rules.symmetry, budget=budget_part
                )
            except errors.BudgetExceeded:
                hard.append(state)
            else:
                yield state, result.value
            if budget.is_used_up():
                break
        self.left = max(0.0, self.left - seconds + (budget.seconds_left or 0.0))

    def _run_compiled(self, todo: Iterable[int], workers: int | None) -> Iterator[None]:
        """Compare states with the compiled search, some at each step. It takes no time while it is loaded.

        Raises DamagedBook, and UncompiledRules if that search fails, or differs from plain Python.
        """
        from solver.compiled.exact.searcher import Team

        with Team(self.rules, outcomes=self.rules.kind.bare, workers=workers) as team:
            begun = time.monotonic()
            try:
                for pairs in team.map(todo, self.left):
                    for state, value in pairs:
                        self._confirm(state, value)
                        self._compare(state, value)
                    yield
            finally:
                self.left = max(0.0, self.left - (time.monotonic() - begun))

    def _confirm(self, state: int, searched: Value) -> None:
        """Ask plain Python about a state of which the compiled search finds another value than the book's.

        Raises UncompiledRules if plain Python finds another value than that search. A hard state it may not finish.
        """
        if self.rules.kind.kept(searched) == self.values[state] or is_built_in(self.rules.name):
            return
        rules, budget = self.rules, Budget(seconds=CONFIRM)
        with contextlib.suppress(errors.BudgetExceeded):
            plain = alphabeta.solve(rules.game, state, symmetry=rules.symmetry, budget=budget).value
            if rules.kind.kept(plain) != rules.kind.kept(searched):
                words = [value.words(as_number=abs(value.score) > 1) for value in (plain, searched)]
                raise errors.UncompiledRules(
                    f"{rules.name}: state {state} is {words[0]} in plain Python, {words[1]} compiled"
                )

    def _at_once(self, states: MutableSequence[int]) -> None:
        """All states by one retrograde analysis of all that play can reach; and each that it cannot, by one more."""
        budget, state_limit = Budget(seconds=self.left), self.memory // CYCLIC_BYTES
        solved: dict[Any, Value] = {}
        try:
            for root in (None, *states):
                if root is None or root not in solved:
                    budget_part = Budget(state_limit - len(solved), budget.seconds_left)
                    result = retrograde.solve(self.rules.game, root, symmetry=self.rules.symmetry, budget=budget_part)
                    solved.update(solution_of(result.table, self.rules.scores))
        except errors.BudgetExceeded:
            self.left = 0.0
        for state in states:
            if state in solved:
                self._compare(state, solved[state])

    def _compare(self, state: int, searched: Value) -> None:
        stated = self.values[state]
        searched = self.rules.kind.kept(searched)
        if searched != stated:
            words = [value.words(as_number=abs(value.score) > 1) for value in (stated, searched)]
            raise errors.DamagedBook(
                f"{self.path}: state {state} is said to be {words[0]}, a search finds {words[1]}: solve again"
            )
        self._found.add(state)


def _dealt(states: MutableSequence[int]) -> Iterator[int]:
    """The states in random order, in which they are put meanwhile; always the same."""
    chance = random.Random(0)
    for end in range(len(states) - 1, -1, -1):
        chosen = chance.randrange(end + 1)
        states[chosen], states[end] = states[end], states[chosen]
        yield states[end]
