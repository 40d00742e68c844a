"""Helpers of all parts of a solve's driver: numbers of shards, engines, results of tasks, commits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from solver.base import sharding
from solver.base.errors import ResourceError
from solver.base.progress import Progress, Say
from solver.base.sharding import BYTES, GATHERED
from solver.cluster.blocks import EMPTY_BLOCK, block_count
from solver.cluster.engine import Engine, Here
from solver.cluster.exchange import sent, sent_back
from solver.cluster.filing import Filing
from solver.cluster.history import EVENT_NAMES, LAYOUT, Course, Event, ShardedTier, StartedOver
from solver.cluster.store import File, Store
from solver.cluster.tasks import Job, Run, answer, gather, request
from solver.rules.game import Rules
from solver.sweep.scale import Scale

EVERY = 1.0  # seconds between commits, at least


class Shards:
    """A job on an engine. `course` is its history, and `tell` is called with a line about every tier."""

    def __init__(
        self, rules: Rules, job: Job, store: Store, engine: Engine, *, progress: Progress, tell: Say, cyclic: bool
    ) -> None:
        self.rules, self.job, self.store = rules, job, store
        self.engine, self.filing = Filing(engine, store, False), Filing(engine, store, True)
        self.progress, self.tell, self.cyclic = progress, tell, cyclic
        self.memory: int = min(engine.memory, sharding.TASK_BYTES)
        self.every = EVERY
        self.course, self.identity = Course(), ""
        self.here: Here = Here()
        self._commits, self._committed = 0, time.monotonic()
        self._uncommitted: list[Event] = []
        self._obsolete: list[str] = []
        # Requests of the tier to come, begun early
        self.ahead: dict[int, list[list[Any]]] = {}
        # Looks at some states of each tier
        self.inspect: Callable[[list[int]], None] | None = None

    def done(self, event: Event) -> None:
        """Enter an event, and commit if that is due."""
        self.filing.step()
        self._obsolete += self.course.apply(event)
        self._uncommitted.append(event)
        if time.monotonic() >= self._committed + self.every:
            self.commit()

    def commit(self) -> None:
        """Commit the events since the last time, and remove files that are no longer needed."""
        if self._uncommitted:
            events = [(EVENT_NAMES[type(event)], event) for event in self._uncommitted]
            self.store.commit(self._commits, {"format": LAYOUT, "identity": self.identity, "done": events})
            # what was let go may have been written again since: the same states are the same file
            self.store.remove(sorted(set(self._obsolete) - self.course.names))
            self._commits, self._committed = self._commits + 1, time.monotonic()
            self._uncommitted, self._obsolete = [], []

    def starts_over(self, name: str) -> bool:
        """Whether a file is of a tier with cycles that is under way, which begins anew if it is."""
        if self.course.under_way is None or name not in self.course.under_way.names:
            return False
        self.done(StartedOver())
        return True

    def unreliable(self) -> ResourceError:
        """Why no shard file is mended any more."""
        return ResourceError(
            f"{self.store.url}: files read back damaged right after they were written: check the store,"
            " then run the command again"
        )

    def bits_for(self, states: float, each: int = BYTES) -> int:
        """Of how many shards, as a power of two, so many states are, of which a task takes `each` bytes."""
        return sharding.bits_for(states, each, self.memory, self.engine.workers)

    def engine_for(self, states: int) -> Engine:
        """Return the engine for the tasks of a tier of so many states."""
        if states <= sharding.LOCAL_STATES:
            return self.here
        return self.filing if 1 << self.bits_for(states) > sharding.FILED else self.engine

    def gathered(
        self, source: int | None, tasks: Sequence[Sequence[Any]], bits: int, engine: Engine | None = None
    ) -> list[Run]:
        """Return the run files of the states that a tier's tasks have dealt to 2**`bits` shards."""
        engine, memory = engine or self.engine, GATHERED * self.memory // BYTES
        handles = [
            engine.submit(gather, self.job, source, (bits, owner), *items, memory=memory if bits else 0)[0]
            for owner, items in enumerate(sent(engine, tasks, bits))
        ]
        return [run for run in engine.results(handles) if run is not None]

    def ask_ahead(self, tier: ShardedTier) -> None:
        """While a tier is solved let the one before it ask for its children, which takes no values."""
        place = len(self.course.tiers) - 2 - len(self.course.values)
        if place < 0 or self.course.next() is not tier:
            return
        before = self.course.tiers[place]
        if not before.cyclic and self.engine_for(before.kept) is not self.here:
            self.ahead = {before.number: self._requests(before, before.parts)}

    def _requests(self, tier: ShardedTier, parts: list[list[File]], memory: int | None = None) -> list[list[Any]]:
        """Return handles of the results of `request` for some parts of a tier."""
        scale, later = self.course.scale, self.course.later(tier)
        assert scale is not None
        bits = max((one.bits for one in later), default=0)
        ahead = self.ahead.pop(tier.number, None)
        return ahead or [self.requested(tier, files, scale, bits, memory=memory) for files in parts if later]

    def asked(
        self, tier: ShardedTier, parts: list[list[File]], memory: int | None = None
    ) -> tuple[int, list[Any], list[list[Any]]]:
        """Ask later tiers for the values that parts of a tier need. A part is some files.

        Returns:
            The number of shards asked, as a power of two; handles of the children of each part; and handles of the
            answers, in the order of the shards.
        """
        scale, later, engine = self.course.scale, self.course.later(tier), self.engine_for(tier.kept)
        assert scale is not None
        if not later or not parts:
            return 0, [EMPTY_BLOCK] * len(parts), [[] for _ in parts]
        bits = max(one.bits for one in later)
        requests = self._requests(tier, parts, memory)
        memory = min(self.memory, max(GATHERED * (one.kept >> one.bits) for one in later))
        answers = [
            engine.submit(
                answer,
                self.job,
                owner,
                scale,
                self.course.shards(later, bits, owner),
                *items,
                returns=len(items),
                memory=memory,
            )
            for owner, items in enumerate(sent(engine, [handles[1:] for handles in requests], bits))
        ]
        return bits, [handles[0] for handles in requests], sent_back(engine, answers, len(parts), bits)

    def requested(
        self,
        tier: ShardedTier,
        files: list[File],
        scale: Scale,
        bits: int,
        *,
        only: int | None = None,
        memory: int | None = None,
    ) -> list[Any]:
        """Return handles of the results of `request` for one part of a tier."""
        return self.engine_for(tier.kept).submit(
            request,
            self.job,
            tier.number,
            files,
            scale,
            bits,
            only,
            returns=1 + block_count(bits),
            memory=memory or self.bytes_for(tier.kept, tier.bits),
        )

    def bytes_for(self, states: int, bits: int, each: int = BYTES) -> int:
        """Of memory that a task on one of so many shards takes."""
        return min(self.memory, each * (states >> bits))
