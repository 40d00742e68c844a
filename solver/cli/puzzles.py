"""`solver puzzles`."""

from __future__ import annotations

import csv
import json
import sys
from typing import Any

import click

from solver.base.errors import MissingState
from solver.base.files import write_whole
from solver.book.writer import check_target
from solver.cli.common import SPAN, Bars, choice, game_option, json_option, note, number, open_book, quiet_option
from solver.puzzles import find_puzzles
from solver.report import puzzles
from solver.rules.game import Rules


@click.command("puzzles")
@click.argument("source", metavar="BOOK|GAME")
@number("-n number", 1, 100_000, "Puzzles. Default: 10.", default=10)
@choice("--goal", ["win", "draw", "margin"], "What one move alone reaches. Default: win, or margin where moves score.")
@click.option("--win-in", type=SPAN, metavar="M..N", help="Only wins in so many plies: 5..9, 5.., ..9 or 5.")
@choice(
    "--unique",
    ["first", "all"],
    "first: one winning move now. all: one after every longest defence, too.",
    default="first",
)
@choice(
    "--format form",
    ["text", "csv", "tasks"],
    "text: boards. csv: a table. tasks: prompts for language models, a line of JSON each.",
    default="text",
)
@click.option("--html", type=click.Path(), metavar="FILE", help="Write a sheet to print: boards, and solutions behind.")
@json_option
@game_option
@quiet_option
def command(
    source: str, number: int, form: str, html: str | None, as_json: bool, own: str | None, quiet: bool, **wanted: Any
) -> None:
    """Find puzzles in a book: positions in which one move alone is good.

    \b
    solver puzzles connect-four-5x5.lmdb -n 50 --win-in 5..9 --unique all
    solver puzzles connect-four-5x5.lmdb -n 12 --html sheet.html
    solver puzzles connect-four-5x5.lmdb --format tasks > tasks.jsonl

    The hardest come first: long wins, and many wrong moves that look good four plies deep. No two are alike by symmetry
    or by a move or two. The same command prints the same bytes. The rules alone prove every win before it
    is printed; draws and margins rest on the book. If the book has no such puzzle the exit code is 3.
    """
    target = check_target(html, puzzles.MARK.encode()) if html else None
    with open_book(source, own, quiet=quiet) as book, Bars(quiet) as bars:
        rules: Rules = book.rules
        wanted["goal"] = wanted["goal"] or ("margin" if rules.scores else "win")
        selected = find_puzzles(book, number, game=own, progress=bars, **wanted)
    if not selected:
        raise MissingState(f"{source} has no such puzzle: widen --win-in, or choose another --goal")
    if target is not None:
        write_whole(target, puzzles.sheet(rules, selected).encode())
    form = "json" if as_json else "sheet" if target is not None else form
    if form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(puzzles.COLUMNS)
        writer.writerows(map(puzzles.row, selected))
    for index, puzzle in enumerate(selected, 1):
        if form == "text":
            click.echo(puzzles.text(rules, puzzle, index))
        elif form in ("json", "tasks"):
            click.echo(json.dumps(puzzles.facts(puzzle) if form == "json" else puzzles.task(rules, puzzle)))
    if len(selected) < number:
        note(f"only {len(selected):,} puzzles", quiet)
