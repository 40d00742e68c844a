"""The application: replies that are kept go out immediately, all else goes by the routes, which one table lists.

`Handlers` has one method for each of `operations.OPERATIONS`, from a request to a reply. `Batch` answers lines of
questions, each as it comes in: the server reads while it sends answers, as far as the limits go, so that a client may
write all before it reads, or ask and read in turns. Beyond a limit a batch ends with an error: as its status where
nothing was sent yet, else as the last line. The rest that the client writes then is read and dropped for a while: a
connection that is closed on bytes that nobody has read is reset, and the answer lost with it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import zlib
from collections import deque
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import anyio.to_thread
from starlette.requests import Request

from solver.base.errors import BookError, MethodError, MissingState, PositionError, SolverError
from solver.book import Book
from solver.export.site import title_of
from solver.play.analysis import OPPONENTS
from solver.report import books
from solver.report.answers import Answers, best_line
from solver.report.facts import facts_of
from solver.report.records import Counts, line_of
from solver.serve import operations, reply
from solver.serve.pages import Pages, error_page, wants_html
from solver.serve.shelf import Searches, Served, Shelf, has_gone, is_told

GET = frozenset(["GET", "HEAD"])
METHODS = "GET, HEAD, POST, OPTIONS"
ARRIVAL_SECONDS = 30.0  # seconds in which a batch has to arrive
LINGER = 5.0  # in which what comes of one that was refused is dropped
AT_ONCE = 64  # positions of a batch between two looks at the other requests


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
        self.kept: reply.Kept = reply.Kept()
        handlers = Handlers(shelf, self.searches)
        self.routes: list[Route] = []
        for operation in operations.OPERATIONS:
            # It takes the parameters that it lists and no others
            queries = frozenset(part["name"] for part in operation.parameters if part["in"] == "query")
            route = _route(operation.path, getattr(handlers, operation.name), operation.method)
            self.routes.append(route._replace(queries=queries))
        self.routes += [_route(path, answer) for path, answer in pages.routes()]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, as ASGI has it."""
        if scope["method"] == "OPTIONS":
            await _PREFLIGHT(scope, receive, send)
            return
        response = self.kept.get((scope["raw_path"], scope["query_string"])) if scope["method"] in GET else None
        try:
            if response is None:
                response = await self._routed(scope)(Request(scope, receive))
                if isinstance(response, reply.Reply) and scope["method"] in GET:
                    self.kept.keep(scope, response)
            await response(scope, receive, send)
        except Exception as error:
            refused = _refusal(error, scope["path"])
            response = error_page(refused, scope["path"]) if wants_html(scope) else refused.reply()
            await response(scope, receive, send)
            if not isinstance(error, (reply.Refused, SolverError)):
                # The server logs it
                raise

    def _routed(self, scope: Any) -> Any:
        """The handler of a request, whose path parameters are set. Raises Refused."""
        allowed: set[str] = set()
        for route in self.routes:
            match = route.pattern.fullmatch(scope["path"])
            if match and scope["method"] in route.methods:
                break
            allowed |= route.methods if match else set()
        else:
            if not allowed:
                raise reply.Refused(404, "nothing is here: /v1/openapi.json says what there is")
            names = ", ".join(sorted(allowed))
            raise reply.Refused(405, f"not by {scope['method']}: by {names}", {"Allow": names})
        scope["path_params"] = match.groupdict()
        for name, _ in parse_qsl(scope["query_string"].decode("utf-8", "replace"), keep_blank_values=True):
            if route.queries is not None and name not in route.queries:
                names = ", ".join(sorted(route.queries)) or "none"
                raise reply.Refused(400, f"no parameter {name[:80]!r} here: this request takes {names}")
        return route.answer


def _refusal(error: Exception, path: str) -> reply.Refused:
    """The refusal that an error becomes, which tells no stranger where files lie: the log does."""
    if isinstance(error, reply.Refused):
        return error
    if isinstance(error, (PositionError, MissingState)):
        return reply.Refused(400 if isinstance(error, PositionError) else 404, str(error))
    if isinstance(error, SolverError):
        logging.getLogger(__name__).error("%s: %s", path, error)
        fault = "a book cannot be read" if isinstance(error, BookError) else str(error)
        return reply.Refused(500, f"{fault}: the server's own log says more")
    return reply.Refused(500, "something is wrong with the server: its own log says what")


def _route(path: str, answer: Any, method: str = "GET") -> Route:
    """A route; the parameter `position` may have slashes, others have none. No page lies in `/v1/`."""
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)).replace("<position>[^/]+", "<position>.*")
    pattern = pattern if path.startswith("/v1") else f"(?!/v1/){pattern}"
    return Route(path, GET if method == "GET" else frozenset([method]), re.compile(pattern, re.DOTALL), answer)


_PREFLIGHT = reply.Reply(
    b"",
    cache=reply.FOREVER,
    status=204,
    headers={
        "Allow": METHODS,
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": "Content-Type, If-None-Match",
        "Access-Control-Max-Age": "86400",
    }.items(),
)


class Handlers:
    """The answers of a shelf, and of live searches where it does not know."""

    def __init__(self, shelf: Shelf, searches: Searches) -> None:
        self.shelf, self.searches = shelf, searches

    async def games(self, request: Any) -> reply.Reply:
        """All games."""
        return reply.reply_of([served.facts() for served in self.shelf.values()])

    async def game(self, request: Any) -> reply.Reply:
        """One of them."""
        return reply.reply_of(self.shelf.asked(request).facts())

    async def books(self, request: Any) -> reply.Reply:
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
        return reply.reply_of(facts)

    async def book(self, request: Any) -> reply.Reply:
        """Answer with a book's facts."""
        _, book = self.any_book(request)
        return reply.reply_of(books.facts(book.header, book.size))

    async def counts(self, request: Any) -> reply.Reply:
        """Answer with a book's counts."""
        _, book = self.any_book(request)
        facts = books.facts(book.header, None)
        return reply.reply_of({name: facts[name] for name in Counts.__annotations__})

    async def openapi(self, request: Any) -> reply.Reply:
        """The document of all this."""
        return reply.reply_of(operations.document())

    async def book_position(self, request: Any) -> reply.Reply:
        """A position of a book."""
        # Parsing nothing takes 10 us
        text = request.query_params.get("opponent") if request.scope["query_string"] else None
        if text is not None and text not in map(str, OPPONENTS):
            raise reply.Refused(400, f"opponent={text[:40]!r}: say {', '.join(map(str, OPPONENTS))}")
        return await self._position(request, self.any_book(request)[0], None if text is None else int(text))

    async def game_position(self, request: Any) -> reply.Reply:
        """A position of a game."""
        return await self._position(request, self.shelf.asked(request))

    async def _position(self, request: Any, served: Served, opponent: int | None = None) -> reply.Reply:
        """A position, by knowledge at once, else by live search, if there is any; against an opponent by none."""
        text, moves = position_in(request), _lists_moves(request)
        try:
            ask, cache = served.answers(moves, opponent).ask, reply.FOREVER
        except MethodError as error:
            raise reply.Refused(400, str(error)) from None
        is_quick = served.is_quick and opponent is None
        facts = ask(text) if is_quick else await anyio.to_thread.run_sync(ask, text)
        if not is_quick and not is_told(facts):
            cache = reply.REVALIDATE
            if opponent is None and self.searches.serves(served):
                facts, cache = await self.searches.position(request, served, text, moves), reply.NO_STORE
        return reply.reply_of(facts, cache, "position", served.digest, text, str(moves), str(opponent))

    async def book_line(self, request: Any) -> reply.Reply:
        """Best play by a book."""
        served, book = self.any_book(request)
        text, most = position_in(request), request.query_params.get("most", str(operations.MOST_LINE))
        is_number = most.isascii() and most.isdecimal() and len(most) < 10
        if not is_number or not 1 <= int(most) <= operations.MOST_LINE:
            raise reply.Refused(400, f"most={most[:40]!r}: say a whole number from 1 to {operations.MOST_LINE:,}")
        facts = await anyio.to_thread.run_sync(best_line, served.player, text, int(most))
        # Where the book ends, another one may know more
        cache = reply.FOREVER if book.header.is_gapless else reply.REVALIDATE
        return reply.reply_of(facts, cache, "line", served.digest, text, str(int(most)))

    async def book_positions(self, request: Any) -> Batch:
        """Many positions of a book, answered as they come in."""
        served, _ = self.any_book(request)
        return Batch(served.answers(_lists_moves(request), None))

    def any_book(self, request: Any) -> tuple[Served, Book]:
        """Return the game whose book the path names, and the book. Raises Refused."""
        name = request.path_params["book"]
        served = self.shelf.get(name)
        if served is None or served.book is None:
            raise reply.Refused(404, f"no book {name[:80]!r} is served: /v1/books lists those that are")
        return served, served.book


def position_in(request: Any) -> str:
    """The position that a path names. Raises Refused."""
    text: str = request.path_params["position"]
    if len(text) > operations.MOST_TEXT:
        raise reply.Refused(414, f"a position of {len(text):,} characters: at most {operations.MOST_TEXT:,}")
    return text


def _lists_moves(request: Any) -> bool:
    # Parsing nothing takes 10 us
    text = request.query_params.get("moves", "true") if request.scope["query_string"] else "true"
    if text not in ("true", "false"):
        raise reply.Refused(400, f"moves={text[:40]!r}: say true or false")
    return bool(text == "true")


class Batch:
    """The answers to the lines of one request, an ASGI application for that one alone."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        # Lines that wait for their answers
        self._lines: deque[bytes] = deque()
        self._refusal: reply.Refused | None = None
        self._news = asyncio.Event()
        self._begun = asyncio.Event()  # the reply
        # Nothing more is read
        self._whole = asyncio.Event()
        self._more = True  # is to come

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, as ASGI has it, unless the client goes."""
        headers = dict(scope["headers"])
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, int(headers.get(b"content-length", 0)), receive, group.cancel_scope)
            if not await self._answer(scope["path"], reply.takes_gzip(headers.get(b"accept-encoding", b"")), send):
                await self._refuse(scope, receive, send)
            group.cancel_scope.cancel()

    async def _read(self, declared: int, receive: Any, all_of_it: anyio.CancelScope) -> None:
        """Take in lines until the client has sent all, and see whether it goes."""
        try:
            with anyio.move_on_after(ARRIVAL_SECONDS) as patience:
                await self._take(declared, receive)
            if patience.cancelled_caught:
                raise reply.Refused(408, f"the batch did not arrive within {ARRIVAL_SECONDS:g} s", reply.CLOSING)
        except reply.Refused as refusal:
            self._refusal = refusal
            self._news.set()
            # Who waits to be told to go on, does not send what is refused
            await self._begun.wait()
            with anyio.move_on_after(LINGER):
                while self._more:
                    self._more = (await receive()).get("more_body", False)
        self._whole.set()
        self._news.set()
        await has_gone(receive)
        all_of_it.cancel()

    async def _take(self, declared: int, receive: Any) -> None:
        """Take in lines to the end. Raises Refused beyond the limits."""
        _check(declared, operations.MOST_BYTES, "bytes")
        begun, size, questions = b"", 0, 0
        while self._more:
            message = await receive()
            piece, self._more = message.get("body", b""), message.get("more_body", False)
            *lines, begun = (begun + piece).split(b"\n")
            lines = [line for line in (*lines, b"" if self._more else begun) if line.strip()]
            size, questions = size + len(piece), questions + len(lines)
            _check(size, operations.MOST_BYTES, "bytes")
            _check(questions, operations.MOST_QUESTIONS, "lines")
            self._lines += lines
            self._news.set()

    async def _answer(self, path: str, compress: bool, send: Any) -> bool:
        """Send answers until there are no more lines; False where the batch was refused before the first."""
        packer = zlib.compressobj(6, wbits=31) if compress else None
        begun = self._begun

        async def put(body: bytes, has_more: bool = True) -> None:
            if packer is not None:
                body = packer.compress(body) + packer.flush(zlib.Z_SYNC_FLUSH if has_more else zlib.Z_FINISH)
            if not begun.is_set():
                headers = [
                    *reply.ALWAYS,
                    (b"content-type", reply.NDJSON.encode()),
                    (b"cache-control", reply.NO_STORE.encode()),
                ]
                headers += [(b"content-encoding", b"gzip")] if compress else []
                await send({"type": "http.response.start", "status": 200, "headers": headers})
            begun.set()
            await send({"type": "http.response.body", "body": body, "more_body": has_more})

        while (lines := await self._waiting()) and (begun.is_set() or self._refusal is None):
            try:
                answered = await anyio.to_thread.run_sync(self._answered, lines)
            except SolverError as error:
                self._refusal = _refusal(error, path)
                break
            await put(answered)
        if self._refusal is not None:
            if not begun.is_set():
                return False
            await put(self._refusal.line())
            await self._whole.wait()
        await put(b"", has_more=False)
        return True

    async def _waiting(self) -> list[bytes]:
        """Some lines that wait for their answers; none where no more will come."""
        while not (self._lines or self._refusal or self._whole.is_set()):
            self._news.clear()
            await self._news.wait()
        return [self._lines.popleft() for _ in range(min(AT_ONCE, len(self._lines)))]

    def _answered(self, lines: list[bytes]) -> bytes:
        """The lines that answer some lines."""
        answered = b""
        for line in lines:
            try:
                request = json.loads(line)
            except (ValueError, RecursionError):
                request = None
            text = request.get("position") if isinstance(request, dict) else request
            if isinstance(text, str) and len(text) <= operations.MOST_TEXT:
                answered += self._answers.line(text)
            else:
                shape = f'a text of at most {operations.MOST_TEXT:,} characters, "11242", or {{"position": "11242"}}'
                error = {"position": line[:80].decode("utf-8", "replace"), "error": f"a line is {shape}"}
                answered += line_of(error)
        return answered

    async def _refuse(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the refusal, whole, and end once the rest of the request was read."""
        assert self._refusal is not None

        async def held(message: Any) -> None:
            await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

        await self._refusal.reply()(scope, receive, held)
        self._begun.set()
        await self._whole.wait()
        await send({"type": "http.response.body"})


def _check(count: int, limit: int, what: str) -> None:
    if count > limit:
        raise reply.Refused(413, f"more than {limit:,} {what}: send several batches", reply.CLOSING)
