"""Tables of moves with chance, whose play may come back: in arrays; small ones by the plain algorithms."""

from __future__ import annotations

from solver.base import extras
from solver.base.errors import ResourceError
from solver.rules.loading import graph_in
from solver.solving.job import Job, Outcome
from solver.solving.ways import plain

name = "a table with chance"
heeds: set[str] = {"memory", "workers"}
refuses = plain.refuses


def solve(job: Job) -> Outcome:
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
