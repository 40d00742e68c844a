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
@json_option
@quiet_option
def command(
    book: str, game_text: str | None, workers: int | None, memory: int | None, as_json: bool, quiet: bool
) -> None:
    """Check a book: structure, checksums, every value against its children, every count.

    The rules run compiled, and as plain Python for a sample of the states, or for all of them if they are few.

    \b
    solver verify connect-four-5x5.lmdb
    """
    from solver.verification import verify

    game = None if game_text is None else load_game(game_text)
    with Bars(quiet) as bars:
        report = verify(book, game, workers=workers, memory=memory, progress=bars)
    if as_json:
        click.echo(json.dumps(report._asdict()))
    else:
        how = (
            "every value follows from its children" if report.closed else "every value agrees with the children stored"
        )
        done = f"{report.states:,} states verified in {report.seconds:.2f} s, {report.plain:,} of them in plain Python"
        click.echo(f"{book}: {done}; {how}")
