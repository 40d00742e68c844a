"""`solver export`."""

from __future__ import annotations

import os

import click

from solver.cli.common import Bars, game_option, open_book, quiet_option


@click.command("export")
@click.argument("source", metavar="BOOK|GAME")
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(),
    required=True,
    metavar="FILE",
    help="What to write; its ending says the form: .csv, .jsonl, .sqlite, .parquet or .bin.",
)
@click.option(
    "--columns",
    metavar="NAMES",
    help="Of a table, with commas between: state, board, value, score, distance, tier, best. All that the game has if"
    " left out; tier, best and board take most of the time.",
)
@game_option
@quiet_option
def command(source: str, file: str, columns: str | None, game_text: str | None, quiet: bool) -> None:
    """Write a book in another form: a table with a row a stored state, or one file that a web page reads.

    Values are for the side to move; tier is what the rules call so, in many games the ply. Finished positions are not
    stored, nor those that are another's image by symmetry. .bin is the whole book for other languages (readers/js);
    .parquet needs solverbook[parquet].

    \b
    solver export connect-four-4x4.lmdb -o connect-four.csv
    solver export connect-four-4x4.lmdb -o connect-four.sqlite --columns state,score,distance
    solver export connect-four-4x4.lmdb -o connect-four.bin
    """
    from solver.export import export

    with open_book(source, game_text, quiet=quiet) as opened, Bars(quiet) as bars:
        names = None if columns is None else [name.strip() for name in columns.split(",")]
        export(opened, file, names, progress=bars)
        click.echo(f"{file}: {len(opened):,} states, {os.path.getsize(file):,} bytes")
