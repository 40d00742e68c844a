"""The served books and games by their names. Each is opened once, before the workers fork.

A name is the game's string, `connect-four:4,4`. Requests choose among these names, and none becomes a path.

`Searches` are the live searches of one process: one at a time, few in the queue, none for a client that has gone. A
search runs in a thread, beside the answers from books. It loads or compiles its code before its turn, so that other
games' searches do not wait for that. Players and tables are kept for the games that were asked last: memory does not
grow with the requests.
"""

from __future__ import annotations

import asyncio
import functools
import math
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import anyio.to_thread

from solver.base.errors import BookError, GameError
from solver.book import Book, shipped
from solver.export.site import title_of
from solver.play.live import SHORT
from solver.play.player import Player
from solver.report import games
from solver.report.answers import Answers
from solver.report.records import Position
from solver.rules.game import Game, Rules, game_text, load_game
from solver.rules.notation import summary_of
from solver.serve.reply import Refused

WAITING = 8  # in the queue of a process, the one that is under way among them
MAX_SEARCHES = 4  # whose searches are kept
ANSWERS = 2_000  # of a game, after which its tables are made anew
QUICK = SHORT / 2  # seconds of a first search, for which nothing is loaded


class Served:
    """A game, and its book if there is one: positions are answered from it without a live search."""

    def __init__(self, game: Game, book: Book | None) -> None:
        self.answers = functools.cache(self._answers)
        self.name, self.game, self.book = game_text(game), game, book
        self.rules: Rules = Rules(game) if book is None else book.rules

    @functools.cached_property
    def player(self) -> Player:
        """One that searches no further than the look-ahead that costs no budget."""
        return Player({} if self.book is None else self.book, self.game, live=False)

    def _answers(self, moves: bool, opponent: int | None) -> Answers:
        """Return its answers, the same bytes to the same question.

        Args:
            moves: Whether they list every move.
            opponent: Plies that a fallible opponent sees, to add an estimate of each move's result against it.

        Raises:
            MethodError: The game has no such opponent.
        """
        player = self.player
        if opponent is not None:
            player = Player(player.solution, self.game, live=False, method="practical", opponent=opponent)
        return Answers(player, moves=moves, timed=False)

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
        try:
            game = load_game(name)
        except GameError:
            # It cannot do without parameters, or a file
            continue
        if game_text(game) not in seen:
            yield Served(game, None)


class Searches:
    """Searches of `seconds` for an answer at most, loading a game's search aside; None of seconds: there are none."""

    def __init__(self, seconds: float | None, most: int = WAITING) -> None:
        self.seconds, self.most = seconds, most
        self.under_way: int = 0  # and waiting
        self._turn = asyncio.Semaphore(1)
        # And how many answers each has given
        self.players: dict[str, tuple[Player, int]] = {}
        self._loaded: weakref.WeakSet[Player] = weakref.WeakSet()

    def serves(self, served: Served) -> bool:
        """Return whether requests about it are searched for."""
        return self.seconds is not None and served.can_search

    async def position(self, request: Any, served: Served, text: str, moves: bool) -> Position:
        """The facts of a position, as far as the seconds go; raises as `Answers.ask`, and Refused."""
        player, seconds = self.player_of(served), self.seconds or 0

        def search(stop: Callable[[], bool], share: float = 1.0) -> Position:
            return Answers(player, moves=moves, timed=False).ask(text, player.budget(stop).part(share))

        if seconds <= SHORT:
            return await self.run(request, search)
        # What is easy need not wait for a compiler
        if player not in self._loaded:
            facts = await self.run(request, functools.partial(search, share=QUICK / seconds))
            if is_told(facts):
                return facts
        facts = await self.run(request, search, player.prepare)
        self._loaded.add(player)
        return facts

    def player_of(self, served: Served) -> Player:
        """The player of a game, the last of those that are kept."""
        player, answered = self.players.pop(served.name, (None, 0))
        if player is None or answered >= ANSWERS:
            player, answered = Player(served.book or {}, served.game, seconds=self.seconds), 0
        self.players[served.name] = player, answered + 1
        while len(self.players) > MAX_SEARCHES:
            self.players.pop(next(iter(self.players)))
        return player

    async def run(
        self, request: Any, search: Callable[[Callable[[], bool]], Position], load: Callable[[], None] | None = None
    ) -> Position:
        """Return the result of `search(stop)` in its turn, after `load()`. `stop()` becomes True when the client goes.

        Raises Refused, 503, if too many wait.
        """
        if self.under_way >= self.most:
            seconds = max(1, math.ceil((self.seconds or 0) * self.under_way))
            message = f"{self.under_way} searches are under way or wait, no more are taken: ask again in {seconds} s"
            raise Refused(503, message, {"Retry-After": str(seconds)})
        stop, begun = threading.Event(), asyncio.Event()
        found = asyncio.ensure_future(self._in_turn(functools.partial(search, stop.is_set), begun, load))
        gone = asyncio.ensure_future(has_gone(request.receive))
        self.under_way += 1
        try:
            await asyncio.wait({found, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not found.done():
                stop.set()
                if not begun.is_set():
                    found.cancel()
            return await found
        except asyncio.CancelledError:
            # The server ends, and waits no longer
            if not gone.done():
                raise
            raise Refused(499, "the client has gone") from None
        finally:
            self.under_way -= 1
            stop.set()
            gone.cancel()

    async def _in_turn(
        self, search: Callable[[], Position], begun: asyncio.Event, load: Callable[[], None] | None
    ) -> Position:
        if load is not None:
            await anyio.to_thread.run_sync(load, abandon_on_cancel=True)
        async with self._turn:
            begun.set()
            return await anyio.to_thread.run_sync(search, abandon_on_cancel=True)


def is_told(facts: Position) -> bool:
    """Whether no search would know more than these answers: all is exact, or an estimate of a book."""
    return all(served.exact or served.source == "book" for served in (facts, *(facts.moves or ())))


async def has_gone(receive: Any) -> None:
    """Return when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
