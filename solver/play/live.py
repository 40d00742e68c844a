"""Live search: exact values of single states, and estimates of those that are too hard, within a budget.

Plain alpha-beta takes what is easy and what comes while the compiled one is loaded, the game's module or Numba's; plain
retrograde analysis takes a game with cycles if it is small. States that are asked together share tables, and take
turns that double, so that the easy ones are not held up by the hard.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from solver.base.errors import BudgetExceeded, MethodError, UncompiledRules
from solver.base.patience import impatient, not_yet
from solver.base.value import Value
from solver.play.lookahead import QUICK, Compiled, Foresight, in_turn
from solver.rules.game import Rules, is_built_in

SECONDS = 5.0
PLAYOUTS = 20  # random games in which a user's rules are checked
PATIENCE = 60.0  # seconds of computing beyond the budget after which the rules are given up
MOST_PATIENCE = 1e6  # of a compiler
SHORT = 0.3  # seconds of a budget for which no compiled search is loaded
SLICE = 0.1  # seconds after which a compiled search that may be told to stop is asked again: its table goes on


class Live:
    """The searches of one game, whose tables are kept; the thread whose `turn` it is may `solve` or ask what `attains`.

    Estimates are by the `foresight`.
    """

    def __init__(self, rules: Rules, foresight: Foresight) -> None:
        self.rules = rules
        self.foresight = foresight
        self.game, self._symmetry = rules.game, rules.symmetry
        self.solved: dict[Any, Value] = {}  # what searches have found, canonical states
        self._table: dict[Any, Any] = {}
        self._team = Compiled(rules, self._searchers, lambda it: it.searches, foresight.module)  # for what is hard
        self._turn = threading.Lock()
        self._cyclic = False
        self._unchecked = isinstance(rules.game, tuple) and not is_built_in(rules.name)
        self._tried = 0.0  # seconds that retrograde analysis had in vain

    def _searchers(self) -> Any:
        from solver.compiled.exact.searcher import Team

        return Team(self.game, symmetry=self._symmetry)

    def prepare(self, wait: bool) -> None:
        """Begin to load both compiled searches, exact and of limited depth."""
        self._team.load(wait)
        self.foresight.compiled.load(wait)

    def turn(self, budget: Any) -> contextlib.AbstractContextManager[bool]:
        """Whether this thread's turn has come within the budget."""
        return in_turn(self._turn, budget)

    def solve(self, states: list[int], parent: int | None, budget: Any) -> None:
        """Solve states of unknown value exactly, as far as the budget goes; `parent` of the others needs no search.

        Raises GameError if a user's rules break the protocol.
        """
        from solver.check.conformance import check_game

        if self._unchecked:
            check_game(self.game, playouts=PLAYOUTS)
            self._unchecked = False
        if budget.seconds_left is None:
            self._solve(states, parent, budget)
            return
        with impatient(budget.seconds_left + PATIENCE, f"{self.rules.name}: its rules do not end: they must"):
            self._solve(states, parent, budget)

    def _solve(self, states: list[int], parent: int | None, budget: Any) -> None:
        todo = states
        try:
            if not self._cyclic and self._team.is_at_hand():
                _have_loaded(self._team.load, budget)
            if not self._cyclic and not self._team.is_loaded():
                todo = self._round(todo, parent, lambda _: budget.part(0.5, nodes=QUICK), go_on=False)
                if todo:
                    _have_loaded(self._team.load, budget)
            for share in (1 / 8, 1 / 4, 1 / 2, 1) if len(todo) > 1 else (1,):
                if todo and not self._cyclic:
                    todo = self._round(todo, parent, functools.partial(_fair_part, budget.part(share)))
        except MethodError:
            self._cyclic = True
        if self._cyclic and todo:
            self._retrograde(states[-1] if parent is None else parent, budget)

    def _round(
        self, states: list[int], parent: int | None, part: Callable[[int], Any], go_on: bool = True
    ) -> list[int]:
        """Search each of the states for the budget that `part(how many come yet)` gives; those left unsolved."""
        left: list[int] = []
        for place, state in enumerate(states):
            key = self.rules.canonical(state)
            if key in self.solved or (state == parent and not left):
                continue
            allowed = part(len(states) - place)
            try:
                if allowed.is_used_up():
                    raise BudgetExceeded("nothing is left to search with: allow more nodes or seconds")
                self.solved[key] = self._exact(state, allowed)
            except BudgetExceeded:
                left.append(state)
                if not go_on:
                    return left + states[place + 1 :]
        return left

    def _exact(self, state: int, budget: Any) -> Value:
        """The exact value, by the compiled alpha-beta if it is loaded. Raises BudgetExceeded, MethodError (cycles)."""
        from solver.search import alphabeta

        plain = functools.partial(alphabeta.solve, self.game, state, table=self._table, symmetry=self._symmetry)
        if not self._team.is_loaded():
            try:
                return plain(budget=budget.part(1, stop=self._team.is_loaded)).value
            except BudgetExceeded:
                if self._team.it is None:
                    raise
        if self._team.it is not None:
            try:
                found: Value = self._compiled(self._team.it.value, budget, state)
                return found
            except UncompiledRules:
                self._team.it = None
        return plain(budget=budget).value

    def attains(self, state: int, action: int, child: int, value: Value, same_mover: bool, budget: Any) -> bool:
        """Whether an action keeps the state's value, so that its child's is `value`; False where the budget ends."""
        if self._cyclic:
            return False
        if value.distance is None and not self.rules.scores and (-value.score, value.score)[same_mover] < 0:
            return True  # a loss, however soon
        try:
            if not self._team.is_loaded():
                found = self._quickly(state, budget)
                if found is not None:
                    return bool(found == action)
            if self._team.it is not None:
                reaches = functools.partial(self._compiled, self._team.it.reaches, budget, child, value)
                return bool(reaches() if same_mover else not reaches(more=True))
            return bool(self._plain_action(state, budget) == action)
        except (BudgetExceeded, MethodError, UncompiledRules):
            return False

    def _quickly(self, state: int, budget: Any) -> Any:
        """A best action, if plain alpha-beta soon has one; else None, and the compiled search is waited for."""
        if not self._team.is_at_hand():
            with contextlib.suppress(BudgetExceeded):
                return self._plain_action(state, budget.part(0.5, nodes=QUICK))
        _have_loaded(self._team.load, budget)
        return None

    def _plain_action(self, state: int, budget: Any) -> Any:
        from solver.search import alphabeta

        return alphabeta.solve(self.game, state, table=self._table, symmetry=self._symmetry, budget=budget).action

    def _compiled(self, ask: Callable[..., Any], budget: Any, *arguments: Any, **options: Any) -> Any:
        """The answer of the compiled search, whose nodes the budget counts."""
        team = self._team.it
        while True:
            before, seconds = team.nodes(), budget.seconds_left
            if budget.can_stop():
                seconds = SLICE if seconds is None else min(SLICE, seconds)
            try:
                return ask(*arguments, nodes=budget.nodes_left, seconds=seconds, **options)
            except BudgetExceeded:
                if not budget.can_stop() or budget.is_used_up():
                    raise
            finally:
                budget.take(team.nodes() - before)

    def _retrograde(self, state: int, budget: Any) -> None:
        """In a game with cycles all states below one must be resolved together; again only with more time."""
        from solver.search import retrograde, solution_of

        seconds = budget.seconds_left
        if seconds is not None and seconds < 1.5 * self._tried:
            return
        try:
            found = retrograde.solve(self.game, state, symmetry=self._symmetry, budget=budget)
        except MethodError:
            return
        except BudgetExceeded:
            self._tried = seconds or 0.0
            return
        self.solved.update(solution_of(found.table, self.rules.scores))

    def estimates(self, states: list[int], budget: Any) -> dict[int, Value | float]:
        """One search of limited depth for all states, deepened while the budget lasts: exact values or estimates.

        One ply is always searched. Without `evaluate` only what the players can force is found.
        """
        from solver.search import Budget

        foresight, blind = self.foresight, self.foresight.name is None
        if blind and self.rules.scores:
            return {}
        if budget.seconds_left is None and budget.nodes_left is None:
            budget = Budget(seconds=SECONDS)
        _have_loaded(self.foresight.compiled.load, budget)
        found: dict[int, Value | float] = {}
        first: dict[int, int | None] = {}
        todo, depth = states, 1
        with contextlib.suppress(BudgetExceeded, MethodError):
            while todo:
                guesses = {}
                for state in todo:
                    result = foresight.look(state, depth, first.get(state), budget if depth > 1 else None)
                    first[state] = result.action
                    if result.exact:
                        found[state] = result.value
                    elif result.value.score or not blind:
                        guesses[state] = result.value.score
                found.update(guesses)
                todo, depth = [state for state in todo if not isinstance(found.get(state), Value)], depth + 1
        return found


def _have_loaded(load: Callable[[bool], None], budget: Any) -> None:
    """Have a compiled search loaded, if the budget is large enough to gain by it: that time is not the budget's.

    Nobody searches meanwhile: plain Python beside it makes the compiler three times slower.
    """
    seconds, nodes = budget.seconds_left, budget.nodes_left
    if (nodes is not None and nodes <= QUICK) or (seconds is not None and seconds <= SHORT):
        return
    began = time.monotonic()
    not_yet(MOST_PATIENCE)
    load(True)
    budget.extend(time.monotonic() - began)
    if seconds is not None:
        not_yet(seconds + PATIENCE)


def _fair_part(budget: Any, left: int) -> Any:
    """What one of so many searches may spend of a budget that was begun on."""
    return budget.part(1 / left)
