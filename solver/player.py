"""A player: answers from a solution, and by live search where the solution is silent.

Every answer says where it comes from and whether it is exact:

    terminal    the rules: the game is over
    book        the solution
    search      live alpha-beta (plain at first, then compiled where numba is installed; plain retrograde analysis in a
                game with cycles), or, where its budget ended and the game has `evaluate`, the heuristic, not exact
    missing     nobody knows: the budget ended, or a complete book lacks the state, which play cannot reach then
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from solver import extras
from solver.book.reader import Book
from solver.errors import BudgetExceeded, MethodError, MissingState, PositionError, UncompiledRules
from solver.game import Game, canonical_of, end_of, is_score_game, same_mover_of
from solver.value import Value, value_of

SECONDS = 5.0
QUICK = 2_000  # nodes that plain alpha-beta may take before the compiled one, which takes time to load, is asked


class Answer(NamedTuple):
    """What a state is worth for the side to move, None if nobody knows."""

    value: Value | None
    exact: bool
    source: str


class Move(NamedTuple):
    """An action, what it is worth for the side that plays it, and the state it leads to.

    `child_value` is the same worth seen from that state, for its side to move.
    """

    action: int
    value: Value | None
    exact: bool
    source: str
    best: bool
    child: int
    child_value: Value | None


MISSING = Answer(None, False, "missing")


class Player:
    """Plays any game from any solution: `Player(book)`, `Player(mapping, game)`, or `Player(game)` without one.

    `seconds` and `nodes` bound each live search; `live=False` forbids it. Values found live are kept for the
    session. A book's rules must be the game's (ForeignBook).
    """

    def __init__(
        self,
        source: Book | Mapping[int, Value] | Game,
        game: Game | None = None,
        *,
        seconds: float | None = SECONDS,
        nodes: int | None = None,
        live: bool = True,
    ) -> None:
        solution: Mapping[int, Value] = {}
        symmetry = True
        complete = False
        if isinstance(source, Book):
            if game is None:
                game = source.game
            else:
                source.check_rules(game)
            solution, symmetry = source, source.header.symmetry
            complete = source.header.scope == "complete"
        elif isinstance(source, Mapping):
            solution = source
        else:
            game = source
        if game is None:
            raise TypeError("a mapping of values does not know its game: Player(values, game)")
        self.game: Game = game
        self.solution = solution
        self.seconds, self.nodes = seconds, nodes
        self._live = live and not complete
        self._symmetry = symmetry
        self._score_game = is_score_game(game)
        self._end = end_of(game)
        self._canonical = canonical_of(game, symmetry)
        self._folds = symmetry and hasattr(game, "canonical")
        self._same_mover = same_mover_of(game)
        self._alternates = not hasattr(game, "to_move")
        self._table: dict[Any, Any] = {}
        self._solved_live: dict[Any, Value] = {}
        self._searcher: Any = None

    def value(self, state: int) -> Answer:
        """What a state is worth for the side to move."""
        if self.game.is_terminal(state):
            return Answer(self._terminal(state), True, "terminal")
        key = self._canonical(state)
        found = self.solution.get(key)
        if found is not None:
            return Answer(found, True, "book")
        found = self._solved_live.get(key)
        if found is not None:
            return Answer(found, True, "search")
        return self._search(state) if self._live else MISSING

    def best(self, state: int) -> int:
        """A best action: the quickest win, else a draw, else the longest loss; the first of equals.

        Raises PositionError where the game is over, MissingState where no child's value is known.
        """
        game, find, folds, alternates = self.game, self.solution.get, self._folds, self._alternates
        canonical, result = self._canonical, game.result
        if find(canonical(state) if folds else state) is None and game.is_terminal(state):
            raise PositionError(f"the game is over at state {state}: no action is left")
        best_action, best_score, best_distance = -1, 0, 0
        for action in game.actions(state):
            child = result(state, action)
            value = find(canonical(child) if folds else child)
            if value is None:
                value = self.value(child).value
                if value is None:
                    continue
            score, distance = value
            if alternates or not self._same_mover(state, child):
                score = -score
            if distance is None:
                distance = 0
            elif score > 0:
                distance = -distance
            if score > best_score or best_action < 0 or (score == best_score and distance > best_distance):
                best_action, best_score, best_distance = action, score, distance
        if best_action < 0:
            raise MissingState(f"no move from state {state} has a known value: allow a live search or more time")
        return best_action

    def line(self, state: int, most: int = 1000) -> Iterator[tuple[int, int]]:
        """Best play from a state to the end: each action and the state that it leads to, at most `most`.

        It ends early where play comes back to a state that it has seen, which is a draw, and raises MissingState
        where no move's value is known.
        """
        seen = {state}
        while not self.game.is_terminal(state) and most:
            action = self.best(state)
            state = self.game.result(state, action)
            yield action, state
            if state in seen:
                return
            seen.add(state)
            most -= 1

    def analyse(self, state: int) -> list[Move]:
        """Every action with its value and source, best first; unknown ones last."""
        if self.game.is_terminal(state):
            return []
        moves = [self._move(state, action) for action in self.game.actions(state)]
        moves.sort(key=_rank)  # stable: equals stay in the game's order
        first = _rank(moves[0])
        return [move._replace(best=move.value is not None and _rank(move) == first) for move in moves]

    def _move(self, state: int, action: int) -> Move:
        child = self.game.result(state, action)
        answer = self.value(child)
        value = answer.value
        if value is not None:
            score, distance = value
            sign = 1 if self._same_mover(state, child) else -1
            value = Value(sign * score if score else 0, None if distance is None else distance + 1)
        return Move(action, value, answer.exact, answer.source, False, child, answer.value)

    def _terminal(self, state: int) -> Value:
        return value_of(self._end(state), self._score_game)

    def _search(self, state: int) -> Answer:
        """Search a state live; the heuristic answers where the budget ends."""
        from solver.search import Budget, heuristic

        try:
            value = self._alphabeta(state)
        except MethodError:
            return self._retrograde(state)
        except BudgetExceeded:
            if not hasattr(self.game, "evaluate"):
                return MISSING
        else:
            self._solved_live[self._canonical(state)] = value
            return Answer(value, True, "search")
        allowance = Budget(self.nodes, None if self.seconds is None else self.seconds / 4)
        guess = heuristic.deepen(self.game, state, budget=allowance, symmetry=self._symmetry)
        return Answer(guess.value, guess.exact, "search")

    def _alphabeta(self, state: int) -> Value:
        """The exact value by plain alpha-beta if that is quick, else by the compiled one if it is at hand."""
        from solver.search import Budget, alphabeta

        game, table, symmetry = self.game, self._table, self._symmetry
        if self._searcher is None:
            quick = Budget(QUICK if self.nodes is None else min(QUICK, self.nodes), self.seconds)
            try:
                return alphabeta.solve(game, state, table=table, symmetry=symmetry, budget=quick).value
            except BudgetExceeded:
                if self.nodes is not None and self.nodes <= QUICK:
                    raise
            self.prepare()
        if self._searcher:
            found: Value = self._searcher.value(state, nodes=self.nodes, seconds=self.seconds)
            return found
        budget = Budget(self.nodes, self.seconds)
        return alphabeta.solve(game, state, table=table, symmetry=symmetry, budget=budget).value

    def prepare(self) -> None:
        """Load the compiled search, so that the first live one need not wait for it; safe to call from a thread."""
        searcher: Any = False
        if self._live and extras.has_kernels() and not getattr(self.game, "plain_only", False):
            from solver.kernels.searcher import Searcher

            try:
                searcher = Searcher(self.game, symmetry=self._symmetry)
                searcher.warm()
            except (UncompiledRules, MethodError):
                searcher = False
        if self._searcher is None:
            self._searcher = searcher

    def _retrograde(self, state: int) -> Answer:
        """In a game with cycles all states below must be resolved together."""
        from solver.search import Budget, retrograde, solution_of

        try:
            budget = Budget(self.nodes, self.seconds)
            found = retrograde.solve(self.game, state, symmetry=self._symmetry, budget=budget)
        except (BudgetExceeded, MethodError):
            return MISSING
        self._solved_live.update(solution_of(found.table))
        return Answer(found.value, True, "search")


def _rank(move: Move) -> tuple[bool, float, int]:
    """Known values first, then higher scores, then quick wins and slow losses."""
    if move.value is None:
        return True, 0, 0
    score, distance = move.value
    return False, -score, 0 if distance is None else distance if score > 0 else -distance
