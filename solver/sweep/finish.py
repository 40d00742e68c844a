"""From any sweep to a solution: its values are checked against the plain rules, and sorted by state.

The tiers of the sorted sweep are merged by ranges of keys on their way to the book.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import add
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.base.expectations import number_of
from solver.base.options import Options
from solver.base.parallel import Workers
from solver.base.tiers import Tier
from solver.book.solution import Solved, TierCount
from solver.compiled import agreement
from solver.rules.game import Rules
from solver.store.packed import Table
from solver.store.runs import spans, splitters
from solver.store.shelves import ValueShelf
from solver.store.sorting import radix_sort_pairs
from solver.sweep.backward import Backward
from solver.sweep.forward import Forward
from solver.sweep.scale import Scale, Tally

AUDIT_SHARE = 0.02  # of the time of a solve, for holding it against the plain rules
SAMPLED = 1024  # states that it is held against them on, at most
PART = 1 << 18  # states of all tiers that are put in order together
OF_A_TIER = 64  # states of a sample of the sorted sweep, at most
Piece = tuple[NDArray[np.int64], NDArray[Any]]


class Unfit(Exception):
    """Arrays cannot take the game; the reason."""


class Swept(Protocol):
    """The result of a sweep, whether it sorted states, had arrays by state, or has shards of a cluster."""

    @property
    def scale(self) -> Scale: ...
    @property
    def tally(self) -> Tally: ...
    @property
    def layers(self) -> Sequence[Tier]: ...

    def merit_of(self, key: int) -> int | None:
        """The merit, or value, of a folded unfinished state, None if it was not reached."""

    def sample(self, chance: np.random.Generator, limit: int) -> list[int]:
        """Some states of every tier, or nearly."""

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterable[Piece]:
        """Yield the states, ascending, and the indices of their merits among all merits, in pieces of any size.

        In a game of chance the numbers of expectations take the place of the indices.
        """


def finish(rules: Rules, swept: Swept, options: Options, begun: float) -> Solved:
    """Return the solution of a sweep, after checking a part of it with the plain rules.

    The check takes a share of the time since `begun`.
    """
    units, tally, layers = swept.scale.units(rules, swept.tally.error), swept.tally, swept.layers
    solution = agreement.Solution(rules, swept.merit_of, units)
    seconds = max(agreement.AUDIT_SECONDS, AUDIT_SHARE * (time.monotonic() - begun))
    agreement.audit(solution, swept.sample(np.random.default_rng(0), SAMPLED), seconds=seconds)
    root = solution.merit(rules.game.initial())
    assert root is not None, "the start was not reached"
    kind, merits = units.kind, units.kind.listed(tally.values)
    best_first = None if merits is None else np.array(merits, np.int64)

    def parts() -> Iterator[Piece]:
        with Workers(options.workers) as team:
            yield from swept.pieces(best_first, team)

    longest = None
    if tally.longest is not None and kind.has_distances:
        longest = units.win - tally.longest[0], tally.longest[1]
    return Solved(
        tally.values.total(),
        parts,
        [kind.palette_kind.value(merit, units.win) for merit in merits or ()],
        merits and [tally.values[merit] for merit in merits],
        [
            TierCount(tier.number, tier.reached, sum(tier.ends), *map(add, tier.ends, unfinished))
            for tier, unfinished in zip(layers, reversed(tally.tiers), strict=True)
        ],
        units.value(root),
        longest,
        kind,
        any(tier.cyclic for tier in layers),
    )


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


def in_order(runs: Table, values: Sequence[Any], low: int, high: int) -> Piece:
    """The states of all runs from `low` to `high`, ascending, and their values: those of a run are a slice of its."""
    states, shares = runs.read(low, high)
    slices = [
        tier_values[begin : begin + count]
        for tier_values, (begin, count) in zip(values, shares.tolist(), strict=True)
        if count
    ]
    merits = np.concatenate(slices) if slices else np.empty(0, np.int8)
    if len(slices) > 1:
        radix_sort_pairs(states, merits, np.empty_like(states), np.empty_like(merits), len(states))
    return states, merits


class _Values:
    """The values of a layer, sliced as an array is, on a shelf where they begin at `begin`."""

    def __init__(self, shelf: ValueShelf, begin: int) -> None:
        self.shelf, self.begin = shelf, begin

    def __getitem__(self, places: slice) -> NDArray[Any]:
        return self.shelf.part(self.begin + (places.start or 0), self.begin + places.stop)


class Ordered:
    """`Swept`, of the sorted sweep."""

    def __init__(self, forward: Forward, backward: Backward) -> None:
        self.tier, self._section = forward.compiled.tier, forward.section
        self.states, self.merits = forward.states, backward.merits
        self.layers = forward.layers
        self.rows = {layer.number: layer for layer in forward.layers}
        self.scale, self.tally = backward.scale, backward.tally

    def merit_of(self, key: int) -> int | None:
        layer = self.rows.get(self.tier(key))
        if layer is None or not 0 <= key < 1 << 63:
            return None
        _, [[index, count]] = Table([self._section(layer)]).read(key, key)
        if not count:
            return None
        index += self.states.size - layer.end
        return int(self.merits.part(int(index), int(index) + 1)[0])

    def sample(self, chance: np.random.Generator, limit: int) -> list[int]:
        layers = [layer for layer in self.layers if layer.kept]
        number = max(1, min(OF_A_TIER, limit // max(1, len(layers))))
        states: list[int] = []
        for layer in layers:
            places = np.sort(chance.integers(0, layer.kept, number))
            states.extend(self._section(layer).at(places).tolist())
        chance.shuffle(states)
        return states[:limit]

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterator[Piece]:
        layers = [layer for layer in self.layers if layer.kept]
        runs = Table([self._section(layer) for layer in layers])
        values = [_Values(self.merits, self.states.size - layer.end) for layer in layers]
        indices = indices_of(best_first)
        self.merits.part(0, min(1, self.states.size))  # maps it

        def place(span: tuple[int, int]) -> Piece:
            states, merits = in_order(runs, values, *span)
            return states, indices(merits)

        for piece in team.map(place, spans(splitters(runs, PART))):
            self.states.work.read(2 * len(piece[0]))
            yield piece
