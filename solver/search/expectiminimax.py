"""Expectiminimax for games of chance without cycles: Russell and Norvig, section 6.5.

A state where `chance(state)` yields (probability, next state) pairs is a chance node, whose value is their mean; a
state where it yields nothing is a player's. Values are expectations of the utility for the side to move: floats, or
fractions if the game's probabilities are. A chance node is seen from the side that `to_move` names there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from solver.errors import GameError, MethodError
from solver.game import Rules
from solver.progress import Progress, silent
from solver.search import Budget, Result, Search, Table, Visit, best_move, roots_of, stuck
from solver.value import Value


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
    without `chance` or on a game with cycles, GameError where probabilities do not add up to 1 or a player has no
    action, BudgetExceeded.
    """
    rules = Rules(game, symmetry)
    chance = rules.chance
    if chance is None:
        raise MethodError(f"{rules.name} has no chance(state): use minimax or alpha-beta")
    search = _Expectiminimax(rules, chance, table, budget, progress)
    *others, root = roots_of(rules, state)
    for other in others:
        search.merit_of(other)

    def worth(action: int, alpha: Any) -> Any:
        return search.run(search.worth(root, action, rules.result(root, action)))

    value = Value(search.merit_of(root), None)
    moves = not rules.is_terminal(root) and not any(True for _ in chance(root))
    action = best_move(rules, root, worth)[1] if moves else None
    return Result(value, action, True, search.counts, search.table)


class _Expectiminimax(Search):
    method = "expectiminimax"

    def __init__(self, rules: Rules, chance: Callable[[Any], Iterator[tuple[Any, Any]]], *others: Any) -> None:
        super().__init__(rules, *others)
        self.chance = chance

    def visit(self, state: Any, key: Any) -> Visit:
        """The expectation at a state: the end's utility, the mean of what chance may do, or the best of the actions."""
        self.count()
        if self.rules.is_terminal(state):
            self.table[key] = self.rules.utility(state)
            return self.table[key]
        self.enter(key)
        chances = list(self.chance(state))
        if chances:
            _check(state, chances)
            value = 0
            for probability, child in chances:
                value += probability * (yield from self.worth(state, None, child))
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
        """What an action, or chance where that is None, makes of a state: the child's expectation, seen from it."""
        key = self.rules.canonical(child)
        value = self.table.get(key)
        if value is None:
            value = yield child, key
        else:
            self.counts.hits += 1
        value = value if self.rules.same_mover(state, action, child) else -value
        return value if action is None else value + self.rules.gain(state, action)


def _check(state: Any, chances: list[tuple[Any, Any]]) -> None:
    """Raise GameError unless the pairs of a chance node are a distribution."""
    shares = [probability for probability, _ in chances]
    if min(shares) < 0 or not abs(sum(shares) - 1) <= 1e-9:
        raise GameError(f"chance({state}) has the probabilities {shares}: they must add up to 1, none below 0")
