"""Shard files that are lost or damaged, computed again from those before them.

A tier with cycles that is under way starts over instead: the runs that lead to it are kept until all its states are
found.
"""

from __future__ import annotations

from typing import Any

from solver.base.errors import ResourceError
from solver.cluster.blocks import block_count, block_for
from solver.cluster.closing import begun, closed, generation
from solver.cluster.filing import MAIL
from solver.cluster.history import ShardedTier
from solver.cluster.resolving import valued
from solver.cluster.shards import Shards
from solver.cluster.tasks import begin, origin, rebuild
from solver.sweep.scale import Scale

ALL_CHILDREN, UNFINISHED_CHILDREN = (
    Scale(0, "", 0),
    Scale(1, "", 0),
)  # which children are asked for: all, or the unfinished ones


def mend(shards: Shards, name: str) -> None:
    """Compute again the shard files of the tier that one is of. Raises ResourceError if it comes out otherwise."""
    kind, number, (bits, _) = origin(name)
    if shards.starts_over(name):
        return
    tiers = {tier.number: tier for tier in shards.course.tiers}
    if kind == "run":
        tasks = [_starts(shards, bits)] if number is None else _leading(shards, tiers[number], ALL_CHILDREN, bits, None)
        run_names = [run.name for run in shards.gathered(number, tasks, bits)]
    elif kind in ("seen", "part", MAIL):
        # The file belongs to a step that runs again and writes it anew
        return
    elif kind == "states" and number is not None:
        run_names = (_closed if tiers[number].cyclic else _rebuilt)(shards, tiers[number])
    else:
        assert number is not None
        run_names = [result.values.name for result in valued(shards, tiers[number])[1]]
    if name not in run_names:
        raise ResourceError(f"{name} comes out otherwise when it is computed again: test the memory of the nodes")


def _starts(shards: Shards, bits: int) -> list[Any]:
    return shards.engine.submit(begin, shards.job, bits, returns=block_count(bits))


def _leading(shards: Shards, tier: ShardedTier, which: Scale, bits: int, only: int | None) -> list[list[Any]]:
    """Return blocks of the states that each shard of a tier leads to."""
    return [shards.requested(tier, files, which, bits, only=only)[1:] for files in tier.parts]


def _led(shards: Shards, tier: ShardedTier) -> list[Any]:
    """Return blocks of the states that earlier tiers lead to in this one."""
    tasks = [_starts(shards, tier.bits)]
    for one in shards.course.tiers:
        if one.number < tier.number <= one.highest:
            tasks += _leading(shards, one, UNFINISHED_CHILDREN, tier.bits, tier.number)
    return tasks


def _closed(shards: Shards, tier: ShardedTier) -> list[str]:
    """The names of the files of the states of a tier with cycles, which is closed once more."""
    runs = shards.gathered(None, _led(shards, tier), tier.bits)
    closing = begun(tier.number, [run.segments[tier.number] for run in runs if tier.number in run.segments])
    while closing.front:
        closing = generation(shards, closing)
    results = closed(shards, closing._replace(highest=tier.number), tier.bits, 0)[1]
    return [result.states.name for result in results]


def _rebuilt(shards: Shards, tier: ShardedTier) -> list[str]:
    """The names of the files of a tier's states."""
    tasks = _led(shards, tier)
    handles = [
        shards.engine.submit(
            rebuild,
            shards.job,
            tier.number,
            (tier.bits, owner),
            *(blocks[block_for(owner, tier.bits)] for blocks in tasks),
        )[0]
        for owner in range(1 << tier.bits)
    ]
    return [file.name for file in shards.engine.results(handles)]
