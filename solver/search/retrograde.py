"""Retrograde analysis of win-lose-draw games, with or without cycles.

From the finished states backward, by distance: a state is won as soon as one child is lost for the opponent, and
lost when the last of its children is won for the opponent; what is never resolved is a draw (Thompson, Retrograde
Analysis of Certain Endgames, ICCA Journal 9(3), 1986). Every reachable state is held with its parents:
about 11 microseconds and 440 bytes a position in connect-four 4x5 (1,706,255 positions).
"""

from __future__ import annotations

from typing import Any

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.base.value import WIN, lift, value_of
from solver.rules.game import Rules
from solver.search import Budget, Counts, Result, Table, best_move, refuse_chance, roots_of, stuck

Parents = dict[Any, list[tuple[Any, bool]]]


def solve(
    game: Any,
    state: Any = None,
    *,
    symmetry: bool = True,
    budget: Budget | None = None,
    progress: Progress = silent,
) -> Result:
    """The value of every state reachable from `state` (from the game's starts if None), in `table`.

    Raises MethodError on a game with scores or chance, GameError at a state without actions that is not terminal,
    BudgetExceeded.
    """
    rules = Rules.of(game, symmetry)
    refuse_chance(rules, "retrograde analysis")
    if rules.scores:
        raise MethodError(f"{rules.name} is a score game, which retrograde analysis cannot take: use minimax")
    counts = Counts()
    roots = roots_of(rules, state)
    parents, unresolved, table = _expand(rules, roots, counts, budget, progress)
    _resolve(parents, unresolved, table, budget, progress)
    canonical = rules.canonical
    root = roots[-1]

    def worth(action: int, alpha: int) -> int:
        child = rules.result(root, action)
        return rules.lifted(table[canonical(child)], root, action, child)

    action = None if rules.is_terminal(root) else best_move(rules, root, worth)[1]
    return Result(value_of(table[canonical(root)]), action, True, counts, table)


def _expand(
    rules: Rules, roots: list[Any], counts: Counts, budget: Budget | None, progress: Progress
) -> tuple[Parents, dict[Any, int], Table]:
    """Parents (with whether the same player moves again) and numbers of children of all states; terminal merits."""
    canonical, same_mover, end = rules.canonical, rules.same_mover, rules.end
    actions, result, is_terminal = rules.actions, rules.result, rules.is_terminal
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
        if is_terminal(state):
            table[state] = end(state)
            continue
        children = [(action, result(state, action)) for action in actions(state)]
        if not children:
            raise stuck(rules, state)
        unresolved[state] = len(children)
        for action, child in children:
            key = canonical(child)
            if key not in parents:
                parents[key] = []
                todo.append(key)
            parents[key].append((state, same_mover(state, action, child)))
    return parents, unresolved, table


def _resolve(
    parents: Parents, unresolved: dict[Any, int], table: Table, budget: Budget | None, progress: Progress
) -> None:
    """Extend the terminal merits in `table` to all states."""
    waiting: dict[int, list[Any]] = {}  # by distance
    for key, merit in table.items():
        if merit:
            waiting.setdefault(WIN - abs(merit), []).append(key)
    while waiting:
        distance = min(waiting)
        for child in waiting.pop(distance):
            if budget is not None:
                budget.spend(nodes=0)
            for parent, same in parents[child]:
                unresolved[parent] -= 1
                merit = lift(table[child], same, False)
                if parent not in table and (merit > 0 or unresolved[parent] == 0):
                    table[parent] = merit
                    waiting.setdefault(distance + 1, []).append(parent)
                    if len(table) & 4095 == 0:
                        progress("retrograde", len(table), len(parents))
    for key in parents:
        table.setdefault(key, 0)
