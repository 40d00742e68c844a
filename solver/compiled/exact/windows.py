"""Which bound a search by null windows asks about next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from solver.compiled.exact.table import LIMIT, WIN

SOON = (2, 3, 4, 5)  # tenths of the plies that are left


@register_jitable(forceinline=True)
def question(low: Any, high: Any, longest: Any, asked: Any, scores: bool) -> Any:
    """The bound to ask about next, low < bound <= high.

    First whether it is won, or lost, soon, each time a tenth of the plies that are left later, up to half of them: a
    shallow search tells. Then who wins, if anyone. Then how soon: halves of a quick win or loss, of a slow one from the
    slow end, near to the known bounds.

    asked: the bound asked before, LIMIT at first. longest: plies that the game can still take, 0 if unknown.
    """
    if low + 1 == high:
        return high
    if scores:
        if asked == LIMIT:
            return max(low + 1, min(np.int64(1), high))
        return low + 1 if asked <= low else high
    if low > 0:
        return low + 1 + (high - low - 1) // (2 if high == WIN else 4)
    if high < 0:
        return high - (high - low - 1) // (2 if low == -WIN else 4)
    if longest > 0:
        for tenths in SOON:
            quick = max((longest * tenths + 5) // 10, 1)
            if high >= WIN - quick:
                return WIN - quick
        for tenths in SOON:
            quick = max((longest * tenths + 5) // 10, 1)
            if low < quick - WIN:
                return quick - WIN
    return np.int64(1) if high > 0 else np.int64(0)
