"""`solver ugi`."""

from __future__ import annotations

import sys
from typing import Any

import click

from solver import __version__
from solver.base.text import text_lines
from solver.cli.common import choice, open_source, search_options
from solver.play.player import METHODS, Player
from solver.play.ugi import Session


@click.command("ugi")
@click.argument("source", metavar="BOOK|GAME")
@choice(
    "--method", METHODS, "best: of equal moves the first. practical: the one that is hardest to answer.", default="best"
)
@search_options
def command(source: str, method: str, live: bool, own: str | None, **search: Any) -> None:
    """Play as an engine, by the Universal Game Interface: UCI for any game.

    \b
    solver ugi connect-four
    solver match engine:"solver ugi breakthrough:5,5" evaluate@6 --game breakthrough:5,5

    The engine reads standard input and writes standard output. It answers from a book, and searches where the book has
    no answer. `go` takes movetime, p1time and p2time with p1inc and p2inc, depth, nodes or infinite; a bare `go` takes
    --budget. Lines with `info` give score, depth, nodes and the expected line. `stop` ends a search at once. Send
    `isready` first: it loads the compiled search. At the end of the input a search with a limit is finished.
    """
    opened = open_source(source, own, live=live, quiet=True)
    player = Player(opened, method=method, **search)
    session = Session(player, lambda line: click.echo(line), search["seconds"], f"solverbook {__version__}")
    goes_on = True
    try:
        for line in text_lines(sys.stdin.buffer, "replace"):
            goes_on = session.obey(line)
            if not goes_on:
                break
    except BaseException:
        session.stop()
        raise
    session.end(at_once=not goes_on)
