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
from solver.store.sorting import exclusive_sums, gallop

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


def split(first_block: int, count: int, *blocks: Block) -> Any:
    """Return, for each of `count` shards from the first on, the parts of these blocks for it, block by block."""
    return several(
        [list(block_parts) for block_parts in zip(*(block.split(first_block, count) for block in blocks), strict=True)]
    )


def unsplit(*answers: list[NDArray[Any]]) -> Any:
    """Return, for each task of a batch, the answers of a block's shards, one after the other."""
    return several([np.concatenate(pieces) for pieces in zip(*answers, strict=True)])


def each_block(items: Iterable[Block | list[Block]]) -> Iterator[Block]:
    """The blocks that a task was given, split or not."""
    for block in items:
        yield from block if isinstance(block, list) else [block]


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
    begins = np.empty(1 << bits, np.int64)
    count_dealt(children.keys, bits, begins)
    dealt = np.concatenate(answers) if answers else np.empty(0, kind)
    values = np.empty(len(children.keys), kind)
    collect(children.keys, bits, begins, dealt, values)
    keys, index = children.keys, children.table
    lost = values == np.iinfo(kind).min
    if lost.any():
        lost_before = np.concatenate([[0], np.cumsum(lost)])
        index = index.copy()
        index[:, 2] -= lost_before[index[:, 2]]
        keys, values = keys[~lost], values[~lost]
    return lookup_of([(tier, states), *Block(index, keys).of(0)], values)
