"""Keys on their way between tasks: dealt to the shards that own them by a hash, and put together again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.store.packed import Table
from solver.store.runs import joined, spans, splitters
from solver.store.shared import shared
from solver.store.sorting import sum_up

States = NDArray[np.int64]
HASHED = 24  # bits of the hash: so many shards, as a power of two, a tier may have
MOST_BLOCKS = 256  # that a task returns: of more shards several share one


@shared
def owner_of(key, bits):
    """Which of 2**bits shards has a key: multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4)."""
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) >> HASHED - bits


@shared
def count_dealt(keys, bits, begins):
    """begins[i] (2**bits,): where the keys of owner i begin when they are dealt."""
    for i in range(len(begins)):
        begins[i] = 0
    for i in range(len(keys)):
        begins[owner_of(keys[i], bits)] += 1
    sum_up(begins)


@shared
def deal(keys, bits, dealt, ends):
    """Group keys by owner, in their order; ends[i] (2**bits,) is where the keys of owner i end in `dealt`."""
    count_dealt(keys, bits, ends)
    for i in range(len(keys)):
        owner = owner_of(keys[i], bits)
        dealt[ends[owner]] = keys[i]
        ends[owner] += 1


@shared
def collect(keys, bits, begins, dealt, values):
    """values[i] of keys[i]: the next one of its owner's, which begin at begins[owner] in `dealt`."""
    for i in range(len(keys)):
        owner = owner_of(keys[i], bits)
        values[i] = dealt[begins[owner]]
        begins[owner] += 1


@shared
def own(keys, bits, owner):
    """The keys that a shard owns, in their order."""
    kept = np.empty(len(keys), np.int64)
    count = 0
    for i in range(len(keys)):
        if owner_of(keys[i], bits) == owner:
            kept[count] = keys[i]
            count += 1
    return kept[:count]


class Block(NamedTuple):
    """Keys for some shards: those of tier table[i, 0] for the shard table[i, 1] end at table[i, 2] of `keys`, sorted
    and without doubles."""

    table: NDArray[np.int64]
    keys: States

    def of(self, owner: int) -> Iterator[tuple[int, States]]:
        """The keys for one shard, tier by tier."""
        begin = 0
        for tier, own, end in self.table.tolist():
            if own == owner:
                yield tier, self.keys[begin:end]
            begin = end

    def split(self, first: int, count: int) -> list[Block]:
        """What it has for each of `count` shards from the first on."""
        rows: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
        parts: list[list[States]] = [[] for _ in range(count)]
        counts, begin = [0] * count, 0
        for tier, owner, end in self.table.tolist():
            place = owner - first
            counts[place] += end - begin
            rows[place].append((tier, owner, counts[place]))
            parts[place].append(self.keys[begin:end])
            begin = end
        return [_block(*pair) for pair in zip(rows, parts, strict=True)]


def _block(rows: list[tuple[int, int, int]], parts: list[States]) -> Block:
    keys = np.concatenate(parts) if parts else np.empty(0, np.int64)
    return Block(np.array(rows, np.int64).reshape(-1, 3), keys)


NOTHING = _block([], [])


def several(results: list[Any]) -> Any:
    """The results of a task as an engine wants them: one is not in a list."""
    return results if len(results) > 1 else results[0]


def united(runs: Sequence[States]) -> States:
    """Sorted runs as one without doubles, by pieces that fit the cache."""
    runs = [run for run in runs if len(run)]
    if len(runs) <= 1:
        return runs[0] if runs else np.empty(0, np.int64)
    table = Table(runs)
    pieces = [joined(table, *span) for span in spans(splitters(table))]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def by_tiers(runs: Iterable[tuple[int, States]]) -> Iterator[tuple[int, States]]:
    """Sorted runs of tiers as one for each tier, without doubles; tiers come in order."""
    found: dict[int, list[States]] = {}
    for tier, run in runs:
        found.setdefault(tier, []).append(run)
    for tier in sorted(found):
        yield tier, united(found.pop(tier))


def blocks_of(runs: Iterable[tuple[int, States]], bits: int) -> list[Block]:
    """The keys of each tier, sorted and without doubles, in blocks for 2**bits shards; tiers come in order."""
    shards = 1 << bits
    each = max(1, shards // MOST_BLOCKS)  # shards that share a block
    index: list[list[tuple[int, int, int]]] = [[] for _ in range(shards // each)]
    parts: list[list[States]] = [[] for _ in index]
    counts = [0] * len(index)
    for tier, keys in runs:
        grouped, ends = keys, np.array([len(keys)])
        if bits:
            grouped, ends = np.empty_like(keys), np.empty(shards, np.int64)
            deal(keys, bits, grouped, ends)
        begin = 0
        for owner, end in enumerate(ends.tolist()):
            if begin < end:
                place = owner // each
                counts[place] += end - begin
                parts[place].append(grouped[begin:end])
                index[place].append((tier, owner, counts[place]))
            begin = end
    return [_block(*pair) for pair in zip(index, parts, strict=True)]


def block_for(owner: int, bits: int) -> int:
    """Which of a task's blocks has the keys of a shard."""
    return owner // max(1, (1 << bits) // MOST_BLOCKS)


def block_count(bits: int) -> int:
    """How many blocks a task returns for so many shards."""
    return min(1 << bits, MOST_BLOCKS)
