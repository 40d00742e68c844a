"""`solver trim`."""

from __future__ import annotations

import click

from solver.book.codecs import CODECS
from solver.book.trim import SIDES, Trim
from solver.cli.common import SIZE, Bars, game_option, print_options, workers_option
from solver.cli.info import report


@click.command("trim")
@click.argument("book", type=click.Path(), metavar="BOOK|GAME")
@click.option("-o", "--output", "target", type=click.Path(), required=True, metavar="OUT", help="Write it here.")
@click.option("--max-ply", type=click.IntRange(0, 1000), metavar="N", help="Keep the positions of the first N plies.")
@click.option(
    "--for",
    "side",
    type=click.Choice(SIDES),
    help="Keep what this side needs to play from the start, against every reply, without giving anything away.",
)
@click.option(
    "--drop-plies",
    "plies",
    metavar="1|2",
    type=click.IntRange(1, 2),
    help="Drop what a search of so many plies settles; it is done where a position is asked.",
)
@click.option("--wdl", is_flag=True, help="Keep wins, draws and losses without their distances.")
@click.option(
    "--max-bytes", type=SIZE, metavar="SIZE", help="Drop the last tiers, where few moves are left, down to this: 2M."
)
@click.option("--codec", type=click.Choice(list(CODECS)), help="How OUT is encoded; as BOOK is, if left out.")
@game_option
@workers_option
@print_options
def command(
    book: str,
    target: str,
    max_ply: int | None,
    side: str | None,
    plies: int | None,
    wdl: bool,
    max_bytes: int | None,
    codec: str | None,
    own: str | None,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a book anew with less in it: as much as you can do without.

    What is left out is searched for where it is asked: what --drop-plies leaves out is settled at once, exactly; other
    positions are searched live, within --budget. `solver verify OUT --play` proves what a player with OUT gets.

    \b
    solver trim connect-four-6x4.lmdb -o first.lmdb --for first --drop-plies 2 --wdl --codec compact
    solver trim connect-four-6x4.lmdb -o small.lmdb --drop-plies 2
    solver trim connect-four-6x4.lmdb -o web.lmdb --max-bytes 2M
    """
    from solver.edit.trimming import trim

    with Bars(quiet) as bars:
        wanted = Trim(max_ply=max_ply, side=side, plies=plies or 0, max_bytes=max_bytes)
        header = trim(book, target, wanted, own, wdl=wdl, codec=codec, workers=workers, progress=bars)
    report(header, target, bars.seconds, as_json)
