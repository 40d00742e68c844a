"""The driver of a solve, which orders the work on each shard: tier by tier forward, then backward, all of it committed.

Small tiers are done in this process, and committed together. The commits alone suffice to go on behind them, on
another cluster as well: how many shards a tier has is decided when its turn comes, and written down.
"""

from __future__ import annotations

import functools
import socket
import time
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from solver.base.errors import ResourceError
from solver.base.sharding import AHEAD, BYTES
from solver.cluster.blocks import block_count
from solver.cluster.closing import begun, closed, generation
from solver.cluster.filing import MAIL
from solver.cluster.history import Closing, Found, ShardedTier, Solved, events_of, owned, tier_of
from solver.cluster.mending import mend
from solver.cluster.resolving import LISTING, by_rounds, valued
from solver.cluster.shards import Shards
from solver.cluster.store import Damaged, File
from solver.cluster.tasks import Advanced, Run, Spent, advance, begin, warm
from solver.sweep.expansion import Stays
from solver.sweep.forward import refuse_staying
from solver.sweep.scale import TooWide, first_scale, wider
from solver.sweep.tally import refuse_long

GROWTH = 4.0  # states that one leads to, before that is known
REPORTED_TIER_SECONDS = 1.0  # seconds that a tier takes, of which there is a line
MENDED = 100  # files in one tier, before something else must be wrong
Result = TypeVar("Result")


class Driver(Shards):
    """Drives a job on an engine, tier by tier."""

    def resume(self, identity: str) -> bool:
        """Take over committed work. Returns whether there is any. Raises ResourceError if it is of another solve."""
        while (facts := self.store.committed(self._commits)) is not None:
            try:
                events = events_of(facts, identity)
            except (ValueError, KeyError):
                raise ResourceError(f"{self.store.url} is of another solve or version: --restart discards it") from None
            for event in events:
                self.course.apply(event)
            self._commits += 1
        self.identity = identity
        if self.course.begun:
            self.store.remove([name for name in self.store.listed() if name.startswith(MAIL)])
        return self.course.begun

    def run(self) -> None:
        """Do all that has not been done."""
        course, rules = self.course, self.rules
        if not (self.job.tiers and rules.tiered):
            refuse_staying(self.cyclic, f"{rules.name} has no tier")
        if not course.begun:
            self.mending(self._begin)
        while (tier := course.first()) is not None:
            self.mending(functools.partial(self._advance, tier))
        if course.scale is None:
            scale = first_scale(rules, any(tier.cyclic for tier in course.tiers), len(course.tiers), course.largest)
            self.done(scale)
        while (event := course.next()) is not None:
            try:
                self.mending(functools.partial(self._solve, event))
            except TooWide:
                # Rewards add up: nobody knows how far before they do
                assert course.scale is not None
                self.done(wider(rules, course.scale))
        self.commit()

    def mend(self, damaged: Damaged) -> None:
        """Compute a shard file again from those before it."""
        # The file may be why that fails
        self.ahead = {}
        self.tell(f"{damaged}: it is computed again")
        self.mending(functools.partial(mend, self, damaged.name))

    def mending(self, step: Callable[[], Result]) -> Result:
        """Do a step; where a shard file turns out to be damaged, mend it and do the step again."""
        for _ in range(MENDED):
            try:
                return step()
            except Damaged as damaged:
                self.mend(damaged)
        raise self.unreliable()

    def _begin(self) -> None:
        bits = 0
        # While the driver sees to the first tiers
        for _ in range(self.engine.workers):
            self.engine.submit(warm, self.job)
        handles = self.here.submit(begin, self.job, bits, returns=block_count(bits))
        self.done(Found(None, self.gathered(None, [handles], bits, self.here), 1, GROWTH))

    def _advance(self, tier: int) -> None:
        """Find the states of a tier and their children."""
        started, course, rules = time.monotonic(), self.course, self.rules
        if course.under_way is None and self.job.tiers and rules.tiered:
            try:
                self._complete(*self._advanced(tier), started)
                return
            except Stays as stays:
                refuse_staying(self.cyclic, f"state {stays.state} has a move that stays in its tier")
        under_way = course.under_way
        closing = under_way if isinstance(under_way, Closing) else begun(tier, course.pending(tier))
        while closing.front:
            closing = generation(self, closing)
            self.done(closing)
            self.progress("forward", course.stored + closing.reached, None)
        states = closing.reached
        later = self.bits_for(states * course.growth * AHEAD) if closing.highest > tier else 0
        bits = self.bits_for(states, LISTING if by_rounds(self, states) else BYTES)
        self._complete(*closed(self, closing, max(bits, closing.bits), later), started)

    def _advanced(self, tier: int) -> tuple[ShardedTier, list[Advanced], list[Run]]:
        """Return a tier's shards and their children. Raises Stays if some moves stay inside the tier."""
        course = self.course
        segments = course.pending(tier)
        total = sum(segment.end - segment.begin for segment in segments) // 8
        engine = self.engine_for(total)
        bits, later = self.bits_for(total), self.bits_for(total * course.growth * AHEAD)
        tasks = [
            engine.submit(
                advance,
                self.job,
                tier,
                (bits, owner),
                owned(segments, bits, owner),
                later,
                returns=1 + block_count(later),
                memory=self.bytes_for(total, bits),
            )
            for owner in range(1 << bits)
        ]
        runs = self.gathered(tier, [handles[1:] for handles in tasks], later, engine)
        results: list[Advanced] = [engine.result(handles[0]) for handles in tasks]
        return tier_of(tier, bits, results, max(segment.highest for segment in results), False), results, runs

    def _complete(self, tier: ShardedTier, results: list[Advanced], runs: list[Run], started: float) -> None:
        """Commit a tier whose states are found."""
        led = sum(segment.end - segment.begin for run in runs for segment in run.segments.values()) // 8
        if self.inspect is not None:
            self.inspect([state for segment in results for state in segment.sample])
        largest = max(segment.largest for segment in results)
        self.done(Found(tier, runs, largest, led / max(1, tier.reached)))
        self.progress("forward", self.course.stored, None)
        self._tell("forward", tier, started, [segment.spent for segment in results])

    def _solve(self, tier: ShardedTier) -> None:
        """Find the values of a tier."""
        started, course = time.monotonic(), self.course
        places, results, gap = valued(self, tier)
        tally: Counter[int] = Counter()
        for result in results:
            tally.update(result.tally)
        assert course.scale is not None
        if not course.scale.point:
            refuse_long(self.rules, tally, course.scale.win)
        values = [File("", 0)] * len(tier.states)
        for owner, result in zip(places, results, strict=True):
            values[owner] = result.values
        slowest = min((result.slowest for result in results if result.slowest is not None), default=None)
        self.done(Solved(values, tally, slowest, gap))
        self.progress("backward", course.tally.values.total(), course.stored)
        self._tell("backward", tier, started, [result.spent for result in results])

    def _tell(self, step: str, tier: ShardedTier, started: float, spent: list[Spent | None]) -> None:
        """A line about a tier that took a while, and the node of its slowest task, unless that is this one."""
        seconds, shards = time.monotonic() - started, 1 << tier.bits
        if seconds < REPORTED_TIER_SECONDS:
            return
        shares = "1 shard" if shards == 1 else f"{shards:,} shards"
        known = [duration for duration in spent if duration is not None]
        slowest = max(known, key=lambda duration: duration.seconds, default=None)
        where = ""
        if slowest is not None and {duration.host for duration in known} != {socket.gethostname()}:
            where = f", the slowest task {slowest.seconds:.1f} s on {slowest.host}"
        self.tell(f"{step}, tier {tier.number}: {tier.kept:,} states in {shares}, {seconds:.1f} s{where}")
