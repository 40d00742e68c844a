"""Each rule as a kernel of its own, so that compiled and plain rules can be held side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.compiled.binding import kernel
from solver.store.shared import shared

game: Any = None  # constants of the bound copies
SCORES = ALTERNATES = AGAIN = REWARD = FOLDS = False


@kernel
def actions(state):
    """(n,) int64: the legal actions in the game's order."""
    count = 0
    for _ in game.actions(state):
        count += 1
    found = np.empty(count, np.int64)
    count = 0
    for action in game.actions(state):
        found[count] = action
        count += 1
    return found


@kernel
def again(state, action):
    return game.again(state, action)


@kernel
def reward(state, action):
    return game.reward(state, action)


@kernel
def result(state, action):
    return game.result(state, action)


@kernel
def is_terminal(state):
    return game.is_terminal(state)


@kernel
def utility(state):
    return game.utility(state)


@kernel
def canonical(state):
    return game.canonical(state)


@kernel
def to_move(state):
    return game.to_move(state)


@kernel
def tier(state):
    return game.tier(state)


@shared
def bit_count(number):
    return number.bit_count()


@shared
def bit_length(number):
    return number.bit_length()
