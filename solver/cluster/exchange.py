"""Blocks on their way from all tasks of a tier to all shards of another, and answers on their way back.

Up to MOST_BLOCKS shards a task returns a block for each. Of more shards several share a block, and tasks between split
the blocks of a batch of tasks by shard: so the results of a tier are tasks times blocks, not tasks times shards, of
which Ray's driver keeps a record each (ray#18333).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.base import sharding
from solver.cluster.blocks import Block, block_count, block_for, several
from solver.cluster.engine import Engine


def split(first: int, count: int, *some: Block) -> Any:
    """For each of `count` shards from the first on: what these blocks have for it, block by block."""
    return several([list(parts) for parts in zip(*(block.split(first, count) for block in some), strict=True)])


def unsplit(*answers: list[NDArray[Any]]) -> Any:
    """For each task of a batch what the shards of a block have answered it, one behind the other."""
    return several([np.concatenate(parts) for parts in zip(*answers, strict=True)])


def each_block(items: Iterable[Block | list[Block]]) -> Iterator[Block]:
    """The blocks that a task was given, split or not."""
    for item in items:
        yield from item if isinstance(item, list) else [item]


def sent(engine: Engine, tasks: Sequence[Sequence[Any]], bits: int) -> list[list[Any]]:
    """For each of 2**`bits` shards handles of what tasks, which have returned these blocks, send it, in their order."""
    share = (1 << bits) // block_count(bits)
    if share == 1:
        return [[made[block_for(owner, bits)] for made in tasks] for owner in range(1 << bits)]
    columns: list[list[Any]] = [[] for _ in range(1 << bits)]
    for batch in _batches(tasks):
        for place in range(sharding.MOST_BLOCKS):
            first = place * share
            pieces = engine.submit(split, first, share, *(made[place] for made in batch), returns=share)
            for column, piece in zip(columns[first : first + share], pieces, strict=True):
                column.append(piece)
    return columns


def sent_back(engine: Engine, answers: Sequence[Sequence[Any]], count: int, bits: int) -> list[list[Any]]:
    """For each of `count` tasks handles of what 2**`bits` shards have answered it, in the order of shards."""
    share = (1 << bits) // block_count(bits)
    if share == 1 or not answers:
        return [[answer[task] for answer in answers] for task in range(count)]
    rows: list[list[Any]] = []
    for number, batch in enumerate(_batches(range(count))):
        more: list[list[Any]] = [[] for _ in batch]
        for first in range(0, 1 << bits, share):
            parts = (answer[number] for answer in answers[first : first + share])
            for row, piece in zip(more, engine.submit(unsplit, *parts, returns=len(batch)), strict=True):
                row.append(piece)
        rows += more
    return rows


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(items), sharding.BATCH):
        yield items[begin : begin + sharding.BATCH]
