"""Sorted runs of states that wait for their turn: in memory up to a limit, merged and packed into files beyond it.

A run belongs to a key: a tier and a generation. When it is a key's turn, its runs are cut at common splitters into
pieces that fit the cache. Any thread sorts a piece and drops its duplicates.

If moves lead to hundreds of tiers, a run for each pair of tiers would hold a handful of states. Such states wait
together, with their tiers, for a block of tiers. They become runs when it is the turn of the block's first tier.
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
Part = tuple[StateShelf, int, int]  # the begin and end of blocks of a shelf
PIECE_STATES = 1 << 18  # states of one piece, before doubles are dropped
MAX_MERGED_RUNS = 3  # runs: more are sorted together
READ_AHEAD_BYTES = 1 << 16  # bytes that the system maps around a state that is looked at
SCATTER_TIERS = 32  # tiers whose scattered states wait together
SCATTER_BELOW = 16  # states a tier: fewer are scattered
TIER_SPAN = 1 << 22  # tiers that the children of one chunk may span
MAX_OPEN_FILES = 32  # that are open at a time


class Key(NamedTuple):
    """The order of turns: by tier, and inside a tier with cycles breadth first, by generation."""

    tier: int
    generation: int = 0


class Waiting(NamedTuple):
    """The runs of a key in files: for each the name of its shelf, and the begin and end of its blocks."""

    key: Key
    parts: list[tuple[str, int, int]]


class Runs:
    """The runs of all keys to come.

    Args:
        work: The folder of the files.
        limit: The bytes to hold in memory; the owner calls `spill` beyond it.
    """

    def __init__(self, work: Work, limit: int) -> None:
        self.work = work
        self.limit = limit
        self.bytes: int = 0
        self._memory: dict[Key, list[States]] = {}
        self._files: dict[Key, list[Part]] = {}
        self._heap: list[Key] = []
        self._scattered: dict[int, list[Scattered]] = {}  # by block

    def add(self, key: Key, run: States) -> None:
        """Keep a sorted run without duplicates."""
        if key not in self._memory:
            if key not in self._files:
                heapq.heappush(self._heap, key)
            self._memory[key] = []
        self._memory[key].append(run)
        self.bytes += run.nbytes

    def scatter(self, states: States, tiers: NDArray[np.int64]) -> None:
        """Keep states of many tiers, all later than the tier whose turn it is."""
        blocks, grouped, grouped_tiers = tiers // SCATTER_TIERS, np.empty_like(states), np.empty_like(tiers)
        first_block = int(blocks.min())
        ends = np.empty(int(blocks.max()) - first_block + 1, np.int64)
        group_by_tier(states, blocks, len(states), first_block, grouped, ends)
        group_by_tier(tiers, blocks, len(states), first_block, grouped_tiers, ends)
        begin = 0
        for block, end in enumerate(ends.tolist(), first_block):
            if begin < end:
                self._scattered.setdefault(block, []).append(
                    (grouped[begin:end].copy(), grouped_tiers[begin:end].copy())
                )
            begin = end
        self.bytes += states.nbytes + tiers.nbytes

    def _gather(self, block: int) -> None:
        """Make runs of the states that were scattered over a block of tiers."""
        chunks = self._scattered.pop(block)
        states, tiers = (np.concatenate(arrays) for arrays in zip(*chunks, strict=True))
        self.bytes -= states.nbytes + tiers.nbytes
        for tier, run in runs_of(states, tiers):
            self.add(Key(tier), run)

    def first(self) -> Key | None:
        """Return the key whose turn it is, or None."""
        while self._scattered:
            block = min(self._scattered)
            if self._heap and self._heap[0].tier < block * SCATTER_TIERS:
                break
            self._gather(block)
        return self._heap[0] if self._heap else None

    def of(self, key: Key) -> Table:
        """Return the runs of a key; they stay until `drop`."""
        files = [shelf.section(begin, end) for shelf, begin, end in self._files.get(key, ())]
        return Table([*files, *self._memory.get(key, ())])

    def drop(self, key: Key) -> None:
        """End the turn of the first key."""
        heapq.heappop(self._heap)
        self.bytes -= sum(run.nbytes for run in self._memory.pop(key, ()))
        shelves = {shelf.name: shelf for shelf, _, _ in self._files.pop(key, ())}
        names_in_use = {shelf.name for runs in self._files.values() for shelf, _, _ in runs} if shelves else set()
        for name in shelves.keys() - names_in_use:
            shelves[name].discard()

    def spill(self, team: Workers) -> None:
        """Move all runs in memory to a file; the runs of a key become one. If files are many, merge the small ones."""
        for block in sorted(self._scattered):
            self._gather(block)
        if not self._memory:
            return
        shelf = StateShelf(self.work, "runs", numbered=True)
        for key in sorted(self._memory):
            self._files.setdefault(key, []).append(_shelved(shelf, Table(self._memory[key]), team))
            self._memory[key] = []
        self._memory = {}
        self.bytes = 0
        block_counts: Counter[StateShelf] = Counter()
        for pieces in self._files.values():
            for shelf, begin, end in pieces:
                block_counts[shelf] += end - begin
        if len(block_counts) > MAX_OPEN_FILES:
            # Merge the files with the fewest blocks: runs of far keys would keep each of them open. Half as many
            # remain, so that merging stays rare
            by_size = sorted(block_counts, key=lambda shelf: (block_counts[shelf], shelf.name))
            small_shelves = set(by_size[: len(block_counts) - MAX_OPEN_FILES // 2])
            merged_shelf = StateShelf(self.work, "runs", numbered=True)
            for pieces in self._files.values():
                runs = [shelf.section(begin, end) for shelf, begin, end in pieces if shelf in small_shelves]
                if runs:
                    large = [part for part in pieces if part[0] not in small_shelves]
                    pieces[:] = [*large, _shelved(merged_shelf, Table(runs), team)]
            for shelf in small_shelves:
                shelf.discard()
        trim_heap()

    def saved(self) -> list[Waiting]:
        """Return the record for a checkpoint. All runs must be in files."""
        return [
            Waiting(key, [(shelf.name, begin, end) for shelf, begin, end in self._files[key]])
            for key in sorted(self._files)
        ]

    def restore(self, saved: list[Waiting]) -> None:
        """Continue from the record of a checkpoint."""
        shelves = {name: StateShelf(self.work, name) for _, pieces in saved for name, _, _ in pieces}
        for key, pieces in saved:
            self._files[key] = [(shelves[name], begin, end) for name, begin, end in pieces]
            heapq.heappush(self._heap, key)


def are_scattered(count: int, lowest: int, highest: int) -> bool:
    """Tell whether so many states, of tiers in that range, are too few for runs of their own."""
    return SCATTER_TIERS <= highest - lowest < TIER_SPAN and count < SCATTER_BELOW * (highest - lowest)


def by_tier(
    children: States, tiers: NDArray[np.int64], spare: States, count: int, lowest: int, highest: int
) -> Iterator[tuple[int, States]]:
    """Yield a sorted run without duplicates for each tier among children[:count].

    Args:
        children: States in any order; overwritten.
        tiers: Their tiers.
        spare: Scratch like `children`; overwritten.
        count: The number of states.
        lowest: The first of their tiers.
        highest: The last of their tiers.

    Raises:
        GameError: The tiers are too far apart.
    """
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
    for tier_index in [0, *(np.flatnonzero(ends[1:] != ends[:-1]) + 1).tolist()]:
        end = int(ends[tier_index])
        run = spare[begin:end]
        yield lowest + tier_index, run[: sort_unique(run, children, end - begin)].copy()
        begin = end


def runs_of(states: States, tiers: NDArray[np.int64]) -> Iterator[tuple[int, States]]:
    """Yield the runs of all states by tier; there is at least one state."""
    return by_tier(states, tiers, np.empty_like(states), len(states), int(tiers.min()), int(tiers.max()))


def merged(runs: Table, team: Workers) -> Iterator[States]:
    """Yield the runs as one, without duplicates, in ascending pieces."""
    if len(runs.runs) == 1 and isinstance(runs.runs[0], np.ndarray):
        yield runs.runs[0]
    else:
        yield from team.map(lambda span: joined(runs, *span), spans(splitters(runs)))


def _shelved(shelf: StateShelf, runs: Table, team: Workers) -> Part:
    """Append the runs, as one, to a shelf; return where they are."""
    begin = shelf.count
    for piece in merged_packed(runs, team):
        shelf.append(piece)
    return shelf, begin, shelf.count


def merged_packed(runs: Table, team: Workers) -> Iterator[Packed]:
    """Yield the runs as one, packed, in ascending pieces."""
    yield from team.map(lambda span: packed(joined(runs, *span)), spans(splitters(runs)))


def splitters(runs: Table, size: int = 0) -> States:
    """Return keys that cut all runs together into pieces of about `size` states; fewer if keys repeat."""
    pieces = len(runs) // (size or PIECE_STATES)
    if pieces <= 1:
        return np.empty(0, np.int64)
    keys, weights = runs.outlook()
    ends = np.cumsum(weights)
    cuts = np.unique(keys[np.searchsorted(ends, np.arange(1, pieces) * int(ends[-1]) // pieces)])
    runs.cut(cuts)
    return cuts


def spans(keys: States, first_index: int = 0) -> list[tuple[int, int]]:
    """Return the ranges of keys between some keys: from `first_index` on, and up to the greatest key."""
    inner_keys = [key for key in keys.tolist() if key > first_index]
    return list(zip([first_index, *inner_keys], [*(key - 1 for key in inner_keys), LAST], strict=True))


def joined(runs: Table, low: int, high: int) -> States:
    """Return the states of all runs in a range of keys, sorted and without duplicates."""
    keys, run_spans = runs.read(low, high)
    if np.count_nonzero(run_spans[:, 1]) > MAX_MERGED_RUNS:
        return keys[: sort_unique(keys, np.empty_like(keys), len(keys))]
    chunks = np.split(keys, np.cumsum(run_spans[run_spans[:, 1] > 0, 1])[:-1])
    while len(chunks) > 1:
        chunk = chunks.pop()
        joined_pair = np.empty(len(chunks[-1]) + len(chunk), np.int64)
        chunks[-1] = joined_pair[: merge(chunks[-1], chunk, joined_pair)]
    return chunks[0]


def united(runs: Sequence[States]) -> States:
    """Return sorted runs as one without duplicates, by pieces that fit the cache; a single run comes back as it is."""
    runs = [run for run in runs if len(run)]
    if len(runs) <= 1:
        return runs[0] if runs else np.empty(0, np.int64)
    table = Table(runs)
    pieces = [joined(table, *span) for span in spans(splitters(table))]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def without(keys: States, excluded: States) -> States:
    """Return the sorted keys that are not in `excluded` (sorted). A long `excluded` costs its logarithm: it gallops."""
    remaining: States = _without(read_only(keys), read_only(excluded))
    return remaining


@shared
def _without(keys: States, excluded: States) -> States:
    remaining = np.empty(len(keys), np.int64)
    count = low = 0
    for key in keys:
        low = gallop(excluded, key, low)
        if low == len(excluded) or excluded[low] != key:
            remaining[count] = key
            count += 1
    return remaining[:count]
