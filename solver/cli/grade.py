"""`solver grade`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from solver.base.errors import BookError, PositionError
from solver.base.text import TextError, file_lines, text_lines
from solver.cli.common import Bars, game_option, json_option, open_book, quiet_option, tell
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

    \b
    perfect    keeps value and distance
    keeps      keeps the value; may win later or lose sooner
    blunder    any other move

    Moves that the book does not know are counted separately.
    """
    with open_book(source, own, quiet=quiet) as opened, Bars(quiet) as bars:
        player = Player(opened, live=False)
        found = grade(player, _lines(games), progress=bars)
        facts = grades.facts(found, player)
    tell(facts, lambda facts: grades.text(facts, player.rules), as_json)


def _lines(path: str) -> Iterator[str]:
    """Yield the lines of a file, or of standard input. Raises PositionError if it does not hold games."""
    try:
        yield from text_lines(sys.stdin.buffer) if path == "-" else file_lines(path)
    except TextError as error:
        raise PositionError(str(error)) from None
    except OSError as error:
        raise BookError(f"{path} cannot be read ({error.strerror}): name a file of games, or - for them") from None
