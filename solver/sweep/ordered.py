"""A complete solution in the order of its states, as books want it, and its facts."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.base import value
from solver.base.expectations import Expectation, Steps, number_of
from solver.base.parallel import Workers
from solver.book.solution import Solved, TierCount
from solver.book.writer import CHUNK
from solver.rules.game import Rules
from solver.store.runs import places_in, splitters
from solver.store.sorting import radix_sort_pairs
from solver.sweep.backward import Backward
from solver.sweep.forward import Forward

PART = 1 << 18  # states of all tiers that are put in order together
OF_A_TIER, OF_ALL = 64, 1024  # states of a sample, at most
Piece = tuple[NDArray[np.int64], NDArray[Any]]
Pieces = Callable[[Any, Workers], Iterable[Piece]]


class Valued(Protocol):
    """What a pass backward found: how many there are of each merit, the merit of a win at once, and the smallest merit
    of a win with its first state."""

    @property
    def tally(self) -> Mapping[int, int]: ...
    @property
    def win(self) -> int: ...
    @property
    def longest(self) -> tuple[int, int] | None: ...


class Expected(Protocol):
    """The same of a game of chance: how many values there are of each sign, and what they are."""

    @property
    def tally(self) -> Mapping[int, int]: ...
    @property
    def expectation(self) -> Expectation: ...


def solved_by(
    rules: Rules,
    found: Valued,
    tiers: list[TierCount],
    pieces: Pieces,
    root: int,
    workers: int | None,
    cyclic: bool = False,
) -> Solved:
    """What is known of a solution. `pieces` yields states, ascending, and the places of their merits in an array of
    all merits, best first; `root` is the merit of the start."""
    merits = np.array(sorted(found.tally, reverse=True), np.int64)
    win = found.win

    def parts() -> Iterator[Piece]:
        with Workers(workers) as team:
            yield from _in_chunks(pieces(merits, team))

    longest = None
    if found.longest is not None and not rules.scores:
        longest = win - found.longest[0], found.longest[1]
    return Solved(
        sum(found.tally.values()),
        parts,
        [value.value_of(merit, rules.scores, win) for merit in merits.tolist()],
        [found.tally[merit] for merit in merits.tolist()],
        tiers,
        value.value_of(root, rules.scores, win),
        longest,
        rules.kind,
        cyclic,
    )


def solved_by_chance(
    found: Expected, tiers: list[TierCount], pieces: Pieces, root: int, workers: int | None, cyclic: bool
) -> Solved:
    """`solved_by` of a game of chance; `root` is the value of the start in units, `pieces(None)` yields numbers."""

    def parts() -> Iterator[Piece]:
        with Workers(workers) as team:
            yield from _in_chunks(pieces(None, team))

    expectation = found.expectation
    start, stored = Steps(expectation.step)[number_of(root)], sum(found.tally.values())
    return Solved(stored, parts, [], None, tiers, start, None, expectation, cyclic)


def tier_count(tier: int, reached: int, ends: Sequence[int], unfinished: Sequence[int]) -> TierCount:
    """The counts of a tier, from those of its finished and unfinished states by outcome: wins, draws, losses."""
    return TierCount(tier, reached, sum(ends), *(one + other for one, other in zip(ends, unfinished, strict=True)))


def _in_chunks(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces joined and cut, so that all but the last hold CHUNK states."""
    states: list[NDArray[np.int64]] = []
    indices: list[NDArray[Any]] = []
    ready = 0
    for keys, places in pieces:
        states.append(keys)
        indices.append(places)
        ready += len(keys)
        while ready >= CHUNK:
            whole, whole_indices = np.concatenate(states), np.concatenate(indices)
            yield whole[:CHUNK], whole_indices[:CHUNK]
            states, indices = [whole[CHUNK:]], [whole_indices[CHUNK:]]
            ready -= CHUNK
    if ready:
        yield np.concatenate(states), np.concatenate(indices)


def places_of(ascending: NDArray[np.int64], merits: NDArray[Any]) -> NDArray[Any]:
    """Where merits are among all, best first."""
    dtype = np.uint8 if len(ascending) <= 256 else np.int32
    return (len(ascending) - 1 - np.searchsorted(ascending, merits)).astype(dtype)


def numbers_of(values: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(number_of(values), np.uint32)


class Ordered:
    """The solution of the sorted sweep, whose tiers are merged by ranges of keys on their way to the book."""

    def __init__(self, forward: Forward, backward: Backward) -> None:
        self.tier = forward.compiled.tier
        self.states, self.merits = forward.states, backward.merits
        self.layers = forward.layers
        self.rows = {layer.tier: layer for layer in forward.layers}

    def merit_of(self, key: int) -> int | None:
        """The merit of a folded state, None if it was not reached."""
        layer = self.rows.get(self.tier(key))
        if layer is None or not 0 <= key < 1 << 63:
            return None
        states = self.states.view()[layer.begin : layer.end]
        place = int(np.searchsorted(states, key))
        if place == len(states) or states[place] != key:
            return None
        return int(self.merits.view()[self.states.size - layer.end + place])

    def sample(self, chance: np.random.Generator) -> list[int]:
        """Some states of every tier."""
        layers = [layer for layer in self.layers if layer.begin < layer.end]
        number = max(1, min(OF_A_TIER, OF_ALL // max(1, len(layers))))
        places = [place for one in layers for place in chance.integers(one.begin, one.end, number).tolist()]
        states: list[int] = self.states.view()[places].tolist() if places else []
        chance.shuffle(states)
        return states[:OF_ALL]

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterator[Piece]:
        """States, ascending, and the places of their merits, or the numbers of expectations, in pieces of any size."""
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
