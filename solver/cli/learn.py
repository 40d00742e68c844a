"""`solver learn`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from solver.base import extras
from solver.base.errors import MethodError
from solver.book import Book
from solver.book.writer import check_target
from solver.cli.common import Bars, Text, game_option, json_option, live_option, note, open_source, quiet_option, tell
from solver.report import evaluations
from solver.rules.game import Game

if TYPE_CHECKING:
    from solver.compiled.lookahead.evaluation import Evaluation

STATES, DEPTH, GENERATIONS, HIDDEN = 200_000, 4, 400, "32"


def _layers(text: str) -> tuple[int, ...]:
    """The widths of one or two hidden layers: 32 or 32,16."""
    if not re.fullmatch(r"[0-9]{1,3}(,[0-9]{1,3})?", text) or any(int(width) < 1 for width in text.split(",")):
        raise ValueError(f"{text[:40]!r} are no layers: one or two widths up to 999, as 32 or 32,16")
    return tuple(int(width) for width in text.split(","))


LAYERS = Text("layers", _layers)


@click.command("learn")
@click.argument("source", metavar="BOOK|GAME")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    required=True,
    metavar="FILE",
    help="Write the evaluation here: FILE.eval.",
)
@click.option(
    "--method",
    type=click.Choice(["fit", "evolve"]),
    default="fit",
    help="fit: learn from values (default). evolve: learn from play.",
)
@click.option("--model", type=click.Choice(["linear", "network"]), help="Kind of evaluation. Default: linear.")
@click.option("--hidden", type=LAYERS, metavar="N[,N]", help=f"Widths of a network's hidden layers. Default: {HIDDEN}.")
@click.option(
    "--states", type=click.IntRange(100, 50_000_000), metavar="N", help=f"States to learn from. Default: {STATES:,}."
)
@click.option(
    "--depth", type=click.IntRange(1, 60), metavar="N", help=f"Depth of searches, without a book. Default: {DEPTH}."
)
@click.option(
    "--generations",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help=f"Stop after so many generations. Default: {GENERATIONS}.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 2), default=0, metavar="S", help="Make other random choices. Default: 0."
)
@live_option
@json_option
@game_option
@quiet_option
def command(source: str, output: str, as_json: bool, live: bool, own: str | None, quiet: bool, **options: Any) -> None:
    """Learn to evaluate positions.

    \b
    solver learn connect-four-5x5.lmdb -o c4.eval
    solver learn connect-four-5x5.lmdb -o c4.eval --model network --hidden 32,16
    solver learn connect-four:6,5 --states 20000 --depth 6 -o c4.eval
    solver learn connect-four:5,5 --method evolve -o c4.eval

    The values come from a BOOK, whose states are drawn evenly by ply and by value. For a GAME without a complete book,
    or with --live, they come from searches of states of random play. --method evolve needs no values: it plays.

    FILE.eval is data: the features of the rules, the weights, its origin, and its quality on states that it has not
    learned from. The same seed learns the same. Install solverbook[learn] first. `solver match c4.eval evaluate` tells
    how well it plays.
    """
    extras.require_learning()
    _check_options(options)
    from solver.compiled.lookahead.evaluation import MAGIC, write
    from solver.learning import SOLVE_IT

    check_target(output, rb"\A" + MAGIC)
    live = live or options["method"] == "evolve"
    opened = open_source(source, own, live=live, quiet=quiet, chance=f"not learned: {SOLVE_IT}")
    book = opened.book
    if book is not None and book.header.scope != "complete" and not os.path.exists(source):
        note(f"which holds {book.header.scope} only: states are searched instead", quiet)
        book = None
    with opened, Bars(quiet) as bars:
        evaluation = _learned(book, opened.game, options, bars, quiet)
    write(output, evaluation)
    tell(evaluations.facts(evaluation, output), evaluations.text, as_json)


def _check_options(options: dict[str, Any]) -> None:
    """Raise MethodError for options that would be ignored."""
    evolves = options["method"] == "evolve"
    idle = ("model", "hidden", "states", "depth") if evolves else ("generations",)
    for name in idle:
        if options[name] is not None:
            raise MethodError(f"--method {options['method']} makes no use of --{name}: leave it out")
    if options["hidden"] is not None and options["model"] != "network":
        raise MethodError("--hidden is for a network: add --model network")


def _learned(book: Book | None, game: Game, options: dict[str, Any], bars: Bars, quiet: bool) -> Evaluation:
    if options["method"] == "evolve":
        from solver.learning.evolution import evolve

        return evolve(game, generations=options["generations"] or GENERATIONS, seed=options["seed"], progress=bars)
    from solver.learning.training import Model, learn

    hidden = (options["hidden"] or _layers(HIDDEN)) if options["model"] == "network" else ()
    source: Book | Game = game if book is None else book
    if book is not None and options["depth"] is not None:
        raise MethodError("--depth is for searches, a book has values: leave it out, or add --live to a game's name")
    if book is not None and book.header.scope != "complete":
        note(f"{book.path.name} holds {book.header.scope} only: what lies beyond is learned from nothing", quiet)
    return learn(
        source,
        model=Model(hidden, options["seed"]),
        states=options["states"] or STATES,
        depth=options["depth"] or DEPTH,
        progress=bars,
    )
