"""`solver match`."""

from __future__ import annotations

import contextlib
from typing import Any

import click

from solver.base import extras
from solver.base.files import write_whole
from solver.cli.common import Bars, Seconds, note, open_book, print_options, tell, workers_option
from solver.report import matches
from solver.rules.game import Rules


@click.command("match")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--game", "named", metavar="GAME", help="The game, if no player's file names it, or your own rules.")
@click.option(
    "--games", type=click.IntRange(2, 1_000_000), default=400, metavar="N", help="Number of games. Default: 400."
)
@click.option("--depth", type=click.IntRange(1, 99), default=1, metavar="N", help="Depth of evaluations. Default: 1.")
@click.option(
    "--plies",
    type=click.IntRange(0, 200),
    metavar="N",
    help="Random plies of an opening. Default: as few as give enough openings.",
)
@click.option(
    "--budget",
    type=Seconds(0.001, 1e6),
    default=1.0,
    metavar="SECONDS",
    help="Seconds for a move of alphabeta and of engines. Default: 1.",
)
@click.option(
    "--evaluate", type=click.Path(), metavar="FILE", help="Play with this evaluation beyond the end of a grown book."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 2), default=0, metavar="S", help="Choose other openings. Default: 0."
)
@click.option("--book", "judge", metavar="BOOK|GAME", help="Judge by this book how often each player keeps the value.")
@click.option(
    "--save",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Write the games here, one a line, as grade takes them.",
)
@workers_option
@print_options
def command(first: str, second: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Let two players meet, and say who is better.

    \b
    solver match tic-tac-toe random
    solver match c4.eval evaluate
    solver match c4.eval@2 evaluate@6 --games 1000 --book connect-four-5x5.lmdb
    solver match random evaluate --game othello
    solver match connect-four:5,4@easy connect-four:5,4@medium
    solver match c4.eval@8 engine:"my_engine --threads 1" --budget 0.2

    Each random opening is played twice, with both colours. A and B are

    \b
    FILE.eval          an evaluation that `solver learn` wrote
    BOOK, GAME         a complete or grown book, or the one that comes with the package
    BOOK@LEVEL         a complete book that errs as solver play --level does: beginner to perfect
    evaluate           the rules' own evaluation
    alphabeta          exact search within the budget
    random             random moves
    engine:COMMAND     a program that speaks the Universal Game Interface, as `solver ugi` does

    An evaluation looks --depth plies ahead, or as many as follow its @. Beyond its last position a grown book is
    played on by --evaluate, or by the rules' own evaluation. An engine has --budget for a move, or the plies after its
    @. It loses a game if it ends, names no legal move, or is silent for 5 s beyond its budget (60 s at a depth).

    The interval is of 95 %, with the two games of an opening as one observation. After 2,000 plies a game is drawn.
    """
    extras.require_kernels()
    from solver.book.writer import UNMARKED, check_target
    from solver.compiled.lookahead.evaluation import read
    from solver.learning.matches import judged, match
    from solver.learning.players import Setting, chooser, contender, game_between

    own = options["named"]
    if options["save"] not in (None, "-"):
        check_target(options["save"], UNMARKED)
    both = contender(first, own), contender(second, own)
    rules = Rules(game_between(both, options["named"]))
    evaluation = None if options["evaluate"] is None else read(options["evaluate"])
    setting = Setting(rules, options["depth"], options["seed"], options["budget"], options["workers"], evaluation)
    with contextlib.ExitStack() as ended:
        players = []
        for number, player in enumerate(both):
            players.append(chooser(player, setting._replace(seed=setting.seed + number)))
            ended.callback(getattr(players[-1], "close", int))
        bars = ended.enter_context(Bars(quiet))
        played = match(
            rules, *players, games=options["games"], plies=options["plies"], seed=options["seed"], progress=bars
        )
    if len(played.games) < options["games"] - 1:
        note(f"the game has {len(played.games) // 2} such openings: that is {len(played.games)} games", quiet)
    tallies = None
    if options["judge"] is not None:
        with open_book(options["judge"], own, quiet=quiet) as book:
            tallies = judged(rules, played, book)
    if options["save"] is not None:
        lines = "".join(f"{line}\n" for line in played.games)
        if options["save"] == "-":
            click.echo(lines, nl=False)
        else:
            write_whole(options["save"], lines.encode())
    tell(matches.facts(rules.name, (first, second), played, tallies), matches.text, as_json)
