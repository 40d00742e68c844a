"""The forward pass through tiers whose moves stay inside them, on the driver's side.

Such a tier is closed breadth first. A generation is the set of new states that the one before leads to inside the tier.
When a generation is empty, the states are complete, and their moves to later tiers are followed.
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
    total = closing.reached + sum(segment.end - segment.begin for segment in closing.front) // 8
    engine = shards.engine_for(total)
    bits = max(closing.bits, shards.bits_for(total))
    visited = [closing.seen[owner >> bits - closing.bits] for owner in range(1 << bits)]
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
        for owner, files in enumerate(visited)
    ]
    runs = shards.gathered(number, [handles[1:] for handles in tasks], bits, engine)
    results: list[Explored] = [engine.result(handles[0]) for handles in tasks]
    for owner, segment in enumerate(results):
        visited[owner] = visited[owner][: segment.kept]
        if segment.seen.length:
            visited[owner].append(_whole(segment.seen.name, segment.seen.length, bits, owner))
    return Closing(
        number,
        bits,
        visited,
        [run.segments[number] for run in runs],
        closing.reached + sum(segment.reached for segment in results),
        max(closing.highest, *(segment.highest for segment in results)),
    )


def _whole(name: str, length: int, bits: int, owner: int) -> Segment:
    """All states of a file that a shard has seen."""
    return Segment(name, 0, 8 * length, name.rpartition(".")[2], bits, owner)


def closed(shards: Shards, closing: Closing, bits: int, later: int) -> tuple[ShardedTier, list[Advanced], list[Run]]:
    """Complete a tier whose states were all visited: its 2**`bits` shards, their children in 2**`later` shards."""
    number, engine, leads = closing.number, shards.engine_for(closing.reached), closing.highest > closing.number
    # Shards that were split share some
    visited = list(dict.fromkeys(file for files in closing.seen for file in files))
    tasks = [
        engine.submit(
            close,
            shards.job,
            number,
            (bits, owner),
            owned(visited, bits, owner),
            later,
            leads,
            returns=1 + block_count(later),
            memory=shards.bytes_for(closing.reached, bits),
        )
        for owner in range(1 << bits)
    ]
    runs = shards.gathered(number, [handles[1:] for handles in tasks], later, engine) if leads else []
    results: list[Advanced] = [engine.result(handles[0]) for handles in tasks]
    return tier_of(number, bits, results, closing.highest, True), results, runs
