"""Any sweep becomes a solution: what it found is held against the plain rules, and put in the order of states."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.base.expectations import number_of
from solver.base.options import Options
from solver.base.parallel import Workers
from solver.book.solution import Solved, TierCount
from solver.compiled import agreement
from solver.rules.game import Rules
from solver.sweep.scale import Scale

AUDIT_SHARE = 0.02  # of the time of a solve, for holding it against the plain rules
SAMPLED = 1024  # states that it is held against them on, at most
Piece = tuple[NDArray[np.int64], NDArray[Any]]


class Swept(Protocol):
    """What a sweep hands over, whether it sorted states, had arrays by state, or has shards of a cluster.

    `tally` counts the unfinished states by merit, of a game of chance by the sign of their values, which may be off by
    `error` half units; `longest` is the smallest merit of a win and its first state.
    """

    @property
    def scale(self) -> Scale: ...
    @property
    def error(self) -> int: ...
    @property
    def tally(self) -> Mapping[int, int]: ...
    @property
    def longest(self) -> tuple[int, int] | None: ...
    @property
    def cyclic(self) -> bool: ...

    def tiers(self) -> list[TierCount]:
        """The states of each tier, counted."""

    def merit_of(self, key: int) -> int | None:
        """The merit, or value, of a folded unfinished state, None if it was not reached."""

    def sample(self, chance: np.random.Generator, most: int) -> list[int]:
        """Some states of every tier, or nearly."""

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterable[Piece]:
        """States, ascending, and the places of their merits among all, or the numbers of expectations where there are
        none, in pieces of any size."""


def finish(rules: Rules, swept: Swept, options: Options, begun: float) -> Solved:
    """The solution that a sweep has found, once some of it agrees with the plain rules, for a share of the time since
    `begun`."""
    units, tally = swept.scale.units(rules, swept.error), swept.tally
    solution = agreement.Solution(rules, swept.merit_of, units)
    seconds = max(agreement.AUDIT_SECONDS, AUDIT_SHARE * (time.monotonic() - begun))
    agreement.audit(solution, swept.sample(np.random.default_rng(0), SAMPLED), seconds=seconds)
    root = solution.merit(rules.game.initial())
    assert root is not None, "the start was not reached"
    merits = units.kind.listed(tally)
    best_first = None if merits is None else np.array(merits, np.int64)

    def parts() -> Iterator[Piece]:
        with Workers(options.workers) as team:
            yield from swept.pieces(best_first, team)

    longest = None
    if swept.longest is not None and not rules.scores:
        longest = units.win - swept.longest[0], swept.longest[1]
    return Solved(
        sum(tally.values()),
        parts,
        [units.value(merit) for merit in merits or ()],
        merits and [tally[merit] for merit in merits],
        swept.tiers(),
        units.value(root),
        longest,
        units.kind,
        swept.cyclic,
    )


def tier_count(tier: int, reached: int, ends: Sequence[int], unfinished: Sequence[int]) -> TierCount:
    """The counts of a tier, from those of its finished and unfinished states by outcome: wins, draws, losses."""
    return TierCount(tier, reached, sum(ends), *(one + other for one, other in zip(ends, unfinished, strict=True)))


def places_of(ascending: NDArray[np.int64], merits: NDArray[Any]) -> NDArray[Any]:
    """Where merits are among all, best first."""
    dtype = np.uint8 if len(ascending) <= 256 else np.int32
    bits = 8 * merits.dtype.itemsize
    if bits <= 16 and len(merits) >= 1 << bits - 2:  # all that one or two bytes can be, looked up
        unsigned = np.dtype(f"u{bits // 8}")
        every = np.arange(1 << bits, dtype=unsigned).view(merits.dtype)
        places: NDArray[Any] = places_of(ascending, every.astype(np.int64))[merits.view(unsigned)]
        return places
    return (len(ascending) - 1 - np.searchsorted(ascending, merits)).astype(dtype)


def numbers_of(values: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(number_of(values), np.uint32)
