"""`solver check`."""

from __future__ import annotations

import json

import click

from solver import extras
from solver.cli.common import json_option, quiet_option
from solver.errors import UncompiledRules
from solver.game import OPTIONAL, Game, Rules, game_text, load_game, own_method


@click.command("check")
@click.argument("game")
@click.option("--seed", type=int, default=0, metavar="N", help="Of the random games; 0.")
@json_option
@quiet_option
def command(game: str, seed: int, as_json: bool, quiet: bool) -> None:
    """Check rules without solving: the protocol, on random games, and whether they compile to what they say.

    Exit code 2 and the state where something is wrong; docs/rules.md tells how rules are written.

    \b
    solver check my_game.py::Hexapawn:4,4
    solver check package.module::Class
    """
    from solver.conformance import check_game

    rules = load_game(game)
    states = check_game(rules, seed=seed)
    optional = [name for name in OPTIONAL if own_method(rules, name)]
    compiled, why = _compiled(rules, states)
    facts = {
        "game": game_text(rules),
        "states": len(states),
        "optional": optional,
        "compiled": compiled,
        "reason": why,
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    click.echo(f"{facts['game']}: {len(states):,} states of random games keep the protocol")
    click.echo(f"optional methods: {', '.join(optional) or 'none'}")
    if compiled:
        click.echo("compiled, they say what plain Python says of all these states")
    else:
        click.echo(f"only in plain Python, which is some sixty times slower: {why}")


def _compiled(rules: Game, states: list[int]) -> tuple[bool, str | None]:
    """Whether the rules compile to what they say, and why not."""
    if Rules(rules).plain_only:
        return False, "the game says so"
    if not extras.has_kernels():
        return False, "pip install 'solverbook[solve]' to compile"
    from solver.kernels import twins

    try:
        twins.compare(rules, states)
    except UncompiledRules as error:
        return False, str(error)
    return True, None
