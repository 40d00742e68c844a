"""What every way of solving hands over to the writer of books, whatever arrays or lists it worked in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from solver.value import Value


class TierCount(NamedTuple):
    """The distinct states of one tier: all, terminal ones, and by value for the side to move (terminal included)."""

    tier: int
    states: int
    terminal: int
    win: int
    draw: int
    loss: int


class Solved(NamedTuple):
    """The values of all non-terminal states, in ascending order of the states.

    `states` and `indices` are sequences of one length (lists or arrays); `palette[indices[i]]` is the value of
    `states[i]`; the palette is sorted best value first, and `examples[j]` is the smallest state of value
    `palette[j]`. `tiers` counts terminal states too.
    """

    states: Sequence[int]
    indices: Sequence[int]
    palette: list[Value]
    examples: list[int]
    tiers: list[TierCount]
