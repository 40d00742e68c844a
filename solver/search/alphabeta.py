"""Alpha-beta with a transposition table that keeps exact entries only.

ALPHA-BETA-SEARCH of Russell and Norvig, section 6.2.3, in negamax form: a state is searched within a window
(alpha, beta) of merits for its side to move. Only a merit strictly inside the window is exact and kept; a state that
was cut off is not, and is searched anew when play comes to it. Moves are tried in the order of the game's `promise`,
or as they come.
"""

from __future__ import annotations

from typing import Any

from solver.game import canonical_of, is_score_game, same_mover_of, starts_of
from solver.progress import Progress, silent
from solver.search import INFINITY, Budget, Counts, Result, Table, Visit, cycle, ordered_actions, run
from solver.value import drop, lift, terminal_merit, value_of


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
    """The exact value of `state` (of the game's starts if None), quick wins and slow losses first.

    `table` is extended in place with exact merits; `looked_at` collects the terminal states that were evaluated.
    Raises MethodError on a game with cycles, BudgetExceeded.
    """
    table = {} if table is None else table
    counts = Counts()
    canonical, same_mover = canonical_of(game, symmetry), same_mover_of(game)
    score_game = is_score_game(game)
    result, is_terminal = game.result, game.is_terminal
    ordered = ordered_actions(game)
    path: set[Any] = set()
    choice: list[int | None] = [None]

    def visit(state: Any, key: Any, alpha: int, beta: int) -> Visit:
        counts.nodes += 1
        if counts.nodes & 4095 == 0:
            progress("alphabeta", counts.nodes, None)
        if budget is not None:
            budget.spend()
        if is_terminal(state):
            if looked_at is not None:
                looked_at.add(state)
            table[key] = terminal_merit(game.utility(state), score_game)
            return table[key]
        path.add(key)
        best, floor = -INFINITY, alpha
        for action in ordered(state):
            child = result(state, action)
            child_key, same = canonical(child), same_mover(state, child)
            merit = table.get(child_key)
            if merit is not None:
                counts.hits += 1
            elif child_key in path:
                raise cycle(game, "alpha-beta")
            else:
                low, high = drop(floor, same, score_game), drop(beta, same, score_game)
                merit = yield child, child_key, *((low, high) if same else (high, low))
            merit = lift(merit, same, score_game)
            if merit > best:
                best = merit
                if len(path) == 1:
                    choice[0] = action
            if best >= beta:
                counts.cutoffs += 1
                break
            floor = max(floor, best)
        path.remove(key)
        if alpha < best < beta:
            table[key] = best
        return best

    merit = 0
    for root in reversed(starts_of(game)) if state is None else [state]:
        choice[0] = None
        merit = run(visit, root, canonical(root), -INFINITY, INFINITY)
    return Result(value_of(merit, score_game), choice[0], True, counts, table)
