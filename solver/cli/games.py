"""`solver games`."""

from __future__ import annotations

import importlib
import json
from typing import Any

import click

from solver.cli.common import json_option
from solver.games import CATALOGUE
from solver.rules.game import is_score_game, own_method

FEATURES = {
    "canonical": "symmetry",
    "tier": "tiers",
    "chance": "dice or cards",
    "to_move": "moves again",
    "again": "moves again",
    "reward": "moves that score",
    "evaluate": "heuristic",
    "promise": "move ordering",
}


@click.command("games")
@json_option
def command(as_json: bool) -> None:
    """List the games, their parameters with defaults, and what each supports.

    \b
    connect-four:5,4                    parameters in their order
    connect-four:width=5,height=4       or by name
    my_game.py::Hexapawn:4,4            your own rules, in a file
    """
    games = [_describe(name) for name in CATALOGUE]
    if as_json:
        click.echo(json.dumps(games))
        return
    for game in games:
        parameters = ", ".join(f"{name}={_text(default)}" for name, default in game["parameters"].items())
        click.echo(click.style(game["name"], bold=True) + (f"  {parameters}" if parameters else ""))
        click.echo(f"    {game['about']}")
        click.echo(f"    {_values(game)}; " + ", ".join(game["supports"]))


def _values(game: dict[str, Any]) -> str:
    if FEATURES["chance"] in game["supports"]:
        return "expected score" if game["score_game"] else "winning chance"
    return "score" if game["score_game"] else "win, draw, loss"


def _describe(name: str) -> dict[str, Any]:
    module, _, class_name = CATALOGUE[name].partition(":")
    cls = getattr(importlib.import_module(f"solver.games.{module}"), class_name)
    own_text = own_method(cls, "from_text")
    return {
        "name": name,
        "about": (cls.__doc__ or "").strip().splitlines()[0],
        "parameters": {"file": "FILE.json"} if own_text else dict(cls._field_defaults),
        "score_game": is_score_game(cls),
        "supports": [feature for method, feature in FEATURES.items() if own_method(cls, method)],
    }


def _text(default: Any) -> str:
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default).lower()
