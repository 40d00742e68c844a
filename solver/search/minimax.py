"""Minimax with a transposition table: every reachable state is visited once and its exact merit kept.

MINIMAX-SEARCH of Russell and Norvig, section 6.2, in negamax form. Time and memory grow with the reachable states:
about a microsecond or two an edge, 100 bytes a state.
"""

from __future__ import annotations

from typing import Any

from solver.game import canonical_of, is_score_game, same_mover_of, starts_of
from solver.progress import Progress, silent
from solver.search import INFINITY, Budget, Counts, Result, Table, Visit, cycle, run
from solver.value import lift, terminal_merit, value_of


def solve(
    game: Any,
    state: Any = None,
    *,
    table: Table | None = None,
    symmetry: bool = True,
    budget: Budget | None = None,
    progress: Progress = silent,
) -> Result:
    """The value of `state` (of all the game's starts if None) and of everything below it.

    `table` is extended in place and holds every state visited, terminal ones too. Raises MethodError on a game with
    cycles, BudgetExceeded.
    """
    table = {} if table is None else table
    counts = Counts()
    canonical, same_mover = canonical_of(game, symmetry), same_mover_of(game)
    score_game = is_score_game(game)
    actions, result, is_terminal = game.actions, game.result, game.is_terminal
    path = set()

    def visit(state: Any, key: Any) -> Visit:
        counts.nodes += 1
        if counts.nodes & 4095 == 0:
            progress("minimax", counts.nodes, None)
        if budget is not None:
            budget.spend()
        if is_terminal(state):
            table[key] = terminal_merit(game.utility(state), score_game)
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
                raise cycle(game, "minimax")
            else:
                merit = yield child, child_key
            best = max(best, lift(merit, same_mover(state, child), score_game))
        path.remove(key)
        table[key] = best
        return best

    roots = starts_of(game) if state is None else [state]
    for root in roots:
        if canonical(root) not in table:
            run(visit, root, canonical(root))
    root = game.initial() if state is None else state
    value = value_of(table[canonical(root)], score_game)
    return Result(value, best_action(game, root, table, symmetry), True, counts, table)


def best_action(game: Any, state: Any, table: Table, symmetry: bool = True) -> int | None:
    """The first best action of a state whose children are all in the table; None at a terminal state."""
    if game.is_terminal(state):
        return None
    canonical, same_mover = canonical_of(game, symmetry), same_mover_of(game)

    def merit(action: int) -> int:
        child = game.result(state, action)
        return lift(table[canonical(child)], same_mover(state, child), is_score_game(game))

    best: int = max(game.actions(state), key=merit)
    return best
