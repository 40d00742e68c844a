"""Minimax with a transposition table: every reachable state is visited once and its exact merit kept.

MINIMAX-SEARCH of Russell and Norvig, section 6.2, in negamax form. Time and memory grow with the reachable states:
about 8 microseconds (of which the rules of connect-four take 6) and 140 bytes a state.
"""

from __future__ import annotations

from typing import Any

from solver.game import Rules
from solver.progress import Progress, silent
from solver.search import (
    INFINITY,
    Budget,
    Counts,
    Result,
    Table,
    Visit,
    best_move,
    cycle,
    refuse_chance,
    roots_of,
    run,
    stuck,
)
from solver.value import value_of


def solve(
    game: Any,
    state: Any = None,
    *,
    table: Table | None = None,
    symmetry: bool = True,
    budget: Budget | None = None,
    progress: Progress = silent,
) -> Result:
    """The value of `state` (of the start, having solved from all the game's starts, if None).

    `table` is extended in place and holds every state below, terminal ones too, if it was empty or filled here (one
    that alpha-beta filled lacks what that pruned). Raises MethodError on a game with cycles or chance, GameError at
    a state without actions that is not terminal, BudgetExceeded (the table stays usable).
    """
    rules = Rules(game, symmetry)
    refuse_chance(rules, "minimax")
    table = {} if table is None else table
    counts = Counts()
    canonical, lifted, end = rules.canonical, rules.lifted, rules.end
    actions, result, is_terminal = rules.actions, rules.result, rules.is_terminal
    path: set[Any] = set()

    def visit(state: Any, key: Any) -> Visit:
        counts.nodes += 1
        if counts.nodes & 4095 == 0:
            progress("minimax", counts.nodes, None)
        if budget is not None:
            budget.spend()
        if is_terminal(state):
            table[key] = end(state)
            return table[key]
        path.add(key)
        best = -INFINITY
        for action in actions(state):
            child = result(state, action)
            child_key = canonical(child)
            merit = table.get(child_key)
            if merit is not None:
                counts.hits += 1
            elif child_key in path:
                raise cycle(rules, "minimax")
            else:
                merit = yield child, child_key
            merit = lifted(merit, state, action, child)
            if merit > best:
                best = merit
        if best == -INFINITY:
            raise stuck(rules, state)
        path.remove(key)
        table[key] = best
        return best

    def merit_of(state: Any) -> int:
        key = canonical(state)
        merit: int = table[key] if key in table else run(visit, state, key)
        return merit

    def worth(action: int, alpha: int) -> int:
        child = result(root, action)
        return lifted(merit_of(child), root, action, child)

    *others, root = roots_of(rules, state)
    for other in others:
        merit_of(other)
    value = value_of(merit_of(root), rules.scores)
    action = None if is_terminal(root) else best_move(rules, root, worth)[1]
    return Result(value, action, True, counts, table)
