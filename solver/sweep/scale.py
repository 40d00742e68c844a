"""What the values of a solve are: how wide, and what they count."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.base.errors import GameError
from solver.base.expectations import MOST_SPAN, SPAN, WIDER, described, span_of
from solver.base.kinds import Units
from solver.compiled.edges import MOST_PLIES_LEFT
from solver.rules.game import Rules, own_method
from solver.sweep.parents import WIN


class Scale(NamedTuple):
    """What values are: the merit of a win at once, the type that holds them and, in a game of chance, the units of a
    margin of 1, else 0."""

    win: int
    kind: str
    point: int

    @property
    def span(self) -> int:
        """The largest margin, in a game of chance; else 0."""
        return SPAN // self.point if self.point else 0

    def units(self, rules: Rules, error: int) -> Units:
        """What values that are off by so many half units count."""
        kind = described(rules.margins, self.span, error) if self.point else rules.kind
        return Units(kind, self.win, self.point or 1, error)


class TooWide(Exception):
    """A margin is beyond what values can hold: the scale must be a wider one."""


def first_scale(rules: Rules, cyclic: bool, tiers: int, largest: int) -> Scale:
    """The scale of a game of so many tiers whose largest final margin this is; `cyclic`: of some tier with cycles."""
    if rules.chance is not None:
        if largest > 1 and not rules.margins:
            raise GameError(f"{rules.name} has utilities other than -1, 0, 1: a game of margins says score_game = True")
        return of_span(rules, span_of(largest))
    if cyclic and not rules.scores:
        return Scale(WIN, np.dtype(np.int16).str, 0)
    longest = tiers + 1 + (MOST_PLIES_LEFT if own_method(rules.game, "plies_left") else 0)
    most = largest if rules.scores else longest
    return next(scale for scale in map(of_bytes, (1, 2, 4, 8)) if most < scale.win)


def wider(rules: Rules, scale: Scale) -> Scale:
    """A scale for margins that do not fit this one."""
    return of_span(rules, scale.span * WIDER) if scale.point else of_bytes(2 * np.dtype(scale.kind).itemsize)


def of_bytes(size: int) -> Scale:
    """The scale of merits of so many bytes."""
    kind = np.dtype(f"i{size}")
    return Scale(int(np.iinfo(kind).max), kind.str, 0)


def of_span(rules: Rules, span: int) -> Scale:
    """The scale of expectations that reach so far."""
    if span > MOST_SPAN:
        raise GameError(f"{rules.name} has margins beyond {MOST_SPAN:,}: expectations take smaller ones")
    return Scale(1, np.dtype(np.int64).str, SPAN // span)
