"""Solve a whole game on a cluster: the store, the engine and the driver together, and the solution they hand over."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import partial

from solver.base.errors import ResourceError, SolverError
from solver.base.kinds import NIMBER
from solver.base.methods import Method
from solver.base.options import Options
from solver.book.solution import Solved
from solver.cluster import nodes
from solver.cluster.driver import MENDED, Driver
from solver.cluster.engine import Engine
from solver.cluster.on_ray import is_local
from solver.cluster.ordering import Merged
from solver.cluster.store import LEASE, Damaged, Store
from solver.cluster.tasks import Job
from solver.compiled import agreement
from solver.compiled.edges import CompiledMoves
from solver.rules.game import Rules, located
from solver.sweep.finish import finish


class Clustered:
    """A solve under way: its files are gone, and nothing of it left, when it is told to `remove` them."""

    def __init__(self, rules: Rules, url: str, engine: Engine, options: Options) -> None:
        game = rules.game
        self.rules, self.options = rules, options
        self.store: Store = Store(url)
        tiers = rules.kind.in_tiers(options.method)
        nimbers = rules.kind is NIMBER
        job = Job(located(game), rules.fingerprint, rules.symmetry, tiers, self.store.url, nimbers)
        self.tier = CompiledMoves(rules, tiers).tier
        self.driver: Driver = Driver(
            rules,
            job,
            self.store,
            engine,
            progress=options.progress,
            tell=options.say,
            cyclic=options.method != Method.MINIMAX and not nimbers,
        )
        if options.checkpoint is not None:
            self.driver.every = options.checkpoint
        self.mended: int = 0
        self.lease = self.store.hold()

    def solve(self, states: Sequence[int] = ()) -> Solved:
        """The solution, which is in the files.

        Compiled rules are held against the plain ones as `exhaustive.solve` does. Raises what that does, and
        ResourceError where the store or the cluster fail.
        """
        begun, driver, rules = time.monotonic(), self.driver, self.rules
        if not is_local(self.options.cluster or ""):
            self._look()
        if self.options.restart:
            self.store.clear(but=(LEASE,))
        if driver.resume(f"{rules.name} {driver.job.fingerprint} {self.options.method} symmetry {rules.symmetry}"):
            self.options.say(f"going on from {self.store.url}: {driver.course.stored:,} states found")
        if states:
            driver.inspect = partial(agreement.compare, rules.game, symmetry=rules.symmetry, tiers=driver.job.tiers)
            driver.inspect(list(states))
        driver.run()
        return driver.mending(partial(self._solved, begun))

    def _look(self) -> None:
        """Say a line about each node. Raises ResourceError if one can take no part."""
        job = self.driver.job
        found = nodes.look(self.driver.engine, nodes.Wanted(job.game, job.fingerprint, self.store.url))
        for node in found:
            self.options.say(nodes.line(node))
        nodes.refuse(found)

    def _solved(self, begun: float) -> Solved:
        start, merged = self.rules.canonical(self.rules.game.initial()), Merged(self.driver, self.tier)
        merged.check(start)
        try:
            return finish(self.rules, merged, self.options, begun)._replace(encoded=merged.encoded)
        except SolverError:
            # What the solution was held against the plain rules by had no digest
            merged.check()
            raise

    def mend(self, error: SolverError) -> bool:
        """Mend a damaged shard file by computing it again. Returns whether that worked."""
        if isinstance(error, ResourceError):
            return False
        try:
            if not isinstance(error, Damaged):
                Merged(self.driver, self.tier).check()
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
