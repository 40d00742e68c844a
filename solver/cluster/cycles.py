"""Tasks for tiers whose moves stay inside them: pure functions, like those of `tasks`.

Forward, `explore` takes a shard one generation further, and `close` ends it when there is no further one. Backward,
`resolve` finds the values of a whole tier at once, by the analysis of one machine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from solver.base.parallel import Workers
from solver.base.progress import silent
from solver.cluster.blocks import Block, States, blocks_of, by_tiers, look_up, miniature
from solver.cluster.history import ShardedTier
from solver.cluster.store import File
from solver.cluster.tasks import (
    Advanced,
    Folded,
    Job,
    Segment,
    bench_of,
    labelled,
    read_segments,
    sample_of,
    spent,
    valued,
)
from solver.compiled.binding import compiling
from solver.compiled.edges import LARGEST, LOSSES, WINS
from solver.store.directory import END
from solver.store.runs import united, without
from solver.store.work import Work
from solver.sweep.expectation import Bounds
from solver.sweep.forward import MERGE_FACTOR
from solver.sweep.retrograde import Resolver, Solve
from solver.sweep.scale import Scale


class Explored(NamedTuple):
    """A generation of one shard, or the sum over several.

    Attributes:
        kept: How many files of visited states stay as they are.
        seen: The file that replaces the others.
        reached: How many states are new.
        highest: Highest tier that they lead to.
    """

    kept: int
    seen: File
    reached: int
    highest: int


class Resolved(NamedTuple):
    """The values of the shards of a tier that have states, and how far apart the bounds of expectations are."""

    shards: list[Folded]
    gap: int


class Pile:
    """Sorted states seen, in few arrays: newer ones are merged with the older where those are not much larger.

    The first `kept` have stayed as they were.
    """

    def __init__(self, arrays: list[States]) -> None:
        self.arrays, self.kept = arrays, len(arrays)

    def new(self, states: States) -> States:
        """Those of sorted states that were not seen before."""
        for known in self.arrays:
            states = without(states, known)
        return states

    def add(self, states: States) -> None:
        """Enter new states."""
        pieces, size = [states], len(states)
        while self.arrays and size * MERGE_FACTOR > len(self.arrays[-1]):
            pieces.append(self.arrays.pop())
            size += len(pieces[-1])
        self.kept = min(self.kept, len(self.arrays))
        if size:
            self.arrays.append(united(pieces))


def explore(
    job: Job,
    tier: int,
    shard: tuple[int, int],
    front: Sequence[Segment],
    visited: Sequence[Segment],
    bits: int,
    limit: int,
) -> list[Any]:
    """Explore one more generation of a shard, (bits, owner).

    A shard that is alone goes on until there is no further generation, or more than `limit` states.

    Returns:
        `Explored`, and blocks of the children in the same tier for 2**`bits` shards.
    """
    bench = bench_of(job)
    store = bench.store
    states = read_segments(store, front, *shard)
    pile = Pile([read_segments(store, [segment], *shard) for segment in visited])
    reached, highest = 0, tier
    with compiling(bench.game):
        while True:
            states = pile.new(states)
            expanded = bench.expansion.expand(tier, states, True)
            pile.add(states)
            reached, highest = reached + len(states), max(highest, expanded.highest)
            states = united([run for later, run in expanded.runs if later == tier])
            if shard[0] or not len(states) or reached > limit:
                break
    file = store.put(labelled("seen", tier, shard), united(pile.arrays[pile.kept :]))
    return [Explored(pile.kept, file, reached, highest), *blocks_of([(tier, states)], bits)]


def close(job: Job, tier: int, shard: tuple[int, int], visited: Sequence[Segment], bits: int, leads: bool) -> list[Any]:
    """Finish a shard, (bits, owner), once all its states have been visited.

    Args:
        leads: Whether there are children in other tiers at all.

    Returns:
        The same as `advance`, without children that stay in the tier.
    """
    bench, begun = bench_of(job), time.monotonic()
    with compiling(bench.game):
        states = read_segments(bench.store, visited, *shard)
        open_states, report = bench.expansion.keep(states)
        runs = bench.expansion.later(bench.compiled.moves, tier, open_states) if leads else []
    file = bench.store.put(labelled("states", tier, shard), open_states)
    ends = report[WINS : LOSSES + 1].tolist()
    facts = Advanced(file, len(states), ends, int(report[LARGEST]), tier, sample_of(open_states), spent(begun))
    return [facts, *blocks_of(by_tiers(runs), bits)]


def resolve(
    job: Job, tier: ShardedTier, scale: Scale, memory: int, children: Block, queried: int, *answers: Any
) -> Resolved:
    """Value a tier that one task can hold.

    Its children in later tiers were valued by 2**`queried` shards. Takes about `memory` bytes.
    """
    bench, kind = bench_of(job), np.dtype(scale.kind)
    tier_states = [bench.store.get(file, np.int64) for file in tier.states]
    known = miniature(tier.number, united(tier_states), children, queried, answers, kind)
    states = known.states[: known.table[0, END]]
    with compiling(bench.game), Work() as work, Workers(1) as team:
        solve = Solve(bench.rules, bench.moves(scale), bench.compiled, work, memory, silent, scale)
        if scale.point:
            bounds = Bounds(solve, 0, known)
            bounds.build(team)
            values, gap = bounds.narrowed(team), bounds.gap
        else:
            resolver = Resolver(solve, 0, known)
            resolver.count(team, None)
            values, gap = np.concatenate(list(resolver.resolve(team))), 0
    resolved_files = []
    for owner, owner_states in enumerate(tier_states):
        if len(owner_states):
            merits = np.empty(len(owner_states), kind)
            look_up(owner_states, states, values, merits)
            resolved_files.append(valued(bench, tier.number, (tier.bits, owner), scale, owner_states, merits))
    return Resolved(resolved_files, gap)
