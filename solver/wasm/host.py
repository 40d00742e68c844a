"""Asking a module from Python, by wasmtime: exact values within a budget, as from `compiled.exact.searcher`.

    module = Module(data, Rules(load_game("connect-four")))
    module.value(state, seconds=1.0)               Value(score=1, distance=41)
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from solver.base.errors import BudgetExceeded, ForeignBook, UncompiledRules
from solver.base.value import Value, merit_of, value_of
from solver.rules.game import Rules
from solver.search import Budget, Counts, Result, heuristic
from solver.wasm.binary import facts_of
from solver.wasm.layout import HEAP, PAGE

FORMAT = 1
PLIES, ROWS = 1024, 1 << 15  # of a path, and of the moves of its plies
TABLE = 64 << 20  # bytes
LOOK_PLIES, LOOK_ROWS, LOOK_TABLE = 256, 1 << 13, 8 << 20  # of the search of limited depth
CHUNK = 1 << 16  # nodes between two looks at the clock
PAUSED, DONE, CROWDED = range(3)  # what `go_on` and `look_on` return


def check_facts(facts: dict[str, Any], rules: Rules) -> None:
    """Raise ForeignBook unless a module was built of these rules, folded as they are, for this version's hosts."""
    wanted = {"format": FORMAT, "rules": rules.fingerprint, "symmetry": rules.folds}
    for name, value in wanted.items():
        if facts.get(name) != value:
            raise ForeignBook(f"the module's {name} is {facts.get(name)}, not {value}: build it again: solver build")


class Module:
    """The module of a game, in a memory of its own, for one thread. Raises ForeignBook for one of other rules."""

    def __init__(self, data: bytes, rules: Rules, table: int = TABLE) -> None:
        import wasmtime

        self.rules, self.facts = rules, facts_of(data)
        check_facts(self.facts, rules)
        engine = wasmtime.Engine()
        self._store = wasmtime.Store(engine)
        instance = wasmtime.Instance(self._store, wasmtime.Module(engine, data), [])
        self._exports: Mapping[str, Any] = instance.exports(self._store)
        self._trap = wasmtime.WasmtimeError, wasmtime.Trap
        self._nodes = 0
        end = HEAP
        if self.searches:
            end = self.ask("lay_out", PLIES, ROWS, _words(table))
            self._grow(end)
            self.ask("forget")
        if self.looks:
            self._grow(self.ask("lay_out_look", end, LOOK_PLIES, LOOK_ROWS, _words(LOOK_TABLE)))

    @property
    def searches(self) -> bool:
        """Whether it finds exact values."""
        return "lay_out" in self._exports

    @property
    def looks(self) -> bool:
        """Whether it looks some plies ahead."""
        return "lay_out_look" in self._exports

    def _grow(self, needed: int) -> None:
        memory = self._exports["memory"]
        memory.grow(self._store, max(0, -(-(needed - memory.data_len(self._store)) // PAGE)))

    def nodes(self) -> int:
        """Nodes searched so far."""
        return self._nodes

    def ask(self, name: str, *numbers: int) -> Any:
        """What an exported function answers. Raises UncompiledRules where the rules raise an error."""
        try:
            return self._exports[name](self._store, *numbers)
        except self._trap as error:
            reason = str(error).splitlines()[-1].strip()
            raise UncompiledRules(f"{self.rules.name}: {name}{numbers} fails in its module: {reason}") from None

    def value(self, state: int, *, nodes: int | None = None, seconds: float | None = None) -> Value:
        """The value of a state.

        Raises BudgetExceeded after so many nodes or seconds, UncompiledRules where play is longer than the memory has
        room for: it may go in circles.
        """
        win = self.facts["win"]
        return value_of(self._merit(state, *self._range(state), nodes, seconds), self.rules.scores, win)

    def reaches(
        self, state: int, value: Value, *, more: bool = False, nodes: int | None = None, seconds: float | None = None
    ) -> bool:
        """Whether a state is worth at least that much (`more`: more), found as `value`."""
        bound: int = merit_of(value, self.facts["win"]) + more
        return self._merit(state, bound - 1, bound, nodes, seconds) >= bound

    def _range(self, state: int) -> tuple[int, int]:
        win: int = self.facts["win"]
        if not (self.rules.scores and self.rules.bounds):
            return -win, win
        low, high = self.rules.bounds(state)
        return max(low, -win), min(high, win)

    def _merit(self, state: int, low: int, high: int, nodes: int | None, seconds: float | None) -> int:
        deadline = None if seconds is None else time.monotonic() + seconds
        spent = 0
        self.ask("begin", state, low, high)
        try:
            while True:
                status = self.ask("go_on", CHUNK if nodes is None else max(0, min(CHUNK, nodes - spent)))
                spent = self.ask("spent")
                if status == DONE:
                    return int(self.ask("found"))
                if status != PAUSED:
                    raise UncompiledRules(f"{self.rules.name}: play from {state} is too long, or its margins too large")
                if (nodes is not None and spent >= nodes) or (deadline is not None and time.monotonic() > deadline):
                    raise BudgetExceeded("the search has used up its budget: allow more nodes or seconds")
        finally:
            self._nodes += spent

    def look(self, state: int, depth: int, first: int | None = None, budget: Budget | None = None) -> Result:
        """The best that can be seen so many plies ahead, at most LOOK_PLIES - 2, as `Lookahead.look`."""
        rules, spent = self.rules, 0
        if rules.is_terminal(state):
            return Result(heuristic.estimated_value(rules.end(state), rules.scores), None, True, Counts(1), {})
        depth = min(depth, LOOK_PLIES - 2)
        self.ask("look", state, depth, -1 if first is None else first)
        while True:
            left = None if budget is None else budget.nodes_left
            status = self.ask("look_on", CHUNK if left is None else max(1, min(CHUNK, left)))
            before, spent = spent, self.ask("looked")
            if budget is not None:
                budget.take(spent - before)
            if status == DONE:
                break
            if status != PAUSED:
                raise UncompiledRules(f"{rules.name}: the module cannot look {depth} plies ahead of {state}")
            if budget is not None and budget.is_used_up():
                raise BudgetExceeded("the search has used up its budget: allow more nodes or seconds")
        self._nodes += spent
        best = self.ask("merit")
        value = heuristic.estimated_value(best if -1 < best < 1 or best % 1 else int(best), rules.scores)
        exact = heuristic.is_exact(value, depth if self.ask("cut") else None)
        return Result(value, self.ask("choice"), exact, Counts(spent), {})


def _words(size: int) -> int:
    """The largest power of two of words within so many bytes."""
    return 1 << (size // 8).bit_length() - 1
