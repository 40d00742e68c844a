"""Asking a module from Python, by wasmtime: exact values within a budget, as from `compiled.exact.searcher`.

module = Module(data, Rules(load_game("connect-four")))
module.value(state, seconds=1.0)               Value(score=1, distance=41)
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

from solver.base.errors import DamagedBook, ForeignBook, UncompiledRules, printable
from solver.rules.fingerprint import Origin, check_origin
from solver.rules.game import Rules
from solver.rules.width import words_of
from solver.search import Budget, ExactSearch, Result, SearchStatus, heuristic
from solver.wasm import exports
from solver.wasm.binary import facts_of
from solver.wasm.watch import watch

PLIES, ROWS = 1024, 1 << 15  # of a path, and of the moves of its plies
TABLE_BYTES = 64 << 20  # bytes, a power of two
LOOK_PLIES, LOOK_ROWS, LOOK_TABLE = 256, 1 << 13, 8 << 20  # of the search of limited depth, the table a power of two
MAX_LOOK_DEPTH = LOOK_PLIES - 2
SPARE = 16 << 20  # bytes of memory for paths and the rest
REASONS = {  # of traps
    "interrupt": "it does not end",
    "wasm `unreachable` instruction executed": "the rules raise an error, or a number leaves 64 bits",
}
CALL_SECONDS = 5.0  # seconds that a call may take, or the start, which are for milliseconds of work


def check_facts(facts: dict[str, Any], rules: Rules) -> None:
    """Raise ForeignBook unless a module was built of these rules, folded as they are, for this version's hosts."""
    for name, value in (exports.shape_of(rules.bits) | {"symmetry": rules.folds}).items():
        if facts.get(name) != value:
            stated = printable(str(facts.get(name))[:80])
            raise ForeignBook(f"the module's {name} is {stated}, not {value}: build it again: solver build")
    made_by = Origin(str(facts.get("game")), str(facts.get("rules")))
    check_origin("the module", made_by, rules.origin, "build it again: solver build")


class Module(ExactSearch):
    """The module of a game, in a memory of its own, for one thread.

    Raises ForeignBook for one of other rules, DamagedBook for one that is not what `solver build` writes. A module
    cannot do harm: it is compiled within limits, unless it `is_ours` and comes with the package; it has its own
    memory, of a size that is bounded, and is ended where it does not end by itself.
    """

    def __init__(self, data: bytes, rules: Rules, *, is_ours: bool = False) -> None:
        self.rules, self.facts = rules, facts_of(data)
        check_facts(self.facts, rules)
        self.win, self.scores = self.facts["win"], rules.scores
        self._data, self._is_ours = data, is_ours
        self._state_bytes = 8 * words_of(rules.bits)
        self.patience = CALL_SECONDS
        self._nodes = 0
        self._start()

    def _start(self) -> None:
        """Make an instance, with room for its searches."""
        import wasmtime

        self._watch = watch()
        self._trap = wasmtime.WasmtimeError, wasmtime.Trap
        try:
            code = self._watch.compiled(self._data, is_ours=self._is_ours)
            self._store = wasmtime.Store(self._watch.engine)
            self._store.set_limits(TABLE_BYTES + LOOK_TABLE + SPARE, 1 << 10, 1, 1, 1)
            deadline = time.monotonic() + CALL_SECONDS
            with self._watch.ends(self._store, CALL_SECONDS):
                instance = wasmtime.Instance(self._store, code, [])
            self._exports: Mapping[str, Any] = instance.exports(self._store)
            wanted = dict(exports.REQUIRED)
            for group, entry_point in ((exports.EXACT, "lay_out"), (exports.DEPTH, "lay_out_look")):
                wanted |= group if entry_point in self._exports else {}
            lacks = []
            for name, count in wanted.items():
                function, result = self._exports.get(name), "f64" if name in exports.FLOATS else "i64"
                kinds = function.type(self._store) if isinstance(function, wasmtime.Func) else None
                if kinds is None or [*map(str, kinds.params), *map(str, kinds.results)] != ["i64"] * count + [result]:
                    lacks.append(name)
            if lacks or not isinstance(self._exports.get("memory"), wasmtime.Memory):
                raise DamagedBook(f"the module lacks {', '.join(lacks) or 'a memory'}: build it again: solver build")

            # Together the calls end by the deadline
            def call(name: str, *numbers: int) -> Any:
                return self._call(max(0.0, deadline - time.monotonic()), name, *numbers)

            self._grow(end := exports.HEAP)
            if self.searches:
                end = call("lay_out", PLIES, ROWS, TABLE_BYTES // 8)
                self._grow(end)
                call("forget")
            if self.looks:
                self._grow(call("lay_out_look", end, LOOK_PLIES, LOOK_ROWS, LOOK_TABLE // 8))
        except self._trap as error:
            raise DamagedBook(f"the module does not start: {_reason(error)}: build it again: solver build") from None

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
        pages = -(-(needed - memory.data_len(self._store)) // exports.PAGE)
        if pages > exports.MOST_PAGES:
            raise DamagedBook(f"the module wants {needed:,} bytes of memory: build it again: solver build")
        memory.grow(self._store, max(0, pages))

    def nodes(self) -> int:
        """Nodes searched so far."""
        return self._nodes

    def ask(self, name: str, *numbers: int) -> Any:
        """The answer of an exported function; wide states are numbers here, too.

        Raises UncompiledRules where the rules raise an error, or do not end.
        """
        try:
            return self._call(self.patience, name, *numbers)
        except self._trap as error:
            # A trap leaves the memory as it happens to be
            self._start()
            raise UncompiledRules(f"{self.rules.name}: {name}{numbers} fails in its module: {_reason(error)}") from None

    def _call(self, seconds: float, name: str, *numbers: int) -> Any:
        is_wide = self._state_bytes > 8
        if is_wide and name in exports.TAKING:
            self._exports["memory"].write(
                self._store, numbers[0].to_bytes(self._state_bytes, "little"), exports.LISTS_BEGIN
            )
            numbers = exports.LISTS_BEGIN, *numbers[1:]
        with self._watch.ends(self._store, seconds):
            result = self._exports[name](self._store, *numbers)
        if is_wide and name in exports.GIVING:
            data = self._exports["memory"].read(self._store, result, result + self._state_bytes)
            return int.from_bytes(data, "little")
        return result

    def _merit(self, state: int, low: int, high: int, budget: Budget) -> int:
        self.ask("begin", state, low, high)
        refusal = f"{self.rules.name}: play from {state} is too long, or its margins too large"
        self._run("go_on", "spent", budget, refusal)
        merit = int(self.ask("found"))
        if abs(merit) > self.win:
            raise UncompiledRules(refusal)
        return merit

    def _run(self, step: str, counter: str, budget: Budget, refusal: str) -> int:
        """Call a function that searches on until it is done; the nodes that it took, as another one tells.

        Raises BudgetExceeded; UncompiledRules with the `refusal`, and for what pauses without having searched: no
        budget of nodes would ever end it.
        """
        spent: int = 0
        try:
            while True:
                status = self.ask(step, max(1, budget.allowance()))
                before, spent = spent, self.ask(counter)
                budget.take(spent - before)
                if status == SearchStatus.DONE:
                    return spent
                if status != SearchStatus.PAUSED:
                    raise UncompiledRules(refusal)
                budget.check()
                if spent <= before:
                    raise UncompiledRules(f"{self.rules.name}: the module does not get on")
        finally:
            self._nodes += spent

    def look(self, state: int, depth: int, first_action: int | None = None, budget: Budget | None = None) -> Result:
        """The best that can be seen so many plies ahead, as `Lookahead.look`; UncompiledRules beyond MAX_LOOK_DEPTH."""
        rules = self.rules
        if rules.is_terminal(state):
            return heuristic.ended(rules, state)
        if depth > MAX_LOOK_DEPTH:
            raise UncompiledRules(f"{rules.name}: a module looks {MAX_LOOK_DEPTH} plies ahead at most, not {depth}")
        self.ask("look", state, depth, -1 if first_action is None else first_action)
        refusal = f"{rules.name}: the module cannot look {depth} plies ahead of {state}"
        nodes = self._run("look_on", "looked", budget or Budget(), refusal)
        merit = self.ask("merit")
        if not math.isfinite(merit):
            raise UncompiledRules(f"{rules.name}: the module's estimate of {state} is not a number")
        return heuristic.looked(rules, depth, merit, self.ask("choice"), bool(self.ask("cut")), nodes)


def _reason(error: Exception) -> str:
    """Why a call failed, in one line."""
    reason = "".join(str(error).splitlines()[-1:]).rpartition("wasm trap: ")[2].strip()
    return REASONS.get(reason, printable(reason[:200]))
