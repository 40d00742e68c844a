"""A book, or a game alone, as a page: a folder for any static host, with a board and every move's value, and no server.

    index.html page.css page.js ...   the page, as it lies in `web/site`
    book.js instant.js compact.js ... the book's reader, as it lies in `web/reader`
    book.bin                          the book; a page without one answers by its search
    game.js                           the rules, translated to JavaScript, or as a table of all positions where they
                                      have no translation; and records of positions from Python. A ranked book's have
                                      what it asks of them (`book.codec_keys`), and want the translation
    game.wasm                         where the book ends early, or there is none: the module of the game, by which the
                                      page searches on, if it is shipped or can be built

The page answers nothing before its rules have agreed with Python's on the records.
"""

from __future__ import annotations

import hashlib
import html
import inspect
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

from solver.base.errors import BookError, MethodError, SolverError
from solver.base.progress import Progress
from solver.book import Book, check_target
from solver.book.writer import nameable
from solver.export import bin
from solver.export import module as building
from solver.export.javascript import Port
from solver.export.records import all_of, is_all_drawn, is_drawn, sampled
from solver.play import modules
from solver.rules.game import Rules, game_text, own_method

MARK = "// The game of a page of solverbook."  # by which a folder is known to be one that may be replaced
CHECKED = 64  # positions of random games
TABLED = 10_000  # positions at most of a game whose rules have no translation
WEB = resources.files("solver") / "web"
BOOK, GAME, MODULE = "book.bin", "game.js", "game.wasm"
WRITTEN = {BOOK, GAME, MODULE}
SCRIPTS = "script-src 'self'"  # of the policy; a module is compiled only where it allows that
RULES = ("initial", "actions", "result", "is_terminal", "utility")
OPTIONAL = ("plies_left", "to_move", "again", "reward", "chance", "format_action")
SMALL_WORDS = ("and", "of", "the", "to")  # in titles


def write(rules: Rules, book: Book | None, folder: Path, progress: Progress, module: bytes | None = None) -> None:
    """Write the page of a game into a new folder: of its book; with its module it searches on where that ends.

    Raises MethodError where its rules cannot run in a page.
    """
    game, title = game_of(rules, book, module), html.escape(title_of(rules.game))
    folder.mkdir()
    for name, text in _copied().items():
        if module is not None:
            text = text.replace(SCRIPTS, f"{SCRIPTS} 'wasm-unsafe-eval'")
        (folder / name).write_text(text.replace("GAME-TITLE", title), "utf-8", newline="\n")
    (folder / GAME).write_text(game, "utf-8", newline="\n")
    if module is not None:
        (folder / MODULE).write_bytes(module)
    if book is not None:
        bin.write(book, folder / BOOK, progress)


def module_of(rules: Rules, book: Book | None, progress: Progress) -> bytes | None:
    """The module of a game, shipped or built; None where its book needs none, or there is none to be had.

    Without a book it is wanted: raises what `module.built` does, and MethodError for games of chance.
    """
    if book is None and rules.chance is not None:
        remedy = f"solver solve {rules.name} -o BOOK, export that"
        raise MethodError(f"{rules.name} is a game of chance, not searched: {remedy}")
    if rules.chance is not None or (book is not None and book.header.is_gapless):
        return None
    shipped = modules.data_of(rules)
    if shipped is not None:
        return shipped
    progress("building the search", 0, 0)
    try:
        return building.built(rules)
    except (SolverError, RuntimeError):  # of rules that do not compile; of an LLVM without WebAssembly
        if book is None:
            raise
        return None


def check_folder(folder: Path) -> None:
    """Raise BookError if a page cannot be written there: a folder with anything else in it is left alone."""
    with nameable(folder):
        _check_folder(folder)


def _check_folder(folder: Path) -> None:
    if not folder.exists():
        check_target(folder)
        return
    if not folder.is_dir():
        raise BookError(f"{folder} is no folder, and would be replaced by one: name another")
    if folder == Path.cwd():
        raise BookError(f"{folder} is the folder you are in, which would be replaced: name one in it, site/")
    names = {path.name for path in folder.iterdir()}
    if names and not (names <= {*_copied(), *WRITTEN} and _is_page(folder / GAME)):
        other = ", ".join(sorted(names - {*_copied(), *WRITTEN})[:3]) or "files that are no page"
        raise BookError(f"{folder} holds {other}: name a new folder, then move what is in it where you want it")


def _is_page(game: Path) -> bool:
    if not game.is_file():
        return False
    with open(game, "rb") as file:
        return file.read(len(MARK)) == MARK.encode()


def _copied() -> dict[str, str]:
    """The files of every page, by their names."""
    parts = [part for folder in ("reader", "site") for part in (WEB / folder).iterdir() if "." in part.name]
    parts = [part for part in parts if not part.name.endswith(".d.ts")]
    return {part.name: part.read_text("utf-8") for part in sorted(parts, key=lambda part: part.name)}


def game_of(rules: Rules, book: Book | None, module: bytes | None = None) -> str:
    """The text of game.js, for a page with that book and that module.

    Raises MethodError with the line of the rules that has no translation.
    """
    keys = None if book is None else book.codec_keys
    asked = () if keys is None else keys.ASKED
    about = {
        "game": rules.name,
        "summary": summary_of(rules.game),
        "scores": rules.scores,
        "adds": rules.reward is not None,
    }
    if book is not None:
        about["digest"] = book.header.digest
        if book.expectation:
            about["expects"] = book.expectation.of
    if module is not None:
        checksum = hashlib.sha256(module).hexdigest()
        about["search"] = {"sha256": checksum, "rules": rules.fingerprint, "symmetry": rules.folds}
    try:
        port = translation(rules, asked)
    except MethodError as error:
        if asked:
            raise MethodError(f"{error}: write it otherwise, or pack the book compact first") from None
        records = all_of(rules, TABLED)
        if records is None:
            raise MethodError(f"{error}: write it otherwise (a game of {TABLED:,} positions needs none)") from None
        table = f"export const rules = undefined;\nexport const game = tabled({_json(records)});"
        port = f'import {{ tabled }} from "./rules.js";\n\n{table}\n'
        samples = "[]"
    else:
        samples = _json(sampled(rules, CHECKED, keys=keys))
    return f"{MARK}\n{port}\nexport const about = {_json(about)};\nexport const records = {samples};\n"


def title_of(game: Any) -> str:
    """What a person calls a game: its name, the size of its board, and what else is not as it is by default.

    Connect Four 4 \u00d7 4; Tic Tac Toe 3 \u00d7 3, misere; Chess Ending KPK.
    """
    name, _, text = game_text(game).rpartition("::")[2].partition(":")
    words = re.sub("(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", "-").replace("-", " ").split()
    title = " ".join(
        word if at and word in SMALL_WORDS else word[:1].upper() + word[1:] for at, word in enumerate(words)
    )
    if own_method(game, "to_text"):
        return f"{title} {text}".strip()
    rest, defaults = _parameters(game), game._field_defaults
    if {"width", "height"} <= rest.keys():
        title += f" {rest.pop('width')} \u00d7 {rest.pop('height')}"
    others = [_said(name, value) for name, value in rest.items() if value != defaults.get(name)]
    return ", ".join([title, *others])


def summary_of(game: Any) -> str:
    """The first line of a game's docstring, with numbers in place of the parameters that it names in backticks."""
    values = {name: str(value) for name, value in _parameters(game).items() if type(value) is int}
    line = (inspect.getdoc(type(game)) or "").partition("\n")[0]
    return re.sub("`(.*?)`", lambda match: values.get(match[1], match[1]), line)


def _parameters(game: Any) -> dict[str, Any]:
    return dict(zip(game._fields, game, strict=True))


def _said(name: str, value: Any) -> str:
    name = name.replace("_", " ")
    if isinstance(value, bool):
        return name if value else f"without {name}"
    return f"{name} {' '.join(map(str, value)) if isinstance(value, tuple) else value}"


def translation(rules: Rules, asked: tuple[str, ...] = ()) -> str:
    """The part of game.js that has the rules, with those that the book's keys ask.

    Raises MethodError with the line that has no translation.
    """
    game = rules.game
    drawn = ("cells", "place") if is_drawn(game) else ()
    text = () if is_all_drawn(rules) else ("view", "show")
    wanted = (*OPTIONAL, *drawn, *text, *(name for name in asked if name != "size"))
    names = [*RULES, *(name for name in wanted if own_method(game, name) is not None)]
    if rules.folds:
        names.append("canonical")
    port = Port(game)
    listed = {name: port.method(name) for name in names}
    if "rank" in asked and "rank" not in listed:
        listed |= dict.fromkeys(("rank", "unrank"), f"within({port.method('size')})")
    methods = ", ".join(f"{name}: {function}" for name, function in listed.items())
    return (
        'import * as py from "./python.js";\nimport { translated, within } from "./rules.js";\n\n'
        f"{port.text()}\n\nexport const rules = {{ {methods} }};\nexport const game = translated(rules);\n"
    )


def _json(item: object) -> str:
    return json.dumps(item, separators=(",", ":"), ensure_ascii=True)
