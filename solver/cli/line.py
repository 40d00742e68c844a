"""`solver line`."""

from __future__ import annotations

import sys

import click

from solver.base.errors import PositionError
from solver.cli import common
from solver.play.player import Player
from solver.report import lines
from solver.search import SECONDS


@click.command("line")
@click.argument("source", metavar="BOOK|GAME")
@click.argument("position", default="start", metavar="[POSITION]")
@click.option("--longest", is_flag=True, help="Start from the longest win of the book.")
@common.number("--most", 1, 100_000, "Stop after this many plies. Default: 1000.", default=1000)
@common.seconds(
    "--budget",
    0.001,
    1e6,
    f"Seconds of search for each move. Default: {SECONDS:g} without a book, no search with one.",
)
@common.json_option
@common.module_option
@common.live_option
@common.game_option
@common.quiet_option
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
    """Print best play from a position to the end: quick wins, slow losses.

    \b
    solver line connect-four-5x5.lmdb
    solver line connect-four-5x5.lmdb 4453
    solver line krk.lmdb --longest
    solver line connect-four --budget 10

    If a position comes back, the line ends there as a draw. In a game of chance the line takes the outcome whose value
    is closest to the expectation. A GAME without a book of its own is searched live. Past the end of a book the line is
    searched only with --budget. If the next move is not known, the line ends and says so.
    """
    opened = common.open_source(source, own, live=live, quiet=quiet)
    if longest:
        if opened.book is None or opened.book.header.longest is None:
            raise PositionError(f"{source} has no longest win: name a position")
        position = f"#{opened.book.header.longest[1]}"
    seconds = budget or SECONDS
    goes_on = opened.book is None or budget is not None
    player = Player(opened, seconds=seconds, live=goes_on, module=module)
    with common.thinking(seconds, quiet=not sys.stderr.isatty()):
        facts = lines.facts(player, position, most)
    common.tell(facts, lambda answer: lines.text(player.game, answer), as_json)
