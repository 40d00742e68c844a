"""How wide the states of a game are: the bits that its rules declare, 63 where they say nothing."""

from __future__ import annotations

import operator
import reprlib
from array import array
from typing import Any

from solver.base.errors import GameError, MethodError, PositionError, SolverError, StateTypeError

USUAL = 63  # bits, which compiled code, arrays and books hold in one word
MAX_STATE_BITS = 511
WORD = 64


def bits_of(game: Any) -> int:
    """The bits of a game's states, each of which is below 2**bits: `bits` of the class, a property or a method.

    A parameter of that name says nothing. Raises GameError.
    """
    if "bits" in getattr(type(game), "_fields", ()):
        return USUAL
    declared = getattr(game, "bits", USUAL)
    bits = declared() if callable(declared) else declared
    if type(bits) is not int or not 1 <= bits <= MAX_STATE_BITS:
        raise GameError(f"{type(game).__name__} has bits = {bits!r}: give the bits of a state, 1 to {MAX_STATE_BITS}")
    return bits


def words_of(bits: int) -> int:
    """The words of 64 bits that a state of so many takes in arrays: one as long as an int64 holds it."""
    return 1 if bits <= USUAL else -(-bits // WORD)


def outside(bits: int) -> str:
    """Say why a number is not a state of so many bits."""
    if bits == USUAL:
        return "is outside [0, 2**63): states are non-negative 63-bit integers, wider ones if the class says bits = 128"
    return f"is outside [0, 2**{bits}): states have as many bits as the rules say, raise bits if they need more"


def as_integer(number: Any) -> int:
    """Return a state's number as Python's own int, whatever integer it comes as.

    Rules count on ints that never wrap, and NumPy's do: `np.int16(4) << 20` is 0.

    Raises:
        StateTypeError: for a float, a text, a bool and whatever else is not an integer.
    """
    if type(number) is int:
        return number
    kind = type(number).__name__
    try:
        if not isinstance(number, bool):
            return operator.index(number)
    except TypeError:
        pass
    shown = " ".join(reprlib.repr(number).split())
    raise StateTypeError(f"{shown} ({kind}) is not a state: pass an int or a NumPy integer")


def as_state(number: Any, bits: int) -> int:
    """Return a state of a game of so many bits as Python's own int.

    Raises:
        StateTypeError: as `as_integer`.
        PositionError: for a number outside [0, 2**bits).
    """
    state = number if type(number) is int else as_integer(number)
    if not 0 <= state < 1 << bits:
        raise PositionError(f"{state} is not a state: states are whole numbers from 0 to 2**{bits} - 1")
    return state


def column_of(bits: int) -> Any:
    """An empty column for states of so many bits: an array of one word each, or a list."""
    return array("q") if bits <= USUAL else []


def refuse_wide(name: str, bits: int, what: str, remedy: str, error: type[SolverError] = MethodError) -> None:
    """Raise an error if the states of a game or a book do not fit one word, as `what` needs."""
    if bits > USUAL:
        raise error(f"{name} has states of {bits} bits, {what} takes {USUAL}: {remedy}")
