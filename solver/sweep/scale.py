"""The scale of a solve's values: their width, and the meaning of their numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.base.errors import GameError
from solver.base.expectations import UNIT, WIDER, span_of, spanned
from solver.base.kinds import Units
from solver.compiled.edges import MOST_PLIES_LEFT
from solver.rules.game import Rules, own_method

WIN = np.iinfo(np.int16).max  # at once, in a game with cycles


class Scale(NamedTuple):
    """The scale of merits.

    Attributes:
        win: Merit of an immediate win.
        kind: The dtype that holds merits.
        point: In a game of chance, units of a margin of 1. Otherwise 0.
    """

    win: int
    kind: str
    point: int

    @property
    def span(self) -> int:
        """The largest margin, in a game of chance; else 0."""
        return UNIT // self.point if self.point else 0

    def units(self, rules: Rules, error: int) -> Units:
        """Return the units of values that are off by so many half units."""
        return Units(rules.kind.measured(self.span, error), self.win, self.point or 1, error)


class TooWide(Exception):
    """A margin is too large for the values: the scale must be a wider one."""


def first_scale(rules: Rules, cyclic: bool, tiers: int, largest: int) -> Scale:
    """The scale of a game of so many tiers whose largest final margin this is; `cyclic`: of some tier with cycles."""
    if rules.kind.number is float:
        return of_span(span_of(largest, rules.margins, rules.name))
    if cyclic:
        return Scale(WIN, np.dtype(np.int16).str, 0)
    longest = tiers + 1 + (MOST_PLIES_LEFT if own_method(rules.game, "plies_left") else 0)
    greatest = largest if rules.scores else longest
    return next(scale for scale in map(of_bytes, (1, 2, 4, 8)) if greatest < scale.win)


def wider(rules: Rules, scale: Scale) -> Scale:
    """A scale for margins that do not fit this one. Raises GameError if they are beyond the limits."""
    if scale.point:
        return of_span(spanned(scale.span * WIDER, rules.name))
    size = np.dtype(scale.kind).itemsize
    if size == 8:
        raise GameError(f"{rules.name}: rewards add up to margins of 2**60 or more: rewards must be smaller")
    return of_bytes(2 * size)


def of_bytes(size: int) -> Scale:
    """The scale of merits of so many bytes."""
    kind = np.dtype(f"i{size}")
    return Scale(int(np.iinfo(kind).max), kind.str, 0)


def of_span(span: int) -> Scale:
    """The scale of expectations that reach so far."""
    return Scale(1, np.dtype(np.int64).str, UNIT // span)
