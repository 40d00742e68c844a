"""A game solved whole on a cluster: the store, the engine and the driver together, and what they hand over."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from solver.base.errors import ResourceError, SolverError
from solver.base.expectations import Expectation
from solver.base.options import Options
from solver.book.solution import Solved
from solver.cluster.driver import MENDED, Driver
from solver.cluster.engine import Engine
from solver.cluster.merged import Merged
from solver.cluster.scales import expectation_of
from solver.cluster.store import LEASE, Damaged, Store
from solver.cluster.tasks import Job
from solver.compiled import agreement
from solver.compiled.edges import CompiledMoves
from solver.rules.game import Rules, located
from solver.sweep.exhaustive import audit
from solver.sweep.ordered import solved_by, solved_by_chance, tier_count

SAMPLED = 1024  # states that the solution is held against the plain rules on, at most


class Found(NamedTuple):
    """What `ordered.solved_by` wants to know of values."""

    tally: dict[int, int]
    win: int
    longest: tuple[int, int] | None


class Expected(NamedTuple):
    """And `ordered.solved_by_chance`."""

    tally: dict[int, int]
    expectation: Expectation


class Clustered:
    """A solve under way: its files are gone, and nothing of it left, when it is told to `remove` them."""

    def __init__(self, rules: Rules, url: str, engine: Engine, options: Options) -> None:
        game = rules.game
        self.rules, self.options = rules, options
        self.store = Store(url)
        tiers = options.method != "retrograde"
        job = Job(located(game), rules.fingerprint, rules.symmetry, tiers, self.store.url)
        self.tier = CompiledMoves(rules, tiers).tier
        self.driver = Driver(
            rules, job, self.store, engine,
            progress=options.progress, tell=options.say, cyclic=options.method != "minimax",
        )  # fmt: skip
        if options.checkpoint is not None:
            self.driver.every = options.checkpoint
        self.mended = 0
        self.lease = self.store.hold()

    def solve(self, states: Sequence[int] = ()) -> Solved:
        """The solution, which is in the files. Compiled rules are held against the plain ones as `exhaustive.solve`
        does. Raises what that does, and ResourceError where the store or the cluster fail."""
        begun, driver, rules = time.monotonic(), self.driver, self.rules
        if self.options.restart:
            self.store.clear(but=(LEASE,))
        if driver.resume(f"{rules.name} {driver.job.fingerprint} {self.options.method} symmetry {rules.symmetry}"):
            self.options.say(f"going on from {self.store.url}: {driver.course.stored:,} states found")
        if states:
            driver.inspect = partial(agreement.compare, rules.game, symmetry=rules.symmetry, tiers=driver.job.tiers)
            driver.inspect(list(states))
        driver.run()
        return driver.mending(partial(self._solved, begun))

    def _solved(self, begun: float) -> Solved:
        rules, course, scale = self.rules, self.driver.course, self.driver.course.scale
        assert scale is not None
        merged, error = Merged(self.store, course), self.driver.error

        def value_of(key: int) -> int | None:
            return merged.value_of(self.tier(key), key)

        solution = agreement.Solution(rules, value_of, scale.win)
        expectation = expectation_of(rules, scale, error) if scale.point else None
        if scale.point:
            solution = agreement.Expectations(rules, value_of, scale.point, error)
        try:
            audit(solution, partial(merged.sample, most=SAMPLED), begun)
        except SolverError:
            merged.check()  # what it looked at had no digest
            raise
        start = rules.canonical(rules.game.initial())
        merged.check(self.tier(start), start)
        root = solution.merit(rules.game.initial())
        assert root is not None, "the start was not reached"
        tiers = [
            tier_count(tier.number, tier.reached, tier.ends, counts)
            for tier, counts in zip(course.tiers, reversed(course.counts), strict=True)
        ]
        workers, cyclic = self.options.workers, any(tier.cyclic for tier in course.tiers)
        if expectation is not None:
            return solved_by_chance(Expected(course.tally, expectation), tiers, merged.pieces, root, workers, cyclic)
        found = Found(course.tally, scale.win, course.slowest)
        return solved_by(rules, found, tiers, merged.pieces, root, workers, cyclic)

    def mend(self, error: SolverError) -> bool:
        """Whether what is wrong was mended: a shard file that is computed again."""
        if isinstance(error, ResourceError):
            return False
        try:
            if not isinstance(error, Damaged):
                Merged(self.store, self.driver.course).check()
                return False
        except Damaged as damaged:
            error = damaged
        self.mended += 1
        if self.mended > MENDED:
            raise self.driver.unreliable()
        self.driver.mend(error)
        return True

    def remove(self) -> None:
        """The book is there: nothing of the solve is needed any more."""
        self.lease.end()
        self.store.clear()

    def close(self) -> None:
        """Let go of the store; a folder that has nothing in it goes."""
        self.lease.release()
        self.store.leave()


def url_of(rules: Rules, store: str) -> str:
    """Where under a store the files of a game lie, so that many solves may share it."""
    name = re.sub(r"[^a-z0-9]+", "-", rules.name.lower()).strip("-")[:40]
    folded = "" if rules.symmetry else "-unfolded"
    return f"{store.rstrip('/')}/{name}-{rules.fingerprint[:12]}{folded}"
