"""The exact entries of one alpha-beta search from all starts: plain while it is small, compiled if that can be."""

from __future__ import annotations

import contextlib

from solver.base.errors import BudgetExceeded
from solver.base.extras import PLAIN_LIMIT
from solver.base.methods import Method
from solver.search import Budget, alphabeta
from solver.solving.job import Job, Outcome
from solver.solving.tables import Table, solved_by
from solver.solving.ways import plain

name = "--method alphabeta"
heeds: set[str] = {"table"}
refuses = plain.refuses


def solve(job: Job) -> Outcome:
    """The entries that one search leaves in its table."""
    rules = job.rules
    table: Table | None = None
    job.checked()
    if not rules.plain_only and job.options.table is None:
        # The limit is in nodes, not seconds, so every machine gets the same book
        with contextlib.suppress(BudgetExceeded):
            table = alphabeta.solve(rules, budget=Budget(nodes=PLAIN_LIMIT)).table
    if table is None:
        table = job.compiled(lambda: _compiled(job))
    if table is None:
        table = plain.found_by(job, Method.ALPHABETA).table
    return Outcome(solved_by(rules, table), Method.ALPHABETA, "exact")


def _compiled(job: Job) -> Table:
    from solver.compiled.exact.searcher import TABLE_BYTES, Searcher

    searcher = Searcher(job.rules, table=job.options.table or TABLE_BYTES)
    return searcher.entries(job.options.progress)
