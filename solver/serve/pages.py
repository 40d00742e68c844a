"""Pages to look at: a list of the games, and for each what `solver export` writes, made when it is first asked for.

They lie in a folder that the server makes and removes. A request chooses among the names of files that are there.
"""

from __future__ import annotations

import asyncio
import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.responses import FileResponse, RedirectResponse

from solver.base.errors import SolverError
from solver.export import export
from solver.export.site import title_of
from solver.serve.reply import AGAIN, HTML, Refused, Reply, tag_of
from solver.serve.shelf import Served, Shelf

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Solved games</title>
<style>body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem }}
:root {{ color-scheme: light dark }} li span {{ opacity: .7 }}</style>
<h1>Solved games</h1>
<ul>
{}
</ul>
<p>For scripts: <a href="v1/openapi.json">/v1</a>
"""


class Pages:
    """The pages of a shelf, written into a folder."""

    def __init__(self, shelf: Shelf, folder: Path) -> None:
        self._shelf, self._folder = shelf, folder
        self._files: dict[str, dict[str, Path]] = {}
        self._turn = asyncio.Lock()

    def routes(self) -> Iterator[tuple[str, Any]]:
        """Paths, and what answers them."""
        yield "/", self._index
        yield "/{game}", self._redirect
        yield "/{game}/", self._file
        yield "/{game}/{file}", self._file

    async def _index(self, request: Any) -> Reply:
        body = PAGE.format("\n".join(map(_row, self._shelf))).encode()
        return Reply(body, HTML, cache=AGAIN, tag=tag_of("index", body.decode()))

    async def _redirect(self, request: Any) -> Any:
        one = self._served(request)
        return RedirectResponse(f"{one.name}/")

    async def _file(self, request: Any) -> Any:
        one = self._served(request)
        async with self._turn:
            if one.name not in self._files:
                self._files[one.name] = await anyio.to_thread.run_sync(_written, one, self._folder)
        file = request.path_params.get("file", "index.html")
        path = self._files[one.name].get(file)
        if path is None:
            raise Refused(404, f"no file {file[:80]!r} is here: /{one.name}/ is the page")
        return FileResponse(path, headers={"cache-control": AGAIN})

    def _served(self, request: Any) -> Served:
        name = request.path_params["game"]
        one = self._shelf.get(name)
        if one is None:
            raise Refused(404, f"nothing is called {name[:80]!r}: / lists the games")
        return one


def _written(one: Served, folder: Path) -> dict[str, Path]:
    """The files of a page, written unless they are there: another worker may have been quicker."""
    page = folder / one.name.replace(":", "-").replace("/", "-")
    if not page.is_dir():
        try:
            export(one.game if one.book is None else one.book, f"{page}/")
        except SolverError as error:
            raise Refused(404, f"there is no page of {one.name}: {error}") from None
    return {path.name: path for path in page.iterdir()}


def _row(one: Served) -> str:
    title, name = html.escape(title_of(one.game)), html.escape(one.name)
    verdict = "" if one.book is None else one.book.header.kind.verdict(one.book.root)
    return f'<li><a href="{name}/">{title}</a> <span>{html.escape(verdict)}</span>'
