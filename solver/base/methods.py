"""The methods of solving, and their purposes. A method is also its name, as books and the command line have it."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

AUTO = "auto"  # in place of a method: the one that fits the game


class Facts(NamedTuple):
    """The properties of a method.

    about: What it finds, for help. Empty if `solve` does not take it by its name.
    state_bytes: The memory that a state takes in plain Python, at least. None where nothing limits the states.
    is_complete: Whether it values all states that play can reach.
    takes_cycles: Whether play may come back to a state.
    """

    about: str = ""
    state_bytes: int | None = None
    is_complete: bool = True
    takes_cycles: bool = False


class Method(enum.StrEnum):
    """A method of solving, equal to its name, and its `facts`."""

    facts: Facts

    def __new__(cls, name: str, *facts: Any) -> Method:
        """Make a method with these `Facts`."""
        method = str.__new__(cls, name)
        method._value_, method.facts = name, Facts(*facts)
        return method

    MINIMAX = "minimax", "every state", 300
    RETROGRADE = "retrograde", "every state of a game with cycles", 600, True, True
    ALPHABETA = "alphabeta", "one search's exact entries", None, False
    EXPECTIMINIMAX = "expectiminimax", "every state of a game of chance", 1000
    NIMBERS = "nimbers", "the nimber of every state of an impartial game", 300
    VALUE_ITERATION = "value-iteration", "", 1000, True, True  # for expectiminimax, in a game with cycles
    PROOF_NUMBER = "proof-number", "", None, False  # of proof books
    DROP_OUT = "drop-out", "", None, False, True  # of grown books

    @property
    def is_acyclic(self) -> bool:
        """Whether it values all states of games that always end, and of no others."""
        return self.facts.is_complete and not self.facts.takes_cycles


ASKED = (AUTO, *(method.value for method in Method if method.facts.about))
