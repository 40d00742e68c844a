"""`solver info`, and the shape that `solver solve` prints too."""

from __future__ import annotations

import click

from solver.book import Header
from solver.cli.common import open_book, print_options, tell
from solver.play.player import Player
from solver.report import books, lines
from solver.rules.game import is_built_in


@click.command("info")
@click.argument("source", metavar="BOOK|GAME")
@click.option("--counts", is_flag=True, help="Also count by tier and by distance.")
@click.option(
    "--plot",
    type=click.Path(),
    metavar="FILE",
    help="Draw wins, draws and losses by tier and distance, or expectations, as .png or .svg.",
)
@print_options
def command(source: str, counts: bool, plot: str | None, as_json: bool, quiet: bool) -> None:
    """Describe a book: game, value, counts, longest win and its line, size.

    \b
    solver info connect-four-5x5.lmdb
    solver info connect-four:4,4                    the book that comes with the package
    solver info connect-four-5x5.lmdb --counts
    solver info connect-four-5x5.lmdb --plot connect-four.svg
    """
    with open_book(source, quiet=quiet) as opened:
        facts = books.facts(opened.header, opened.size)
        kind = opened.header.kind
        numbers = None
        if plot is not None and kind.error:
            from solver.edit.sampling import expectations

            numbers = expectations(opened)
        gaps = opened.header.trim is not None and not opened.header.is_gapless
        if facts["longest"] and is_built_in(opened.header.game) and not gaps:
            # What is not in the book is not needed
            player = Player(opened, live=False)
            facts["longest"]["line"] = lines.facts(player, facts["longest"]["position"])["moves"]
    if plot is not None:
        from solver.report.charts import draw

        draw(facts, plot, numbers)
    tell(facts, lambda answer: books.text(answer, kind, counts), as_json)


def report(header: Header, book: str | None, seconds: float, as_json: bool) -> None:
    """Print the contents of a book just made. A book of None was not written."""
    tell(books.written(header, book, seconds), lambda facts: books.text(facts, header.kind), as_json)
