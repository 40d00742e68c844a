"""The exact entries of one alpha-beta search from all starts: plain while it is small, compiled if that can be."""

from __future__ import annotations

import contextlib

from solver.base import extras
from solver.base.errors import BudgetExceeded, UncompiledRules
from solver.check.conformance import check_game
from solver.rules.game import is_built_in
from solver.search import Budget, alphabeta
from solver.solving.job import Job, Outcome
from solver.solving.tables import Table, solved_by
from solver.solving.ways import plain

name = "--method alphabeta"
heeds = {"table"}
refuses = plain.refuses

FEW = 20_000  # nodes that plain alpha-beta looks at before a compiler is ready


def solve(job: Job) -> Outcome:
    """The entries that one search leaves in its table."""
    rules = job.rules
    found: Table | None = None
    if not is_built_in(rules.name):
        check_game(rules.game)
    if not rules.plain_only and job.options.table is None:
        with contextlib.suppress(BudgetExceeded):  # by nodes, not by time: the same book everywhere
            found = alphabeta.solve(rules.game, symmetry=rules.symmetry, budget=Budget(nodes=FEW)).table
    if found is None and not rules.plain_only:
        found = _compiled(job)
    if found is None:
        found = plain.found_by(job, "alphabeta").table
    return Outcome(solved_by(rules, found), "alphabeta", "exact")


def _compiled(job: Job) -> Table | None:
    """Those that the compiled search finds; None, having said why, if it cannot run."""
    rules, options, reason = job.rules, job.options, extras.remedy()
    if extras.has_kernels():
        from solver.compiled.exact.searcher import TABLE, Searcher

        try:
            searcher = Searcher(rules.game, symmetry=rules.symmetry, table=options.table or TABLE)
            found: Table = searcher.entries(options.progress)
            return found
        except UncompiledRules as error:
            reason = str(error)
    options.say_plainly(reason)
    return None
