"""Thinking aloud: what a player makes of a state, better and better until it is told to stop.

What the solution knows comes at once. Else a search of limited depth and an exact one take turns that double, the
first for an answer at any time, the second for the truth: both keep their tables, so that a turn goes on where the last
ended.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from typing import NamedTuple

from solver.base.errors import BudgetExceeded, MethodError, MissingState
from solver.play.analysis import Answer
from solver.play.player import Player
from solver.search import Budget, Result

MOST_DEPTH = 200
FIRST_TURN = 0.1  # seconds of the search of limited depth; an exact one has twice as many
LINE = 10  # moves of a line that are shown
LINE_NODES = 2_000  # that may be spent on each of them, or a twentieth of those spent so far
PAUSE = 0.02  # seconds between two looks at whether the compiled searches are loaded


class Thought(NamedTuple):
    """An action, what it makes of the state for its side to move, and how it was found.

    `depth` is in plies, 0 where the value is known; `nodes` of the searches so far; `line` begins with the action.
    """

    action: int
    answer: Answer
    depth: int
    nodes: int
    line: list[int]


class Thinker:
    """Thinks of one state at a time, by a player's solution and searches."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self._silent = Player(player.solution, player.game, live=False) if player.live else player
        self._loading: threading.Thread | None = None

    def prepare(self) -> None:
        """Begin to load the compiled searches, unless that is under way."""
        if self._loading is None:
            self._loading = threading.Thread(target=self.player.prepare, daemon=True)
            self._loading.start()

    def is_ready(self) -> bool:
        """Whether they are loaded."""
        return self._loading is not None and not self._loading.is_alive()

    def wait(self, budget: Budget) -> bool:
        """Wait until they are, within the budget; whether that is so."""
        self.prepare()
        assert self._loading is not None
        while self._loading.is_alive() and not budget.is_used_up():
            self._loading.join(PAUSE)
        return self.is_ready()

    def think(self, state: int, budget: Budget, depth: int | None = None) -> Iterator[Thought]:
        """Thoughts of an unfinished state in which a player decides, the last the best; perhaps none at all.

        With a `depth`, or a budget of nodes, by the search of limited depth alone. Raises GameError for bad rules.
        """
        known = self._known(state)
        if known is not None or not self.player.live:
            yield from () if known is None else (known,)
            return
        alone = depth is not None or budget.nodes_left is not None
        ready = self.wait(budget if alone else budget.part(0.5))
        seen, turn = _Seen(), FIRST_TURN
        while True:
            yield from self._look(state, seen, _turn(budget, None if alone or not ready else turn), depth or MOST_DEPTH)
            if seen.exact or alone or budget.is_used_up():
                return
            thought = self._solve(state, seen, _turn(budget, 2 * turn)) if ready else None
            if thought is not None:
                yield thought
                return
            ready, turn = self.is_ready(), 2 * turn

    def _known(self, state: int) -> Thought | None:
        """What the solution, and a look of two plies, know."""
        with contextlib.suppress(MissingState):
            move = self._silent.choose(state)
            if (move.best and move.value is not None) or all(one.is_told for one in self._silent.analyse(state)):
                answer = Answer(move.value, move.exact, move.source, move.estimate)
                return Thought(move.action, answer, 0, 0, self._line(state, move.action))
        return None

    def _line(self, state: int, action: int) -> list[int]:
        """Best play as far as the solution has it."""
        found: list[int] = []
        with contextlib.suppress(MissingState):
            found.extend(action for action, _ in itertools.islice(self._silent.line(state), LINE))
        return found or [action]

    def _look(self, state: int, seen: _Seen, budget: Budget, depth: int) -> Iterator[Thought]:
        """Deepen for a turn."""
        look = self.player.foresight.look
        with contextlib.suppress(BudgetExceeded, MethodError):
            while seen.depth < depth and not seen.exact:
                found = look(state, seen.depth + 1, seen.action, budget)
                assert found.action is not None
                seen.take(found)
                value = found.value if found.exact else None
                answer = Answer(value, found.exact, "search", None if found.exact else float(found.value.score))
                line = [found.action, *self._expected(state, found.action, seen, budget)]
                yield Thought(found.action, answer, seen.depth, seen.nodes, line)

    def _expected(self, state: int, action: int, seen: _Seen, budget: Budget) -> Iterator[int]:
        """What is expected behind an action: a search of a ply less each, which the table makes short."""
        rules, look, nodes = self.player.rules, self.player.foresight.look, max(LINE_NODES, seen.nodes // 20)
        with contextlib.suppress(BudgetExceeded, MethodError):
            for left in range(seen.depth - 1, max(0, seen.depth - LINE), -1):
                state = rules.result(state, action)
                if not self.is_ready() or rules.is_terminal(state):
                    return
                found = look(state, left, None, Budget(nodes, budget.seconds_left, budget.is_stopped))
                assert found.action is not None
                action = found.action
                yield action

    def _solve(self, state: int, seen: _Seen, budget: Budget) -> Thought | None:
        """A move that is known to be best, if a turn of exact search finds one."""
        answer = self.player.solve([state], budget)[state]
        if answer.value is None:
            return None
        with contextlib.suppress(MissingState):
            move = self.player.choose(state, Budget(seconds=budget.seconds_left, stop=budget.is_stopped))
            if move.best:
                return Thought(move.action, answer, seen.depth, seen.nodes, [move.action])
        return None


class _Seen:
    """How far the search of limited depth has come."""

    def __init__(self) -> None:
        self.depth, self.nodes, self.exact = 0, 0, False
        self.action: int | None = None

    def take(self, found: Result) -> None:
        self.depth, self.nodes, self.exact = self.depth + 1, self.nodes + found.counts.nodes, found.exact
        self.action = found.action


def _turn(budget: Budget, seconds: float | None) -> Budget:
    """A part of a budget of so many seconds, if it lasts so long; all of it without."""
    part = budget.part(1)
    if seconds is not None and (part.seconds_left is None or part.seconds_left > seconds):
        part = Budget(part.nodes_left, seconds, budget.is_stopped)
    return part
