"""Searches that go on for some nodes a call, compiled by Numba or in a module of WebAssembly, and stop in between.

Whoever calls them looks at the clock and at signals between two calls.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable

from solver.base.value import Value, merit_of, value_of
from solver.rules.game import Rules
from solver.search import Budget, Counts, Result, heuristic


class SearchStatus(enum.IntEnum):
    """The status at the end of a call. Modules of WebAssembly return the numbers.

    The last two occur within a search alone: moves of a state are left, or one must be searched again.
    """

    PAUSED = 0  # the call has spent its nodes: call again
    DONE = 1
    NO_ROOM = 2  # the arrays of the path have too few rows: call again with more
    OUTSIDE = 3  # a state is worth more than the search can hold
    STUCK = 4  # a state has no moves
    OPENED = 5
    BETTER = 6


class ExactSearch:
    """Exact values of single states, from a search that finds a merit between two bounds.

    A search defines `_merit(state, low, high, budget)`: the merit if it lies within low..high, else a bound of it on
    that side.

    Attributes:
        rules: The rules of the game.
        win: The merit of a win now.
        scores: Whether a merit is a score, without a distance.
    """

    rules: Rules
    win: int
    scores: bool
    _merit: Callable[[int, int, int, Budget], int]

    def value(
        self,
        state: int,
        *,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: threading.Event | None = None,
    ) -> Value:
        """Return the value of a state.

        Raises:
            BudgetExceeded: After that many nodes or seconds, or once `stop` is set. The result is kept.
            UncompiledRules: The search cannot hold the value, or play is too long for it.
        """
        budget = Budget(nodes, seconds, None if stop is None else stop.is_set)
        return value_of(self._merit(state, *self._range(state), budget), self.scores, self.win)

    def reaches(
        self,
        state: int,
        value: Value,
        *,
        strictly: bool = False,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> bool:
        """Tell whether a state is worth at least that much (`strictly`: more), by one question. Raises as `value`."""
        bound: int = merit_of(value, self.win) + strictly
        return self._merit(state, bound - 1, bound, Budget(nodes, seconds)) >= bound

    def _range(self, state: int) -> tuple[int, int]:
        """Merits between which a state's lies."""
        if not (self.rules.scores and self.rules.bounds):
            return -self.win, self.win
        low, high = self.rules.bounds(state)
        # What lies beyond is found out where it is met
        return max(low, -self.win), min(high, self.win)


def ended(rules: Rules, state: int) -> Result:
    """Return the result of a search of limited depth at a finished state."""
    return Result(heuristic.estimated_value(rules.end(state), rules.scores), None, True, Counts(1), {})


def looked(rules: Rules, depth: int, merit: float, action: int, is_cut: bool, nodes: int) -> Result:
    """Return the result of a search of `depth` plies. `is_cut`: it cut a state off."""
    value = heuristic.estimated_value(merit if -1 < merit < 1 or merit % 1 else int(merit), rules.scores)
    return Result(value, action, heuristic.is_exact(value, depth, is_cut), Counts(nodes), {})
