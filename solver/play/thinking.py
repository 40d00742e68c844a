"""Thinking aloud: better and better answers about a state until it is told to stop.

Answers from the solution come at once. Else a search of limited depth and an exact one take turns that double, the
first for an answer at any time, the second for the truth: both keep their tables, so that a turn goes on where the last
ended.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import NamedTuple

from solver.base.errors import BudgetExceeded, MethodError, MissingState
from solver.play.analysis import MISSING, Answer
from solver.play.player import Player
from solver.search import Budget

MOST_DEPTH = 200
FIRST_TURN = 0.1  # seconds of the search of limited depth; an exact one has twice as many
LINE = 10  # moves of a line that are shown
LINE_NODES = 2_000  # that may be spent on each of them, or a twentieth of those spent so far
PAUSE = 0.02  # seconds between two looks at whether the compiled searches are loaded


class Thought(NamedTuple):
    """The best action, its value for the state's side to move, and how that was found.

    `depth` is in plies, 0 if the value is known. `nodes` counts the searches so far. `line` begins with the action.
    """

    answer: Answer
    depth: int
    nodes: int
    line: list[int]


class Thinker:
    """Thinks of one state at a time, by a player's solution and searches."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self._silent = player.silent() if player.live else player
        self._loading: threading.Thread | None = None

    def is_ready(self) -> bool:
        """Whether the compiled searches are loaded."""
        return self._loading is not None and not self._loading.is_alive()

    def wait(self, budget: Budget) -> bool:
        """Load the compiled searches and wait for them, within the budget. Return whether they are loaded."""
        if self._loading is None:
            self._loading = threading.Thread(target=self.player.prepare, daemon=True)
            self._loading.start()
        while self._loading.is_alive() and not budget.is_used_up():
            self._loading.join(PAUSE)
        return self.is_ready()

    def think(self, state: int, budget: Budget, depth: int | None = None) -> Iterator[Thought]:
        """Yield thoughts of an unfinished state in which a player decides, the last the best; perhaps none at all.

        With a `depth`, or a budget of nodes, by the search of limited depth alone. Raises GameError for bad rules.
        """
        known = self._known(state)
        if known is not None or not self.player.live:
            yield from () if known is None else (known,)
            return
        alone = depth is not None or budget.nodes_left is not None
        ready = self.wait(budget if alone else budget.part(0.5))
        thought, turn = Thought(MISSING, 0, 0, []), FIRST_TURN
        while True:
            turn_budget = _turn(budget, None if alone or not ready else turn)
            for deeper in self._look(state, thought, turn_budget, depth or MOST_DEPTH):
                thought = deeper
                yield thought
            if thought.answer.exact or alone or budget.is_used_up():
                return
            solved = self._solve(state, thought, _turn(budget, 2 * turn)) if ready else None
            if solved is not None:
                yield solved
                return
            ready, turn = self.is_ready(), 2 * turn

    def _known(self, state: int) -> Thought | None:
        """Return the answer of the solution and of a look of two plies."""
        with contextlib.suppress(MissingState):
            move = self._silent.choose(state)
            if (move.best and move.value is not None) or all(
                candidate.is_told for candidate in self._silent.analyse(state)
            ):
                answer = Answer(move.value, move.exact, move.source, move.estimate)
                line: list[int] = []
                with contextlib.suppress(MissingState):
                    line.extend(action for action, _ in self._silent.line(state, LINE))
                return Thought(answer, 0, 0, line or [move.action])
        return None

    def _look(self, state: int, thought: Thought, budget: Budget, depth: int) -> Iterator[Thought]:
        """Deepen from an earlier thought for a turn."""
        with contextlib.suppress(BudgetExceeded, MethodError):
            while thought.depth < depth and not thought.answer.exact:
                first_action = thought.line[0] if thought.line else None
                result = self.player.foresight.look(state, thought.depth + 1, first_action, budget)
                assert result.action is not None
                value = result.value if result.exact else None
                answer = Answer(value, result.exact, "search", None if result.exact else float(result.value.score))
                thought = Thought(answer, thought.depth + 1, thought.nodes + result.counts.nodes, [result.action])
                thought.line.extend(self._expected(state, thought, budget))
                yield thought

    def _expected(self, state: int, thought: Thought, budget: Budget) -> Iterator[int]:
        """Yield the expected line after an action, by searches one ply shorter each, which the table makes fast."""
        rules, nodes, action = self.player.rules, max(LINE_NODES, thought.nodes // 20), thought.line[0]
        with contextlib.suppress(BudgetExceeded, MethodError):
            for left in range(thought.depth - 1, max(0, thought.depth - LINE), -1):
                state = rules.result(state, action)
                if not self.is_ready() or rules.is_terminal(state):
                    return
                reply_budget = Budget(nodes, budget.seconds_left, budget.is_stopped)
                result = self.player.foresight.look(state, left, None, reply_budget)
                assert result.action is not None
                action = result.action
                yield action

    def _solve(self, state: int, thought: Thought, budget: Budget) -> Thought | None:
        """Return a move that is known to be best, if a turn of exact search finds one."""
        answer = self.player.solve([state], budget)[state]
        if answer.value is None:
            return None
        with contextlib.suppress(MissingState):
            move = self.player.choose(state, Budget(seconds=budget.seconds_left, stop=budget.is_stopped))
            if move.best:
                return thought._replace(answer=answer, line=[move.action])
        return None


def _turn(budget: Budget, seconds: float | None) -> Budget:
    """A part of a budget of so many seconds, if it lasts so long; all of it without."""
    turn_budget = budget.part(1)
    if seconds is not None and (turn_budget.seconds_left is None or turn_budget.seconds_left > seconds):
        turn_budget = Budget(turn_budget.nodes_left, seconds, budget.is_stopped)
    return turn_budget
