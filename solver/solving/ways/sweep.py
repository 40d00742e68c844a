"""By the compiled sweep over all reachable states; small games, and those that it cannot take, by the plain algorithms.

Its results lie in a work folder beside the book until the book is complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solver.base import extras
from solver.base.errors import MethodError, UncompiledRules
from solver.base.methods import Method
from solver.check.playouts import RandomGame, states_of
from solver.solving.job import Job, Outcome
from solver.solving.ways import plain

name = "the sweep"
heeds: set[str] = {"memory", "workers", "restart", "checkpoint", "anyway", "wdl", "conversion"}


def refuses(job: Job) -> str | None:
    """Refuse what the plain algorithms do, and distances to a conversion where moves cannot be taken back."""
    if not job.options.conversion:
        return plain.refuses(job)
    extras.require_kernels("--conversion: ")
    from solver.sweep import demand

    if job.options.method != Method.MINIMAX and demand.by_number(job.rules, job.options.codec) is not None:
        return plain.refuses(job)
    return (
        f"{job.rules.name}: --conversion is for games with cycles whose rules number their positions and take moves"
        " back (parents): leave it out"
    )


def solve(job: Job) -> Outcome:
    """Solve a game whole: one of few states plainly, others by kernels, plainly where those do not do."""
    from solver.sweep.ahead import Ahead

    rules, options, folder = job.rules, job.options, job.beside(".work")
    with Ahead(rules, rules.kind.in_tiers(options.method)) as ahead:
        begun = folder is not None and folder.exists() and extras.has_kernels()
        work, games = _work(job) if begun else None, list[RandomGame]()
        if not rules.kind.converts and (work is None or work.resumed is None):
            games = job.played()
            outcome = plain.tried(job, games, ahead.cached)
            if outcome is not None:
                return outcome if work is None else outcome._replace(remove=work.remove)
        reason = None if extras.has_kernels() else extras.remedy()
        if reason is None:
            options.progress("compile", 0, 0)
            ahead.wait()
            swept = _swept(job, work or _work(job), states_of(games))
            if isinstance(swept, Outcome):
                return swept
            reason = swept
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


def _swept(job: Job, work: Any, states: Sequence[int]) -> Outcome | str:
    """The solution by kernels; or why only the plain algorithms may take the game."""
    from solver.sweep import exhaustive

    rules = job.rules
    try:
        solved = exhaustive.solve(rules, work, job.options, states)
    except UncompiledRules as error:
        reason = str(error)
    except MethodError as error:
        takes_cycles = job.options.method == Method.RETROGRADE
        if takes_cycles or rules.kind.cyclic not in (Method.RETROGRADE, None) or not rules.scores:
            raise
        # scores, with moves that stay in a tier: plain searches take them if they make no cycle
        reason = str(error)
    else:
        return Outcome(solved, solved.method, "complete", work.remove)
    work.remove()
    return reason
