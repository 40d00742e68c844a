"""`solver export`."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from solver.base.errors import MethodError, MissingState
from solver.base.progress import Progress
from solver.book import Book, shipped
from solver.cli import common
from solver.rules.game import Game, Rules

if TYPE_CHECKING:
    from solver.puzzles import Puzzle

STREAMED = ("csv", "jsonl")  # forms of a table that standard output takes


@click.command("export")
@click.argument("sources", nargs=-1, metavar="[BOOK|GAME]...")
@common.output(
    "file",
    "Write here; the ending chooses the form: .csv, .jsonl, .sqlite, .parquet, .bin, or a slash for a page. - is"
    " standard output, as CSV or by --format.",
    "FILE|FOLDER/",
)
@click.option(
    "--columns",
    metavar="NAMES",
    help="Columns of a table, with commas between: state, board, value, score, distance, tier, best. Default: all that"
    " the game has. tier, best and board take most of the time.",
)
@common.choice(
    "--format form",
    ["table", "training", "csv", "jsonl"],
    "csv, jsonl: a table in that form, for any name of the file. training: a .parquet with planes of the board,"
    " masks, and the loss of every move.",
    default="table",
)
@common.number(
    "--puzzles number", 1, 1000, "Set the N hardest puzzles of the book in its page, the easiest of them first."
)
@common.choice(
    "--reader",
    ["c", "js"],
    "Write no book, but the files by which programs in C or JavaScript read .bin books, into the folder.",
)
@common.live_option
@common.game_option
@common.quiet_option
def command(
    sources: tuple[str, ...],
    file: str,
    columns: str | None,
    form: str,
    number: int | None,
    reader: str | None,
    live: bool,
    own: str | None,
    quiet: bool,
) -> None:
    """Write a book in another form: a table, one file for other languages, or a page.

    \b
    solver export connect-four-4x4.lmdb -o connect-four.csv
    solver export connect-four-4x4.lmdb -o - --format jsonl | gzip > connect-four.jsonl.gz
    solver export connect-four-4x4.lmdb -o connect-four.sqlite --columns state,score,distance
    solver export connect-four-4x4.lmdb -o connect-four.parquet --format training
    solver export connect-four-4x4.lmdb -o connect-four.bin
    solver export connect-four-4x4.lmdb -o site/
    solver export connect-four-4x4.lmdb --puzzles 50 -o site/
    solver export connect-four:6,5 -o site/
    solver export my_game.py::Hexapawn:4,4 -o site/
    solver export connect-four-4x4.lmdb tic-tac-toe nim -o site/
    solver export -o site/
    solver export --reader c -o include/

    The ending of -o chooses the form:

    \b
    .csv .jsonl .sqlite    a table with a row for each stored state
    .parquet               the same; install solverbook[parquet] first
    .bin                   the whole book, for readers in other languages
    folder/                a page for browsers: the board, and the value of every move

    Values are for the side to move. The tier is the rules' own, in many games the ply. Books store no finished
    positions, and of positions that are equal by symmetry one.

    Any static host serves a page (docs/guides/page.md). For a GAME without a book the page searches: it finds exact
    values in time, or estimates. Several books become an index with a page for each; without arguments all books of the
    package do.
    """
    from solver.export import export, is_page
    from solver.export.readers import write_reader

    if reader is not None:
        if sources or number is not None or columns is not None or form != "table" or live or own:
            raise MethodError("--reader writes no book: leave out the others, all but -o")
        if file == "-":
            raise MethodError("a reader is several files: name a folder for them")
        click.echo("\n".join(f"{Path(file) / name}" for name in write_reader(reader, file)))
        return
    if live and not is_page(file):
        raise MethodError(f"{file} holds a book: --live goes with a page, a folder with a slash")
    if number is not None and not is_page(file):
        raise MethodError(f"{file} is no page, and puzzles go into one: name a folder, with a slash")
    if len(sources) != 1:
        if number is not None:
            raise MethodError("--puzzles goes with one book: export it by itself")
        if form == "training":
            raise MethodError("a training set is of one book: name it")
        _write_all(sources, file, columns, live, own, quiet)
        return
    (source,) = sources
    with _opened(source, own, is_page(file), live, quiet) as opened, common.Bars(quiet) as bars:
        names = None if columns is None else [name.strip() for name in columns.split(",")]
        puzzles = () if number is None else _puzzles(opened, number, bars)
        with _standard_output() if file == "-" else contextlib.nullcontext(file) as target:
            kind = form if form in STREAMED else None
            training = form == "training"
            notes = export(opened, target, names, training=training, form=kind, puzzles=puzzles, progress=bars)
    if file != "-":
        content = f"{len(opened):,} states" if isinstance(opened, Book) else "a game without a book"
        click.echo("\n".join([f"{file}: {content}, {_size(Path(file)):,} bytes", *notes]))


def _puzzles(opened: Book | Game, number: int, progress: Progress) -> list[Puzzle]:
    """The hardest puzzles of a book, the easiest of them first: wins or, if there are none, draws; or margins."""
    from solver.puzzles import find_puzzles

    rules = opened.rules if isinstance(opened, Book) else Rules(opened)
    for goal in ("margin",) if rules.scores else ("win", "draw"):
        if found := find_puzzles(opened, number, goal=goal, progress=progress):
            return found[::-1]
    raise MissingState(f"the book of {rules.name} has no puzzles: leave out --puzzles")


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder, which another process may replace at any moment."""
    size = 0
    with contextlib.suppress(FileNotFoundError):
        for entry in [path, *path.rglob("*")]:
            with contextlib.suppress(FileNotFoundError):
                size += entry.stat().st_size if entry.is_file() else 0
    return size


@contextlib.contextmanager
def _standard_output() -> Iterator[TextIO]:
    """Standard output for a table: in UTF-8, with LF at line ends, whatever the terminal has."""
    stream = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="")
    try:
        yield stream
    finally:
        # So that standard output stays open
        stream.detach()


def _write_all(
    sources: tuple[str, ...], file: str, columns: str | None, live: bool, own: str | None, quiet: bool
) -> None:
    """The pages of several books or games, all shipped books if none is named, and their index."""
    from solver.export import export_all, is_page

    if not is_page(file):
        what = "several books" if sources else "no book is named: all"
        raise MethodError(f"{what} become pages in a folder, with a slash, and {file} is none: name one book for it")
    for wrong, option in ((columns, "--columns"), (own, "--game")):
        if wrong is not None:
            raise MethodError(f"{option} goes with one book: export the others by themselves")
    with contextlib.ExitStack() as stack, common.Bars(quiet) as bars:
        named = sources or tuple(map(str, shipped.paths()))
        opened = [stack.enter_context(_opened(source, None, True, live, True)) for source in named]
        notes = export_all(opened, file, progress=bars)
        click.echo("\n".join([f"{file}: an index of {len(opened)} pages, {_size(Path(file)):,} bytes", *notes]))


def _opened(
    source: str, own: str | None, is_page: bool, live: bool, quiet: bool
) -> contextlib.AbstractContextManager[Book | Game]:
    """A book; for a page a game, where none is named and none comes with the package."""
    if not live and (not is_page or own):
        return common.open_book(source, own, quiet=quiet)
    opened = common.open_source(source, own, live=live, quiet=quiet)
    return contextlib.nullcontext(opened.game) if opened.book is None else opened.book
