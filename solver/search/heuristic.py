"""Depth-limited alpha-beta with an evaluation function and a cutoff, for games too large to search to the end.

H-MINIMAX of Russell and Norvig, section 6.3. An estimate is worth less than any win and more than any loss: in a
win-lose-draw game `evaluate` lies strictly between -1 and 1. The table serves one search and is cleared before the
next, since an estimate depends on how far ahead it was made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from solver.errors import BudgetExceeded, GameError, MethodError
from solver.game import canonical_of, game_text, is_score_game, same_mover_of
from solver.search import INFINITY, Budget, Counts, Result, Table, Visit, ordered_actions, run
from solver.value import WIN, Value, drop, lift, terminal_merit, value_of

SCALE = WIN >> 2  # the merit that an estimate of 1 would have
Cutoff = Callable[[Any, int], bool]


def search(
    game: Any,
    state: Any,
    *,
    depth: int,
    cutoff: Cutoff | None = None,
    symmetry: bool = True,
    budget: Budget | None = None,
) -> Result:
    """The best that can be seen `depth` plies ahead, or until `cutoff(state, plies from the root)` says so.

    The value is exact where the end of the game decided it, an estimate (score, None) where not. Raises MethodError
    without `evaluate`, GameError where an estimate is out of bounds, BudgetExceeded.
    """
    if not hasattr(game, "evaluate"):
        raise MethodError(f"{game_text(game)} has no evaluate(state): a search of limited depth needs one")
    stop = cutoff or (lambda state, ply: ply >= depth)
    counts = Counts()
    canonical, same_mover = canonical_of(game, symmetry), same_mover_of(game)
    score_game = is_score_game(game)
    ordered = ordered_actions(game)
    table: Table = {}
    choice: list[int | None] = [None]
    estimated = [False]

    def visit(state: Any, ply: int, alpha: Any, beta: Any) -> Visit:
        counts.nodes += 1
        if budget is not None:
            budget.spend()
        if game.is_terminal(state):
            return terminal_merit(game.utility(state), score_game)
        if ply > 0 and stop(state, ply):
            estimated[0] = True
            return estimate(game, state)
        key = canonical(state), ply
        if key in table:
            counts.hits += 1
            return table[key]
        best, floor = -INFINITY, alpha
        for action in ordered(state):
            child = game.result(state, action)
            same = same_mover(state, child)
            low, high = drop(floor, same, score_game), drop(beta, same, score_game)
            merit = lift((yield child, ply + 1, *((low, high) if same else (high, low))), same, score_game)
            if merit > best:
                best = merit
                if ply == 0:
                    choice[0] = action
            if best >= beta:
                counts.cutoffs += 1
                break
            floor = max(floor, best)
        if alpha < best < beta:
            table[key] = best
        return best

    merit = run(visit, state, 0, -INFINITY, INFINITY)
    return Result(
        value_of_estimate(merit, score_game), choice[0], is_exact(merit, score_game, estimated[0]), counts, {}
    )


def deepen(game: Any, state: Any, *, budget: Budget, max_depth: int | None = None, symmetry: bool = True) -> Result:
    """Iterative deepening: the result of the deepest search that the budget allowed, at least of one ply."""
    best = search(game, state, depth=1, symmetry=symmetry)
    depth = 2
    while not best.exact and (max_depth is None or depth <= max_depth):
        try:
            best = search(game, state, depth=depth, symmetry=symmetry, budget=budget)
        except BudgetExceeded:
            break
        depth += 1
    return best


def estimate(game: Any, state: Any) -> Any:
    """The merit of the game's estimate, checked against the bounds that keep it below any utility."""
    guess = game.evaluate(state)
    if not is_score_game(game):
        if not -1 < guess < 1:
            raise GameError(f"evaluate({state}) is {guess}: an estimate must lie strictly between -1 and 1")
        return int(guess * SCALE)
    lowest, highest = game.bounds(state) if hasattr(game, "bounds") else (-INFINITY, INFINITY)
    if not lowest <= guess <= highest:
        raise GameError(f"evaluate({state}) is {guess}: an estimate must lie within bounds, {lowest} to {highest}")
    return guess


def value_of_estimate(merit: Any, score_game: bool) -> Value:
    if score_game or abs(merit) > WIN >> 1:
        return value_of(merit, score_game)
    return Value(round(merit / SCALE, 9) if merit else 0, None)


def is_exact(merit: Any, score_game: bool, estimated: bool) -> bool:
    """A win or loss was seen to its end, all shorter lines included; a draw or margin only if nothing was estimated."""
    return not estimated or (not score_game and abs(merit) > WIN >> 1)
