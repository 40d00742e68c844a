"""The counts of values that a backward pass makes, for the book and for its header."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.rules.game import Rules

FEW = 64  # merits that are soonest counted one by one
Merits = NDArray[Any]


@dataclass
class Tally:
    """Counts of the unfinished states whose values are known.

    Attributes:
        values: How many states have each merit, or each sign of an expectation.
        tiers: For each tier, the last one first, its wins, draws and losses.
        longest: The smallest merit of a win, and the first state that has it.
        error: How many half units an expectation may be off.
    """

    values: Counter[int] = field(default_factory=Counter)
    tiers: list[list[int]] = field(default_factory=list)
    longest: tuple[int, int] | None = None
    error: int = 0

    def end_tier(self, counts: Mapping[int, int]) -> None:
        """Enter the merits of a whole tier, each with its number of states."""
        self.values.update(counts)
        self.tiers.append(
            [
                sum(number for merit, number in counts.items() if merit > 0),
                counts.get(0, 0),
                sum(number for merit, number in counts.items() if merit < 0),
            ]
        )

    def meet_win(self, win: tuple[int, int] | None) -> None:
        """Enter the smallest merit of a win in some states, and the first that has it, if there is one."""
        if win is not None:
            self.longest = min(win, self.longest or win)


def tallied(merits: Merits) -> dict[int, int]:
    """How many there are of each merit."""
    if len(merits) <= FEW:
        return Counter(merits.tolist())
    bits = 8 * merits.dtype.itemsize
    if bits <= 16 and len(merits) >= 1 << bits - 4:
        numbers = np.bincount(merits.view(f"u{bits // 8}"), minlength=1 << bits)
        indices = np.flatnonzero(numbers)
        distinct, counts = indices.astype(f"u{bits // 8}").view(merits.dtype), numbers[indices]
    else:
        distinct, counts = np.unique(merits, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))


def refuse_long(rules: Rules, counts: Mapping[int, int], win: int) -> None:
    """Raise GameError if some win is so far that one ply more would be a draw."""
    if not rules.scores and (1 in counts or -1 in counts):
        raise GameError(f"{rules.name} has wins of more than {win - 2:,} plies")


def slowest_win(counts: Mapping[int, int], merits: Merits, states: NDArray[np.int64]) -> tuple[int, int] | None:
    """The smallest merit of a win and the first state that has it."""
    merit = min((merit for merit in counts if merit > 0), default=None)
    return None if merit is None else (merit, int(states[np.argmax(merits == merit)]))
