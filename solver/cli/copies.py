"""`solver pack`."""

from __future__ import annotations

import click

from solver.book.codecs import CHOICES
from solver.cli.common import Bars, game_option, print_options, workers_option
from solver.cli.info import report


@click.command("pack")
@click.argument("book", type=click.Path(), metavar="BOOK|GAME")
@click.option("-o", "--output", "target", type=click.Path(), required=True, metavar="OUT", help="Write the book here.")
@click.option(
    "--codec",
    type=click.Choice(CHOICES),
    default="compact",
    help="compact (default): a quarter of the size for ten times the time. instant: the other way round. ranked: the"
    " smallest, for games that number their states; its readers need the rules.",
)
@game_option
@workers_option
@print_options
def command(
    book: str, target: str, codec: str, own: str | None, workers: int | None, as_json: bool, quiet: bool
) -> None:
    """Write a copy of a book in another codec.

    \b
    solver pack connect-four-5x5.lmdb -o compact.lmdb
    solver pack compact.lmdb -o instant.lmdb --codec instant

    The copy gives the same answers, and no game is solved. All of BOOK is checked on the way. The copy has the digest
    of the book that `solve --codec` writes.
    """
    from solver.book.streaming import pack

    with Bars(quiet) as bars:
        header = pack(book, target, codec, own, workers=workers, progress=bars)
    report(header, target, bars.seconds, as_json)
