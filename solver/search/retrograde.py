"""Retrograde analysis, of games with or without cycles.

It goes backward from the finished states, by distance. A state is won as soon as one child is lost for the opponent.
It is lost when the last of its children is won for the opponent. A state that is never resolved is a draw (Thompson,
Retrograde Analysis of Certain Endgames, ICCA Journal 9(3), 1986). Every reachable state is held with its parents: about
11 microseconds and 440 bytes a position in connect-four 4x5 (1,706,255 positions).

Margins are found tier by tier, from the last. Within a tier the largest come first, since a child that wins much costs
its parents as much. A state that is never resolved is worth as much as endless play (Lincke and Marzetta, Large endgame
databases with limited memory space, ICGA Journal 23(3), 2000; Romein and Bal, Solving Awari with parallel retrograde
analysis, Computer 36(10), 2003). Only moves to a later tier may score.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Any

from solver.base.errors import MethodError
from solver.base.kinds import MARGIN
from solver.base.progress import Progress, silent
from solver.base.value import WIN, lift
from solver.rules.game import Rules
from solver.search import Budget, Counts, Result, Table, best_action, refuse_chance, roots_of, stuck
from solver.search.derive import steps_of

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

    Raises MethodError on a game with chance, or whose moves score where play may come back to a state, GameError at a
    state without actions that is not terminal, BudgetExceeded.
    """
    rules = Rules.of(game, symmetry)
    budget = budget or Budget()
    refuse_chance(rules, "retrograde analysis")
    counts = Counts()
    roots = roots_of(rules, state)
    parents, unresolved, table = _expand(rules, roots, counts, budget, progress)
    if rules.scores:
        for _, tier in itertools.groupby(sorted(unresolved, key=rules.tier, reverse=True), rules.tier):
            _resolve_tier(rules, list(tier), table, budget)
            progress("retrograde", len(table), len(parents))
    else:
        _resolve(parents, unresolved, table, budget, progress)
    canonical, root = rules.canonical, roots[-1]
    action = best_action(rules, root, lambda child: table[canonical(child)])
    return Result(rules.kind.value(table[canonical(root)]), action, True, counts, table)


def _expand(
    rules: Rules, roots: list[Any], counts: Counts, budget: Budget, progress: Progress
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


def _resolve(parents: Parents, unresolved: dict[Any, int], table: Table, budget: Budget, progress: Progress) -> None:
    """Extend the terminal merits in `table` to all states."""
    waiting: dict[int, list[Any]] = {}  # by distance
    for key, merit in table.items():
        if merit:
            waiting.setdefault(WIN - abs(merit), []).append(key)
    while waiting:
        distance = min(waiting)
        for child in waiting.pop(distance):
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


def _resolve_tier(rules: Rules, states: list[Any], table: Table, budget: Budget) -> None:
    """Enter the merits of all states of a tier of a game of margins; those of later tiers are in the table.

    While they are looked for, merits are counted from the worth of endless play.
    """
    # The best merit by children that are known, and how many are not
    best: dict[Any, int] = {}
    unknown: dict[Any, int] = {}
    parents: Parents = {}
    found: Table = {}
    # The largest first, then as they came: states and merits
    waiting: list[tuple[int, int, Any, int]] = []
    order = itertools.count()

    def wait(state: Any) -> None:
        heapq.heappush(waiting, (-abs(best[state]), next(order), state, best[state]))

    # The merit that later tiers give a state, and its children in this tier
    for state in states:
        unknown[state] = 0
        for key, end, same, gain in steps_of(rules, state):
            merit = table.get(key) if end is None else end
            if merit is not None:
                merit = lift(merit, same, True) + gain - rules.endless(state)
                best[state] = max(merit, best.get(state, merit))
                continue
            if gain:
                raise scoring(rules, state)
            unknown[state] += 1
            parents.setdefault(key, []).append((state, same))
    for state in states:
        if state in best and (best[state] > 0 or not unknown[state]):
            wait(state)
    while waiting:
        *_, state, merit = heapq.heappop(waiting)
        if state in found:
            continue
        found[state] = merit
        budget.spend(nodes=0)
        # The first child that is bad enough for the opponent resolves a parent; otherwise the last child does
        for parent, same in parents.get(state, ()):
            if parent in found:
                continue
            lifted = lift(merit, same, True)
            unknown[parent] -= 1
            best[parent] = max(lifted, best.get(parent, lifted))
            if lifted > 0 or (not unknown[parent] and best[parent] <= 0):
                wait(parent)
    for state in states:
        merit = table[state] = found.get(state, 0) + rules.endless(state)
        if not MARGIN.holds(merit):
            raise stuck(rules, state)


def scoring(rules: Rules, state: Any) -> MethodError:
    """The refusal of a game in which moves score that do not raise the tier: play might score without end."""
    return MethodError(
        f"{rules.name}: state {state} has a move that scores and stays in its tier, to which play may come back:"
        " give it a tier that every move that scores raises"
    )
