"""`solver import`."""

from __future__ import annotations

import click

from solver.cli.common import Bars, note, print_options, symmetry_option
from solver.cli.info import report


@click.command("import")
@click.argument("file", type=click.Path())
@click.argument("game")
@click.option("-o", "--output", "book", type=click.Path(), required=True, metavar="BOOK", help="Write the book here.")
@symmetry_option
@click.option("--no-verify", is_flag=True, help="Do not compare values with those of their moves.")
@print_options
def command(file: str, game: str, book: str, symmetry: bool, no_verify: bool, as_json: bool, quiet: bool) -> None:
    """Write a book of values from elsewhere, verified.

    \b
    solver import values.jsonl connect-four:4,4 -o connect-four-4x4.lmdb
    solver import values.csv connect-four:4,4 -o connect-four-4x4.lmdb --no-verify

    FILE is .jsonl or .csv, as `solver export` writes them. Each line has a state, its score for the side to move (1, 0,
    -1, or the margin) and, for wins and losses, the distance in plies. Other columns are ignored. Leave finished states
    out. Each value is compared with those of its moves.

    If FILE lacks states that play reaches, the result is a book of exact entries, which live search completes. The
    values take 300 bytes of memory a state.
    """
    from solver.solving.pipeline import import_values

    with Bars(quiet) as bars:
        header = import_values(game, file, book, symmetry=symmetry, verified=not no_verify, progress=bars)
    if header.scope != "complete":
        note(f"{file} is not all of the game that play can reach: not every value could be verified", quiet)
    report(header, book, bars.seconds, as_json)
