"""The head of a request, which is all that comes before its body: its limits of length and of time.

The parser keeps a head in memory until it is complete and sets no limit of its own. So the request line and each header
are measured as they come, and the bytes of a header that has not ended yet as well. A connection that waits for a head
counts among those that a worker takes, so it may not wait for ever.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from solver.serve.reply import Refused

MOST_TARGET = 8 << 10  # bytes of a path with its query
MOST_HEADERS = 64 << 10  # bytes of all headers
TOO_LONG = f"headers of more than {MOST_HEADERS:,} bytes: send fewer"
HEAD_TIME = 10.0  # seconds until a head is complete: from the connection on, later from its first byte on
LINGER = 2.0  # seconds in which a client that still sends may read the answer

Base: Any = HttpToolsProtocol


class Protocol(Base):  # type: ignore[misc]
    """HTTP as uvicorn speaks it, for heads of limited length; every refusal is a line of JSON."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._refusal: Refused | None = None
        # Whether a refusal has been sent
        self._closing = False
        # Whether a head has begun that has not ended
        self._is_head = False
        # Bytes of its headers
        self._size = 0
        # Bytes that came since it began, of which the parser may keep some to itself
        self._partial = 0

    def connection_made(self, transport: Any) -> None:
        """Wait for the first head."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._timer.cancel()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Start to measure a head."""
        super().on_message_begin()
        self._is_head, self._size, self._partial = True, 0, 0

    def on_url(self, url: bytes) -> None:
        """Take a part of the request line. Raises Refused."""
        super().on_url(url)
        if len(self.url) > MOST_TARGET:
            self._refuse(414, f"an address of more than {MOST_TARGET:,} bytes: name the state by its number, %23STATE")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, of a head or after a body. Raises Refused."""
        super().on_header(name, value)
        self._size += len(name) + len(value) + 4
        if self._size > MOST_HEADERS:
            self._refuse(431, TOO_LONG)

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._is_head = False
        self._timer.cancel()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Take in data. Data after a refusal are dropped."""
        if self._closing:
            return
        # A list of its own for each request
        head = self.headers
        super().data_received(data)
        if self._closing:
            return
        if self._timer.cancelled() and self.cycle.response_complete:
            # More than the last request: uvicorn no longer closes the connection as idle
            self._wait()
        if self._is_head and self.headers is head:
            self._partial += len(data)
            if self._partial > MOST_TARGET + MOST_HEADERS:
                self._end(Refused(431, TOO_LONG))

    def send_400_response(self, msg: str) -> None:
        """Answer a head that the parser refuses, or that is too long."""
        self._end(self._refusal or Refused(400, "this is no HTTP request: see /v1/openapi.json"))

    def _wait(self) -> None:
        self._timer = self.loop.call_later(HEAD_TIME, self._late)

    def _late(self) -> None:
        """Close a connection that took too long; if it has sent nothing, without a word, as one that is idle."""
        if self._is_head:
            self._end(Refused(408, f"a head that took more than {HEAD_TIME:g} seconds: send it at once"))
        else:
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        """Stop the parser, which then has `send_400_response` called."""
        self._refusal = Refused(status, message)
        raise self._refusal

    def _end(self, refused: Refused) -> None:
        """Send a refusal and close, a little later: if bytes are left unread, the client may lose the answer."""
        self._closing = True
        self._timer.cancel()
        if self.cycle is not None and not self.cycle.response_complete:
            # In the middle of another answer there is no room for this one
            self.transport.close()
            return
        self.transport.write(refused.reply().closing())
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER, self.transport.close)
