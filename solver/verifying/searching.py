"""Values held against searches: alpha-beta, compiled where plain Python takes long; where play goes round, retrograde.

The states are searched in random order, always the same: those that the time suffices for are a sample of all.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import time
from collections.abc import Iterable, Iterator, MutableSequence
from typing import Any

from solver.base import extras
from solver.base.errors import BudgetExceeded, DamagedBook, MethodError, SolverError, UncompiledRules
from solver.base.progress import Progress
from solver.base.value import Value
from solver.rules.game import Rules, is_built_in
from solver.search import Budget, alphabeta, retrograde, solution_of

SOON = 2.0  # seconds that plain Python has before compiled code is loaded
CONFIRM = 10.0  # seconds that plain Python has to confirm that a state is wrong
PATIENT = 0.5  # of the time that is left a state may have so much
ENTRY_BYTES = 200  # of memory an entry of the plain table
STATE_BYTES = 600  # and a state of retrograde analysis


@contextlib.contextmanager
def failing(path: Any, where: str) -> Iterator[None]:
    """Raise DamagedBook for an error of the rules, which need not bear numbers that are no states."""
    try:
        yield
    except (SolverError, MemoryError):
        raise
    except Exception as error:
        raise DamagedBook(f"{path}: the rules fail {where} ({type(error).__name__}): solve again") from error


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
                except UncompiledRules as error:
                    self.note = str(error)
                    missing = [state for state in states if state not in self._found]
                    for state, value in self._plainly(iter(missing), self.left, []):
                        self._compare(state, value)
        except MethodError:
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
            except BudgetExceeded:
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
        with contextlib.suppress(BudgetExceeded):
            plain = alphabeta.solve(rules.game, state, symmetry=rules.symmetry, budget=budget).value
            if rules.kind.kept(plain) != rules.kind.kept(searched):
                words = [value.words(as_number=abs(value.score) > 1) for value in (plain, searched)]
                raise UncompiledRules(f"{rules.name}: state {state} is {words[0]} in plain Python, {words[1]} compiled")

    def _at_once(self, states: MutableSequence[int]) -> None:
        """All states by one retrograde analysis of all that play can reach; and each that it cannot, by one more."""
        budget, state_limit = Budget(seconds=self.left), self.memory // STATE_BYTES
        solved: dict[Any, Value] = {}
        try:
            for root in (None, *states):
                if root is None or root not in solved:
                    budget_part = Budget(state_limit - len(solved), budget.seconds_left)
                    result = retrograde.solve(self.rules.game, root, symmetry=self.rules.symmetry, budget=budget_part)
                    solved.update(solution_of(result.table, self.rules.scores))
        except BudgetExceeded:
            self.left = 0.0
        for state in states:
            if state in solved:
                self._compare(state, solved[state])

    def _compare(self, state: int, searched: Value) -> None:
        stated = self.values[state]
        searched = self.rules.kind.kept(searched)
        if searched != stated:
            words = [value.words(as_number=abs(value.score) > 1) for value in (stated, searched)]
            raise DamagedBook(
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
