"""`solver serve`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from solver.base import extras
from solver.base.errors import MethodError
from solver.base.system import CAN_FORK, cores
from solver.book import Book, shipped
from solver.cli.common import game_option, number, open_source, quiet_option, seconds
from solver.games import CATALOGUE
from solver.rules.game import is_built_in

if TYPE_CHECKING:
    from solver.serve.shelf import Served


@click.command("serve")
@click.argument("sources", nargs=-1, metavar="[BOOK|GAME]...")
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="Address to listen on. Default: 127.0.0.1, this machine only.",
)
@number("--port", 0, 65535, "Port. Default: 8000; 0 takes a free one.", metavar=None, default=8000)
@seconds("--live", 0.001, 3600, "Seconds of search for an answer that no book has. Default: no search.")
@number("--workers", 1, 256, "Processes that answer. Default: one for each core.")
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@game_option
@quiet_option
def command(
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
    if not extras.has_serving():
        raise MethodError(f"the server's packages are missing: {extras.SERVE}")
    from solver.serve import application, pages, running, shelf

    served = shelf.Shelf(_named(sources, own) if sources else shelf.all_shipped(CATALOGUE))
    count = (workers or cores()) if CAN_FORK else 1
    if workers is not None and workers > count:
        click.echo("Note: this system does not fork, so there is one worker", err=True)
    sockets = running.bound(host, port, count)
    url = running.url_of(sockets[0])
    with tempfile.TemporaryDirectory(prefix="solver-serve-") as folder:
        if not quiet:
            click.echo(f"{url}  {len(served)} games, {len(served.books)} with books, {count} workers")
        if opens:
            click.launch(url)
        make = lambda: application.Application(served, pages.Pages(served, Path(folder)), live)  # noqa: E731
        running.run(make, sockets, count, live or 0)


def _named(sources: tuple[str, ...], own: str | None) -> Iterator[Served]:
    """Yield the sources that the command line names."""
    from solver.serve.shelf import Served

    for source in sources:
        foreign = own is not None and shipped.is_path(source) and not is_built_in(Book(source).header.game)
        opened = open_source(source, own if foreign else None, quiet=True)
        yield Served(opened.game, opened.book)
