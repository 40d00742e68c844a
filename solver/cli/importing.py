"""`solver import`."""

from __future__ import annotations

import os

import click

from solver.cli.common import Bars, note, print_options, tell
from solver.report import books


@click.command("import")
@click.argument("file", type=click.Path())
@click.argument("game")
@click.option("-o", "--output", "book", type=click.Path(), required=True, metavar="BOOK", help="Write the book here.")
@click.option("--no-symmetry", is_flag=True, help="Keep symmetric states apart.")
@click.option("--no-verify", is_flag=True, help="Take the values as they are.")
@print_options
def command(file: str, game: str, book: str, no_symmetry: bool, no_verify: bool, as_json: bool, quiet: bool) -> None:
    """Write a book of values from elsewhere, after verifying each against those of its moves.

    FILE is a .jsonl or .csv as solver export writes them. A line has a state, its score for the side to move (1, 0, -1,
    or the margin) and, for wins and losses, the distance in plies. Other columns are ignored. Finished states are not
    listed. A file that lacks states that play reaches makes a book of exact entries, which live search
    completes; a value is then compared with the moves that are there. All is held in memory, 300 bytes a state.

    \b
    solver import values.jsonl connect-four:4,4 -o connect-four-4x4.lmdb
    """
    from solver.solving.pipeline import import_values

    with Bars(quiet) as bars:
        header = import_values(game, file, book, symmetry=not no_symmetry, verified=not no_verify, progress=bars)
    if header.scope != "complete":
        note(f"{file} is not all of the game that play can reach: not every value could be verified", quiet)
    facts = books.facts(header, os.path.getsize(book))
    tell(facts, lambda told: books.text(told, header.kind), as_json)
