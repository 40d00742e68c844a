"""Code that jeopardy games share: add to a turn's total by throws, any of which may lose it, or hold and keep it.

A state holds, from the lowest digit on, whether the throw is in the air (base 2), the turn's total, the mover's score,
the other's (base `goal` each) and the mover; scores are for the side to move, so `folded` drops the mover. Won is one
state of each mover, the largest, whose digits are of no other. Holding nothing is not a move: it would keep the scores
and lose the turn, which no throw does worse, so it changes no value, and play could go on for ever.

Losing a turn leaves the scores as they were and hands the turn to the other, who may lose it, too: the game has
cycles. `tier` is the sum of both scores, which only holding raises.
"""

from collections.abc import Iterator

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
