"""`solver check`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from solver.base import extras
from solver.base.errors import UncompiledRules
from solver.check.playouts import RandomGame, endless, states_of, summary
from solver.cli.common import Bars, in_plies, json_option, note, quiet_option
from solver.rules.game import OPTIONAL, Rules, load_game, near_misses, own_method
from solver.rules.notation import format_action, show


@click.command("check")
@click.argument("game")
@click.option("--seed", type=int, default=0, metavar="N", help="Of the random games; 0.")
@click.option("--quick", is_flag=True, help="The random games alone: nothing is solved, nothing compiled.")
@click.option("--show", "boards", is_flag=True, help="Print one of the random games, board by board.")
@json_option
@quiet_option
def command(game: str, seed: int, quick: bool, boards: bool, as_json: bool, quiet: bool) -> None:
    """Check rules before a solve: the protocol, on random games, and what solve would refuse.

    What solve would do at first is done: a game that plain Python solves within a second is solved; the rules of
    others are compiled, and must then say what plain Python says. Exit code 2 and the state where something is wrong;
    docs/rules.md tells how rules are written.

    \b
    solver check my_game.py
    solver check my_game.py::Hexapawn:4,4 --show
    solver check package.module::Class --quick
    """
    from solver.base.options import Options
    from solver.check.conformance import random_games
    from solver.solving.choosing import refuse, way_of
    from solver.solving.job import Job
    from solver.solving.ways.plain import refuse_repeated

    if boards and as_json:
        raise click.UsageError("--show prints boards: leave --json out")
    rules = Rules(load_game(game))
    with Bars(quiet) as progress:
        job = Job(rules, None, Options(progress=progress))
        refuse(job, way_of(job))
        games = random_games(rules.game, seed=seed, progress=progress)
        refuse_repeated(rules, games)
        facts = _facts(rules, games) | _run(job, games, quick)
    if as_json:
        click.echo(json.dumps(facts))
    else:
        _print(facts)
    if boards:
        _print_boards(rules, games)
    note(endless(games), quiet)


def _facts(rules: Rules, games: Sequence[RandomGame]) -> dict[str, Any]:
    """What is known before anything is solved or compiled."""
    return {
        "game": rules.name,
        "states": len(states_of(games)),
        "games": summary(games),
        "optional": [name for name in OPTIONAL if own_method(rules.game, name)],
        "near_misses": near_misses(type(rules.game)),
    }


def _run(job: Any, games: Sequence[RandomGame], quick: bool) -> dict[str, Any]:
    """What solve would do at first: how many states it values in plain Python, or whether the rules compile."""
    from solver.solving.ways.plain import tried

    outcome = None if quick else tried(job)
    if outcome is not None:
        solved = sum(tier.states for tier in outcome.solved.tiers)
        return {"solved": solved, "compiled": None, "reason": "so small a game is solved in plain Python"}
    if quick:
        return {"solved": None, "compiled": None, "reason": "--quick"}
    job.options.progress("compile", 0, 0)
    compiled, reason = _compiled(job.rules, states_of(games))
    return {"solved": None, "compiled": compiled, "reason": reason}


def _compiled(rules: Rules, states: list[int]) -> tuple[bool, str | None]:
    """Whether the rules compile to what they say, and why not."""
    if rules.plain_only:
        return False, "the game says so"
    if not extras.has_kernels():
        return False, "pip install 'solverbook[solve]' to compile"
    from solver.compiled import agreement
    from solver.solving.ways.sweep import unswept

    reason = unswept(rules)
    if reason is not None:
        return False, reason
    try:
        agreement.compare(rules.game, states)
    except UncompiledRules as error:
        return False, str(error)
    return True, None


def _print(facts: dict[str, Any]) -> None:
    games = facts["games"]
    click.echo(f"{facts['game']}: {facts['states']:,} states of {games['played']} random games keep the protocol")
    if games["ended"]:
        plies, first = games["plies"], games["first_player"]
        click.echo(
            f"{games['ended']} of them ended, after {plies['shortest']} to {in_plies(plies['longest'])},"
            f" {plies['mean']:.1f} on average; the first player won {first['win']}, drew {first['draw']},"
            f" lost {first['loss']}"
        )
    else:
        click.echo("none of them ended")
    click.echo(f"optional methods: {', '.join(facts['optional']) or 'none'}")
    for name, meant in facts["near_misses"].items():
        click.echo(f"warning: nothing asks for {name}: {meant} may be meant")
    if facts["compiled"]:
        click.echo("compiled, they say what plain Python says of all these states")
    elif facts["compiled"] is False:
        click.echo(f"only in plain Python, which is some sixty times slower: {facts['reason']}")
    elif facts["solved"] is not None:
        folded = " folded by symmetry" if "canonical" in facts["optional"] else ""
        click.echo(f"all {facts['solved']:,} states{folded} were solved in plain Python: solve will compile nothing")


def _print_boards(rules: Rules, games: Sequence[RandomGame]) -> None:
    """The positions of the first game that ended, if one did, each after the move that led to it."""
    game = next((one for one in games if one.worth is not None), games[0])
    mover = 0 if rules.to_move is None else rules.to_move(game.states[0])
    click.echo(f"\n{show(rules.game, game.states[0], mover)}")
    for state, action, child in zip(game.states, game.actions, game.states[1:], strict=False):
        move = "chance" if action is None else format_action(rules.game, state, action)
        mover = mover if rules.same_mover(state, action, child) else 1 - mover
        click.echo(f"\n{move}\n{show(rules.game, child, mover)}")
    worth = "" if game.worth is None else f", {game.worth:+d} for the first player"
    click.echo(f"\n{'not ended' if game.worth is None else 'the game is over'} after {in_plies(game.plies)}{worth}")
