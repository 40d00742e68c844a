"""`solver grow`."""

from __future__ import annotations

import functools
import time
from typing import Any

import click

from solver.base.errors import BookError, PositionError
from solver.base.text import TextError, read_text
from solver.cli.common import (
    DURATION,
    Bars,
    Seconds,
    codec_option,
    evaluate_option,
    note,
    print_options,
    workers_option,
)
from solver.cli.info import report

MOST_GAMES = 1 << 28  # bytes of a file of games


@click.command("grow")
@click.argument("game")
@click.option("-o", "--output", "book", type=click.Path(), required=True, metavar="BOOK", help="The book that grows.")
@click.option("--positions", type=click.IntRange(1, 10**9), metavar="N", help="Until it has so many.")
@click.option("--time", "seconds", type=DURATION, metavar="TIME", help="Or for so long: 2h, 30m, 90s.")
@click.option("--depth", type=click.IntRange(1, 99), metavar="N", help="Plies of its searches; 8.")
@click.option("--exact", type=click.IntRange(1, 10**12), metavar="N", help="Nodes of each exact search; 32,768.")
@evaluate_option
@click.option("--add", type=click.Path(exists=True, dir_okay=False), metavar="FILE", help="Games, to put in first.")
@click.option("--for", "side", type=click.Choice(["first", "second"]), help="Of this side the best moves alone.")
@click.option("--error", type=Seconds(0, 1e6), metavar="E", help="Follow moves that lose so much: 0.1; of margins 1.")
@click.option("--no-symmetry", is_flag=True, help="Keep symmetric states apart.")
@click.option("--restart", is_flag=True, help="Begin anew, whatever the file holds.")
@click.option("--checkpoint", type=Seconds(0, 86_400), metavar="S", help="Seconds between two books; 30.")
@codec_option
@workers_option
@print_options
def command(game: str, book: str, add: str | None, as_json: bool, quiet: bool, **asked: Any) -> None:
    """Grow an opening book of a game too large to solve, where play is most likely.

    Values are exact where a search comes to the end of the game, else estimates of a search of --depth plies by the
    rules' evaluate, or that of --evaluate; each says which. The position to which best play leads, and play that loses
    little on the way, is expanded first. Where exact search soon comes to an end, give it more: --exact 4000000 nodes,
    a second of one core or less, solve most positions of connect-four six plies from the start. A book that is there
    grows further; what was interrupted goes on. The same command gives the same bytes, whatever --workers, but with
    --time.

    \b
    solver grow connect-four -o c4.lmdb --positions 10000
    solver grow othello:6,6 -o othello.lmdb --evaluate othello.eval --time 2h --depth 10
    solver grow breakthrough:5,6 -o bt.lmdb --add games.txt --for first --positions 50000
    """
    if asked["positions"] is None and asked["seconds"] is None:
        raise click.UsageError("say how far: --positions N, --time 2h, or both")
    from solver.base.options import Options
    from solver.solving.pipeline import grow
    from solver.solving.ways.grown import Plan

    bars, say, started = Bars(quiet), functools.partial(note, quiet=quiet), time.perf_counter()
    plan = Plan(games=() if add is None else _lines(add), **{name: asked.pop(name) for name in OF_PLAN})
    options = Options(symmetry=not asked.pop("no_symmetry"), progress=bars, say=say, **asked)
    with bars:
        header = grow(game, book, plan, options)
    if plan.positions is not None and header.stored < plan.positions and plan.seconds is None:
        note("all play within --error is in the book, or known: allow more", quiet)
    report(header, book, time.perf_counter() - started, as_json)


OF_PLAN = ("positions", "seconds", "depth", "exact", "evaluate", "side", "error")


def _lines(path: str) -> list[str]:
    """The games of a file."""
    try:
        return read_text(path, MOST_GAMES).split("\n")
    except TextError as error:
        raise PositionError(f"{path}, {error}") from None
    except OSError as error:
        raise BookError(f"{path} cannot be read ({error.strerror}): name a file of games, one a line") from None
