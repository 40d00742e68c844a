"""The application: what is kept, and what a book holds, is answered at once, all else goes by the routes."""

from __future__ import annotations

import logging
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from solver.base.errors import BookError, MissingState, PositionError, SolverError
from solver.serve.columns import Columns
from solver.serve.gamesman import Gamesman
from solver.serve.handlers import Handlers
from solver.serve.operations import OPERATIONS
from solver.serve.pages import Pages
from solver.serve.reply import FOREVER, Kept, Refused, Reply
from solver.serve.searches import Searches
from solver.serve.shelf import Shelf
from solver.serve.tablebase import Tablebase

METHODS = "GET, HEAD, POST, OPTIONS"


class Application:
    """An ASGI application over a shelf; `seconds` of live search for an answer, None without."""

    def __init__(self, shelf: Shelf, pages: Pages, seconds: float | None = None) -> None:
        self.searches = Searches(seconds)
        self.kept = Kept()
        self._handlers = handlers = Handlers(shelf, self.searches)
        routes = [
            Route(
                one.path.replace("{position}", "{position:path}"),
                self._answering(getattr(handlers, one.name)),
                methods=[one.method],
            )
            for one in OPERATIONS
        ]
        for others in (Gamesman(handlers), Columns(handlers), Tablebase(handlers), pages):
            routes += [Route(path, self._answering(answer)) for path, answer in others.routes()]
        refusals: Any = {kind: _refuse for kind in (Refused, HTTPException, SolverError, Exception)}
        self._routed = Starlette(routes=routes, exception_handlers=refusals)
        self._routed.router.redirect_slashes = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, as ASGI has it."""
        if scope["type"] == "http":
            if scope["method"] in ("GET", "HEAD"):
                reply = self.kept.get((scope["raw_path"], scope["query_string"]))
                if reply is None:
                    reply = self._handlers.at_once(scope["path"], scope["query_string"])
                    if reply is not None:
                        self.kept.keep(scope, reply)
                if reply is not None:
                    await reply(scope, receive, send)
                    return
            elif scope["method"] == "OPTIONS":
                await _PREFLIGHT(scope, receive, send)
                return
        await self._routed(scope, receive, send)

    def _answering(self, answer: Any) -> Any:
        """A handler as Starlette takes it, its replies kept if they never change."""

        async def endpoint(request: Any) -> Any:
            reply = await answer(request)
            if isinstance(reply, Reply) and request.method in ("GET", "HEAD"):
                self.kept.keep(request.scope, reply)
            return reply

        return endpoint


_PREFLIGHT = Reply(
    b"",
    cache=FOREVER,
    status=204,
    headers={
        "Allow": METHODS,
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": "Content-Type, If-None-Match",
        "Access-Control-Max-Age": "86400",
    }.items(),
)


async def _refuse(request: Any, error: Exception) -> Reply:
    """The reply to what went wrong."""
    if isinstance(error, Refused):
        return error.reply()
    if isinstance(error, HTTPException):
        words = {404: "nothing is here: /v1/openapi.json says what there is", 405: f"not by {request.method}"}
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = ", ".join(sorted(headers.get("Allow", "GET").split(", ")))
            words[405] += f": by {headers['Allow']}"
        return Refused(error.status_code, words.get(error.status_code, error.detail), headers).reply()
    if isinstance(error, PositionError):
        return Refused(400, str(error)).reply()
    if isinstance(error, MissingState):
        return Refused(404, str(error)).reply()
    if isinstance(error, SolverError):
        logging.getLogger(__name__).error("%s: %s", request.url.path, error)
        said = "a book cannot be read" if isinstance(error, BookError) else str(error)
        return Refused(500, f"{said}: the server's own log says more").reply()
    return Refused(500, "something is wrong with the server: its own log says what").reply()
