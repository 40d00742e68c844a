"""`solver sample`."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import click

from solver.base.errors import MissingState
from solver.cli.common import SPAN, Bars, choice, game_option, json_option, note, number, open_book, quiet_option, tell
from solver.report.facts import worth


@click.command("sample")
@click.argument("source", metavar="BOOK|GAME")
@number("-n number", 1, 10_000_000, "Number of states. Default: 10.", default=10)
@click.option("--seed", type=int, default=0, metavar="S", help="Choose other states. Default: 0.")
@choice("--value outcome", ["win", "draw", "loss"], "Only states of this value, for the side to move.")
@click.option(
    "--distance", type=SPAN, metavar="M..N", help="Only states so many plies from the end: 5..9, 5.., ..9 or 5."
)
@click.option(
    "--ply", "tier", type=SPAN, metavar="M..N", help="Only states of these tiers; in most games a tier is a ply."
)
@json_option
@game_option
@quiet_option
def command(source: str, number: int, as_json: bool, own: str | None, quiet: bool, **wanted: Any) -> None:
    """Choose stored states at random.

    \b
    solver sample connect-four-5x5.lmdb -n 1000 --value win --distance 5..9
    solver sample connect-four-5x5.lmdb --ply 8 --seed 7 | solver query connect-four-5x5.lmdb -

    All states that match are equally likely, and none comes twice. Each line is a state, as `query` takes it, in random
    order: the first lines are a sample too. The same seed chooses the same states. Books store no finished positions,
    and of positions that are equal by symmetry one.
    """
    from solver.edit.sampling import sample

    with open_book(source, own, quiet=quiet) as opened, Bars(quiet) as bars:
        chosen = sample(opened, number, progress=bars, **wanted)
    if not chosen:
        raise MissingState(f"{source} has no such state: solver info --counts lists what it stores")
    for state, value in chosen:
        tell({"position": f"#{state}", "state": state, **worth(value)}, itemgetter("position"), as_json)
    if len(chosen) < number:
        note(f"only {len(chosen):,} states match", quiet)
