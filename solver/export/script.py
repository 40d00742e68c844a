"""The game of a page: `game.js`, and the module of WebAssembly that tells its numbers, which `solver build` writes.

Numbers (moves, where they lead, who moves, how it ends) are told by the module where the page has one; else they are
translated to JavaScript. Text (boards, names of moves) is translated always. A small game that lacks some translation
becomes a table of all its positions. In a larger one the numbers come from a module that is made for it, and where the
text has none, states and moves are shown by their numbers.

Records are positions as a page knows them: all that the rules say of one, from Python. A record has the state, who is
to move, 0 or 1, how the game has ended, the state in the book, the moves and the board. Records of random games check
the translated rules; those of all positions of a small game stand for rules that have no translation. States are text,
since JavaScript's numbers would round them. Where chance decides, its outcomes stand for moves, each with its weight,
named as in `solver.rules.notation`.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from solver.base import extras
from solver.base.errors import GameError, MethodError, SolverError
from solver.base.files import write_whole
from solver.base.progress import Progress, silent
from solver.book.codecs import States
from solver.book.writer import check_target
from solver.check.conformance import check_game
from solver.export.javascript import Port
from solver.play import modules
from solver.rules import notation, protocol
from solver.rules.boards.text import cell_names, cells_of_move, is_drawn
from solver.rules.game import Rules, is_built_in, own_method
from solver.rules.numbering import within

PAGE_MARK = "// The game of a page of solverbook."  # by which a folder is known to be one that may be replaced
MODULE_MARK = rb"\x06solver\{"  # the begin of the section that says what a module is
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
OPENED = 'const module = await Search.open(new URL("game.wasm", import.meta.url), about.module);'
MAX_PLIES = 60  # plies of a random game
MOVES = 2000  # of all records together: there are games with hundreds at a time

Record = dict[str, Any]


class Script(NamedTuple):
    """The files of a game's page: `game.js`; the module, if it has one; and notes, a line each."""

    text: str
    module: bytes | None
    notes: list[str]


def script_of(
    rules: Rules, keys: States | None, about: dict[str, Any], module: bytes | None, progress: Progress
) -> Script:
    """The script of a game, with the functions that the keys of its book need. The page searches by `module`.

    Raises MethodError with the line of the rules that has no translation, where they do not compile, either.
    """
    asked_rules = () if keys is None else keys.ASKED
    hints = _own(rules, [name for name in asked_rules if name not in protocol.NUMBERS])
    numbers = ranks = ["rank", "unrank", *hints] if asked_rules else []
    if module is None:
        numbers = [*numbers_of(rules), *ranks, *(_own(rules, LEADING) if "leads" in about else [])]
    refused, text, notes = refusal(rules, numbers), list[str](), list[str]()
    for names, instead in _texts(rules):
        untranslated = refusal(rules, names)
        if untranslated is None:
            text += names
        elif instead:
            notes.append(f"{untranslated}: the page shows {instead}")
    about = {**about, "searches": module is not None}
    table = None if asked_rules or not (refused or notes) else all_of(rules, TABLED)
    if refused is not None and table is None:
        if rules.plain_only:
            raise MethodError(
                f"{rules.name} runs in plain Python only, and has more than {TABLED:,} positions: it has no page;"
                " solver query answers from its book"
            )
        try:
            module, numbers = module_at_hand(rules, bool(asked_rules), "rules", progress), []
        except SolverError as error:
            raise MethodError(f"{refused}, and {error}") from None
    if module is not None:
        seal = hashlib.sha256(module).hexdigest()
        about["module"] = {"sha256": seal, "rules": rules.fingerprint, "symmetry": rules.folds}
    if table is not None:
        return Script(tabled(about, table), module, [])
    shown = copy.copy(rules)
    without = dict.fromkeys({*text_of(rules)} - {*text})
    shown.game = type("Shown", (type(rules.game),), without)(*rules.game)
    records = sampled(shown, CHECKED, keys=keys)
    return Script(ported(about, *translation(rules, [*numbers, *text]), records), module, notes)


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
    return f"""{PAGE_MARK}
import * as py from "./python.js";
import {{ gameOf }} from "./rules.js";
{'import { Search } from "./search.js";' if by_module else ""}
{functions}

export const about = {_json(about)};
{OPENED if by_module else ""}
export const rules = {{ {"...module.rules, " if by_module else ""}{methods} }};
export const game = gameOf(rules);
export const records = {_json(records)};
"""


def translation(rules: Rules, names: Sequence[str]) -> tuple[str, str]:
    """Functions in JavaScript, and those that methods of the game became, each by its name.

    Raises MethodError with the line that has no translation.
    """
    game = rules.game
    if rules.rank is not None and not own_method(game, "rank"):
        # `rank` and `unrank` follow from other methods
        found = rules.numbering.functions if rules.numbering else {"rank": within, "unrank": within}
        game = type("Numbered", (type(game),), {name: found[name] for name in ("rank", "unrank")})(*game)
    port = Port(game)
    members = [f"{name}: {port.method(name)}" for name in names if name != "initial"]
    if "initial" in names:
        members.append(f"initial: () => {port.constant('initial', rules.game.initial())}")
    if "place" in names and "format_action" not in names and cell_names(rules.game):
        members.append(f"names: {_json(cell_names(rules.game))}")
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
    return [name for names, _ in _texts(rules) for name in names]


def _own(rules: Rules, names: Sequence[str]) -> list[str]:
    return [name for name in names if own_method(rules.game, name) is not None]


def _texts(rules: Rules) -> list[tuple[list[str], str]]:
    """Groups of methods that tell text, each with what a page shows without them."""
    # Cells do not show the dice: beside them text is wanted, too
    views = ["view", "show"] if rules.chance is not None or not is_drawn(rules.game) else []
    names = f"moves by their {'cells' if own_method(rules.game, 'place') else 'numbers'}"
    groups = ((["cells", "place", *views], "states by their numbers"), (["format_action"], names))
    return [(_own(rules, group), instead) for group, instead in (*groups, (["format_end"], ""), (["from_cells"], ""))]


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def write_module(
    rules: Rules, path: str | os.PathLike[str], ranks: bool = False, *, progress: Progress = silent
) -> int:
    """Build the module of a game into a file, and return its size in bytes.

    Raises as `built_module`, and BookError or ResourceError if the file cannot be written.
    """
    target = check_target(path, MODULE_MARK)
    data = built_module(rules, ranks, progress=progress)
    write_whole(target, data)
    return len(data)


def built_module(rules: Rules, ranks: bool = False, *, progress: Progress = silent) -> bytes:
    """The module of a game, whose rules are checked as before a solve. `ranks`: with those of ranked books.

    Raises MethodError for a game that has none, and without Numba; GameError for rules that break the protocol,
    UncompiledRules.
    """
    extras.require_kernels(f"{rules.name} needs a module, and Numba compiles it: ")
    from solver.compiled import agreement
    from solver.compiled.module.building import build

    if not is_built_in(rules.name) and not rules.plain_only:
        progress("check", 0, 0)
        agreement.compare(rules.game, check_game(rules.game), symmetry=rules.symmetry)
    return build(rules, ranks, progress=progress)


def module_at_hand(rules: Rules, ranks: bool, purpose: str, progress: Progress) -> bytes:
    """The module of a game that comes with the package, else one that is built. Raises the errors of `built_module`."""
    shipped = None if ranks else modules.data_of(rules)
    if shipped is not None:
        return shipped
    progress(f"building the {purpose}", 0, 0)
    return built_module(rules, ranks, progress=progress)


def record_of(rules: Rules, position: notation.Position, keys: States | None = None) -> Record:
    """The record of a position, with the answers that the keys of a book ask of the rules.

    Raises GameError where `cells` or `place` make no board, or `from_cells` does not give its state back.
    """
    state, mover = position.state, int(position.mover or 0)
    over = bool(rules.is_terminal(state))
    board = notation.board_of(rules.game, state, mover)
    back = own_method(rules.game, "from_cells")
    if back is not None and not isinstance(board, str):
        try:
            parsed = back(board, mover)
        except ValueError as error:
            parsed = f"ValueError, {error}"
        if parsed != state:
            raise GameError(f"from_cells({board}, {mover}) is {parsed}: these are the cells of state {state}")
    moves, outcomes = [], [] if over else notation.chances(rules.game, state)
    for action in [] if over else choices(rules, state):
        child = notation.next_position(rules, position, action)
        move: Record = {
            "name": notation.format_action(rules.game, state, action),
            "child": str(child.state),
            "mover": int(child.mover or 0),
            "gain": 0 if outcomes else _number(rules.gain(state, action)),
            "place": [] if outcomes else cells_of_move(rules.game, state, action, board),
        }
        moves.append({**move, "weight": int(outcomes[action][0])} if outcomes else move)
    record = {
        "state": str(state),
        "mover": mover,
        "end": [_number(rules.utility(state)), _number(rules.plies_left(state))] if over else None,
        "key": str(rules.canonical(state)),
        "moves": moves,
        "board": board,
    }
    # Cells do not show the dice
    if is_drawn(rules.game) and rules.chance is not None:
        record["text"] = notation.show(rules.game, state, mover)
    if over and own_method(rules.game, "format_end") is not None:
        record["how"] = notation.format_end(rules.game, state)
    ranked = None if over or keys is None else keys.told(rules.canonical(state))
    return record if ranked is None else {**record, "told": ranked}


def _number(number: Any) -> int | float:
    """Return a number as JSON has it. Rules may return truth values and NumPy's numbers."""
    return int(number) if int(number) == number else float(number)


def sampled(rules: Rules, count: int, seed: int = 0, keys: States | None = None) -> list[Record]:
    """Records along random games, the start first, none twice; fewer where the game has fewer, or they take long."""
    chance = random.Random(seed)
    records: dict[tuple[int, int | None], Record] = {}
    position = notation.first_position(rules)
    for _ in range(20 * count):
        if (position.state, position.mover) not in records:
            records[position.state, position.mover] = record_of(rules, position, keys)
        if len(records) == count or sum(len(record["moves"]) for record in records.values()) > MOVES:
            break
        if position.ply == MAX_PLIES or rules.is_terminal(position.state):
            position = notation.first_position(rules)
        else:
            position = notation.next_position(rules, position, chance.choice(choices(rules, position.state)))
    return list(records.values())


def all_of(rules: Rules, limit: int) -> list[Record] | None:
    """Records of all positions that play can reach, the start first; None if there are more than `limit`."""
    records: dict[tuple[int, int | None], Record] = {}
    todo = [notation.first_position(rules)]
    for position in todo:
        if (position.state, position.mover) in records:
            continue
        if len(records) == limit:
            return None
        records[position.state, position.mover] = record_of(rules, position)
        if not rules.is_terminal(position.state):
            todo += [notation.next_position(rules, position, action) for action in choices(rules, position.state)]
    return list(records.values())


def choices(rules: Rules, state: int) -> list[int]:
    """Return the actions at an unfinished state, or the numbers of chance's outcomes, however likely."""
    return list(range(len(notation.chances(rules.game, state)))) or list(rules.actions(state))
