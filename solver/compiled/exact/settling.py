"""Full-width search to a depth of one or two plies, compiled: `solver.search.derive` for many states at once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from solver.base import value
from solver.base.value import WIN
from solver.compiled.binding import bind, compiling, kernel, respelled
from solver.compiled.inlining import PART
from solver.compiled.lookahead import depth
from solver.rules.game import Rules

lift = register_jitable(**PART)(value.lift)
terminal_merit = register_jitable(**PART)(value.terminal_merit)
game: Any = None  # what follows are constants of the bound copies
SCORES = ALTERNATES = AGAIN = REWARD = False


@kernel
def unsettled(states: NDArray[Any], merits: Any, plies: int, most: Any, kept: NDArray[Any]) -> Any:
    """Mark in kept (n,) bool the unfinished states (n,) that a search of 1 or 2 plies does not settle.

    Returns the first state whose merit, as settled, is not merits (n,) int64; else -1.
    """
    for i in range(len(states)):
        low, high = _range_of_two(states[i], most) if plies == 2 else _range_of_one(states[i], most)
        kept[i] = low != high
        if low == high and low != merits[i]:
            return states[i]
    return np.int64(-1)


@kernel
def _anything(state: Any, most: Any) -> tuple[Any, Any]:
    return -most, most


@kernel
def _range_of_one(state: Any, most: int) -> tuple[Any, Any]:
    low = high = np.int64(-(1 << 62))
    for action in game.actions(state):
        child = game.result(state, action)
        if game.is_terminal(child):
            worst = best = terminal_merit(game.utility(child), game.plies_left(child), SCORES, WIN)
        else:
            worst, best = _anything(child, most)
        worst, best = _lifted(worst, best, state, action, child)
        low, high = max(low, worst), max(high, best)
        if low == most:
            break
    return low, high


_range_of_two = respelled(_range_of_one, "_range_of_two", {"_anything": "_range_of_one"})


@kernel
def _lifted(worst: Any, best: Any, state: Any, action: Any, child: Any) -> tuple[Any, Any]:
    """A child's range as its parent sees it."""
    if AGAIN:
        same = game.again(state, action) != 0
    else:
        same = not ALTERNATES and game.to_move(child) == game.to_move(state)
    gain = game.reward(state, action) if REWARD else 0
    worst, best = lift(worst, same, SCORES) + gain, lift(best, same, SCORES) + gain
    return min(worst, best), max(worst, best)


class Settling:
    """The kernels for one game. Raises UncompiledRules, at the latest when they are first called."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.kernels: Any = bind(sys.modules[__name__], rules.game, rules.symmetry, rules.scores)

    def unsettled(self, plies: int, merits: list[int]) -> Callable[[Any], tuple[Any, int]]:
        """Return a function that drops from a chunk the states that a short search settles.

        It takes a chunk, that is, arrays of states and of indices into `merits`. It returns the states left, and the
        first state that the search gives another merit than the book, or -1.
        """
        worth: NDArray[np.int64] = np.array(merits, np.int64)
        largest = self.rules.kind.most

        def left_of(chunk: Any) -> tuple[Any, int]:
            states, indices = chunk
            is_kept = np.empty(len(states), np.bool_)
            with compiling(self.rules.game):
                wrong = self.kernels.unsettled(states, worth[indices], plies, largest, is_kept)
            return (states[is_kept], indices[is_kept]), int(wrong)

        return left_of

    def by_tier(self, states: Any) -> list[int]:
        """The places of states, those of lower tiers first, else in their order."""
        numbers = np.asarray(states, np.int64)
        tiers = np.empty(len(numbers), np.int64)
        with compiling(self.rules.game):
            bind(depth, self.rules.game).list_tiers(numbers, tiers)
        places: list[int] = np.argsort(tiers, kind="stable").tolist()
        return places
