"""Which bound a search by null windows asks about next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from solver.compiled.exact.table import LIMIT, WIN


@register_jitable(forceinline=True)
def question(low: Any, high: Any, longest: Any, asked: Any, scores: bool) -> Any:
    """The bound to ask about next, low < bound <= high.

    First whether it is won, or lost, in half of the plies that are left, which a shallow search tells; then who wins,
    if anyone; then how soon: halves of a quick win or loss, of a slow one from the slow end, near to the known bounds.

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
    quick = (longest + 1) // 2
    if longest > 0 and high == WIN:
        return WIN - quick
    if longest > 0 and low == -WIN:
        return quick - WIN
    return np.int64(1) if high > 0 else np.int64(0)
