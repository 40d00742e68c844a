"""`solver grade`."""

from __future__ import annotations

import click

from solver.cli.common import Bars, game_option, games_of, json_option, open_book, quiet_option, tell
from solver.play.grading import grade
from solver.play.player import Player
from solver.report import grades


@click.command("grade")
@click.argument("source", metavar="BOOK|GAME")
@click.argument("games", type=click.Path(allow_dash=True))
@json_option
@game_option
@quiet_option
def command(source: str, games: str, as_json: bool, own: str | None, quiet: bool) -> None:
    """Judge games move by move.

    \b
    solver grade connect-four-5x5.lmdb games.txt
    solver grade connect-four-5x5.lmdb - --json < games.txt

    GAMES is a file, or - for standard input. Each line is one game: its moves from the start, written as for `query`.
    Empty lines, and remarks behind # or ;, are skipped.

    \b
    perfect    keeps value and distance
    keeps      keeps the value; may win later or lose sooner
    blunder    any other move

    Moves that the book does not know are counted separately.
    """
    with open_book(source, own, quiet=quiet) as opened, Bars(quiet) as bars:
        player = Player(opened, live=False)
        found = grade(player, games_of(games), progress=bars)
        facts = grades.facts(found, player)
    tell(facts, lambda facts: grades.text(facts, player.rules), as_json)
