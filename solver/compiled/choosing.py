"""Every move of many states with its action, compiled: the content of a training set of a book."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import UncompiledRules
from solver.compiled.binding import bind, compiling, kernel
from solver.compiled.edges import MOST_ACTIONS, MOST_MARGIN, MOST_PLIES_LEFT
from solver.rules.game import Rules

game: Any = None  # constants of the bound copies
SCORES = ALTERNATES = AGAIN = REWARD = FOLDS = False

MOVES_PER_CALL = 1 << 16  # moves listed at a time
UNFIT = -1  # instead of a number of moves
NO_DISTANCE = -1


class Choices(NamedTuple):
    """The moves of some states, state by state in the order of their actions; arrays (moves,).

    parents: the place of the move's state, int32.
    actions, children: the action and the folded state that it leads to, int64.
    same: whether the same player moves again, bool.
    ended: whether the child is finished, bool.
    scores, distances: the value of a finished child for its side to move, int64; a distance of -1 means nothing.
    rewards: the score of the move itself, int64.
    """

    parents: NDArray[np.int32]
    actions: NDArray[np.int64]
    children: NDArray[np.int64]
    same: NDArray[np.bool_]
    ended: NDArray[np.bool_]
    scores: NDArray[np.int64]
    distances: NDArray[np.int64]
    rewards: NDArray[np.int64]


@kernel
def choices(states: NDArray[Any], begin: int, end: int, has_chance: bool, listed: Any) -> tuple[Any, Any]:
    """List the moves of states[begin:end], of as many as fit: their number, and the first state left over.

    The number is UNFIT at a state that is finished, not canonical, without moves in a game without chance, or has an
    action or a value beyond the limits: plain Python has to name its fault.
    """
    parents, actions, children, same, ended, scores, distances, rewards = listed
    count = 0
    for i in range(begin, end):
        state = states[i]
        if game.is_terminal(state) or (FOLDS and game.canonical(state) != state):
            return UNFIT, i
        mark = count
        for action in game.actions(state):
            if count == len(actions):
                return mark, i
            child = game.result(state, action)
            again = False
            if AGAIN:
                again = game.again(state, action) != 0
            elif not ALTERNATES:
                again = game.to_move(child) == game.to_move(state)
            reward = game.reward(state, action) if REWARD else 0
            utility = left = 0
            finished = game.is_terminal(child)
            if finished:
                utility, left = game.utility(child), game.plies_left(child)
            largest = MOST_MARGIN if SCORES else 1
            if action < 0 or not (-largest <= utility <= largest and -MOST_MARGIN <= reward <= MOST_MARGIN):
                return UNFIT, i
            if not 0 <= left < MOST_PLIES_LEFT:
                return UNFIT, i
            parents[count], actions[count], rewards[count] = i, action, reward
            children[count] = game.canonical(child) if FOLDS else child
            same[count], ended[count], scores[count] = again, finished, utility
            # draws and margins have no distance
            distances[count] = NO_DISTANCE if SCORES or utility == 0 else left
            count += 1
        if count == mark and not has_chance:
            return UNFIT, i
    return count, end


@kernel
def list_movers(states: NDArray[Any], movers: NDArray[Any]) -> None:
    """Write who moves in each of the states, 0 where the rules do not say."""
    for i in range(len(states)):
        movers[i] = 0 if ALTERNATES or AGAIN else game.to_move(states[i])


class CompiledChoices:
    """The kernels of this file for one game, whose states take one word. Raises GameError for rules in plain Python."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._kernels = bind(sys.modules[__name__], rules.game, rules.symmetry, tiers=False)

    def of(self, states: NDArray[np.int64]) -> Choices:
        """Return all moves of unfinished states, none where chance decides.

        Raises UncompiledRules where plain Python has to answer.
        """
        pieces: list[Choices] = [_room(0)]
        begin, room, columns = 0, MOVES_PER_CALL, list[Any]()
        has_chance = self.rules.chance is not None
        with compiling(self.rules.game):
            while begin < len(states):
                listed = _room(room)
                count, end = self._kernels.choices(states, begin, len(states), has_chance, listed)
                if count == UNFIT or (end == begin and room > MOST_ACTIONS):
                    raise UncompiledRules(f"{self.rules.name}: state {states[end]} is left to plain Python")
                if end == begin:
                    room *= 2
                columns = [column[:count] for column in listed]
                pieces.append(Choices(*columns))
                begin = end
        columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
        return Choices(*columns)

    def movers(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return who moves in each state, 0 or 1. Raises UncompiledRules."""
        movers = np.empty(len(states), np.int64)
        with compiling(self.rules.game):
            self._kernels.list_movers(states, movers)
        return movers


def _room(moves: int) -> Choices:
    kinds: Any = (np.int32, np.int64, np.int64, np.bool_, np.bool_, np.int64, np.int64, np.int64)
    columns: Any = [np.empty(moves, kind) for kind in kinds]
    return Choices(*columns)
