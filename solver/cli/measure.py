"""`solver sample`, `grade`, `puzzles` and `profile`: whole books and games looked through."""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import math
import re
import shutil
import sys
from typing import Any

import click

from solver.base.errors import MissingState
from solver.base.files import write_whole
from solver.base.value import counted
from solver.book import open_source
from solver.book.writer import check_target
from solver.cli import common
from solver.edit.comparing import sample
from solver.play.grading import grade
from solver.play.player import Player
from solver.profiling import Profile, profile, refuse_chance
from solver.puzzles import find_puzzles
from solver.report import measures, players
from solver.report.facts import worth
from solver.rules.game import Rules

RANGE = re.compile(r"([0-9]{1,4})\.\.([0-9]{1,4})")
MAX_VARIANTS = 200


@click.command("sample")
@click.argument("source", metavar="BOOK|GAME")
@common.number("-n number", 1, 10_000_000, "Number of states. Default: 10.", default=10)
@click.option("--seed", type=int, default=0, metavar="S", help="Choose other states. Default: 0.")
@common.choice("--value outcome", ["win", "draw", "loss"], "Only states of this value, for the side to move.")
@click.option(
    "--distance", type=common.SPAN, metavar="M..N", help="Only states so many plies from the end: 5..9, 5.., ..9 or 5."
)
@click.option(
    "--ply", "tier", type=common.SPAN, metavar="M..N", help="Only states of these tiers; in most games a tier is a ply."
)
@common.json_option
@common.game_option
@common.quiet_option
def sample_command(source: str, number: int, as_json: bool, own: str | None, quiet: bool, **wanted: Any) -> None:
    """Choose stored states at random.

    \b
    solver sample connect-four-5x5.lmdb -n 1000 --value win --distance 5..9
    solver sample connect-four-5x5.lmdb --ply 8 --seed 7 | solver query connect-four-5x5.lmdb -

    All states that match are equally likely, and none comes twice. Each line is a state, as `query` takes it, in random
    order: the first lines are a sample too. The same seed chooses the same states. Books store no finished positions,
    and one of several symmetric ones.
    """
    with common.open_book(source, own, quiet=quiet) as opened, common.Bars(quiet) as bars:
        chosen = sample(opened, number, progress=bars, **wanted)
    if not chosen:
        raise MissingState(f"{source} has no such state: solver info --counts lists what it stores")
    for state, value in chosen:
        common.tell({"position": f"#{state}", "state": state, **worth(value)}, lambda facts: facts["position"], as_json)
    if len(chosen) < number:
        common.note(f"only {len(chosen):,} match", quiet)


@click.command("grade")
@click.argument("source", metavar="BOOK|GAME")
@click.argument("games", type=click.Path(allow_dash=True))
@common.json_option
@common.game_option
@common.quiet_option
def grade_command(source: str, games: str, as_json: bool, own: str | None, quiet: bool) -> None:
    """Judge games move by move.

    \b
    solver grade connect-four-5x5.lmdb games.txt
    solver grade connect-four-5x5.lmdb - --json < games.txt

    GAMES is a file, or - for standard input. Each line is one game: its moves from the start, written as for `query`.
    Empty lines, and remarks behind # or ;, are skipped.

    \b
    perfect    keeps value and distance
    keeps      keeps the value; may win later or lose sooner
    blunder    any other move

    Moves that the book does not know are counted separately.
    """
    with common.open_book(source, own, quiet=quiet) as opened, common.Bars(quiet) as bars:
        player = Player(opened, live=False)
        facts = players.grade_facts(grade(player, common.games_of(games), progress=bars), player)
    common.tell(facts, lambda facts: players.grade_text(facts, player.rules), as_json)


@click.command("puzzles")
@click.argument("source", metavar="BOOK|GAME")
@common.number("-n number", 1, 100_000, "Number of puzzles. Default: 10.", default=10)
@common.choice(
    "--goal", ["win", "draw", "margin"], "What one move alone reaches. Default: win, or margin where moves score."
)
@click.option("--win-in", type=common.SPAN, metavar="M..N", help="Only wins in so many plies: 5..9, 5.., ..9 or 5.")
@common.choice(
    "--unique",
    ["first", "all"],
    "first: one winning move now. all: one after every longest defence, too.",
    default="first",
)
@common.choice(
    "--format form",
    ["text", "csv", "tasks"],
    "text: boards. csv: a table. tasks: prompts for language models, a line of JSON each.",
    default="text",
)
@common.file("--html", "Write a sheet to print: boards, and solutions behind.")
@common.json_option
@common.game_option
@common.quiet_option
def puzzles_command(
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
    target = check_target(html, measures.PUZZLE_MARK.encode()) if html else None
    with common.open_book(source, own, quiet=quiet) as book, common.Bars(quiet) as bars:
        rules = book.rules
        wanted["goal"] = wanted["goal"] or ("margin" if rules.scores else "win")
        selected = find_puzzles(book, number, game=own, progress=bars, **wanted)
    if not selected:
        raise MissingState(f"{source} has no such puzzle: widen --win-in, or choose another --goal")
    common.note(f"{counted(len(selected), 'puzzle')} in {bars.seconds:.1f} s", quiet)
    if target is not None:
        write_whole(target, measures.sheet(rules, selected).encode())
    form = "json" if as_json else "sheet" if target is not None else form
    if form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        rows = (measures.puzzle_facts(puzzle) | {"line": " ".join(puzzle.line)} for puzzle in selected)
        writer.writerows([measures.PUZZLE_COLUMNS, *(row.values() for row in rows)])
    for index, puzzle in enumerate(selected, 1):
        if form == "text":
            click.echo(measures.puzzle_text(rules, puzzle, index))
        elif form in ("json", "tasks"):
            facts = measures.puzzle_facts(puzzle) if form == "json" else measures.puzzle_task(rules, puzzle)
            click.echo(json.dumps(facts))


@click.command("profile")
@click.argument("source", metavar="BOOK|GAME")
@common.flag("--table", "A row for each variant: connect-four:4..5,4 names two.")
@common.file("--html", "Write the report as a page with plots.")
@common.number("--games", 10, 1_000_000, "Simulate N games for each pair of players, instead of solving the game.")
@common.json_option
@common.game_option
@common.quiet_option
def profile_command(
    source: str, table: bool, html: str | None, games: int | None, as_json: bool, own: str | None, quiet: bool
) -> None:
    """Measure a game for its designer: how fair, long and drawish it is.

    \b
    solver profile tic-tac-toe
    solver profile connect-four:4,4 --html report.html
    solver profile "connect-four:3..4,3..4" --table
    solver profile connect-four --games 200

    The report has the results between perfect, random and short-sighted players, computed exactly from the book; the
    length of games; the number of moves; how often one move alone is good; and the worth of each first move. A GAME
    without a book is solved first, into a temporary book.

    A player that sees k plies plays a win within k plies, avoids a loss within k plies, and otherwise plays at random.
    In games with cycles a game that does not end counts as a draw.

    A game that is too large to solve is measured with --games: its players look ahead by the rules alone, there is no
    perfect one, and the means come with the width of their 95 % confidence interval.
    """
    if table and html:
        raise click.UsageError("--html draws one game: omit --table")
    if table:
        profiled = [_profiled(name, own, games, quiet) for name in variants(source)]
        facts = [measures.facts(report) for report, _ in profiled]
        common.tell(facts, lambda _: measures.listed([measures.row(*each) for each in profiled]), as_json)
        return
    target = check_target(html, measures.MARK.encode()) if html else None
    report, rules = _profiled(source, own, games, quiet)
    if target is not None:
        write_whole(target, measures.page(report, rules).encode())
    if as_json or not html:
        common.tell(measures.facts(report), lambda _: measures.text(report, rules), as_json)


def variants(text: str) -> list[str]:
    """Return the names that a text with ranges stands for: nim:1..2,3 is nim:1,3 and nim:2,3."""
    tokens = RANGE.split(text)
    ranges = [range(int(low), int(high) + 1) for low, high in zip(tokens[1::3], tokens[2::3], strict=True)]
    count = math.prod(map(len, ranges))
    if not 0 < count <= MAX_VARIANTS:
        raise click.UsageError(f"{text!r} names {count:,} variants: name from 1 to {MAX_VARIANTS}")
    pieces = tokens[::3]
    return [
        pieces[0] + "".join(f"{number}{piece}" for number, piece in zip(numbers, pieces[1:], strict=True))
        for numbers in itertools.product(*ranges)
    ]


def _profiled(name: str, own: str | None, games: int | None, quiet: bool) -> tuple[Profile, Rules]:
    """Return the profile of a book or a game, which is solved if no complete book is at hand."""
    from solver.solving.pipeline import solve

    with open_source(name, own) as opened, common.Bars(quiet) as bars, contextlib.ExitStack() as stack:
        refuse_chance(opened.rules)
        source: Any = opened.game if opened.book is None else opened.book
        if opened.book is None and games is None:
            source = stack.enter_context(solve(opened.game, progress=bars))
            # The book stays open, and a kill leaves no folder; Windows removes it in the end
            shutil.rmtree(source.path.parent, ignore_errors=True)
        report = profile(source, games=games, progress=bars)
        common.note(f"{report.game} took {bars.seconds:.1f} s", quiet)
        return report, opened.rules
