"""`solver verify`."""

from __future__ import annotations

from typing import Any

import click

from solver.base.errors import DamagedBook, ForeignBook, MissingRules
from solver.cli.common import Bars, Seconds, game_option, memory_option, print_options, tell, workers_option
from solver.report import books
from solver.report.facts import facts_of
from solver.verifying.verification import CONSISTENT, SEARCH, WRONG, verify

NOT_PROVED = 7  # the exit code of a consistent book


@click.command("verify")
@click.argument("book", type=click.Path(), metavar="BOOK|GAME")
@game_option
@workers_option
@memory_option
@click.option(
    "--search",
    type=Seconds(min=0),
    default=SEARCH,
    show_default=True,
    metavar="SECONDS",
    help="Seconds to search for values of partial books that do not follow from others.",
)
@click.option("--play", is_flag=True, help="Also play the book against every reply, for each side that it serves.")
@print_options
def command(book: str, own: str | None, as_json: bool, quiet: bool, **means: Any) -> None:
    """Check a book: structure, checksums, every value against its children, every count.

    \b
    solver verify connect-four-5x5.lmdb
    solver verify first-player.lmdb --play

    The verdict is a word and an exit code:

    \b
    proved      0  every value is that of perfect play, whoever wrote the book
    consistent  7  no fault was found and the values agree with each other, but some are not proved
    wrong       5  the book is damaged, foreign, or has a false value, which is named

    So `solver verify BOOK && publish BOOK` publishes only proved books. The rules run compiled, and as plain Python on
    a sample of the states, or on all of a small book. If compiled rules fail, or differ from Python, plain Python
    judges alone; a second line says why, and so does `note` in --json. The error of expectations is bounded anew:
    --json calls it `within`.
    """
    try:
        with Bars(quiet) as bars:
            answer = facts_of(verify(book, own, progress=bars, **means))
    except MissingRules:
        # This error says nothing about the book
        raise
    except (DamagedBook, ForeignBook) as error:
        if as_json:
            tell({"verdict": WRONG, "basis": str(error)}, str, as_json)
        raise type(error)(f"{WRONG}: {error}") from None
    tell(answer, lambda facts: f"{book}: {books.verified(facts)}", as_json)
    if answer["verdict"] == CONSISTENT:
        click.get_current_context().exit(NOT_PROVED)
