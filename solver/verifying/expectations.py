"""The auditor's arithmetic of expectations: each must follow from its children's, apart from rounding."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.expectations import MIDDLE
from solver.book.format import Header
from solver.compiled.binding import kernel
from solver.verifying.reached import (
    AT,
    COUNT,
    CULPRIT,
    FAULT,
    FINE,
    STAYS,
    WRONG_TIER,
    WRONG_VALUE,
    Sorted,
    reach,
    states_from,
    stays,
    tally,
    unfit,
)

game: Any = None  # constants of the bound copies
REWARD = FOLDS = TIERS = TIERED = VANISHING = False


OUT_OF_ROOM = -1  # instead of a fault: there is no room for more finished states
NO_VALUE = np.int64(-(1 << 45))  # without an action: less than any number, and with weights within 64 bits


class Numbered(NamedTuple):
    """`Stored` of a book of expectations.

    Attributes:
        states: The states.
        numbers: Their values, in steps.
        point: Steps of a margin of 1.
        slack: How far a number may differ from the one that its children give, in 1024ths of a step.
    """

    states: Sorted
    numbers: NDArray[np.int64]
    point: int
    slack: int


def stored(states: Sorted, numbers: NDArray[np.int64], header: Header) -> Numbered:
    """Return the kernel's view of a book."""
    step, error = header.kind.step, header.kind.error
    return Numbered(states, numbers, round(1 / step), math.ceil(1024 * 2 * error / step))


@kernel
def audit(
    stored: Any,
    reached: NDArray[Any],
    tiers: NDArray[Any],
    tallies: NDArray[Any],
    begin: int,
    end: int,
    ends: NDArray[Any],
    report: NDArray[Any],
) -> None:
    """`audit.audit` of a book of expectations, whose values are rounded."""
    report[:] = 0
    states = states_from(stored.states, begin, end)
    for i in range(begin, end):
        state = states[i - begin]
        report[CULPRIT], report[AT] = state, i
        report[FAULT] = unfit(state)
        if report[FAULT]:
            return
        mark, total, best = report[COUNT], np.int64(0), np.int64(0)
        for weight, child in game.chance(state):
            total += weight
            if VANISHING and game.vanishing(child):
                best += weight * _chosen(child, stored, reached, ends, report)
            elif report[COUNT] < len(ends):
                best += weight * _seen_from(state, child, stored, reached, ends, report)
            else:
                report[FAULT] = OUT_OF_ROOM
        if total == 0:
            best = _chosen(state, stored, reached, ends, report)
        if report[FAULT] == OUT_OF_ROOM:
            report[FAULT], report[COUNT] = FINE, mark
            return
        if report[FAULT]:
            return
        expectation, weight = stored.numbers[i] - MIDDLE, max(total, 1)
        if abs(expectation * weight - best) > weight * stored.slack // 1024:
            report[FAULT] = WRONG_VALUE
            return
        if not tally(state, expectation, False, tiers, tallies):
            report[FAULT] = WRONG_TIER
            return
    report[AT] = end


@kernel
def _chosen(state: Any, stored: Any, reached: NDArray[Any], ends: NDArray[Any], report: NDArray[Any]) -> Any:
    """The steps that the best of the actions makes of a state; OUT_OF_ROOM where `ends` are."""
    best = NO_VALUE
    for action in game.actions(state):
        if report[COUNT] == len(ends):
            report[FAULT] = OUT_OF_ROOM
            return np.int64(0)
        gain = game.reward(state, action) * stored.point if REWARD else 0
        best = max(best, gain + _seen_from(state, game.result(state, action), stored, reached, ends, report))
    return best


@kernel
def _seen_from(
    state: Any, child: Any, stored: Any, reached: NDArray[Any], ends: NDArray[Any], report: NDArray[Any]
) -> Any:
    """The steps that a child is worth for the side to move at the state; marked where reached, kept where finished."""
    key = game.canonical(child) if FOLDS else child
    worth = np.int64(0)
    if game.is_terminal(child):
        ends[report[COUNT]] = key
        report[COUNT] += 1
        worth = game.utility(child) * stored.point
    else:
        child_index = reach(key, stored, reached, report)
        if child_index >= 0:
            worth = stored.numbers[child_index] - MIDDLE
            report[STAYS] |= stays(state, key)
    return worth if game.to_move(child) == game.to_move(state) else -worth
