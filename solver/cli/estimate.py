"""`solver estimate`."""

from __future__ import annotations

import json
from typing import Any

import click

from solver.cli.common import Bars, Seconds, json_option, quiet_option, workers_option
from solver.game import load_game


@click.command("estimate")
@click.argument("game")
@click.option("--max-ply", type=click.IntRange(0, 1000), metavar="N", help="Of an opening book to ply N.")
@click.option("--no-symmetry", is_flag=True, help="Keep symmetric states apart.")
@click.option("--seconds", type=Seconds(1, 1e5), default=60.0, metavar="S", help="To spend on it, compiling apart; 60.")
@workers_option
@json_option
@quiet_option
def command(
    game: str,
    max_ply: int | None,
    no_symmetry: bool,
    seconds: float,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say beforehand how many states, how long, how much memory and disk solving a game will take.

    With --max-ply the plies are enumerated for half the given time and a random sample of the deepest is searched.
    Without it the states are counted for most of the time, and what is left is estimated from samples.

    \b
    solver estimate connect-four --max-ply 8
    solver estimate connect-four:6,5
    """
    from solver import estimation

    rules = load_game(game)
    with Bars(quiet) as bars:
        options: dict[str, Any] = {
            "symmetry": not no_symmetry,
            "workers": workers,
            "seconds": seconds,
            "progress": bars,
        }
        facts: estimation.Sweep | estimation.Opening = (
            estimation.of_sweep(rules, **options)
            if max_ply is None
            else estimation.of_opening(rules, max_ply, **options)
        )
    if as_json:
        click.echo(json.dumps({"game": game, **facts._asdict()}))
        return
    click.echo(facts.text())
