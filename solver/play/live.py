"""Live search: exact values of single states, and estimates of those that are too hard, within a budget.

Plain alpha-beta takes easy states, and all states while the compiled one is loaded, the game's module or Numba's; plain
retrograde analysis takes a game with cycles if it is small. States that are asked together share tables, and take
turns that double, so that the easy ones are not held up by the hard.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

from solver.base.errors import BudgetExceeded, MethodError, UncompiledRules
from solver.base.signals import impatient, not_yet
from solver.base.value import Value
from solver.play.analysis import Answer
from solver.play.lookahead import QUICK, Compiled, Foresight, in_turn
from solver.rules.game import Rules, is_built_in
from solver.search import SECONDS, Budget, Result, alphabeta, retrograde, solution_of

PLAYOUTS = 20  # random games in which a user's rules are checked
RULES_TIMEOUT = 60.0  # seconds of computing beyond the budget after which the rules are given up
MOST_PATIENCE = 1e6  # of a compiler
PATIENT = 40_000  # nodes of plain search before compiled code is loaded: a second or two, where compiling takes more
PLAIN_SHARE = 0.25  # of the budget, at most
SHORT = 0.3  # seconds of a budget for which no compiled search is loaded
SLICE = 0.1  # seconds after which a compiled search that may be told to stop is asked again: its table goes on


class Live:
    """Live searches of one game. Tables stay from search to search; results are returned.

    Only the thread that holds the `turn` may call `solve` or `attains`. `estimates` is by the `foresight`, and needs no
    turn.
    """

    def __init__(self, rules: Rules, foresight: Foresight) -> None:
        self.rules, self.game, self.foresight = rules, rules.game, foresight
        self.compiled: Compiled = Compiled(rules, self._searchers, lambda module: module.searches, foresight.module)
        # Set where alpha-beta meets a cycle
        self.is_cyclic: bool = False
        self._table: dict[Any, Any] = {}  # of plain alpha-beta
        self._turn = threading.Lock()
        self._needs_check = isinstance(rules.game, tuple) and not is_built_in(rules.name)
        # Seconds of the last retrograde analysis that ran out of budget
        self._seconds_wasted = 0.0

    def _searchers(self) -> Any:
        from solver.compiled.exact.searcher import Team

        return Team(self.game, symmetry=self.rules.symmetry)

    def prepare(self, wait: bool) -> None:
        """Begin to load both compiled searches, exact and of limited depth."""
        self.compiled.load(wait)
        self.foresight.compiled.load(wait)

    def turn(self, budget: Budget) -> contextlib.AbstractContextManager[bool]:
        """Wait for this thread's turn; False if it has not come within the budget."""
        return in_turn(self._turn, budget)

    def solve(self, states: list[int], parent: int | None, budget: Budget) -> dict[Any, Value]:
        """Find exact values, as far as the budget goes.

        Args:
            states: States of unknown value, which share the budget.
            parent: One of `states`, the parent of all others, or None. It is searched only if another stays unsolved,
                since its value follows from theirs.
            budget: Nodes and seconds for all states together.

        Returns:
            Values by canonical state, for the side to move. States that the budget did not suffice for are missing.
            Retrograde analysis adds all states that it met.

        Raises:
            GameError: A user's rules break the protocol, or do not end.
        """
        from solver.check.conformance import check_game

        if self._needs_check:
            check_game(self.game, playouts=PLAYOUTS)
            self._needs_check = False
        patience: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if budget.seconds_left is not None:
            patience = impatient(
                budget.seconds_left + RULES_TIMEOUT, f"{self.rules.name}: its rules do not end: they must"
            )
        with patience:
            return dict(self._solved(states, parent, budget))

    def _solved(self, states: list[int], parent: int | None, budget: Budget) -> Iterator[tuple[Any, Value]]:
        unsolved: dict[Any, int] = {}
        for state in states:
            unsolved.setdefault(self.rules.canonical(state), state)
        try:
            if not self.is_cyclic and self.compiled.is_at_hand():
                _have_loaded(self.compiled.load, budget)
            if not self.is_cyclic and not self.compiled.is_loaded():
                unsolved = yield from self._round(unsolved, parent, budget, plain=True)
                if unsolved:
                    _have_loaded(self.compiled.load, budget)
            # Turns double, so that hard states do not keep easy ones waiting.
            for share in (1 / 8, 1 / 4, 1 / 2, 1) if len(unsolved) > 1 else (1,):
                if unsolved and not self.is_cyclic:
                    unsolved = yield from self._round(unsolved, parent, budget.part(share))
        except MethodError:
            self.is_cyclic = True
        if self.is_cyclic and unsolved:
            yield from self._retrograde(states[-1] if parent is None else parent, budget).items()

    def _round(
        self, states: dict[Any, int], parent: int | None, budget: Budget, plain: bool = False
    ) -> Generator[tuple[Any, Value], None, dict[Any, int]]:
        """Search each state once, for a fair part of a budget.

        Yields the values found, and returns the states left unsolved. A `plain` round, before compiled code is loaded,
        gives each state the nodes that loading is worth, and leaves those behind the first that is too hard.
        """
        unsolved: dict[Any, int] = {}

        def plainly(state: int, budget: Budget) -> Value:
            return self._plain(state, budget).value

        for index, (key, state) in enumerate(states.items()):
            if state == parent and not unsolved:
                continue
            allowed = budget.part(PLAIN_SHARE, nodes=PATIENT) if plain else budget.part(1 / (len(states) - index))
            if allowed.is_used_up() or (plain and unsolved):
                unsolved[key] = state
                continue
            asked = functools.partial(plainly, state), functools.partial(self._ask_compiled, "value", allowed, state)
            try:
                # By the compiled alpha-beta if it is loaded
                yield key, self.compiled.answer(*asked, allowed)
            except BudgetExceeded:
                unsolved[key] = state
        return unsolved

    def _plain(self, state: int, budget: Budget) -> Result:
        return alphabeta.solve(self.game, state, table=self._table, symmetry=self.rules.symmetry, budget=budget)

    def attains(self, state: int, action: int, child: int, value: Value, same_mover: bool, budget: Budget) -> bool:
        """Whether an action keeps the state's value, so that its child's is `value`; False where the budget ends."""
        if self.is_cyclic:
            return False
        if value.distance is None and not self.rules.scores and (-value.score, value.score)[same_mover] < 0:
            # A loss, however soon
            return True
        try:
            if not self.compiled.is_loaded():
                if not self.compiled.is_at_hand():
                    with contextlib.suppress(BudgetExceeded):
                        return self._plain(state, budget.part(PLAIN_SHARE, nodes=PATIENT)).action == action
                _have_loaded(self.compiled.load, budget)
            if self.compiled.it is not None:
                reaches = functools.partial(self._ask_compiled, "reaches", budget, child, value)
                return bool(reaches() if same_mover else not reaches(strictly=True))
            return self._plain(state, budget).action == action
        except (BudgetExceeded, MethodError, UncompiledRules):
            return False

    def _ask_compiled(self, question: str, budget: Budget, *arguments: Any, **options: Any) -> Any:
        """Return the answer of the compiled search, whose nodes the budget counts."""
        searchers = self.compiled.it
        while True:
            before, seconds = searchers.nodes(), budget.seconds_left
            if budget.can_stop():
                seconds = SLICE if seconds is None else min(SLICE, seconds)
            try:
                return getattr(searchers, question)(*arguments, nodes=budget.nodes_left, seconds=seconds, **options)
            except BudgetExceeded:
                if not budget.can_stop() or budget.is_used_up():
                    raise
            finally:
                budget.take(searchers.nodes() - before)

    def _retrograde(self, state: int, budget: Budget) -> Mapping[Any, Value]:
        """Solve a game with cycles from a state on: all states below it, or none.

        Among cycles no single state has a value before the others. An attempt that failed is repeated only with half as
        much time again.
        """
        seconds = budget.seconds_left
        if seconds is not None and seconds < 1.5 * self._seconds_wasted:
            return {}
        try:
            result = retrograde.solve(self.game, state, symmetry=self.rules.symmetry, budget=budget)
        except MethodError:
            return {}
        except BudgetExceeded:
            self._seconds_wasted = seconds or 0.0
            return {}
        return solution_of(result.table, self.rules.scores)

    def estimates(self, states: list[int], budget: Budget) -> dict[int, Answer]:
        """Search all states to the same limited depth, deeper while the budget lasts. One ply is always searched.

        Args:
            states: Distinct states.
            budget: Nodes and seconds for all of them.

        Returns:
            Answers by state, exact where the search came to the end of the game. Without `evaluate` a state that looks
            even is left out, so that only forced wins and losses remain.
        """
        foresight, blind = self.foresight, self.foresight.name is None
        if blind and self.rules.scores:
            return {}
        if budget.seconds_left is None and budget.nodes_left is None:
            budget = Budget(seconds=SECONDS)
        _have_loaded(self.foresight.compiled.load, budget)
        answers: dict[int, Answer] = {}
        # The best action of the depth before, to begin with
        first_actions: dict[int, int | None] = {}
        unsolved, depth = states, 1
        with contextlib.suppress(BudgetExceeded, MethodError):
            while unsolved:
                estimates = {}
                for state in unsolved:
                    result = foresight.look(state, depth, first_actions.get(state), budget if depth > 1 else None)
                    first_actions[state] = result.action
                    if result.exact:
                        answers[state] = Answer(result.value, True, "search")
                    elif result.value.score or not blind:
                        estimates[state] = Answer(None, False, "search", float(result.value.score))
                # They count once the depth is complete for all: only estimates of one depth compare.
                answers.update(estimates)
                unsolved = [state for state in unsolved if state not in answers or not answers[state].exact]
                depth += 1
        return answers


def _have_loaded(load: Callable[[bool], None], budget: Budget) -> None:
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
        not_yet(seconds + RULES_TIMEOUT)
