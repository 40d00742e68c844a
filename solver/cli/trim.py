"""`solver trim`."""

from __future__ import annotations

import click

from solver.book.codecs import CODECS
from solver.book.solution import SIDES, Trim
from solver.cli.common import SIZE, Bars, game_option, print_options, workers_option
from solver.cli.info import report


@click.command("trim")
@click.argument("book", type=click.Path(), metavar="BOOK|GAME")
@click.option("-o", "--output", "target", type=click.Path(), required=True, metavar="OUT", help="Write the book here.")
@click.option("--max-ply", type=click.IntRange(0, 1000), metavar="N", help="Keep only positions up to ply N.")
@click.option(
    "--for",
    "side",
    type=click.Choice(SIDES),
    help="Keep only the positions that this side needs to keep its value against every reply.",
)
@click.option(
    "--drop-plies",
    "plies",
    metavar="1|2",
    type=click.IntRange(1, 2),
    help="Drop positions that a search of this many plies solves.",
)
@click.option("--wdl", is_flag=True, help="Drop distances; keep win, draw, loss.")
@click.option(
    "--max-bytes", type=SIZE, metavar="SIZE", help="Drop the last tiers until the file is this small, for example 2M."
)
@click.option("--codec", type=click.Choice(list(CODECS)), help="Encoding of OUT. Default: as BOOK.")
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
    """Write a smaller copy of a book.

    \b
    solver trim connect-four-6x4.lmdb -o small.lmdb --drop-plies 2
    solver trim connect-four-6x4.lmdb -o web.lmdb --max-bytes 2M
    solver trim connect-four-6x4.lmdb -o first.lmdb --for first --drop-plies 2 --wdl --codec compact

    A short search recovers the positions that --drop-plies drops, always exactly. Other dropped positions need a live
    search, within query's --budget. `solver verify OUT --play` proves the result of a player with OUT.
    """
    from solver.edit.trimming import trim

    with Bars(quiet) as bars:
        wanted = Trim(max_ply=max_ply, side=side, plies=plies or 0, max_bytes=max_bytes)
        header = trim(book, target, wanted, own, wdl=wdl, codec=codec, workers=workers, progress=bars)
    report(header, target, bars.seconds, as_json)
