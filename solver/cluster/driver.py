"""Who says what is done to which shard, and when: tier by tier forward, then backward, each tier committed.

What the commits say is all that is needed to go on behind them, on another cluster as well: how many shards a tier has
is decided when its turn comes, and written down.
"""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from solver.cluster.blocks import HASHED, block_count, block_for
from solver.cluster.course import Course, Tier, told_backward, told_forward
from solver.cluster.engine import Engine
from solver.cluster.mending import mend
from solver.cluster.scales import first_scale, wider
from solver.cluster.store import Damaged, File, Store
from solver.cluster.tasks import (
    Advanced,
    Folded,
    Job,
    Run,
    Scale,
    Segment,
    advance,
    answer,
    begin,
    fold,
    gather,
    request,
)
from solver.errors import MethodError, ResourceError
from solver.game import Rules
from solver.options import Say
from solver.progress import Progress
from solver.sweep.backward import TooWide, by_outcome, refuse_long
from solver.sweep.expansion import Stays

MEMORY = 1 << 30  # bytes that a task takes, at most: tasks of some seconds
BYTES = 256  # of memory that a task takes for a state
LEAST = 1 << 17  # states worth a task of their own, where workers are idle
GROWTH = 4.0  # states that one leads to, before that is known
AHEAD = 1.25  # by how much it may be more in the next tier
MENDED = 100  # files in one tier, before something else must be wrong
Result = TypeVar("Result")


class Driver:
    """Drives a job on an engine. `course` is what has been done, `tell` hears of every tier in a line."""

    def __init__(
        self, rules: Rules, job: Job, store: Store, engine: Engine, *, progress: Progress, tell: Say, cyclic: bool
    ) -> None:
        self.rules, self.job, self.store, self.engine = rules, job, store, engine
        self.progress, self.tell, self.cyclic = progress, tell, cyclic
        self.memory = min(engine.memory, MEMORY)
        self.course = Course()
        self.inspect: Callable[[list[int]], None] | None = None  # looks at some states of each tier

    def resume(self, identity: str) -> bool:
        """Take over what was committed; whether there is anything. Raises ResourceError if it is of another solve."""
        while (facts := self.store.committed(self.course.commits)) is not None:
            if facts["identity"] != identity:
                raise ResourceError(f"{self.store.url} belongs to another solve: --restart discards it")
            self.course.apply(facts)
        self.identity = identity
        return self.course.begun

    def run(self) -> None:
        """Do all that has not been done."""
        course = self.course
        if not course.begun:
            self.mending(self._begin)
        while (tier := course.first()) is not None:
            self.mending(functools.partial(self._advance, tier))
        if course.scale is None:
            scale = first_scale(self.rules, False, len(course.tiers), course.largest)
            self._commit({"kind": "scale", "scale": scale})
        while len(course.values) < len(course.tiers):
            try:
                self.mending(functools.partial(self._solve, course.tiers[-1 - len(course.values)]))
            except TooWide:  # rewards add up: nobody knows how far before they do
                assert course.scale is not None
                self._commit({"kind": "scale", "scale": wider(self.rules, course.scale)})

    def _commit(self, facts: dict[str, Any]) -> None:
        self.store.commit(self.course.commits, {"identity": self.identity, **facts})
        self.store.remove(self.course.apply(facts))

    @property
    def error(self) -> int:
        """How many half units expectations may be off: each tier rounds once more."""
        return sum(tier.stored > 0 for tier in self.course.tiers)

    def mend(self, damaged: Damaged) -> None:
        """Compute a shard file again from those before it."""
        self.tell(f"{damaged.name} is damaged, or lost: it is computed again")
        self.mending(functools.partial(mend, self, damaged.name))

    def mending(self, step: Callable[[], Result]) -> Result:
        """Do a step; where a shard file turns out to be damaged, mend it and do the step again."""
        for _ in range(MENDED):
            try:
                return step()
            except Damaged as damaged:
                self.mend(damaged)
        raise self.unreliable()

    def unreliable(self) -> ResourceError:
        """Why no shard file is mended any more."""
        return ResourceError(f"{self.store.url}: shard files are damaged as soon as they are written: mend the store")

    def _bits(self, states: float) -> int:
        """Of how many shards, as a power of two, so many states are."""
        shards = max(states * BYTES / self.memory, min(2 * self.engine.workers, states / LEAST))
        return min(HASHED, max(0, int(np.ceil(np.log2(max(1.0, shards))))))

    def _begin(self) -> None:
        bits = 0
        handles = self.engine.submit(begin, self.job, bits, returns=block_count(bits))
        self._commit(told_forward(None, self.gathered(None, [handles], bits), 1, GROWTH))

    def _advance(self, tier: int) -> None:
        """Find the states of a tier, and what they lead to."""
        started, course, engine = time.monotonic(), self.course, self.engine
        segments = course.pending(tier)
        total = sum(one.end - one.begin for one in segments) // 8
        bits, later = self._bits(total), self._bits(total * course.growth * AHEAD)
        tasks = [
            engine.submit(
                advance, self.job, tier, (bits, owner), _owned(segments, bits, owner), later,
                returns=1 + block_count(later), memory=self._bytes(total, bits),
            )
            for owner in range(1 << bits)
        ]  # fmt: skip
        runs = self.gathered(tier, [handles[1:] for handles in tasks], later)
        try:
            found: list[Advanced] = [engine.result(handles[0]) for handles in tasks]
        except Stays as stays:
            raise MethodError(f"state {stays.state} has a move that stays in its tier") from None
        led = sum(one.end - one.begin for run in runs for one in run.segments.values()) // 8
        reached = sum(one.reached for one in found)
        facts = Tier(
            tier, bits, [one.states for one in found], reached,
            np.sum([one.ends for one in found], axis=0).tolist(), max(one.highest for one in found),
        )  # fmt: skip
        if self.inspect is not None:
            self.inspect([state for one in found for state in one.sample])
        largest = max(one.largest for one in found)
        self._commit(told_forward(facts, runs, largest, led / max(1, reached)))
        self.progress("forward", course.stored, None)
        self._tell("forward", facts, started)

    def gathered(self, source: int | None, tasks: Sequence[Sequence[Any]], bits: int) -> list[Run]:
        """The run files of what the tasks of a tier have dealt to 2**`bits` shards."""
        handles = [
            self.engine.submit(
                gather, self.job, source, (bits, owner), *(blocks[block_for(owner, bits)] for blocks in tasks)
            )[0]
            for owner in range(1 << bits)
        ]
        return [run for run in self.engine.results(handles) if run is not None]

    def _solve(self, tier: Tier) -> None:
        """Find the values of a tier."""
        started, course = time.monotonic(), self.course
        places, found = self.folded(tier)
        tally: Counter[int] = Counter()
        for one in found:
            tally.update(one.tally)
        assert course.scale is not None
        if not course.scale.point:
            refuse_long(self.rules, tally, course.scale.win)
        values = [File("", 0)] * len(tier.states)
        for place, one in zip(places, found, strict=True):
            values[place] = one.values
        self._commit({**told_backward(found, tally, by_outcome(tally)), "values": values})
        self.progress("backward", sum(map(sum, course.counts)), course.stored)
        self._tell("backward", tier, started)

    def folded(self, tier: Tier) -> tuple[list[int], list[Folded]]:
        """The shards of a tier that have states, and their values."""
        scale, later, memory = self.course.scale, self.course.later(tier), self._bytes(tier.stored, tier.bits)
        assert scale is not None
        bits = max((one.bits for one in later), default=0)
        places = [place for place, file in enumerate(tier.states) if file.length]
        asked = [self.requested(tier, place, scale, bits) for place in places]
        answers = [
            self.engine.submit(
                answer, self.job, owner, scale, self.course.shards(later, bits, owner),
                *(handles[1 + block_for(owner, bits)] for handles in asked), returns=len(places),
            )
            for owner in range(1 << bits if places else 0)
        ]  # fmt: skip
        folds = [
            self.engine.submit(
                fold, self.job, tier.number, (tier.bits, place), tier.states[place], scale, handles[0], bits,
                *(answer[number] for answer in answers), memory=memory,
            )[0]
            for number, (place, handles) in enumerate(zip(places, asked, strict=True))
        ]  # fmt: skip
        return places, list(self.engine.results(folds))

    def requested(self, tier: Tier, place: int, scale: Scale, bits: int, only: int | None = None) -> list[Any]:
        """Handles of what `request` returns for a shard of a tier."""
        return self.engine.submit(
            request, self.job, tier.number, tier.states[place], scale, bits, only,
            returns=1 + block_count(bits), memory=self._bytes(tier.stored, tier.bits),
        )  # fmt: skip

    def _bytes(self, states: int, bits: int) -> int:
        """Of memory that a task on one of so many shards takes."""
        return min(self.memory, BYTES * (states >> bits))

    def _tell(self, step: str, tier: Tier, started: float) -> None:
        seconds = time.monotonic() - started
        self.tell(f"{step} tier {tier.number}: {tier.stored:,} states in {1 << tier.bits} shards, {seconds:.1f} s")


def _owned(segments: Sequence[Segment], bits: int, owner: int) -> list[Segment]:
    """The segments that have states of a shard, perhaps among others."""
    found = []
    for one in segments:
        if one.bits <= bits:
            mine = owner >> bits - one.bits == one.owner
        else:
            mine = one.owner >> one.bits - bits == owner
        if mine:
            found.append(one)
    return found
