"""Depth-limited alpha-beta with an evaluation function, for games too large to search to the end.

H-MINIMAX of Russell and Norvig, section 6.3. An estimate is worth less than any win and more than any loss: in a
win-lose-draw game `evaluate` lies strictly between -1 and 1, and so is a merit as it stands, which no ply changes
but for its sign. The table serves one search, since an estimate depends on how far ahead it was made.

`looks` does it thrice at each depth without a table: as minimax, as alpha-beta with moves as they come, and as
iterative deepening, alpha-beta that tries first the move that was best one ply less deep. Only the order differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from solver import search as core
from solver.base.errors import BudgetExceeded, GameError, MethodError
from solver.base.progress import Progress, silent
from solver.base.value import Value, value_of
from solver.rules.game import Rules

Evaluate = Callable[[Any], Any]


def even(state: Any) -> int:
    """Estimate as one who cannot tell."""
    return 0


def search(
    game: Any,
    state: Any,
    *,
    depth: int,
    evaluate: Evaluate | None = None,
    symmetry: bool = True,
    budget: core.Budget | None = None,
) -> core.Result:
    """The best that can be seen `depth` plies ahead; `evaluate` takes the place of the game's own.

    The value is exact where the end of the game decided it, else an estimate (score, None). A cutoff may hide a quicker
    win or loss. A value behind it keeps its distance, but is not exact. In a game with cycles a state that comes
    again is searched again, so exact values hold there, too. Raises MethodError without `evaluate`, with chance or
    with a depth below 1, GameError where an estimate is out of bounds, BudgetExceeded.
    """
    state, rules = core.plain_state(state), Rules(game, symmetry)
    core.refuse_chance(rules, "a search of limited depth")
    if evaluate is None:
        evaluate = estimates_of(rules)
    check_depth(depth)
    searcher = Limited(rules, evaluate, budget, keeps=True)

    def worth(action: int, alpha: Any) -> Any:
        return searcher.run(searcher.worth(state, action, depth, alpha, core.INFINITY))[0]

    searcher.count()
    if rules.is_terminal(state):
        return ended(rules, state)
    merit, action = core.best_move(rules, state, worth)
    value = estimated_value(merit, rules.scores)
    return core.Result(value, action, is_exact(value, depth, searcher.cut), searcher.counts, {})


class Limited(core.Search):
    """A search of limited depth, alpha-beta if it is to `prune`, else negamax.

    Where it `keeps` values, the table holds merits, without lines, by canonical state and plies that are left, and
    moves come in the order of `promise`. Else they come as the rules list them, but for those in `first`, which are
    tried first. `best` are the moves found best.
    """

    method = "a search of limited depth"
    cut = False  # whether a state was cut off

    def __init__(
        self,
        rules: Rules,
        evaluate: Evaluate,
        *arguments: Any,
        prune: bool = True,
        keeps: bool = False,
        first: dict[Any, int] | None = None,
    ) -> None:
        super().__init__(rules, None, *arguments)
        self.evaluate, self.prune, self.keeps, self.first = evaluate, prune, keeps, first or {}
        self.best = dict[Any, int]()
        self.ordered = core.ordered_actions(rules) if keeps else self.best_first

    def look(self, state: Any, depth: int) -> tuple[Value, bool, tuple[int, ...]]:
        """Return a state's value so many plies ahead, whether it is exact, and the line that leads there."""
        merit, line = self.run(self.visit(state, depth, -core.INFINITY, core.INFINITY))
        value = estimated_value(merit, self.rules.scores)
        return value, is_exact(value, depth, self.cut), line

    def visit(self, state: Any, left: int, alpha: Any, beta: Any) -> core.Visit:
        """The merit of a state, or its estimate from some plies ahead, and the line that leads there.

        A merit outside the window is a bound, as alpha-beta's.
        """
        self.count()
        rules = self.rules
        if rules.is_terminal(state):
            return rules.end(state), ()
        if left == 0:
            self.cut = True
            return checked(rules, state, self.evaluate(state)), ()
        key = (rules.canonical(state), left) if self.keeps else None
        if key in self.table:
            self.counts.hits += 1
            return self.table[key]
        best: Any = (-core.INFINITY, ())
        floor = alpha
        for action in self.ordered(state):
            merit, line = yield from self.worth(state, action, left, floor, beta)
            if merit > best[0]:
                best = merit, () if self.keeps else (action, *line)
                if self.prune:
                    floor = max(floor, merit)
                    if merit >= beta:
                        self.counts.cutoffs += 1
                        break
        if best[0] == -core.INFINITY:
            raise core.stuck(rules, state)
        if key is None:
            self.best[state] = best[1][0]
        elif alpha < best[0] < beta:
            self.table[key] = best
        return best

    def best_first(self, state: Any) -> list[int]:
        """The moves as they come, but for the one that was best before."""
        first_action = self.first.get(state)
        return sorted(self.rules.actions(state), key=lambda action: action != first_action)

    def worth(self, state: Any, action: int, left: int, alpha: Any, beta: Any) -> core.Visit:
        """Return the merit of an action within its window, and the line from there."""
        rules = self.rules
        child = rules.result(state, action)
        below = core.window(rules, state, action, child, alpha, beta) if self.prune else (-core.INFINITY, core.INFINITY)
        merit, line = yield child, left - 1, *below
        return back_up(rules, merit, state, action, child), line


def estimates_of(rules: Rules) -> Evaluate:
    """The game's own `evaluate`. Raises MethodError without it."""
    if rules.evaluate is None:
        raise MethodError(f"{rules.name} has no evaluate(state), which a heuristic search needs: add it")
    return rules.evaluate


def check_depth(depth: int) -> None:
    """Raise MethodError unless there is a ply to look ahead."""
    if depth < 1:
        raise MethodError(f"a search of depth {depth} sees no move: look at least 1 ply ahead")


def checked(rules: Rules, state: Any, guess: Any) -> Any:
    """An estimate, which is its own merit, checked to be worth less than any win and more than any loss."""
    if not rules.scores:
        if not -1 < guess < 1:
            raise GameError(f"evaluate({state}) is {guess}: an estimate must lie strictly between -1 and 1")
        return guess
    lowest, highest = rules.bounds(state) if rules.bounds else (-core.INFINITY, core.INFINITY)
    if not lowest <= guess <= highest:
        raise GameError(f"evaluate({state}) is {guess}: an estimate must lie within {lowest} and {highest}")
    return guess


def back_up(rules: Rules, merit: Any, state: Any, action: int, child: Any) -> Any:
    """`Rules.lifted`, but for estimates: they are as good one ply earlier."""
    if -1 < merit < 1:
        return (merit if rules.same_mover(state, action, child) else -merit) + rules.gain(state, action)
    return rules.lifted(merit, state, action, child)


def estimated_value(merit: Any, score_game: bool) -> Value:
    """A merit or an estimate as a value."""
    if -1 < merit < 1:
        return Value(merit + 0, None)  # no -0.0
    return value_of(merit, score_game)


def is_exact(value: Value, depth: int, is_cut: bool) -> bool:
    """Whether no state cut off so many plies ahead, if some were, had a say in the value.

    A line through such a state takes at least a ply more than the way to it, so it cannot shorten a win or a loss
    that comes no later.
    """
    return not is_cut or (value.distance is not None and value.distance <= depth + 1)


def ended(rules: Rules, state: int) -> core.Result:
    """Return the result of a search of limited depth at a finished state."""
    return core.Result(estimated_value(rules.end(state), rules.scores), None, True, core.Counts(1), {})


def looked(rules: Rules, depth: int, merit: float, action: int, is_cut: bool, nodes: int) -> core.Result:
    """Return the result of a search of `depth` plies. `is_cut`: it cut a state off."""
    value = estimated_value(merit if -1 < merit < 1 or merit % 1 else int(merit), rules.scores)
    return core.Result(value, action, is_exact(value, depth, is_cut), core.Counts(nodes), {})


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


def negamax(game: Any, state: Any, *, depth: int) -> core.Result:
    """The value of all lines of `depth` plies from a state; `exact` as in `search`.

    Knuth and Moore, An Analysis of Alpha-Beta Pruning, 1975, section 2. States at the bound count as the game's
    estimate, or as a draw where it has none. Time grows with the branching factor to the power of the depth. Raises
    MethodError with chance or with a depth below 1, GameError where an estimate is out of bounds.
    """
    state, rules = core.plain_state(state), Rules(game)
    core.refuse_chance(rules, "negamax")
    check_depth(depth)
    search = Limited(rules, rules.evaluate or even, None, prune=False)
    value, exact, line = search.look(state, depth)
    return core.Result(value, line[0] if line else None, exact, search.counts, {})


def looks(
    game: Any, state: Any = None, *, depth: int, nodes: int | None = core.MAX_NODES, progress: Progress = silent
) -> Iterator[Look]:
    """Yield the results of searches of 1 to `depth` plies from a state, the start if None, within so many nodes each.

    Raises:
        MethodError: The rules have no `evaluate`, or have chance.
        GameError: An estimate is out of bounds.
    """
    rules = Rules(game)
    core.refuse_chance(rules, "a search of limited depth")
    evaluate = estimates_of(rules)
    state = game.initial() if state is None else core.plain_state(state)
    best: dict[Any, int] = {}
    total = 0
    for plies in range(1, depth + 1):
        deepened = Limited(rules, evaluate, core.Budget(nodes), progress, first=best)
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
            plain = Limited(rules, evaluate, core.Budget(nodes), progress, prune=prune)
            try:
                plain.look(state, plies)
            except BudgetExceeded:
                counts.append(None)
            else:
                counts.append(plain.counts.nodes)
        full, pruned = counts
        guess = None if rules.is_terminal(end) else evaluate(end)
        yield Look(plies, value, exact, line, end, guess, full, pruned, total)
