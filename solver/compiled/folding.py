"""Symmetric states folded, compiled: `canonical` of an array of states."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.compiled.binding import bind, compiling, kernel
from solver.rules.game import Rules

game: Any = None  # constants of the bound copies
FOLDS = False


@kernel
def fold(states: NDArray[Any], images: NDArray[Any]) -> None:
    """Write the canonical state of each of the states (n,) int64, of which negative numbers stay as they are."""
    for i in range(len(states)):
        images[i] = game.canonical(states[i]) if FOLDS and states[i] >= 0 else states[i]


def images(rules: Rules, states: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The canonical states of states, some of which may be none; None where the rules do not compile or bear them."""
    image_states = np.empty_like(states)
    try:
        with compiling(rules.game):
            bind(sys.modules[__name__], rules.game).fold(states, image_states)
    except GameError:
        return None
    return image_states
