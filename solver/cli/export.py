"""`solver export`."""

from __future__ import annotations

import os

import click

from solver.cli.common import Bars, game_option, open_book, quiet_option
from solver.rules.game import Game


@click.command("export")
@click.argument("source", metavar="BOOK|GAME")
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(),
    required=True,
    metavar="FILE|FOLDER/",
    help="What to write; its ending says the form: .csv, .jsonl, .sqlite, .parquet, .bin, or a slash: a page.",
)
@click.option(
    "--columns",
    metavar="NAMES",
    help="Of a table, with commas between: state, board, value, score, distance, tier, best. All that the game has if"
    " left out; tier, best and board take most of the time.",
)
@game_option
@quiet_option
def command(source: str, file: str, columns: str | None, own: Game | None, quiet: bool) -> None:
    """Write a book in another form: a table with a row a stored state, one file that other languages read, or a page.

    Values are for the side to move; tier is what the rules call so, in many games the ply. Finished positions are not
    stored, nor those that are another's image by symmetry. .bin is the whole book for other languages; a folder becomes
    a page for browsers around it, with the board and every move's value, for any static host (docs/page.md). .parquet
    needs solverbook[parquet].

    \b
    solver export connect-four-4x4.lmdb -o connect-four.csv
    solver export connect-four-4x4.lmdb -o connect-four.sqlite --columns state,score,distance
    solver export connect-four-4x4.lmdb -o connect-four.bin
    solver export connect-four-4x4.lmdb -o site/
    """
    from solver.export import export
    from solver.export.site import MODULE

    with open_book(source, own, quiet=quiet) as opened, Bars(quiet) as bars:
        names = None if columns is None else [name.strip() for name in columns.split(",")]
        export(opened, file, names, progress=bars)
        parts = [os.path.join(file, name) for name in os.listdir(file)] if os.path.isdir(file) else [file]
        click.echo(f"{file}: {len(opened):,} states, {sum(map(os.path.getsize, parts)):,} bytes")
        if os.path.isdir(file) and not opened.header.is_gapless and MODULE not in os.listdir(file):
            click.echo("past the book the page does not search: that wants solverbook[solve], and rules that compile")
