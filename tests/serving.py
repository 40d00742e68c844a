"""Requests to the application without a network, and the answers."""

import asyncio
import gzip
import json
from typing import NamedTuple
from urllib.parse import unquote


class Heard(NamedTuple):
    """The response."""

    status: int
    headers: dict
    body: bytes

    @property
    def text(self):
        return gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body

    @property
    def facts(self):
        return json.loads(self.text)

    @property
    def lines(self):
        return [json.loads(line) for line in self.text.splitlines()]


def scope_of(method, target, **headers):
    """What a server says of a request before its body."""
    path, _, query = target.partition("?")
    return {
        **{"type": "http", "method": method, "path": unquote(path), "raw_path": path.encode(), "root_path": ""},
        **{"query_string": query.encode(), "scheme": "http", "http_version": "1.1", "asgi": {"version": "3.0"}},
        **{"server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1)},
        "headers": [(name.replace("_", "-").lower().encode(), text.encode()) for name, text in headers.items()],
    }


class Client:
    """Asks an ASGI application as a server would."""

    def __init__(self, application):
        self.application = application

    def get(self, target, **headers):
        return self.ask("GET", target, **headers)

    def post(self, target, body, **headers):
        return self.ask("POST", target, body, **headers)

    def ask(self, method, target, body=b"", **headers):
        return asyncio.run(self.asked(method, target, body, **headers))

    async def asked(self, method, target, body=b"", gone=None, **headers):
        """`gone` is an event: the client has hung up."""
        self.heard = heard = []  # whatever is raised
        asked = []

        async def receive():
            if not asked:
                asked.append(True)
                return {"type": "http.request", "body": body, "more_body": False}
            await (gone or asyncio.Event()).wait()
            return {"type": "http.disconnect"}

        async def send(message):
            heard.append(message)

        await self.application(scope_of(method, target, **headers), receive, send)
        said = {name.decode(): text.decode() for name, text in heard[0]["headers"]}
        return Heard(heard[0]["status"], said, b"".join(one.get("body", b"") for one in heard[1:]))
