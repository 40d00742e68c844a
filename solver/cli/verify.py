"""`solver verify`."""

from __future__ import annotations

import json
from typing import Any

import click

from solver.base.errors import DamagedBook, ForeignBook
from solver.cli.common import Bars, Seconds, Size, game_option, json_option, quiet_option, workers_option
from solver.rules.game import load_game
from solver.verifying.verification import CONSISTENT, SEARCH, WRONG, Report, verify

NOT_PROVED = 7  # the exit code of a consistent book


@click.command("verify")
@click.argument("book", type=click.Path(), metavar="BOOK|GAME")
@game_option
@workers_option
@click.option("--memory", type=Size(), metavar="SIZE", help="Keep within this: 8G. 60 % of what is free if left out.")
@click.option(
    "--search",
    type=Seconds(min=0),
    default=SEARCH,
    show_default=True,
    metavar="SECONDS",
    help="Search so long for values that do not follow from others: partial books.",
)
@click.option("--play", is_flag=True, help="Also play it out against every reply, for the sides that it serves.")
@json_option
@quiet_option
def command(book: str, game_text: str | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Check a book: structure, checksums, every value against its children, every count.

    The verdict is one of three words, and the exit code says it, too:

    \b
    proved      0  every value is that of perfect play, whoever wrote the book
    consistent  7  nothing is wrong, and the values agree with each other, but some are not proved
    wrong       5  what is wrong is named: a damaged or foreign book, or a false value

    So `solver verify BOOK && publish BOOK` publishes what is proved. The rules run compiled, and as plain Python for a
    sample of the states, or for all of them if they are few.

    \b
    solver verify connect-four-5x5.lmdb
    solver verify first-player.lmdb --play
    """
    game = None if game_text is None else load_game(game_text)
    try:
        with Bars(quiet) as bars:
            report = verify(book, game, progress=bars, **given)
    except (DamagedBook, ForeignBook) as error:
        if as_json:
            click.echo(json.dumps({"verdict": WRONG, "basis": str(error)}))
        raise type(error)(f"{WRONG}: {error}") from None
    click.echo(json.dumps(report._asdict()) if as_json else _in_words(book, report))
    if report.verdict == CONSISTENT:
        click.get_current_context().exit(NOT_PROVED)


def _in_words(book: str, report: Report) -> str:
    done = f"{report.states:,} states verified in {report.seconds:.2f} s, {report.plain:,} of them in plain Python"
    said = f"{book}: {report.verdict}: {done}; {report.basis}"
    if not report.played:
        return said
    who = " and the ".join(report.played)
    return (
        f"{said}\nplayed against every reply, from {report.positions:,} positions: the {who} player gets at least the"
        " value of each"
    )
