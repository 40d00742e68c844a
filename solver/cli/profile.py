"""`solver profile`."""

from __future__ import annotations

import itertools
import json
import os
import re
from typing import Any

import click

from solver.base.files import write_whole
from solver.book import check_target
from solver.book.doors import book_and_game
from solver.book.reader import Book
from solver.cli.common import Bars, game_option, json_option, quiet_option
from solver.profiling import Profile, profile, refuse_chance
from solver.report import profiles
from solver.report.profile_page import page
from solver.rules.game import Rules
from solver.solving.pipeline import solve

RANGE = re.compile(r"([0-9]{1,4})\.\.([0-9]{1,4})")
MAX_VARIANTS = 200


@click.command("profile")
@click.argument("source", metavar="BOOK|GAME")
@click.option("--table", is_flag=True, help="A row for each variant: connect-four:4..5,4 names two.")
@click.option("--html", type=click.Path(), metavar="FILE", help="Write the report as a page with plots.")
@click.option(
    "-o",
    "kept",
    type=click.Path(),
    metavar="FILE",
    help="With --table: keep finished rows in FILE, and go on from there.",
)
@click.option(
    "--games",
    type=click.IntRange(10, 1_000_000),
    metavar="N",
    help="Simulate N games for each pair of players, instead of solving the game.",
)
@json_option
@game_option
@quiet_option
def command(
    source: str,
    table: bool,
    html: str | None,
    kept: str | None,
    games: int | None,
    as_json: bool,
    own: str | None,
    quiet: bool,
) -> None:
    """Measure a game for its designer: how fair, long and drawish it is.

    \b
    solver profile tic-tac-toe
    solver profile connect-four:4,4 --html report.html
    solver profile "connect-four:3..4,3..4" --table -o variants.jsonl
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
    if kept and not table:
        raise click.UsageError("-o keeps the rows of a table: add --table")
    if table:
        _tabulate(variants(source), kept, games, as_json, own, quiet)
        return
    target = check_target(html) if html else None
    report, rules = _profiled(source, games, own, quiet)
    if target is not None:
        write_whole(target, page(report, rules).encode())
    if as_json:
        click.echo(json.dumps(profiles.facts(report)))
    elif not html:
        click.echo(profiles.text(report, rules))


def _tabulate(
    names: list[str], kept: str | None, games: int | None, as_json: bool, own: str | None, quiet: bool
) -> None:
    """Print a row for each variant. Rows that a file keeps are not measured again."""
    if kept is not None:
        check_target(kept)
    finished = {name: row for name, row in _finished(kept).items() if row["facts"].get("games") == games}
    for name in names:
        if name in finished:
            continue
        report, rules = _profiled(name, games, own, quiet)
        finished[name] = {"row": profiles.row(report, rules), "facts": profiles.facts(report)}
        if kept:
            with open(kept, "a", encoding="utf-8") as file:
                file.write(json.dumps({"variant": name, **finished[name]}) + "\n")
    rows = [finished[name] for name in names]
    click.echo(json.dumps([row["facts"] for row in rows]) if as_json else profiles.table([row["row"] for row in rows]))


def _finished(kept: str | None) -> dict[str, Any]:
    """Return the rows that a file keeps, by variant. A line that an interruption cut off does not count."""
    finished: dict[str, Any] = {}
    if kept is None or not os.path.exists(kept):
        return finished
    with open(kept, "rb") as file:
        whole = file.read()
    end = whole.rfind(b"\n") + 1
    try:
        for line in whole[:end].decode().splitlines():
            row = json.loads(line)
            finished[row["variant"]] = {"row": [str(cell) for cell in row["row"]], "facts": row["facts"]}
    except (ValueError, KeyError, TypeError):
        raise click.UsageError(f"{kept} holds no rows of solver profile: name another file") from None
    if end < len(whole):
        with open(kept, "r+b") as file:
            file.truncate(end)
    return finished


def variants(text: str) -> list[str]:
    """Return the names that a text with ranges stands for: nim:1..2,3 is nim:1,3 and nim:2,3."""
    tokens = RANGE.split(text)
    ranges = [range(int(low), int(high) + 1) for low, high in zip(tokens[1::3], tokens[2::3], strict=True)]
    count = 1
    for numbers in ranges:
        count *= len(numbers)
    if not 0 < count <= MAX_VARIANTS:
        raise click.UsageError(f"{text!r} names {count:,} variants: name from 1 to {MAX_VARIANTS}")
    pieces = tokens[::3]
    return [
        pieces[0] + "".join(f"{number}{piece}" for number, piece in zip(numbers, pieces[1:], strict=True))
        for numbers in itertools.product(*ranges)
    ]


def _profiled(name: str, games: int | None, own: str | None, quiet: bool) -> tuple[Profile, Rules]:
    """Return the profile of a book or a game, which is solved if no complete book is at hand."""
    book, game = book_and_game(name, own)
    refuse_chance(Rules(game))
    with Bars(quiet) as bars:
        if not isinstance(book, Book):
            if games is not None:
                return profile(game, games=games, progress=bars), Rules(game)
            book = solve(game, progress=bars)
        with book:
            return profile(book, own, games=games, progress=bars), book.rules
