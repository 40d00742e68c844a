"""Retrograde analysis of win-lose-draw games, with or without cycles.

From the finished states backward, by distance: a state is won as soon as one child is lost for the opponent, and
lost when the last of its children is won for the opponent; what is never resolved is a draw (Thompson, Retrograde
Analysis of Certain Endgames, ICCA Journal 9(3), 1986). Every reachable state is held with its parents: about
5 microseconds and 500 bytes a position.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from solver.errors import MethodError
from solver.game import canonical_of, game_text, is_score_game, same_mover_of, starts_of
from solver.progress import Progress, silent
from solver.search import Budget, Counts, Result, Table
from solver.search.minimax import best_action
from solver.value import lift, terminal_merit, value_of

Parents = dict[Any, list[tuple[Any, bool]]]


def solve(
    game: Any,
    state: Any = None,
    *,
    symmetry: bool = True,
    budget: Budget | None = None,
    progress: Progress = silent,
) -> Result:
    """The value of every state reachable from `state` (the game's starts if None), in `table`.

    Raises MethodError on a score game, BudgetExceeded.
    """
    if is_score_game(game):
        raise MethodError(f"{game_text(game)} is a score game: retrograde analysis takes games of win, loss and draw")
    counts = Counts()
    roots = starts_of(game) if state is None else [state]
    parents, unresolved, table = _expand(game, roots, symmetry, counts, budget, progress)
    queue = deque(key for key, merit in table.items() if merit)
    while queue:  # in the order of distance
        child = queue.popleft()
        for parent, same in parents[child]:
            unresolved[parent] -= 1
            merit = lift(table[child], same, False)
            if parent not in table and (merit > 0 or unresolved[parent] == 0):
                table[parent] = merit
                queue.append(parent)
                if len(table) & 4095 == 0:
                    progress("retrograde", len(table), len(parents))
    for key in parents:
        table.setdefault(key, 0)
    root = game.initial() if state is None else state
    value = value_of(table[canonical_of(game, symmetry)(root)])
    return Result(value, best_action(game, root, table, symmetry), True, counts, table)


def _expand(
    game: Any, roots: list[Any], symmetry: bool, counts: Counts, budget: Budget | None, progress: Progress
) -> tuple[Parents, dict[Any, int], Table]:
    """Parents (with whether the same player moves again) and numbers of children of all states; terminal merits."""
    canonical, same_mover = canonical_of(game, symmetry), same_mover_of(game)
    parents: Parents = {canonical(root): [] for root in roots}
    unresolved: dict[Any, int] = {}
    table: Table = {}
    todo = list(parents)
    while todo:
        state = todo.pop()
        counts.nodes += 1
        if counts.nodes & 4095 == 0:
            progress("expand", counts.nodes, None)
        if budget is not None:
            budget.spend()
        if game.is_terminal(state):
            table[state] = terminal_merit(game.utility(state), False)
            continue
        unresolved[state] = 0
        for action in game.actions(state):
            child = game.result(state, action)
            key = canonical(child)
            if key not in parents:
                parents[key] = []
                todo.append(key)
            parents[key].append((state, same_mover(state, child)))
            unresolved[state] += 1
    return parents, unresolved, table
