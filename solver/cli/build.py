"""`solver build`."""

from __future__ import annotations

import click

from solver.book import game_of
from solver.cli.common import Bars, output, quiet_option, symmetry_option
from solver.rules.game import Rules


@click.command("build")
@click.argument("text", metavar="GAME")
@output("file", "Write the module here: FILE.wasm.", "FILE")
@symmetry_option
@click.option("--ranks", is_flag=True, help="Add the functions that readers of a ranked book need.")
@quiet_option
def command(text: str, file: str, symmetry: bool, ranks: bool, quiet: bool) -> None:
    """Build a game's rules and searches as a WebAssembly module.

    \b
    solver build connect-four -o connect-four.wasm
    solver build my_game.py::Hexapawn:4,4 -o hexapawn.wasm

    Pages, Node and other hosts run the module. If the game has tiers and no chance, it finds exact values by
    alpha-beta. It also looks a few plies ahead by the rules' own evaluate. The module imports nothing;
    docs/guides/webassembly.md lists its exports. Install solverbook[solve] first.
    """
    from solver.export.script import write_module

    rules = Rules(game_of(text), symmetry)
    with Bars(quiet) as bars:
        size = write_module(rules, file, ranks, progress=bars)
    click.echo(f"{file}: {size:,} bytes, {rules.name}, rules {rules.fingerprint[:8]}")
