"""`solver export`, `build`, `serve` and `ugi`: books and games for other programs."""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from solver import __version__
from solver.base import extras, system
from solver.base.errors import MethodError, MissingState
from solver.base.value import counted
from solver.book import Book, game_of, shipped
from solver.cli import common
from solver.games import CATALOGUE
from solver.play.player import METHODS, Player
from solver.rules.game import Game, Rules, is_built_in

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
    help="Columns of a table, with commas between: state, board, mover, value, score, distance, tier, best. Default:"
    " all that the game has. board, mover, tier and best take most of the time.",
)
@common.choice(
    "--format form",
    ["table", "training", "csv", "jsonl"],
    "csv, jsonl: a table in that form, for any name of the file. training: a .parquet with planes of the board,"
    " masks, and the loss of every move.",
    default="table",
)
@common.number(
    "--puzzles number", 1, 1000, "Set N puzzles in the page, the hardest of each length, in rounds from short to long."
)
@common.choice(
    "--reader",
    ["c", "js"],
    "Write no book, but the files by which programs in C or JavaScript read .bin books, into the folder.",
)
@common.live_option
@common.game_option
@common.quiet_option
def export_command(
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
    positions, and one of several symmetric ones.

    Any static host serves a page (docs/guides/page.md). For a GAME without a book the page searches: it finds exact
    values in time, or estimates. Several books become an index with a page for each; without arguments all books of the
    package do.
    """
    from solver.export import export, export_all, is_page
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
    if len(sources) != 1:
        # The pages of several books or games, all shipped books if none is named, and their index
        given = {"--columns": columns, "--format": None if form == "table" else form, "--game": own}
        for option, wrong in given.items():
            if wrong is not None:
                raise MethodError(f"{option} goes with one book: export the others by themselves")
        with contextlib.ExitStack() as stack, common.Bars(quiet) as bars:
            named = sources or tuple(map(str, shipped.paths()))
            several = [stack.enter_context(_opened(source, None, True, live, True)) for source in named]
            puzzles: list[list[Puzzle]] = [[] for _ in several]
            for one, own_puzzles in zip(several, puzzles, strict=True):
                # Games of chance and incomplete books have none
                with contextlib.suppress(MethodError):
                    own_puzzles += _puzzles(one, number, bars) if number else []
            notes = export_all(several, file, puzzles=puzzles, progress=bars)
            click.echo("\n".join([f"{file}: an index of {len(named)} pages, {_size(Path(file)):,} bytes", *notes]))
        return
    (source,) = sources
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(_opened(source, own, is_page(file), live, quiet))
        bars = stack.enter_context(common.Bars(quiet))
        names = None if columns is None else [name.strip() for name in columns.split(",")]
        chosen = _puzzles(opened, number, bars) if number else []
        if number is not None and not chosen:
            raise MissingState(f"the book of {source} has no puzzles: leave out --puzzles")
        target: str | TextIO = file
        if file == "-":
            # In UTF-8, with LF at line ends, whatever the terminal has; it is detached to stay open
            target = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="")
            stack.callback(target.detach)
        kind, training = form if form in STREAMED else None, form == "training"
        notes = export(opened, target, names, training=training, form=kind, puzzles=chosen, progress=bars)
    if file != "-":
        content = counted(len(opened), "state") if isinstance(opened, Book) else "a game without a book"
        click.echo("\n".join([f"{file}: {content}, {_size(Path(file)):,} bytes", *notes]))


def _puzzles(opened: Book | Game, number: int, bars: common.Bars) -> list[Puzzle]:
    """The puzzles of a page, each round from short wins to long ones. Raises MethodError if there can be none."""
    from solver.puzzles import find_puzzles

    rules = opened.rules if isinstance(opened, Book) else Rules(opened)
    # Wins or, if there are none, draws; or margins
    goals = ("margin",) if rules.scores else ("win", "draw")
    found = (find_puzzles(opened, number, goal=goal, varied=True, progress=bars)[::-1] for goal in goals)
    return next(filter(None, found), [])


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder, which another process may replace at any moment."""
    size = 0
    with contextlib.suppress(FileNotFoundError):
        for entry in [path, *path.rglob("*")]:
            with contextlib.suppress(FileNotFoundError):
                size += entry.stat().st_size if entry.is_file() else 0
    return size


def _opened(
    source: str, own: str | None, is_page: bool, live: bool, quiet: bool
) -> contextlib.AbstractContextManager[Book | Game]:
    """A book; for a page a game, where none is named and none comes with the package."""
    if not live and (not is_page or own):
        return common.open_book(source, own, quiet=quiet)
    opened = common.open_source(source, own, live=live, quiet=quiet)
    return contextlib.nullcontext(opened.game) if opened.book is None else opened.book


@click.command("build")
@click.argument("text", metavar="GAME")
@common.output("file", "Write the module here: FILE.wasm.", "FILE")
@common.symmetry_option
@common.flag("--ranks", "Add the functions that readers of a ranked book need.")
@common.quiet_option
def build_command(text: str, file: str, symmetry: bool, ranks: bool, quiet: bool) -> None:
    """Build a game's rules and searches as a WebAssembly module.

    \b
    solver build connect-four -o connect-four.wasm
    solver build my_game.py::Hexapawn:4,4 -o hexapawn.wasm

    Pages, Node and other hosts run the module. If the game has tiers and no chance, it finds exact values by
    alpha-beta. It also looks a few plies ahead by the rules' own evaluate. The module imports nothing;
    docs/guides/webassembly.md lists its exports. Install solverbook[solve] first.
    """
    from solver.export.script import write_module

    rules = Rules(game_of(text), symmetry)
    with common.Bars(quiet) as bars:
        size = write_module(rules, file, ranks, progress=bars)
    click.echo(f"{file}: {size:,} bytes, {rules.name}, rules {rules.fingerprint[:8]}")


@click.command("serve")
@click.argument("sources", nargs=-1, metavar="[BOOK|GAME]...")
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="Address to listen on. Default: 127.0.0.1, this machine only.",
)
@common.number("--port", 0, 65535, "Port. Default: 8000; 0 takes a free one.", metavar=None, default=8000)
@common.seconds("--live", 0.001, 3600, "Seconds of search for an answer that no book has. Default: no search.")
@common.number("--workers", 1, 256, "Processes that answer. Default: one for each core.")
@common.flag("--open opens", "Open the page in a browser.")
@common.game_option
@common.quiet_option
def serve_command(
    sources: tuple[str, ...],
    host: str,
    port: int,
    live: float | None,
    workers: int | None,
    opens: bool,
    own: str | None,
    quiet: bool,
) -> None:
    """Serve books and games over HTTP: pages for browsers, JSON for scripts.

    \b
    solver serve --open
    solver serve connect-four-5x5.lmdb hex --port 9000
    solver serve connect-four --live 5 --workers 2
    curl http://127.0.0.1:8000/v1/books/connect-four:4,4/positions/11242

    Each BOOK is served under the name of its game. Without arguments the server has all games and all books of the
    package. A GAME without a book needs --live for its values. /v1/openapi.json describes the interface, and
    docs/reference/http.md explains it. Install solverbook[serve] first.
    """
    if not extras.has("starlette", "uvicorn", "httptools"):
        raise MethodError(f"the server's packages are missing: {extras.SERVE}")
    from solver.serve import application, pages, running, shelf

    named = []
    for source in sources:
        foreign = own is not None and shipped.is_path(source) and not is_built_in(Book(source).header.game)
        opened = common.open_source(source, own if foreign else None, quiet=True)
        named.append(shelf.Served(opened.game, opened.book))
    served = shelf.Shelf(named if sources else shelf.all_shipped(CATALOGUE))
    count = (workers or system.cores()) if system.CAN_FORK else 1
    if workers is not None and workers > count:
        click.echo("Note: this system does not fork, so there is one worker", err=True)
    sockets = running.bound(host, port, count)
    url = running.url_of(sockets[0])
    with tempfile.TemporaryDirectory(prefix="solver-serve-") as folder:
        if not quiet:
            games, workers_text = counted(len(served), "game"), counted(count, "worker")
            click.echo(f"{url}  {games}, {len(served.books)} with a book, {workers_text}")
        if opens:
            click.launch(url)
        make = lambda: application.Application(served, pages.Pages(served, Path(folder)), live)  # noqa: E731
        running.run(make, sockets, count, live or 0)


@click.command("ugi")
@click.argument("source", metavar="BOOK|GAME")
@common.choice(
    "--method", METHODS, "best: of equal moves the first. practical: the one that is hardest to answer.", default="best"
)
@common.search_options
def ugi_command(source: str, method: str, live: bool, own: str | None, **search: Any) -> None:
    """Play as an engine, by the Universal Game Interface: UCI for any game.

    \b
    solver ugi connect-four
    solver match engine:"solver ugi breakthrough:5,5" evaluate@6 --game breakthrough:5,5

    The engine reads standard input and writes standard output. It answers from a book, and searches where the book has
    no answer. `go` takes movetime, p1time and p2time with p1inc and p2inc, depth, nodes or infinite; a bare `go` takes
    --budget. Lines with `info` give score, depth, nodes and the expected line. `stop` ends a search immediately. Send
    `isready` first: it loads the compiled search. At the end of the input a search with a limit is finished.
    """
    from solver.base.text import text_lines
    from solver.play.ugi import Session

    opened = common.open_source(source, own, live=live, quiet=True)
    player = Player(opened, method=method, **search)
    session = Session(player, lambda line: click.echo(line), search["seconds"], f"solverbook {__version__}")
    goes_on = True
    try:
        for line in text_lines(sys.stdin.buffer, "replace"):
            goes_on = session.obey(line)
            if not goes_on:
                break
    except BaseException:
        session.stop()
        raise
    session.end(at_once=not goes_on)
