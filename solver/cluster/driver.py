"""Who says what is done to which shard, and when: tier by tier forward, then backward, all of it committed.

Small tiers are done in this process, and committed together. What the commits say is all that is needed to go on behind
them, on another cluster as well: how many shards a tier has is decided when its turn comes, and written down.
"""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from solver.base.errors import ResourceError
from solver.base.options import Say
from solver.base.progress import Progress
from solver.cluster.blocks import HASHED, MOST_BLOCKS, NOTHING, block_count
from solver.cluster.closing import begun, closed, generation
from solver.cluster.engine import Engine, Here
from solver.cluster.exchange import sent, sent_back
from solver.cluster.history import Course, Tier, owned, tier_of, told_backward, told_forward
from solver.cluster.mending import mend
from solver.cluster.resolving import LISTING, by_rounds, resolved
from solver.cluster.scales import first_scale, wider
from solver.cluster.store import Damaged, File, Store
from solver.cluster.tasks import (
    Advanced,
    Folded,
    Job,
    Run,
    Scale,
    advance,
    answer,
    begin,
    fold,
    gather,
    request,
    warm,
)
from solver.rules.game import Rules
from solver.sweep.backward import TooWide, by_outcome, refuse_long
from solver.sweep.expansion import Stays
from solver.sweep.forward import refuse_staying

MEMORY = 1 << 30  # bytes that a task takes, at most: tasks of some seconds
BYTES = 256  # of memory that a task takes for a state
GATHERED = 64  # of one that merges or looks up, for a state
LEAST = 1 << 17  # states worth a task of their own, where workers are idle
GROWTH = 4.0  # states that one leads to, before that is known
AHEAD = 1.25  # by how much it may be more in the next tier
NEAR = 1 << 14  # states of a tier that are not worth the way to another process
EVERY = 1.0  # seconds between commits, at least
TOLD = 1.0  # seconds that a tier takes, of which there is a line
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
        self.every = EVERY
        self.course = Course()
        self._here = Here()
        self._commits, self._committed = 0, time.monotonic()
        self._uncommitted: list[dict[str, Any]] = []
        self._obsolete: list[str] = []
        self._ahead: dict[int, list[list[Any]]] = {}  # requests of the tier to come, begun early
        self.inspect: Callable[[list[int]], None] | None = None  # looks at some states of each tier

    def resume(self, identity: str) -> bool:
        """Take over what was committed; whether there is anything. Raises ResourceError if it is of another solve."""
        while (facts := self.store.committed(self._commits)) is not None:
            if facts["identity"] != identity:
                raise ResourceError(f"{self.store.url} belongs to another solve: --restart discards it")
            for done in facts["done"]:
                self.course.apply(done)
            self._commits += 1
        self.identity = identity
        return self.course.begun

    def run(self) -> None:
        """Do all that has not been done."""
        course, rules = self.course, self.rules
        if not (self.job.tiers and rules.tiered):
            refuse_staying(rules, self.cyclic, f"{rules.name} has no tier")
        if not course.begun:
            self.mending(self._begin)
        while (tier := course.first()) is not None:
            self.mending(functools.partial(self._advance, tier))
        if course.scale is None:
            scale = first_scale(rules, any(tier.cyclic for tier in course.tiers), len(course.tiers), course.largest)
            self.done({"kind": "scale", "scale": scale})
        while (last := course.next()) is not None:
            try:
                self.mending(functools.partial(self._solve, last))
            except TooWide:  # rewards add up: nobody knows how far before they do
                assert course.scale is not None
                self.done({"kind": "scale", "scale": wider(rules, course.scale)})
        self.commit()

    def done(self, facts: dict[str, Any]) -> None:
        """Enter what has been done, and commit it if that is due."""
        self._obsolete += self.course.apply(facts)
        self._uncommitted.append(facts)
        if time.monotonic() >= self._committed + self.every:
            self.commit()

    def commit(self) -> None:
        """Say for good what has been done since the last time, and remove what is not needed any more."""
        if self._uncommitted:
            self.store.commit(self._commits, {"identity": self.identity, "done": self._uncommitted})
            # what was let go may have been written again since: the same states are the same file
            self.store.remove(sorted(set(self._obsolete) - self.course.names))
            self._commits, self._committed = self._commits + 1, time.monotonic()
            self._uncommitted, self._obsolete = [], []

    @property
    def error(self) -> int:
        """How many half units expectations may be off: each tier rounds once more, and cycles leave a gap."""
        return sum(tier.stored > 0 for tier in self.course.tiers) + self.course.gap

    def starts_over(self, name: str) -> bool:
        """Whether a file is of a tier with cycles that is under way, which begins anew if it is."""
        for kind in ("closing", "resolving"):
            under_way = getattr(self.course, kind)
            if under_way is not None and name in under_way.names:
                self.done({"kind": kind, kind: None})
                return True
        return False

    def mend(self, damaged: Damaged) -> None:
        """Compute a shard file again from those before it."""
        self._ahead = {}  # the file may be why that fails
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

    def bits_for(self, states: float, each: int = BYTES) -> int:
        """Of how many shards, as a power of two, so many states are, of which a task takes `each` bytes."""
        shards = max(states * each / self.memory, min(2 * self.engine.workers, MOST_BLOCKS, states / LEAST))
        return min(HASHED, max(0, int(np.ceil(np.log2(max(1.0, shards))))))

    def _begin(self) -> None:
        bits = 0
        for _ in range(self.engine.workers):  # while the driver sees to the first tiers
            self.engine.submit(warm, self.job)
        handles = self._here.submit(begin, self.job, bits, returns=block_count(bits))
        self.done(told_forward(None, self.gathered(None, [handles], bits, self._here), 1, GROWTH))

    def _advance(self, tier: int) -> None:
        """Find the states of a tier, and what they lead to."""
        started, course, rules = time.monotonic(), self.course, self.rules
        if course.closing is None and self.job.tiers and rules.tiered:
            try:
                self._complete(*self._advanced(tier), started)
                return
            except Stays as stays:
                refuse_staying(rules, self.cyclic, f"state {stays.state} has a move that stays in its tier")
        closing = course.closing or begun(tier, course.pending(tier))
        while closing.front:
            closing = generation(self, closing)
            self.done({"kind": "closing", "closing": closing})
            self.progress("forward", course.stored + closing.reached, None)
        states = closing.reached
        later = self.bits_for(states * course.growth * AHEAD) if closing.highest > tier else 0
        bits = self.bits_for(states, LISTING if by_rounds(self, states) else BYTES)
        self._complete(*closed(self, closing, max(bits, closing.bits), later), started)

    def _advanced(self, tier: int) -> tuple[Tier, list[Advanced], list[Run]]:
        """A tier whose moves leave it, its shards and what they lead to. Raises Stays if some do not."""
        course = self.course
        segments = course.pending(tier)
        total = sum(one.end - one.begin for one in segments) // 8
        engine = self.engine_for(total)
        bits, later = self.bits_for(total), self.bits_for(total * course.growth * AHEAD)
        tasks = [
            engine.submit(
                advance, self.job, tier, (bits, owner), owned(segments, bits, owner), later,
                returns=1 + block_count(later), memory=self.bytes_for(total, bits),
            )
            for owner in range(1 << bits)
        ]  # fmt: skip
        runs = self.gathered(tier, [handles[1:] for handles in tasks], later, engine)
        found: list[Advanced] = [engine.result(handles[0]) for handles in tasks]
        return tier_of(tier, bits, found, max(one.highest for one in found), False), found, runs

    def _complete(self, tier: Tier, found: list[Advanced], runs: list[Run], started: float) -> None:
        """Commit a tier whose states are found."""
        led = sum(one.end - one.begin for run in runs for one in run.segments.values()) // 8
        if self.inspect is not None:
            self.inspect([state for one in found for state in one.sample])
        largest = max(one.largest for one in found)
        self.done(told_forward(tier, runs, largest, led / max(1, tier.reached)))
        self.progress("forward", self.course.stored, None)
        self._tell("forward", tier, started)

    def engine_for(self, states: int) -> Engine:
        """What runs the tasks of a tier of so many states."""
        return self.engine if states > NEAR else self._here

    def gathered(
        self, source: int | None, tasks: Sequence[Sequence[Any]], bits: int, engine: Engine | None = None
    ) -> list[Run]:
        """The run files of what the tasks of a tier, on an engine, have dealt to 2**`bits` shards."""
        engine, memory = engine or self.engine, GATHERED * self.memory // BYTES
        handles = [
            engine.submit(gather, self.job, source, (bits, owner), *items, memory=memory if bits else 0)[0]
            for owner, items in enumerate(sent(engine, tasks, bits))
        ]
        return [run for run in engine.results(handles) if run is not None]

    def _solve(self, tier: Tier) -> None:
        """Find the values of a tier."""
        started, course = time.monotonic(), self.course
        places, found, gap = self.valued(tier)
        tally: Counter[int] = Counter()
        for one in found:
            tally.update(one.tally)
        assert course.scale is not None
        if not course.scale.point:
            refuse_long(self.rules, tally, course.scale.win)
        values = [File("", 0)] * len(tier.states)
        for place, one in zip(places, found, strict=True):
            values[place] = one.values
        self.done(told_backward(values, found, tally, by_outcome(tally), gap))
        self.progress("backward", sum(map(sum, course.counts)), course.stored)
        self._tell("backward", tier, started)

    def valued(self, tier: Tier) -> tuple[list[int], list[Folded], int]:
        """The shards of a tier that have states, their values, and how far apart the bounds of expectations are."""
        return (*self._folded(tier), 0) if not tier.cyclic else resolved(self, tier)

    def _folded(self, tier: Tier) -> tuple[list[int], list[Folded]]:
        """The shards of a tier that have states, and their values."""
        places = _filled(tier)
        engine, memory = self.engine_for(tier.stored), self.bytes_for(tier.stored, tier.bits)
        bits, children, answers = self.asked(tier, places)
        folds = [
            engine.submit(
                fold, self.job, tier.number, (tier.bits, place), tier.states[place], self.course.scale,
                children[number], bits, *answers[number], memory=memory,
            )[0]
            for number, place in enumerate(places)
        ]  # fmt: skip
        self._ask_ahead(tier)
        return places, list(engine.results(folds))

    def _ask_ahead(self, tier: Tier) -> None:
        """While a tier is solved let the one before it ask for its children, which takes no values."""
        place = len(self.course.tiers) - 2 - len(self.course.values)
        if place < 0 or self.course.next() is not tier:
            return
        before = self.course.tiers[place]
        if not before.cyclic and self.engine_for(before.stored) is self.engine:
            self._ahead = {before.number: self._requests(before, _filled(before))}

    def _requests(self, tier: Tier, places: list[int]) -> list[list[Any]]:
        """Handles of what `request` returns for some shards of a tier."""
        scale, later = self.course.scale, self.course.later(tier)
        assert scale is not None
        bits = max((one.bits for one in later), default=0)
        ahead = self._ahead.pop(tier.number, None)
        return ahead or [self.requested(tier, place, scale, bits) for place in places if later]

    def asked(self, tier: Tier, places: list[int]) -> tuple[int, list[Any], list[list[Any]]]:
        """What shards of a tier need of later tiers: as a power of two how many shards were asked, handles of the
        children of each shard, and of what each is answered, in the order of the shards asked."""
        scale, later, engine = self.course.scale, self.course.later(tier), self.engine_for(tier.stored)
        assert scale is not None
        if not later or not places:
            return 0, [NOTHING] * len(places), [[] for _ in places]
        bits = max(one.bits for one in later)
        requests = self._requests(tier, places)
        memory = min(self.memory, max(GATHERED * (one.stored >> one.bits) for one in later))
        answers = [
            engine.submit(
                answer, self.job, owner, scale, self.course.shards(later, bits, owner), *items,
                returns=len(items), memory=memory,
            )
            for owner, items in enumerate(sent(engine, [handles[1:] for handles in requests], bits))
        ]  # fmt: skip
        return bits, [handles[0] for handles in requests], sent_back(engine, answers, len(places), bits)

    def requested(self, tier: Tier, place: int, scale: Scale, bits: int, only: int | None = None) -> list[Any]:
        """Handles of what `request` returns for a shard of a tier."""
        return self.engine_for(tier.stored).submit(
            request, self.job, tier.number, [tier.states[place]], scale, bits, only,
            returns=1 + block_count(bits), memory=self.bytes_for(tier.stored, tier.bits),
        )  # fmt: skip

    def bytes_for(self, states: int, bits: int, each: int = BYTES) -> int:
        """Of memory that a task on one of so many shards takes."""
        return min(self.memory, each * (states >> bits))

    def _tell(self, step: str, tier: Tier, started: float) -> None:
        """A line about a tier that took a while."""
        seconds, shards = time.monotonic() - started, 1 << tier.bits
        if seconds >= TOLD:
            shares = "1 shard" if shards == 1 else f"{shards:,} shards"
            self.tell(f"{step}, tier {tier.number}: {tier.stored:,} states in {shares}, {seconds:.1f} s")


def _filled(tier: Tier) -> list[int]:
    """The shards of a tier that have states."""
    return [place for place, file in enumerate(tier.states) if file.length]
