"""Tiers whose moves stay inside them, on the driver's side: closed by generations, then resolved.

Such a tier is closed breadth first: a generation is what the one before led to inside the tier, without what was seen
before. When there is no further one its states are complete, and their moves to later tiers are gone through.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from solver.cluster.blocks import Block, block_count, block_for
from solver.cluster.course import Closing, Tier, owned, tier_of
from solver.cluster.cycles import Explored, Resolved, close, explore, resolve
from solver.cluster.tasks import Advanced, Folded, Run, Segment, answer, request

if TYPE_CHECKING:
    from solver.cluster.driver import Driver

ALONE = 1 << 17  # states up to which a shard that is alone goes on by itself
RESOLVING = 128  # bytes of memory that a state takes where its whole tier is resolved by one task


def begun(number: int, front: Sequence[Segment]) -> Closing:
    """A tier that was led to, of which nothing has been seen."""
    return Closing(number, 0, [[]], list(front), 0, number)


def generation(driver: Driver, closing: Closing) -> Closing:
    """A tier one generation further, or some; its shards may split."""
    engine, number = driver.engine, closing.number
    total = closing.reached + sum(one.end - one.begin for one in closing.front) // 8
    bits = max(closing.bits, driver.bits_for(total))
    seen = [closing.seen[owner >> bits - closing.bits] for owner in range(1 << bits)]
    tasks = [
        engine.submit(
            explore, driver.job, number, (bits, owner), owned(closing.front, bits, owner), files, bits, ALONE,
            returns=1 + block_count(bits), memory=driver.bytes_for(total, bits),
        )
        for owner, files in enumerate(seen)
    ]  # fmt: skip
    runs = driver.gathered(number, [handles[1:] for handles in tasks], bits)
    found: list[Explored] = [engine.result(handles[0]) for handles in tasks]
    for owner, one in enumerate(found):
        seen[owner] = seen[owner][: one.kept]
        if one.seen.length:
            seen[owner].append(_whole(one.seen.name, one.seen.length, bits, owner))
    return Closing(
        number, bits, seen, [run.segments[number] for run in runs],
        closing.reached + sum(one.reached for one in found), max(closing.highest, *(one.highest for one in found)),
    )  # fmt: skip


def _whole(name: str, length: int, bits: int, owner: int) -> Segment:
    """All states of a file that a shard has seen."""
    return Segment(name, 0, 8 * length, name.rpartition(".")[2], bits, owner)


def closed(driver: Driver, closing: Closing, bits: int, later: int) -> tuple[Tier, list[Advanced], list[Run]]:
    """A tier whose states have all been seen, its 2**`bits` shards, and what they lead to in 2**`later`."""
    number, engine, leads = closing.number, driver.engine, closing.highest > closing.number
    seen = list(dict.fromkeys(one for files in closing.seen for one in files))  # shards that were split share some
    tasks = [
        engine.submit(
            close, driver.job, number, (bits, owner), owned(seen, bits, owner), later, leads,
            returns=1 + block_count(later), memory=driver.bytes_for(closing.reached, bits),
        )
        for owner in range(1 << bits)
    ]  # fmt: skip
    runs = driver.gathered(number, [handles[1:] for handles in tasks], later) if leads else []
    found: list[Advanced] = [engine.result(handles[0]) for handles in tasks]
    return tier_of(number, bits, found, closing.highest, True), found, runs


def resolved(driver: Driver, tier: Tier) -> tuple[list[int], list[Folded], int]:
    """`Driver.valued` of a tier with cycles, by one task, which must have the memory for all of it."""
    course, engine, scale = driver.course, driver.engine, driver.course.scale
    assert scale is not None
    places = [place for place, file in enumerate(tier.states) if file.length]
    if not places:
        return [], [], 0
    later, memory = course.later(tier), min(engine.memory, RESOLVING * tier.stored)
    bits = max((one.bits for one in later), default=0)
    children: Any = Block(np.zeros((0, 3), np.int64), np.empty(0, np.int64))
    answers = []
    if later:
        children, *blocks = engine.submit(
            request, driver.job, tier.number, tier.states, scale, bits, returns=1 + block_count(bits), memory=memory
        )
        answers = [
            engine.submit(
                answer, driver.job, owner, scale, course.shards(later, bits, owner), blocks[block_for(owner, bits)]
            )[0]
            for owner in range(1 << bits)
        ]
    found: Resolved = engine.result(
        engine.submit(
            resolve, driver.job, tier.number, tier.bits, tier.states, scale, engine.memory // 2, children, bits,
            *answers, memory=memory,
        )[0]
    )  # fmt: skip
    return places, found.shards, found.gap
