"""Sorted runs of states that wait for their turn: in memory up to a limit, merged and packed into files beyond it.

A run belongs to a key (tier, generation). When the turn of a key comes, its runs are cut at common splitters into
pieces that fit the cache, and each piece is sorted and freed of doubles on its own, by any thread.

Where moves lead to hundreds of tiers, a run for each pair of tiers would be a handful of states: such states wait
together, with their tiers, for a block of tiers, and become runs when the turn of its first tier comes.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import GameError
from solver.base.parallel import Workers
from solver.base.system import trim_heap
from solver.store.packed import LAST, Packed, Table, packed
from solver.store.shared import read_only, shared
from solver.store.shelves import StateShelf
from solver.store.sorting import gallop, group_by_tier, merge, sort_unique
from solver.store.work import Work

States = NDArray[np.int64]
Scattered = tuple[States, NDArray[np.int64]]  # states in any order, and their tiers
PIECE = 1 << 18  # states of one piece, before doubles are dropped
MERGED = 3  # runs: more are sorted together
LOOK = 1 << 16  # bytes that the system maps around a state that is looked at
BLOCK = 32  # tiers whose scattered states wait together
FEW = 16  # states a tier: fewer are scattered
TIER_SPAN = 1 << 22  # tiers that the children of one chunk may span
MOST_FILES = 32  # that are open at a time


class Key(NamedTuple):
    """Whose turn it is: tiers in order, and within a tier that has cycles breadth first, by generations."""

    tier: int
    generation: int = 0


class Waiting(NamedTuple):
    """The runs of a key in files: of each the shelf, and where its blocks begin and end."""

    key: Key
    parts: list[tuple[str, int, int]]


class Runs:
    """The runs of all keys to come. `limit`: bytes held in memory before they go to a file."""

    def __init__(self, work: Work, limit: int) -> None:
        self.work = work
        self.limit = limit
        self.bytes = 0
        self._memory: dict[Key, list[States]] = {}
        self._files: dict[Key, list[tuple[StateShelf, int, int]]] = {}
        self._heap: list[Key] = []
        self._scattered: dict[int, list[Scattered]] = {}  # by block

    def add(self, key: Key, run: States) -> None:
        """Keep a sorted run without doubles."""
        if key not in self._memory:
            if key not in self._files:
                heapq.heappush(self._heap, key)
            self._memory[key] = []
        self._memory[key].append(run)
        self.bytes += run.nbytes

    def scatter(self, states: States, tiers: NDArray[np.int64]) -> None:
        """Keep states of many tiers, all of them later than the one whose turn it is."""
        blocks, grouped, own = tiers // BLOCK, np.empty_like(states), np.empty_like(tiers)
        first = int(blocks.min())
        ends = np.empty(int(blocks.max()) - first + 1, np.int64)
        group_by_tier(states, blocks, len(states), first, grouped, ends)
        group_by_tier(tiers, blocks, len(states), first, own, ends)
        begin = 0
        for block, end in enumerate(ends.tolist(), first):
            if begin < end:
                self._scattered.setdefault(block, []).append((grouped[begin:end].copy(), own[begin:end].copy()))
            begin = end
        self.bytes += states.nbytes + tiers.nbytes

    def _gather(self, block: int) -> None:
        """Make runs of the states that were scattered over a block."""
        parts = self._scattered.pop(block)
        states, tiers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        self.bytes -= states.nbytes + tiers.nbytes
        for tier, run in runs_of(states, tiers):
            self.add(Key(tier), run)

    def first(self) -> Key | None:
        """The key whose turn it is."""
        while self._scattered:
            block = min(self._scattered)
            if self._heap and self._heap[0].tier < block * BLOCK:
                break
            self._gather(block)
        return self._heap[0] if self._heap else None

    def of(self, key: Key) -> Table:
        """The runs of a key; they stay until `drop`."""
        files = [shelf.section(begin, end) for shelf, begin, end in self._files.get(key, ())]
        return Table([*files, *self._memory.get(key, ())])

    def drop(self, key: Key) -> None:
        """The first key's turn is over."""
        heapq.heappop(self._heap)
        self.bytes -= sum(run.nbytes for run in self._memory.pop(key, ()))
        shelves = {shelf.name: shelf for shelf, _, _ in self._files.pop(key, ())}
        used = {shelf.name for runs in self._files.values() for shelf, _, _ in runs} if shelves else set()
        for name in shelves.keys() - used:
            shelves[name].discard()

    def spill(self, team: Workers) -> None:
        """Move all runs in memory to a file, those of a key merged into one."""
        for block in sorted(self._scattered):
            self._gather(block)
        if not self._memory:
            return
        shelf = StateShelf(self.work, "runs", numbered=True)
        for key in sorted(self._memory):
            begin = shelf.count
            for piece in merged_packed(Table(self._memory[key]), team):
                shelf.append(piece)
            self._files.setdefault(key, []).append((shelf, begin, shelf.count))
            self._memory[key] = []
        self._memory = {}
        self.bytes = 0
        self._merge_files(team)
        trim_heap()

    def _merge_files(self, team: Workers) -> None:
        """Where files are many, merge those with the fewest states: runs of far keys would keep each of them open."""
        waiting: Counter[StateShelf] = Counter()
        for parts in self._files.values():
            for shelf, begin, end in parts:
                waiting[shelf] += end - begin
        if len(waiting) <= MOST_FILES:
            return
        few = set(sorted(waiting, key=lambda shelf: (waiting[shelf], shelf.name))[: len(waiting) - MOST_FILES // 2])
        into = StateShelf(self.work, "runs", numbered=True)
        for parts in self._files.values():
            runs = [shelf.section(begin, end) for shelf, begin, end in parts if shelf in few]
            if runs:
                first = into.count
                for piece in merged_packed(Table(runs), team):
                    into.append(piece)
                parts[:] = [part for part in parts if part[0] not in few] + [(into, first, into.count)]
        for shelf in few:
            shelf.discard()

    def saved(self) -> list[Waiting]:
        """What a checkpoint keeps; all runs must be in files."""
        return [
            Waiting(key, [(shelf.name, begin, end) for shelf, begin, end in self._files[key]])
            for key in sorted(self._files)
        ]

    def restore(self, saved: list[Waiting]) -> None:
        """Go on with what a checkpoint kept."""
        shelves = {name: StateShelf(self.work, name) for _, parts in saved for name, _, _ in parts}
        for key, parts in saved:
            self._files[key] = [(shelves[name], begin, end) for name, begin, end in parts]
            heapq.heappush(self._heap, key)


def are_scattered(count: int, lowest: int, highest: int) -> bool:
    """Whether so many states of tiers in that range are too few for runs of their own."""
    return BLOCK <= highest - lowest < TIER_SPAN and count < FEW * (highest - lowest)


def by_tier(
    children: States, tiers: NDArray[np.int64], spare: States, count: int, lowest: int, highest: int
) -> Iterator[tuple[int, States]]:
    """Sorted runs without doubles, one for each tier among children[:count]; these and `spare` are overwritten."""
    if count == 0:
        return
    if highest - lowest >= TIER_SPAN:
        raise GameError(f"moves lead {highest - lowest} tiers apart: number the tiers more densely")
    if lowest == highest:
        yield lowest, children[: sort_unique(children, spare, count)].copy()
        return
    ends = np.empty(highest - lowest + 1, np.int64)
    group_by_tier(children, tiers, count, lowest, spare, ends)
    begin = 0
    for place in [0, *(np.flatnonzero(ends[1:] != ends[:-1]) + 1).tolist()]:
        end = int(ends[place])
        run = spare[begin:end]
        yield lowest + place, run[: sort_unique(run, children, end - begin)].copy()
        begin = end


def runs_of(states: States, tiers: NDArray[np.int64]) -> Iterator[tuple[int, States]]:
    """`by_tier` of all the states, of which there are some."""
    return by_tier(states, tiers, np.empty_like(states), len(states), int(tiers.min()), int(tiers.max()))


def merged(runs: Table, team: Workers) -> Iterator[States]:
    """The runs as one, without doubles, in ascending pieces."""
    if len(runs.runs) == 1 and isinstance(runs.runs[0], np.ndarray):
        yield runs.runs[0]
    else:
        yield from team.map(lambda span: joined(runs, *span), spans(splitters(runs)))


def merged_packed(runs: Table, team: Workers) -> Iterator[Packed]:
    """The same, packed."""
    yield from team.map(lambda span: packed(joined(runs, *span)), spans(splitters(runs)))


def splitters(runs: Table, size: int = 0) -> States:
    """Keys that cut the runs together into pieces of about `size` (PIECE), where they are; fewer if keys repeat."""
    pieces = len(runs) // (size or PIECE)
    if pieces <= 1:
        return np.empty(0, np.int64)
    keys, weights = runs.outlook()
    ends = np.cumsum(weights)
    cuts = np.unique(keys[np.searchsorted(ends, np.arange(1, pieces) * int(ends[-1]) // pieces)])
    runs.cut(cuts)
    return cuts


def spans(keys: States, first: int = 0) -> list[tuple[int, int]]:
    """The ranges from `first` to below the first key, from it to below the second, and so on to the end of all."""
    inside = [key for key in keys.tolist() if key > first]
    return list(zip([first, *inside], [*(key - 1 for key in inside), LAST], strict=True))


def joined(runs: Table, low: int, high: int) -> States:
    """The states of the runs from `low` to `high`, sorted and without doubles."""
    keys, shares = runs.read(low, high)
    if np.count_nonzero(shares[:, 1]) > MERGED:
        return keys[: sort_unique(keys, np.empty_like(keys), len(keys))]
    parts = np.split(keys, np.cumsum(shares[shares[:, 1] > 0, 1])[:-1])
    while len(parts) > 1:
        last = parts.pop()
        both = np.empty(len(parts[-1]) + len(last), np.int64)
        parts[-1] = both[: merge(parts[-1], last, both)]
    return parts[0]


def united(runs: Sequence[States]) -> States:
    """Sorted runs as one without doubles, by pieces that fit the cache; a single one comes back as it is."""
    runs = [run for run in runs if len(run)]
    if len(runs) <= 1:
        return runs[0] if runs else np.empty(0, np.int64)
    table = Table(runs)
    pieces = [joined(table, *span) for span in spans(splitters(table))]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def without(keys: States, known: States) -> States:
    """The sorted keys that are not in `known` (sorted): galloping, so that a long `known` costs its logarithm."""
    left: States = _without(read_only(keys), read_only(known))
    return left


@shared
def _without(keys: States, known: States) -> States:
    left = np.empty(len(keys), np.int64)
    count = low = 0
    for key in keys:
        low = gallop(known, key, low)
        if low == len(known) or known[low] != key:
            left[count] = key
            count += 1
    return left[:count]
