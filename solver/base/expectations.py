"""Expectations as whole numbers: how a game of chance is computed, and what its book holds.

A value counts units of 2**-48 of `span`, the least power of two that no utility exceeds. So sums come out the same in
whatever order, and every rounding is known: a state's value is off by at most half a unit more than its children's. A
book holds steps of 2**-30 of the span, about 1e-9 where games are won and lost.

Functions on arrays are in the subset of Python that runs plain and compiled alike. Where play may come back to a state:
`nets`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

from solver.base.value import Value

BITS = 48  # units of the span
STEPS = 30  # steps of the span
MIDDLE = 1 << STEPS  # the number of 0 in a book
DROPPED = BITS - STEPS
SPAN = 1 << BITS
MOST_WEIGHT = 1 << 14  # of all that chance may do at a state, together: sums stay within 64 bits
WIDER = 16  # times the span, where margins turn out to add up to more
MOST_SPAN = 1 << 32


class Expectation(NamedTuple):
    """What a book's values are: expectations of the "utility", from -1 to 1, or of the "margin", in steps of `step`,
    each within `error` of the true one, its rounding to steps included."""

    of: str
    step: float
    error: float


class Steps(Sequence[Value]):
    """The value of each number that a book of expectations may hold."""

    def __init__(self, step: float) -> None:
        self.step = step

    def __len__(self) -> int:
        return 2 * MIDDLE + 1

    @overload
    def __getitem__(self, number: int) -> Value: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Value]: ...
    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number <= 2 * MIDDLE:
            raise IndexError("a value is beyond the span")
        return Value((number - MIDDLE) * self.step, None)


def span_of(largest: int) -> int:
    """The least power of two that is not below a largest utility."""
    return 1 << max(0, largest - 1).bit_length()


def described(score_game: bool, span: int, error: int) -> Expectation:
    """What a book says of values that are off by so many half units."""
    step = span / MIDDLE
    return Expectation("margin" if score_game else "utility", step, step / 2 + error * span / (2 * SPAN))


def number_of(value: Any) -> Any:
    """The number that a book holds for a value in units, or for an array of them: the nearest, halves away from 0, so
    that both sides see a value alike."""
    return (value + (1 << DROPPED - 1) - (value < 0) >> DROPPED) + MIDDLE


def mean(total: int, weight: int) -> int:
    """A weighted sum by the sum of the weights, to the nearest unit."""
    return (total + weight // 2) // weight
