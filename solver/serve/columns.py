"""The protocol of scripts for connect-four solvers: `/solve?pos=475`, moves from the start, gives each column's score.

As at gamesolver.org, by Pascal Pons: for the side to move, the number of the winner's own stones left at the end, the
last one included; negative if it loses; 100 for a full column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from solver.rules.game import game_text
from solver.serve.handlers import Handlers
from solver.serve.operations import MOST_TEXT
from solver.serve.reply import Refused, Reply, reply_of
from solver.serve.shelf import Served

FULL = 100
NAME = "connect-four"


class Columns:
    """`/solve` over a shelf; `book` names another than the usual board."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers

    def routes(self) -> Iterator[tuple[str, Any]]:
        """Return the paths and their handlers."""
        yield "/solve", self._solve

    async def _solve(self, request: Any) -> Reply:
        text = request.query_params.get("pos", "")
        if len(text) > MOST_TEXT or not (text.isascii() and text.isdecimal() or text == ""):
            raise Refused(400, f"pos={text[:40]!r}: say the columns played, 475")
        served = self._served(request)
        facts, cache = await self._handlers.known(request, served, text or "start")
        if facts.terminal:
            raise Refused(400, f"pos={text[:80]!r}: the game is over")
        if not all(move.exact for move in facts.moves or ()):
            raise Refused(
                404, f"pos={text[:80]!r} is not known to the book of {served.name}: solver serve --live SECONDS"
            )
        width, height = served.game[:2]  # type: ignore[index]
        scores = [FULL] * width
        for move in facts.moves or ():
            distance = move.distance or 0
            score = (width * height + 2 - facts.ply - distance) // 2
            scores[int(move.move) - 1] = move.score * score
        return reply_of({"pos": text, "score": scores}, cache, "solve", served.digest, text)

    def _served(self, request: Any) -> Served:
        name = request.query_params.get("book", NAME)
        served = self._handlers.shelf.get(name)
        if served is None or game_text(served.game).partition(":")[0] != NAME:
            raise Refused(404, f"no {NAME} {name[:80]!r} is served: &book=connect-four:4,4 names another")
        return served
