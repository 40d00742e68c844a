"""A book, or a game alone, as a page: a folder for any static host, with a board and every move's value, and no server.

    index.html page.css page.js ...   the page of `web/site`, whose scripts are joined into one
    book.js instant.js compact.js ... the book's reader, as it lies in `web/reader`
    book.bin                          the book; a page without one answers by its search
    game.js game.d.ts                 the rules, as far as they are translated to JavaScript, or as a table of all
                                      positions; and records of positions from Python (`export.script`); their types
    game.wasm                         the module of the game, if it is shipped or can be built: where the book ends
                                      early, or there is none, the page searches by it. Where it is, it is the rules

The page answers nothing before its rules have agreed with Python's on the records.

Several pages have an index that lists their games with their boards, and a folder for each with its page:

    index.html list.js    the index, as it lies in `web/index`
    games.js              what it lists: titles, verdicts, boards
    page.css page.js ...  what all pages share
    connect-four-4x4/     a page: its own `index.html`, `game.js`, and what it has of `game.wasm` and `book.bin`
"""

from __future__ import annotations

import html
import json
import os
import random
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from solver.base import extras
from solver.base.errors import BookError, MethodError, SolverError
from solver.base.kinds import Method
from solver.base.progress import Progress, silent
from solver.book import Book
from solver.book.writer import check_target, nameable
from solver.export import bin, script
from solver.export.readers import WEB
from solver.export.script import PAGE_MARK, Script
from solver.play.showing import drawn
from solver.puzzles import Puzzle
from solver.rules import notation
from solver.rules.boards.text import drawing_of, is_drawn
from solver.rules.game import Game, Rules, game_text, own_method

BOOK, GAME, MODULE, PAGE, MANIFEST = "book.bin", "game.js", "game.wasm", "index.html", "manifest.webmanifest"
PREVIEW, TYPES = "preview.png", "game.d.ts"
WRITTEN = {BOOK, GAME, MODULE, MANIFEST, PREVIEW, TYPES}
SILENT = "past the book the page does not search: that wants solverbook[solve], and rules that compile"
# Comments that take whole lines, empty lines, and indentation: no text of the scripts goes over lines
LAYOUT = re.compile(r"^ *(?:/\*(?:(?!\*/).)*\*/ *|//[^\n]*)\n|^\n|^ +", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r'^import (\{[^}]*\}|\* as \w+) from "\./([\w-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) ([\w$]+))", re.MULTILINE)
# Scripts that are not joined into others
ALONE = {f"{name}.js" for name in ("list", "offline", "page", "picture", "python", "rules", "theme")}
SMALL_WORDS = ("and", "of", "the", "to")  # in titles
GAMES_FILE = "games.js"
PLAYED = 6  # plies at most before the board that is shown


def script_of(rules: Rules, book: Book | None, progress: Progress, puzzles: Sequence[Puzzle] = ()) -> Script:
    """The game of a page, of its book or without one. Raises MethodError where its rules cannot run in a page."""
    if book is not None and book.header.start is not None:
        raise MethodError(f"{book.path.name} does not begin where the game does, as its page would: export a .bin")
    if book is not None and any(abs(value.score) >= 2**53 for value in book.header.outcomes):
        raise MethodError(f"{book.path.name} has margins beyond 2^53, which pages would round: export a .bin")
    about: dict[str, Any] = {
        "game": rules.name,
        "summary": notation.summary_of(rules.game),
        "scores": rules.scores,
        "adds": rules.reward is not None,
        "drawing": drawing_of(rules.game),
        "group": getattr(sys.modules[type(rules.game).__module__], "GROUP", "your own"),
    }
    if book is not None:
        about["digest"] = book.header.digest
        if book.expectation:
            about["expects"] = book.expectation.of
        if rules.scores and book.header.method == rules.kind.cyclic == Method.RETROGRADE:
            # Play by margins alone might go round
            about["leads"] = True
    if puzzles:
        # States are text, for numbers of JavaScript are no larger than 2**53
        told = ("goal", "distance", "move", "difficulty")
        about["puzzles"] = [
            {"state": str(puzzle.state), **{name: getattr(puzzle, name) for name in told}} for puzzle in puzzles
        ]
    module = module_of(rules, book, progress)
    made = script.script_of(rules, None if book is None else book.codec_keys, about, module, progress)
    ends = book is not None and not book.header.is_gapless and rules.chance is None
    return made._replace(notes=[*made.notes, SILENT]) if ends and module is None else made


def write(
    game: Game, book: Book | None, folder: Path, index: str, puzzles: Sequence[Puzzle] = (), progress: Progress = silent
) -> list[str]:
    """Write the page of a game and its book into a new folder; returns notes, a line each.

    `index` is the way to the index that it belongs to, `../`, which has the files that its pages share
    (`write_index`); of a page alone it is empty.
    """
    made = script_of(Rules(game) if book is None else book.rules, book, progress, puzzles)
    folder.mkdir()
    for name, text in files().items():
        if name == PAGE:
            put(folder / name, _adapted(text, made, game, book, index))
        elif not index:
            put(folder / name, text)
    put(folder / GAME, re.sub(r'^(import .* from ")\./', rf"\g<1>{index or './'}", made.text, flags=re.MULTILINE))
    put(folder / TYPES, (WEB / "site" / TYPES).read_text("utf-8"))
    # By it a browser installs the page as an app
    manifest = {
        "name": title_of(game),
        "short_name": family_of(game),
        "description": notation.summary_of(game),
        "start_url": "./",
        "display": "standalone",
        "icons": [{"src": f"{index}icon.svg", "sizes": "any", "type": "image/svg+xml"}],
        "background_color": "#f4f2ee",
        "theme_color": "#2457b3",
    }
    put(folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")
    if is_drawn(game) and extras.has("resvg_py"):
        import resvg_py

        # The start's board, which other sites show beside a link, as wide as they want it
        board = str(drawn(Rules(game), notation.first_position(Rules(game))))
        (folder / PREVIEW).write_bytes(bytes(resvg_py.svg_to_bytes(svg_string=board, width=1200)))
    if made.module is not None:
        (folder / MODULE).write_bytes(made.module)
    if book is not None:
        bin.write(book, folder / BOOK, progress)
    return made.notes


def put(path: Path, text: str) -> None:
    """Write a file of a page: the same bytes on every system."""
    path.write_text(text, "utf-8", newline="\n")


def _adapted(text: str, made: Script, game: Game, book: Book | None, index: str) -> str:
    """Return the page's HTML: its title, the start, its content policy, its link to an index, and paths of files.

    The board of the start stands in it as the scripts will show it.
    """
    rules = Rules(game) if book is None else book.rules
    start = notation.first_position(rules)
    shown = html.escape(notation.show(game, start.state))
    board = str(drawn(rules, start)) if is_drawn(game) else f"<pre>{shown}</pre>"
    has_preview = is_drawn(game) and extras.has("resvg_py")  # of the extra [preview]
    parts = {
        "SUMMARY": html.escape(notation.summary_of(game)),
        "VERDICT": "" if book is None or book.header.estimate else html.escape(f"Solved: {book.header.verdict}."),
        "BOARD": re.sub(' width="[^"]*" height="[^"]*" role', ' class="picture" role', board, count=1),
        "TITLE": html.escape(title_of(game)),
        "PICTURE": f'<meta property="og:image" content="{PREVIEW}">' if has_preview else "",
        # A module is compiled only where the policy allows that
        "WASM": "" if made.module is None else " 'wasm-unsafe-eval'",
        "PRELOAD": "" if made.module is None else '<link rel="modulepreload" href="search.js">',
    }
    # In one go, since the rules' own texts may have such words
    text = re.sub("GAME-([A-Z]+)", lambda found: parts[found[1]], text)
    if not index:
        return re.sub(r" *<a id=\"games\".*\n", "", text)
    for name in files():
        text = text.replace(f'"{name}"', f'"{index}{name}"')
    return text


def module_of(rules: Rules, book: Book | None, progress: Progress) -> bytes | None:
    """The module of a game, shipped or built; None where its book needs none, or there is none to be had.

    Without a book it is wanted: raises the errors of `script.built_module`, and MethodError for games of chance.
    """
    if book is None and rules.chance is not None:
        remedy = f"solver solve {rules.name} -o BOOK, export that"
        raise MethodError(f"{rules.name} is a game of chance, not searched: {remedy}")
    if rules.chance is not None or (book is not None and book.header.is_gapless):
        return None
    try:
        return script.module_at_hand(rules, False, "search", progress)
    except (SolverError, RuntimeError) as error:
        # The rules do not compile, or LLVM lacks WebAssembly
        if book is not None:
            return None
        if not isinstance(error, MethodError):
            raise
        raise MethodError(f"{error}: solver solve {rules.name} -o BOOK, and export that, which needs none") from None


def check_folder(folder: Path, known: Iterable[str] = (), script: str = GAME) -> None:
    """Raise BookError if a page cannot be written there: a folder with anything else in it is left alone.

    An index has a `script` of another name and other `known` names, and pages in folders of their own.
    """
    with nameable(folder):
        if not folder.exists():
            check_target(folder)
            return
        if not folder.is_dir():
            raise BookError(f"{folder} exists and is not a folder: choose another path")
        if folder == Path.cwd():
            raise BookError(f"{folder} is the current folder: choose one in it, such as site/")
        try:
            names = {*os.listdir(folder)}
        except FileNotFoundError:
            # Another process has just taken it away to put its own there
            return
        others = names - {*(known or {*files(), *WRITTEN})}
        if script != GAME:
            others = {name for name in others if not is_ours(folder / name / GAME)}
        if others or (names and not is_ours(folder / script)):
            other = ", ".join(sorted(others)[:3]) or "files that are not a page"
            raise BookError(f"{folder} holds {other}: name a new folder, then move what is in it where you want it")


def is_ours(game: Path) -> bool:
    """Whether a script is one that `solver export` has written."""
    if not game.is_file():
        return False
    with open(game, "rb") as file:
        return file.read(len(PAGE_MARK)) == PAGE_MARK.encode()


def files(*folders: str) -> dict[str, str]:
    """The files that every page has, by their names: scripts without comments and indentation, some joined."""
    parts = [part for folder in ("reader", "site", *folders) for part in (WEB / folder).iterdir() if "." in part.name]
    texts = {part.name: part.read_text("utf-8") for part in parts if not part.name.endswith((".d.ts", ".mjs"))}
    texts |= {name: LAYOUT.sub("", text) for name, text in texts.items() if name.endswith(".js")}
    # What the page has in itself, programs may import from its folder, too: the reader, and how moves are chosen
    kept = {*ALONE, "values.js", "progress.js", "words.js", *(part.name for part in (WEB / "reader").iterdir())}
    names = sorted(name for name in texts if name in kept or not name.endswith(".js"))
    return {name: _joined(name, texts) if name in ("list.js", "page.js") else texts[name] for name in names}


def _joined(name: str, texts: dict[str, str]) -> str:
    """Return a script and those that it imports as one module, in which each is a function, but for those of ALONE."""
    made, apart = dict[str, str](), set[str]()

    def take(name: str) -> None:
        for _, other in IMPORT.findall(texts[name]):
            if other in ALONE or other not in texts:
                apart.add(other)
            elif other not in made:
                take(other)
        body = IMPORT.sub(lambda found: f"const {found[1].replace(' as ', ': ')} = ${found[2][:-3]};\n", texts[name])
        body = EXPORT.sub(r"\1", body.replace("const *: ", "const "))
        exports = ", ".join(exported for _, exported in EXPORT.findall(texts[name]))
        made[name] = f"const ${name[:-3]} = await (async () => {{\n{body}return {{ {exports} }};\n}})();\n"

    take(name)
    return "".join([*(f'import * as ${other[:-3]} from "./{other}";\n' for other in sorted(apart)), *made.values()])


def title_of(game: Any) -> str:
    """The title of a game for people: its name, the size of its board, and other parameters that are not the defaults.

    Connect Four 4 \u00d7 4; Tic Tac Toe 3 \u00d7 3, misere; Chess Ending KPK.
    """
    title, text = family_of(game), game_text(game).rpartition("::")[2].partition(":")[2]
    if own_method(game, "to_text"):
        return f"{title} {text}".strip()
    rest, defaults = dict(zip(game._fields, game, strict=True)), game._field_defaults
    if {"width", "height"} <= rest.keys():
        title += f" {rest.pop('width')} \u00d7 {rest.pop('height')}"
    for field, value in rest.items():
        name, shown = field.replace("_", " "), " ".join(map(str, value)) if isinstance(value, tuple) else value
        if value != defaults.get(field):
            title += f", {name} {shown}" if not isinstance(value, bool) else f", {'' if value else 'without '}{name}"
    return title


def family_of(game: Any) -> str:
    """The name of a game for people, without its parameters: Connect Four."""
    name = game_text(game).rpartition("::")[2].partition(":")[0]
    words = re.sub("(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", "-").replace("-", " ").split()
    return " ".join(
        word if at and word in SMALL_WORDS else "Men's" if word == "mens" else word[:1].upper() + word[1:]
        for at, word in enumerate(words)
    )


def folders_of(games: Iterable[Game]) -> list[str]:
    """The folders of several games' pages, such as connect-four-4x4. Raises MethodError where two have the same."""
    texts = [game_text(game).rpartition("::")[2].replace(":", "-").replace(",", "x") for game in games]
    names = [re.sub(r"[^\w.-]", "-", text) for text in texts]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise MethodError(f"two of these are of {twice}: leave one out, or write its page alone")
    return names


def entry_of(name: str, game: Game, book: Book | None) -> dict[str, Any]:
    """Return the index's entry of a game whose page lies in the folder `name`."""
    # The board a few moves from the start: an empty one shows little
    rules, chance = Rules(game), random.Random(0)
    position = notation.first_position(rules)
    plies = PLAYED if own_method(game, "tier") or rules.chance else 2
    for _ in range(0 if rules.is_terminal(position.state) else plies):
        after = notation.next_position(rules, position, chance.choice(script.choices(rules, position.state)))
        if rules.is_terminal(after.state):
            break
        position = after
    mover = int(position.mover or 0)
    return {
        "name": name,
        "family": family_of(game),
        "group": getattr(sys.modules[type(game).__module__], "GROUP", "your own"),
        # There may be millions: list two at most
        "several": not rules.everywhere and any(state != game.initial() for state in islice(rules.starts(), 2)),
        "title": title_of(game),
        "summary": notation.summary_of(game),
        "verdict": "searched, without a book" if book is None else book.header.verdict,
        "states": None if book is None else book.states,
        "drawing": drawing_of(game),
        "board": notation.board_of(game, position.state, mover),
        "mover": mover,
    }


def index_files(entries: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The files of an index by their names, but for the pages: those that they share are among them."""
    return {**files("index"), GAMES_FILE: f"{PAGE_MARK}\nexport const games = {json.dumps(entries)};\n"}


def write_index(
    sources: Sequence[tuple[Game, Book | None, Sequence[Puzzle]]], folder: Path, progress: Progress
) -> list[str]:
    """Write an index of games, their books and puzzles, and their pages, into a new folder; returns notes, a line each.

    Raises the errors of each export.
    """
    folder.mkdir()
    notes, entries = [], []
    names = folders_of(game for game, _, _ in sources)
    for name, (game, book, page_puzzles) in zip(names, sources, strict=True):
        notes += [f"{name}: {note}" for note in write(game, book, folder / name, "../", page_puzzles, progress)]
        entries.append({**entry_of(name, game, book), "puzzles": bool(page_puzzles)})
    for name, text in index_files(entries).items():
        put(folder / name, text)
    return notes
