"""The history of a solve on a cluster, from its commits: the same whether they were just made or read again.

A commit is a list of events, each a record. `EVENTS` has the name of each kind in a commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from solver.base.tiers import Tier
from solver.cluster.store import File
from solver.cluster.tasks import Advanced, Run, Segment, Shard
from solver.store import documents
from solver.sweep.scale import Scale, Tally

LAYOUT = 2  # of commits
SPLITTER_SAMPLE = 512  # states of a tier that tell how its states are spread


@dataclass(frozen=True, slots=True)
class ShardedTier(Tier):
    """A tier whose states are all found: its shards, 2**`bits` of them, and some of its states."""

    bits: int
    states: list[File]
    sample: list[int]

    @property
    def filled(self) -> list[int]:
        """The shards that have states."""
        return [owner for owner, file in enumerate(self.states) if file.length]

    @property
    def parts(self) -> list[list[File]]:
        """The states of each of these, in a file each."""
        return [[file] for file in self.states if file.length]


def tier_of(number: int, bits: int, results: Sequence[Advanced], highest: int, cyclic: bool) -> ShardedTier:
    """The tier of these shards."""
    wins, draws, losses = np.sum([result.ends for result in results], axis=0).tolist()
    sampled = sorted(state for result in results for state in result.sample)
    files = [result.states for result in results]
    return ShardedTier(
        number,
        sum(result.reached for result in results),
        sum(file.length for file in files),
        bits,
        files,
        sampled[:: 1 + len(sampled) // SPLITTER_SAMPLE],
        cyclic=cyclic,
        highest=highest,
        ends=(wins, draws, losses),
    )


class Found(NamedTuple):
    """The states of a tier were found, or without one the starts.

    The files of what they led to, the largest margin of a finished state, and how many states one led to.
    """

    tier: ShardedTier | None
    runs: list[Run]
    largest: int
    growth: float


class Closing(NamedTuple):
    """A tier with cycles whose states are being found, breadth first.

    Attributes:
        number: The tier.
        bits: There are 2**bits shards.
        seen: For each shard, the files of its visited states, older ones first.
        front: The children of the last generation.
        reached: How many states were visited.
        highest: Highest tier that they lead to.
    """

    number: int
    bits: int
    seen: list[list[Segment]]
    front: list[Segment]
    reached: int
    highest: int

    @property
    def names(self) -> set[str]:
        """The files that it needs."""
        return {file.name for file in self.front}.union(*({file.name for file in files} for files in self.seen))


class Resolving(NamedTuple):
    """A tier with cycles that is being resolved in rounds, after the round of `distance`.

    For each shard that has states, it holds the arrays that `rounds.step` takes.
    """

    number: int
    begins: list[File]
    parents: list[File]
    left: list[File]
    merits: list[File]
    distance: int

    @property
    def names(self) -> set[str]:
        """The files that it needs."""
        return {file.name for files in self[1:5] for file in files if file.length}


class StartedOver(NamedTuple):
    """The tier with cycles that was under way begins anew."""


class Solved(NamedTuple):
    """The values of a tier were found.

    Their files, how many there are of each, the slowest win and its first state, and how far apart the bounds of
    expectations are.
    """

    values: list[File]
    tally: Counter[int]
    slowest: tuple[int, int] | None
    gap: int


Event = Found | Closing | Scale | Resolving | StartedOver | Solved
EVENTS: dict[str, type[Event]] = {
    "forward": Found,
    "closing": Closing,
    "scale": Scale,
    "resolving": Resolving,
    "over": StartedOver,
    "backward": Solved,
}
EVENT_NAMES = {kind: name for name, kind in EVENTS.items()}


def events_of(facts: dict[str, Any], identity: str) -> list[Event]:
    """The events of a commit. Raises ValueError or KeyError if it is of another solve or version."""
    if (facts.get("format"), facts.get("identity")) != (LAYOUT, identity):
        raise ValueError("it is of another solve or version")
    return [documents.read(EVENTS[name], document) for name, document in facts["done"]]


class Course:
    """The history of a solve: `tiers` in order, `runs` of their children, and from the last tier on their `values`."""

    def __init__(self) -> None:
        self.begun: bool = False
        self.runs: list[Run] = []
        # A tier with cycles
        self.under_way: Closing | Resolving | None = None
        self.tiers: list[ShardedTier] = []
        self.largest: int = 1
        # States led to, by those that led to them
        self.growth: float = 0.0
        self.scale: Scale | None = None
        self.values: list[list[File]] = []
        self.tally: Tally = Tally()

    @property
    def stored(self) -> int:
        return sum(tier.kept for tier in self.tiers)

    @property
    def names(self) -> set[str]:
        """The files that are needed."""
        files = (file.name for files_of in (*(tier.states for tier in self.tiers), *self.values) for file in files_of)
        return {run.name for run in self.runs}.union(files, self.under_way.names if self.under_way else ())

    def first(self) -> int | None:
        """The tier whose turn it is, forward."""
        return min((min(run.segments) for run in self.runs), default=None)

    def next(self) -> ShardedTier | None:
        """The tier whose turn it is, backward."""
        left = len(self.tiers) - len(self.values)
        return self.tiers[left - 1] if left else None

    def pending(self, tier: int) -> list[Segment]:
        """Return the runs of states that earlier tiers lead to in this one."""
        return [run.segments[tier] for run in self.runs if tier in run.segments]

    def later(self, tier: ShardedTier) -> list[ShardedTier]:
        """The solved tiers that moves from a tier may lead to."""
        return [
            later_tier
            for later_tier in self.tiers
            if tier.number < later_tier.number <= tier.highest and later_tier.kept
        ]

    def shards(self, tiers: list[ShardedTier], bits: int, owner: int) -> list[Shard]:
        """Return, for each of these tiers, the shard that holds the states of `owner`, one of 2**`bits`."""
        last_tier, segments = len(self.tiers) - 1, []
        for tier in tiers:
            owner_index = owner >> bits - tier.bits
            values = self.values[last_tier - self.tiers.index(tier)]
            segments.append(Shard(tier.number, tier.bits, owner_index, tier.states[owner_index], values[owner_index]))
        return [shard for shard in segments if shard.states.length]

    def apply(self, event: Event) -> list[str]:
        """Apply an event. Returns the names of files that are no longer needed."""
        self.begun = True
        if isinstance(event, Scale):
            obsolete = [file.name for files in self.values for file in files]
            self.scale, self.values, self.tally = event, [], Tally()
            return obsolete
        obsolete = sorted(self.under_way.names) if self.under_way else []
        self.under_way = event if isinstance(event, Closing | Resolving) else None
        if isinstance(event, Found):
            if event.tier is not None:
                self.tiers.append(event.tier)
                for run in self.runs:
                    run.segments.pop(event.tier.number, None)
                obsolete += [run.name for run in self.runs if not run.segments]
                self.runs = [run for run in self.runs if run.segments]
            self.largest, self.growth = max(self.largest, event.largest), event.growth
            self.runs += [Run(run.name, dict(run.segments)) for run in event.runs]
        elif isinstance(event, Solved):
            tier = self.next()
            assert tier is not None
            self.values.append(event.values)
            self.tally.end_tier(event.tally)
            self.tally.meet_win(event.slowest)
            # Each tier rounds once more, and cycles leave a gap
            if self.scale is not None and self.scale.point:
                self.tally.error += event.gap + (tier.kept > 0)
        return obsolete


def owned(segments: Sequence[Segment], bits: int, owner: int) -> list[Segment]:
    """The segments that have states of a shard, perhaps among others."""
    own_segments = []
    for segment in segments:
        if segment.bits <= bits:
            is_mine = owner >> bits - segment.bits == segment.owner
        else:
            is_mine = segment.owner >> segment.bits - bits == owner
        if is_mine:
            own_segments.append(segment)
    return own_segments
