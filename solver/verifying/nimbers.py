"""The auditor's arithmetic of nimbers: each is the least that no child has."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.book.format import Header
from solver.compiled.binding import kernel
from solver.verifying.reached import (
    AT,
    COUNT,
    CULPRIT,
    FAULT,
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
FOLDS = TIERS = TIERED = False


class Heaps(NamedTuple):
    """`Stored` of a book of nimbers: the nimbers of its values (palette,)."""

    states: Sorted
    indices: NDArray[Any]
    nimbers: NDArray[np.int64]


def stored(states: Sorted, indices: NDArray[Any], header: Header) -> Heaps:
    """Return the kernel's view of a book."""
    nimbers = np.array([max(value.score, 0) for value in header.palette], np.int64)
    return Heaps(states, indices, nimbers)


@kernel
def audit(
    stored: Any,
    reached: Any,
    tiers: NDArray[Any],
    tallies: NDArray[Any],
    begin: int,
    end: int,
    ends: NDArray[Any],
    report: NDArray[Any],
) -> None:
    """`audit.audit` of a book of nimbers."""
    report[:] = 0
    # The last state with a move there, by nimber
    met = np.full(stored.nimbers.max() + 2, -1, np.int64)
    states = states_from(stored.states, begin, end)
    for i in range(begin, end):
        state = states[i - begin]
        report[CULPRIT], report[AT] = state, i
        report[FAULT] = unfit(state)
        if report[FAULT]:
            return
        mark = report[COUNT]
        for action in game.actions(state):
            child = game.result(state, action)
            key = game.canonical(child) if FOLDS else child
            if game.is_terminal(child):
                if report[COUNT] == len(ends):
                    report[COUNT] = mark
                    return
                ends[report[COUNT]] = key
                report[COUNT] += 1
                met[0] = i
            else:
                child_index = reach(key, stored, reached, report)
                if child_index < 0:
                    return
                met[stored.nimbers[stored.indices[child_index]]] = i
                report[STAYS] |= stays(state, key)
        least = 0
        while met[least] == i:
            least += 1
        if least != stored.nimbers[stored.indices[i]]:
            report[FAULT] = WRONG_VALUE
            return
        if not tally(state, least if least else -1, False, tiers, tallies):
            report[FAULT] = WRONG_TIER
            return
    report[AT] = end
