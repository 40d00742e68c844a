"""Searches that tell whether a state is won, drawn or lost, and settle the play of one side for its proof book.

Most values come out of the table of the search that settled the start: see `racing`.
"""

from __future__ import annotations

import abc
import dis
import functools
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import BudgetExceeded, ResourceError, Unproved
from solver.base.methods import Method
from solver.base.options import Options
from solver.base.value import Value
from solver.rules.game import Rules, game_text

if TYPE_CHECKING:
    from solver.compiled.exact.prover import Prover
    from solver.compiled.exact.searcher import Searcher

ALPHABETA_TURN = 1 << 20  # nodes of a turn in a race: a fraction of a second
PROOF_NUMBER_TURN = 1 << 18  # a second or two
SHORT = 1 << 16  # nodes after which a position is handed to the helper
Child = tuple[int, int]  # 1 if the same side moves there, else -1; and the canonical state
Arrays = list[NDArray[Any]]


@dataclass(frozen=True)
class Limits:
    """What a proof may take.

    Attributes:
        states: At most so many states whose values are kept. None for no limit.
        deadline: By the monotonic clock. None for no limit.
    """

    states: int | None
    deadline: float | None

    @property
    def are_reached(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def seconds(self) -> float | None:
        """Seconds left."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


def is_decisive(game: Any) -> bool:
    """Whether a game has no draws, as its `utility` shows that returns the same number everywhere."""
    function = type(game).utility
    plain = {"RESUME", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "UNARY_NEGATIVE", "LOAD_SMALL_INT", "NOT_TAKEN"}
    return {step.opname for step in dis.get_instructions(function)} <= plain and function(game, 0) in (-1, 1)


class Search(abc.ABC):
    """The values of states, -1, 0 or 1, found by search when they are first asked for.

    Attributes:
        scores: The values found so far, of canonical states.
        turns: How many turns of a race it has had without finding the score of the start.
        has_begun: Whether it set out to search for the score of the start.
    """

    method: ClassVar[Method]
    has_begun = False

    def __init__(self, rules: Rules, table: int, limits: Limits, options: Options) -> None:
        self.rules, self.table, self.limits, self.options = rules, table, limits, options
        self.scores: dict[int, int] = {}
        self.turns = 0
        self._decisive = is_decisive(rules.game)

    @property
    @abc.abstractmethod
    def nodes(self) -> int:
        """The nodes that were searched so far, in a search that has begun."""

    @property
    @abc.abstractmethod
    def progress(self) -> str:
        """How far the search of the start is."""

    def begin(self, state: int) -> None:
        """Set out to search for the score of the start, unless that was done before. Compiles and takes memory."""
        if not self.has_begun:
            self._begin(state)
            self.has_begun = True

    @abc.abstractmethod
    def _begin(self, state: int) -> None: ...

    def take_turn(self, state: int) -> None:
        """Search on for the score of the start: in the end `scores` has it, or `turns` one more."""
        score = self._advance()
        if score is None:
            self.turns += 1
        else:
            self.scores[state] = score

    @abc.abstractmethod
    def _advance(self) -> int | None:
        """Search on for the nodes of a turn; the score of the start if that is known by then."""

    @property
    @abc.abstractmethod
    def arrays(self) -> Arrays:
        """All that the search of the start goes on from; nothing before `begin`. To be set to the same later."""

    @arrays.setter
    @abc.abstractmethod
    def arrays(self, arrays: Arrays) -> None: ...

    def find(self, state: int) -> Value | None:
        """The value of a canonical, unfinished state, if it is known without a search."""
        score = self.scores.get(state)
        score = self._told(state) if score is None else score
        return None if score is None else Value(score)

    def settle(self, state: int, is_own: bool) -> None:
        """Find the values that the walk wants: of the side's states a move that keeps the value, else all replies'."""
        most = self.limits.states
        if most is not None and len(self.scores) > most:
            raise ResourceError(f"more than {most:,} states are needed, which memory does not hold: more --memory")
        if not is_own:
            for _, key in self._children(state):
                self._score(key)
            return
        score = self._score(state)
        if not self._ends(state, score):
            self._settle_moves(state, score)

    def _told(self, state: int) -> int | None:
        """The score of a state, if it is known from searches of others."""
        return None

    @abc.abstractmethod
    def _settle_moves(self, state: int, score: int) -> None:
        """Find moves that keep a score which no move exceeds: one, or all."""

    @abc.abstractmethod
    def _answer(self, state: int, bound: int, searched: bool) -> bool | None:
        """`_is_worth`, of a bound that is 0 or 1."""

    @abc.abstractmethod
    def is_worth(self, state: int, bound: int) -> bool:
        """Whether a state is worth at least a bound, 0 or 1, by search. Raises Unproved when the time is up."""

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

    def _score(self, state: int) -> int:
        if state not in self.scores:
            if self._decisive:
                self.scores[state] = 1 if self._is_worth(state, 1, True) else -1
            elif self._is_worth(state, 1, True):
                self.scores[state] = 1
            else:
                self.scores[state] = 0 if self._is_worth(state, 0, True) else -1
        return self.scores[state]

    def _is_worth(self, state: int, bound: int, searched: bool) -> bool | None:
        """Whether a state is worth at least `bound`; None if only a search would tell, and it is not `searched`."""
        return bound < 0 or (bound <= 1 and self._answer(state, bound, searched))

    def _unproved(self) -> Unproved:
        return Unproved(f"{game_text(self.rules.game)} is not proved after {self.nodes:,} nodes")


class AlphaBeta(Search):
    """By alpha-beta, which finds the score itself."""

    method = Method.ALPHABETA

    @functools.cached_property
    def _searcher(self) -> Searcher:
        from solver.compiled.exact.searcher import Searcher

        searcher = Searcher(self.rules, symmetry=self.rules.symmetry, outcomes=True, table=self.table)
        searcher.warm()
        return searcher

    @property
    def nodes(self) -> int:
        return self._searcher.all_nodes

    @property
    def progress(self) -> str:
        return f"{self.nodes:,} nodes of alpha-beta"

    def _begin(self, state: int) -> None:
        self._searcher.begin(state, -1, 1)

    def _advance(self) -> int | None:
        searcher, stop = self._searcher, self._searcher.all_nodes + ALPHABETA_TURN
        while searcher.all_nodes < stop:
            if searcher.advance(stop - searcher.all_nodes):
                return searcher.end()
        return None

    @property
    def arrays(self) -> Arrays:
        return [np.array([self.turns]), *self._searcher.arrays] if self.has_begun else []

    @arrays.setter
    def arrays(self, arrays: Arrays) -> None:
        turns, *self._searcher.arrays = arrays
        self.turns = int(turns[0])

    def _settle_moves(self, state: int, score: int) -> None:
        """The first that a search finds."""
        any(sign * self._score(key) == score for sign, key in self._children(state, in_order=True))

    def _answer(self, state: int, bound: int, searched: bool) -> bool | None:
        return self.is_worth(state, bound) if searched else None

    def is_worth(self, state: int, bound: int) -> bool:
        try:
            return bool(self._searcher.value(state, seconds=self.limits.seconds).score >= bound)
        except BudgetExceeded:
            raise self._unproved() from None


class ProofNumbers(Search):
    """By proof numbers: its table tells much that nobody asked for.

    Args:
        helper: It answers what takes long, and found the score of the start. With one, `bounds` is not asked: that
            tells who has won, but not which moves end the game soon, so the play to follow would have no end.
    """

    method = Method.PROOF_NUMBER

    def __init__(
        self, rules: Rules, table: int, limits: Limits, options: Options, helper: Search | None = None
    ) -> None:
        super().__init__(rules, table, limits, options)
        self.helper = helper
        if helper is not None:
            self.scores = dict(helper.scores)

    @functools.cached_property
    def _prover(self) -> Prover:
        from solver.compiled.exact.prover import Prover

        prover = Prover(self.rules, self.table, bounds=self.helper is None)
        prover.warm()
        return prover

    @property
    def nodes(self) -> int:
        return self._prover.nodes

    @property
    def progress(self) -> str:
        proof, refutation = self._prover.root_numbers
        question = ("at least a draw", "a win")[self._question]
        numbers = f"{question}: proof number {proof:,}, disproof number {refutation:,}"
        return f"{self.nodes:,} nodes of proof-number search ({numbers})"

    def _begin(self, state: int) -> None:
        self._start, self._question = state, 1
        self._prover.begin(state, self._question)

    def _advance(self) -> int | None:
        is_worth = self._prover.advance(PROOF_NUMBER_TURN)
        if is_worth is None:
            return None
        if is_worth:
            return self._question
        if self._decisive or self._question == 0:
            return -1
        self._question = 0
        self._prover.begin(self._start, self._question)
        return None

    @property
    def arrays(self) -> Arrays:
        return [np.array([self.turns, self._question]), *self._prover.arrays] if self.has_begun else []

    @arrays.setter
    def arrays(self, arrays: Arrays) -> None:
        progress, *self._prover.arrays = arrays
        self.turns, self._question = (int(number) for number in progress)

    def _settle_moves(self, state: int, score: int) -> None:
        """All that the table knows; or else the first that a search finds.

        A short search of the state itself comes before one of its moves: it finds those that leave little to follow.
        """
        children = list(self._children(state))
        if self.helper is not None and not self._knows_any(children, score):
            self._prover.begin(state, max(0, score))
            self._prover.advance(SHORT)
        if not self._knows_any(children, score):
            children = list(self._children(state, in_order=True))
            any(self._keeps(key, sign, score, searched=True) for sign, key in children)

    def _knows_any(self, children: list[Child], score: int) -> bool:
        """Whether the table knows of a move that keeps a score; notes the values of all that it knows."""
        return any([self._keeps(key, sign, score, searched=False) for sign, key in children])

    def _keeps(self, key: int, sign: int, score: int, searched: bool) -> bool:
        """Whether a move to a state keeps a score that no move exceeds; note its value if it does."""
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

    def _told(self, state: int) -> int | None:
        wins = self._is_worth(state, 1, False)
        if wins:
            return 1
        if self._decisive:
            return None if wins is None else -1
        holds = self._is_worth(state, 0, False)
        return -1 if holds is False else 0 if holds and wins is False else None

    def _answer(self, state: int, bound: int, searched: bool) -> bool | None:
        # Without draws both bounds ask the same
        for asked in (bound, 1 - bound) if self._decisive else (bound,):
            told = self._prover.answer(state, asked)
            if told is not None:
                return told
        return self.is_worth(state, bound) if searched else None

    def is_worth(self, state: int, bound: int) -> bool:
        if self.helper is not None:
            return self.helper.is_worth(state, bound)
        return self._prover.is_worth(state, bound, self._watch)

    def _watch(self, prover: Prover) -> None:
        """Say how far the walk is, and give up when the time is up."""
        self.options.progress("follow", len(self.scores), None, f"{prover.nodes:,} nodes")
        if self.limits.are_reached:
            raise self._unproved()
