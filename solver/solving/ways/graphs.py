"""Games that are graphs in arrays: all positions at once; small ones by the plain algorithms."""

from __future__ import annotations

from typing import Any

from solver.base import extras
from solver.base.errors import ResourceError
from solver.base.methods import AUTO, Method
from solver.book.solution import Solved
from solver.rules.keeping import graph_in
from solver.solving.job import Job, Outcome
from solver.solving.ways import plain

name = "a graph"
heeds: set[str] = {"memory", "workers"}
refuses = plain.refuses
METHODS = (AUTO, Method.MINIMAX, Method.RETROGRADE)


def solve(job: Job) -> Outcome:
    """Solve a graph whole."""
    rules, options, nodes = job.rules, job.options, graph_in(job.rules.game)
    outcome, _ = plain.first(job)
    if outcome is not None:
        return outcome
    reason = None if extras.has_kernels() else extras.remedy()
    if options.method not in METHODS and not rules.chance or (options.method == Method.MINIMAX and not rules.scores):
        reason = f"by {options.method}"
    if reason is not None:
        options.say_plainly(reason)
        return plain.whole(job, reason)
    from solver.sweep import graph, graph_expectation

    way: Any = graph_expectation if rules.chance else graph
    size, moves = len(nodes.texts), len(nodes.children)
    needed = way.NODE_BYTES * size + way.MOVE_BYTES * moves
    if options.memory is not None and needed > options.memory:
        raise ResourceError(
            f"{size:,} positions with {moves:,} moves need {needed / 2**30:.2f} GiB of memory,"
            f" {options.memory / 2**30:.2f} GiB are free for them: raise --memory"
        )
    solved: Solved = way.solve(nodes, rules, options)
    return Outcome(solved, solved.method, "complete")
