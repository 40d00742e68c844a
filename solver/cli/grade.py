"""`solver grade`."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import click

from solver.base.errors import BookError, PositionError
from solver.base.files import lines, open_input
from solver.base.value import Value
from solver.cli.common import game_option, in_words, json_option, open_book, quiet_option
from solver.play.grading import Graded, Grades, Tally, grade
from solver.play.player import Player
from solver.rules.game import Rules

SIDES = ("first player", "second player")


@click.command("grade")
@click.argument("source", metavar="BOOK|GAME")
@click.argument("games", type=click.Path(allow_dash=True))
@json_option
@game_option
@quiet_option
def command(source: str, games: str, as_json: bool, game_text: str | None, quiet: bool) -> None:
    """Judge games by a book: the share of perfect moves, of moves that keep the value, and the blunders.

    GAMES is a file, or `-`, with a game a line: the moves from the start, as `query` takes them. A perfect move keeps
    value and distance; one that keeps the value may win later, or lose sooner; any other is a blunder. Moves of which
    the book does not know what they are worth are counted apart.

    \b
    solver grade connect-four-5x5.lmdb games.txt
    solver grade connect-four-5x5.lmdb - --json < games.txt
    """
    with open_book(source, game_text, quiet=quiet) as opened:
        player = Player(opened, live=False)
        grades = grade(player, _lines(games))
    click.echo(json.dumps(describe(grades)) if as_json else text(grades, player.rules))


def _lines(path: str) -> Iterator[str]:
    """The lines of a file, or of standard input. Raises PositionError for what holds no games."""
    number = 0
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if path == "-" else open_input(path) as file:
            for line in lines(file):
                number += 1
                yield line.decode(errors="surrogateescape")
    except ValueError as error:
        raise PositionError(f"line {number + 1}: {error}: give a game a line") from None
    except OSError as error:
        raise BookError(f"{path} cannot be read ({error.strerror}): name a file of games, or - for them") from None


def describe(grades: Grades) -> dict[str, Any]:
    """The facts of grades; shares are of the moves whose value is known, null without any."""
    return {
        "games": grades.games,
        "unknown": grades.unknown,
        **_shares(grades.total),
        "sides": [_shares(tally) for tally in grades.sides],
        "blunders": [_blunder(blunder) for blunder in grades.blunders],
    }


def _shares(tally: Tally) -> dict[str, Any]:
    shares = {name: getattr(tally, name) / tally.moves if tally.moves else None for name in ("perfect", "kept")}
    return {**tally._asdict(), "share_perfect": shares["perfect"], "share_kept": shares["kept"]}


def _blunder(blunder: Graded) -> dict[str, Any]:
    facts = blunder._asdict()
    for name in ("before", "after"):
        value: Value = facts[name]
        facts[name] = {"value": value.outcome, **value._asdict()}
    return facts


def text(grades: Grades, rules: Rules) -> str:
    """The grades for people: a row for both, one for each side, then the blunders."""
    games = f"{grades.games:,} game{'' if grades.games == 1 else 's'}"
    lines = [f"{games}, {grades.total.moves:,} moves judged, {grades.unknown:,} not known to the book"]
    for name, tally in zip(("all", *SIDES), (grades.total, *grades.sides), strict=True):
        if tally.moves:
            lines.append(
                f"{name:13} {tally.perfect / tally.moves:8.2%} perfect  {tally.kept / tally.moves:8.2%} keep the value"
                f"  blunders {tally.moves - tally.kept:,}"
            )
    for blunder in grades.blunders:
        before, after = (in_words(value, rules) for value in (blunder.before, blunder.after))
        lines.append(
            f"line {blunder.line}, ply {blunder.ply}: {blunder.move} at #{blunder.state} makes {after} of {before};"
            f" best {' '.join(blunder.best)}"
        )
    return "\n".join(lines)
