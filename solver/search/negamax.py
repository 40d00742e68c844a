"""Negamax with a depth bound: one function for both players, all lines to a fixed depth, no pruning.

Knuth and Moore, An Analysis of Alpha-Beta Pruning, 1975, section 2. States at the bound count as the game's
estimate, or as a draw where it has none.
"""

from __future__ import annotations

from typing import Any

from solver.game import is_score_game, same_mover_of
from solver.search import INFINITY, Budget, Counts, Result, Visit, run
from solver.search.heuristic import estimate, is_exact, value_of_estimate
from solver.value import lift, terminal_merit


def search(game: Any, state: Any, *, depth: int, budget: Budget | None = None) -> Result:
    """The value of all lines of `depth` plies from a state; `exact` as in `heuristic.search`."""
    counts = Counts()
    same_mover, score_game = same_mover_of(game), is_score_game(game)
    choice: list[int | None] = [None]
    estimated = [False]

    def visit(state: Any, left: int) -> Visit:
        counts.nodes += 1
        if budget is not None:
            budget.spend()
        if game.is_terminal(state):
            return terminal_merit(game.utility(state), score_game)
        if left == 0:
            estimated[0] = True
            return estimate(game, state) if hasattr(game, "evaluate") else 0
        best = -INFINITY
        for action in game.actions(state):
            child = game.result(state, action)
            merit = lift((yield child, left - 1), same_mover(state, child), score_game)
            if merit > best:
                best = merit
                if left == depth:
                    choice[0] = action
        return best

    merit = run(visit, state, depth)
    return Result(
        value_of_estimate(merit, score_game), choice[0], is_exact(merit, score_game, estimated[0]), counts, {}
    )
