"""`solver books`."""

from __future__ import annotations

import click

from solver.book import Book, shipped
from solver.cli.common import json_option, tell
from solver.report import books


@click.command("books")
@json_option
def command(as_json: bool) -> None:
    """List the books that come with the package.

    \b
    solver books
    solver query tic-tac-toe b2

    Every command that takes a BOOK finds them by the name of the game: you need not solve those games.
    """
    opened = [Book(path) for path in shipped.paths()]
    facts = [{**books.facts(book.header, book.size), "book": str(book.path)} for book in opened]
    tell(facts, lambda _: "\n".join(map(books.row, opened)), as_json)
