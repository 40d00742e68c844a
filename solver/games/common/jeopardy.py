"""Code that jeopardy games share: add to a turn's total by throws, any of which may lose it, or hold and keep it.

A state holds, from the lowest digit on, whether the throw is in the air (base 2), the turn's total, the mover's score,
the other's (base `goal` each) and the mover; scores are for the side to move, so `folded` drops the mover. Won is one
state of each mover, the largest, whose digits are of no other. Holding nothing is no move: it would keep the scores
and lose the turn, which no throw does worse, so it changes no value, and play could go on for ever.

Losing a turn leaves the scores as they were and hands the turn to the other, who may lose it, too: the game has
cycles. `tier` is the sum of both scores, which only holding raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from solver.games.common.boards import counts

THROW, HOLD = 0, 1


def half(goal: int) -> int:
    """How many states each mover has numbers for."""
    return 2 * goal * goal * goal


def total(goal: int, state: int) -> int:
    """The points of this turn that are not held yet."""
    return state // 2 % goal


def own(goal: int, state: int) -> int:
    """The mover's score."""
    return state // (2 * goal) % goal


def other(goal: int, state: int) -> int:
    """The other's score."""
    return state // (2 * goal * goal) % goal


def mover(goal: int, state: int) -> int:
    return state // half(goal)


def folded(goal: int, state: int) -> int:
    """The state as if the first player moved."""
    return state % half(goal)


def is_won(goal: int, state: int) -> bool:
    return folded(goal, state) == half(goal) - 1


def is_thrown(state: int) -> bool:
    """Whether the throw is in the air."""
    return state % 2 == 1


def actions(goal: int, state: int) -> Iterator[int]:
    if not is_thrown(state):
        yield THROW
        if total(goal, state):
            yield HOLD


def result(goal: int, state: int, action: int) -> int:
    return state + 1 if action == THROW else passed(goal, state, total(goal, state))


def added(goal: int, state: int, points: int) -> int:
    """The state after a throw that adds points to the turn's total."""
    if own(goal, state) + total(goal, state) + points >= goal:
        return (mover(goal, state) + 1) * half(goal) - 1
    return state - 1 + 2 * points


def passed(goal: int, state: int, held: int) -> int:
    """The other's turn, with so many points held."""
    turn = 1 - mover(goal, state)
    return ((turn * goal + own(goal, state) + held) * goal + other(goal, state)) * goal * 2


def tier(goal: int, state: int) -> int:
    return own(goal, state) + other(goal, state) + (1 if is_won(goal, state) else 0)


def board(goal: int, state: int) -> str:
    turn = mover(goal, state)
    if is_won(goal, state):
        return f"player {turn + 1} has reached {goal}"
    scores = (own(goal, state), other(goal, state))
    doing = "throws" if is_thrown(state) else "to move"
    return (
        f"player 1: {scores[turn]}   player 2: {scores[1 - turn]}   of {goal}\n"
        f"player {turn + 1} {doing}, {total(goal, state)} in this turn"
    )


def cells(goal: int, state: int) -> list[str]:
    """Of each player the score, and the points of the turn; of who has lost nothing is known.

    A number is the character so many places behind "0".
    """
    turn = mover(goal, state)
    if is_won(goal, state):
        rows = [chr(48 + goal) + "0", "?0"]
    else:
        rows = [chr(48 + own(goal, state)) + chr(48 + total(goal, state)), chr(48 + other(goal, state)) + "0"]
    return [rows[turn], rows[1 - turn]]


def symbols(goal: int) -> str:
    """The characters of `cells`, ascending."""
    return "".join(sorted({"?", *counts(goal)}))


BOARD = (
    r"player 1: (\d{1,5})   player 2: (\d{1,5})   of \d+\nplayer ([12]) (throws|to move), (\d{1,5}) in this turn"
    r"|player ([12]) has reached \d+"
)


def _parsed_as_shown(goal: int, shown: re.Match[str]) -> int:
    if shown[6]:
        return int(shown[6]) * half(goal) - 1
    turn, scores = int(shown[3]) - 1, [int(shown[1]), int(shown[2])]
    own, others, points = scores[turn], scores[1 - turn], int(shown[5])
    if own + points >= goal or others >= goal:
        raise ValueError(f"the scores, the mover's with the turn's total, must be below {goal}")
    return (((turn * goal + others) * goal + own) * goal + points) * 2 + (shown[4] == "throws")


def parsed(goal: int, text: str) -> int | None:
    """The state of `12-30-8`: the mover's score, the other's, and the turn's total, which may be omitted.

    Or of a text of `board`.
    """
    shown = re.fullmatch(BOARD, text)
    if shown is not None:
        return _parsed_as_shown(goal, shown)
    found = re.fullmatch(r"(\d{1,9})-(\d{1,9})(?:-(\d{1,9}))?", text, re.ASCII)
    if found is None:
        return None
    mine, others, points = (int(number or 0) for number in found.groups())
    if mine + points >= goal or others >= goal:
        raise ValueError(f"the scores, the first with the turn's total, must be below {goal}")
    return ((others * goal + mine) * goal + points) * 2
