"""Workers: processes that share a port, from the first connection to the last answer.

Where the system spreads connections over sockets of one port (Linux) each worker has one of its own; elsewhere they
share one. They listen before the workers start, and are the parent's: a connection waits for its worker, or for the
successor of one that died. SIGTERM and SIGINT let requests that are under way end; a worker whose parent has gone ends.

The head of a request is all that comes before its body. The parser keeps it in memory until it is complete and sets no
limit of its own; uvicorn closes an idle connection only after an answer, and waits for ever once a byte comes. So
`Heads`, a middleware, measures heads that are complete, and `Connection`, which asyncio calls in place of uvicorn's
protocol, the bytes and the time until the next one is. A connection that waits for a head counts among those that a
worker takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from solver.base import system
from solver.base.errors import ResourceError
from solver.serve.reply import CLOSING, Refused

ENDING = (signal.SIGINT, signal.SIGTERM)
KEEP_ALIVE = 30  # seconds that a connection may be idle
CONNECTIONS = 1_000  # of a worker
BACKLOG = 1_024
DRAIN = 10.0  # seconds that requests under way have to end, besides those of a search
YOUNG = 2.0  # seconds of a worker's life that do not count as success
TRIES = 3  # successors in a row that may die so young
MOST_TARGET = 8 << 10  # bytes of a path with its query
MOST_HEADERS = 64 << 10  # bytes of all headers
MOST_CHUNKED = 16 << 20  # bytes of a body that does not say its length
TOO_LONG = f"headers of more than {MOST_HEADERS:,} bytes: send fewer"
HEAD_TIME = 10.0  # seconds until a head is complete: from the connection on, later from its first byte on
LINGER = 2.0  # seconds in which a client that still sends may read the answer
CONNECTION = "connection"  # what the state of a request calls it


def bound(host: str, port: int, workers: int) -> list[socket.socket]:
    """Sockets that listen at an address, one for each worker where the system spreads connections, else one.

    Raises ResourceError where it cannot be had.
    """
    spreads = workers > 1 and system.SPREADS
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        first_socket = _socket(family, address)
        if not spreads:
            return [first_socket]
        # Nobody else listens there: with SO_REUSEPORT that would not be an error
        address = first_socket.getsockname()
        first_socket.close()
        return [_socket(family, address, socket.SO_REUSEPORT) for _ in range(workers)]
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        remedy = "--port 0 takes one that is free, --host 127.0.0.1 is this machine"
        raise ResourceError(f"{host}:{port} cannot be listened on ({reason}): {remedy}") from None


def _socket(family: int, address: Any, *options: int) -> socket.socket:
    new_socket = socket.socket(family, socket.SOCK_STREAM)
    try:
        for option in (system.address_option(), *options):
            new_socket.setsockopt(socket.SOL_SOCKET, option, 1)
        new_socket.bind(address)
        new_socket.listen(BACKLOG)
    except BaseException:
        new_socket.close()
        raise
    return new_socket


def url_of(listening: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def run(make: Callable[[], Any], sockets: list[socket.socket], workers: int, seconds: float) -> None:
    """Serve the application of `make()` in each worker until a signal ends it, which is raised.

    Searches take at most `seconds`. Raises ResourceError if workers die right after their start.
    """
    # What is there stays: nobody need look through it again, or copy it from the parent's memory
    gc.freeze()
    if workers == 1:
        server = _server(make(), seconds)
        # An exception that a signal raises in the loop before that would be lost
        if system.CAN_HOLD:
            signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        server.run(sockets)
    else:
        _Team(make, sockets, seconds).run(workers)


class _Server(uvicorn.Server):
    """Lets signals that were held in once it takes them."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            if system.CAN_HOLD:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
            yield


def _server(application: Any, seconds: float) -> Any:
    """The server of one process."""
    return _Server(
        uvicorn.Config(
            Heads(application),
            http=Connection,  # type: ignore[arg-type]
            log_config=None,
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE,
            limit_concurrency=CONNECTIONS,
            backlog=BACKLOG,
            timeout_graceful_shutdown=int(seconds + DRAIN),
        )
    )


class _Team:
    """The parent of some workers: it starts them, and replaces one that dies."""

    def __init__(self, make: Callable[[], Any], sockets: list[socket.socket], seconds: float) -> None:
        self._make, self._sockets, self._seconds = make, sockets, seconds
        # Number and time of each start, by process
        self._started: dict[int, tuple[int, float]] = {}
        # The workers' end has something to read when the parent has gone
        self._alive = os.pipe()

    def run(self, workers: int) -> None:
        """Until a signal is raised."""
        try:
            for number in range(workers):
                self._start(number)
            died_young = 0
            while died_young <= TRIES:
                process, _ = os.waitpid(-1, 0)
                number, since = self._started.pop(process)
                died_young = died_young + 1 if time.monotonic() - since < YOUNG else 0
                self._start(number)
            raise ResourceError("workers die as soon as they start: --workers 1 says why")
        finally:
            # Have all end, and wait for them: they have limits of their own
            for process in self._started:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGTERM)
            for process in self._started:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process, 0)
            for end in self._alive:
                os.close(end)

    def _start(self, number: int) -> None:
        # Hold signals back until their receiver is known
        held = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        process = os.fork()
        if process:
            self._started[process] = number, time.monotonic()
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            return
        # A worker: until a signal, at once before it serves, when answers under way are sent after that
        code = 1
        try:
            for signal_number in ENDING:
                signal.signal(signal_number, lambda *_: os._exit(0))
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            os.close(self._alive[1])
            server = _server(self._make(), self._seconds)
            threading.Thread(target=self._outlive, args=(server,), daemon=True).start()
            server.run([self._sockets[number % len(self._sockets)]])
            code = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(code)

    def _outlive(self, server: Any) -> None:
        os.read(self._alive[0], 1)
        server.should_exit = True


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
            self._refuse(408, f"a head that took more than {HEAD_TIME:g} seconds: send it faster")
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
