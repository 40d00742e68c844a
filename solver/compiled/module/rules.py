"""What a module exports of the rules: their methods, each a function of whole numbers of 64 bits.

What yields writes to the memory of the module, at an address, as much as there is room for, and returns how much it
wanted to write.
"""

from __future__ import annotations

from typing import Any

from solver.compiled.binding import kernel
from solver.store.addresses import words

game: Any = None  # a constant of the bound copies


@kernel
def initial():
    """The start state."""
    return game.initial()


@kernel
def actions(state, address, room):
    """The actions of an unfinished state."""
    out = words(address, room)
    count = 0
    for action in game.actions(state):
        if count < room:
            out[count] = action
        count += 1
    return count


@kernel
def result(state, action):
    """The state after an action."""
    return game.result(state, action)


@kernel
def is_terminal(state):
    """1 if the game is over, else 0."""
    return 1 if game.is_terminal(state) else 0


@kernel
def utility(state):
    """What a finished state is worth for the side to move."""
    return game.utility(state)


@kernel
def plies_left(state):
    """The plies that the outcome of a finished state still takes."""
    return game.plies_left(state)


@kernel
def to_move(state):
    """0 or 1."""
    return game.to_move(state)


@kernel
def again(state, action):
    """1 if who plays the action moves again, else 0."""
    return 1 if game.again(state, action) else 0


@kernel
def reward(state, action):
    """What who plays the action scores at once."""
    return game.reward(state, action)


@kernel
def canonical(state):
    """The state that stands for those that are its images by symmetry."""
    return game.canonical(state)


@kernel
def rank(state):
    """The number of a state, -1 of what is none."""
    return game.rank(state)


@kernel
def unrank(rank):
    """The state of a number, -1 where none has it."""
    return game.unrank(rank)


@kernel
def tier(state):
    """A number that never decreases along a move."""
    return game.tier(state)


@kernel
def outlook(state):
    """1: wins with this move; -1: loses in 2 plies; 0: neither."""
    return game.outlook(state)


@kernel
def replies(state):
    """The bits of actions of which one is best, where the outlook is 0."""
    return game.replies(state)


@kernel
def evaluate(state):
    """The estimate of an unfinished state for the side to move."""
    return float(game.evaluate(state))


@kernel
def chance(state, address, room):
    """The pairs of weight and child where chance decides; nothing elsewhere."""
    out = words(address, room)
    count = 0
    for weight, child in game.chance(state):
        if count + 1 < room:
            out[count], out[count + 1] = weight, child
        count += 2
    return count
