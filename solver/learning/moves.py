"""The moves of many states at once, and the value of each one ply ahead: where learning and matches look at games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import UncompiledRules
from solver.base.value import WIN
from solver.compiled.binding import bind, compiling
from solver.compiled.edges import MOST_ACTIONS, NOT_TERMINAL, CompiledMoves, new_edges
from solver.compiled.lookahead import depth as kernels
from solver.compiled.lookahead.evaluation import Evaluation, estimates
from solver.compiled.states import more_of, new_states, packed, unpacked
from solver.play.lookahead import features_of
from solver.rules.game import Rules

MOVES_PER_CALL = 1 << 16  # moves listed at a time
COMPARED = 64  # states whose compiled features are held against the plain ones
States = NDArray[Any]  # int64; of a game whose states are wide Python's ints
Worths = NDArray[np.float64]
Guess = Callable[[States], Worths]
"""What unfinished states (n,) are thought to be worth for the side to move: from -1 to 1, in a score game margins."""


class Children(NamedTuple):
    """The moves of some states, state by state, each state's in the order of its actions; arrays (moves,).

    `parents` are places among the states; `states` the child of each move; `ended` whether that is finished, and
    `worths` then the value of the move, 1 for a win at once, in a score game the margin. `same` says whether the
    player moves again, `rewards` the score of the move.
    """

    parents: NDArray[np.int64]
    states: States
    ended: NDArray[np.bool_]
    worths: Worths
    same: NDArray[np.bool_]
    rewards: Worths


class Board:
    """The compiled rules of a game as learning needs them; `symmetry` folds the children that `children` lists."""

    def __init__(self, rules: Rules, symmetry: bool = False) -> None:
        self.rules = rules
        self.unit: float = 1.0 if rules.scores else float(WIN)
        self._moves = CompiledMoves(Rules(rules.game, symmetry), tiers=False)
        self._own = bind(kernels, rules.game)
        self._more = more_of(rules.bits)
        # The dtype of arrays of states
        self.dtype: Any = np.dtype(object if self._more else np.int64)
        self.features: int = len(features_of(rules, rules.game.initial()))

    def _packed(self, states: States) -> NDArray[np.int64]:
        """States as compiled code takes them."""
        return packed(states.tolist(), self._more) if self._more else states

    def tabulate(self, states: States) -> NDArray[np.int16]:
        """The features of unfinished states, (n, features). Raises UncompiledRules where Python yields others."""
        table = np.zeros((len(states), self.features), np.int16)
        with compiling(self.rules.game):
            whole = self._own.tabulate(self._packed(states), table)
        if not whole:
            raise UncompiledRules(f"{self.rules.name}: features are not as many for every state: run `solver check`")
        return table

    def compare(self, states: States) -> None:
        """Raise UncompiledRules if compiled features of the first few of the states are others than plain ones."""
        rules, some = Rules(self.rules.game), states[:COMPARED]
        for state, row in zip(some.tolist(), self.tabulate(some).tolist(), strict=True):
            if features_of(rules, state) != row:
                raise UncompiledRules(
                    f"{self.rules.name}: features({state}) differ where compiled: see docs/reference/rules.md"
                )

    def tiers(self, states: States) -> States:
        """The tier of each state."""
        tiers = np.zeros(len(states), np.int64)
        with compiling(self.rules.game):
            self._own.list_tiers(self._packed(states), tiers)
        return tiers

    def guesses(self, states: States) -> Worths:
        """The rules' own `evaluate` of each, 0 without it."""
        found = np.zeros(len(states))
        with compiling(self.rules.game):
            self._own.guess(self._packed(states), found)
        return found

    def children(self, states: States) -> Children:
        """The moves of unfinished states."""
        parts, begin, room, words = [], 0, MOVES_PER_CALL, self._packed(states)
        with compiling(self.rules.game):
            while begin < len(states):
                listed = new_edges(room)
                listed.rewards[:] = 0
                if self._more:
                    listed = listed._replace(keys=new_states(room, self._more))
                count, end = self._moves.kernels.edges(words, begin, len(states), WIN, 0, listed)
                if count < 0 or (end == begin and room > MOST_ACTIONS):
                    raise UncompiledRules(f"{self.rules.name}: state {states[end]} has no moves, or too many")
                room = 2 * room if end == begin else room
                if count:
                    parts.append(self._part(begin, count, listed))
                begin = end
        return Children(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _part(self, begin: int, count: int, listed: object) -> Children:
        keys, _, owners, merits, rewards, _ = (column[:count] for column in listed)  # type: ignore[attr-defined]
        keys = np.array(unpacked(keys), object) if self._more else keys
        ended = merits != NOT_TERMINAL
        worths = np.where(ended, merits / self.unit, 0.0).astype(np.float64)
        return Children(begin + (owners >> 1), keys, ended, worths, owners & 1 == 1, rewards.astype(np.float64))

    def worths(self, children: Children, guess: Guess) -> Worths:
        """The value of each move to its player: its end, or the `guess` at its child."""
        worths = children.worths.copy()
        left = ~children.ended
        guessed = guess(children.states[left])
        worths[left] = np.where(children.same[left], guessed, -guessed) + children.rewards[left]
        return worths


def first_moves(parents: NDArray[np.int64], states: int) -> NDArray[np.int64]:
    """Where each state's moves begin, and the end: (states + 1,)."""
    return np.searchsorted(parents, np.arange(states + 1))


def best_moves(parents: NDArray[np.int64], worths: Worths, states: int) -> NDArray[np.int64]:
    """The place of each state's best move, the first of equals: (states,)."""
    begins = first_moves(parents, states)[:-1]
    best = np.maximum.reduceat(worths, begins)
    places = np.where(worths == best[parents], np.arange(len(worths)), len(worths))
    return np.minimum.reduceat(places, begins)


def guess_of(board: Board, evaluation: Evaluation) -> Guess:
    """The guess that a learned evaluation makes."""

    def guess(states: States) -> Worths:
        return estimates(evaluation, board.tabulate(states)).astype(np.float32).astype(np.float64) * evaluation.scale

    return guess
