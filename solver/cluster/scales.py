"""What the values of a solve are: how wide, and what they count."""

from __future__ import annotations

import numpy as np

from solver.base.errors import GameError
from solver.base.expectations import MOST_SPAN, SPAN, WIDER, Expectation, described, span_of
from solver.cluster.tasks import Scale
from solver.rules.game import Rules
from solver.sweep.backward import range_of_merits


def first_scale(rules: Rules, cyclic: bool, tiers: int, largest: int) -> Scale:
    """The scale of a game of so many tiers whose largest final margin this is; `cyclic`: of some tier with cycles."""
    if rules.chance is None:
        win, kind = range_of_merits(rules, cyclic, tiers, largest)
        return Scale(win, kind.str, 0)
    if largest > 1 and not rules.margins:
        raise GameError(f"{rules.name} has utilities other than -1, 0, 1: a game of margins says score_game = True")
    return _of_span(rules, span_of(largest))


def wider(rules: Rules, scale: Scale) -> Scale:
    """A scale for margins that do not fit this one."""
    if scale.point:
        return _of_span(rules, SPAN // scale.point * WIDER)
    return scale._replace(kind=np.dtype(f"i{2 * np.dtype(scale.kind).itemsize}").str)


def expectation_of(rules: Rules, scale: Scale, error: int) -> Expectation:
    """What a book says of values that are off by so many half units."""
    return described(rules.margins, SPAN // scale.point, error)


def _of_span(rules: Rules, span: int) -> Scale:
    if span > MOST_SPAN:
        raise GameError(f"{rules.name} has margins beyond {MOST_SPAN:,}: expectations take smaller ones")
    return Scale(1, np.dtype(np.int64).str, SPAN // span)
