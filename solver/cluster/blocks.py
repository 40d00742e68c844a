"""Keys on their way between tasks: dealt to the shards that own them by a hash, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base import sharding
from solver.base.sharding import HASHED
from solver.store.runs import united
from solver.store.shared import shared
from solver.store.sorting import exclusive_sums

States = NDArray[np.int64]
Part = tuple[int, int, States]  # a tier, a shard, its keys


@shared
def owner_of(key: Any, bits: int) -> Any:
    """Which of 2**bits shards has a key: multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4)."""
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) >> HASHED - bits


@shared
def count_dealt(keys: NDArray[Any], bits: Any, begins: NDArray[Any]) -> None:
    """begins[i] (2**bits,): where the keys of owner i begin when they are dealt."""
    for i in range(len(begins)):
        begins[i] = 0
    for i in range(len(keys)):
        begins[owner_of(keys[i], bits)] += 1
    exclusive_sums(begins)


@shared
def deal(keys: NDArray[Any], bits: Any, dealt: NDArray[Any], ends: NDArray[Any]) -> None:
    """Group keys by owner, in their order; ends[i] (2**bits,) is where the keys of owner i end in `dealt`."""
    count_dealt(keys, bits, ends)
    for i in range(len(keys)):
        owner = owner_of(keys[i], bits)
        dealt[ends[owner]] = keys[i]
        ends[owner] += 1


@shared
def collect(keys: NDArray[Any], bits: Any, begins: NDArray[Any], dealt: NDArray[Any], values: NDArray[Any]) -> None:
    """values[i] of keys[i]: the next one of its owner's, which begin at begins[owner] in `dealt`."""
    for i in range(len(keys)):
        owner = owner_of(keys[i], bits)
        values[i] = dealt[begins[owner]]
        begins[owner] += 1


@shared
def own(keys: NDArray[Any], bits: Any, owner: int) -> Any:
    """The keys that a shard owns, in their order."""
    own_keys = np.empty(len(keys), np.int64)
    count = 0
    for i in range(len(keys)):
        if owner_of(keys[i], bits) == owner:
            own_keys[count] = keys[i]
            count += 1
    return own_keys[:count]


class Block(NamedTuple):
    """Keys for some shards, sorted and without duplicates.

    Attributes:
        table: One row for each part: the tier, the shard, and the part's end in `keys`.
        keys: The keys of all parts.
    """

    table: NDArray[np.int64]
    keys: States

    def parts(self) -> Iterator[Part]:
        """Yield the keys for each shard of each tier."""
        begin = 0
        for tier, owner, end in self.table.tolist():
            yield tier, owner, self.keys[begin:end]
            begin = end

    def of(self, owner: int) -> Iterator[tuple[int, States]]:
        """The keys for one shard, tier by tier."""
        return ((tier, keys) for tier, part_owner, keys in self.parts() if part_owner == owner)

    def split(self, first_block: int, count: int) -> list[Block]:
        """Return the part of the block for each of `count` shards, from the first on."""
        return _blocks(self.parts(), count, lambda owner: owner - first_block)


def _blocks(pieces: Iterable[Part], count: int, place_of: Callable[[int], int]) -> list[Block]:
    """Parts in so many blocks, by the place of the block for a shard."""
    rows: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    keys: list[list[States]] = [[np.empty(0, np.int64)] for _ in range(count)]
    ends = [0] * count
    for tier, owner, some in pieces:
        block_index = place_of(owner)
        ends[block_index] += len(some)
        rows[block_index].append((tier, owner, ends[block_index]))
        keys[block_index].append(some)
    tables = (np.array(row, np.int64).reshape(-1, 3) for row in rows)
    return [Block(table, np.concatenate(some)) for table, some in zip(tables, keys, strict=True)]


EMPTY_BLOCK = _blocks([], 1, int)[0]


def several(results: list[Any]) -> Any:
    """The results of a task as an engine wants them: one is not in a list."""
    return results if len(results) > 1 else results[0]


def by_tiers(runs: Iterable[tuple[int, States]]) -> Iterator[tuple[int, States]]:
    """Sorted runs of tiers as one for each tier, without doubles; tiers come in order."""
    keys_by_tier: dict[int, list[States]] = {}
    for tier, run in runs:
        keys_by_tier.setdefault(tier, []).append(run)
    for tier in sorted(keys_by_tier):
        yield tier, united(keys_by_tier.pop(tier))


def blocks_of(runs: Iterable[tuple[int, States]], bits: int) -> list[Block]:
    """The keys of each tier, sorted and without doubles, in blocks for 2**bits shards; tiers come in order."""
    return _blocks(_dealt(runs, bits), block_count(bits), partial(block_for, bits=bits))


def _dealt(runs: Iterable[tuple[int, States]], bits: int) -> Iterator[Part]:
    """The keys of each tier that each of 2**`bits` shards owns."""
    for tier, keys in runs:
        grouped, ends = keys, np.array([len(keys)])
        if bits:
            grouped, ends = np.empty_like(keys), np.empty(1 << bits, np.int64)
            deal(keys, bits, grouped, ends)
        begin = 0
        for owner, end in enumerate(ends.tolist()):
            if begin < end:
                yield tier, owner, grouped[begin:end]
            begin = end


def block_for(owner: int, bits: int) -> int:
    """Which of a task's blocks has the keys of a shard."""
    return owner // max(1, (1 << bits) // sharding.MOST_BLOCKS)


def block_count(bits: int) -> int:
    """How many blocks a task returns for so many shards."""
    return min(1 << bits, sharding.MOST_BLOCKS)
