"""Minimax with a transposition table, and alpha-beta, which prunes it.

MINIMAX-SEARCH and ALPHA-BETA-SEARCH of Russell and Norvig, sections 6.2 and 6.2.3, in negamax form. Minimax visits
every reachable state once and keeps its exact merit; `expectiminimax` and `nimbers` are the same search, since the kind
of value says what a state's moves make of it. About 8 microseconds (of which the rules of connect-four take 6)
and 140 bytes a state.

Alpha-beta searches a state within a window (alpha, beta) of merits for its side to move. Only a merit strictly inside
the window is exact, and only exact ones are kept. A state that was cut off is searched anew when play comes to it. In
tic-tac-toe this makes 8,203 visits, where minimax makes 5,478; a table of bounds saves most of them
(`comparison`). Moves are tried in the order of `promise`, or as they come. Memory grows with the exact entries: 2,881
for the 80,541 states of connect-four 4x4.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from solver.base.kinds import Method
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.rules.game import Rules
from solver.search import (
    INFINITY,
    Budget,
    Result,
    Search,
    Table,
    Visit,
    best_action,
    best_move,
    ordered_actions,
    refuse_chance,
    roots_of,
    stuck,
    window,
)

OPEN = -INFINITY, INFINITY  # a window that prunes nothing


def minimax(game: Any, state: Any = None, *, symmetry: bool = True, **options: Any) -> Result:
    """`solve` without pruning: every state below is visited once, and is in `table` if that was empty or made so."""
    rules = Rules.of(game, symmetry)
    refuse_chance(rules, Method.MINIMAX)
    return Minimax(rules, **options).result(state)


class Minimax(Search):
    """A search that values every state below by what the kind of value makes of its moves."""

    method: str = Method.MINIMAX

    def result(self, state: Any) -> Result:
        """The value of a state, or of the start, having searched from all starts, if it is None."""
        for root in roots_of(self.rules, state):
            merit = self.merit_of(root)
        return Result(self.value(merit), best_action(self.rules, root, self.merit_of), True, self.counts, self.table)

    def visit(self, state: Any, key: Any) -> Visit:
        """The merit of a state."""
        self.count()
        rules, table = self.rules, self.table
        if rules.is_terminal(state):
            table[key] = self.end(state)
            return table[key]
        self.enter(key)
        worths = []
        for weight, action, child in self.children(state):
            child_key = rules.canonical(child)
            merit = table.get(child_key)
            if merit is None:
                merit = yield child, child_key
            else:
                self.counts.hits += 1
            worths.append((weight, 0, rules.lifted(merit, state, action, child)))
        merit = rules.kind.best(worths, Fraction) if worths else INFINITY
        if not -INFINITY < merit < INFINITY:
            raise stuck(rules, state)
        self.path.remove(key)
        table[key] = merit
        return merit

    def children(self, state: Any) -> Iterable[tuple[int, Any, Any]]:
        """Weights, actions and children, as the rules have them."""
        return self.rules.children(state)

    def end(self, state: Any) -> Any:
        """The merit of a terminal state."""
        return self.rules.end(state)

    def value(self, merit: Any) -> Value:
        """The value that has a merit."""
        return self.rules.kind.value(merit)


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
    search = _AlphaBeta(rules, table, budget, progress)
    refuse_chance(rules, search.method)
    *other_roots, root = roots_of(rules, state)
    for other_root in other_roots:
        search.merit_of(other_root, *OPEN)
    if rules.is_terminal(root):
        merit, action = search.merit_of(root, *OPEN), None
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
        rules, table = self.rules, self.table
        if rules.is_terminal(state):
            table[key] = rules.end(state)
            return table[key]
        self.enter(key)
        best, floor = -INFINITY, alpha
        for action in self.ordered(state):
            child = rules.result(state, action)
            child_key = rules.canonical(child)
            merit = table.get(child_key)
            if merit is None:
                merit = yield child, child_key, *window(rules, state, action, child, floor, beta)
            else:
                self.counts.hits += 1
            merit = rules.lifted(merit, state, action, child)
            if merit > best:
                best = merit
                if best >= beta:
                    self.counts.cutoffs += 1
                    break
                if best > floor:
                    floor = best
        if not -INFINITY < best < INFINITY:
            raise stuck(rules, state)
        self.path.remove(key)
        if alpha < best < beta:
            table[key] = best
        return best

    def decide(self, state: Any) -> tuple[int, int]:
        """The merit and the action of a state that is not terminal; one known already narrows the window."""
        rules = self.rules
        key = rules.canonical(state)
        known = self.table.get(key)
        floor, ceiling = OPEN if known is None else (known - 1, known + 1)

        def worth(action: int, alpha: int) -> int:
            if alpha + 1 >= ceiling:
                # The result cannot get better
                return alpha
            child = rules.result(state, action)
            merit = self.merit_of(child, *window(rules, state, action, child, alpha, ceiling))
            return rules.lifted(merit, state, action, child)

        self.count()
        self.enter(key)
        best, action = best_move(rules, state, worth, floor)
        self.table[key] = best
        return best, action
