"""Negamax with a depth bound: one function for both players, all lines to a fixed depth, no pruning.

Knuth and Moore, An Analysis of Alpha-Beta Pruning, 1975, section 2. States at the bound count as the game's
estimate, or as a draw where it has none. Time grows with the branching factor to the power of the depth.
"""

from __future__ import annotations

from typing import Any

from solver.rules.game import Rules
from solver.search import INFINITY, Budget, Result, Search, Visit, best_move, plain_state, refuse_chance, stuck
from solver.search.heuristic import back_up, check_depth, checked, estimated_value, is_exact


def search(game: Any, state: Any, *, depth: int, budget: Budget | None = None) -> Result:
    """The value of all lines of `depth` plies from a state; `exact` as in `heuristic.search`.

    Raises MethodError with chance or with a depth below 1, GameError where an estimate is out of bounds,
    BudgetExceeded.
    """
    state, rules = plain_state(state), Rules(game)
    refuse_chance(rules, "negamax")
    check_depth(depth)
    searcher = _Negamax(rules, budget=budget)
    action: int | None = None
    if rules.is_terminal(state):
        merit = searcher.run(searcher.visit(state, depth))
    else:
        searcher.count()
        merit, action = best_move(
            rules, state, lambda action, alpha: searcher.run(searcher.worth(state, action, depth))
        )
    value = estimated_value(merit, rules.scores)
    return Result(value, action, is_exact(value, depth if searcher.cut else None), searcher.counts, {})


class _Negamax(Search):
    method = "negamax"
    cut = False  # whether a state was cut off

    def visit(self, state: Any, left: int) -> Visit:
        """The merit of a state, or its estimate from so many plies ahead."""
        self.count()
        rules = self.rules
        if rules.is_terminal(state):
            return rules.end(state)
        if left == 0:
            self.cut = True
            return 0 if rules.evaluate is None else checked(rules, state, rules.evaluate(state))
        best = -INFINITY
        for action in rules.actions(state):
            best = max(best, (yield from self.worth(state, action, left)))
        if best == -INFINITY:
            raise stuck(rules, state)
        return best

    def worth(self, state: Any, action: int, left: int) -> Visit:
        """Return the merit of an action."""
        rules = self.rules
        child = rules.result(state, action)
        merit = back_up((yield child, left - 1), rules.same_mover(state, action, child), rules.scores)
        return merit + rules.gain(state, action)
