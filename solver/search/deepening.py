"""Searches to a fixed depth without a table: negamax, and the same a ply deeper each time, with its cost.

H-MINIMAX of Russell and Norvig, section 6.3, thrice at each depth: as minimax, as alpha-beta with moves as they come,
and as iterative deepening, alpha-beta that tries first the move that was best one ply less deep. Only the order
differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.base.errors import BudgetExceeded
from solver.base.progress import Progress, silent
from solver.base.value import Value
from solver.rules.game import Rules
from solver.search import INFINITY, Budget, Result, Visit, heuristic, plain_state, refuse_chance, stuck, window
from solver.search.comparison import MAX_NODES
from solver.search.heuristic import Evaluate, Limited, back_up, checked, estimated_value, is_exact


class Look(NamedTuple):
    """The result of a search to one depth.

    Attributes:
        depth: In plies.
        value: The value of the state searched.
        exact: Whether no estimate had a part in it.
        line: Best play.
        end: The state at its end.
        estimate: The value of `evaluate(end)` for the side to move there. None if the game is over.
        minimax, alphabeta: States that each search visited. None if it was given up.
        deepening: States visited at all depths so far.
    """

    depth: int
    value: Value
    exact: bool
    line: tuple[int, ...]
    end: Any
    estimate: float | None
    minimax: int | None
    alphabeta: int | None
    deepening: int


def negamax(game: Any, state: Any, *, depth: int, budget: Budget | None = None) -> Result:
    """The value of all lines of `depth` plies from a state; `exact` as in `heuristic.search`.

    Knuth and Moore, An Analysis of Alpha-Beta Pruning, 1975, section 2. States at the bound count as the game's
    estimate, or as a draw where it has none. Time grows with the branching factor to the power of the depth. Raises
    MethodError with chance or with a depth below 1, GameError where an estimate is out of bounds, BudgetExceeded.
    """
    state, rules = plain_state(state), Rules(game)
    refuse_chance(rules, "negamax")
    heuristic.check_depth(depth)
    search = _WithLine(rules, rules.evaluate or heuristic.even, False, {}, budget)
    value, exact, line = search.look(state, depth)
    return Result(value, line[0] if line else None, exact, search.counts, {})


def looks(
    game: Any, state: Any = None, *, depth: int, nodes: int = MAX_NODES, progress: Progress = silent
) -> Iterator[Look]:
    """Yield the results of searches of 1 to `depth` plies from a state, the start if None, within so many nodes each.

    Raises:
        MethodError: The rules have no `evaluate`, or have chance.
        GameError: An estimate is out of bounds.
    """
    rules = Rules(game)
    refuse_chance(rules, "a search of limited depth")
    evaluate = heuristic.estimates_of(rules)
    state = game.initial() if state is None else plain_state(state)
    best: dict[Any, int] = {}
    total = 0
    for plies in range(1, depth + 1):
        deepened = _WithLine(rules, evaluate, True, best, Budget(nodes), progress)
        try:
            value, exact, line = deepened.look(state, plies)
        except BudgetExceeded:
            return
        total += deepened.counts.nodes
        best |= deepened.best
        end = state
        for action in line:
            end = rules.result(end, action)
        counts: list[int | None] = []
        for prune in (False, True):
            # With moves as they come
            plain = _WithLine(rules, evaluate, prune, {}, Budget(nodes), progress)
            try:
                plain.look(state, plies)
            except BudgetExceeded:
                counts.append(None)
            else:
                counts.append(plain.counts.nodes)
        full, pruned = counts
        guess = None if rules.is_terminal(end) else evaluate(end)
        yield Look(plies, value, exact, line, end, guess, full, pruned, total)


class _WithLine(Limited):
    """It says the line, too, without a table; `first` are moves to try first, `best` those found best."""

    def __init__(
        self, rules: Rules, evaluate: Evaluate, prune: bool, first_actions: dict[Any, int], *arguments: Any
    ) -> None:
        super().__init__(rules, evaluate, *arguments)
        self.prune, self.first, self.best = prune, first_actions, dict[Any, int]()

    def look(self, state: Any, depth: int) -> tuple[Value, bool, tuple[int, ...]]:
        """Return a state's value so many plies ahead, whether it is exact, and the line that leads there."""
        merit, line = self.run(self.visit(state, depth, -INFINITY, INFINITY))
        value = estimated_value(merit, self.rules.scores)
        return value, is_exact(value, depth, self.cut), line

    def visit(self, state: Any, left: int, alpha: Any, beta: Any) -> Visit:
        """Return the merit of a state, or its estimate from some plies ahead, and the line that leads there."""
        self.count()
        rules = self.rules
        if rules.is_terminal(state):
            return rules.end(state), ()
        if left == 0:
            self.cut = True
            return checked(rules, state, self.evaluate(state)), ()
        best: Any = (-INFINITY, ())
        for action in self.best_first(state):
            merit, line = yield from self.worth(state, action, left, alpha, beta)
            if merit > best[0]:
                best = merit, (action, *line)
            if self.prune:
                alpha = max(alpha, best[0])
                if alpha >= beta:
                    self.counts.cutoffs += 1
                    break
        if not best[1]:
            raise stuck(rules, state)
        self.best[state] = best[1][0]
        return best

    def best_first(self, state: Any) -> list[int]:
        """The moves as they come, but for the one that was best before."""
        actions = list(self.rules.actions(state))
        first_action = self.first.get(state)
        if first_action is None:
            return actions
        return [first_action, *(action for action in actions if action != first_action)]

    def worth(self, state: Any, action: int, left: int, alpha: Any, beta: Any) -> Visit:
        """Return the merit of an action within its window, and the line from there."""
        rules = self.rules
        child = rules.result(state, action)
        below = window(rules, state, action, child, alpha, beta) if self.prune else (-INFINITY, INFINITY)
        merit, line = yield child, left - 1, *below
        return back_up(rules, merit, state, action, child), line
