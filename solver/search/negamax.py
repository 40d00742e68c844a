"""Negamax with a depth bound: one function for both players, all lines to a fixed depth, no pruning.

Knuth and Moore, An Analysis of Alpha-Beta Pruning, 1975, section 2. States at the bound count as the game's
estimate, or as a draw where it has none. Time grows with the branching factor to the power of the depth.
"""

from __future__ import annotations

from typing import Any

from solver.game import end_of, is_score_game, same_mover_of
from solver.search import INFINITY, Budget, Counts, Result, Visit, best_move, refuse_chance, run, stuck
from solver.search.heuristic import back_up, check_depth, estimate, estimated_value, is_exact


def search(game: Any, state: Any, *, depth: int, budget: Budget | None = None) -> Result:
    """The value of all lines of `depth` plies from a state; `exact` as in `heuristic.search`.

    Raises MethodError with chance or with a depth below 1, GameError where an estimate is out of bounds,
    BudgetExceeded.
    """
    refuse_chance(game, "negamax")
    check_depth(depth)
    counts = Counts()
    same_mover, score_game, end = same_mover_of(game), is_score_game(game), end_of(game)
    has_estimate = hasattr(game, "evaluate")
    nearest_cut: int | None = None

    def visit(state: Any, left: int) -> Visit:
        nonlocal nearest_cut
        counts.nodes += 1
        if budget is not None:
            budget.spend()
        if game.is_terminal(state):
            return end(state)
        if left == 0:
            nearest_cut = depth
            return estimate(game, state) if has_estimate else 0
        best = -INFINITY
        for action in game.actions(state):
            child = game.result(state, action)
            best = max(best, back_up((yield child, left - 1), same_mover(state, child), score_game))
        if best == -INFINITY:
            raise stuck(game, state)
        return best

    def worth(action: int, alpha: Any) -> Any:
        child = game.result(state, action)
        return back_up(run(visit, child, depth - 1), same_mover(state, child), score_game)

    if game.is_terminal(state):
        merit, action = run(visit, state, depth), None
    else:
        counts.nodes += 1
        merit, action = best_move(game, state, worth)
    value = estimated_value(merit, score_game)
    return Result(value, action, is_exact(value, nearest_cut), counts, {})
