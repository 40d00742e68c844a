"""Minimax with a transposition table: every reachable state is visited once and its exact merit kept.

MINIMAX-SEARCH of Russell and Norvig, section 6.2, in negamax form. Time and memory grow with the reachable states:
about 8 microseconds (of which the rules of connect-four take 6) and 140 bytes a state.
"""

from __future__ import annotations

from typing import Any

from solver.base.methods import Method
from solver.base.progress import Progress, silent
from solver.rules.game import Rules
from solver.search import (
    INFINITY,
    Budget,
    Result,
    Search,
    Table,
    Visit,
    best_action,
    refuse_chance,
    roots_of,
    stuck,
)


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
    that alpha-beta filled lacks the pruned states). Raises MethodError on a game with cycles or chance, GameError at
    a state without actions that is not terminal, BudgetExceeded (the table stays usable).
    """
    rules = Rules.of(game, symmetry)
    refuse_chance(rules, Method.MINIMAX)
    search = _Minimax(rules, table, budget, progress)
    *other_roots, root = roots_of(rules, state)
    for other_root in other_roots:
        search.merit_of(other_root)
    value = rules.kind.value(search.merit_of(root))
    return Result(value, best_action(rules, root, search.merit_of), True, search.counts, search.table)


class _Minimax(Search):
    method = Method.MINIMAX

    def visit(self, state: Any, key: Any) -> Visit:
        """Return the merit of a state: the utility at an end, otherwise that of the best child."""
        self.count()
        rules, table = self.rules, self.table
        if rules.is_terminal(state):
            table[key] = rules.end(state)
            return table[key]
        self.enter(key)
        best = -INFINITY
        for action in rules.actions(state):
            child = rules.result(state, action)
            child_key = rules.canonical(child)
            merit = table.get(child_key)
            if merit is None:
                merit = yield child, child_key
            else:
                self.counts.hits += 1
            merit = rules.lifted(merit, state, action, child)
            if merit > best:
                best = merit
        if not -INFINITY < best < INFINITY:
            raise stuck(rules, state)
        self.path.remove(key)
        table[key] = best
        return best
