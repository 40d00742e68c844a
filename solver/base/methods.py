"""The methods of solving: what each is for. A method is its name, too, as books and the command line have it."""

from __future__ import annotations

import enum

AUTO = "auto"  # in place of a method: the one that fits the game


class Method(enum.StrEnum):
    """A method of solving.

    about: What it finds, for help.
    state_bytes: The memory that a state takes in plain Python, at least. None where nothing limits the states.
    is_complete: Whether it values all states that play can reach.
    takes_cycles: Whether play may come back to a state.
    is_asked: Whether `solve` takes it by its name.
    """

    about: str
    state_bytes: int | None
    is_complete: bool
    takes_cycles: bool
    is_asked: bool

    def __new__(
        cls,
        name: str,
        about: str = "",
        state_bytes: int | None = None,
        is_complete: bool = True,
        takes_cycles: bool = False,
        is_asked: bool = True,
    ) -> Method:
        """Make a method, equal to its name."""
        method = str.__new__(cls, name)
        method._value_, method.about, method.state_bytes = name, about, state_bytes
        method.is_complete, method.takes_cycles, method.is_asked = is_complete, takes_cycles, is_asked
        return method

    MINIMAX = "minimax", "every state", 300
    RETROGRADE = "retrograde", "every state of a game with cycles", 600, True, True
    ALPHABETA = "alphabeta", "one search's exact entries", None, False
    EXPECTIMINIMAX = "expectiminimax", "every state of a game of chance", 1000
    NIMBERS = "nimbers", "the nimber of every state of an impartial game", 300
    VALUE_ITERATION = "value-iteration", "", 1000, True, True, False  # for expectiminimax, in a game with cycles
    DROP_OUT = "drop-out", "", None, False, True, False  # of grown books

    @property
    def is_acyclic(self) -> bool:
        """Whether it values all states of games that always end, and of no others."""
        return self.is_complete and not self.takes_cycles


ASKED = (AUTO, *(method for method in Method if method.is_asked))
