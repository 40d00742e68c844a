"""`solver diff`."""

from __future__ import annotations

import click

from solver.cli.common import Bars, print_options, tell
from solver.edit.comparing import diff
from solver.report import differences


@click.command("diff")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option("--most", type=click.IntRange(0, 1_000_000), default=20, metavar="N", help="States that are listed; 20.")
@print_options
@click.pass_context
def command(context: click.Context, first: str, second: str, most: int, as_json: bool, quiet: bool) -> None:
    """Say what tells two books apart: states that only one has, other values, other facts. Exit 1 if they differ.

    A and B are files, or games whose book comes with the package.
    Codecs are not compared: a packed book holds the same.

    \b
    solver diff before.lmdb after.lmdb
    solver diff before.lmdb after.lmdb --most 1000 --json
    """
    with Bars(quiet) as bars:
        found = diff(first, second, most, progress=bars)
    tell(differences.facts(found), differences.text, as_json)
    context.exit(0 if found.equal else 1)
