"""The ways that take a game whole, compiled where that pays: the sweep, a cluster, a table with chance, one search.

Small games, and those that kernels cannot take, are left to `plain`.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from solver.base import extras
from solver.base.errors import BudgetExceeded, MethodError, ResourceError, UncompiledRules
from solver.base.extras import PLAIN_LIMIT
from solver.base.kinds import Method
from solver.check.playouts import RandomGame, states_of
from solver.rules.fingerprint import fingerprint
from solver.rules.game import load_game, located
from solver.rules.loading import graph_in
from solver.search import Budget
from solver.solving.job import Job, Outcome, Table, solved_by
from solver.solving.ways import plain

if TYPE_CHECKING:
    from solver.cluster.nodes import Examined

NO_STORE = "--store is empty: name a folder or URL that all nodes reach"


class Sweep:
    """By the compiled sweep over all reachable states.

    Its results lie in a work folder beside the book until the book is complete.
    """

    name = "the sweep"
    heeds = {"memory", "workers", "restart", "checkpoint", "anyway", "wdl", "conversion"}

    def refuses(self, job: Job) -> str | None:
        """Refuse what the plain algorithms do, and distances to a conversion where moves cannot be taken back."""
        if not job.options.conversion:
            return plain.refuses(job)
        extras.require_kernels("--conversion: ")
        from solver.sweep import resources

        if job.options.method != Method.MINIMAX and resources.by_number(job.rules, job.options.codec) is not None:
            return plain.refuses(job)
        return (
            f"{job.rules.name}: --conversion is for games with cycles whose rules number their positions and take moves"
            " back (parents): leave it out"
        )

    def solve(self, job: Job) -> Outcome:
        """Solve a game whole: one of few states plainly, others by kernels, plainly where those do not do."""
        from solver.sweep.compiling import ForkedCompiler

        rules, options, folder = job.rules, job.options, job.beside(".work")
        compiler = ForkedCompiler(rules, rules.kind.in_tiers(options.method), options.codec)
        # It goes on while the book is written
        job.files.callback(compiler.stop)
        begun = folder is not None and folder.exists() and extras.has_kernels()
        work, games = _work(job) if begun else None, list[RandomGame]()
        if not rules.kind.converts and (work is None or work.resumed is None):
            games = job.played()
            outcome = plain.tried(job, games, compiler.cached)
            if outcome is not None:
                compiler.stop()
                return outcome if work is None else outcome._replace(remove=work.remove)
        reason = None if extras.has_kernels() else extras.remedy()
        if reason is None:
            from solver.sweep import exhaustive

            options.progress("compile", 0, 0)
            if not extras.has_cache():
                compiler.stop()
            work = work or _work(job)
            try:
                solved = exhaustive.solve(rules, work, options, states_of(games))
                return Outcome(solved, solved.method, "complete", work.remove)
            except UncompiledRules as error:
                reason = str(error)
            except MethodError as error:
                takes_cycles = options.method == Method.RETROGRADE
                if takes_cycles or rules.kind.cyclic not in (Method.RETROGRADE, None) or not rules.scores:
                    raise
                # scores, with moves that stay in a tier: plain searches take them if they make no cycle
                reason = str(error)
            work.remove()
        if rules.kind.converts:
            raise MethodError(f"{rules.name}: {reason}: leave --conversion out")
        options.say_plainly(reason)
        return plain.solved(job, reason=reason)


def _work(job: Job) -> Any:
    """The work folder, which is open until the book is written."""
    from solver.store.work import Work

    rules, options = job.rules, job.options
    identity = f"{rules.name} {rules.fingerprint} {options.method} symmetry {rules.symmetry}{rules.kind.mark}"
    work = Work(job.beside(".work"), identity, restart=options.restart, every=options.checkpoint_seconds)
    return job.files.enter_context(work)


class Cluster:
    """By a cluster of Ray, in the files of a store that all its nodes reach."""

    name = "a cluster (--cluster)"
    heeds = {"cluster", "store", "memory", "workers", "restart", "checkpoint"}

    def refuses(self, job: Job) -> str | None:
        """Refuse what the plain algorithms do, a cluster that is not there, and one without a place for its work."""
        from solver.cluster import on_ray

        assert job.options.cluster is not None
        reason = plain.refuses(job) or job.rules.kind.refusal("cluster", job.rules.name) or extras.cluster_defect()
        if reason is None and job.options.store == "":
            return NO_STORE
        if reason is not None or on_ray.is_local(job.options.cluster):
            return reason
        if job.options.memory is not None:
            return "--memory is for a cluster started here, since others have memory of their own: omit it"
        if job.options.store is None:
            return "a cluster keeps what is done where all its nodes reach it: name a folder or URL, --store"
        return None

    def solve(self, job: Job) -> Outcome:
        """Solve a game whole."""
        from solver.cluster import driver, on_ray

        rules, options, folder = job.rules, job.options, job.beside(".shards")
        assert options.cluster is not None and folder is not None
        url = str(folder.absolute()) if options.store is None else driver.url_of(rules, options.store)
        states = states_of(job.played())
        engine = job.files.enter_context(on_ray.connect(options.cluster, options.memory))
        driving = driver.Driver(rules, url, engine, options)
        job.files.callback(driving.store.leave)
        solved = driving.solve(states)
        return Outcome(solved, solved.method, "complete", driving.store.clear, driving.repair)


def look(address: str, store: str, game: str | None) -> list[Examined]:
    """Look at the nodes of a cluster, for a solve of a game. Raises MethodError, GameError, ResourceError."""
    if defect := extras.cluster_defect():
        raise MethodError(defect)
    if not store:
        raise MethodError(NO_STORE)
    from solver.cluster import nodes, on_ray
    from solver.cluster.store import Store

    rules = None if game is None else load_game(game)
    wanted = () if rules is None else (located(rules), fingerprint(rules))
    url = Store(store).url
    with on_ray.connect(address) as engine:
        return nodes.look(engine, url, *wanted)


class TableWithChance:
    """Tables of moves with chance, whose play may come back: in arrays; small ones by the plain algorithms."""

    name = "a table with chance"
    heeds = {"memory", "workers"}
    refuses = staticmethod(plain.refuses)

    def solve(self, job: Job) -> Outcome:
        """Solve a table whole."""
        outcome = plain.tried(job, job.played())
        if outcome is not None:
            return outcome
        if not extras.has_kernels():
            reason = extras.remedy()
            job.options.say_plainly(reason)
            return plain.solved(job, reason=reason)
        from solver.sweep import expectation

        nodes = graph_in(job.rules.game)
        size, moves = len(nodes.texts), len(nodes.children)
        needed = expectation.NODE_BYTES * size + expectation.MOVE_BYTES * moves
        if job.options.memory is not None and needed > job.options.memory:
            raise ResourceError(
                f"{size:,} positions with {moves:,} moves need {needed / 2**30:.2f} GiB of memory,"
                f" {job.options.memory / 2**30:.2f} GiB are free for them: raise --memory"
            )
        solved = expectation.solve_table(nodes, job.rules, job.options)
        return Outcome(solved, solved.method, "complete")


class Entries:
    """The exact entries of one alpha-beta search from all starts: plain while it is small, compiled if that can be."""

    name = "--method alphabeta"
    heeds = {"table"}
    refuses = staticmethod(plain.refuses)

    def solve(self, job: Job) -> Outcome:
        """The entries that one search leaves in its table."""
        job.played()
        if not job.rules.plain_only and job.options.table is None:
            # The limit is in nodes, not seconds, so every machine gets the same book
            with contextlib.suppress(BudgetExceeded):
                return plain.solved(job, Budget(PLAIN_LIMIT))

        def searched() -> Table:
            from solver.compiled.exact.searcher import TABLE_BYTES, Searcher

            return Searcher(job.rules, table=job.options.table or TABLE_BYTES).entries(job.options.progress)

        table = job.compiled(searched)
        return plain.solved(job) if table is None else Outcome(solved_by(job.rules, table), Method.ALPHABETA, "exact")


SWEEP, CLUSTER, TABLE, ENTRIES = Sweep(), Cluster(), TableWithChance(), Entries()
