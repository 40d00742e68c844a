"""The shard files of all tiers as one, in the order of states: the one k-way merge at the end of a solve."""

from __future__ import annotations

import bisect
import functools
import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.book.solution import TierCount
from solver.cluster.blocks import owner_of
from solver.cluster.history import Course, Tier
from solver.cluster.store import DIGITS, Damaged, File, Store
from solver.cluster.tasks import SAMPLE
from solver.store.sorting import radix_sort_pairs
from solver.sweep.finish import Piece, numbers_of, places_of, tier_count

BUFFERED = 256 << 20  # bytes of all files together that are held
LEAST = 1 << 12  # states of one file that are read at a time
MOST = 1 << 18
NEAR = 1 << 12  # states that are read with one that is asked for: a bisection ends among them
Part = tuple[NDArray[np.int64], NDArray[Any]]


class Stream:
    """The states of a shard, ascending, and their values, read a part at a time; digests are checked by the end."""

    def __init__(self, store: Store, states: File, values: File, kind: np.dtype[Any], size: int) -> None:
        self.store, self.size = store, size
        self.files = [(states, np.dtype(np.int64)), (values, kind)]
        self.digests = [hashlib.sha256(), hashlib.sha256()]
        self.place, self.count, self.largest = 0, states.length, -1
        self.states, self.values = np.empty(0, np.int64), np.empty(0, kind)

    def fill(self) -> bool:
        """Read on if less than half a part is left of what was read; False if nothing is left at all."""
        if 2 * len(self.states) < self.size and self.place < self.count:
            end = min(self.place + self.size, self.count)
            states, values = (self._read(number, file, kind, end) for number, (file, kind) in enumerate(self.files))
            self.place = end
            if states[0] <= self.largest or (states[1:] <= states[:-1]).any():
                raise Damaged(self.files[0][0].name)  # in this order nobody would find the end
            self.largest = int(states[-1])
            self.states, self.values = np.concatenate([self.states, states]), np.concatenate([self.values, values])
        return len(self.states) > 0

    @property
    def last(self) -> int | None:
        """The largest state that was read; None if no more is to come."""
        return None if self.place == self.count else self.largest

    def take(self, bound: int | None) -> Part:
        """What was read up to a state."""
        end = len(self.states) if bound is None else int(np.searchsorted(self.states, bound, "right"))
        part = self.states[:end], self.values[:end]
        self.states, self.values = self.states[end:], self.values[end:]
        return part

    def _read(self, number: int, file: File, kind: np.dtype[Any], end: int) -> NDArray[Any]:
        data = self.store.read(file.name, self.place * kind.itemsize, end * kind.itemsize)
        self.digests[number].update(data)
        if end == self.count and self.digests[number].hexdigest()[:DIGITS] != file.name.rpartition(".")[2]:
            raise Damaged(file.name)
        return np.frombuffer(data, kind)


class Merged:
    """`Swept`, in the files of a store; `tier` is what tells a state's."""

    def __init__(self, store: Store, course: Course, tier: Callable[[int], int], error: int = 0) -> None:
        assert course.scale is not None
        self.store, self.course, self.kind = store, course, np.dtype(course.scale.kind)
        self.tier, self.scale, self.error = tier, course.scale, error
        self.tally, self.longest = course.tally, course.slowest
        self.cyclic = any(tier.cyclic for tier in course.tiers)
        self.values = list(reversed(course.values))
        self.rows = {tier.number: place for place, tier in enumerate(course.tiers)}
        self._read = functools.lru_cache(maxsize=256)(self._read_near)

    def tiers(self) -> list[TierCount]:
        return [
            tier_count(tier.number, tier.reached, tier.ends, counts)
            for tier, counts in zip(self.course.tiers, reversed(self.course.counts), strict=True)
        ]

    def merit_of(self, key: int) -> int | None:
        place = self.rows.get(self.tier(key))
        if place is None or not 0 <= key < 1 << 63:
            return None
        bits = self.course.tiers[place].bits
        owner = int(owner_of(key, bits))
        states, values = self.course.tiers[place].states[owner], self.values[place][owner]
        kind, every = np.dtype(np.int64), range(states.length)
        at = bisect.bisect_left(every, key, key=lambda at: self._at(states, at, kind))
        found = at < states.length and self._at(states, at, kind) == key
        return self._at(values, at, self.kind) if found else None

    def _at(self, file: File, place: int, kind: np.dtype[Any]) -> int:
        begin = place - place % NEAR
        return int(self._read(file, begin, min(begin + NEAR, file.length), kind)[place - begin])

    def _read_near(self, file: File, begin: int, end: int, kind: np.dtype[Any]) -> NDArray[Any]:
        return np.frombuffer(self.store.read(file.name, begin * kind.itemsize, end * kind.itemsize), kind)

    def sample(self, chance: np.random.Generator, most: int) -> list[int]:
        tiers = [tier for tier in self.course.tiers if tier.stored]
        number = max(1, min(SAMPLE, most // max(1, len(tiers))))
        states = [state for tier in tiers for state in self._some(tier, chance, number)]
        chance.shuffle(states)
        return states[:most]

    def _some(self, tier: Tier, chance: np.random.Generator, number: int) -> Iterator[int]:
        files = [file for file in tier.states if file.length]
        for _ in range(number):
            file = files[int(chance.integers(len(files)))]
            yield self._at(file, int(chance.integers(file.length)), np.dtype(np.int64))

    def check(self, key: int | None = None) -> None:
        """Raise Damaged for the first file that is not what was written: of all, or of the two that have a state."""
        place = None if key is None else self.rows.get(self.tier(key))
        if place is None:
            pairs = self._pairs()
        else:
            owner = int(owner_of(key, self.course.tiers[place].bits))
            pairs = [(self.course.tiers[place].states[owner], self.values[place][owner])]
        for states, values in pairs:
            self.store.get(states, np.int64)
            self.store.get(values, self.kind)

    def _pairs(self) -> list[tuple[File, File]]:
        """The files that there are of states, and of their values."""
        return [
            pair
            for tier, values in zip(self.course.tiers, self.values, strict=True)
            for pair in zip(tier.states, values, strict=True)
            if pair[0].length
        ]

    def pieces(self, best_first: NDArray[np.int64] | None, team: Workers) -> Iterator[Piece]:
        pairs = self._pairs()
        bytes_each = 8 + self.kind.itemsize
        size = max(LEAST, min(MOST, BUFFERED // (bytes_each * max(1, len(pairs)))))
        streams = [Stream(self.store, states, values, self.kind, size) for states, values in pairs]
        indices_of = numbers_of if best_first is None else functools.partial(places_of, best_first[::-1])

        def ordered(parts: Sequence[Part]) -> Piece:
            states, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            if len(parts) > 1:
                radix_sort_pairs(states, values, np.empty_like(states), np.empty_like(values), len(states))
            return states, indices_of(values)

        yield from team.map(ordered, _spans(streams))


def _spans(streams: list[Stream]) -> Iterator[list[Part]]:
    """What all streams have in one range of states after the other."""
    while streams := [stream for stream in streams if stream.fill()]:
        bound = min((last for stream in streams if (last := stream.last) is not None), default=None)
        yield [part for stream in streams if len((part := stream.take(bound))[0])]
