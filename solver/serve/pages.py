"""Pages for people: an index of the games, and each game's page of `solver export`, made at the first request.

They lie in a folder that the server makes and removes. A request chooses among the names of existing files.
"""

from __future__ import annotations

import asyncio
import functools
import mimetypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.responses import FileResponse, RedirectResponse

from solver.base.errors import SolverError
from solver.base.files import replacing
from solver.export import listing
from solver.serve.reply import REVALIDATE, Refused, Reply, tag_of
from solver.serve.shelf import Served, Shelf


class Pages:
    """The pages of a shelf, written into a folder."""

    def __init__(self, shelf: Shelf, folder: Path) -> None:
        self._shelf, self._folder = shelf, folder
        self._files: dict[str, dict[str, Path]] = {}
        self._turn = asyncio.Lock()

    def routes(self) -> Iterator[tuple[str, Any]]:
        """Return the paths and their handlers."""
        yield "/", self._index
        yield "/{game}", self._shared_or_redirect
        yield "/{game}/", self._file
        yield "/{game}/{file}", self._file

    @functools.cached_property
    def _shared(self) -> dict[str, Reply]:
        """Return the files of the index, and those that all pages share."""
        entries = [listing.entry_of(served.name, served.game, served.book) for served in self._shelf.values()]
        files = listing.files(entries)
        files["index.html"] = files["index.html"].replace("<nav>", '<nav>\n        <a href="./docs">Ask by HTTP</a>', 1)
        return {name: _reply(name, text) for name, text in files.items()}

    async def _index(self, request: Any) -> Reply:
        return self._shared["index.html"]

    async def _shared_or_redirect(self, request: Any) -> Any:
        found = self._shared.get(request.path_params["game"])
        return RedirectResponse(f"./{self._served(request).name}/") if found is None else found

    async def _file(self, request: Any) -> Any:
        served = self._served(request)
        async with self._turn:
            if served.name not in self._files:
                self._files[served.name] = await anyio.to_thread.run_sync(_written, served, self._folder)
        file = request.path_params.get("file", "index.html")
        path = self._files[served.name].get(file)
        if path is None:
            raise Refused(404, f"no file {file[:80]!r} is here: /{served.name}/ is the page")
        return FileResponse(path, headers={"cache-control": REVALIDATE})

    def _served(self, request: Any) -> Served:
        name = request.path_params["game"]
        served = self._shelf.get(name)
        if served is None:
            raise Refused(404, f"nothing is called {name[:80]!r}: / lists the games")
        return served


def _reply(name: str, text: str) -> Reply:
    media = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0] or "text/plain"
    return Reply(text.encode(), f"{media}; charset=utf-8", cache=REVALIDATE, tag=tag_of(name, text))


def _written(served: Served, folder: Path) -> dict[str, Path]:
    """The files of a page, written unless they are there: another worker may have been quicker."""
    page = folder / served.name.replace(":", "-").replace("/", "-")
    if not page.is_dir():
        try:
            with replacing(page) as made:
                listing.write_page(served.game, served.book, made)
        except SolverError as error:
            raise Refused(404, f"there is no page of {served.name}: {error}") from None
    return {path.name: path for path in page.iterdir()}
