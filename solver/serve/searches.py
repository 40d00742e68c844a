"""Live searches of one process: one at a time, few in the queue, none for a client that has gone.

A search runs in a thread, beside the answers from books. It loads or compiles its code before its turn, so
that other games' searches do not wait for that. Players and tables are kept for the games that were asked last:
memory does not grow with the requests.
"""

from __future__ import annotations

import asyncio
import functools
import math
import threading
import weakref
from collections.abc import Callable
from typing import Any

import anyio.to_thread

from solver.play.live import SHORT
from solver.play.player import Player
from solver.report.answers import Answers
from solver.report.records import Position
from solver.serve.reply import Refused
from solver.serve.shelf import Served

WAITING = 8  # in the queue of a process, the one that is under way among them
MAX_SEARCHES = 4  # whose searches are kept
ANSWERS = 2_000  # of a game, after which its tables are made anew
QUICK = SHORT / 2  # seconds of a first search, for which nothing is loaded


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
        gone = asyncio.ensure_future(_gone(request))
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


async def _gone(request: Any) -> None:
    """Return when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
