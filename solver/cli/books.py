"""`solver books`."""

from __future__ import annotations

import json

import click

from solver.book import Book, shipped
from solver.cli.common import for_players, json_option
from solver.cli.info import describe


@click.command("books")
@json_option
def command(as_json: bool) -> None:
    """List the books that come with the package: found by the name of their game, with nothing solved.

    \b
    solver play connect-four:4,4
    solver query tic-tac-toe b2
    solver info hexapawn:4,4
    """
    books = [Book(path) for path in shipped.paths()]
    if as_json:
        click.echo(json.dumps([{**describe(book.header, book.size), "book": str(book.path)} for book in books]))
        return
    for book in books:
        worth = for_players(book.root, book.score_game)
        click.echo(f"{book.header.game:24} {len(book):9,} states  {book.size:7,} bytes  {worth}")
