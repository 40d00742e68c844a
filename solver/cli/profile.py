"""`solver profile`."""

from __future__ import annotations

import itertools
import json
import re

import click

from solver.book.doors import book_and_game
from solver.book.reader import Book
from solver.cli.common import Bars, game_option, json_option, quiet_option
from solver.profiling import Profile, profile, refuse_chance
from solver.report import profiles
from solver.rules.game import Rules
from solver.solving.pipeline import solve

RANGE = re.compile(r"([0-9]{1,4})\.\.([0-9]{1,4})")
MAX_VARIANTS = 200


@click.command("profile")
@click.argument("source", metavar="BOOK|GAME")
@click.option("--table", is_flag=True, help="A row for each variant: connect-four:4..5,4 names two.")
@json_option
@game_option
@quiet_option
def command(source: str, table: bool, as_json: bool, own: str | None, quiet: bool) -> None:
    """Measure a game for its designer: how fair, long and drawish it is.

    \b
    solver profile tic-tac-toe
    solver profile "connect-four:3..4,3..4" --table

    The report has the results between perfect, random and short-sighted players, computed exactly from the book; the
    length of games; the number of moves; how often one move alone is good; and the worth of each first move. A GAME
    without a book is solved first, into a temporary book.

    A player that sees k plies plays a win within k plies, avoids a loss within k plies, and otherwise plays at random.
    In games with cycles a game that does not end counts as a draw.
    """
    names = variants(source) if table else [source]
    rows, reports = [], []
    for name in names:
        report, rules = _profiled(name, own, quiet)
        reports.append(profiles.facts(report))
        if table:
            rows.append(profiles.row(report, rules))
        elif not as_json:
            click.echo(profiles.text(report, rules))
    if as_json:
        click.echo(json.dumps(reports if table else reports[0]))
    elif table:
        click.echo(profiles.table(rows))


def variants(text: str) -> list[str]:
    """Return the names that a text with ranges stands for: nim:1..2,3 is nim:1,3 and nim:2,3."""
    tokens = RANGE.split(text)
    ranges = [range(int(low), int(high) + 1) for low, high in zip(tokens[1::3], tokens[2::3], strict=True)]
    count = 1
    for numbers in ranges:
        count *= len(numbers)
    if not 0 < count <= MAX_VARIANTS:
        raise click.UsageError(f"{text!r} names {count:,} variants: name from 1 to {MAX_VARIANTS}")
    pieces = tokens[::3]
    return [
        pieces[0] + "".join(f"{number}{piece}" for number, piece in zip(numbers, pieces[1:], strict=True))
        for numbers in itertools.product(*ranges)
    ]


def _profiled(name: str, own: str | None, quiet: bool) -> tuple[Profile, Rules]:
    """Return the profile of a book or a game, which is solved if no complete book is at hand."""
    book, game = book_and_game(name, own)
    refuse_chance(Rules(game))
    with Bars(quiet) as bars:
        if not isinstance(book, Book):
            book = solve(game, progress=bars)
        with book:
            return profile(book, own, progress=bars), book.rules
