"""The values of a tier, on the driver's side: the pass backward.

One task resolves a tier with cycles that fits one worker, as on one machine. A larger one is resolved by rounds of
messages between its shards, and every CHECKPOINT_SECONDS seconds the state of all shards is committed: a death costs
the rounds since then, or, where there was none, the tier from its moves on.
"""

from __future__ import annotations

import time
from typing import Any

from solver.base import options
from solver.base.errors import GameError
from solver.base.methods import Method
from solver.cluster.blocks import block_count, block_for
from solver.cluster.history import Resolving, ShardedTier
from solver.cluster.rounds import ARRAYS, Told, index, keep, link, load, settled, step
from solver.cluster.shards import Shards
from solver.cluster.store import File
from solver.cluster.tasks import Folded, Resolved, fold, resolve
from solver.sweep.scale import WIN, Scale

RESOLVING = 128  # bytes of memory that a state takes where its whole tier is resolved by one task
LISTING = 1024  # bytes of memory that a state takes while the shards of its tier list the parents of their states


def valued(shards: Shards, tier: ShardedTier) -> tuple[list[int], list[Folded], int]:
    """The shards of a tier that have states, their values, and how far apart the bounds of expectations are."""
    if tier.cyclic:
        return _resolved(shards, tier)
    engine = shards.engine_for(tier.kept)
    bits, children, answers = shards.asked(tier, tier.parts)
    folds = engine.submit_each(
        fold,
        [
            (shards.job, tier.number, (tier.bits, owner), tier.states[owner], shards.course.scale, block, bits, *values)
            for owner, block, values in zip(tier.filled, children, answers, strict=True)
        ],
        memory=shards.bytes_for(tier.kept, tier.bits),
    )
    shards.ask_ahead(tier)
    return tier.filled, list(engine.results(handle for [handle] in folds)), 0


def _resolved(shards: Shards, tier: ShardedTier) -> tuple[list[int], list[Folded], int]:
    """`valued` of a tier with cycles."""
    course, scale = shards.course, shards.course.scale
    assert scale is not None
    places = tier.filled
    if not places:
        return [], [], 0
    if not by_rounds(shards, tier.kept):
        # One task, which must have the memory for all of the tier
        most, engine = shards.engine.memory, shards.engine_for(tier.kept)
        memory = min(most, RESOLVING * tier.kept)
        bits, [children], [answers] = shards.asked(tier, [tier.states], memory)
        given = shards.job, tier.number, tier.states, scale, most // 2, children, bits, *answers
        handles = engine.submit(resolve, *given, memory=memory)
        at_once: Resolved = engine.result(handles[0])
        return places, at_once.shards, at_once.gap
    rounds = Rounds(shards, tier, scale, places)
    # If not, one of its files is mended, perhaps in the middle of another tier's rounds
    its_turn = tier == course.next()
    kept = course.under_way if its_turn and isinstance(course.under_way, Resolving) else None
    saved = time.monotonic()
    distance = rounds.link() if kept is None else rounds.load(kept)
    while distance:
        following = rounds.step(distance)
        due = its_turn and time.monotonic() - saved > options.CHECKPOINT_SECONDS
        if following > distance and due and (kept is None or distance > kept.distance):
            kept = rounds.kept(distance)
            shards.done(kept)
            # Send again, so that nothing later depends on earlier messages
            rounds.load(kept)
            saved = time.monotonic()
        else:
            distance = following
    return places, rounds.values(), 0


def by_rounds(shards: Shards, states: int) -> bool:
    """Whether a tier with cycles has too many states for one worker, which a game of chance needs all the same."""
    return shards.rules.kind.cyclic == Method.RETROGRADE and RESOLVING * states > shards.engine.memory


class Rounds:
    """A tier that is resolved in rounds.

    It holds handles of the arrays of its shards at `places`, by name, and of the messages between them.
    """

    def __init__(self, shards: Shards, tier: ShardedTier, scale: Scale, places: list[int]) -> None:
        self.shards, self.engine, self.job = shards, shards.engine, shards.job
        self.tier, self.scale, self.places = tier, scale, places
        self.memory: int = shards.bytes_for(tier.kept, tier.bits, LISTING)
        self.blocks: int = block_count(tier.bits)
        self.arrays: dict[str, list[Any]] = {}
        # Kept files of begins and parents
        self.index: list[list[File]] = []
        self.mails: list[Any] = []
        self.resolved: int = 0

    def link(self) -> int:
        """Count open children and list parents; the first distance, 0 if nothing decides any state."""
        tier, scale, bits = self.tier, self.scale, self.tier.bits
        queried, children, answers = self.shards.asked(tier, tier.parts)
        linked = self.engine.submit_each(
            link,
            [
                (self.job, tier.number, (bits, owner), tier.states[owner], scale, block, queried, *values)
                for owner, block, values in zip(self.places, children, answers, strict=True)
            ],
            returns=3 + self.blocks,
            memory=self.memory,
        )
        lists = self.engine.submit_each(
            index,
            [
                (self.job, tier, owner, *(handles[3 + block_for(owner, bits)] for handles in linked))
                for owner in self.places
            ],
            returns=2,
            memory=self.memory,
        )
        self._take(begins=0, parents=1, of=lists)
        self._take(left=1, merits=2, of=linked)
        list(self.engine.results(self.arrays["begins"]))
        return min(filter(None, self.engine.results(handles[0] for handles in linked)), default=0)

    def load(self, saved: Resolving) -> int:
        """Continue from files. Returns the distance of the round to repeat, whose messages were not kept."""
        files = zip(*(getattr(saved, name) for name in ARRAYS), strict=True)
        handles = self.engine.submit_each(load, [(self.job, *shard) for shard in files], returns=len(ARRAYS))
        self._take(**{name: number for number, name in enumerate(ARRAYS)}, of=handles)
        self.index, self.mails = [[*shard] for shard in zip(saved.begins, saved.parents, strict=True)], []
        return saved.distance

    def kept(self, distance: int) -> Resolving:
        """The arrays in files, after the round of that distance."""
        self.index = self.index or self._kept("begins", "parents")
        begins, parents = zip(*self.index, strict=True)
        left, merits = zip(*self._kept("left", "merits"), strict=True)
        return Resolving(self.tier.number, [*begins], [*parents], [*left], [*merits], distance)

    def step(self, distance: int) -> int:
        """A round; the next distance, 0 if there is no more to do."""
        scores = self.shards.rules.scores
        if distance >= WIN - 1 and not scores:
            raise GameError(f"{self.shards.rules.name} has wins of more than {WIN - 2:,} plies")
        bits = self.tier.bits
        handles = self.engine.submit_each(
            step,
            [
                (self.job, (bits, owner), distance, *arrays, *(mail[block_for(owner, bits)] for mail in self.mails))
                for owner, *arrays in zip(self.places, *(self.arrays[name] for name in ARRAYS), strict=True)
            ],
            returns=3 + self.blocks,
            memory=self.memory,
        )
        results: list[Told] = list(self.engine.results(shard[0] for shard in handles))
        self._take(left=1, merits=2, of=handles)
        self.mails = [shard[3:] for shard in handles]
        self.resolved += sum(result.resolved for result in results)
        self.shards.progress("resolve", min(self.resolved, self.tier.kept), self.tier.kept)
        if any(result.sent for result in results):
            return distance if scores else distance + 1
        self.mails = []
        return min((result.following for result in results if result.following), default=0)

    def values(self) -> list[Folded]:
        """The values of the shards."""
        tier = self.tier
        return self.engine.each(
            settled,
            [
                (self.job, tier.number, (tier.bits, owner), tier.states[owner], self.scale, left, merits)
                for owner, left, merits in zip(self.places, self.arrays["left"], self.arrays["merits"], strict=True)
            ],
            memory=self.memory,
        )

    def _take(self, of: list[list[Any]], **names: int) -> None:
        """Keep handles of arrays, by their position in each shard's result."""
        for name, number in names.items():
            self.arrays[name] = [handles[number] for handles in of]

    def _kept(self, *names: str) -> list[list[File]]:
        """The files of these arrays of each shard."""
        return self.engine.each(
            keep,
            [
                (self.job, self.tier.number, (self.tier.bits, owner), names, *arrays)
                for owner, *arrays in zip(self.places, *(self.arrays[name] for name in names), strict=True)
            ],
        )
