"""Moves of many states, with the values that are known of their children: for walks along one side's play.

`Oracle` asks the rules and a function, in plain Python. `Follower` asks two searches. It lists moves by compiled rules,
4,096 states at a time, because domineering 7x7 has millions to follow.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from solver.base.errors import ResourceError, Unproved
from solver.base.progress import Progress
from solver.base.value import Value, lift, merit_of
from solver.rules.game import Rules, game_text
from solver.search.derive import steps_of

if TYPE_CHECKING:
    from solver.compiled.exact.proof import Prover

STATES = 1 << 12  # whose moves are listed at a time
PLY_NODES = 1 << 22  # by proof numbers, for moves that keep the values of a ply, before the winner is asked
LITTLE, SOME, MANY = 1 << 5, 1 << 14, 1 << 20  # nodes of the winner: for a move, and between looks at the clock
SCORES = {score: Value(score) for score in (-1, 0, 1)}
# by what `Prover.answers` tells: 4, and 3 times the answer about a draw, and the one about a win
ANSWERS = (None, None, SCORES[1], SCORES[-1], SCORES[-1], None, None, SCORES[0], SCORES[1])
Child = tuple[int, bool]  # a canonical state, and whether the side that is followed is to move there
Move = tuple[int | None, Child | None, Value | None]
"""A move: its merit for its player, the child, and the child's value for its side to move. A plain tuple is quick.

An unknown merit or value is None. So are the child and its value if the move ends the game.
"""
Steps = Sequence[tuple[Any, Any, bool, int]]  # as `derive.Step`, one for each move


class Oracle:
    """The moves of states, and the values that `known(state)` tells of canonical ones."""

    def __init__(self, rules: Rules, known: Callable[[int], Value | None]) -> None:
        self.rules, self._known = rules, known

    def find(self, states: Collection[int]) -> dict[int, Value | None]:
        """The values of canonical, unfinished states, None where nobody knows."""
        return {state: self._known(state) for state in states}

    def settle(self, children: Sequence[Child]) -> None:
        """Search for the values that are needed of a ply, unless they are known already."""

    def moves(self, children: Sequence[Child]) -> Iterator[list[Move]]:
        """Yield the moves of each of some states."""
        kept, scores = self.rules.kind.kept, self.rules.scores
        for begin in range(0, len(children), STATES):
            some = children[begin : begin + STATES]
            listed = self._listed([state for state, _ in some])
            values = self.find({key for steps in listed for key, end, *_ in steps if end is None})
            merits = {state: merit_of(kept(value)) for state, value in values.items() if value is not None}
            for (_, is_own), steps in zip(some, listed, strict=True):
                moves: list[Move] = []
                for key, end, same, gain in steps:
                    child, merit = ((key, is_own == same), merits.get(key)) if end is None else (None, end)
                    moves.append((None if merit is None else lift(merit, same, scores) + gain, child, values.get(key)))
                yield moves

    def replies(self, states: Sequence[int]) -> Sequence[int]:
        """How many moves of each of some states do not end the game."""
        return [sum(step.end is None for step in steps_of(self.rules, state)) for state in states]

    def _listed(self, states: Sequence[int]) -> Sequence[Steps]:
        """The moves of each of some states, by the rules alone."""
        return [steps_of(self.rules, state) for state in states]


@dataclass
class Follower(Oracle):
    """Values of states, -1, 0 or 1, by two searches.

    Attributes:
        rules: Rules without distances.
        prover: Proof-number search. Best one that does not ask `bounds`: these tell who has won, but not which move
            ends the game soon, and all the moves that do not would be followed.
        ask: `is_worth` of the race's winner, for states that take the prover long.
        scores: Values known so far, of canonical states.
        progress: Called as the walk goes on.
        most: How many values memory holds. None for no limit.
        deadline: When to give up, by the monotonic clock.
    """

    rules: Rules
    prover: Prover
    ask: Callable[[int, int, int], bool | None]
    scores: dict[int, int]
    progress: Progress
    most: int | None = None
    deadline: float = math.inf

    def __post_init__(self) -> None:
        from solver.compiled.edges import CompiledMoves

        self._compiled = CompiledMoves(self.rules, tiers=False)

    def find(self, states: Collection[int]) -> dict[int, Value | None]:
        scores = self.scores
        # The prover knows some from searches of others
        missing = [state for state in states if state not in scores]
        draws, wins = self.prover.answers(missing).T
        told = dict(zip(missing, map(ANSWERS.__getitem__, (4 + 3 * draws + wins).tolist()), strict=True))
        return {state: SCORES[scores[state]] if state in scores else told[state] for state in states}

    def settle(self, children: Sequence[Child]) -> None:
        """Find the values that the walk wants of a ply: of the side's states a move that keeps the value, else all.

        The fewer states the ply has, the longer each is searched.

        Raises:
            Unproved: The time is up.
            ResourceError: Memory does not hold more values.
        """
        for child, moves in zip(children, self.moves(children), strict=True):
            self.progress("follow", len(self.scores), None, f"{self.prover.all_nodes:,} nodes of proof-number search")
            if time.monotonic() > self.deadline:
                raise self._out_of_time()
            if self.most is not None and len(self.scores) > self.most:
                raise ResourceError(f"more than {self.most:,} states are needed, beyond memory: give more --memory")
            if not self._noted(moves, self._score(child[0]), child[1]):
                self._search(child[0], moves, PLY_NODES // len(children))

    def _noted(self, moves: list[Move], score: int, is_own: bool) -> bool:
        """Whether a move of the side is known to keep a score; notes the values of all that do, of the other's all."""
        keeping = [(child, value) for merit, child, value in moves if not is_own or merit == score]
        for child, value in keeping:
            if child is not None and value is not None:
                self.scores[child[0]] = int(value.score)
            elif child is not None:
                # All moves of a lost state lose
                self.scores[child[0]] = self._score(child[0]) if score > -1 else 1 if child[1] else -1
        return bool(keeping)

    def _search(self, state: int, moves: list[Move], nodes: int) -> None:
        """Search for a move that keeps the value of one of the side's states, by so many nodes of proof numbers."""
        score = self.scores[state]
        if nodes > LITTLE:
            self.prover.begin(state, max(0, score))
            self.prover.advance(nodes)
            moves = next(self.moves([(state, True)]))
        children = [moves[place][1] for place in self._compiled.in_order(state, len(moves))]
        # In wide plies one move will do
        keeping = (self._keeps(child, score, LITTLE) for child in children)
        if not self._noted(moves, score, True) and not any(list(keeping) if nodes > LITTLE else keeping):
            # The first move may lose, and that may take long to prove
            any(self._keeps(child, score, limit) for limit in (SOME, None) for child in children)

    def _keeps(self, child: Child | None, score: int, nodes: int | None) -> bool:
        """Whether a move of the side to a child keeps a score that no move exceeds; notes its value if it does.

        `nodes`: how far the winner may search for that. None for no limit.
        """
        if child is None:
            return False
        key, same = child
        worth = score if same else -score
        if key not in self.scores and self._is_worth(key, score if same else 1 - score, nodes) is same:
            self.scores[key] = worth
        return self.scores.get(key) == worth

    def _score(self, state: int) -> int:
        if state not in self.scores:
            wins = self._is_worth(state, 1, None)
            self.scores[state] = 1 if wins else 0 if self._is_worth(state, 0, None) else -1
        return self.scores[state]

    def _is_worth(self, state: int, bound: int, nodes: int | None) -> bool | None:
        """Whether a state is worth at least `bound`; None if so many nodes of the winner do not tell.

        `nodes`: LITTLE or SOME. None for no limit.
        """
        if not 0 <= bound <= 1:
            return bound < 0
        limit = nodes or SOME
        while (told := self.ask(state, bound, limit)) is None and nodes is None:
            limit = min(2 * limit, MANY)
            if time.monotonic() > self.deadline:
                raise self._out_of_time()
        return told

    def _out_of_time(self) -> Unproved:
        name = game_text(self.rules.game)
        return Unproved(f"{name}: who wins is proved, but not all replies were followed: give more --time")

    def replies(self, states: Sequence[int]) -> Sequence[int]:
        return self._compiled.replies(states)

    def _listed(self, states: Sequence[int]) -> Sequence[Steps]:
        return self._compiled.steps(states)
