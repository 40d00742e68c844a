"""`solver prove`."""

from __future__ import annotations

import functools
from typing import Any

import click

from solver.base.kinds import AUTO, Method
from solver.book.solution import SIDES
from solver.cli import common
from solver.cli.info import report


@click.command("prove")
@click.argument("game")
@common.output("book", "Write the proof book here.", required=False)
@click.option("--from", "position", metavar="POSITION", help="Prove this position. Default: the start.")
@common.choice("--for side", SIDES, "Whose moves the book holds. Default: the winner's; in a draw, both players'.")
@common.choice(
    "--method",
    [AUTO, Method.ALPHABETA.value, Method.PROOF_NUMBER.value],
    "auto: both search in turns, until one of them has proved it.",
    default=AUTO,
)
@click.option("--time", "seconds", type=common.DURATION, metavar="TIME", help="Give up after this time: 2h, 30m, 90s.")
@click.option("--table", type=common.SIZE, metavar="SIZE", help="Memory of the searches' tables. Default: 1G.")
@common.memory_option
@click.option("--restart", is_flag=True, help="Discard the work of an interrupted proof.")
@common.seconds("--checkpoint", 0, 86_400, "Seconds between checkpoints of the search. Default: 120.", metavar="S")
@common.symmetry_option
@common.codec_option
@common.print_options
def command(
    game: str,
    book: str | None,
    position: str | None,
    side: str | None,
    method: str,
    seconds: float | None,
    as_json: bool,
    quiet: bool,
    **raw: Any,
) -> None:
    """Prove who wins a game that is too large to solve, and write one side's answers.

    \b
    solver prove hex:5 -o hex-5.lmdb
    solver prove connect-four:6,5 -o c4-6x5.lmdb
    solver prove connect-four:6,5 --for first -o c4-6x5-first.lmdb
    solver prove domineering:7,7 --time 2h -o domineering-7x7.lmdb
    solver prove connect-four:6,5 --from 33 -o c4-33.lmdb

    The book holds an answer to every reply of the other side, and little else. Values are win, draw or loss, without
    distances. `solver verify BOOK --play` proves the book by the rules alone. `query`, `play` and `export` take it like
    any book that leaves positions out.

    For games with tiers and without chance or margins. The same command gives the same bytes; another --table may give
    other moves. If the search is interrupted, or out of --time (exit code 7), the same command goes on: its work is in
    BOOK.proof.
    """
    from solver.base.options import Options
    from solver.book import game_of
    from solver.rules.reading import parse_position
    from solver.solving.pipeline import run
    from solver.solving.ways.proof import Proving

    bars = common.Bars(quiet)
    options = Options(progress=bars, say=functools.partial(common.note, quiet=quiet), **raw)
    played = None if position is None else parse_position(game_of(game), position)
    with bars:
        header = run(game, book, options, Proving(side, method, seconds, played and played.state))
    if book is not None:
        report(header, book, bars.seconds, as_json)
        return
    verdict = header.kind.verdict(header.root) if played is None else f"{header.root.leaning} for the side to move"
    seconds = bars.seconds
    facts = {"game": header.game, "method": header.method, "score": header.root.score, "seconds": seconds}
    common.tell(facts, lambda _: f"{header.game}: {verdict}, by {header.method} in {seconds:.1f} s", as_json)
