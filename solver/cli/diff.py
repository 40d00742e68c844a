"""`solver diff`."""

from __future__ import annotations

import click

from solver.cli.common import Bars, print_options, tell
from solver.edit.comparing import diff
from solver.report import differences


@click.command("diff")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option(
    "--most",
    type=click.IntRange(0, 1_000_000),
    default=20,
    metavar="N",
    help="List at most this many states. Default: 20.",
)
@print_options
@click.pass_context
def command(context: click.Context, first: str, second: str, most: int, as_json: bool, quiet: bool) -> None:
    """Say how two books differ. Exit code 1 if they do.

    \b
    solver diff before.lmdb after.lmdb
    solver diff before.lmdb after.lmdb --most 1000 --json

    It lists states that only one book has, other values, and other facts in the headers. A and B are files, or games
    whose book comes with the package. The codec does not count: a packed book is equal.
    """
    with Bars(quiet) as bars:
        found = diff(first, second, most, progress=bars)
    tell(differences.facts(found), differences.text, as_json)
    context.exit(0 if found.equal else 1)
