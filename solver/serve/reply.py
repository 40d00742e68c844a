"""Replies: bodies that are made once, in both encodings, and errors as one line of JSON.

A reply is an ASGI application, like Starlette's responses. An answer from a book alone never changes. Such replies
carry a strong ETag and are `Kept`: the same request gets the same bytes again, and no rule is run.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from solver import __version__
from solver.report.records import line_of

JSON, NDJSON = "application/json", "application/x-ndjson"
HTML = "text/html; charset=utf-8"
FOREVER, REVALIDATE, NO_STORE = "public, max-age=31536000, immutable", "no-cache", "no-store"
CLOSING = {"Connection": "close"}
SMALL = 1_000  # bytes that are not worth compressing
MOST_KEPT = 64 << 20  # bytes of replies, in both encodings
OVERHEAD = 2_000  # bytes of a reply that is kept, besides its body

Headers = tuple[tuple[bytes, bytes], ...]
ALWAYS: Headers = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag, Retry-After"),
    (b"vary", b"Accept-Encoding"),
    (b"x-content-type-options", b"nosniff"),
)


class Refused(Exception):
    """A request that gets an error: the status, one line that names the remedy, and headers."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers or {}

    def line(self) -> bytes:
        """Return the body to send."""
        return line_of({"error": " ".join(self.message.split())})

    def reply(self) -> Reply:
        """The error as it is sent."""
        return Reply(self.line(), status=self.status, cache=NO_STORE, headers=self.headers.items())


def tag_of(*texts: str) -> str:
    """Return a strong ETag: of the book's digest, the request, and the program, whose answers may change."""
    return hashlib.blake2b("\0".join((__version__, *texts)).encode("utf-8", "replace"), digest_size=12).hexdigest()


def takes_gzip(accepted: bytes) -> bool:
    """Whether a header Accept-Encoding has gzip."""
    return b"gzip" in accepted and b"gzip;q=0" not in accepted.replace(b" ", b"")


def reply_of(facts: Any, cache: str = REVALIDATE, *asked: str) -> Reply:
    """Return the reply of facts that may be kept so long.

    Its ETag is made of the request, of facts that stay until the server starts again of the body, of others none.
    """
    body = line_of(facts)
    return Reply(body, cache=cache, tag=None if cache == NO_STORE else tag_of(*(asked or (body.decode(),))))


class Reply:
    """A status, headers and a body: compressed for who takes that, empty for who has it or asks for the head alone.

    Of many that are kept the garbage collector has little to look through: bytes, in tuples.
    """

    __slots__ = ("body", "cache", "status", "tag", "_compressed", "_headers")

    def __init__(
        self,
        body: bytes,
        media: str = JSON,
        *,
        status: int = 200,
        cache: str = REVALIDATE,
        tag: str | None = None,
        headers: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.body, self.status, self.cache, self.tag = body, status, cache, tag
        self._compressed: bytes | None = None
        own_headers = tuple((name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers)
        self._headers: Headers = (
            (b"content-type", media.encode()),
            (b"cache-control", cache.encode()),
            *ALWAYS,
            *own_headers,
        )

    def _variant(self, compress: bool) -> tuple[bytes, Headers]:
        """The body in an encoding, and its headers but for the length."""
        body, headers = self.body, self._headers
        if compress:
            if self._compressed is None:
                self._compressed = gzip.compress(self.body, 6, mtime=0)
            body, headers = self._compressed, (*headers, (b"content-encoding", b"gzip"))
        if self.tag is not None:
            headers = (*headers, (b"etag", f'"{self.tag}{"-gzip" if compress else ""}"'.encode()))
        return body, headers

    def closing(self) -> bytes:
        """Make the whole response of HTTP/1.1, after which the connection closes."""
        body, headers = self._variant(compress=False)
        headers = (*headers, (b"content-length", str(len(body)).encode()), (b"connection", b"close"))
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}".encode()]
        return b"\r\n".join([*lines, *(name + b": " + value for name, value in headers), b"", body])

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send it, as ASGI has it."""
        requested, compress = b"", False
        for name, value in scope["headers"]:
            if name == b"if-none-match":
                requested = value
            elif name == b"accept-encoding":
                compress = len(self.body) > SMALL and takes_gzip(value)
        status, (body, headers) = self.status, self._variant(compress)
        if requested and self.tag is not None and (self.tag.encode() in requested or requested.strip() == b"*"):
            status, body = 304, b""
        elif status != 204:
            headers = (*headers, (b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


class Kept:
    """Replies by request. The oldest go when they take too many bytes."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._replies: dict[tuple[bytes, bytes], Reply] = {}
        self._most, self._size = most, 0
        self.get = self._replies.get

    def keep(self, scope: Any, reply: Reply) -> None:
        """Keep the reply to a request, if it never changes."""
        key = scope["raw_path"], scope["query_string"]
        if reply.cache == FOREVER and key not in self._replies:
            self._replies[key] = reply
            self._size += _size(key, reply)
            while self._size > self._most:
                oldest = next(iter(self._replies))
                self._size -= _size(oldest, self._replies.pop(oldest))


def _size(key: tuple[bytes, bytes], reply: Reply) -> int:
    """About as many bytes as it takes, compressed or not."""
    return len(key[0]) + len(key[1]) + len(reply.body) + len(reply.body) // 2 + OVERHEAD
