"""Expectiminimax for games of chance without cycles: Russell and Norvig, section 6.5.

A state where `chance(state)` yields (weight, next state) pairs is a chance node, whose value is their mean by these
weights; a state where it yields nothing is a player's. Values are expectations of the utility for the side to move,
exact: whole numbers and fractions. A chance node is seen from the side that `to_move` names there. About 15
microseconds a state (bearing off three checkers each: 141,672 states in 2.1 s).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from solver.base.errors import GameError, MethodError
from solver.base.methods import Method
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.rules.game import Rules
from solver.rules.width import outside
from solver.search import Budget, Result, Search, Table, Visit, best_move, roots_of, stuck

Chance = Callable[[Any], Iterator[tuple[int, Any]]]


def solve(
    game: Any,
    state: Any = None,
    *,
    table: Table | None = None,
    symmetry: bool = True,
    budget: Budget | None = None,
    progress: Progress = silent,
) -> Result:
    """The expectation at `state` (at the start, having solved from all the game's starts, if None).

    `table` is extended in place: canonical states, chance nodes among them, to expectations. Raises MethodError
    without `chance` or on a game with cycles, GameError where weights are not whole numbers from 1 on, chance leads
    out of the numbers of states, or a player has no action, BudgetExceeded.
    """
    rules = Rules(game, symmetry)
    chance = chance_of(rules)
    search = _Expectiminimax(rules, chance, table, budget, progress)
    *other_roots, root = roots_of(rules, state)
    for other_root in other_roots:
        search.merit_of(other_root)

    def worth(action: int, alpha: Any) -> Any:
        return search.run(search.worth(root, action, rules.result(root, action)))

    value = Value(search.merit_of(root), None)
    moves = not rules.is_terminal(root) and not any(True for _ in chance(root))
    action = best_move(rules, root, worth)[1] if moves else None
    return Result(value, action, True, search.counts, search.table)


class _Expectiminimax(Search):
    method = Method.EXPECTIMINIMAX

    def __init__(self, rules: Rules, chance: Chance, *arguments: Any) -> None:
        super().__init__(rules, *arguments)
        self.chance = chance

    def visit(self, state: Any, key: Any) -> Visit:
        """Return the expectation of a state: the utility at an end, the mean over chance, or the best action's."""
        self.count()
        if self.rules.is_terminal(state):
            self.table[key] = self.rules.utility(state)
            return self.table[key]
        self.enter(key)
        outcomes = outcomes_of(self.rules, self.chance, state)
        if outcomes:
            total = 0
            for weight, child in outcomes:
                total += weight * (yield from self.worth(state, None, child))
            value = Fraction(total, sum(weight for weight, _ in outcomes))
        else:
            values = []
            for action in self.rules.actions(state):
                values.append((yield from self.worth(state, action, self.rules.result(state, action))))
            if not values:
                raise stuck(self.rules, state)
            value = max(values)
        self.path.remove(key)
        self.table[key] = value
        return value

    def worth(self, state: Any, action: Any, child: Any) -> Visit:
        """Return the expectation of an action, or of an outcome if that is None, for the state's side to move."""
        key = self.rules.canonical(child)
        value = self.table.get(key)
        if value is None:
            value = yield child, key
        else:
            self.counts.hits += 1
        value = value if self.rules.same_mover(state, action, child) else -value
        return value if action is None else value + self.rules.gain(state, action)


def chance_of(rules: Rules) -> Chance:
    """The chance of a game. Raises MethodError where it has none."""
    if rules.chance is None:
        raise MethodError(f"{rules.name} has no chance(state): use minimax or alpha-beta")
    return rules.chance


def outcomes_of(rules: Rules, chance: Chance, state: Any) -> list[tuple[int, Any]]:
    """The weights and next states of a chance node, none where a player is to move. Raises GameError unless sound."""
    outcomes = list(chance(state))
    for weight, child in outcomes:
        if type(weight) is not int or weight < 1:
            raise GameError(
                f"{rules.name}: chance({state}) has the weight {weight!r}: weights are whole numbers from 1 on, of"
                " which each one's share in their sum is its probability"
            )
        if isinstance(child, int) and not 0 <= child < 1 << rules.bits:
            raise GameError(f"{rules.name}: chance({state}) leads to {child}: it {outside(rules.bits)}")
    return outcomes
