"""The head of a request, which is all that comes before its body: its limits of length and of time.

The parser keeps a head in memory until it is complete and sets no limit of its own; uvicorn closes an idle connection
only after an answer, and waits for ever once a byte comes. So `Heads`, a middleware, measures heads that are complete,
and `Connection`, which asyncio calls in place of uvicorn's protocol, the bytes and the time until the next one is. A
connection that waits for a head counts among those that a worker takes.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from solver.serve.reply import CLOSING, Refused

MOST_TARGET = 8 << 10  # bytes of a path with its query
MOST_HEADERS = 64 << 10  # bytes of all headers
MOST_CHUNKED = 16 << 20  # bytes of a body that does not say its length
TOO_LONG = f"headers of more than {MOST_HEADERS:,} bytes: send fewer"
HEAD_TIME = 10.0  # seconds until a head is complete: from the connection on, later from its first byte on
LINGER = 2.0  # seconds in which a client that still sends may read the answer
CONNECTION = "connection"  # what the state of a request calls it


class Heads:
    """An ASGI application that refuses heads which are too long, and tells the connection of each request."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, as ASGI has it."""
        connection = scope["state"].pop(CONNECTION)
        connection.begin(scope["headers"])
        application = self._application
        if len(scope["raw_path"]) + len(scope["query_string"]) > MOST_TARGET:
            message = f"an address of more than {MOST_TARGET:,} bytes: name the state by its number, %23STATE"
            application = Refused(414, message, CLOSING).reply()
        elif sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > MOST_HEADERS:
            application = Refused(431, TOO_LONG, CLOSING).reply()
        try:
            await application(scope, receive, send)
        finally:
            connection.end()


class Connection:
    """uvicorn's protocol, called as asyncio calls it, with limits of bytes and of time beside the requests."""

    def __init__(self, *, app_state: dict[str, Any], **options: Any) -> None:
        self._protocol = HttpToolsProtocol(app_state={**app_state, CONNECTION: self}, **options)
        self._under_way = 0  # requests
        # Bytes since the last head was complete: of its body and of the next head
        self._size, self._allowed = 0, MOST_TARGET + MOST_HEADERS
        self._has_begun = self._is_refused = False
        self._timer: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)

    def connection_made(self, transport: Any) -> None:
        """Wait for the first head."""
        self._transport, self._loop = transport, asyncio.get_running_loop()
        self._wait()
        self._protocol.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Take in data. Data after a refusal are dropped."""
        if self._is_refused:
            return
        if self._timer is None and not self._under_way:
            self._wait()
        # A blank line begins no head
        self._has_begun = self._has_begun or bool(data.strip())
        self._size += len(data)
        self._protocol.data_received(data)
        if self._size > self._allowed:
            # Behind the request, if these bytes have made its head complete
            self._loop.call_soon(self._measure)

    def connection_lost(self, error: Exception | None) -> None:
        """Wait no longer."""
        self._stop()
        self._protocol.connection_lost(error)

    def begin(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Take note of a request whose head is complete."""
        self._stop()
        self._under_way += 1
        fields = dict(headers)
        body = MOST_CHUNKED if b"transfer-encoding" in fields else int(fields.get(b"content-length", 0))
        self._size, self._allowed = 0, MOST_TARGET + MOST_HEADERS + body

    def end(self) -> None:
        """Take note of its answer."""
        self._under_way -= 1

    def _wait(self) -> None:
        self._has_begun = False
        self._timer = self._loop.call_later(HEAD_TIME, self._late)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _measure(self) -> None:
        if self._size > self._allowed:
            self._refuse(431, TOO_LONG)

    def _late(self) -> None:
        """Close a connection that took too long; if it has sent nothing, without a word, as one that is idle."""
        if self._has_begun:
            self._refuse(408, f"a head that took more than {HEAD_TIME:g} seconds: send it at once")
        else:
            self._transport.close()

    def _refuse(self, status: int, message: str) -> None:
        """Send a refusal and close, a little later: if bytes are left unread, the client may lose the answer."""
        self._stop()
        self._is_refused = True
        if self._under_way:
            # In the middle of another answer there is no room for this one
            self._transport.close()
            return
        self._transport.write(Refused(status, message).reply().closing())
        if self._transport.can_write_eof():
            self._transport.write_eof()
        self._loop.call_later(LINGER, self._transport.close)
