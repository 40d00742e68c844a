"""Moves that get somewhere: without distances best moves may go round, where play may come back to a state.

A side gains more than endless play is worth by moves that raise the tier or end the game, conversions. Of the best
moves that one is played which gets there soonest, whatever is replied: as the book says, if it has the distances, or by
a search of its values, one ply deeper each time, as `verifying.plainly` proves them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from solver.base.value import Value, merit_of
from solver.play.analysis import Move, rank
from solver.rules.game import Rules

MAX_PLIES = 100  # plies
LOOKS = 1 << 16  # moves looked at for one move; then any best one is played
MAX_STATES = 1 << 16  # states


class Leading:
    """Choose the move to play, `lead(state, moves)`, by values of canonical states that have no distances.

    `plies`, if there is one, says how far such a state is from a conversion.
    """

    def __init__(
        self, rules: Rules, find: Callable[[Any], Value | None], plies: Callable[[Any], int | None] | None = None
    ) -> None:
        self.rules, self._find, self._plies = rules, find, plies
        # Plies that it takes at most, and at least, by state
        self._soonest: dict[Any, int] = {}
        self._latest: dict[Any, int] = {}
        self._left = 0

    def __call__(self, state: Any, moves: list[Move]) -> Move:
        best = min(moves, key=rank)
        equal = [move for move in moves if rank(move) == rank(best)]
        if self.conversion(state, best) is not None:
            choose = min if best.value and best.value.score > 0 else max
            return choose(equal, key=lambda move: self.conversion(state, move) or 0)
        if not self.has_goal(state, best) or len(equal) == 1:
            return best
        if len(self._soonest) + len(self._latest) > MAX_STATES:
            self._soonest.clear()
            self._latest.clear()
        self._left = LOOKS
        for plies in range(MAX_PLIES):
            for move in equal:
                if self._gets_there(state, move.child, plies):
                    return move
            if self._left < 0:
                break
        return best

    def has_goal(self, state: Any, move: Move) -> bool:
        """Whether a best move is worth more than endless play: only then there is somewhere to get to."""
        return move.value is not None and move.value.score > self.rules.endless(state)

    def conversion(self, state: Any, move: Move) -> int | None:
        """The plies to a conversion by a move. None where no distances are known, or neither side wins."""
        if self._plies is None or move.value is None or not move.value.score:
            return None
        key = self.rules.canonical(move.child)
        if self.rules.is_terminal(move.child) or self.rules.tier(key) > self.rules.tier(state):
            return 1
        return 1 + (self._plies(key) or 0)

    def _gets_there(self, state: Any, child: Any, plies: int) -> bool:
        """Return whether a move reaches the goal at once, or its child does within so many plies."""
        key = self.rules.canonical(child)
        self._left -= 1
        return self.rules.is_terminal(child) or self.rules.tier(key) > self.rules.tier(state) or self._does(key, plies)

    def _does(self, state: Any, plies: int) -> bool:
        if plies >= self._soonest.get(state, MAX_PLIES):
            return True
        value = self._find(state)
        if value is None or plies <= self._latest.get(state, -1) or self._left < 0:
            return False
        above = value.score - self.rules.endless(state)
        children = self._children(state, value, above > 0)
        any_or_all = any if above > 0 else all
        does = above == 0 or (plies > 0 and any_or_all(self._gets_there(state, child, plies - 1) for child in children))
        if does:
            self._soonest[state] = plies
        elif self._left >= 0:
            self._latest[state] = plies
        return does

    def _children(self, state: Any, value: Value, only_best: bool) -> Sequence[Any]:
        """Return the children of the moves, or of the best moves alone."""
        rules, children = self.rules, []
        for action in rules.actions(state):
            child = rules.result(state, action)
            if only_best:
                known = rules.ended(child) if rules.is_terminal(child) else self._find(rules.canonical(child))
                if known is None or rules.lifted(merit_of(known), state, action, child) != value.score:
                    continue
            children.append(child)
        return children
