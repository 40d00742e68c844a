"""`solver line`."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from solver.base.errors import MissingState, PositionError
from solver.book import Book
from solver.cli.common import (
    Seconds,
    game_option,
    in_all,
    in_plies,
    in_words,
    json_option,
    live_option,
    open_source,
    quiet_option,
    thinking,
)
from solver.play.live import SECONDS
from solver.play.player import Player
from solver.rules.game import game_text as text_of
from solver.rules.notation import format_action, parse_position, show


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
    live: bool,
    game_text: str | None,
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
    book, game = open_source(source, game_text, live=live, quiet=quiet)
    if longest:
        if book is None or book.header.longest is None:
            raise PositionError(f"{source} has no longest win: name a position")
        position = f"#{book.header.longest[1]}"
    seconds = budget or SECONDS
    player = Player({} if book is None else book, game, seconds=seconds, live=book is None or budget is not None)
    with thinking(seconds, quiet=not sys.stderr.isatty()):
        facts = describe_line(player, position, most)
    if as_json:
        click.echo(json.dumps(facts))
        return
    click.echo(show(game, parse_position(game, position).state))
    click.echo(f"\n{facts['words']} for the side to move")
    for first in range(0, len(facts["moves"]), 10):
        click.echo(f"{first + 1:4}  " + " ".join(facts["moves"][first : first + 10]))
    click.echo(f"\n{show(game, facts['end'])}\n\n{facts['ending']}")


def describe_line(player: Player, position: str, most: int = 1000) -> dict[str, Any]:
    """The facts of a line: its moves, where it ends, and how. Raises MissingState if the position is not known."""
    game = player.game
    parsed = parse_position(game, position)
    state = parsed.state
    value = player.value(state).value
    if value is None:
        raise MissingState(f"{position} is not known: {_remedy(player)}")
    moves, states = [], [state]
    known = True
    try:
        for action, child in player.line(state, most):
            moves.append(format_action(game, states[-1], action))
            states.append(child)
    except MissingState:
        known = False
    if not known:
        here = in_words(player.value(states[-1]).value, player.rules)
        whose = "the book ends here" if isinstance(player.solution, Book) else "no more is known"
        ending = f"{whose}: {here} for the side to move; {_remedy(player)}"
    elif game.is_terminal(states[-1]):
        ending = "the game is over"
    elif states[-1] in states[:-1]:
        ending = "the position repeats" + (": a draw" if player.rules.chance is None else "")
    else:
        ending = f"cut off after {in_plies(most)}: --most"
    return {
        "position": position,
        "state": state,
        "score": value.score,
        "distance": value.distance,
        "words": in_all(value, player.rules, parsed.gained),
        "moves": moves,
        "end": states[-1],
        "ending": ending,
    }


def _remedy(player: Player) -> str:
    """How to know more than the player does."""
    solve = f"solver solve {text_of(player.game)} -o BOOK"
    if player.live:
        return f"more --budget than {player.seconds:g} s a move, or {solve}"
    if player.rules.chance is not None or (isinstance(player.solution, Book) and player.solution.header.is_gapless):
        return "name a position that play can reach"
    return f"--budget SECONDS searches on, {solve} knows all"
