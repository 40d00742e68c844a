"""The value of a state under perfect play, and the only arithmetic on it.

A `Value` is always for the side to move. While searching, a value is one integer, its *merit*: the larger
the better for the side to move, negated from one ply to the one before. In a win-lose-draw game

    merit of a win in d plies  = win - d       (quick wins first)
    merit of a draw            = 0
    merit of a loss in d plies = d - win       (slow losses first)

where `win` is any number above the longest distance: `WIN` in plain Python, the largest number of the array's
dtype in the kernels, which compile `lift` and `terminal_merit` from here. In a score game the merit is the
margin itself and distances mean nothing; where moves score immediately, it is the margin still to come.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

WIN = 1 << 40


class Value(NamedTuple):
    """The value of a state, for the side to move.

    Attributes:
        score: -1, 0 or 1 for a loss, draw or win. The margin in a score game. The expected result, a float, in a game
            of chance. A grown book may hold estimates, which are floats too.
        distance: Plies to the end of the game. None where a distance has no meaning, such as in a draw.
    """

    score: float
    distance: int | None = None

    @property
    def outcome(self) -> str:
        """Return "win", "draw" or "loss" for the side to move, or "expectation" if chance still decides."""
        return "expectation" if isinstance(self.score, float) else self.leaning

    @property
    def leaning(self) -> str:
        """Return "win", "draw" or "loss" by the sign of the score alone, as books count their values."""
        return "win" if self.score > 0 else "loss" if self.score < 0 else "draw"

    @property
    def is_win(self) -> bool:
        """Whether this is a win with a known distance."""
        return self.distance is not None and self.score > 0

    def words(self, as_number: bool = False) -> str:
        """Say the value in words, such as "win in 5" or "draw".

        Args:
            as_number: Say a value without a distance as a number: +1, +3, +0.25.
        """
        if self.distance is not None:
            return f"{self.outcome} in {self.distance}"
        return "draw" if not self.score else f"{self.score:+}" if as_number else self.outcome


Solution = Mapping[int, Value]


def merit_of(value: Value, win: int = WIN) -> Any:
    """The integer that orders values of one game: larger is better for the side to move. Of an expectation itself."""
    score, distance = value
    return score if distance is None else score * (win - distance)


def value_of(merit: int, score_game: bool = False, win: int = WIN) -> Value:
    """The value that `merit_of` made `merit` from."""
    if score_game or merit == 0:
        return Value(merit, None)
    return Value(1, win - merit) if merit > 0 else Value(-1, win + merit)


def terminal_merit(utility: int, left: int, score_game: bool, win: int = WIN) -> int:
    """The merit of a terminal state of this utility, whose outcome still takes `left` plies."""
    return utility if score_game else utility * (win - left)


def lift(merit: int, same_mover: bool, score_game: bool, plies: int = 1) -> int:
    """A state's merit as one so many plies earlier sees it; `same_mover` if the same player is to move there."""
    if not score_game:
        merit += plies * ((merit < 0) - (merit > 0))
    return merit if same_mover else -merit


def drop(merit: int, same_mover: bool, score_game: bool, plies: int = 1) -> int:
    """The inverse of `lift`: a bound on a state's merit as a bound on that of one so many plies later."""
    if not score_game:
        merit += plies * ((merit > 0) - (merit < 0))
    return merit if same_mover else -merit


def sign_of(value: Value) -> Value:
    """Win, draw or loss alone."""
    return Value((value.score > 0) - (value.score < 0))


def lift_value(value: Value, same_mover: bool, gain: int = 0) -> Value:
    """A value as it is seen one ply before, by whom the move there gains so much immediately."""
    score, distance = value
    return Value(gain + (score if same_mover else 0 - score), None if distance is None else distance + 1)


def drop_value(value: Value, same_mover: bool, gain: int) -> Value | None:
    """The value that a child has if its move keeps the state's; None if no move's can: the inverse of `lift_value`."""
    score, distance = value.score - gain, value.distance
    if distance == 0:
        return None
    return Value(score if same_mover else 0 - score, None if distance is None else distance - 1)


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: 1 game, 2,000 games."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def in_plies(count: int) -> str:
    """A number of plies with its noun."""
    return counted(count, "ply", "plies")


def keeps(worth: Value, value: Value) -> bool:
    """Whether a move that is worth so much keeps a state's value, which may lack its distance."""
    return worth == value or (value.distance is None and worth.score == value.score)


def is_estimate(value: Value) -> bool:
    """Whether a value of a grown book is none that is known to be exact."""
    return isinstance(value.score, float)
