"""Shard files that are lost or damaged, computed again from those before them.

A tier with cycles that is under way starts over instead: the runs that lead to it are kept until all its states are
found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solver.base.errors import ResourceError
from solver.cluster.blocks import block_count, block_for
from solver.cluster.closing import begun, closed, generation
from solver.cluster.history import Tier
from solver.cluster.tasks import Scale, begin, origin, rebuild

if TYPE_CHECKING:
    from solver.cluster.driver import Driver

ALL, OPEN = Scale(0, "", 0), Scale(1, "", 0)  # which children are asked for: all, or the unfinished ones


def mend(driver: Driver, name: str) -> None:
    """Compute again the shard files of the tier that one is of. Raises ResourceError if it comes out otherwise."""
    kind, number, (bits, _) = origin(name)
    if driver.starts_over(name):
        return
    tiers = {tier.number: tier for tier in driver.course.tiers}
    if kind == "run":
        tasks = [_starts(driver, bits)] if number is None else _leading(driver, tiers[number], ALL, bits, None)
        made = [run.name for run in driver.gathered(number, tasks, bits)]
    elif kind == "seen":  # of a tier that is being closed again: it is written again with the others
        return
    elif kind == "states" and number is not None:
        made = (_closed if tiers[number].cyclic else _rebuilt)(driver, tiers[number])
    else:
        assert number is not None
        made = [one.values.name for one in driver.valued(tiers[number])[1]]
    if name not in made:
        raise ResourceError(f"{name} comes out otherwise when it is computed again: test the memory of the nodes")


def _starts(driver: Driver, bits: int) -> list[Any]:
    return driver.engine.submit(begin, driver.job, bits, returns=block_count(bits))


def _leading(driver: Driver, tier: Tier, which: Scale, bits: int, only: int | None) -> list[list[Any]]:
    """Blocks of what the states of a tier lead to, of each of its shards."""
    places = [place for place, file in enumerate(tier.states) if file.length]
    return [driver.requested(tier, place, which, bits, only)[1:] for place in places]


def _led(driver: Driver, tier: Tier) -> list[Any]:
    """Blocks of what leads to a tier from before it."""
    tasks = [_starts(driver, tier.bits)]
    for one in driver.course.tiers:
        if one.number < tier.number <= one.highest:
            tasks += _leading(driver, one, OPEN, tier.bits, tier.number)
    return tasks


def _closed(driver: Driver, tier: Tier) -> list[str]:
    """The names of the files of the states of a tier with cycles, which is closed once more."""
    runs = driver.gathered(None, _led(driver, tier), tier.bits)
    closing = begun(tier.number, [run.segments[tier.number] for run in runs if tier.number in run.segments])
    while closing.front:
        closing = generation(driver, closing)
    found = closed(driver, closing._replace(highest=tier.number), tier.bits, 0)[1]
    return [one.states.name for one in found]


def _rebuilt(driver: Driver, tier: Tier) -> list[str]:
    """The names of the files of a tier's states."""
    tasks = _led(driver, tier)
    handles = [
        driver.engine.submit(
            rebuild, driver.job, tier.number, (tier.bits, owner),
            *(blocks[block_for(owner, tier.bits)] for blocks in tasks),
        )[0]
        for owner in range(1 << tier.bits)
    ]  # fmt: skip
    return [file.name for file in driver.engine.results(handles)]
