"""Searches of limited depth for whoever plays, by the rules' own `evaluate` or by a learned evaluation.

Plain ones, until the compiled are loaded: the game's module, where wasmtime is installed and one is shipped, or else
Numba's, where that is and the rules compile. All find the same, but for the last digits of a model's estimates.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from solver.base import extras
from solver.base.errors import BudgetExceeded, GameError, UncompiledRules
from solver.play import modules
from solver.rules.game import Rules
from solver.rules.width import USUAL
from solver.search import Budget, Result, heuristic
from solver.wasm.host import Module

QUICK = 2_000  # nodes that a plain search may take before the compiled one, which takes time to load, is asked


class Compiled:
    """A compiled search of one game, `it`, made in a thread at the first request; None until then, or if it cannot be.

    It is the module that was given; or the game's, if one is shipped and no compiler is loaded; or the result of
    `make`, if that module is not `enough`.
    """

    def __init__(
        self, rules: Rules, make: Callable[[], Any], enough: Callable[[Module], bool], module_bytes: bytes | None
    ) -> None:
        self.it: Any = None
        self._rules, self._make, self._enough, self._given = rules, make, enough, module_bytes
        self._loading, self._loaded = threading.Lock(), threading.Event()
        self._started = False
        self.is_loaded = self._loaded.is_set  # or given up

    def is_at_hand(self) -> bool:
        """Whether to load it takes no longer than a short search in plain Python."""
        return not self._rules.plain_only and (self._given is not None or modules.is_at_hand(self._rules))

    def load(self, wait: bool) -> None:
        """Begin to load it, unless that is under way."""
        with self._loading:
            if not self._started:
                self._started = True
                if isinstance(self._rules.game, tuple) and not self._rules.plain_only:
                    threading.Thread(target=self._load, daemon=True).start()
                else:
                    self._loaded.set()
        if wait:
            self._loaded.wait()

    def answer(self, plain: Callable[[Any], Any], ask: Callable[[], Any], budget: Budget | None) -> Any:
        """Return `plain(budget)` until the search is loaded, or where it cannot be asked, and `ask()` from then on.

        Raises:
            BudgetExceeded: The budget is used up.
        """
        if not self.is_loaded():
            try:
                return plain(None if budget is None else budget.part(1, stop=self.is_loaded))
            except BudgetExceeded:
                if self.it is None or budget is None or budget.is_used_up():
                    raise
        if self.it is not None:
            with contextlib.suppress(UncompiledRules):
                return ask()
            self.it = None
        return plain(budget)

    def _load(self) -> None:
        try:
            # What the compiler cannot do, the plain search can
            with contextlib.suppress(Exception):
                module = None if self._given is None else Module(self._given, self._rules)
                if module is None and modules.is_at_hand(self._rules):
                    module = modules.find(self._rules)
                if module is not None and self._enough(module):
                    self.it = module
                elif extras.has_kernels():
                    self.it = self._make()
        finally:
            self._loaded.set()


@contextlib.contextmanager
def in_turn(lock: threading.Lock, budget: Any) -> Iterator[bool]:
    """Hold a lock of several threads; whether it was this one's turn within the budget."""
    seconds = None if budget is None else budget.seconds_left
    is_mine = lock.acquire(timeout=-1 if seconds is None else min(seconds, threading.TIMEOUT_MAX))
    try:
        yield is_mine
    finally:
        if is_mine:
            lock.release()


class Foresight:
    """The searches of one game by one evaluation; threads may share them.

    `evaluate` is a file that `solver learn` wrote, or its content; else the rules' own is asked. `name` says
    which: the file's, "evaluate", or None where the rules have none, and every state is taken for even. `module` is a
    file that `solver build` wrote, or its bytes. Raises BookError for a file that is none, ForeignBook for one of other
    rules, MethodError where numpy or wasmtime is missing.
    """

    def __init__(self, rules: Rules, evaluate: Any = None, module: Any = None) -> None:
        self.rules = rules
        self.module: bytes | None = None if module is None else modules.given(module, rules)
        self.name = None if rules.evaluate is None else "evaluate"
        self._evaluate: Callable[[Any], Any] = rules.evaluate or heuristic.even
        self.evaluation: Any = None
        if evaluate is not None:
            is_path = isinstance(evaluate, (str, os.PathLike))
            self.name = Path(evaluate).name if is_path else "a learned evaluation"
            extras.require_kernels("a learned evaluation needs numpy: ")
            from solver.compiled.lookahead.evaluation import game_of, read

            self.evaluation = read(evaluate) if is_path else evaluate
            game_of(self.evaluation, rules.game)
            self._evaluate = plainly(rules, self.evaluation)
        self.compiled: Compiled = Compiled(rules, self._compiled, lambda it: it.looks and evaluate is None, self.module)
        self._turn = threading.Lock()

    def _compiled(self) -> Any:
        from solver.compiled.lookahead.depth import model_of
        from solver.compiled.lookahead.searches import Lookahead

        model = None if self.evaluation is None else model_of(self.evaluation)
        ahead = Lookahead(self.rules.game, model=model, symmetry=self.rules.symmetry)
        ahead.warm()
        return ahead

    def search(self, state: Any, depth: int) -> Result:
        """The best that can be seen so many plies ahead, as `heuristic.search`: at once where that is little."""
        with contextlib.suppress(BudgetExceeded):
            return self._plain(state, depth, Budget(QUICK))
        self.compiled.load(wait=True)
        result = self.look(state, 1)
        for deeper in range(2, depth + 1) if self.compiled.it is not None else (depth,):
            if not result.exact:
                result = self.look(state, deeper, result.action)
        return result

    def look(self, state: Any, depth: int, first_action: int | None = None, budget: Budget | None = None) -> Result:
        """Search at one depth at once, after shallower depths were searched. `first_action` is tried first.

        Raises as `heuristic.search`.
        """

        def ask() -> Any:
            with in_turn(self._turn, budget) as is_mine:
                if not is_mine:
                    raise BudgetExceeded("other threads search: allow more seconds")
                return self.compiled.it.look(state, depth, first_action, budget)

        result: Result = self.compiled.answer(functools.partial(self._plain, state, depth), ask, budget)
        return result

    def _plain(self, state: Any, depth: int, budget: Budget | None) -> Result:
        rules = self.rules
        return heuristic.search(
            rules.game, state, depth=depth, evaluate=self._evaluate, symmetry=rules.symmetry, budget=budget
        )


def plainly(rules: Rules, evaluation: Any) -> Callable[[Any], float]:
    """Return `evaluate(state)` of a learned evaluation; of all symmetric states it is that of their image."""
    from solver.compiled.lookahead.evaluation import estimates

    def evaluate(state: Any) -> float:
        features = features_of(rules, state)
        if len(features) != evaluation.features:
            raise GameError(
                f"{rules.name}: features({state}) returns {len(features)} numbers, the evaluation expects"
                f" {evaluation.features}: run solver learn again"
            )
        guess = float(estimates(evaluation, [features])[0]) * evaluation.scale
        lowest, highest = rules.bounds(state) if rules.bounds and rules.scores else (guess, guess)
        return float(max(lowest, min(highest, guess)))

    return evaluate


def features_of(rules: Rules, state: Any) -> list[Any]:
    """The features of a state's image: the game's own, or else its bits, for each of two players where states tell."""
    key = rules.canonical(state)
    if rules.features is not None:
        return list(rules.features(key))
    bits = [key >> bit & 1 for bit in range(max(USUAL, rules.bits))]
    if rules.to_move is None:
        return bits
    nobody = [0] * len(bits)
    return nobody + bits if rules.to_move(key) else bits + nobody
