"""`solver grow`."""

from __future__ import annotations

import functools
from typing import Any

import click

from solver.cli import common
from solver.cli.info import report


@click.command("grow")
@click.argument("game")
@common.output("book", "Write the book here, or let it grow.")
@common.number("--positions", 1, 10**9, "Stop at this number of positions.")
@click.option("--time", "seconds", type=common.DURATION, metavar="TIME", help="Stop after this time: 2h, 30m, 90s.")
@common.number("--depth", 1, 99, "Depth of the searches that estimate. Default: 8.")
@common.number("--exact", 1, 10**12, "Nodes of each exact search. Default: 32,768.")
@common.evaluate_option
@click.option(
    "--add",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Add the positions of these games first.",
)
@common.choice("--for side", ["first", "second"], "Expand only the best moves of this side.")
@common.seconds("--error", 0, 1e6, "Follow moves that lose at most this. Default: 0.1; of margins 1.", metavar="E")
@common.symmetry_option
@click.option("--restart", is_flag=True, help="Begin anew, even if the file has a book.")
@common.seconds("--checkpoint", 0, 86_400, "Seconds between two writes of the book. Default: 30.", metavar="S")
@common.codec_option
@common.workers_option
@common.print_options
def command(game: str, book: str, add: str | None, as_json: bool, quiet: bool, **asked: Any) -> None:
    """Grow an opening book of a game that is too large to solve.

    \b
    solver grow connect-four -o c4.lmdb --positions 10000
    solver grow othello:6,6 -o othello.lmdb --evaluate othello.eval --time 2h --depth 10
    solver grow breakthrough:5,6 -o bt.lmdb --add games.txt --for first --positions 50000

    It expands the position that best play reaches first, then those of play that loses little. A value is exact if a
    search comes to the end of the game. Otherwise it is an estimate, by a search of --depth plies; each value says
    which. If exact search soon ends in your game, give it more: with --exact 4000000 nodes, at most a second of one
    core, it solves most positions of connect-four six plies from the start.

    An existing book grows further, and an interrupted one goes on. The same command gives the same bytes for any
    --workers, except with --time.
    """
    if asked["positions"] is None and asked["seconds"] is None:
        raise click.UsageError("give a limit: --positions N, --time 2h, or both")
    from solver.base.options import Options
    from solver.solving.pipeline import grow
    from solver.solving.ways.grown import Growing

    bars, say = common.Bars(quiet), functools.partial(common.note, quiet=quiet)
    games = () if add is None else tuple(common.games_of(add))
    way = Growing(games=games, **{name: asked.pop(name) for name in Growing.__annotations__ if name in asked})
    options = Options(progress=bars, say=say, **asked)
    with bars:
        header = grow(game, book, way, options)
    if way.positions is not None and header.stored < way.positions and way.seconds is None:
        common.note("all play within --error is in the book, or known: allow more", quiet)
    report(header, book, bars.seconds, as_json)
