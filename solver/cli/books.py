"""`solver verify`, `pack`, `trim`, `merge`, `diff` and `import`: books as files."""

from __future__ import annotations

from typing import Any

import click

from solver.base.errors import DamagedBook, ForeignBook, MissingRules
from solver.book.codecs import NAMES
from solver.book.solution import SIDES, Trim
from solver.cli import common
from solver.edit.comparing import diff, merge
from solver.report import books
from solver.report.facts import facts_of
from solver.verifying.verification import CONSISTENT, SEARCH, WRONG, verify

NOT_PROVED = 7  # the exit code of a consistent book


@click.command("verify")
@click.argument("book", type=click.Path(), metavar="BOOK|GAME")
@common.game_option
@common.workers_option
@common.memory_option
@common.seconds(
    "--search", 0, 10**6, "Seconds to search for values that do not follow from others. Default: 10.", default=SEARCH
)
@common.flag("--play", "Also play the book against every reply, for each side that it serves.")
@common.print_options
def verify_command(book: str, own: str | None, as_json: bool, quiet: bool, **means: Any) -> None:
    """Check a book: structure, checksums, every value against its children, every count.

    \b
    solver verify connect-four-5x5.lmdb
    solver verify first-player.lmdb --play

    The verdict is a word and an exit code:

    \b
    proved      0  every value is that of perfect play, whoever wrote the book
    consistent  7  no fault was found and the values agree with each other, but some are not proved
    wrong       5  the book is damaged, foreign, or has a false value, which is named

    So `solver verify BOOK && publish BOOK` publishes only proved books. The rules run compiled, and as plain Python on
    a sample of the states, or on all of a small book. If compiled rules fail, or differ from Python, plain Python
    judges alone; a second line says why, and so does `note` in --json. In games of chance it also bounds the error of
    the values: `within` in --json.
    """
    try:
        with common.Bars(quiet) as bars:
            answer = facts_of(verify(book, own, progress=bars, **means))
    except MissingRules:
        # This error says nothing about the book
        raise
    except (DamagedBook, ForeignBook) as error:
        if as_json:
            common.tell({"verdict": WRONG, "basis": str(error)}, str, as_json)
        raise type(error)(f"{WRONG}: {error}") from None
    common.tell(answer, lambda facts: f"{book}: {books.verified(facts)}", as_json)
    if answer["verdict"] == CONSISTENT:
        click.get_current_context().exit(NOT_PROVED)


@click.command("pack")
@click.argument("book", type=click.Path(), metavar="BOOK|GAME")
@common.output("target", "Write the book here.", "OUT")
@common.choice(
    "--codec",
    NAMES,
    "compact (default): a quarter of the size for ten times the time. instant: the other way round. ranked: the"
    " smallest, for games that number their states; its readers need the rules.",
    default="compact",
)
@common.game_option
@common.workers_option
@common.print_options
def pack_command(
    book: str, target: str, codec: str, own: str | None, workers: int | None, as_json: bool, quiet: bool
) -> None:
    """Write a copy of a book in another codec.

    \b
    solver pack connect-four-5x5.lmdb -o compact.lmdb
    solver pack compact.lmdb -o instant.lmdb --codec instant

    The copy gives the same answers, and no game is solved. All of BOOK is checked on the way. The copy has the digest
    of the book that `solve --codec` writes.
    """
    from solver.book.streaming import pack

    with common.Bars(quiet) as bars:
        header = pack(book, target, codec, own, workers=workers, progress=bars)
    common.report(header, target, bars, as_json)


@click.command("trim")
@click.argument("book", type=click.Path(), metavar="BOOK|GAME")
@common.output("target", "Write the book here.", "OUT")
@common.number("--max-ply", 0, 1000, "Keep only positions up to ply N.")
@common.choice(
    "--for side", SIDES, "Keep only the positions that this side needs to keep its value against every reply."
)
@common.number("--drop-plies plies", 1, 2, "Drop positions that a search of this many plies solves.", metavar="1|2")
@common.flag("--wdl", "Drop distances; keep win, draw, loss.")
@common.size("--max-bytes", "Drop the last tiers until the file is this small, for example 2M.")
@common.choice("--codec", NAMES, "Encoding of OUT. Default: that of BOOK.")
@common.game_option
@common.workers_option
@common.print_options
def trim_command(book: str, target: str, own: str | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """Write a smaller copy of a book.

    \b
    solver trim connect-four-6x4.lmdb -o small.lmdb --drop-plies 2
    solver trim connect-four-6x4.lmdb -o web.lmdb --max-bytes 2M
    solver trim connect-four-6x4.lmdb -o first.lmdb --for first --drop-plies 2 --wdl --codec compact

    A short search recovers the positions that --drop-plies drops, always exactly. Other dropped positions need a live
    search, within query's --budget. `solver verify OUT --play` proves the result of a player with OUT.
    """
    from solver.edit.trimming import trim

    limits = {name: options.pop(name) for name in ("max_ply", "side", "max_bytes")}
    wanted = Trim(plies=options.pop("plies") or 0, **limits)
    with common.Bars(quiet) as bars:
        header = trim(book, target, wanted, own, progress=bars, **options)
    common.report(header, target, bars, as_json)


@click.command("merge")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@common.output("target", "Write the book here.", "OUT")
@common.codec_option
@common.workers_option
@common.print_options
def merge_command(
    first: str, second: str, target: str, codec: str | None, workers: int | None, as_json: bool, quiet: bool
) -> None:
    """Write one book with the states of two.

    \b
    solver merge ply-8.lmdb endings.lmdb -o both.lmdb
    solver merge ply-8.lmdb endings.lmdb -o both.lmdb --codec compact

    A and B are files, or games whose book comes with the package: of the same game and rules, both with symmetry or
    both without. If a state has two values, the command fails and names it. If one book has all states of the other,
    the result has its scope. Otherwise it is a book of exact values, without the counts of a whole game.
    """
    with common.Bars(quiet) as bars:
        header = merge(first, second, target, codec, workers=workers, progress=bars)
    common.report(header, target, bars, as_json)


@click.command("diff")
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@common.number("--most", 0, 1_000_000, "List at most this many states. Default: 20.", default=20)
@common.print_options
@click.pass_context
def diff_command(context: click.Context, first: str, second: str, most: int, as_json: bool, quiet: bool) -> None:
    """Say how two books differ. Exit code 1 if they do.

    \b
    solver diff before.lmdb after.lmdb
    solver diff before.lmdb after.lmdb --most 1000 --json

    It lists states that only one book has, other values, and other facts in the headers. A and B are files, or games
    whose book comes with the package. The codec does not count: a packed book is equal.
    """
    with common.Bars(quiet) as bars:
        found = diff(first, second, most, progress=bars)
    common.tell(books.diff_facts(found), books.diff_text, as_json)
    context.exit(0 if found.equal else 1)


@click.command("import")
@click.argument("file", type=click.Path())
@click.argument("game")
@common.output("book", "Write the book here.")
@common.symmetry_option
@common.flag("--no-verify", "Do not compare values with those of their moves.")
@common.print_options
def import_command(
    file: str, game: str, book: str, symmetry: bool, no_verify: bool, as_json: bool, quiet: bool
) -> None:
    """Write a book of values from elsewhere, verified.

    \b
    solver import values.jsonl connect-four:4,4 -o connect-four-4x4.lmdb
    solver import values.csv connect-four:4,4 -o connect-four-4x4.lmdb --no-verify

    FILE is .jsonl or .csv, as `solver export` writes them. Each line has a state and its score for the side to
    move: 1, 0, -1, or the margin. Wins and losses have the distance in plies. Other columns are ignored. Leave finished
    states out. Each value is compared with those of its moves.

    If FILE lacks states that play reaches, the result is a book of exact entries, which live search completes. The
    values take 300 bytes of memory a state.
    """
    from solver.solving.pipeline import import_values

    with common.Bars(quiet) as bars:
        header = import_values(game, file, book, symmetry=symmetry, verified=not no_verify, progress=bars)
    if header.scope != "complete":
        common.note(f"{file} is not all of the game that play can reach: not every value could be verified", quiet)
    common.report(header, book, bars, as_json)
