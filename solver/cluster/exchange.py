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


def sent(engine: Engine, tasks: Sequence[Sequence[Any]], bits: int) -> list[list[Any]]:
    """Return, for each of 2**`bits` shards, handles of the blocks that the tasks send it, in the tasks' order."""
    share = (1 << bits) // block_count(bits)
    if share == 1:
        return [[results[block_for(owner, bits)] for results in tasks] for owner in range(1 << bits)]
    columns: list[list[Any]] = [[] for _ in range(1 << bits)]
    for batch in _batches(tasks):
        for block_index in range(sharding.MOST_BLOCKS):
            first_owner = block_index * share
            pieces = engine.submit(
                split, first_owner, share, *(results[block_index] for results in batch), returns=share
            )
            for column, piece in zip(columns[first_owner : first_owner + share], pieces, strict=True):
                column.append(piece)
    return columns


def sent_back(engine: Engine, answers: Sequence[Sequence[Any]], count: int, bits: int) -> list[list[Any]]:
    """Return, for each of `count` tasks, handles of the answers of 2**`bits` shards, in their order."""
    share = (1 << bits) // block_count(bits)
    if share == 1 or not answers:
        return [[answer[task] for answer in answers] for task in range(count)]
    rows: list[list[Any]] = []
    for number, batch in enumerate(_batches(range(count))):
        replies: list[list[Any]] = [[] for _ in batch]
        for first_owner in range(0, 1 << bits, share):
            pieces = (answer[number] for answer in answers[first_owner : first_owner + share])
            for row, piece in zip(replies, engine.submit(unsplit, *pieces, returns=len(batch)), strict=True):
                row.append(piece)
        rows += replies
    return rows


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(items), sharding.SPLIT_TASKS):
        yield items[begin : begin + sharding.SPLIT_TASKS]
