"""What a player says: the worth of a state, of its moves, of what chance may do there; and which moves rank first."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from solver.base.value import Value, keeps, merit_of

if TYPE_CHECKING:
    from solver.rules.game import Game, Rules


class _Answer(NamedTuple):
    value: Value | None
    exact: bool
    source: str
    estimate: float | None = None


class Answer(_Answer):
    """What a state is worth for the side to move: `value` if that is known (`exact`), else perhaps an `estimate`.

    An estimate lies between -1 and 1, or within the margins of a score game; it is ±1 where a win or loss is certain
    but perhaps not its distance. Where moves score at once, both are of what is still to come.

    Notebooks show the answer of `Player.value` as a board, since it knows its rules and state.
    """

    rules: Rules | None = None
    state: int | None = None

    def at(self, rules: Rules, state: int) -> Answer:
        """Return this answer as that of a state."""
        answer = Answer(*self)
        answer.rules, answer.state = rules, state
        return answer

    def _repr_html_(self) -> str | None:
        if self.rules is None or self.state is None:
            return None
        from solver.play.showing import html_of_answer

        return html_of_answer(self.rules, self.state, self)


class Outcome(NamedTuple):
    """What chance may do at a state: the probability, the state that it leads to, and what that is worth for the side
    to move at the chance node; `child_value` is the same worth seen from that state, for its side to move."""

    probability: float
    value: Value | None
    child: int
    child_value: Value | None


class Move(NamedTuple):
    """An action, what it is worth for the side that plays it, and the state it leads to.

    `child_value` is the same worth seen from that state, for its side to move.
    """

    action: int
    value: Value | None
    exact: bool
    source: str
    best: bool
    child: int
    child_value: Value | None
    estimate: float | None = None

    @property
    def is_told(self) -> bool:
        """Whether the move needs no search, because its value is known or a grown book has an estimate."""
        return self.value is not None or self.source == "book"


class Moves(list[Move]):
    """The moves of a state, best first: a list that knows its game, its state and the state's answer.

    Notebooks show it as a board with the value of every move, and a table.
    """

    def __init__(self, moves: Iterable[Move], rules: Rules, state: int, answer: Answer) -> None:
        super().__init__(moves)
        self.rules, self.state, self.answer = rules, state, answer

    @property
    def game(self) -> Game:
        """The game that the moves are of."""
        game: Game = self.rules.game
        return game

    def _repr_html_(self) -> str:
        from solver.play.showing import html_of_moves

        return html_of_moves(self.rules, self.state, self.answer, self)


MISSING = Answer(None, False, "missing")


def as_best(move: Move) -> Move:
    """A move marked as best: `_replace`, but quick."""
    action, value, exact, source, _, child, child_value, estimate = move
    return Move(action, value, exact, source, True, child, child_value, estimate)


def best_first(moves: list[Move], value: Value | None) -> list[Move]:
    """Moves by their rank, equals in the order that they have; the best are marked, if anything is known of them.

    Those that keep their state's value, if that is known, come before all of which nothing is known.
    """
    ranks = [rank(move) for move in moves]
    if value is not None and not all(move.exact for move in moves):
        keeping = [move.value is not None and keeps(move.value, value) for move in moves]
        ranks = [(-math.inf, *one[1:]) if first else one for one, first in zip(ranks, keeping, strict=True)]
    best = min(ranks)
    order = sorted(range(len(moves)), key=ranks.__getitem__)  # stable
    known = moves[order[0]].exact or moves[order[0]].estimate is not None
    return [as_best(moves[at]) if known and ranks[at] == best else moves[at] for at in order]


def likeliest(outcomes: list[Outcome], value: Value) -> int:
    """The number of the outcome that is worth most nearly so much, of equals the likelier; all are of known worth."""

    def distance(number: int) -> tuple[float, float]:
        one = outcomes[number]
        return abs((one.value or value).score - value.score), -one.probability

    return min(range(len(outcomes)), key=distance)


def from_moves(moves: list[Move]) -> Answer:
    """What all moves, best first, make of their state."""
    first = moves[0]
    if all(move.exact for move in moves):
        return Answer(first.value, True, "search")
    estimate = first.estimate if first.value is None else first.value.score
    return MISSING if estimate is None else Answer(None, False, "search", estimate)


def nearly_best(moves: list[Move], loss: float) -> list[Move]:
    """Of moves, best first, those that are known or thought to lose no more; where the first wins, that alone."""
    first = moves[0]
    if first.value is not None and first.value.distance is not None and first.value.score > 0:
        return moves[:1]
    told = [move for move in moves if move.value is not None or move.estimate is not None]
    return [move for move in told if _worth(first) - _worth(move) <= loss] or moves[:1]


def _worth(move: Move) -> float:
    return (move.estimate or 0.0) if move.value is None else move.value.score


def rank(move: Move) -> tuple[float, bool, float]:
    """The order of merits: higher scores first, quick wins, slow losses, no distance being the slowest; estimates by
    their number, or 0."""
    if move.value is None:
        return -(move.estimate or 0), True, 0
    return -move.value.score, False, -merit_of(move.value)
