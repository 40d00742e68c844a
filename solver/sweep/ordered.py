"""The result of the sorted sweep, whose tiers are merged by ranges of keys on their way to the book."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.store.packed import Table
from solver.store.runs import spans, splitters
from solver.store.shelves import ValueShelf
from solver.store.sorting import radix_sort_pairs
from solver.sweep.backward import Backward
from solver.sweep.finish import Piece, indices_of
from solver.sweep.forward import Forward

PART = 1 << 18  # states of all tiers that are put in order together
OF_A_TIER = 64  # states of a sample, at most


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
