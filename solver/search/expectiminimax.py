"""Expectiminimax for games of chance without cycles: Russell and Norvig, section 6.5.

A state where `chance(state)` yields (probability, next state) pairs is a chance node, whose value is their mean; a
state where it yields nothing is a player's. Values are expectations of the utility for the side to move.
"""

from __future__ import annotations

from typing import Any

from solver.errors import GameError, MethodError
from solver.game import game_text, same_mover_of
from solver.search import Budget, Counts, Result, Table, Visit, cycle, run
from solver.value import Value


def solve(game: Any, state: Any = None, *, table: Table | None = None, budget: Budget | None = None) -> Result:
    """The expectation at `state` (the start if None); `table` maps every state below it to its own.

    Raises MethodError without `chance` or on a game with cycles, GameError where probabilities do not add up to 1.
    """
    if not hasattr(game, "chance"):
        raise MethodError(f"{game_text(game)} has no chance(state): use minimax or alpha-beta")
    table = {} if table is None else table
    counts = Counts()
    same_mover = same_mover_of(game)
    path: set[Any] = set()

    def visit(state: Any) -> Visit:
        counts.nodes += 1
        if budget is not None:
            budget.spend()
        if state in path:
            raise cycle(game, "expectiminimax")
        path.add(state)
        chances = [] if game.is_terminal(state) else list(game.chance(state))
        if game.is_terminal(state):
            value = game.utility(state)
        elif chances:
            if abs(sum(probability for probability, _ in chances) - 1) > 1e-9:
                raise GameError(f"the probabilities at chance node {state} do not add up to 1")
            value = 0
            for probability, child in chances:
                value += probability * (yield from seen(state, child))
        else:
            values = []
            for action in game.actions(state):
                values.append((yield from seen(state, game.result(state, action))))
            value = max(values)
        path.remove(state)
        table[state] = value
        return value

    def seen(state: Any, child: Any) -> Visit:
        """The child's value for the side to move at state."""
        if child in table:
            counts.hits += 1
        else:
            yield (child,)
        return table[child] if same_mover(state, child) else -table[child]

    root = game.initial() if state is None else state
    value = table[root] if root in table else run(visit, root)
    return Result(Value(value, None), _best(game, root, table), True, counts, table)


def _best(game: Any, state: Any, table: Table) -> int | None:
    """The first best action of a player's state, None where chance moves or the game is over."""
    if game.is_terminal(state) or any(True for _ in game.chance(state)):
        return None
    same_mover = same_mover_of(game)

    def worth(action: int) -> Any:
        child = game.result(state, action)
        return table[child] if same_mover(state, child) else -table[child]

    best: int = max(game.actions(state), key=worth)
    return best
