"""A state as numbers that a model can weigh: the game's own `features`, or else the bits of the state.

A state's bits are its cells, one bit or a few each, in most games; in two sets, one for each player to move, where the
game has `to_move`. Features are those of the image that `canonical` takes, so that symmetric states have the same.
Arrays of states are those of `compiled.states`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.compiled.binding import inlined, kernel, respelled
from solver.compiled.states import state_in
from solver.rules.width import USUAL

game: Any = None  # what follows are constants of the bound copies
FEATURES = ALTERNATES = AGAIN = FOLDS = False

MORE = ()
BITS = USUAL  # of a state


@inlined
def features(state: Any, out: NDArray[Any]) -> Any:
    """The features of an unfinished state, folded already, into out (n,) int64, as many as fit; how many there are."""
    count = 0
    if FEATURES:
        for number in game.features(state):
            if count < len(out):
                out[count] = number
            count += 1
        return count
    mover = 0 if ALTERNATES or AGAIN else game.to_move(state)
    count = BITS if ALTERNATES or AGAIN else 2 * BITS
    for index in range(min(count, len(out))):
        out[index] = state >> index % BITS & 1 & (index // BITS == mover)
    return count


@kernel
def list_tiers(states: NDArray[Any], answers: NDArray[Any]) -> None:
    """Write the tiers (n,) int64 of states, 0 where the rules know none."""
    for i in range(len(states)):
        answers[i] = game.tier(state_in(states, i, MORE))


guess: Any = respelled(
    list_tiers, "guess", {"tier": "evaluate"}
)  # of unfinished states (n,) float64, 0 without `evaluate`


@kernel
def tabulate(states: NDArray[Any], table: NDArray[Any]) -> bool:
    """Write the features of unfinished states to the rows of a table, (n, features) int16.

    Returns False if a state has more or fewer features.
    """
    out = np.empty(table.shape[1], np.int64)
    for i in range(len(states)):
        state = state_in(states, i, MORE)
        if features(game.canonical(state) if FOLDS else state, out) != table.shape[1]:
            return False
        for index in range(len(out)):
            table[i, index] = out[index]
    return True
