"""Alpha-beta with a transposition table that keeps exact entries only.

ALPHA-BETA-SEARCH of Russell and Norvig, section 6.2.3, in negamax form: a state is searched within a window
(alpha, beta) of merits for its side to move. Only a merit strictly inside the window is exact and kept; a state
that was cut off is not, and is searched anew when play comes to it. Moves are tried in the order of the game's
`promise`, or as they come. Memory grows with the exact entries: 2,881 for the 80,541 states of connect-four 4x4.
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
    ordered_actions,
    refuse_chance,
    roots_of,
    run,
    stuck,
    window,
)
from solver.value import lift, value_of


def solve(
    game: Any,
    state: Any = None,
    *,
    table: Table | None = None,
    symmetry: bool = True,
    budget: Budget | None = None,
    progress: Progress = silent,
    looked_at: set[Any] | None = None,
) -> Result:
    """The exact value of `state` (of the start, having searched all the game's starts, if None).

    `table` is extended in place with exact merits; `looked_at` collects the terminal states that were evaluated.
    Raises MethodError on a game with chance or where it meets a cycle, GameError at a state without actions that is
    not terminal, BudgetExceeded (the table stays usable).
    """
    rules = Rules(game, symmetry)
    refuse_chance(rules, "alpha-beta")
    table = {} if table is None else table
    counts = Counts()
    canonical, same_mover, score_game, end = rules.canonical, rules.same_mover, rules.scores, rules.end
    result, is_terminal, gain_of = rules.result, rules.is_terminal, rules.gain
    ordered = ordered_actions(rules)
    path: set[Any] = set()

    def count() -> None:
        counts.nodes += 1
        if counts.nodes & 4095 == 0:
            progress("alphabeta", counts.nodes, None)
        if budget is not None:
            budget.spend()

    def visit(state: Any, key: Any, alpha: int, beta: int) -> Visit:
        """The merit, exact inside the window; at or below alpha an upper bound, at or above beta a lower."""
        count()
        if is_terminal(state):
            if looked_at is not None:
                looked_at.add(state)
            table[key] = end(state)
            return table[key]
        path.add(key)
        best, floor = -INFINITY, alpha
        for action in ordered(state):
            child = result(state, action)
            child_key, same, gain = canonical(child), same_mover(state, action, child), gain_of(state, action)
            merit = table.get(child_key)
            if merit is not None:
                counts.hits += 1
            elif child_key in path:
                raise cycle(rules, "alpha-beta")
            else:
                merit = yield child, child_key, *window(floor, beta, same, score_game, gain)
            merit = lift(merit, same, score_game) + gain
            if merit > best:
                best = merit
                if best >= beta:
                    counts.cutoffs += 1
                    break
                if best > floor:
                    floor = best
        if best == -INFINITY:
            raise stuck(rules, state)
        path.remove(key)
        if alpha < best < beta:
            table[key] = best
        return best

    def decide(state: Any, key: Any) -> tuple[int, int]:
        """The merit and the action of a state that is not terminal; one known already narrows the window."""
        known = table.get(key)
        floor, ceiling = (-INFINITY, INFINITY) if known is None else (known - 1, known + 1)

        def worth(action: int, alpha: int) -> int:
            if alpha + 1 >= ceiling:
                return alpha  # as good as can be already
            child = result(state, action)
            child_key, same, gain = canonical(child), same_mover(state, action, child), gain_of(state, action)
            merit = table.get(child_key)
            if merit is None:
                merit = run(visit, child, child_key, *window(alpha, ceiling, same, score_game, gain))
            else:
                counts.hits += 1
            return lift(merit, same, score_game) + gain

        count()
        path.add(key)
        best, action = best_move(rules, state, worth, floor)
        table[key] = best
        return best, action

    *others, root = roots_of(rules, state)
    for other in others:
        if canonical(other) not in table:
            run(visit, other, canonical(other), -INFINITY, INFINITY)
    action: int | None = None
    if is_terminal(root):
        merit = run(visit, root, canonical(root), -INFINITY, INFINITY)
    else:
        merit, action = decide(root, canonical(root))
    return Result(value_of(merit, score_game), action, True, counts, table)
