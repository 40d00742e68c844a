"""`solver merge`."""

from __future__ import annotations

import click

from solver.cli.common import Bars, codec_option, print_options, workers_option
from solver.cli.info import report
from solver.edit.comparing import merge


@click.command("merge")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option("-o", "--output", "target", type=click.Path(), required=True, metavar="OUT", help="Write it here.")
@codec_option
@workers_option
@print_options
def command(
    first: str, second: str, target: str, codec: str | None, workers: int | None, as_json: bool, quiet: bool
) -> None:
    """Write a book of all states of two books of the same game and rules.

    A and B are files, or games whose book comes with the package. Both must be folded by symmetry, or neither. A state
    with two values is an error that names it. Where one book has all states of the other, the merged one is of its
    scope; else it is one of exact values, without the counts of a whole game.

    \b
    solver merge ply-8.lmdb endings.lmdb -o both.lmdb
    """
    with Bars(quiet) as bars:
        header = merge(first, second, target, codec, workers=workers, progress=bars)
    report(header, target, bars.seconds, as_json)
