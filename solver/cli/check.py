"""`solver check`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from solver.base import extras
from solver.base.errors import UncompiledRules
from solver.book import game_of
from solver.check.playouts import RandomGame, endless, states_of
from solver.cli.common import Bars, loading, note, print_options, tell
from solver.report import checks
from solver.rules.game import Rules
from solver.rules.width import USUAL


@click.command("check")
@click.argument("game")
@click.option("--seed", type=int, default=0, metavar="N", help="Choose other random games. Default: 0.")
@click.option("--quick", is_flag=True, help="Play random games only; solve and compile nothing.")
@click.option("--show", "boards", is_flag=True, help="Print one of the random games, board by board.")
@print_options
def command(game: str, seed: int, quick: bool, boards: bool, as_json: bool, quiet: bool) -> None:
    """Check rules before you solve the game.

    \b
    solver check my_game.py
    solver check my_game.py::Hexapawn:4,4 --show

    The check plays random games and finds broken promises. Then it does what solve does first: it solves a game that
    takes plain Python less than a second, and compiles the rules of larger ones and compares them with plain Python.
    If something is wrong, you get the state and exit code 2. docs/reference/rules.md tells how to write rules.
    """
    from solver.base.options import Options
    from solver.check.conformance import random_games
    from solver.solving.job import Job, contents_of
    from solver.solving.pipeline import refuse, way_of
    from solver.solving.ways.plain import refuse_repeated

    if boards and as_json:
        raise click.UsageError("--show prints boards: leave --json out")
    with loading(quiet):
        rules = Rules(game_of(game))
    with Bars(quiet) as progress:
        # wide states are in opening books alone
        options = Options(progress=progress, max_ply=1 if rules.bits > USUAL else None)
        job = Job(rules, None, options, contents=contents_of(rules, options))
        refuse(job, way_of(job))
        games = random_games(rules.game, seed=seed, progress=progress)
        refuse_repeated(rules, games)
        facts = checks.facts(rules, games) | _run(job, games, quick)
        job.refuse_changed()
    tell(facts, checks.text, as_json)
    if boards:
        click.echo(checks.boards(rules, games))
    note(endless(games), quiet)


def _run(job: Any, games: Sequence[RandomGame], quick: bool) -> dict[str, Any]:
    """Do the first steps of a solve: count the states it values in plain Python, or compile the rules."""
    from solver.solving.ways.plain import tried

    outcome = None if quick or job.rules.bits > USUAL else tried(job)
    if outcome is not None:
        solved = sum(tier.states for tier in outcome.solved.tiers)
        return {"solved": solved, "compiled": None, "reason": "so small a game is solved in plain Python"}
    if quick:
        return {"solved": None, "compiled": None, "reason": "--quick"}
    job.options.progress("compile", 0, 0)
    compiled, reason = _compiled(job.rules, states_of(games))
    return {"solved": None, "compiled": compiled, "reason": reason}


def _compiled(rules: Rules, states: list[int]) -> tuple[bool, str | None]:
    """Return whether the rules compile to code that agrees with them, and if not, why."""
    if rules.plain_only:
        return False, "the game says so"
    if not extras.has_kernels():
        return False, "pip install 'solverbook[solve]' to compile"
    from solver.compiled import agreement

    try:
        agreement.compare(rules.game, states)
    except UncompiledRules as error:
        return False, str(error)
    return True, None
