"""The application: replies that are kept go out at once, all else goes by the routes, which one table lists."""

from __future__ import annotations

import logging
import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.requests import Request

from solver.base.errors import BookError, MissingState, PositionError, SolverError
from solver.serve.handlers import Handlers
from solver.serve.operations import OPERATIONS, Operation
from solver.serve.pages import Pages, error_page, wants_html
from solver.serve.reply import FOREVER, Kept, Refused, Reply
from solver.serve.searches import Searches
from solver.serve.shelf import Shelf

GET = frozenset(["GET", "HEAD"])
METHODS = "GET, HEAD, POST, OPTIONS"


class Route(NamedTuple):
    """A path, its methods, and their handler."""

    path: str
    methods: frozenset[str]
    pattern: re.Pattern[str]
    answer: Any
    queries: frozenset[str] | None = None  # the parameters that a query may have; None for any


class Application:
    """An ASGI application over a shelf; `seconds` of live search for an answer, None without."""

    def __init__(self, shelf: Shelf, pages: Pages, seconds: float | None = None) -> None:
        self.searches: Searches = Searches(seconds)
        self.kept: Kept = Kept()
        handlers = Handlers(shelf, self.searches)
        self.routes: list[Route] = [_operation(one, getattr(handlers, one.name)) for one in OPERATIONS]
        self.routes += [_route(path, answer) for path, answer in pages.routes()]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, as ASGI has it."""
        if scope["method"] == "OPTIONS":
            await _PREFLIGHT(scope, receive, send)
            return
        reply = self.kept.get((scope["raw_path"], scope["query_string"])) if scope["method"] in GET else None
        try:
            if reply is None:
                reply = await self._routed(scope)(Request(scope, receive))
                if isinstance(reply, Reply) and scope["method"] in GET:
                    self.kept.keep(scope, reply)
            await reply(scope, receive, send)
        except Exception as error:
            refused = _refused(scope, error)
            reply = error_page(refused, scope["path"]) if wants_html(scope) else refused.reply()
            await reply(scope, receive, send)
            if not isinstance(error, (Refused, SolverError)):
                # The server logs it
                raise

    def _routed(self, scope: Any) -> Any:
        """The handler of a request, whose path parameters are set. Raises Refused."""
        allowed: set[str] = set()
        for _, methods, pattern, answer, queries in self.routes:
            match = pattern.fullmatch(scope["path"])
            if match and scope["method"] in methods:
                scope["path_params"] = match.groupdict()
                if queries is not None and scope["query_string"]:
                    _check_queries(scope["query_string"], queries)
                return answer
            allowed |= methods if match else set()
        if not allowed:
            raise Refused(404, "nothing is here: /v1/openapi.json says what there is")
        names = ", ".join(sorted(allowed))
        raise Refused(405, f"not by {scope['method']}: by {names}", {"Allow": names})


def _operation(operation: Operation, answer: Any) -> Route:
    """The route of an operation of `/v1`, which takes the parameters that it lists and no others."""
    queries = frozenset(part["name"] for part in operation.parameters if part["in"] == "query")
    return _route(operation.path, answer, operation.method)._replace(queries=queries)


def _check_queries(query: bytes, known: frozenset[str]) -> None:
    """Raise Refused for a parameter that is not known."""
    for name, _ in parse_qsl(query.decode("utf-8", "replace"), keep_blank_values=True):
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            raise Refused(400, f"no parameter {name[:80]!r} here: this request takes {names}")


def _route(path: str, answer: Any, method: str = "GET") -> Route:
    """A route; the parameter `position` may have slashes, others have none."""
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)).replace("<position>[^/]+", "<position>.*")
    return Route(path, GET if method == "GET" else frozenset([method]), re.compile(pattern, re.DOTALL), answer)


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


def _refused(scope: Any, error: Exception) -> Refused:
    """Return the message for an error."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, PositionError):
        return Refused(400, str(error))
    if isinstance(error, MissingState):
        return Refused(404, str(error))
    if isinstance(error, SolverError):
        logging.getLogger(__name__).error("%s: %s", scope["path"], error)
        message_text = "a book cannot be read" if isinstance(error, BookError) else str(error)
        return Refused(500, f"{message_text}: the server's own log says more")
    return Refused(500, "something is wrong with the server: its own log says what")
