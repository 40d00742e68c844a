"""Negamax with a depth bound: one function for both players, all lines to a fixed depth, no pruning.

Knuth and Moore, An Analysis of Alpha-Beta Pruning, 1975, section 2. States at the bound count as the game's
estimate, or as a draw where it has none. Time grows with the branching factor to the power of the depth.
"""

from __future__ import annotations

from typing import Any

from solver.game import Rules
from solver.search import INFINITY, Budget, Counts, Result, Visit, best_move, refuse_chance, run, stuck
from solver.search.heuristic import back_up, check_depth, checked, estimated_value, is_exact


def search(game: Any, state: Any, *, depth: int, budget: Budget | None = None) -> Result:
    """The value of all lines of `depth` plies from a state; `exact` as in `heuristic.search`.

    Raises MethodError with chance or with a depth below 1, GameError where an estimate is out of bounds,
    BudgetExceeded.
    """
    rules = Rules(game)
    refuse_chance(rules, "negamax")
    check_depth(depth)
    counts = Counts()
    same_mover, score_game, end, evaluate = rules.same_mover, rules.scores, rules.end, rules.evaluate
    nearest_cut: int | None = None

    def visit(state: Any, left: int) -> Visit:
        nonlocal nearest_cut
        counts.nodes += 1
        if budget is not None:
            budget.spend()
        if rules.is_terminal(state):
            return end(state)
        if left == 0:
            nearest_cut = depth
            return 0 if evaluate is None else checked(rules, state, evaluate(state))
        best = -INFINITY
        for action in rules.actions(state):
            child = rules.result(state, action)
            merit = back_up((yield child, left - 1), same_mover(state, action, child), score_game)
            best = max(best, merit + rules.gain(state, action))
        if best == -INFINITY:
            raise stuck(rules, state)
        return best

    def worth(action: int, alpha: Any) -> Any:
        child = rules.result(state, action)
        merit = back_up(run(visit, child, depth - 1), same_mover(state, action, child), score_game)
        return merit + rules.gain(state, action)

    if rules.is_terminal(state):
        merit, action = run(visit, state, depth), None
    else:
        counts.nodes += 1
        merit, action = best_move(rules, state, worth)
    value = estimated_value(merit, score_game)
    return Result(value, action, is_exact(value, nearest_cut), counts, {})
