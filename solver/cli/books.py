"""`solver books`."""

from __future__ import annotations

import click

from solver.book import Book, shipped
from solver.cli.common import json_option, tell
from solver.report import books


@click.command("books")
@json_option
def command(as_json: bool) -> None:
    """List the books that come with the package: found by the name of their game, with nothing solved.

    \b
    solver play connect-four:4,4
    solver query tic-tac-toe b2
    solver info hexapawn:4,4
    """
    found = [Book(path) for path in shipped.paths()]
    facts = [{**books.facts(book.header, book.size), "book": str(book.path)} for book in found]
    tell(facts, lambda _: "\n".join(map(books.row, found)), as_json)
