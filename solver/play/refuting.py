"""Why a move is good or bad: what it gives away, and the shortest line that shows it.

After a move that gives value away, both sides play best: the opponent wins as quickly as possible, the player resists
as long as possible. The line ends where the outcome is plain, with a win within SIGHT plies. If a win turned into a
draw, the opponent's reply that holds the draw is the line. Where moves score, the line goes to the end of the game,
MAX_LINE plies at most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from solver.base.errors import MissingState, PositionError
from solver.base.value import Value
from solver.play.analysis import Answer, Move

SIGHT = 2  # plies within which a win is plain
MAX_LINE = 60  # plies of a line


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
    line, ending = _line(player, move.child, is_draw) if gives else ([], move.child_value)
    is_over = player.game.is_terminal(line[-1][1] if line else move.child)
    return Refutation(action, before, move.value, gives, keepers == [action], line, None if is_over else ending)


def _line(player: Any, state: int, is_draw: bool) -> tuple[list[tuple[int, int]], Value | None]:
    """Return best play from a state to where the outcome is plain, and the value there."""
    line: list[tuple[int, int]] = []
    value = player.value(state).value
    for action, child in player.line(state, MAX_LINE):
        distance = None if value is None else value.distance
        if line and distance is not None and distance <= SIGHT and not player.rules.scores:
            break
        line.append((action, child))
        value = player.value(child).value
        if is_draw or value is None:
            break
    return line, value
