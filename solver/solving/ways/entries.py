"""The exact entries of one alpha-beta search from all starts: plain while it is small, compiled if that can be."""

from __future__ import annotations

import contextlib

from solver.base.errors import BudgetExceeded
from solver.base.extras import PLAIN_LIMIT
from solver.base.methods import Method
from solver.search import Budget
from solver.solving.job import Job, Outcome, Table, solved_by
from solver.solving.ways import plain

name = "--method alphabeta"
heeds: set[str] = {"table"}
refuses = plain.refuses


def solve(job: Job) -> Outcome:
    """The entries that one search leaves in its table."""
    job.played()
    if not job.rules.plain_only and job.options.table is None:
        # The limit is in nodes, not seconds, so every machine gets the same book
        with contextlib.suppress(BudgetExceeded):
            return plain.solved(job, Budget(PLAIN_LIMIT))
    table = job.compiled(lambda: _compiled(job))
    return plain.solved(job) if table is None else Outcome(solved_by(job.rules, table), Method.ALPHABETA, "exact")


def _compiled(job: Job) -> Table:
    from solver.compiled.exact.searcher import TABLE_BYTES, Searcher

    searcher = Searcher(job.rules, table=job.options.table or TABLE_BYTES)
    return searcher.entries(job.options.progress)
