"""Expectiminimax for games of chance without cycles: Russell and Norvig, section 6.5.

A state where `chance(state)` yields (probability, next state) pairs is a chance node, whose value is their mean; a
state where it yields nothing is a player's. Values are expectations of the utility for the side to move: floats, or
fractions if the game's probabilities are. A chance node is seen from the side that `to_move` names there.
"""

from __future__ import annotations

from typing import Any

from solver.errors import GameError, MethodError
from solver.game import Rules
from solver.progress import Progress, silent
from solver.search import Budget, Counts, Result, Table, Visit, best_move, cycle, roots_of, run, stuck
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
    table = {} if table is None else table
    counts = Counts()
    canonical, same_mover, gain = rules.canonical, rules.same_mover, rules.gain
    path: set[Any] = set()

    def visit(state: Any, key: Any) -> Visit:
        counts.nodes += 1
        if counts.nodes & 4095 == 0:
            progress("expectiminimax", counts.nodes, None)
        if budget is not None:
            budget.spend()
        if key in path:
            raise cycle(rules, "expectiminimax")
        if rules.is_terminal(state):
            table[key] = rules.utility(state)
            return table[key]
        path.add(key)
        chances = list(chance(state))
        if chances:
            _check(state, chances)
            value = 0
            for probability, child in chances:
                value += probability * (yield from seen_from(state, None, child))
        else:
            values = []
            for action in rules.actions(state):
                value = yield from seen_from(state, action, rules.result(state, action))
                values.append(value + gain(state, action))
            if not values:
                raise stuck(rules, state)
            value = max(values)
        path.remove(key)
        table[key] = value
        return value

    def seen_from(state: Any, action: Any, child: Any) -> Visit:
        """The child's expectation for the side to move at state."""
        key = canonical(child)
        if key in table:
            counts.hits += 1
            value = table[key]
        else:
            value = yield child, key
        return value if same_mover(state, action, child) else -value

    def value_at(state: Any) -> Any:
        key = canonical(state)
        return table[key] if key in table else run(visit, state, key)

    def worth(action: int, alpha: Any) -> Any:
        child = rules.result(root, action)
        value = value_at(child)
        return (value if same_mover(root, action, child) else -value) + gain(root, action)

    *others, root = roots_of(rules, state)
    for other in others:
        value_at(other)
    value = value_at(root)
    moves = not rules.is_terminal(root) and not any(True for _ in chance(root))
    action = best_move(rules, root, worth)[1] if moves else None
    return Result(Value(value, None), action, True, counts, table)


def _check(state: Any, chances: list[tuple[Any, Any]]) -> None:
    """Raise GameError unless the pairs of a chance node are a distribution."""
    shares = [probability for probability, _ in chances]
    if min(shares) < 0 or not abs(sum(shares) - 1) <= 1e-9:
        raise GameError(f"chance({state}) has the probabilities {shares}: they must add up to 1, none below 0")
