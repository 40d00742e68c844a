"""Pages for people: an index of the games, and each game's page of `solver export`, made at the first request.

They lie in a folder that the server makes and removes. A request chooses among the names of existing files.

Two more pages are about the server: what may be asked, with commands that work, and what is not here.
"""

from __future__ import annotations

import asyncio
import functools
import mimetypes
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio.to_thread
from starlette.responses import FileResponse, RedirectResponse

from solver.base.errors import GameError, MethodError
from solver.base.files import replacing
from solver.export import site
from solver.serve.operations import OPERATIONS
from solver.serve.reply import HTML, NO_STORE, REVALIDATE, Refused, Reply, tag_of
from solver.serve.shelf import Served, Shelf

PATH = "/docs"
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="page.css">
</head>
<body>
<header><div id="heading"><h1>{title}</h1></div><nav><a href="./">All games</a></nav></header>
<main>
"""
TAIL = "</main>\n</body>\n</html>\n"


def wants_html(scope: Any) -> bool:
    """Whether a request comes from a browser that shows pages."""
    accepted = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    return scope["method"] == "GET" and b"text/html" in accepted


def error_page(refused: Refused, path: str) -> Reply:
    """Return an error as a page. Its links are made from the path, for the server may lie below another."""
    root = "../" * max(0, path.count("/") - 1) or "./"
    text = HEAD.format(title="Not found" if refused.status == 404 else "Not possible")
    text = text.replace('href="', f'href="{root}').replace(f"{root}./", root)
    text += f'<p>{escape(refused.message)}</p>\n<p><a href="{root}docs">What may be asked</a></p>\n{TAIL}'
    return Reply(text.encode(), HTML, status=refused.status, cache=NO_STORE, headers=refused.headers.items())


class Pages:
    """The pages of a shelf, written into a folder, and the page about the API."""

    def __init__(self, shelf: Shelf, folder: Path) -> None:
        self._shelf, self._folder = shelf, folder
        self._files: dict[str, dict[str, Path]] = {}
        self._turn = asyncio.Lock()

    def routes(self) -> Iterator[tuple[str, Any]]:
        """Return the paths and their handlers."""
        yield PATH, self._docs
        yield "/", self._index
        yield "/{game}", self._shared_or_redirect
        yield "/{game}/", self._file
        yield "/{game}/{file}", self._file

    async def _docs(self, request: Any) -> Reply:
        """The page that explains the API."""
        book = next((served.name for served, _ in self._shelf.books), None)
        name = book or next(iter(self._shelf))
        base = str(request.base_url).rstrip("/")
        sections = ""
        for operation in OPERATIONS:
            # Of a book nothing can be asked where none is served
            if book is None and "{book}" in operation.path:
                continue
            path, asked = operation.path, ""
            for part in operation.parameters:
                if part["in"] == "path":
                    example = name if part["name"] in ("book", "game") else "start"
                    path = path.replace(f"{{{part['name']}}}", quote(example, safe=":,"))
                else:
                    example = f"?{part['name']}={escape(str(part['example']).lower())}"
                    asked += f"<li><code>{example}</code> {escape(part['description'])}</li>"
            # A command that works on this server
            command = f'curl "{base}{path}"' + (""" -d '"start"'""" if operation.method == "POST" else "")
            sections += (
                f"<section><h2>{escape(operation.about)}</h2>\n"
                f"<p><code>{operation.method} {escape(operation.path)}</code></p>\n"
                f"<pre>{escape(command)}</pre>{f'<ul>{asked}</ul>' if asked else ''}</section>\n"
            )
        text = (
            HEAD.format(title="Ask the books")
            + "<p>Every game here can be asked over HTTP. A position is given by its moves from the start, by"
            " <code>start</code>, by rows of a board, or by <code>#</code> and the number of its state. Values are for"
            " the side to move: <code>score</code> 1 is a win, 0 a draw, -1 a loss, and <code>distance</code> counts"
            " plies to the end. Answers are JSON; errors are <code>{&quot;error&quot;: ...}</code>, a line that says"
            ' what to do. <a href="v1/openapi.json">The OpenAPI document</a> describes every field.</p>\n'
            f"{sections}{TAIL}"
        )
        return Reply(text.encode(), HTML, cache=NO_STORE)

    @functools.cached_property
    def _shared(self) -> dict[str, Reply]:
        """Return the files of the index, and those that all pages share."""
        entries = [site.entry_of(served.name, served.game, served.book) for served in self._shelf.values()]
        files = site.index_files(entries)
        files["index.html"] = files["index.html"].replace("<nav>", '<nav>\n        <a href="./docs">Ask by HTTP</a>', 1)
        media = {name: mimetypes.guess_type(name)[0] or "text/plain" for name in files}
        media |= {name: "text/javascript" for name in files if name.endswith(".js")}
        return {
            name: Reply(text.encode(), f"{media[name]}; charset=utf-8", cache=REVALIDATE, tag=tag_of(name, text))
            for name, text in files.items()
        }

    async def _index(self, request: Any) -> Reply:
        return self._shared["index.html"]

    async def _shared_or_redirect(self, request: Any) -> Any:
        found = self._shared.get(request.path_params["game"])
        return RedirectResponse(f"./{self._shelf.asked(request).name}/") if found is None else found

    async def _file(self, request: Any) -> Any:
        served = self._shelf.asked(request)
        async with self._turn:
            if served.name not in self._files:
                self._files[served.name] = await anyio.to_thread.run_sync(_written, served, self._folder)
        file = request.path_params.get("file", "index.html")
        path = self._files[served.name].get(file)
        if path is None:
            raise Refused(404, f"no file {file[:80]!r} is here: /{served.name}/ is the page")
        return FileResponse(path, headers={"cache-control": REVALIDATE})


def _written(served: Served, folder: Path) -> dict[str, Path]:
    """The files of a page, written unless they are there: another worker may have been quicker."""
    page = folder / served.name.replace(":", "-").replace("/", "-")
    if not page.is_dir():
        try:
            with replacing(page) as made:
                site.write(served.game, served.book, made, "../")
        except (GameError, MethodError) as error:
            raise Refused(404, f"there is no page of {served.name}: {error}") from None
    return {path.name: path for path in page.iterdir()}
