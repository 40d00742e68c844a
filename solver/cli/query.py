"""`solver query`."""

from __future__ import annotations

import json
import sys
from typing import Any, BinaryIO

import click

from solver.base.errors import MissingState, PositionError
from solver.cli import common
from solver.play.analysis import OPPONENT
from solver.play.player import Player
from solver.report.answers import Answers, picture, text
from solver.report.records import plain


@click.command("query")
@click.argument("source", metavar="BOOK|GAME")
@click.argument("positions", nargs=-1, required=True, metavar="POSITION...")
@common.json_option
@click.option(
    "--svg",
    type=click.Path(),
    metavar="FILE",
    help="Also draw the board with the value of every move: an SVG file, for slides and papers. One POSITION.",
)
@click.option("--no-moves", is_flag=True, help="Show the value of the position only, not of its moves.")
@click.option("--book-only", is_flag=True, help="Do not search. If the book has no answer, the exit code is 3.")
@click.option("--explain", is_flag=True, help="Refute every move that gives value away, by the shortest line.")
@common.opponent_option
@common.search_options
@common.quiet_option
def command(
    source: str,
    positions: tuple[str, ...],
    as_json: bool,
    svg: str | None,
    no_moves: bool,
    book_only: bool,
    explain: bool,
    opponent: int | None,
    live: bool,
    own: str | None,
    quiet: bool,
    **search: Any,
) -> None:
    """Show the value of a position and of all its moves, best first.

    \b
    solver query connect-four-5x5.lmdb 4453
    solver query connect-four-5x5.lmdb 4453 --explain
    solver query connect-four-5x5.lmdb --no-moves - < positions.txt

    POSITION is one of

    \b
    4453, "a2a3 b7b6"    the moves from the start
    start                the start
    X.o/.X./..o          the rows of a board from the top, and 1 or 2 behind them if either side may be to move
    #12345               a state's number
    -                    one position a line from standard input; the answers are JSON lines

    a board as it is shown here, and for chess endings a FEN. A GAME is answered from the book that comes with the
    package (solver books). Without such a book a live search answers, within the budget; the first search also
    compiles. A complete book refuses a position that play cannot reach (exit code 4).

    In JSON a value that is not known exactly is null. Then "estimate" is the result of a search of limited depth: from
    -1 (lost) to 1 (won), or a margin. "evaluation" names its judge: "evaluate", the rules' own, or the FILE of
    --evaluate. Unknown moves come before moves that lose.

    In a game of chance a value is an expectation from -1 to 1, with the winning chance that it stands for. Dice and
    cards are listed as numbered outcomes; POSITION takes such a number as a move.

    With --opponent each move also has an estimate of its result, from -1 to 1 or as a margin, against an opponent that
    sees so many plies and errs beyond them. It comes from a look ahead at 600 moves at most, so it may be far off:
    the drawn move with the highest number is probably the hardest to answer.

    If moves score (dots-and-boxes, kalah), a value is the margin still to come. "gained" is the margin so far for the
    side to move. It is null if POSITION does not tell the moves so far, and in other games.
    """
    if search["evaluate"] is not None and book_only:
        raise click.UsageError("--book-only makes no estimates, so --evaluate has no part in it: leave one out")
    if search["module"] is not None and book_only:
        raise click.UsageError("--book-only does not search, so --module has no part in it: leave one out")
    if explain and (no_moves or "-" in positions):
        raise click.UsageError("--explain is about the moves of one position at a time: leave --no-moves and - out")
    if svg is not None:
        if len(positions) > 1 or positions[0] == "-":
            raise click.UsageError("--svg draws one position: name one POSITION")
        # What only a few questions want is loaded for them alone: a query is over in the time that it would take
        from solver.play.showing import checked_svg

        checked_svg(svg)
    if explain:
        from solver.report import reasons
    player = Player(
        common.open_source(source, own, live=live, quiet=quiet),
        live=not book_only,
        method="best" if opponent is None else "practical",
        opponent=OPPONENT if opponent is None else opponent,
        **search,
    )
    answers = Answers(player, moves=not no_moves)
    missing, inexact = 0, 0
    for position in positions:
        if position == "-":
            answer_lines(answers, sys.stdin.buffer)
            continue
        with common.thinking(search["seconds"], quiet=not sys.stderr.isatty()):
            facts = answers.ask(position)
            if explain:
                facts = reasons.explained(player, facts)
        if svg is not None:
            picture(player, facts).save(svg)
        if as_json:
            click.echo(json.dumps(plain(facts)))
        else:
            common.echo_values(text(player, facts))
            if explain:
                common.echo_values(reasons.text(facts))
        missing += facts.source == "missing"
        inexact += not facts.exact
    if missing and book_only:
        raise MissingState(f"{missing} of {len(positions)} positions not in {source}: leave out --book-only to search")
    if inexact and player.live:
        from solver.solving.ways.proof import refusal

        name = player.rules.name
        prove = "" if refusal(player.rules) else f", or solver prove {name} --from POSITION, which says who wins"
        common.note(f"not known within the budget: more --budget, or solver solve {name} -o BOOK{prove}", quiet=False)


def answer_lines(answers: Answers, stream: BinaryIO) -> None:
    """One JSON line for each line, sent before more lines are waited for: a program may ask and read in turns."""
    from solver.base.text import TextError, waiting_lines

    output, live = sys.stdout.buffer, answers.player.live
    try:
        for lines in waiting_lines(stream, "surrogateescape"):
            for line in lines:
                output.write(answers.line(line.strip()))
                if live:
                    output.flush()
            output.flush()
    except TextError as error:
        raise PositionError(str(error)) from None
