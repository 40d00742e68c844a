"""What the sorted sweep has found, whose tiers are merged by ranges of keys on their way to the book."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.book.solution import TierCount
from solver.store.runs import places_in, splitters
from solver.store.sorting import radix_sort_pairs
from solver.sweep.backward import Backward
from solver.sweep.finish import Piece, numbers_of, places_of, tier_count
from solver.sweep.forward import Forward

PART = 1 << 18  # states of all tiers that are put in order together
OF_A_TIER = 64  # states of a sample, at most


class Ordered:
    """`Swept`, of the sorted sweep."""

    def __init__(self, forward: Forward, backward: Backward) -> None:
        self.tier = forward.compiled.tier
        self.states, self.merits = forward.states, backward.merits
        self.layers = forward.layers
        self.rows = {layer.tier: layer for layer in forward.layers}
        self.scale, self.error = backward.scale, backward.error
        self.tally, self.counts, self.longest = backward.tally, backward.counts, backward.longest
        self.cyclic = any(layer.cyclic for layer in forward.layers)

    def tiers(self) -> list[TierCount]:
        return [
            tier_count(layer.tier, layer.reached, (layer.wins, layer.draws, layer.losses), counts)
            for layer, counts in zip(self.layers, reversed(self.counts), strict=True)
        ]

    def merit_of(self, key: int) -> int | None:
        layer = self.rows.get(self.tier(key))
        if layer is None or not 0 <= key < 1 << 63:
            return None
        states = self.states.view()[layer.begin : layer.end]
        place = int(np.searchsorted(states, key))
        if place == len(states) or states[place] != key:
            return None
        return int(self.merits.view()[self.states.size - layer.end + place])

    def sample(self, chance: np.random.Generator, most: int) -> list[int]:
        layers = [layer for layer in self.layers if layer.begin < layer.end]
        number = max(1, min(OF_A_TIER, most // max(1, len(layers))))
        places = [place for one in layers for place in chance.integers(one.begin, one.end, number).tolist()]
        states: list[int] = self.states.view()[places].tolist() if places else []
        chance.shuffle(states)
        return states[:most]

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterator[Piece]:
        view, merits, total = self.states.view(), self.merits.view(), self.states.size
        runs = [view[layer.begin : layer.end] for layer in self.layers]
        values = [merits[total - layer.end : total - layer.begin] for layer in self.layers]
        read = self.states.work.read
        keys = splitters(runs, PART, read)
        starts = [np.concatenate([[0], places_in(run, keys, read)]) for run in runs] if len(keys) else None
        indices_of = numbers_of if best_first is None else functools.partial(places_of, best_first[::-1])
        lock = threading.Lock()

        def place(piece: tuple[int, list[tuple[int, int, int]]]) -> Piece:
            parts = [(runs[i][begin:end], values[i][begin:end]) for i, begin, end in piece[1]]
            if len(parts) == 1:
                states, merits = parts[0]
                states = states.copy()
            else:
                states = np.concatenate([part[0] for part in parts])
                merits = np.concatenate([part[1] for part in parts])
                radix_sort_pairs(states, merits, np.empty_like(states), np.empty_like(merits), len(states))
            indices = indices_of(merits)
            with lock:
                read(states.nbytes + merits.nbytes)
            return states, indices

        def spans() -> Iterator[tuple[int, list[tuple[int, int, int]]]]:
            for number in range(len(keys) + 1):
                inside = []
                for i, run in enumerate(runs):
                    begin = 0 if starts is None else int(starts[i][number])
                    end = len(run) if number == len(keys) else int(starts[i][number + 1])  # type: ignore[index]
                    if begin < end:
                        inside.append((i, begin, end))
                if inside:
                    yield number, inside

        yield from team.map(place, spans())
