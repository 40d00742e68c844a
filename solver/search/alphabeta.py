"""Alpha-beta with a transposition table that keeps exact entries only.

ALPHA-BETA-SEARCH of Russell and Norvig, section 6.2.3, in negamax form: a state is searched within a window
(alpha, beta) of merits for its side to move. Only a merit strictly inside the window is exact and kept; a state
that was cut off is not, and is searched anew when play comes to it: 8,203 visits in tic-tac-toe, where minimax with its
table makes 5,478 and a table that keeps bounds, too, saves most of them (`comparison`). Moves are tried in the order
of the game's `promise`, or as they come. Memory grows with the exact entries: 2,881 for the 80,541 states of
connect-four 4x4.
"""

from __future__ import annotations

from typing import Any

from solver.base.progress import Progress, silent
from solver.rules.game import Rules
from solver.search import (
    INFINITY,
    Budget,
    Result,
    Search,
    Table,
    Visit,
    best_move,
    ordered_actions,
    refuse_chance,
    roots_of,
    stuck,
    window,
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
    """The exact value of `state` (of the start, having searched all the game's starts, if None).

    `table` is extended in place with exact merits, those of the terminal states that were looked at among them.
    Raises MethodError on a game with chance or where it meets a cycle, GameError at a state without actions that is
    not terminal, BudgetExceeded (the table stays usable).
    """
    rules = Rules.of(game, symmetry)
    refuse_chance(rules, "alpha-beta")
    search = _AlphaBeta(rules, table, budget, progress)
    *other_roots, root = roots_of(rules, state)
    for other_root in other_roots:
        search.merit_of(other_root, -INFINITY, INFINITY)
    if rules.is_terminal(root):
        merit, action = search.merit_of(root, -INFINITY, INFINITY), None
    else:
        merit, action = search.decide(root)
    return Result(rules.kind.value(merit), action, True, search.counts, search.table)


class _AlphaBeta(Search):
    method = "alpha-beta"

    def __init__(self, rules: Rules, *arguments: Any) -> None:
        super().__init__(rules, *arguments)
        self.ordered = ordered_actions(rules)

    def visit(self, state: Any, key: Any, alpha: int, beta: int) -> Visit:
        """The merit of a state, exact inside the window; at or below alpha an upper bound, at or above beta a lower."""
        self.count()
        if self.rules.is_terminal(state):
            self.table[key] = self.rules.end(state)
            return self.table[key]
        self.enter(key)
        best, floor = -INFINITY, alpha
        for action in self.ordered(state):
            merit = yield from self.worth(state, action, floor, beta)
            if merit > best:
                best = merit
                if best >= beta:
                    self.counts.cutoffs += 1
                    break
                if best > floor:
                    floor = best
        if best == -INFINITY:
            raise stuck(self.rules, state)
        self.path.remove(key)
        if alpha < best < beta:
            self.table[key] = best
        return best

    def worth(self, state: Any, action: int, alpha: int, beta: int) -> Visit:
        """Return the merit of an action within its window: the child's merit, from the table or from a visit."""
        rules = self.rules
        child = rules.result(state, action)
        key = rules.canonical(child)
        merit = self.table.get(key)
        if merit is None:
            same, gain = rules.same_mover(state, action, child), rules.gain(state, action)
            merit = yield child, key, *window(alpha, beta, same, rules.scores, gain)
        else:
            self.counts.hits += 1
        return rules.lifted(merit, state, action, child)

    def decide(self, state: Any) -> tuple[int, int]:
        """The merit and the action of a state that is not terminal; one known already narrows the window."""
        key = self.rules.canonical(state)
        known = self.table.get(key)
        floor, ceiling = (-INFINITY, INFINITY) if known is None else (known - 1, known + 1)

        def worth(action: int, alpha: int) -> int:
            if alpha + 1 >= ceiling:
                # The result cannot get better
                return alpha
            merit: int = self.run(self.worth(state, action, alpha, ceiling))
            return merit

        self.count()
        self.enter(key)
        best, action = best_move(self.rules, state, worth, floor)
        self.table[key] = best
        return best, action
