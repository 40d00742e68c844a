"""`solver learn` and `solver match`: evaluations, and who plays better by them."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

import click

from solver.base import extras
from solver.base.errors import MethodError
from solver.base.files import write_whole
from solver.book.writer import UNMARKED, check_target
from solver.cli import common
from solver.report import players as reports
from solver.rules.game import Rules

STATES, DEPTH, GENERATIONS, HIDDEN = 200_000, 4, 400, "32"


def _layers(text: str) -> tuple[int, ...]:
    """The widths of one or two hidden layers: 32 or 32,16."""
    if not re.fullmatch(r"[0-9]{1,3}(,[0-9]{1,3})?", text) or any(int(width) < 1 for width in text.split(",")):
        raise ValueError(f"{text[:40]!r} are not layers: one or two widths up to 999, as 32 or 32,16")
    return tuple(int(width) for width in text.split(","))


LAYERS = common.Text("layers", _layers)


@click.command("learn")
@click.argument("source", metavar="BOOK|GAME")
@common.output("output", "Write the evaluation here: FILE.eval.", "FILE", type=click.Path(dir_okay=False))
@common.choice(
    "--method", ["fit", "evolve"], "fit: learn from values (default). evolve: learn from play.", default="fit"
)
@common.choice("--model", ["linear", "network"], "Kind of evaluation. Default: linear.")
@click.option("--hidden", type=LAYERS, metavar="N[,N]", help=f"Widths of a network's hidden layers. Default: {HIDDEN}.")
@common.number("--states", 100, 50_000_000, f"States to learn from. Default: {STATES:,}.")
@common.number("--depth", 1, 60, f"Depth of searches, without a book. Default: {DEPTH}.")
@common.number("--generations", 1, 100_000, f"Stop after so many generations. Default: {GENERATIONS}.")
@common.number("--seed", 0, 2**31 - 2, "Make other random choices. Default: 0.", metavar="S", default=0)
@common.live_option
@common.json_option
@common.game_option
@common.quiet_option
def learn_command(
    source: str, output: str, as_json: bool, live: bool, own: str | None, quiet: bool, **options: Any
) -> None:
    """Learn to evaluate positions.

    \b
    solver learn connect-four-5x5.lmdb -o c4.eval
    solver learn connect-four-5x5.lmdb -o c4.eval --model network --hidden 32,16
    solver learn connect-four:6,5 --states 20000 --depth 6 -o c4.eval
    solver learn connect-four:5,5 --method evolve -o c4.eval

    The values come from a BOOK, whose states are drawn evenly by ply and by value. For a GAME without a complete book,
    or with --live, they come from searches of states of random play. --method evolve needs no values: it plays.

    FILE.eval is data: the features of the rules, the weights, its origin, and its quality on states that it has not
    learned from. The same seed gives the same evaluation. Install solverbook[learn] first. `solver match c4.eval
    evaluate` tells how well it plays.
    """
    extras.require_learning()
    evolves, seed = options["method"] == "evolve", options["seed"]
    for name in ("model", "hidden", "states", "depth") if evolves else ("generations",):
        if options[name] is not None:
            raise MethodError(f"--method {options['method']} makes no use of --{name}: leave it out")
    if options["hidden"] is not None and options["model"] != "network":
        raise MethodError("--hidden is for a network: add --model network")
    from solver.compiled.lookahead.evaluation import MAGIC, write
    from solver.learning import evolution, training
    from solver.learning.moves import SOLVE_IT

    check_target(output, rb"\A" + MAGIC)
    opened = common.open_source(source, own, live=live or evolves, quiet=quiet, chance=f"not learned: {SOLVE_IT}")
    book = opened.book
    if book is not None and book.header.scope != "complete" and not os.path.exists(source):
        common.note(f"which holds {book.header.scope} only: states are searched instead", quiet)
        book = None
    with opened, common.Bars(quiet) as bars:
        if evolves:
            generations = options["generations"] or GENERATIONS
            evaluation = evolution.evolve(opened.game, generations=generations, seed=seed, progress=bars)
        else:
            if book is not None and options["depth"] is not None:
                raise MethodError(
                    "--depth is for searches, a book has values: leave it out, or add --live to a game's name"
                )
            if book is not None and book.header.scope != "complete":
                reason = "what lies beyond is learned from nothing"
                common.note(f"{book.path.name} holds {book.header.scope} only: {reason}", quiet)
            evaluation = training.learn(
                opened.game if book is None else book,
                hidden=(options["hidden"] or _layers(HIDDEN)) if options["model"] == "network" else (),
                seed=seed,
                states=options["states"] or STATES,
                depth=options["depth"] or DEPTH,
                progress=bars,
            )
    write(output, evaluation)
    common.tell(reports.evaluation_facts(evaluation, output), reports.evaluation_text, as_json)


@click.command("match")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--game", "named", metavar="GAME", help="The game, if no player's file names it, or your own rules.")
@common.number("--games", 2, 1_000_000, "Number of games. Default: 400.", default=400)
@common.number("--depth", 1, 99, "Depth of evaluations. Default: 1.", default=1)
@common.number("--plies", 0, 200, "Random plies of an opening. Default: as few as give enough openings.")
@common.seconds(
    "--budget",
    0.001,
    1e6,
    "Seconds for a move of alphabeta and of engines. Default: 1.",
    default=1.0,
)
@common.file("--evaluate", "Play with this evaluation beyond the end of a grown book.")
@common.number("--seed", 0, 2**31 - 2, "Choose other openings. Default: 0.", metavar="S", default=0)
@click.option("--book", "judge", metavar="BOOK|GAME", help="Judge by this book how often each player keeps the value.")
@common.file("--save", "Write the games here, one a line, as grade takes them.", type=click.Path(allow_dash=True))
@common.workers_option
@common.print_options
def match_command(first: str, second: str, as_json: bool, quiet: bool, **options: Any) -> None:
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

    The interval has 95 % confidence. It counts the two games of an opening as one observation. After 2,000 plies a game
    is drawn.
    """
    extras.require_kernels()
    from solver.compiled.lookahead.evaluation import read
    from solver.learning import matches, players

    own = options["named"]
    if options["save"] not in (None, "-"):
        check_target(options["save"], UNMARKED)
    both = players.contender(first, own), players.contender(second, own)
    rules = Rules(players.game_between(both, options["named"]))
    evaluation = None if options["evaluate"] is None else read(options["evaluate"])
    setting = players.Setting(
        rules, options["depth"], options["seed"], options["budget"], options["workers"], evaluation
    )
    with contextlib.ExitStack() as ended:
        choosers = []
        for number, player in enumerate(both):
            choosers.append(players.chooser(player, setting._replace(seed=setting.seed + number)))
            ended.callback(getattr(choosers[-1], "close", int))
        bars = ended.enter_context(common.Bars(quiet))
        played = matches.match(
            rules, *choosers, games=options["games"], plies=options["plies"], seed=options["seed"], progress=bars
        )
    if len(played.games) < options["games"] - 1:
        common.note(f"the game has {len(played.games) // 2} such openings: that is {len(played.games)} games", quiet)
    tallies = None
    if options["judge"] is not None:
        with common.open_book(options["judge"], own, quiet=quiet) as book:
            tallies = matches.judged(rules, played, book)
    if options["save"] is not None:
        lines = "".join(f"{line}\n" for line in played.games)
        if options["save"] == "-":
            click.echo(lines, nl=False)
        else:
            write_whole(options["save"], lines.encode())
    common.tell(reports.match_facts(rules.name, (first, second), played, tallies), reports.match_text, as_json)
