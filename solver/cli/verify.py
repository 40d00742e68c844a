"""`solver verify`."""

from __future__ import annotations

import json

import click

from solver.cli.common import Bars, Size, game_option, json_option, quiet_option, workers_option
from solver.game import load_game


@click.command("verify")
@click.argument("book", type=click.Path())
@game_option
@workers_option
@click.option("--memory", type=Size(), metavar="SIZE", help="Keep within this: 8G. 60 % of what is free if left out.")
@click.option("--play", is_flag=True, help="Also play it out against every reply, for the sides that it serves.")
@json_option
@quiet_option
def command(
    book: str, game_text: str | None, workers: int | None, memory: int | None, play: bool, as_json: bool, quiet: bool
) -> None:
    """Check a book: structure, checksums, every value against its children, every count.

    The rules run compiled, and as plain Python for a sample of the states, or for all of them if they are few.

    \b
    solver verify connect-four-5x5.lmdb
    solver verify first-player.lmdb --play
    """
    from solver.verification import verify

    game = None if game_text is None else load_game(game_text)
    with Bars(quiet) as bars:
        report = verify(book, game, workers=workers, memory=memory, play=play, progress=bars)
    if as_json:
        click.echo(json.dumps(report._asdict()))
    else:
        how = (
            "every value follows from its children" if report.closed else "every value agrees with the children stored"
        )
        done = f"{report.states:,} states verified in {report.seconds:.2f} s, {report.plain:,} of them in plain Python"
        click.echo(f"{book}: {done}; {how}")
        if report.played:
            who = " and the ".join(report.played)
            click.echo(
                f"played against every reply, from {report.positions:,} positions: the {who} player gets at least the"
                " value of each"
            )
