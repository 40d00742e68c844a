"""Expectations of all states of a game of chance, with or without cycles: expectiminimax by tiers, and value iteration.

The plain twin of the compiled sweep (`solver.sweep.expectation`), to the last unit: see `solver.base.expectations`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from solver.base.errors import GameError, MethodError
from solver.base.expectations import MOST_WEIGHT, UNIT, WIDER, mean, span_of, spanned
from solver.base.kinds import Units
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.rules.game import Rules
from solver.search import Budget, best_action, check_outcomes, require_chance, roots_of, stuck
from solver.search.derive import edges
from solver.search.nets import NO_BOUND, Net, meet, narrow, turns, unmet

Child = tuple[int, Any, bool, int, int]
"""Weight, 0 of an action; folded child; whether the same side is to move; what the move scores; group (`edges`)."""


class Expectations(NamedTuple):
    """The solution of a game of chance.

    Attributes:
        value: Value of the state that was asked for.
        action: A best action. None if no player decides there.
        table: Values of all canonical states met that do not vanish, finished ones included, as numbers of `units`.
        units: The meaning of these numbers.
        cyclic: Whether moves of some tier stay in it.
    """

    value: Value
    action: int | None
    table: dict[Any, int]
    units: Units
    cyclic: bool


def solve(
    game: Any,
    state: Any = None,
    *,
    symmetry: bool = True,
    budget: Budget | None = None,
    progress: Progress = silent,
) -> Expectations:
    """Return the expectation of every state that play can reach, for the side to move.

    Args:
        state: Where play begins. None for the game's starts.

    Raises:
        MethodError: The rules have no `chance`; play need not end; or a game with rewards has moves that stay in a
            tier.
        GameError: The rules break the protocol.
        BudgetExceeded: The budget ran out.
    """
    rules = Rules.of(game, symmetry)
    budget = budget or Budget()
    require_chance(rules)
    roots = roots_of(rules, state)
    children, ends = _reached(rules, roots, budget, progress)
    largest = max((abs(utility) for utility in ends.values()), default=1)
    span = span_of(largest, rules.margins, rules.name)
    while True:
        try:
            return _Solve(rules, children, ends, span, budget, progress).run(roots[-1])
        except _TooWide:
            span = spanned(span * WIDER, rules.name)


class _TooWide(Exception):
    """A margin is beyond the span."""


def _reached(
    rules: Rules, roots: list[Any], budget: Budget, progress: Progress
) -> tuple[dict[Any, list[Child]], dict[Any, int]]:
    """The children of all unfinished states from the roots on, and the utilities of the finished ones."""
    children: dict[Any, list[Child]] = {}
    ends: dict[Any, int] = {}
    waiting = [rules.canonical(root) for root in roots]
    while waiting:
        state = waiting.pop()
        if state in children or state in ends:
            continue
        budget.spend()
        if rules.is_terminal(state):
            ends[state] = rules.utility(state)
            continue
        check_outcomes(rules, state)
        listed: list[Child] = []
        for weight, group, parent, action, child in edges(rules, state):
            gain = 0 if action is None else rules.gain(parent, action)
            same = bool(rules.same_mover(parent, action, child))
            listed.append((weight, rules.canonical(child), same, gain, group))
        if not listed:
            raise stuck(rules, state)
        if _weight(listed) > MOST_WEIGHT:
            raise GameError(
                f"{rules.name}: state {state} has weights of more than {MOST_WEIGHT:,} together: divide them by a"
                " common factor, or write several throws, one after another"
            )
        children[state] = listed
        waiting.extend(move[1] for move in listed)
        if len(children) % 1024 == 0:
            progress("forward", len(children), None)
    return children, ends


def _weight(children: list[Child]) -> int:
    """Return the total weight of chance's outcomes. 0 if a player decides."""
    return sum(weight for weight, _ in _outcomes(children))


class _Solve:
    """The values of states whose children are known, by tiers, the last first."""

    def __init__(
        self,
        rules: Rules,
        children: dict[Any, list[Child]],
        ends: dict[Any, int],
        span: int,
        budget: Budget,
        progress: Progress,
    ) -> None:
        self.rules, self.children, self.span = rules, children, span
        self.budget, self.progress = budget, progress
        self.point = UNIT // span
        self.table: dict[Any, int] = {state: utility * self.point for state, utility in ends.items()}
        self.error = 0
        self.cyclic = False

    def run(self, root: Any) -> Expectations:
        tiers: dict[int, list[Any]] = {}
        for state in self.children:
            tiers.setdefault(self.rules.tier(state), []).append(state)
        for tier in sorted(tiers, reverse=True):
            states = sorted(tiers[tier])
            lowest, culprit = tier + 1, None
            for state in states:
                # Whether some move stays in the tier, and the first that leads to a lower one
                least = min(self.rules.tier(child[1]) for child in self.children[state])
                lowest, culprit = min(lowest, least), state if culprit is None and least < tier else culprit
            if culprit is not None:
                raise GameError(
                    f"{self.rules.name}: state {culprit} has a child in a lower tier: tier must never decrease along a"
                    " move"
                )
            if lowest == tier and self.rules.reward is not None:
                raise MethodError(
                    f"{self.rules.name} has moves that stay in a tier, and rewards: give it a tier that every move"
                    " raises"
                )
            if lowest == tier or not self.rules.tiered:
                self.error += self._narrowed(states)
                self.cyclic = True
            else:
                for state in states:
                    self.budget.spend()
                    worths = [(child[0], child[4], self._seen(child)) for child in self.children[state]]
                    self.table[state] = int(self.rules.kind.best(worths, mean))
            self.error += 1
            self.progress("backward", len(self.table), None)
        units = Units(self.rules.kind.measured(self.span, self.error), 1, self.point, self.error)
        value = Value(self.table[self.rules.canonical(root)] / self.point)
        action = best_action(
            self.rules, root, lambda child: Fraction(self.table[self.rules.canonical(child)], self.point)
        )
        return Expectations(value, action, self.table, units, self.cyclic)

    def _seen(self, child: Child) -> int:
        """Return the value of a known child, one ply earlier."""
        _, key, same, gain, _ = child
        value = (self.table[key] if same else -self.table[key]) + gain * self.point
        if abs(value) > UNIT:
            raise _TooWide
        return value

    def _narrowed(self, states: list[Any]) -> int:
        """Value a tier with cycles; the units that are left between the bounds."""
        # The moves between its states, as `Net` has them
        size, places = len(states), {state: index for index, state in enumerate(states)}
        begins, targets, weights, outsides, constants = [0], list[int](), list[int](), list[int](), list[int]()
        for state in states:
            outside = 0 if self.children[state][0][0] else NO_BOUND
            for weight, children in _outcomes(self.children[state]):
                inside = [2 * places[child[1]] + child[2] for child in children if child[1] in places]
                known = max((self._seen(child) for child in children if child[1] not in places), default=NO_BOUND)
                if inside and known != NO_BOUND:
                    inside.append(2 * (size + len(constants)) + 1)
                    constants.append(known)
                elif not inside:
                    outside = outside + weight * known if weight else max(outside, known)
                targets += inside
                weights += [weight] * bool(inside) + [0] * (len(inside) - 1)
            begins.append(len(targets))
            outsides.append(outside)
        net = Net(begins, targets, weights, outsides, [_weight(self.children[one]) for one in states], constants)

        def narrowed(down: bool, old: int, new: int) -> list[tuple[int, int, bool]]:
            return [
                narrow(net, block, narrowed_before, down, bounds, old, new)
                for blocks, narrowed_before in turns(size, down)
                for block in blocks
            ]

        def told(rounds: int, gap: int) -> None:
            self.budget.spend(size)
            self.progress("narrow", rounds, None, f"{gap * self.span / UNIT:.1e} apart")

        bounds = 2 * ([-UNIT] * (2 * size) + [bound for known in net.constants for bound in (known, -known)])
        met = meet(net, narrowed, bounds, told)
        if met.place is not None:
            raise unmet(self.rules.name, states[met.place], met, net, self.span)
        for index, state in enumerate(states):
            self.table[state] = met.bounds[2 * index] - met.bounds[2 * index + 1] >> 1
        return met.gap


def _outcomes(children: list[Child]) -> Iterator[tuple[int, list[Child]]]:
    """Children that stand for themselves, and groups of them, each with its weight."""
    for _, group in itertools.groupby(enumerate(children), lambda entry: entry[1][4] or -entry[0]):
        listed = [child for _, child in group]
        yield listed[0][0], listed
