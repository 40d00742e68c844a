"""`solver verify`."""

from __future__ import annotations

from typing import Any

import click

from solver.base.errors import DamagedBook, ForeignBook, MissingRules
from solver.cli.common import SIZE, Bars, Seconds, game_option, print_options, tell, workers_option
from solver.report import verdicts
from solver.report.facts import facts_of
from solver.verifying.verification import CONSISTENT, SEARCH, WRONG, verify

NOT_PROVED = 7  # the exit code of a consistent book


@click.command("verify")
@click.argument("book", type=click.Path(), metavar="BOOK|GAME")
@game_option
@workers_option
@click.option("--memory", type=SIZE, metavar="SIZE", help="Keep within this: 8G. 60 % of what is free if left out.")
@click.option(
    "--search",
    type=Seconds(min=0),
    default=SEARCH,
    show_default=True,
    metavar="SECONDS",
    help="Search so long for values that do not follow from others: partial books.",
)
@click.option("--play", is_flag=True, help="Also play it out against every reply, for the sides that it serves.")
@print_options
def command(book: str, own: str | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Check a book: structure, checksums, every value against its children, every count.

    The verdict is one of three words, and the exit code says it, too:

    \b
    proved      0  every value is that of perfect play, whoever wrote the book
    consistent  7  nothing is wrong, and the values agree with each other, but some are not proved
    wrong       5  what is wrong is named: a damaged or foreign book, or a false value

    So `solver verify BOOK && publish BOOK` publishes what is proved. The rules run compiled, and as plain Python for a
    sample of the states, or for all of them if they are few. If the compiled rules fail, or differ from Python, plain
    Python judges alone: a second line says why, and so does `note` in --json. Expectations are bounded anew: how far
    they may be from the truth is said, and in --json as `within`.

    \b
    solver verify connect-four-5x5.lmdb
    solver verify first-player.lmdb --play
    """
    try:
        with Bars(quiet) as bars:
            found = facts_of(verify(book, own, progress=bars, **given))
    except MissingRules:  # which says nothing of the book
        raise
    except (DamagedBook, ForeignBook) as error:
        if as_json:
            tell({"verdict": WRONG, "basis": str(error)}, str, as_json)
        raise type(error)(f"{WRONG}: {error}") from None
    tell(found, lambda facts: f"{book}: {verdicts.text(facts)}", as_json)
    if found["verdict"] == CONSISTENT:
        click.get_current_context().exit(NOT_PROVED)
