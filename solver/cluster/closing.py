"""Tiers whose moves stay inside them, on the driver's side: the pass forward.

Such a tier is closed breadth first: a generation is what the one before led to inside the tier, without what was seen
before. When there is no further one its states are complete, and their moves to later tiers are gone through.
"""

from __future__ import annotations

from collections.abc import Sequence

from solver.cluster.blocks import block_count
from solver.cluster.cycles import Explored, close, explore
from solver.cluster.history import Closing, ShardedTier, owned, tier_of
from solver.cluster.shards import Shards
from solver.cluster.tasks import Advanced, Run, Segment

ALONE = 1 << 17  # states up to which a shard that is alone goes on by itself


def begun(number: int, front: Sequence[Segment]) -> Closing:
    """A tier that was led to, of which nothing has been seen."""
    return Closing(number, 0, [[]], list(front), 0, number)


def generation(shards: Shards, closing: Closing) -> Closing:
    """A tier one generation further, or some; its shards may split."""
    number = closing.number
    total = closing.reached + sum(one.end - one.begin for one in closing.front) // 8
    engine = shards.engine_for(total)
    bits = max(closing.bits, shards.bits_for(total))
    seen = [closing.seen[owner >> bits - closing.bits] for owner in range(1 << bits)]
    tasks = [
        engine.submit(
            explore,
            shards.job,
            number,
            (bits, owner),
            owned(closing.front, bits, owner),
            files,
            bits,
            ALONE,
            returns=1 + block_count(bits),
            memory=shards.bytes_for(total, bits),
        )
        for owner, files in enumerate(seen)
    ]
    runs = shards.gathered(number, [handles[1:] for handles in tasks], bits, engine)
    found: list[Explored] = [engine.result(handles[0]) for handles in tasks]
    for owner, one in enumerate(found):
        seen[owner] = seen[owner][: one.kept]
        if one.seen.length:
            seen[owner].append(_whole(one.seen.name, one.seen.length, bits, owner))
    return Closing(
        number,
        bits,
        seen,
        [run.segments[number] for run in runs],
        closing.reached + sum(one.reached for one in found),
        max(closing.highest, *(one.highest for one in found)),
    )


def _whole(name: str, length: int, bits: int, owner: int) -> Segment:
    """All states of a file that a shard has seen."""
    return Segment(name, 0, 8 * length, name.rpartition(".")[2], bits, owner)


def closed(shards: Shards, closing: Closing, bits: int, later: int) -> tuple[ShardedTier, list[Advanced], list[Run]]:
    """A tier whose states have all been seen, its 2**`bits` shards, and what they lead to in 2**`later`."""
    number, engine, leads = closing.number, shards.engine_for(closing.reached), closing.highest > closing.number
    seen = list(dict.fromkeys(one for files in closing.seen for one in files))  # shards that were split share some
    tasks = [
        engine.submit(
            close,
            shards.job,
            number,
            (bits, owner),
            owned(seen, bits, owner),
            later,
            leads,
            returns=1 + block_count(later),
            memory=shards.bytes_for(closing.reached, bits),
        )
        for owner in range(1 << bits)
    ]
    runs = shards.gathered(number, [handles[1:] for handles in tasks], later, engine) if leads else []
    found: list[Advanced] = [engine.result(handles[0]) for handles in tasks]
    return tier_of(number, bits, found, closing.highest, True), found, runs
