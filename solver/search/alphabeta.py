"""Minimax with a transposition table, also of chance and of nimbers, and alpha-beta, which prunes it.

MINIMAX-SEARCH and ALPHA-BETA-SEARCH of Russell and Norvig, sections 6.2 and 6.2.3, in negamax form. Minimax visits
every reachable state once and keeps its exact merit; `expectiminimax` and `nimbers` are the same search, since the kind
of value says what a state's moves make of it. About 8 microseconds (of which the rules of connect-four take 6)
and 140 bytes a state.

Expectiminimax (section 6.5) is for games of chance without cycles. A state where `chance(state)` yields (weight, next
state) pairs is a chance node, whose value is their mean by these weights; a state where it yields nothing is a
player's. Values are expectations of the utility for the side to move, exact: whole numbers and fractions. A chance node
is seen from the side that `to_move` names there. About 15 microseconds a state (bearing off three checkers each:
141,672 states in 2.1 s).

The nimber of a position is the size of the heap of nim that it is worth (Sprague 1935, Grundy 1939). In a game in which
both sides have the same moves and who cannot move loses, it is the least number that none of its moves leads to (mex);
the position is lost for the side to move if that is 0. A sum of such games, in which each move is made in one of them,
has the exclusive or of their nimbers, as heaps of nim have (Bouton 1901).

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

from solver import search
from solver.base.errors import BudgetExceeded, GameError
from solver.base.kinds import LOST, NIMBER, Method
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.rules.game import Rules

OPEN = -search.INFINITY, search.INFINITY  # a window that prunes nothing
NIMBER_NODES = 100_000  # of a search for one nimber


def minimax(game: Any, state: Any = None, *, symmetry: bool = True, **options: Any) -> search.Result:
    """`solve` without pruning: every state below is visited once, and is in `table` if that was empty or made so."""
    rules = Rules.of(game, symmetry)
    search.refuse_chance(rules, Method.MINIMAX)
    return Minimax(rules, **options).result(state)


class Minimax(search.Search):
    """A search that values every state below by what the kind of value makes of its moves."""

    method: str = Method.MINIMAX

    def result(self, state: Any) -> search.Result:
        """The value of a state, or of the start, having searched from all starts, if it is None."""
        for root in search.roots_of(self.rules, state):
            merit = self.merit_of(root)
        return search.Result(
            self.value(merit), search.best_action(self.rules, root, self.merit_of), True, self.counts, self.table
        )

    def visit(self, state: Any, key: Any) -> search.Visit:
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
        merit = rules.kind.best(worths, Fraction) if worths else search.INFINITY
        if not -search.INFINITY < merit < search.INFINITY:
            raise search.stuck(rules, state)
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


def expectiminimax(game: Any, state: Any = None, *, symmetry: bool = True, **options: Any) -> search.Result:
    """The expectation at `state` (at the start, having solved from all the game's starts, if None).

    Options as of `solve`. The table maps canonical states, chance nodes among them, to expectations. Raises
    MethodError without `chance` or on a game with cycles, GameError where weights are not whole numbers from 1 on,
    chance leads out of the numbers of states, or a player has no action, BudgetExceeded.
    """
    rules = Rules(game, symmetry)
    search.require_chance(rules)
    return _Expectiminimax(rules, **options).result(state)


class _Expectiminimax(Minimax):
    method = Method.EXPECTIMINIMAX

    def children(self, state: Any) -> Iterable[tuple[int, Any, Any]]:
        search.check_outcomes(self.rules, state)
        return self.rules.children(state)

    def end(self, state: Any) -> Any:
        # A fraction, too
        return self.rules.utility(state)

    def value(self, merit: Any) -> Value:
        return Value(merit, None)


def nimbers(rules: Rules, **options: Any) -> search.Result:
    """Return the nimbers of all states; `table` has their merits.

    Raises as `nimber`, and BudgetExceeded.
    """
    check_nimbers(rules)
    return _Nimbers(rules, **options).result(None)


def nimber(rules: Rules, state: Any, table: search.Table, nodes: int = NIMBER_NODES) -> int | None:
    """The nimber of a state; None if more new states than that are needed.

    `table` is extended in place: canonical states to merits. Raises GameError if the game is not impartial,
    MethodError if it has cycles.
    """
    check_nimbers(rules)
    searcher = _Nimbers(Rules(rules.game, rules.symmetry, NIMBER), table, search.Budget(nodes))
    try:
        merit: int = searcher.merit_of(state)
    except BudgetExceeded:
        return None
    return max(merit, 0)


def check_nimbers(rules: Rules) -> None:
    """Raise GameError if a game has no nimbers."""
    if not rules.impartial:
        raise GameError(
            f"{rules.name} has no nimbers: set impartial = True if both sides have the same moves and the last mover"
            " wins"
        )
    if not rules.alternates or rules.chance is not None or rules.margins:
        raise GameError(
            f"{rules.name} says impartial = True and has to_move, again, chance or margins: leave one out, nimbers are"
            " for games in which both sides have the same moves and who cannot move loses"
        )


class _Nimbers(Minimax):
    method = Method.NIMBERS

    def end(self, state: Any) -> Any:
        if self.rules.utility(state) != LOST:
            raise GameError(
                f"{self.rules.name} says impartial = True, and state {state} is an end that is not lost for the side to"
                " move: leave it out"
            )
        return LOST


def solve(
    game: Any,
    state: Any = None,
    *,
    table: search.Table | None = None,
    symmetry: bool = True,
    budget: search.Budget | None = None,
    progress: Progress = silent,
) -> search.Result:
    """The exact value of `state` (of the start, having searched all the game's starts, if None).

    `table` is extended in place with exact merits, those of the terminal states that were looked at among them.

    Raises MethodError on a game with chance or where it meets a cycle, GameError at a state without actions that is
    not terminal, BudgetExceeded (the table stays usable).
    """
    rules = Rules.of(game, symmetry)
    searcher = _AlphaBeta(rules, table, budget, progress)
    search.refuse_chance(rules, searcher.method)
    *other_roots, root = search.roots_of(rules, state)
    for other_root in other_roots:
        searcher.merit_of(other_root, *OPEN)
    if rules.is_terminal(root):
        merit, action = searcher.merit_of(root, *OPEN), None
    else:
        merit, action = searcher.decide(root)
    return search.Result(rules.kind.value(merit), action, True, searcher.counts, searcher.table)


class _AlphaBeta(search.Search):
    method = "alpha-beta"

    def __init__(self, rules: Rules, *arguments: Any) -> None:
        super().__init__(rules, *arguments)
        self.ordered = search.ordered_actions(rules)

    def visit(self, state: Any, key: Any, alpha: int, beta: int) -> search.Visit:
        """The merit of a state, exact inside the window; at or below alpha an upper bound, at or above beta a lower."""
        self.count()
        rules, table = self.rules, self.table
        if rules.is_terminal(state):
            table[key] = rules.end(state)
            return table[key]
        self.enter(key)
        best, floor = -search.INFINITY, alpha
        for action in self.ordered(state):
            child = rules.result(state, action)
            child_key = rules.canonical(child)
            merit = table.get(child_key)
            if merit is None:
                merit = yield child, child_key, *search.window(rules, state, action, child, floor, beta)
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
        if not -search.INFINITY < best < search.INFINITY:
            raise search.stuck(rules, state)
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
            merit = self.merit_of(child, *search.window(rules, state, action, child, alpha, ceiling))
            return rules.lifted(merit, state, action, child)

        self.count()
        self.enter(key)
        best, action = search.best_move(rules, state, worth, floor)
        self.table[key] = best
        return best, action
