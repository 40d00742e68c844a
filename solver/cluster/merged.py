"""The shard files of all tiers as one, in the order of states, as tasks put them: the end of a solve."""

from __future__ import annotations

import bisect
import functools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base.parallel import Workers
from solver.base.sharding import ARRANGED, BOUND
from solver.book.solution import Encoded
from solver.cluster.blocks import owner_of
from solver.cluster.history import ShardedTier
from solver.cluster.ordering import Bound, Form, Share, arrange, bind, cuts, glued, ordered
from solver.cluster.shards import Shards
from solver.cluster.store import File
from solver.cluster.tasks import CHECKED_STATES
from solver.sweep.finish import Piece, indices_of

READ_STATES = 1 << 12  # states that are read with one that is asked for: a bisection ends among them


class Merged:
    """`Swept`, in the files of a store. `tier` gives the tier of a state."""

    def __init__(self, shards: Shards, tier: Callable[[int], int]) -> None:
        course = shards.course
        assert course.scale is not None
        self.shards, self.store, self.course, self.kind = shards, shards.store, course, np.dtype(course.scale.kind)
        self.tier, self.scale, self.tally, self.layers = tier, course.scale, course.tally, course.tiers
        self.stored: int = course.stored
        self.values: list[list[File]] = list(reversed(course.values))
        self.rows: dict[int, int] = {tier.number: row for row, tier in enumerate(course.tiers)}
        self._read = functools.lru_cache(maxsize=256)(self._read_near)

    def merit_of(self, key: int) -> int | None:
        row = self.rows.get(self.tier(key))
        if row is None or not 0 <= key < 1 << 63:
            return None
        bits = self.course.tiers[row].bits
        owner = int(owner_of(key, bits))
        states, values = self.course.tiers[row].states[owner], self.values[row][owner]
        kind, every = np.dtype(np.int64), range(states.length)
        index = bisect.bisect_left(every, key, key=lambda index: self._at(states, index, kind))
        is_stored = index < states.length and self._at(states, index, kind) == key
        return self._at(values, index, self.kind) if is_stored else None

    def _at(self, file: File, index: int, kind: np.dtype[Any]) -> int:
        begin = index - index % READ_STATES
        return int(self._read(file, begin, min(begin + READ_STATES, file.length), kind)[index - begin])

    def _read_near(self, file: File, begin: int, end: int, kind: np.dtype[Any]) -> NDArray[Any]:
        return np.frombuffer(self.store.read(file.name, begin * kind.itemsize, end * kind.itemsize), kind)

    def sample(self, chance: np.random.Generator, limit: int) -> list[int]:
        tiers = [tier for tier in self.course.tiers if tier.kept]
        number = max(1, min(CHECKED_STATES, limit // max(1, len(tiers))))
        states = [state for tier in tiers for state in self._some(tier, chance, number)]
        chance.shuffle(states)
        return states[:limit]

    def _some(self, tier: ShardedTier, chance: np.random.Generator, number: int) -> Iterator[int]:
        files = [file for file in tier.states if file.length]
        for _ in range(number):
            file = files[int(chance.integers(len(files)))]
            yield self._at(file, int(chance.integers(file.length)), np.dtype(np.int64))

    def check(self, key: int | None = None) -> None:
        """Raise Damaged for the first file that has changed: of all files, or of the two that hold a state."""
        row = None if key is None else self.rows.get(self.tier(key))
        if row is None:
            pairs = self._pairs()
        else:
            owner = int(owner_of(key, self.course.tiers[row].bits))
            pairs = [(self.course.tiers[row].states[owner], self.values[row][owner])]
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
        shown, kind = indices_of(best_first), self.kind.str

        def piece(call: Callable[[], Piece]) -> Piece:
            states, values = call()
            return states, shown(values)

        for shares in self._ranges():
            yield from team.map(piece, ordered(self.store, shares, kind))

    def encoded(self, codec: str, index_bytes: int) -> Iterator[Encoded]:
        """The same as groups of a book, by tasks."""
        units = self.scale.units(self.shards.rules, self.tally.error)
        merits = units.kind.listed(self.tally.values)
        form = Form(None if merits is None else list(merits), codec, len(merits or ()), index_bytes)
        yield from glued(form, self._bounds(form))

    def _bounds(self, form: Form) -> Iterator[Bound]:
        """The ranges of the book, of which only some are under way at a time."""
        shards, before = self.shards, 0
        engine, waiting = shards.engine_for(self.stored), deque[Any]()
        for shares in self._ranges():
            states = sum(share.states for share in shares)
            memory = min(shards.memory, BOUND * states)
            waiting += engine.submit(bind, shards.job, shares, self.kind.str, form, before, memory=memory)
            before += states
            if len(waiting) > 2 * engine.workers:
                yield engine.result(waiting.popleft())
        yield from engine.results(waiting)

    def _ranges(self) -> Iterator[list[Share]]:
        """Yield, for each range of states, its slices in the files of ordered shards, which tasks write."""
        shards, kind = self.shards, self.kind.str
        bits, ranges = (shards.bits_for(self.stored, bytes_per_state) for bytes_per_state in (ARRANGED, BOUND))
        keys = cuts([(tier.sample, tier.kept) for tier in self.course.tiers], 1 << ranges)
        engine, memory = shards.engine_for(self.stored), shards.bytes_for(self.stored, bits, ARRANGED)
        tasks = [
            engine.submit(arrange, shards.job, number, shares_of_range, kind, keys, memory=memory)[0]
            for number, shares_of_range in enumerate(self._shares(self.stored >> bits))
        ]
        arranged = list(engine.results(tasks))
        for number in range(len(keys) + 1):
            yield [piece.share(number) for piece in arranged]

    def _shares(self, states: int) -> Iterator[list[tuple[File, File]]]:
        """The files, in shares of about so many states."""
        share, count = list[tuple[File, File]](), 0
        for pair in self._pairs():
            if share and count + pair[0].length // 2 > states:
                yield share
                share, count = [], 0
            share.append(pair)
            count += pair[0].length
        yield share
