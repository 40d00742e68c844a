"""The values of a tier, on the driver's side."""

from __future__ import annotations

from solver.cluster.history import Tier
from solver.cluster.resolving import resolved
from solver.cluster.shards import Shards, filled
from solver.cluster.tasks import Folded, fold


def valued(shards: Shards, tier: Tier) -> tuple[list[int], list[Folded], int]:
    """The shards of a tier that have states, their values, and how far apart the bounds of expectations are."""
    return (*_folded(shards, tier), 0) if not tier.cyclic else resolved(shards, tier)


def _folded(shards: Shards, tier: Tier) -> tuple[list[int], list[Folded]]:
    """The shards of a tier that have states, and their values."""
    places = filled(tier)
    engine, memory = shards.engine_for(tier.stored), shards.bytes_for(tier.stored, tier.bits)
    bits, children, answers = shards.asked(tier, places)
    folds = [
        engine.submit(
            fold, shards.job, tier.number, (tier.bits, place), tier.states[place], shards.course.scale,
            children[number], bits, *answers[number], memory=memory,
        )[0]
        for number, place in enumerate(places)
    ]  # fmt: skip
    shards.ask_ahead(tier)
    return places, list(engine.results(folds))
