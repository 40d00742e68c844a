"""The game of a page: `game.js`, and the module that tells its numbers.

Numbers (moves, where they lead, who moves, how it ends) are told by the module where the page has one; else they are
translated to JavaScript. Text (boards, names of moves) is translated always. A small game that lacks some translation
becomes a table of all its positions. In a larger one the numbers come from a module that is made for it, and where the
text has none, states and moves are shown by their numbers.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from solver.base.errors import MethodError, SolverError
from solver.base.progress import Progress
from solver.book.codecs.codec import States
from solver.export import module as building
from solver.export.javascript import Port
from solver.export.records import Record, all_of, sampled
from solver.rules.boards.cells import is_drawn
from solver.rules.boards.text import cell_names
from solver.rules.game import Rules, own_method

PAGE_MARK = "// The game of a page of solverbook."  # by which a folder is known to be one that may be replaced
CHECKED = 64  # positions of random games
TABLED = 10_000  # positions at most of a game that becomes a table
NUMBERS = (
    "initial",
    "actions",
    "result",
    "is_terminal",
    "utility",
    "plies_left",
    "to_move",
    "again",
    "reward",
    "chance",
)
LEADING = ("tier", "endless")  # by which moves are told that get somewhere
TEXT = ("cells", "place", "view", "show", "format_action", "format_end")
NUMBERED = {  # what numbers positions, by the function that does it
    "numbered(": 'import { numbered } from "./numbering.js";\n',
    "byOrbits(": 'import { byOrbits } from "./orbits.js";\n',
}
OPENED = 'const module = await Search.open(new URL("game.wasm", import.meta.url), about.module);'


class Script(NamedTuple):
    """The files of a game's page: `game.js`; the module, if it has one; and notes, a line each."""

    text: str
    module: bytes | None
    notes: list[str]


class _Shown(SimpleNamespace):
    """A game without the text that has no translation."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def script_of(
    rules: Rules, keys: States | None, about: dict[str, Any], module: bytes | None, progress: Progress
) -> Script:
    """The script of a game, with the functions that the keys of its book need. The page searches by `module`.

    Raises MethodError with the line of the rules that has no translation, where they do not compile, either.
    """
    asked_rules = () if keys is None else keys.ASKED
    numbers = ranks = _own(rules, [name for name in asked_rules if name != "size"])
    if module is None:
        numbers = [*numbers_of(rules), *ranks, *(_own(rules, LEADING) if "leads" in about else [])]
    refused, (text, notes) = refusal(rules, numbers), _text(rules)
    about = {**about, "searches": module is not None}
    table = None if asked_rules or not (refused or notes) else all_of(rules, TABLED)
    if refused is not None and table is None:
        module, numbers = _told(rules, refused, bool(asked_rules), progress), []
    if module is not None:
        seal = hashlib.sha256(module).hexdigest()
        about["module"] = {"sha256": seal, "rules": rules.fingerprint, "symmetry": rules.folds}
    if table is not None:
        return Script(tabled(about, table), module, [])
    shown = copy.copy(rules)
    hidden = {*TEXT} - {*text}
    names = [name for name in dir(rules.game) if name not in hidden and not name.startswith("__")]
    shown.game = _Shown(**{name: own_method(rules.game, name) for name in names})
    records = sampled(shown, CHECKED, keys=keys)
    return Script(ported(about, *translation(rules, [*numbers, *text], "rank" in asked_rules), records), module, notes)


def tabled(about: dict[str, Any], table: list[Record]) -> str:
    """The script of a game that is a table of all positions: they are not compared, having no other source."""
    return f"""{PAGE_MARK}
import {{ tabled }} from "./rules.js";

export const about = {_json(about)};
export const rules = undefined;
export const game = tabled({_json(table)});
export const records = [];
"""


def ported(about: dict[str, Any], functions: str, methods: str, records: list[Record]) -> str:
    """The script of a game of functions in JavaScript, and of its module's answers, if it is told `about` one."""
    by_module = "module" in about
    numbering = "".join(line for name, line in NUMBERED.items() if name in methods)
    return f"""{PAGE_MARK}
import * as py from "./python.js";
import {{ gameOf, within }} from "./rules.js";
{numbering}{'import { Search } from "./search.js";' if by_module else ""}
{functions}

export const about = {_json(about)};
{OPENED if by_module else ""}
export const rules = {{ {"...module.rules, " if by_module else ""}{methods} }};
export const game = gameOf(rules);
export const records = {_json(records)};
"""


def translation(rules: Rules, names: Sequence[str], ranked: bool = False) -> tuple[str, str]:
    """Functions in JavaScript, and those that methods of the game became, each by its name; `ranked`: ranks, too.

    Raises MethodError with the line that has no translation.
    """
    port = Port(rules.game)
    listed = {name: port.method(name) for name in names}
    members = [f"{name}: {function}" for name, function in listed.items()]
    if "place" in names and "format_action" not in names and cell_names(rules.game):
        members.append(f"names: {_json(cell_names(rules.game))}")
    if ranked and own_method(rules.game, "rank") is None:
        if rules.size is not None:
            members += [f"{name}: within({rules.size()}n)" for name in ("rank", "unrank")]
        elif "tables" in listed and rules.folds:
            tier = port.method("tier") if own_method(rules.game, "tier") else "undefined"
            lists = [f"() => [...py.iter({listed[name]}())]" for name in ("symmetries", "tables")]
            members.append(f"...byOrbits({', '.join(lists)}, {tier})")
        elif "scan" in listed:
            members.append(f"...numbered(() => [...py.iter({listed['digits']}())], {listed['scan']})")
    return port.text() if names else "", ", ".join(members)


def refusal(rules: Rules, names: Sequence[str]) -> MethodError | None:
    """Why methods of the game have no translation: the first line that has none; None if all have one."""
    try:
        translation(rules, names)
    except MethodError as error:
        return error
    return None


def numbers_of(rules: Rules) -> list[str]:
    """The methods that tell the numbers of a game."""
    return [*_own(rules, NUMBERS), *(["canonical"] if rules.folds else [])]


def text_of(rules: Rules) -> list[str]:
    """The methods that tell the text of a game."""
    return [*_boards(rules)[0], *_own(rules, ["format_action", "format_end"])]


def _own(rules: Rules, names: Sequence[str]) -> list[str]:
    return [name for name in names if own_method(rules.game, name) is not None]


def _boards(rules: Rules) -> list[list[str]]:
    """Methods that make a board, best first. Cells do not show the dice: beside them text is wanted, too."""
    drawn, views = _own(rules, ["cells", "place"]), _own(rules, ["view", "show"])
    return [[*drawn, *([] if rules.chance is None else views)], views] if is_drawn(rules.game) else [views]


def _text(rules: Rules) -> tuple[list[str], list[str]]:
    """Return the methods for a game's text that have a translation, and notes about the others, a line each."""
    functions, notes = [], []
    for choices, subject in ((_boards(rules), "states"), ([_own(rules, ["format_action"])], "moves")):
        best, refused = _first(rules, choices)
        functions += best
        if refused is not None:
            instead = "cells" if "place" in functions else "numbers"
            notes.append(f"{refused}: the page shows {'boards as text' if best else f'{subject} by their {instead}'}")
    functions += _first(rules, [_own(rules, ["format_end"])])[0]
    functions += _first(rules, [_own(rules, ["from_cells"])])[0] if "cells" in functions else []
    return functions, notes


def _first(rules: Rules, choices: Sequence[list[str]]) -> tuple[list[str], MethodError | None]:
    """The first of some lists of methods of which all have a translation, else none; and why it is not the first."""
    refusals = [refusal(rules, names) for names in choices]
    best = next((names for names, refused in zip(choices, refusals, strict=True) if refused is None), [])
    return best, refusals[0]


def _told(rules: Rules, refused: MethodError, ranks: bool, progress: Progress) -> bytes:
    """The module of rules that have no translation, shipped or built. Raises MethodError."""
    if rules.plain_only:
        raise MethodError(
            f"{rules.name} runs in plain Python only, and has more than {TABLED:,} positions: it has no page;"
            " solver query answers from its book"
        )
    try:
        return building.at_hand(rules, ranks, "rules", progress)
    except SolverError as error:
        raise MethodError(f"{refused}, and {error}") from None


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)
