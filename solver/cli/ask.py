"""`solver query`, `line` and `info`: questions to a book.

A query is over in the time that more imports would take: what only the others need they import themselves.
"""

from __future__ import annotations

import json
import sys
from typing import Any, BinaryIO

import click

from solver.base.errors import MissingState, PositionError
from solver.cli import common
from solver.play.analysis import OPPONENT
from solver.play.player import Player
from solver.report import answers
from solver.rules.game import is_built_in
from solver.search import SECONDS


@click.command("query")
@click.argument("source", metavar="BOOK|GAME")
@click.argument("positions", nargs=-1, required=True, metavar="POSITION...")
@common.json_option
@common.file(
    "--svg", "Also draw the board with the value of every move: an SVG file, for slides and papers. One POSITION."
)
@common.flag("--no-moves", "Show the value of the position only, not of its moves.")
@common.flag("--book-only", "Do not search. If the book has no answer, the exit code is 3.")
@common.flag("--explain", "Refute every move that gives value away, by the shortest line.")
@common.opponent_option
@common.search_options
@common.quiet_option
def query_command(
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
    package (solver books). Without such a book a live search answers, within the budget; the first search also compiles
    the rules, which takes seconds. A complete book refuses a position that play cannot reach (exit code 4).

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
        from solver.play.showing import checked_svg

        checked_svg(svg)
    player = Player(
        common.open_source(source, own, live=live, quiet=quiet),
        live=not book_only,
        method="best" if opponent is None else "practical",
        opponent=OPPONENT if opponent is None else opponent,
        **search,
    )
    asked = answers.Answers(player, moves=not no_moves, as_text=not as_json and "-" not in positions)
    missing, inexact = 0, 0
    for position in positions:
        if position == "-":
            _answer_lines(asked, sys.stdin.buffer)
            continue
        with common.thinking(search["seconds"], quiet=not sys.stderr.isatty()):
            facts = asked.ask(position)
            if explain:
                facts = asked.explained(facts)
        if svg is not None:
            answers.picture(player, facts).save(svg)
        if as_json:
            click.echo(json.dumps(asked.records.plain(facts)))
        else:
            common.echo_values(answers.text(player, facts))
            if explain:
                common.echo_values(answers.reasons(facts))
        missing += facts.source == "missing"
        inexact += not facts.exact
    if missing and book_only:
        raise MissingState(f"{missing} of {len(positions)} positions not in {source}: leave out --book-only to search")
    if inexact and player.live:
        from solver.solving.ways.proof import refusal

        name = player.rules.name
        prove = "" if refusal(player.rules) else f", or solver prove {name} --from POSITION, which says who wins"
        common.note(f"not known within the budget: more --budget, or solver solve {name} -o BOOK{prove}", quiet=False)


def _answer_lines(asked: answers.Answers, stream: BinaryIO) -> None:
    """One JSON line for each line, sent before more lines are waited for: a program may ask and read in turns."""
    from solver.base.text import TextError, waiting_lines

    output, live = sys.stdout.buffer, asked.player.live
    try:
        for lines in waiting_lines(stream, "surrogateescape"):
            for line in lines:
                output.write(asked.line(line.strip()))
                if live:
                    output.flush()
            output.flush()
    except TextError as error:
        raise PositionError(str(error)) from None


@click.command("line")
@click.argument("source", metavar="BOOK|GAME")
@click.argument("position", default="start", metavar="[POSITION]")
@common.flag("--longest", "Start from the longest win of the book.")
@common.number("--most", 1, 100_000, "Stop after this many plies. Default: 1000.", default=1000)
@common.seconds(
    "--budget",
    0.001,
    1e6,
    f"Seconds of search for each move. Default: {SECONDS:g} without a book, no search with one.",
)
@common.json_option
@common.module_option
@common.live_option
@common.game_option
@common.quiet_option
def line_command(
    source: str,
    position: str,
    longest: bool,
    most: int,
    budget: float | None,
    as_json: bool,
    module: str | None,
    live: bool,
    own: str | None,
    quiet: bool,
) -> None:
    """Print best play from a position to the end: quick wins, slow losses.

    \b
    solver line connect-four-5x5.lmdb
    solver line connect-four-5x5.lmdb 4453
    solver line krk.lmdb --longest
    solver line connect-four --budget 10

    If a position comes back, the line ends there as a draw. In a game of chance the line takes the outcome whose value
    is closest to the expectation. A GAME without a book of its own is searched live. Past the end of a book the line is
    searched only with --budget. If the next move is not known, the line ends and says so.
    """
    opened = common.open_source(source, own, live=live, quiet=quiet)
    if longest:
        if opened.book is None or opened.book.header.longest is None:
            raise PositionError(f"{source} has no longest win: name a position")
        position = f"#{opened.book.header.longest[1]}"
    seconds = budget or SECONDS
    goes_on = opened.book is None or budget is not None
    player = Player(opened, seconds=seconds, live=goes_on, module=module)
    with common.thinking(seconds, quiet=not sys.stderr.isatty()):
        facts = answers.best_line(player, position, most)
    common.tell(facts, lambda answer: answers.line_text(player.game, answer), as_json)


@click.command("info")
@click.argument("source", metavar="BOOK|GAME")
@common.flag("--counts", "Also count by tier and by distance.")
@common.file("--plot", "Draw wins, draws and losses by tier and distance, or expectations, as .png or .svg.")
@common.print_options
def info_command(source: str, counts: bool, plot: str | None, as_json: bool, quiet: bool) -> None:
    """Describe a book: game, value, counts, longest win and its line, size.

    \b
    solver info connect-four-5x5.lmdb
    solver info connect-four:4,4                    the book that comes with the package
    solver info connect-four-5x5.lmdb --counts
    solver info connect-four-5x5.lmdb --plot connect-four.svg
    """
    from solver.report import books

    with common.open_book(source, quiet=quiet) as opened:
        facts = books.facts(opened.header, opened.size)
        kind = opened.header.kind
        numbers = None
        if plot is not None and kind.error:
            from solver.edit.comparing import expectations

            numbers = expectations(opened)
        gaps = opened.header.trim is not None and not opened.header.is_gapless
        if facts["longest"] and is_built_in(opened.header.game) and not gaps:
            # What is not in the book is not needed
            player = Player(opened, live=False)
            facts["longest"]["line"] = answers.best_line(player, facts["longest"]["position"])["moves"]
    if plot is not None:
        from solver.report import charts

        charts.draw(facts, plot, numbers)
    common.tell(facts, lambda answer: books.text(answer, kind, counts), as_json)
