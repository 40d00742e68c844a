"""Games that are graphs in arrays: all positions at once; small ones, and chance, by the plain algorithms."""

from __future__ import annotations

from solver.base import extras
from solver.base.errors import ResourceError
from solver.rules.keeping import graph_in
from solver.solving.job import Job, Outcome
from solver.solving.ways import plain

name = "a graph"
heeds = {"memory"}
refuses = plain.refuses
METHODS = ("auto", "minimax", "retrograde")


def solve(job: Job) -> Outcome:
    """Solve a graph whole."""
    rules, options, nodes = job.rules, job.options, graph_in(job.rules.game)
    outcome, _ = plain.first(job)
    if outcome is not None:
        return outcome
    reason = "chance has a part" if rules.chance else None if extras.has_kernels() else extras.remedy()
    if options.method not in METHODS or (options.method == "minimax" and not rules.scores):
        reason = f"by {options.method}"
    if reason is not None:
        options.say_plainly(reason)
        return plain.whole(job, reason)
    from solver.sweep import graph

    size, moves = len(nodes.texts), len(nodes.children)
    needed = graph.NODE_BYTES * size + graph.MOVE_BYTES * moves
    if options.memory is not None and needed > options.memory:
        raise ResourceError(
            f"{size:,} positions with {moves:,} moves need {needed / 2**30:.2f} GiB of memory,"
            f" {options.memory / 2**30:.2f} GiB are free for them: raise --memory"
        )
    solved = graph.solve(nodes, rules.kind, nodes.tiers if rules.scores else None, options.progress)
    return Outcome(solved, solved.method, "complete")
