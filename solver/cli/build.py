"""`solver build`."""

from __future__ import annotations

import click

from solver.book.doors import game_of
from solver.cli.common import Bars, quiet_option
from solver.rules.game import Rules


@click.command("build")
@click.argument("text", metavar="GAME")
@click.option("-o", "--output", "file", type=click.Path(), required=True, metavar="FILE", help="Write it here: .wasm.")
@click.option("--no-symmetry", is_flag=True, help="Do not fold positions that are each other's images.")
@click.option("--ranks", is_flag=True, help="With what a ranked book asks of the rules.")
@quiet_option
def command(text: str, file: str, no_symmetry: bool, ranks: bool, quiet: bool) -> None:
    """Build a game's rules and searches as a WebAssembly module, for pages, Node and whatever runs such modules.

    It finds exact values by alpha-beta, as far as the game has tiers and no chance, and looks a few plies ahead by the
    rules' own evaluate. It imports nothing; docs/guides/webassembly.md says what it exports. Needs solverbook[solve].

    \b
    solver build connect-four -o connect-four.wasm
    solver build my_game.py::Hexapawn:4,4 -o hexapawn.wasm
    """
    from solver.export.module import write

    rules = Rules(game_of(text), not no_symmetry)
    with Bars(quiet) as bars:
        size = write(rules, file, ranks, progress=bars)
    click.echo(f"{file}: {size:,} bytes, {rules.name}, rules {rules.fingerprint[:8]}")
