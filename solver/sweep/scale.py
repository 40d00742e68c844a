"""The scale of a solve's values, their width and the meaning of their numbers; and how many there are of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.base.expectations import UNIT, WIDER, number_of, span_of, spanned
from solver.base.kinds import Units
from solver.compiled.edges import MOST_PLIES_LEFT
from solver.rules.game import Rules, own_method

WIN = np.iinfo(np.int16).max  # at once, in a game with cycles

FEW = 64  # merits that are soonest counted one by one
Merits = NDArray[Any]
Piece = tuple[NDArray[np.int64], Merits]  # states, ascending, and the indices of their merits among all


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
        return Scale(1, np.dtype(np.int64).str, UNIT // span_of(largest, rules.margins, rules.name))
    if cyclic:
        return Scale(WIN, np.dtype(np.int16).str, 0)
    longest = tiers + 1 + (MOST_PLIES_LEFT if own_method(rules.game, "plies_left") else 0)
    greatest = largest if rules.scores else longest
    return next(scale for scale in map(of_bytes, (1, 2, 4, 8)) if greatest < scale.win)


def wider(rules: Rules, scale: Scale) -> Scale:
    """A scale for margins that do not fit this one. Raises GameError if they are beyond the limits."""
    if scale.point:
        return scale._replace(point=UNIT // spanned(scale.span * WIDER, rules.name))
    size = np.dtype(scale.kind).itemsize
    if size == 8:
        raise GameError(f"{rules.name}: rewards add up to margins of 2**60 or more: rewards must be smaller")
    return of_bytes(2 * size)


def of_bytes(size: int) -> Scale:
    """The scale of merits of so many bytes."""
    kind = np.dtype(f"i{size}")
    return Scale(int(np.iinfo(kind).max), kind.str, 0)


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


def indices_of(best_first: Sequence[int] | NDArray[np.int64] | None) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a function from merits to their indices among all merits, or to their numbers without such a list."""
    if best_first is None:
        return lambda values: np.asarray(number_of(values), np.uint32)
    return partial(places_of, np.array(best_first, np.int64)[::-1])


def places_of(ascending: NDArray[np.int64], merits: NDArray[Any]) -> NDArray[Any]:
    """Where merits are among all, best first."""
    dtype = np.uint8 if len(ascending) <= 256 else np.int32
    bits = 8 * merits.dtype.itemsize
    # All that one or two bytes can be, looked up
    if bits <= 16 and len(merits) >= 1 << bits - 2:
        unsigned = np.dtype(f"u{bits // 8}")
        every = np.arange(1 << bits, dtype=unsigned).view(merits.dtype)
        places: NDArray[Any] = places_of(ascending, every.astype(np.int64))[merits.view(unsigned)]
        return places
    return (len(ascending) - 1 - np.searchsorted(ascending, merits)).astype(dtype)
