"""The auditor's arithmetic: every value of a book against its children, sharing nothing with the sweep but the rules.

It has arithmetic of its own for values (outcome and distance instead of merits), a look-up of its own (a table of
the leading 16 bits and bisection), and marks every state that some move reaches, so that strays are found as well.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.errors import DamagedBook
from solver.game import Game
from solver.kernels.compiled import bind, compiling, kernel
from solver.kernels.parallel import Workers
from solver.progress import Progress, silent

game: Any = None  # constants of the bound copies
SCORES = ALTERNATES = FOLDS = False

CHUNK = 1 << 15
FINE, CHILD_MISSING, WRONG_VALUE, TERMINAL, NOT_CANONICAL = range(5)
FAULTS = {
    CHILD_MISSING: "has a child that the book lacks",
    WRONG_VALUE: "has another value than its children give it",
    TERMINAL: "is terminal and should not be stored",
    NOT_CANONICAL: "is not the canonical one of its symmetric states",
}


@kernel
def audit(states, indices, scores, distances, begin, end, prefixes, shift, reached, verdict):
    """Check states[begin:end] against their children; verdict (2,) int64 gets the first fault and its state.

    scores and distances (palette,) int64, distance 0 where it means nothing; reached (n,) uint8 is set for children.
    """
    verdict[:] = 0
    for i in range(begin, end):
        state = states[i]
        if game.is_terminal(state):
            verdict[0], verdict[1] = TERMINAL, state
            return
        if FOLDS and game.canonical(state) != state:
            verdict[0], verdict[1] = NOT_CANONICAL, state
            return
        best_score = -(1 << 62)
        best_distance = 0
        for action in game.actions(state):
            child = game.result(state, action)
            distance = 0
            if game.is_terminal(child):
                score = game.utility(child)
            else:
                key = game.canonical(child) if FOLDS else child
                place = _look_up(states, key, prefixes, shift)
                if place < 0:
                    verdict[0], verdict[1] = CHILD_MISSING, state
                    return
                reached[place] = 1
                score, distance = scores[indices[place]], distances[indices[place]]
            if ALTERNATES or game.to_move(child) != game.to_move(state):
                score = -score
            distance = 0 if SCORES or score == 0 else distance + 1
            if _is_better(score, distance, best_score, best_distance):
                best_score, best_distance = score, distance
        if best_score != scores[indices[i]] or best_distance != distances[indices[i]]:
            verdict[0], verdict[1] = WRONG_VALUE, state
            return


@kernel
def _is_better(score, distance, best_score, best_distance):
    """Higher scores first, then quick wins, then slow losses."""
    if score != best_score:
        return score > best_score
    return distance < best_distance if score > 0 else distance > best_distance


@kernel
def _look_up(states, key, prefixes, shift):
    """The index of key in states, or -1."""
    prefix = key >> shift
    if prefix + 1 >= len(prefixes):
        return -1
    low, high = prefixes[prefix], prefixes[prefix + 1]
    while low < high:
        middle = (low + high) // 2
        if states[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(states) and states[low] == key else -1
