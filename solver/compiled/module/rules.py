"""Each rule as a kernel of its own, from whole numbers of 64 bits to one: the exports of a module for the rules.

A generator writes to memory at an address, as much as there is room for, and returns how much it wanted to write.
`agreement` holds plain rules against the same kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.compiled.binding import kernel, respelled
from solver.store.addresses import words

game: Any = None  # a constant of the bound copies


@kernel
def initial():
    """The start state."""
    return game.initial()


@kernel
def actions(state: Any, address: int, room: int) -> Any:
    """The actions of an unfinished state."""
    out = words(address, room)
    count = 0
    for action in game.actions(state):
        if count < room:
            out[count] = action
        count += 1
    return count


@kernel
def is_terminal(state: Any) -> Any:
    """1 if the game is over, else 0."""
    return 1 if game.is_terminal(state) else 0


@kernel
def again(state: Any, action: Any) -> Any:
    """1 if who plays the action moves again, else 0."""
    return 1 if game.again(state, action) else 0


@kernel
def evaluate(state: Any) -> Any:
    """The estimate of an unfinished state for the side to move."""
    return float(game.evaluate(state))


@kernel
def chance(state: Any, address: int, room: int) -> Any:
    """The pairs of weight and child where chance decides; nothing elsewhere."""
    out = words(address, room)
    count = 0
    for weight, child in game.chance(state):
        if count + 1 < room:
            out[count], out[count + 1] = weight, child
        count += 2
    return count


def _of_state(state: Any) -> Any:
    return game.method(state)


def _of_move(state: Any, action: Any) -> Any:
    return game.method(state, action)


def _asking(written: Any, *methods: str) -> list[Any]:
    """Kernels that return the answers of these methods of the rules, written like one of a method `method`."""
    return [respelled(written, method, {"method": method}) for method in methods]


result, reward = _asking(_of_move, "result", "reward")
utility, plies_left, to_move, canonical = _asking(_of_state, "utility", "plies_left", "to_move", "canonical")
rank, unrank, tier, outlook, replies = _asking(_of_state, "rank", "unrank", "tier", "outlook", "replies")


def answer(kernels: Any, rule: str, *arguments: int) -> Any:
    """Return the answer of a game's kernels to a method: a list of actions, a truth value or a number."""
    if rule != "actions":
        found = getattr(kernels, rule)(*arguments)
        return bool(found) if rule in ("is_terminal", "again") else found
    actions = np.empty(kernels.actions(*arguments, 0, 0), np.int64)
    kernels.actions(*arguments, actions.ctypes.data, len(actions))
    return actions.tolist()
