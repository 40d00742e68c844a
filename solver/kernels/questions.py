"""Which bound a search by null windows asks about next."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from solver.kernels.table import LIMIT, WIN


@register_jitable(forceinline=True)
def question(low, high, longest, asked, scores):
    """The bound to ask about next, low < bound <= high: quick wins and quick losses first.

    asked: what was asked before, LIMIT at first. longest: plies that the game can still take, 0 if unknown.
    """
    if low + 1 == high:
        return high
    if scores:
        if asked == LIMIT:
            return max(low + 1, min(np.int64(1), high))
        return low + 1 if asked <= low else high
    if low > 0:
        return WIN - (2 * WIN - high - low) // 2
    if high < 0:
        return (2 * WIN + low + high + 1) // 2 - WIN
    if longest == 0:
        return np.int64(1) if high > 0 else np.int64(0)
    # places: 1 is the slowest win, -1 the slowest loss, 0 a draw
    most = longest - (WIN - high) + 1 if high > 0 else 0
    least = (WIN + low) - longest - 1 if low < 0 else 0
    middle = least + (most - least) // 2
    if middle <= 0 and least // 2 < middle:
        middle = -(-least // 2)
    elif middle >= 0 and most // 2 > middle:
        middle = most // 2
    place = middle + 1
    if place > 0:
        return WIN - (longest - place + 1)
    return 0 if place == 0 else (longest + place + 1) - WIN
