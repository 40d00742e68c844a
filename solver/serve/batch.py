"""Batches: lines of questions, each answered as it comes in.

The server reads while it sends answers, as far as the limits go, so that a client may write all before it reads, or
ask and read in turns. Beyond a limit a batch ends with an error: as its status where nothing was sent yet, else as the
last line. The rest that the client writes then is read and dropped for a while: a connection that is closed on bytes
that nobody has read is reset, and the answer lost with it.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections import deque
from typing import Any

import anyio
import anyio.to_thread

from solver.report.answers import Answers
from solver.report.records import line_of
from solver.serve.operations import MOST_BYTES, MOST_QUESTIONS, MOST_TEXT
from solver.serve.reply import ALWAYS, CLOSING, NDJSON, NO_STORE, Refused, takes_gzip

ARRIVAL_SECONDS = 30.0  # seconds in which a batch has to arrive
LINGER = 5.0  # in which what comes of one that was refused is dropped
AT_ONCE = 64  # positions of a batch between two looks at the other requests


class Batch:
    """The answers to the lines of one request, an ASGI application for that one alone."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        # Lines that wait for their answers
        self._lines: deque[bytes] = deque()
        self._refusal: Refused | None = None
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
            if not await self._answer(takes_gzip(headers.get(b"accept-encoding", b"")), send):
                await self._refuse(scope, receive, send)
            group.cancel_scope.cancel()

    async def _read(self, declared: int, receive: Any, all_of_it: anyio.CancelScope) -> None:
        """Take in lines until the client has sent all, and see whether it goes."""
        try:
            with anyio.move_on_after(ARRIVAL_SECONDS) as patience:
                await self._take(declared, receive)
            if patience.cancelled_caught:
                raise Refused(408, f"the batch did not arrive within {ARRIVAL_SECONDS:g} s", CLOSING)
        except Refused as refusal:
            self._refusal = refusal
            self._news.set()
            # Who waits to be told to go on, does not send what is refused
            await self._begun.wait()
            with anyio.move_on_after(LINGER):
                while self._more:
                    self._more = (await receive()).get("more_body", False)
        self._whole.set()
        self._news.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        all_of_it.cancel()

    async def _take(self, declared: int, receive: Any) -> None:
        """Take in lines to the end. Raises Refused beyond the limits."""
        _check(declared, MOST_BYTES, "bytes")
        begun, size, questions = b"", 0, 0
        while self._more:
            message = await receive()
            piece, self._more = message.get("body", b""), message.get("more_body", False)
            *lines, begun = (begun + piece).split(b"\n")
            lines = [line for line in (*lines, b"" if self._more else begun) if line.strip()]
            size, questions = size + len(piece), questions + len(lines)
            _check(size, MOST_BYTES, "bytes")
            _check(questions, MOST_QUESTIONS, "lines")
            self._lines += lines
            self._news.set()

    async def _answer(self, compress: bool, send: Any) -> bool:
        """Send answers until there are no more lines; False where the batch was refused before the first."""
        packer = zlib.compressobj(6, wbits=31) if compress else None
        begun = self._begun

        async def put(body: bytes, has_more: bool = True) -> None:
            if packer is not None:
                body = packer.compress(body) + packer.flush(zlib.Z_SYNC_FLUSH if has_more else zlib.Z_FINISH)
            if not begun.is_set():
                headers = [*ALWAYS, (b"content-type", NDJSON.encode()), (b"cache-control", NO_STORE.encode())]
                headers += [(b"content-encoding", b"gzip")] if compress else []
                await send({"type": "http.response.start", "status": 200, "headers": headers})
            begun.set()
            await send({"type": "http.response.body", "body": body, "more_body": has_more})

        while (lines := await self._waiting()) and (begun.is_set() or self._refusal is None):
            await put(await anyio.to_thread.run_sync(self._answered, lines))
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
        return b"".join(_answer(self._answers, line) for line in lines)

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
        raise Refused(413, f"more than {limit:,} {what}: send several batches", CLOSING)


def _answer(answers: Answers, line: bytes) -> bytes:
    """The line that answers a line."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        request = None
    text = request.get("position") if isinstance(request, dict) else request
    if isinstance(text, str) and len(text) <= MOST_TEXT:
        return answers.line(text)
    remedy = f'a line is a text of at most {MOST_TEXT:,} characters, "11242", or {{"position": "11242"}}'
    return line_of({"position": line[:80].decode("utf-8", "replace"), "error": remedy})
