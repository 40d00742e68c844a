"""The compiled rules beside the plain ones: both must answer alike for each state.

Numba computes with 64 bits, where Python does not stop there; it shifts by whatever the processor makes of the
distance, reads behind the end of an array, and knows no exception where LLVM has left it out. So the kernel that
lists a state's children is run on states of random games, and of every tier, and held against the methods as they
are. The solution itself is held against the plain rules on a sample of every tier, when it is complete.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from solver.base.errors import BudgetExceeded, SolverError, UncompiledRules
from solver.base.expectations import mean
from solver.base.kinds import Units
from solver.check import conformance
from solver.check.conformance import OTHERWISE, confirmed
from solver.compiled import edges as compiled_edges
from solver.compiled.binding import FAILURES, bind, compiling, is_of_compiler
from solver.compiled.edges import CompiledMoves
from solver.compiled.module import rules as of_rules
from solver.compiled.states import Words, more_of, packed, unpacked
from solver.rules.game import Game, Rules, own_method
from solver.rules.loading import error_text
from solver.search import Budget
from solver.search.derive import derived, edges

AUDIT_SECONDS = 0.2
LEAST_AUDITED = 16
SAMPLED = 40  # states of a user's game whose values are compared with those of a plain search
SAMPLED_NODES = 2_000  # that this may take for each


def compare(game: Game, states: Sequence[int], *, symmetry: bool = True, tiers: bool = True) -> None:
    """Raise UncompiledRules with the first of the states of which compiled and plain rules say different things."""
    Twins(game, symmetry, tiers).compare(states)


def compare_values(
    rules: Rules,
    states: Sequence[int],
    plain: Callable[[int, Budget], Any],
    compiled: Callable[[int], Any],
    suspects: str = "",
) -> None:
    """Hold a compiled search against a plain one, which gets a budget, on some of the states.

    Raises UncompiledRules with the first that they value differently. `suspects`: what may be wrong, and "or".
    """
    for state in random.Random(0).sample(states, min(SAMPLED, len(states))):
        with contextlib.suppress(BudgetExceeded):
            expected, found = plain(state, Budget(SAMPLED_NODES, 0.1)), compiled(state)
            if expected != found:
                raise UncompiledRules(
                    f"{rules.name}: state {state} is worth {expected} in plain Python, {found} compiled:"
                    f" {suspects}{OTHERWISE}"
                )


def unlike(rules: Rules, fault: str) -> UncompiledRules:
    """The error of a fault that compiled rules show and plain ones do not."""
    return conformance.unlike(rules.game, fault)


class Twins:
    """Both kinds of rules of a game."""

    def __init__(self, game: Game, symmetry: bool, tiers: bool) -> None:
        self.rules: Rules = Rules(game, symmetry)
        self.own: CompiledMoves = CompiledMoves(self.rules, tiers)
        self._more = more_of(self.rules.bits)

    def compare(self, states: Sequence[int]) -> None:
        """Raise UncompiledRules with the first of the states of which they say different things."""
        with compiling(self.rules.game):
            for state in states:
                if self.rules.vanishing is not None and self.rules.vanishing(state):
                    # Its moves are listed before it
                    continue
                plain, compiled = self.plain(state), self.compiled(state)
                if plain != compiled:
                    raise UncompiledRules(self.difference(state, plain, compiled))

    def plain(self, state: int) -> Any:
        """The utility of a terminal state, as far as the kernel tells it; the moves that it lists of others."""
        rules = self.rules
        if rules.is_terminal(state):
            utility = rules.utility(state)
            return (utility > 0) - (utility < 0), abs(utility)
        moves = []
        for weight, group, parent, action, child in edges(rules, state):
            key, merit = rules.canonical(child), compiled_edges.NOT_TERMINAL
            if rules.is_terminal(child):
                merit = rules.lifted(rules.end(child), parent, action, child)
            same = bool(rules.same_mover(parent, action, child))
            reward = 0 if rules.reward is None or action is None else rules.reward(parent, action)
            weight += group << compiled_edges.GROUP_SHIFT
            moves.append((key, self.own.tier(key), same, merit, reward, weight))
        return moves

    def compiled(self, state: int) -> Any:
        """The same from the kernels; the text of an exception if they raise one."""
        try:
            return self.asked(state)
        except FAILURES as error:
            if is_of_compiler(error):
                raise
            return error_text(error)

    def asked(self, state: int) -> Any:
        """The answer of the kernels, which may raise."""
        states_array, kernels = packed([state], self._more), self.own.kernels
        report = np.zeros(compiled_edges.FIELDS, np.int64)
        if not kernels.keep(states_array, 0, 1, np.zeros_like(states_array), report):
            return int(report[compiled_edges.WINS] - report[compiled_edges.LOSSES]), int(report[compiled_edges.LARGEST])
        if report[compiled_edges.ERROR]:
            return compiled_edges.FAULTS[int(report[compiled_edges.ERROR])]
        moves: list[Any] = []
        with contextlib.suppress(UncompiledRules):
            listed = self.own.listed(states_array)
            moves += zip(*map(unpacked, listed._replace(owners=listed.owners & 1 == 1)), strict=True)
        return moves

    def difference(self, state: int, plain: Any, compiled: Any) -> str:
        """One line about a state: the first rule whose answers differ, where the kernels of each take its states."""
        name, game = self.rules.name, self.rules.game
        kernels = bind(of_rules, game)
        # The questions that both kinds of rules answer: a method and its arguments
        questions: list[tuple[Any, ...]] = [("is_terminal", state)]
        if game.is_terminal(state):
            questions.append(("utility", state))
        else:
            questions.append(("actions", state))
            for action in game.actions(state):
                child = game.result(state, action)
                questions += [(rule, state, action) for rule in ("result", "again", "reward")]
                questions += [(rule, child) for rule in ("canonical", "tier")]
        for rule, *arguments in () if self._more else questions:
            method = own_method(game, rule)
            if method is None:
                continue
            plain_answer = list(method(state)) if rule == "actions" else method(*arguments)
            try:
                theirs = of_rules.answer(kernels, rule, *arguments)
                answer = f"is {theirs}"
            except Exception as error:
                theirs, answer = None, f"raises {error_text(error)}"
            if theirs != (bool(plain_answer) if isinstance(theirs, bool) else plain_answer):
                call = f"{rule}({', '.join(map(str, arguments))})"
                return f"{name}: {call} is {plain_answer} in Python; compiled, it {answer}"
        return f"{name}: state {state} leads to {_short(plain)} in Python and {_short(compiled)} compiled: {OTHERWISE}"


def _short(what: Any) -> str:
    text = str(what)
    return text if len(text) <= 80 else text[:77] + "..."


@contextlib.contextmanager
def naming_states(moves: CompiledMoves, states: Callable[[], Words]) -> Iterator[None]:
    """If compiled rules raise inside, raise an error that names the first of some states at which they do."""
    try:
        yield
    except SolverError:
        raise
    except FAILURES as error:
        if is_of_compiler(error):
            raise
        rules, suspects, fault = moves.rules, states().tolist(), f"they fail with {error_text(error)}"
        twins = Twins(rules.game, rules.symmetry, moves.tiered)
        for state in suspects:
            try:
                twins.asked(state)
            except FAILURES as own_error:
                suspects, fault = [state], f"state {state} fails with {error_text(own_error)}"
                break
        raise confirmed(rules.game, suspects, fault, known=False) from error


def audit(
    rules: Rules,
    merit_of: Callable[[int], int | None],
    units: Units,
    states: Sequence[int],
    *,
    seconds: float = AUDIT_SECONDS,
) -> int:
    """Hold the values of sampled states against the plain rules; of how many. Raises UncompiledRules.

    Where states are folded by symmetry the children that are not stored themselves are looked at as well: their
    values follow from their own children, if `canonical` keeps values. It ends after that many seconds, but not before
    LEAST_AUDITED states.

    Args:
        rules: The plain rules.
        merit_of: The merit in units of a folded, unfinished state, or None if it was not reached.
        units: The units of the merits.
        states: The sample.
        seconds: The time for it.
    """

    def merit_at(state: int) -> int | None:
        if rules.is_terminal(state):
            return units.end(rules.utility(state), rules.plies_left(state))
        return merit_of(rules.canonical(state))

    def lifted(merit: int, state: int, action: int | None, child: int) -> int:
        gain = 0 if action is None else rules.gain(state, action)
        return units.lift(merit, rules.same_mover(state, action, child), gain)

    def check(state: int) -> None:
        try:
            merit = merit_at(state)
            own_merit, unknown = derived(rules, state, merit_at, lifted=lifted, average=mean)
        except SolverError:
            raise
        except Exception as error:
            raise UncompiledRules(
                f"{rules.name}: state {state}: the plain rules fail ({type(error).__name__}: {error}), the"
                " compiled ones do not: fix the rules"
            ) from error
        if merit is None or own_merit is None or unknown or not units.agrees(merit, own_merit):
            what = "it has no actions" if own_merit is None else f"its children give it {own_merit}"
            what = f"its child {unknown[0]} was not reached" if unknown else what
            raise UncompiledRules(
                f"{rules.name}: state {state} was found worth {merit} by compiled rules, by the plain ones"
                f" {what}: {OTHERWISE}" + (", or a canonical that changes values" if rules.folds else "")
            )

    deadline = time.monotonic() + seconds
    for audited, state in enumerate(states):
        if audited >= LEAST_AUDITED and time.monotonic() > deadline:
            return audited
        check(state)
        if rules.folds:
            children = (child for *_, child in edges(rules, state))
            twin = next((child for child in children if rules.canonical(child) != child), None)
            if twin is not None and not rules.is_terminal(twin):
                check(twin)
    return len(states)
