"""`solver sample`."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import click

from solver.base.errors import MissingState
from solver.cli.common import SPAN, Bars, game_option, json_option, note, open_book, quiet_option, tell
from solver.report.facts import worth


@click.command("sample")
@click.argument("source", metavar="BOOK|GAME")
@click.option("-n", "number", type=click.IntRange(1, 10_000_000), default=10, metavar="N", help="How many; 10.")
@click.option("--seed", type=int, default=0, metavar="S", help="Another seed, other states; 0.")
@click.option("--value", "outcome", type=click.Choice(["win", "draw", "loss"]), help="For the side to move.")
@click.option("--distance", type=SPAN, metavar="M..N", help="Plies to the end: 5..9, 5.., ..9 or 5.")
@click.option(
    "--ply", "tier", type=SPAN, metavar="M..N", help="By the game's tiers, which in most games count the plies."
)
@json_option
@game_option
@quiet_option
def command(source: str, number: int, as_json: bool, own: str | None, quiet: bool, **wanted: Any) -> None:
    """Choose stored states at random, uniformly among those that match, none twice; in random order.

    One state a line, as `query` takes it; the first of them are a sample, too. The same seed chooses the same states.
    Finished positions are not stored, nor those that are another's image by symmetry.

    \b
    solver sample connect-four-5x5.lmdb -n 1000 --value win --distance 5..9
    solver sample connect-four-5x5.lmdb --ply 8 --seed 7 | solver query connect-four-5x5.lmdb -
    """
    from solver.edit.sampling import sample

    with open_book(source, own, quiet=quiet) as opened, Bars(quiet) as bars:
        chosen = sample(opened, number, progress=bars, **wanted)
    if not chosen:
        raise MissingState(f"{source} stores no such state: solver info --counts says what it stores")
    for state, value in chosen:
        tell({"position": f"#{state}", "state": state, **worth(value)}, itemgetter("position"), as_json)
    if len(chosen) < number:
        note(f"only {len(chosen):,} states match", quiet)
