"""Keys on their way between tasks: dealt to the shards that own them by a hash, and put together again.

Up to MOST_BLOCKS shards a task returns a block for each. Of more shards several share a block, and tasks between split
the blocks of a batch of tasks by shard: so the results of a tier are tasks times blocks, not tasks times shards, of
which Ray's driver keeps a record each (ray#18333).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base import sharding
from solver.base.sharding import HASHED
from solver.store.directory import TierLookup, lookup_of
from solver.store.runs import united
from solver.store.shared import read_only, shared
from solver.store.sorting import gallop, group_by_tier

States = NDArray[np.int64]
Part = tuple[int, int, States]  # a tier, a shard, its keys


@shared
def owner_of(key: Any, bits: int) -> Any:
    """Which of 2**bits shards has a key: multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4)."""
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) >> HASHED - bits


@shared
def owners_of(keys: NDArray[Any], bits: Any) -> Any:
    """The shard of each key: int64."""
    owners = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        owners[i] = owner_of(keys[i], bits)
    return owners


def grouped(rows: NDArray[np.int64], owners: NDArray[np.int64], bits: int) -> tuple[NDArray[np.int64], list[int]]:
    """Rows grouped by their owners, in their order, and where those of each of 2**bits owners end."""
    if not bits:
        return rows, [len(rows)]
    in_groups, ends = np.empty_like(rows), np.empty(1 << bits, np.int64)
    group_by_tier(rows, owners, len(rows), 0, in_groups, ends)
    return in_groups, ends.tolist()


def dealt(tier: int, rows: NDArray[np.int64], owners: NDArray[np.int64], bits: int) -> Iterator[Part]:
    """The rows of a tier that each of 2**`bits` shards owns."""
    rows, ends = grouped(rows, owners, bits)
    begin = 0
    for owner, end in enumerate(ends):
        if begin < end:
            yield tier, owner, rows[begin:end]
        begin = end


class Block(NamedTuple):
    """Keys for some shards, sorted and without duplicates; or rows of numbers, messages from shard to shard.

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


def in_blocks(parts: Iterable[Part], bits: int) -> list[Block]:
    """Parts in blocks for 2**`bits` shards."""
    return _blocks(parts, block_count(bits), partial(block_for, bits=bits))


def _blocks(parts: Iterable[Part], count: int, index_of: Callable[[int], int]) -> list[Block]:
    """Parts in so many blocks, by the index of the block for a shard."""
    tables: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    rows: list[list[States]] = [[] for _ in range(count)]
    ends = [0] * count
    for tier, owner, part in parts:
        index = index_of(owner)
        ends[index] += len(part)
        tables[index].append((tier, owner, ends[index]))
        rows[index].append(part)
    return [
        Block(np.array(table, np.int64).reshape(-1, 3), np.concatenate(some) if some else np.empty(0, np.int64))
        for table, some in zip(tables, rows, strict=True)
    ]


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
    return in_blocks((part for tier, keys in runs for part in dealt(tier, keys, owners_of(keys, bits), bits)), bits)


def block_for(owner: int, bits: int) -> int:
    """Which of a task's blocks has the keys of a shard."""
    return owner // max(1, (1 << bits) // sharding.MOST_BLOCKS)


def block_count(bits: int) -> int:
    """How many blocks a task returns for so many shards."""
    return min(1 << bits, sharding.MOST_BLOCKS)


def split(first_block: int, count: int, *blocks: Block) -> Any:
    """Return, for each of `count` shards from the first on, the parts of these blocks for it, block by block."""
    pieces = (_blocks(block.parts(), count, lambda owner: owner - first_block) for block in blocks)
    return several([list(parts) for parts in zip(*pieces, strict=True)])


def unsplit(*answers: list[NDArray[Any]]) -> Any:
    """Return, for each task of a batch, the answers of a block's shards, one after the other."""
    return several([np.concatenate(pieces) for pieces in zip(*answers, strict=True)])


def look_up(keys: States, states: States, known: NDArray[Any], values: NDArray[Any]) -> None:
    """Set values[i] = known[j] where states[j] == keys[i], both ascending. Other values stay as they are."""
    _look_up(read_only(keys), read_only(states), read_only(known), values)


@shared
def _look_up(keys: NDArray[Any], states: NDArray[Any], known: NDArray[Any], values: NDArray[Any]) -> None:
    low = 0
    for i in range(len(keys)):
        low = gallop(states, keys[i], low)
        if low < len(states) and states[low] == keys[i]:
            values[i] = known[low]


def miniature(
    tier: int, states: States, children: Block, bits: int, answers: Sequence[NDArray[Any]], kind: np.dtype[Any]
) -> TierLookup:
    """Build a small game of a tier's states, followed by their unfinished children in later tiers.

    2**`bits` shards have given the children's values. A child whose value is the least number of its type was never
    reached, and is left out.
    """
    values = np.empty(len(children.keys), kind)
    order, _ = grouped(np.arange(len(values)), owners_of(children.keys, bits), bits)
    values[order] = np.concatenate([np.empty(0, kind), *answers])
    keys, index = children.keys, children.table
    lost = values == np.iinfo(kind).min
    if lost.any():
        lost_before = np.concatenate([[0], np.cumsum(lost)])
        index = index.copy()
        index[:, 2] -= lost_before[index[:, 2]]
        keys, values = keys[~lost], values[~lost]
    return lookup_of([(tier, states), *Block(index, keys).of(0)], values)
