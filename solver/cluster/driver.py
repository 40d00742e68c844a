"""The driver of a solve, which orders the work on each shard: tier by tier forward, then backward, all of it committed.

Small tiers are done in this process, and committed together. The commits alone suffice to go on behind them, on
another cluster as well: how many shards a tier has is decided when its turn comes, and written down.

A tier whose moves stay inside it is closed breadth first. A generation is the set of new states that the one before
leads to inside the tier. When a generation is empty, the states are complete, and their moves to later tiers are
followed. Backward, one task resolves such a tier if it fits one worker, as on one machine; a larger one is resolved by
rounds of messages between its shards (`rounds`).

Shard files that are lost or damaged are computed again from those before them. A tier with cycles that is under way
starts over instead: the runs that lead to it are kept until all its states are found.
"""

from __future__ import annotations

import functools
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from solver.base.errors import ResourceError, SolverError
from solver.base.kinds import NIMBER, Method
from solver.base.options import Options
from solver.base.sharding import AHEAD, BYTES
from solver.book.solution import Solved as Solution
from solver.cluster import nodes, on_ray, ordering, rounds, shards, tasks
from solver.cluster.blocks import block_count
from solver.cluster.engine import Engine
from solver.cluster.store import Damaged, File, Store
from solver.cluster.tasks import Advanced, Folded, Job, Run, Segment, Spent
from solver.compiled import agreement
from solver.compiled.edges import CompiledMoves
from solver.rules.game import Rules, located
from solver.store import documents
from solver.sweep import exhaustive, expansion, forward
from solver.sweep.scale import Scale, TooWide, first_scale, refuse_long, wider

RESOLVING = 128  # bytes of memory that a state takes where its whole tier is resolved by one task
GROWTH = 4.0  # states that one leads to, before that is known
REPORTED_TIER_SECONDS = 1.0  # seconds that a tier takes, of which there is a line
MOST_REPAIRS = 300  # times for one tier, before something else must be wrong
ALONE = 1 << 17  # states up to which a shard that is alone goes on by itself
# Which children are asked for
ALL_CHILDREN, UNFINISHED_CHILDREN = Scale(0, "", 0), Scale(1, "", 0)
Result = TypeVar("Result")


class Driver(shards.Shards):
    """A solve under way, tier by tier."""

    def __init__(self, rules: Rules, url: str, engine: Engine, options: Options) -> None:
        store, tiers = Store(url), rules.kind.in_tiers(options.method)
        job = Job(located(rules.game), rules.fingerprint, rules.symmetry, tiers, store.url, rules.kind is NIMBER)
        self.tier = CompiledMoves(rules, tiers).tier
        super().__init__(rules, job, store, engine, options)
        self.repaired: int = 0

    def solve(self, states: Sequence[int] = ()) -> Solution:
        """The solution, which is in the files. The store is ours until it is left.

        Compiled rules are held against the plain ones as `exhaustive.solve` does. Raises what that does, and
        ResourceError where the store or the cluster fail.
        """
        begun_at, rules, job = time.monotonic(), self.rules, self.job
        self.store.hold()
        if not on_ray.is_local(self.options.cluster or ""):
            examined = nodes.look(self.engine, job.url, job.game, job.fingerprint)
            for node in examined:
                self.tell(nodes.line(node))
            nodes.refuse(examined)
        if self.options.restart:
            self.store.clear()
        if self.resume(f"{rules.name} {job.fingerprint} {self.options.method} symmetry {rules.symmetry}"):
            self.tell(f"going on from {self.store.url}: {self.course.stored:,} states found")
        if states:
            self.inspect = functools.partial(agreement.compare, rules.game, symmetry=rules.symmetry, tiers=job.tiers)
            self.inspect(list(states))
        self.run()
        return self.repairing(functools.partial(self._solution, begun_at))

    def _solution(self, begun_at: float) -> Solution:
        start, merged = self.rules.canonical(self.rules.game.initial()), ordering.Merged(self, self.tier)
        merged.check(start)
        try:
            return exhaustive.finish(self.rules, merged, self.options, begun_at)._replace(encoded=merged.encoded)
        except SolverError:
            # What the solution was held against the plain rules by had no digest
            merged.check()
            raise

    def repair(self, error: SolverError) -> bool:
        """Repair a damaged shard file, which writing the book met. Returns whether that worked."""
        if isinstance(error, ResourceError):
            return False
        try:
            if not isinstance(error, Damaged):
                ordering.Merged(self, self.tier).check()
                return False
        except Damaged as damaged:
            error = damaged
        self._repair(error)
        return True

    def resume(self, identity: str) -> bool:
        """Take over committed work. Returns whether there is any. Raises ResourceError if it is of another solve."""
        while (facts := self.store.committed(self._commits)) is not None:
            try:
                if (facts.get("format"), facts.get("identity")) != (shards.LAYOUT, identity):
                    raise ValueError
                events = [documents.read(shards.EVENTS[name], document) for name, document in facts["done"]]
            except (ValueError, KeyError):
                raise ResourceError(f"{self.store.url} is of another solve or version: --restart discards it") from None
            for event in events:
                self.course.apply(event)
            self._commits += 1
        self.identity, lost, names = identity, f"commit-{self._commits:06}", self.store.listed()
        # Commits behind a lost one do not follow from those before it
        beyond = [name for name in names if name.startswith("commit") and name > lost]
        self.store.remove([*beyond, *(name for name in names if name.startswith(shards.MAIL))])
        return self._commits > 0

    def run(self) -> None:
        """Do all that has not been done."""
        course, rules = self.course, self.rules
        if not (self.job.tiers and rules.tiered):
            forward.refuse_staying(self.cyclic, f"{rules.name} has no tier")
        if not self._commits:
            self.repairing(self._begin)
        while (tier := course.first()) is not None:
            self.repaired = 0
            self.repairing(functools.partial(self._advance, tier))
        if course.scale is None:
            scale = first_scale(rules, any(tier.cyclic for tier in course.tiers), len(course.tiers), course.largest)
            self.done(scale)
        while (event := course.next()) is not None:
            self.repaired = 0
            try:
                self.repairing(functools.partial(self._solve, event))
            except TooWide:
                # Rewards add up: nobody knows how far before they do
                assert course.scale is not None
                self.done(wider(rules, course.scale))
        self.commit()

    def _repair(self, damaged: Damaged) -> None:
        """Compute a shard file again from those before it."""
        self.repaired += 1
        if self.repaired > MOST_REPAIRS:
            raise ResourceError(
                f"{self.store.url}: files read back damaged right after they were written: check the store,"
                " then run the command again"
            )
        # The file may be why that fails
        self.ahead = {}
        self.tell(f"{damaged}: it is computed again")
        self.repairing(functools.partial(self._make_again, damaged.name))

    def repairing(self, step: Callable[[], Result]) -> Result:
        """Do a step; where a shard file turns out to be damaged, repair it and do the step again."""
        while True:
            try:
                return step()
            except Damaged as damaged:
                self._repair(damaged)

    def _begin(self) -> None:
        # While the driver sees to the first tiers
        for _ in range(self.engine.workers):
            self.engine.submit(tasks.warm, self.job)
        handles = self.here.submit(tasks.begin, self.job, 0)
        self.done(shards.Found(None, self.gathered(None, [handles], 0, self.here), 1, GROWTH))

    def _advance(self, tier: int) -> None:
        """Find the states of a tier and their children."""
        started, course, rules = time.monotonic(), self.course, self.rules
        if course.under_way is None and self.job.tiers and rules.tiered:
            segments = course.pending(tier)
            total = sum(segment.end - segment.begin for segment in segments) // 8
            bits, later = self.bits_for(total), self.bits_for(total * course.growth * AHEAD)
            each = [(shards.owned(segments, bits, owner), later) for owner in range(1 << bits)]
            try:
                results, runs = self._dealt(tasks.advance, tier, each, total, later)
                highest = max(segment.highest for segment in results)
                self._complete(shards.tier_of(tier, bits, results, highest, False), results, runs, started)
                return
            except expansion.Stays as stays:
                forward.refuse_staying(self.cyclic, f"state {stays} has a move that stays in its tier")
        under_way = course.under_way
        closing = under_way if isinstance(under_way, shards.Closing) else begun(tier, course.pending(tier))
        while closing.front:
            closing = self.generation(closing)
            self.done(closing)
            self.progress("forward", course.stored + closing.reached, None)
        states = closing.reached
        later = self.bits_for(states * course.growth * AHEAD) if closing.highest > tier else 0
        bits = self.bits_for(states, rounds.LISTING if self._goes_by_rounds(states) else BYTES)
        self._complete(*self._closed(closing, max(bits, closing.bits), later), started)

    def _dealt(
        self, task: Callable[..., Any], tier: int, arguments: Sequence[tuple[Any, ...]], states: int, later: int
    ) -> tuple[list[Any], list[Run]]:
        """Run a task on each shard of a tier of so many states.

        Returns:
            What each tells, and the runs of the states that they deal to 2**`later` shards.
        """
        bits, engine = len(arguments).bit_length() - 1, self.engine_for(states)
        submitted = engine.submit_each(
            task,
            [(self.job, tier, (bits, owner), *given) for owner, given in enumerate(arguments)],
            returns=1 + block_count(later),
            memory=self.bytes_for(states, bits),
        )
        runs = self.gathered(tier, [handles[1:] for handles in submitted], later, engine)
        return [engine.result(handles[0]) for handles in submitted], runs

    def generation(self, closing: shards.Closing) -> shards.Closing:
        """Take a tier one generation further, or some; its shards may split."""
        number = closing.number
        total = closing.reached + sum(segment.end - segment.begin for segment in closing.front) // 8
        bits = max(closing.bits, self.bits_for(total))
        visited = [closing.seen[owner >> bits - closing.bits] for owner in range(1 << bits)]
        each = [(shards.owned(closing.front, bits, owner), files, bits, ALONE) for owner, files in enumerate(visited)]
        results, runs = self._dealt(tasks.explore, number, each, total, bits)
        for owner, (kept, (name, length), *_) in enumerate(results):
            visited[owner] = visited[owner][:kept]
            if length:
                visited[owner].append(Segment(name, 0, 8 * length, name.rpartition(".")[2], bits, owner))
        front = [run.segments[number] for run in runs]
        reached = closing.reached + sum(segment.reached for segment in results)
        highest = max(closing.highest, *(one.highest for one in results))
        return shards.Closing(number, bits, visited, front, reached, highest)

    def _closed(
        self, closing: shards.Closing, bits: int, later: int
    ) -> tuple[shards.ShardedTier, list[Advanced], list[Run]]:
        """Complete a tier whose states were all visited: 2**`bits` shards, their children in 2**`later` shards."""
        number, leads = closing.number, closing.highest > closing.number
        # Shards that were split share some
        visited = list(dict.fromkeys(file for files in closing.seen for file in files))
        each = [(shards.owned(visited, bits, owner), later, leads) for owner in range(1 << bits)]
        results, runs = self._dealt(tasks.close, number, each, closing.reached, later)
        return shards.tier_of(number, bits, results, closing.highest, True), results, runs

    def _complete(self, tier: shards.ShardedTier, results: list[Advanced], runs: list[Run], started: float) -> None:
        """Commit a tier whose states are found."""
        led = sum(segment.end - segment.begin for run in runs for segment in run.segments.values()) // 8
        if self.inspect is not None:
            self.inspect([state for segment in results for state in segment.sample])
        largest = max(segment.largest for segment in results)
        self.done(shards.Found(tier, runs, largest, led / max(1, tier.reached)))
        self.progress("forward", self.course.stored, None)
        self._tell("forward", tier, started, [segment.spent for segment in results])

    def _solve(self, tier: shards.ShardedTier) -> None:
        """Find the values of a tier."""
        started, course = time.monotonic(), self.course
        results, gap = self._valued(tier)
        tally = sum((Counter(result.tally) for result in results), Counter[int]())
        assert course.scale is not None
        if not course.scale.point:
            refuse_long(self.rules, tally, course.scale.win)
        values = [File("", 0)] * len(tier.states)
        for owner, result in zip(tier.filled, results, strict=True):
            values[owner] = result.values
        slowest = min((result.slowest for result in results if result.slowest is not None), default=None)
        self.done(shards.Solved(values, tally, slowest, gap))
        self.progress("backward", course.tally.values.total(), course.stored)
        self._tell("backward", tier, started, [result.spent for result in results])

    def _valued(self, tier: shards.ShardedTier) -> tuple[list[Folded], int]:
        """The values of the shards that have states, and how far apart the bounds of expectations are."""
        scale, engine = self.course.scale, self.engine_for(tier.kept)
        assert scale is not None
        if not tier.cyclic:
            bits, children, answers = self.asked(tier, tier.parts)
            handles = engine.submit_each(
                tasks.fold,
                [
                    (self.job, tier.number, (tier.bits, owner), tier.states[owner], scale, block, bits, *values)
                    for owner, block, values in zip(tier.filled, children, answers, strict=True)
                ],
                memory=self.bytes_for(tier.kept, tier.bits),
            )
            self.ask_ahead(tier)
            return list(engine.results(handle for [handle] in handles)), 0
        if not tier.filled:
            return [], 0
        if self._goes_by_rounds(tier.kept):
            return rounds.Rounds(self, tier, scale).run(), 0
        # One task, which must have the memory for all of the tier
        most = self.engine.memory
        memory = min(most, RESOLVING * tier.kept)
        bits, [children], [answers] = self.asked(tier, [tier.states], memory)
        given = self.job, tier.number, tier.states, scale, most // 2, children, bits, *answers
        folds, gap = engine.result(engine.submit(tasks.resolve, *given, memory=memory)[0])
        return folds, gap

    def _goes_by_rounds(self, states: int) -> bool:
        """Whether a tier with cycles has too many states for one worker, which a game of chance needs all the same."""
        return self.rules.kind.cyclic == Method.RETROGRADE and RESOLVING * states > self.engine.memory

    def _tell(self, step: str, tier: shards.ShardedTier, started: float, spent: list[Spent | None]) -> None:
        """A line about a tier that took a while, and the node of its slowest task, unless that is this one."""
        seconds, count = time.monotonic() - started, 1 << tier.bits
        if seconds < REPORTED_TIER_SECONDS:
            return
        shares = "1 shard" if count == 1 else f"{count:,} shards"
        known = [duration for duration in spent if duration is not None]
        slowest = max(known, key=lambda duration: duration.seconds, default=None)
        where = ""
        if slowest is not None and {duration.host for duration in known} != {socket.gethostname()}:
            where = f", the slowest task {slowest.seconds:.1f} s on {slowest.host}"
        self.tell(f"{step}, tier {tier.number}: {tier.kept:,} states in {shares}, {seconds:.1f} s{where}")

    def _make_again(self, name: str) -> None:
        """Compute again the files of the tier that one is of. Raises ResourceError if that comes out otherwise."""
        kind, number, (bits, _) = tasks.origin(name)
        if self.course.under_way is not None and name in self.course.under_way.names:
            self.done(shards.StartedOver())
            return
        # A file of mail, of visited or refound states belongs to a step that runs again and writes it anew
        if kind in ("again", "seen", "part", shards.MAIL):
            return
        tiers = {tier.number: tier for tier in self.course.tiers}
        if kind == "run":
            dealt = [self._starts(bits)] if number is None else self._leading(tiers[number], ALL_CHILDREN, bits, None)
            names = [run.name for run in self.gathered(number, dealt, bits)]
        elif kind == "states" and number is not None:
            # All earlier tiers that lead there deal its states again
            tier = tiers[number]
            dealt = [self._starts(tier.bits)]
            for earlier in self.course.tiers:
                if earlier.number < number <= earlier.highest:
                    dealt += self._leading(earlier, UNFINISHED_CHILDREN, tier.bits, number)
            runs = self.gathered(None, dealt, tier.bits, kind="again")
            closing = begun(number, [run.segments[number] for run in runs if number in run.segments])
            while closing.front:
                closing = self.generation(closing)
            results = self._closed(closing._replace(highest=number), tier.bits, 0)[1]
            names = [result.states.name for result in results]
        else:
            assert number is not None
            names = [result.values.name for result in self._valued(tiers[number])[0]]
        if name not in names:
            raise ResourceError(f"{name} comes out otherwise when it is computed again: test the memory of the nodes")

    def _starts(self, bits: int) -> list[Any]:
        return self.engine.submit(tasks.begin, self.job, bits, returns=block_count(bits))

    def _leading(self, tier: shards.ShardedTier, which: Scale, bits: int, only: int | None) -> list[list[Any]]:
        """Return blocks of the states that each shard of a tier leads to."""
        return [self.requested(tier, files, which, bits, only=only)[1:] for files in tier.parts]


def begun(number: int, front: Sequence[Segment]) -> shards.Closing:
    """A tier that was led to, of which nothing has been seen."""
    return shards.Closing(number, 0, [[]], list(front), 0, number)


def url_of(rules: Rules, store: str) -> str:
    """Where under a store the files of a game lie, so that many solves may share it."""
    name = re.sub(r"[^a-z0-9]+", "-", rules.name.lower()).strip("-")[:40]
    folded = "" if rules.symmetry else "-unfolded"
    return f"{store.rstrip('/')}/{name}-{rules.fingerprint[:12]}{folded}"
