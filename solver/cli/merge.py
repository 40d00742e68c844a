"""`solver merge`."""

from __future__ import annotations

import click

from solver.cli.common import Bars, codec_option, print_options, workers_option
from solver.cli.info import report
from solver.edit.comparing import merge


@click.command("merge")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option("-o", "--output", "target", type=click.Path(), required=True, metavar="OUT", help="Write the book here.")
@codec_option
@workers_option
@print_options
def command(
    first: str, second: str, target: str, codec: str | None, workers: int | None, as_json: bool, quiet: bool
) -> None:
    """Write one book with the states of two.

    \b
    solver merge ply-8.lmdb endings.lmdb -o both.lmdb
    solver merge ply-8.lmdb endings.lmdb -o both.lmdb --codec compact

    A and B are files, or games whose book comes with the package: of the same game and rules, both with symmetry or
    both without. If a state has two values, the command fails and names it. If one book has all states of the other,
    the result has its scope. Otherwise it is a book of exact values, without the counts of a whole game.
    """
    with Bars(quiet) as bars:
        header = merge(first, second, target, codec, workers=workers, progress=bars)
    report(header, target, bars.seconds, as_json)
