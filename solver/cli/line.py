"""`solver line`."""

from __future__ import annotations

import sys

import click

from solver.base.errors import PositionError
from solver.cli.common import (
    Seconds,
    game_option,
    json_option,
    live_option,
    module_option,
    open_source,
    quiet_option,
    tell,
    thinking,
)
from solver.play.live import SECONDS
from solver.play.player import Player
from solver.report import lines


@click.command("line")
@click.argument("source", metavar="BOOK|GAME")
@click.argument("position", default="start", metavar="[POSITION]")
@click.option("--longest", is_flag=True, help="From the position of the book's longest win.")
@click.option("--most", type=click.IntRange(1, 100_000), default=1000, metavar="N", help="Plies at most; 1000.")
@click.option(
    "--budget",
    type=Seconds(0.001, 1e6),
    metavar="SECONDS",
    help=f"For each move searched live; {SECONDS:g} without a book. With one nothing is searched if left out.",
)
@json_option
@module_option
@live_option
@game_option
@quiet_option
def command(
    source: str,
    position: str,
    longest: bool,
    most: int,
    budget: float | None,
    as_json: bool,
    module: str | None,
    live: bool,
    own: str | None,
    quiet: bool,
) -> None:
    """Print the best play from a position to the end: quick wins, slow losses.

    A line ends where it comes back to a position that it has seen: that is a draw, but in a game of chance, where it
    takes the outcome that is worth most nearly what was expected. A GAME of which no book comes with the package is
    searched live; past the end of a book, with --budget alone. Where no more is known the line ends, and says so.

    \b
    solver line connect-four-5x5.lmdb
    solver line connect-four-5x5.lmdb 4453
    solver line krk.lmdb --longest
    solver line connect-four --budget 10
    """
    book, game = open_source(source, own, live=live, quiet=quiet)
    if longest:
        if book is None or book.header.longest is None:
            raise PositionError(f"{source} has no longest win: name a position")
        position = f"#{book.header.longest[1]}"
    seconds = budget or SECONDS
    goes_on = book is None or budget is not None
    player = Player({} if book is None else book, game, seconds=seconds, live=goes_on, module=module)
    with thinking(seconds, quiet=not sys.stderr.isatty()):
        facts = lines.facts(player, position, most)
    tell(facts, lambda told: lines.text(game, told), as_json)
