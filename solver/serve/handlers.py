"""The answers of `/v1`: one method for each of `operations.OPERATIONS`, from a request to a reply."""

from __future__ import annotations

from typing import Any

import anyio.to_thread

from solver.base.errors import MethodError
from solver.book import Book
from solver.export.site import title_of
from solver.play.analysis import OPPONENTS
from solver.report import answers, books
from solver.report.facts import facts_of
from solver.serve.batch import Batch
from solver.serve.operations import MOST_LINE, MOST_TEXT, document
from solver.serve.reply import FOREVER, NO_STORE, REVALIDATE, Refused, Reply, reply_of
from solver.serve.searches import Searches, is_told
from solver.serve.shelf import Served, Shelf

SHOWN_FIELDS = ("states", "terminal", "stored", "counts", "tiers", "values")


class Handlers:
    """The answers of a shelf, and of live searches where it does not know."""

    def __init__(self, shelf: Shelf, searches: Searches) -> None:
        self.shelf, self.searches = shelf, searches

    async def games(self, request: Any) -> Reply:
        """All games."""
        return reply_of([served.facts() for served in self.shelf.values()])

    async def game(self, request: Any) -> Reply:
        """One of them."""
        return reply_of(self.shelf.asked(request).facts())

    async def books(self, request: Any) -> Reply:
        """All books."""
        facts = [
            {
                "name": served.name,
                "title": title_of(served.game),
                "verdict": book.header.verdict,
                "root": facts_of(book.root),
                "states": book.states,
                "stored": len(book),
                "bytes": book.size,
                "digest": book.digest,
            }
            for served, book in self.shelf.books
        ]
        return reply_of(facts)

    async def book(self, request: Any) -> Reply:
        """Answer with a book's facts."""
        _, book = self.any_book(request)
        return reply_of(books.facts(book.header, book.size))

    async def counts(self, request: Any) -> Reply:
        """Answer with a book's counts."""
        _, book = self.any_book(request)
        facts = books.facts(book.header, None)
        return reply_of({name: facts[name] for name in SHOWN_FIELDS})

    async def openapi(self, request: Any) -> Reply:
        """The document of all this."""
        return reply_of(document())

    async def book_position(self, request: Any) -> Reply:
        """A position of a book."""
        return await self._position(request, self.any_book(request)[0], _opponent(request))

    async def game_position(self, request: Any) -> Reply:
        """A position of a game."""
        return await self._position(request, self.shelf.asked(request))

    async def _position(self, request: Any, served: Served, opponent: int | None = None) -> Reply:
        """A position, by knowledge at once, else by live search, if there is any; against an opponent by none."""
        text, moves = position_in(request), _truth(request, "moves")
        try:
            ask, cache = served.answers(moves, opponent).ask, FOREVER
        except MethodError as error:
            raise Refused(400, str(error)) from None
        is_quick = served.is_quick and opponent is None
        facts = ask(text) if is_quick else await anyio.to_thread.run_sync(ask, text)
        if not is_quick and opponent is None and not is_told(facts):
            cache = REVALIDATE
            if self.searches.serves(served):
                facts, cache = await self.searches.position(request, served, text, moves), NO_STORE
        return reply_of(facts, cache, "position", served.digest, text, str(moves), str(opponent))

    async def book_line(self, request: Any) -> Reply:
        """Best play by a book."""
        served, _ = self.any_book(request)
        text, most = position_in(request), _whole(request, "most", 1, MOST_LINE)
        facts = await anyio.to_thread.run_sync(answers.best_line, served.player, text, most)
        return reply_of(facts, FOREVER, "line", served.digest, text, str(most))

    async def book_positions(self, request: Any) -> Batch:
        """Many positions of a book, answered as they come in."""
        served, _ = self.any_book(request)
        return Batch(served.answers(_truth(request, "moves")))

    def any_book(self, request: Any) -> tuple[Served, Book]:
        """Return the game whose book the path names, and the book. Raises Refused."""
        name = request.path_params["book"]
        served = self.shelf.get(name)
        if served is None or served.book is None:
            raise Refused(404, f"no book {name[:80]!r} is served: /v1/books lists those that are")
        return served, served.book


def position_in(request: Any) -> str:
    """The position that a path names. Raises Refused."""
    text: str = request.path_params["position"]
    if len(text) > MOST_TEXT:
        raise Refused(414, f"a position of {len(text):,} characters: at most {MOST_TEXT:,}")
    return text


def _truth(request: Any, name: str) -> bool:
    # Parsing nothing takes 10 us
    if not request.scope["query_string"]:
        return True
    text = request.query_params.get(name, "true")
    if text not in ("true", "false"):
        raise Refused(400, f"{name}={text[:40]!r}: say true or false")
    return bool(text == "true")


def _opponent(request: Any) -> int | None:
    # Parsing nothing takes 10 us
    text = request.query_params.get("opponent") if request.scope["query_string"] else None
    if text is None:
        return None
    if text not in map(str, OPPONENTS):
        raise Refused(400, f"opponent={text[:40]!r}: say {', '.join(map(str, OPPONENTS))}")
    return int(text)


def _whole(request: Any, name: str, least: int, most: int) -> int:
    text = request.query_params.get(name, str(most))
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and least <= int(text) <= most):
        raise Refused(400, f"{name}={text[:40]!r}: say a whole number from {least:,} to {most:,}")
    return int(text)
