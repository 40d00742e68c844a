"""The answers of a player: values of states, of moves and of chance outcomes, the order of moves, and why one is bad.

A move that gives value away is refuted by a line. After it both sides play best: the opponent wins as quickly as
possible, the player resists as long as possible. The line ends where the outcome is plain, with a win within SIGHT
plies. If a win turned into a draw, the opponent's reply that holds the draw is the line. Where moves score, the line
goes to the end of the game, MAX_LINE plies at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from solver.base.errors import MissingState, PositionError
from solver.base.value import Value, keeps, merit_of

if TYPE_CHECKING:
    from solver.rules.game import Game, Rules

# Of a fallible opponent, `practical`
OPPONENTS = (0, 2, 4)  # plies that commands offer: an odd number adds nothing where players alternate
OPPONENT = 2  # the default: it does well against the others, too
SIGHT = 2  # plies within which a win is plain
MAX_LINE = 60  # plies of a line


class Answer(NamedTuple):
    """The value of a state for the side to move, or an estimate of it.

    In games whose moves score immediately, both count only the points still to come.

    Attributes:
        value: The value, or None if it is not known.
        exact: Whether `value` is known.
        source: Where the answer comes from: "book", "terminal", "search" or "missing".
        estimate: The expected result, from -1 to 1, or within the margins of a score game. 1 or -1 if a win or loss is
            certain but its distance may not be. None if there is none.
    """

    value: Value | None
    exact: bool
    source: str
    estimate: float | None = None


class Outcome(NamedTuple):
    """An outcome of dice or cards.

    Attributes:
        probability: From 0 to 1.
        value: Value of the outcome for the side to move before it. None if not known.
        child: The state that it leads to.
        child_value: The same value for the side to move in `child`.
    """

    probability: float
    value: Value | None
    child: int
    child_value: Value | None


class Move(NamedTuple):
    """An action and its value.

    Attributes:
        action: The action, as the game numbers it.
        value: Value for the side that moves. None if not known.
        exact: Whether `value` is known.
        source: Where the value comes from, as in `Answer`.
        best: Whether the move is among the best, as far as that is known.
        child: The state that it leads to.
        child_value: The same value for the side to move in `child`.
        estimate: Expected result for the side that moves, as in `Answer`. None if there is none.
        practical: Estimate of the result against a fallible opponent, for the side that moves, by a look ahead at
            `practical.LOOKS` moves at most. None unless the player's method is practical and all values are known.
    """

    action: int
    value: Value | None
    exact: bool
    source: str
    best: bool
    child: int
    child_value: Value | None
    estimate: float | None = None
    practical: float | None = None

    @property
    def is_told(self) -> bool:
        """Whether the move needs no search, because its value is known or a grown book has an estimate."""
        return self.value is not None or self.source == "book"


class Moves(list[Move]):
    """The moves of a state, best first, as a list. A notebook shows them as a board and a table.

    Attributes:
        rules: The rules of the game.
        state: The state that the moves are of.
        answer: The value of that state.
    """

    rules: Rules
    state: int
    answer: Answer

    def __init__(self, moves: Iterable[Move], rules: Rules, state: int, answer: Answer) -> None:
        super().__init__(moves)
        self.rules, self.state, self.answer = rules, state, answer

    @property
    def game(self) -> Game:
        """The game of the moves."""
        game: Game = self.rules.game
        return game

    def _repr_html_(self) -> str:
        from solver.play.showing import html_of_moves

        return html_of_moves(self.rules, self.state, self.answer, self)


MISSING = Answer(None, False, "missing")


def as_best(move: Move) -> Move:
    """Return a move, marked as best. The same as `_replace`, but quicker."""
    action, value, exact, source, _, child, child_value, estimate, practical = move
    return Move(action, value, exact, source, True, child, child_value, estimate, practical)


def best_first(moves: list[Move], value: Value | None) -> list[Move]:
    """Sort moves by rank, and mark the best if anything is known of them. Moves of equal rank keep their order.

    If the state's `value` is known, moves that keep it come before moves of which nothing is known.
    """
    ranks = [rank(move) for move in moves]
    if value is not None and not all(move.exact for move in moves):
        for index, move in enumerate(moves):
            if move.value is not None and keeps(move.value, value):
                ranks[index] = (-math.inf, *ranks[index][1:])
    best = min(ranks)
    order = sorted(range(len(moves)), key=ranks.__getitem__)  # stable
    known = moves[order[0]].exact or moves[order[0]].estimate is not None
    return [as_best(moves[index]) if known and ranks[index] == best else moves[index] for index in order]


def likeliest(outcomes: list[Outcome], value: Value) -> int:
    """Return the index of the outcome whose value is nearest to `value`. Of equally near ones, the likelier.

    All outcomes must have known values.
    """

    def distance(number: int) -> tuple[float, float]:
        outcome = outcomes[number]
        return abs((outcome.value or value).score - value.score), -outcome.probability

    return min(range(len(outcomes)), key=distance)


def from_moves(moves: list[Move]) -> Answer:
    """Derive a state's answer from all of its moves, which are sorted best first."""
    best_move = moves[0]
    if all(move.exact for move in moves):
        return Answer(best_move.value, True, "search")
    estimate = best_move.estimate if best_move.value is None else best_move.value.score
    return MISSING if estimate is None else Answer(None, False, "search", estimate)


def nearly_best(moves: list[Move], loss: float) -> list[Move]:
    """Return the moves that lose at most `loss` against the best one, as far as is known or estimated.

    `moves` are sorted best first. If the first one wins in a known number of plies, it is returned alone.
    """
    best_move = moves[0]
    if best_move.value is not None and best_move.value.distance is not None and best_move.value.score > 0:
        return moves[:1]
    valued = [move for move in moves if move.value is not None or move.estimate is not None]
    return [move for move in valued if rank(move)[0] - rank(best_move)[0] <= loss] or moves[:1]


def rank(move: Move) -> tuple[float, bool, float]:
    """Return the sort key of a move: lower is better.

    Higher scores first, then quick wins and slow losses; no distance counts as the slowest. Estimates rank by their
    number, and unknown moves as 0.
    """
    if move.value is None:
        return -(move.estimate or 0), True, 0
    return -move.value.score, False, -merit_of(move.value)


class Refutation(NamedTuple):
    """An explanation of one move.

    Attributes:
        action: The move.
        before: Value of the position, for the side that moves.
        after: Value after the move, for the same side.
        gives: The value given away: 1 for a draw instead of a win, 2 for a loss instead of a win, or a margin. 0 if the
            move keeps the value.
        is_only: Whether every other move gives value away.
        line: Best play after the move: actions and the states that they lead to. Empty if the move keeps the value.
        ending: Value of the line's last state, for the side to move there. None if the game is over there.
    """

    action: int
    before: Value
    after: Value
    gives: float
    is_only: bool
    line: list[tuple[int, int]]
    ending: Value | None


def explained(player: Any, state: int, action: int, answer: Answer, moves: list[Move]) -> Refutation:
    """Explain a move of a position whose answer and moves are at hand, as `Player.examine` returns them."""
    move = next((move for move in moves if move.action == action), None)
    if move is None:
        raise PositionError(f"action {action} is not legal here: choose one of {[move.action for move in moves]}")
    before = moves[0].value if answer.value is None else answer.value
    if before is None or move.value is None:
        raise MissingState(
            f"the value of action {action} at state {state} is not known: allow more time, or use a book"
        )
    keepers = [other.action for other in moves if other.value is not None and other.value.score >= before.score]
    gives, is_draw = max(0, before.score - move.value.score), move.value.score == 0 and not player.rules.scores
    line: list[tuple[int, int]] = []
    ending = player.value(move.child).value if gives else move.child_value
    # Best play to where the outcome is plain
    for reply, child in player.line(move.child, MAX_LINE) if gives else ():
        distance = None if ending is None else ending.distance
        if line and distance is not None and distance <= SIGHT and not player.rules.scores:
            break
        line.append((reply, child))
        ending = player.value(child).value
        if is_draw or ending is None:
            break
    is_over = player.game.is_terminal(line[-1][1] if line else move.child)
    return Refutation(action, before, move.value, gives, keepers == [action], line, None if is_over else ending)
