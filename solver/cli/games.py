"""`solver games` and `solver books`: what comes with the package."""

from __future__ import annotations

import click

from solver.book import Book, shipped
from solver.cli import common
from solver.games import CATALOGUE
from solver.report import books, games
from solver.rules.game import unknown_game


@click.command("games")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@common.json_option
def games_command(names: tuple[str, ...], as_json: bool) -> None:
    """List the games, or tell the rules of some.

    \b
    solver games
    solver games connect-four

    The list shows the parameters of each game with their defaults. Write parameters in their order or by name:

    \b
    connect-four:5,4
    connect-four:width=5,height=4
    my_game.py::Hexapawn:4,4        your own rules, in a file
    """
    chosen = [name.partition(":")[0] for name in names or CATALOGUE]
    for name in chosen:
        if name not in CATALOGUE:
            raise unknown_game(name)
    answers = list(map(games.facts, chosen))
    bold = {game["name"]: click.style(str(game["name"]), bold=True) for game in answers}
    paragraphs = [bold[game["name"]] + games.told(game) for game in answers if names]
    for group, members in games.grouped(answers).items() if not names else ():
        lines = [bold[game["name"]] + games.about(game) for game in members]
        paragraphs.append("\n".join([f"{group}: {games.GROUPS[group]}", "", *lines]))
    common.tell(answers, lambda _: "\n\n".join(paragraphs), as_json)


@click.command("books")
@common.json_option
def books_command(as_json: bool) -> None:
    """List the books that come with the package.

    \b
    solver books
    solver query tic-tac-toe b2

    Every command that takes a BOOK finds them by the name of the game: you need not solve those games.
    """
    opened = [Book(path) for path in shipped.paths()]
    facts = [{**books.facts(book.header, book.size), "book": str(book.path)} for book in opened]
    common.tell(facts, lambda _: "\n".join(map(books.row, opened)), as_json)
