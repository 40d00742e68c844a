"""`solver ugi`."""

from __future__ import annotations

import sys

import click

from solver import __version__
from solver.base.text import text_lines
from solver.cli.common import open_source, search_options
from solver.play.player import Player
from solver.play.ugi import Session


@click.command("ugi")
@click.argument("source", metavar="BOOK|GAME")
@search_options
def command(source: str, budget: float, evaluate: str | None, module: str | None, live: bool, own: str | None) -> None:
    """Play as an engine: the Universal Game Interface on standard input and output, UCI for any game.

    It answers from a book, the one that comes with the package if a GAME is named, and searches within the clock where
    that is silent. `go` takes movetime, p1time and p2time with p1inc and p2inc, depth, nodes or infinite; --budget is
    for a bare `go`. Lines `info` give score, depth, nodes and the expected line; `stop` is obeyed at once. Send
    `isready` first: it loads the compiled search. At the end of the input a search that has a limit is finished.

    \b
    solver ugi connect-four
    solver match engine:"solver ugi breakthrough:5,5" evaluate@6 --game breakthrough:5,5
    """
    book, game = open_source(source, own, live=live, quiet=True)
    player = Player({} if book is None else book, game, seconds=budget, evaluate=evaluate, module=module)
    session = Session(player, lambda line: click.echo(line), budget, f"solverbook {__version__}")
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
