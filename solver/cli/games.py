"""`solver games`."""

from __future__ import annotations

import click

from solver.cli.common import json_option, tell
from solver.games import CATALOGUE
from solver.report import games


@click.command("games")
@json_option
def command(as_json: bool) -> None:
    """List the games, their parameters with defaults, and what each supports.

    \b
    connect-four:5,4                    parameters in their order
    connect-four:width=5,height=4       or by name
    my_game.py::Hexapawn:4,4            your own rules, in a file
    """
    found = [games.facts(name) for name in CATALOGUE]
    tell(found, lambda _: "\n".join(click.style(one["name"], bold=True) + games.about(one) for one in found), as_json)
