"""The values that the play of a proof book comes to, found when the walk over that play asks for them.

The race said who wins from the start (`racing`). What is left is to find, in each position where the book's side is to
move, moves that keep its value and leave little to follow. Proof-number search finds those: it proves what takes the
fewest positions, as far as it can tell. So a short one comes first, and the winner of the race answers the rest.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from solver.base.errors import BudgetExceeded, ResourceError, Unproved
from solver.base.progress import Progress
from solver.base.value import Value
from solver.rules.game import Rules, game_text

if TYPE_CHECKING:
    from solver.compiled.exact.prover import Prover

SHORT = 1 << 16  # nodes of a search by proof numbers, before the other is asked
Child = tuple[int, int]  # 1 if the same side moves there, else -1; and the canonical state


class Oracle(Protocol):
    """A search that answers every question, however long it takes."""

    def is_worth(self, state: int, bound: int, seconds: float | None) -> bool:
        """Whether a state is worth at least a bound, 0 or 1. Raises BudgetExceeded after so many seconds."""


class Follower:
    """Values of states, -1, 0 or 1. `find` and `settle` are what `strategy.needed` asks for.

    Args:
        prover: Proof-number search. Best one that does not ask `bounds`: these tell who has won, but not which move
            ends the game soon, and all the moves that do not would be followed.
        oracle: What answers where the prover takes long.
        scores: Values known beforehand, of canonical states.
        most: How many values memory holds. None for no limit.
        deadline: When to give up, by the monotonic clock.
    """

    def __init__(
        self,
        rules: Rules,
        prover: Prover,
        oracle: Oracle,
        scores: dict[int, int],
        progress: Progress,
        most: int | None = None,
        deadline: float = math.inf,
    ) -> None:
        self.rules, self.scores = rules, scores
        self._prover, self._oracle, self._progress = prover, oracle, progress
        self._most, self._deadline = most, deadline

    def find(self, state: int) -> Value | None:
        """The value of a canonical, unfinished state, if it is known without a search."""
        score = self.scores.get(state)
        score = self._known(state) if score is None else score
        return None if score is None else Value(score)

    def settle(self, state: int, is_own: bool) -> None:
        """Find the values that the walk wants: of the side's states a move that keeps the value, else all replies'.

        Raises:
            Unproved: The time is up.
            ResourceError: Memory does not hold more values.
        """
        if time.monotonic() > self._deadline:
            raise self._out_of_time()
        if self._most is not None and len(self.scores) > self._most:
            raise ResourceError(
                f"more than {self._most:,} states are needed, which memory does not hold: more --memory"
            )
        if not is_own:
            for _, key in self._children(state):
                self._score(key)
            return
        score = self._score(state)
        if not self._ends(state, score):
            self._settle_moves(state, score)

    def _settle_moves(self, state: int, score: int) -> None:
        """Find moves that keep a score which no move exceeds: all that the prover knows, or else one."""
        children = list(self._children(state))
        if not self._knows_any(children, score):
            self._prover.begin(state, max(0, score))
            self._prover.advance(SHORT)
            self._progress("follow", len(self.scores), None, f"{self._prover.nodes:,} nodes of proof-number search")
        if not self._knows_any(children, score):
            in_order = self._children(state, in_order=True)
            any(self._keeps(key, sign, score, searched=True) for sign, key in in_order)

    def _knows_any(self, children: list[Child], score: int) -> bool:
        """Whether a move is known to keep a score; notes the values of all that are."""
        return any([self._keeps(key, sign, score, searched=False) for sign, key in children])

    def _keeps(self, key: int, sign: int, score: int, searched: bool) -> bool:
        """Whether a move to a state keeps a score that no move exceeds; notes its value if it does."""
        if key not in self.scores:
            if sign > 0:
                worth = self._is_worth(key, score, searched)
            else:
                above = self._is_worth(key, 1 - score, searched) if score > -1 else False
                worth = None if above is None else not above
            if not worth:
                return False
            self.scores[key] = sign * score
        return self.scores[key] == sign * score

    def _score(self, state: int) -> int:
        if state not in self.scores:
            if self._is_worth(state, 1, True):
                self.scores[state] = 1
            else:
                self.scores[state] = 0 if self._is_worth(state, 0, True) else -1
        return self.scores[state]

    def _known(self, state: int) -> int | None:
        """The score of a state that the prover knows from searches of others."""
        wins = self._is_worth(state, 1, False)
        if wins:
            return 1
        holds = self._is_worth(state, 0, False)
        return -1 if holds is False else 0 if holds and wins is False else None

    def _is_worth(self, state: int, bound: int, searched: bool) -> bool | None:
        """Whether a state is worth at least `bound`; None if only a search would tell, and it is not `searched`."""
        if not 0 <= bound <= 1:
            return bound < 0
        known = self._prover.answer(state, bound)
        if known is not None or not searched:
            return known
        seconds = max(0.0, self._deadline - time.monotonic())
        try:
            return self._oracle.is_worth(state, bound, None if seconds == math.inf else seconds)
        except BudgetExceeded:
            raise self._out_of_time() from None

    def _out_of_time(self) -> Unproved:
        name = game_text(self.rules.game)
        return Unproved(f"{name}: who wins is proved, but not all replies were followed: give more --time")

    def _children(self, state: int, in_order: bool = False) -> Iterator[Child]:
        """Yield of each unfinished child 1 if the same side moves there, else -1, and its canonical state.

        in_order: The most promising first, by `promise`.
        """
        rules, promise = self.rules, self.rules.promise
        actions: Iterable[int] = rules.actions(state)
        if in_order and promise is not None:
            actions = sorted(actions, key=lambda action: -promise(state, action))
        for action in actions:
            child = rules.result(state, action)
            if not rules.is_terminal(child):
                yield (1 if rules.same_mover(state, action, child) else -1), rules.canonical(child)

    def _ends(self, state: int, score: int) -> bool:
        """Whether a move ends the game and is worth so much for who moves."""
        rules = self.rules
        results = ((action, rules.result(state, action)) for action in rules.actions(state))
        ends = ((action, child) for action, child in results if rules.is_terminal(child))
        return any(rules.lifted(rules.end(child), state, action, child) == score for action, child in ends)
