"""The served books and games by their names. Each is opened once, before the workers fork.

A name is the game's string, `connect-four:4,4`. Requests choose among these names, and none becomes a path.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from solver.base.errors import BookError, GameError
from solver.book import Book, shipped
from solver.export.site import title_of
from solver.play.player import Player
from solver.report import games
from solver.report.answers import Answers
from solver.rules.game import Game, Rules, game_text, is_built_in, load_game
from solver.rules.notation import summary_of
from solver.serve.reply import Refused


class Served:
    """A game, and its book if there is one: positions are answered from it without a live search."""

    def __init__(self, game: Game, book: Book | None) -> None:
        self._answers: dict[tuple[bool, int | None], Answers] = {}
        self.name, self.game, self.book = game_text(game), game, book
        self.rules: Rules = Rules(game) if book is None else book.rules

    @functools.cached_property
    def player(self) -> Player:
        """One that searches no further than the look-ahead that costs no budget."""
        return Player({} if self.book is None else self.book, self.game, live=False)

    def answers(self, moves: bool = True, opponent: int | None = None) -> Answers:
        """Return its answers, the same bytes to the same question.

        Args:
            moves: Whether they list every move.
            opponent: Plies that a fallible opponent sees, to add an estimate of each move's result against it.

        Raises:
            MethodError: The game has no such opponent.
        """
        key = moves, opponent
        if key not in self._answers:
            player = self.player
            if opponent is not None:
                player = Player(player.solution, self.game, live=False, method="practical", opponent=opponent)
            self._answers[key] = Answers(player, moves=moves, timed=False)
        return self._answers[key]

    @property
    def digest(self) -> str:
        """A digest that changes with the book and its rules."""
        return self.rules.fingerprint if self.book is None else self.book.digest

    @property
    def is_quick(self) -> bool:
        """Whether an answer is a few look-ups."""
        return self.book is not None and self.book.header.is_gapless and not self.book.header.encoding.asks_rules

    @property
    def can_search(self) -> bool:
        """Whether a live search may know more."""
        return "live" not in self.rules.kind.unfit and not (self.book is not None and self.book.header.is_gapless)

    def facts(self) -> dict[str, Any]:
        """Return its entry in a list of games."""
        return {
            "name": self.name,
            "title": title_of(self.game),
            "about": summary_of(self.game),
            "score_game": self.rules.margins,
            "supports": games.supports(type(self.game)),
            "book": self.book is not None,
            "searches": self.can_search,
        }


class Shelf(dict[str, Served]):
    """All that is served, by name. Raises BookError if two have one name, and errors of opening them."""

    def __init__(self, served: Iterable[Served]) -> None:
        super().__init__()
        for one in served:
            if one.name in self:
                raise BookError(f"{one.name} is named twice: serve each game once, another book of it on another port")
            self[one.name] = one

    def asked(self, request: Any) -> Served:
        """Return the game that the path of a request names. Raises Refused."""
        name = request.path_params["game"]
        if name not in self:
            raise Refused(404, f"no game {name[:80]!r} is served: / lists the games, /v1/games as well")
        return self[name]

    @property
    def books(self) -> list[tuple[Served, Book]]:
        """Return the games that have a book, with the book."""
        return [(served, served.book) for served in self.values() if served.book is not None]


def all_shipped(names: Iterable[str]) -> Iterator[Served]:
    """Every book that comes with the package, then the games of these names of which there is none."""
    seen = set()
    for path in shipped.paths():
        book = Book(path)
        seen.add(game_text(book.game))
        yield Served(book.game, book)
    for name in names:
        if not is_built_in(name):
            continue
        try:
            game = load_game(name)
        except GameError:
            # It has no parameters that it could do without
            continue
        if game_text(game) not in seen:
            yield Served(game, None)
