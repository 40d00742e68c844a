"""An index of pages: one that lists games with their boards, and a folder for each with its page.

index.html list.js    the index, as it lies in `web/index`
games.js              what it lists: titles, verdicts, boards
page.css page.js ...  what all pages share
connect-four-4x4/     a page: its own `index.html`, `game.js`, and what it has of `game.wasm` and `book.bin`
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.book import Book
from solver.export import site
from solver.export.readers import WEB
from solver.export.records import choices
from solver.export.script import PAGE_MARK
from solver.rules.boards.text import drawing_of
from solver.rules.game import Game, Rules, game_text, own_method
from solver.rules.notation import board_of, first_position, next_position, summary_of

GAMES_FILE = "games.js"
ROOT = "../"  # from a page to the index
PLAYED = 6  # plies at most before the board that is shown


def name_of(game: Game) -> str:
    """The folder of a game's page: connect-four-4x4."""
    text = game_text(game).rpartition("::")[2].replace(":", "-").replace(",", "x")
    return re.sub(r"[^\w.-]", "-", text)


def names_of(games: Iterable[Game]) -> list[str]:
    """The folders of several games. Raises MethodError where two have the same."""
    names = [name_of(game) for game in games]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise MethodError(f"two of these are of {twice}: leave one out, or write its page alone")
    return names


def entry_of(name: str, game: Game, book: Book | None) -> dict[str, Any]:
    """Return the index's entry of a game whose page lies in the folder `name`."""
    board, mover = _board(game)
    rules = Rules(game)
    return {
        "name": name,
        "family": site.family_of(game),
        "group": site.group_of(game),
        # There may be millions: list two at most
        "several": not rules.everywhere and any(state != game.initial() for state in islice(rules.starts(), 2)),
        "title": site.title_of(game),
        "summary": summary_of(game),
        "verdict": "searched, without a book" if book is None else book.header.verdict,
        "states": None if book is None else book.states,
        "drawing": drawing_of(game),
        "board": board,
        "mover": mover,
    }


def files(entries: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The files of an index by their names, but for the pages: those that they share are among them."""
    own_files = {path.name: path.read_text("utf-8") for path in (WEB / "index").iterdir()}
    listed = json.dumps(entries, separators=(",", ":"), ensure_ascii=True)
    return {**site.files(), **own_files, GAMES_FILE: f"{PAGE_MARK}\nexport const games = {listed};\n"}


def write(sources: Sequence[tuple[Game, Book | None]], folder: Path, progress: Progress) -> list[str]:
    """Write an index of games and their books, and their pages, into a new folder; returns notes, a line each.

    Raises the errors of each export.
    """
    folder.mkdir()
    notes, entries = [], []
    for name, (game, book) in zip(names_of(game for game, _ in sources), sources, strict=True):
        notes += [f"{name}: {page_note}" for page_note in write_page(game, book, folder / name, progress)]
        entries.append(entry_of(name, game, book))
    for name, text in files(entries).items():
        site.put(folder / name, text)
    return notes


def write_page(game: Game, book: Book | None, folder: Path, progress: Progress = silent) -> list[str]:
    """Write a page of an index into a new folder beside the shared files; returns notes, a line each."""
    page_script = site.script_of(Rules(game) if book is None else book.rules, book, progress)
    site.write(page_script, game, book, folder, progress, ROOT)
    return page_script.notes


def _board(game: Game) -> tuple[list[str] | str, int]:
    """The board a few moves from the start, and who is to move there: an empty one shows little."""
    rules, chance = Rules(game), random.Random(0)
    position = first_position(rules)
    for _ in range(PLAYED if own_method(game, "tier") or rules.chance else 2):
        after = next_position(rules, position, chance.choice(choices(rules, position.state)))
        if rules.is_terminal(after.state):
            break
        position = after
    mover = int(position.mover or 0)
    return board_of(game, position.state, mover), mover
