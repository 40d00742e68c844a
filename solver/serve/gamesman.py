"""The requests of the page of GamesmanUni, under `/uwapi/`: five endpoints, with the order and the codes that it wants.

By GamesCrafters' README of their web API and its server. Values are win, lose, tie, draw, unsolved for whoever is to
move there; a tie ends, a draw does not: games whose book says that play may go on for ever have draws. Errors have
status 200. A position is the side to move, 1 or 2, the state's number, and where moves score the margin so far: 1_123,
2_123.-4. The drawing is another text: the side and a character for each cell of the board, - where it is empty.

Games of chance are not listed: the interface has no values for them.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from solver.base.errors import PositionError
from solver.export.site import title_of
from solver.rules.game import own_method
from solver.rules.notation import Position, format_action, next_position
from solver.serve.handlers import Handlers
from solver.serve.reply import Refused, Reply, reply_of
from solver.serve.shelf import Served

ENDLESS, UNKNOWN = -200, -100  # remoteness
ORDER = ("win", "tie", "draw", "lose", "unsolved")
OTHER = {"win": "lose", "lose": "win"}
REGULAR = "regular"
DRAWN = re.compile("[a-zA-Z0-9]")  # characters of a cell as they are
IMAGES = {"X": "general/whitepiece.svg", "x": "general/blackpiece.svg"}  # of the first player's men, and the second's


class Place(NamedTuple):
    """A position, and its name in the interface."""

    position: Position
    name: str
    drawn: str


class Gamesman:
    """The five endpoints over a shelf."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers
        self._games: dict[str, dict[str, Served]] = {}
        for served in handlers.shelf.values():
            game, _, parameters = served.name.rpartition("::")[2].partition(":")
            if served.rules.chance is None:
                self._games.setdefault(game, {})[parameters or REGULAR] = served

    def routes(self) -> Iterator[tuple[str, Any]]:
        """Return the paths and their handlers."""
        yield "/uwapi/", self._list
        yield "/uwapi/{game}/", self._game
        yield "/uwapi/{game}/{variant}/", self._variant
        yield "/uwapi/{game}/{variant}/positions/", self._position
        yield "/uwapi/{game}/{variant}/instructions/", self._instructions

    async def _list(self, request: Any) -> Reply:
        games = [
            {"id": game, "name": _name_of(game), "type": "twoPlayer", "gui": _gui(next(iter(variants.values())))}
            for game, variants in self._games.items()
        ]
        return reply_of(sorted(games, key=lambda served: served["name"]))

    async def _game(self, request: Any) -> Reply:
        game = request.path_params["game"]
        variants = self._variants(game)
        listed = [
            {"id": name, "name": _variant_name(name, served), "gui": _gui(served)} for name, served in variants.items()
        ]
        return reply_of(
            {
                "id": game,
                "name": _name_of(game),
                "variants": listed,
                "allowCustomVariantCreation": False,
                "supportsWinBy": any(served.rules.margins for served in variants.values()),
            }
        )

    async def _variant(self, request: Any) -> Reply:
        found = self._found(request)
        rules, initial = found.rules, found.game.initial()
        start = _place(found, Position(initial, None, rules.mover(initial), None if rules.reward is None else 0))
        return reply_of(
            {
                "id": request.path_params["variant"],
                "name": _variant_name(request.path_params["variant"], found),
                "startPosition": start.name,
                "autoguiStartPosition": start.drawn,
                "imageAutoGUIData": _drawing(found),
                "gui": _gui(found),
            }
        )

    async def _instructions(self, request: Any) -> Reply:
        found = self._found(request)
        return reply_of({"instructions": f"# {title_of(found.game)}\n\n{inspect.getdoc(type(found.game)) or ''}\n"})

    async def _position(self, request: Any) -> Reply:
        found = self._found(request)
        asked = _read(found, request.query_params.get("p", ""))
        try:
            facts, cache = await self._handlers.known(request, found, f"#{asked.position.state}")
        except PositionError:
            raise _invalid("Position") from None
        moves = list(_moves(found, asked, facts))
        _rank(moves)
        return reply_of({**_told(found, asked, facts), "moves": moves}, cache, "uwapi", found.digest, asked.name)

    def _variants(self, game: str) -> dict[str, Served]:
        variants = self._games.get(game)
        if variants is None:
            raise _invalid("Game")
        return variants

    def _found(self, request: Any) -> Served:
        found = self._variants(request.path_params["game"]).get(request.path_params["variant"])
        if found is None:
            raise _invalid("Variant")
        return found


def _invalid(what: str) -> Refused:
    return Refused(200, f"Invalid {what}")


def _name_of(game: str) -> str:
    return game.replace("-", " ").title()


def _variant_name(name: str, served: Served) -> str:
    return "Standard" if name == REGULAR else title_of(served.game)


def _gui(served: Served) -> str:
    return "v3" if _is_drawn(served.game) else "v0"


def _read(served: Served, text: str) -> Place:
    """Return the position of a text. Raises Refused if there is none."""
    match = re.fullmatch(r"([12])_([0-9]{1,160})(?:\.(-?[0-9]{1,9}))?", text, re.ASCII)
    if not match or int(match[2]) >> served.rules.bits:
        raise _invalid("Position")
    state, mover, gained = int(match[2]), int(match[1]) - 1, int(match[3] or 0)
    try:
        own = mover if served.rules.to_move is None else served.rules.to_move(state)
        return _place(served, Position(state, None, own, None if served.rules.reward is None else gained))
    except Exception:
        # Rules need not bear numbers that are no states
        raise _invalid("Position") from None


def _place(served: Served, position: Position) -> Place:
    side = f"{(position.mover or 0) + 1}_"
    name = f"{side}{position.state}" + ("" if position.gained is None else f".{position.gained}")
    rows = _cells(served, position)
    return Place(position, name, name if rows is None else side + "".join(map(_drawn, "".join(rows))))


def _cells(served: Served, position: Position) -> list[str] | None:
    cells = own_method(served.game, "cells")
    return list(cells(position.state, position.mover)) if _is_drawn(served.game) else None


@functools.lru_cache(maxsize=1 << 10)
def _is_drawn(game: Any) -> bool:
    """Whether the cells of a game are men and empty ones: numbers have no pictures there."""
    cells = own_method(game, "cells")
    return cells is not None and not any(cell.isdigit() for row in cells(game.initial(), 0) for cell in row)


def _drawn(cell: str) -> str:
    return "-" if cell in ". " else cell if DRAWN.match(cell) else "~"


def _told(served: Served, place: Place, worth: Any) -> dict[str, Any]:
    """Return the facts of a position with this value for its side to move."""
    value, remoteness = _value(served, place.position, worth)
    said = {
        "position": place.name,
        "autoguiPosition": place.drawn,
        "positionValue": value,
        "remoteness": remoteness,
    }
    if served.rules.margins and worth.score is not None:
        said["winby"] = worth.score + (place.position.gained or 0)
    return said


def _value(served: Served, position: Position, worth: Any) -> tuple[str, int]:
    if worth.score is None:
        return "unsolved", UNKNOWN
    score = worth.score + (position.gained or 0)
    over = served.rules.is_terminal(position.state)
    if score:
        distance = 0 if over and worth.distance is None else worth.distance
        return "win" if score > 0 else "lose", UNKNOWN if distance is None else distance
    if over:
        return "tie", 0
    return ("draw", ENDLESS) if _is_endless(served) else ("tie", UNKNOWN)


def _is_endless(served: Served) -> bool:
    """Whether a draw is taken for play that goes on for ever: among cycles books do not tell it from a tie to come."""
    return not served.rules.tiered if served.book is None else served.book.header.method == served.rules.kind.cyclic


def _moves(served: Served, place: Place, facts: Any) -> Iterator[dict[str, Any]]:
    state, chosen = place.position.state, own_method(served.game, "place")
    actions = {format_action(served.game, state, action): action for action in served.rules.actions(state)}
    for move in facts.moves:
        action = actions[move.move]
        after = _place(served, next_position(served.rules, place.position, action))
        said = _told(served, after, move.child)
        same = after.position.mover == place.position.mover
        value = said["positionValue"]
        yield {
            "move": move.move,
            "autoguiMove": _button(move.move, () if chosen is None else list(chosen(state, action))),
            "moveValue": value if same else OTHER.get(value, value),
            **said,
        }


def _button(name: str, cells: Iterable[int]) -> str:
    """How a move is drawn: a button on a cell, an arrow, or by its name in a list."""
    places = list(cells)
    if not places:
        return name
    return f"A_-_{places[0]}_x" if len(places) == 1 else f"M_{places[0]}_{places[-1]}_x"


def _rank(moves: list[dict[str, Any]]) -> None:
    """Give moves their `deltaRemoteness`, and put the best first; a remoteness that is not known counts as the last."""
    for value in ORDER:
        group = [move for move in moves if move["moveValue"] == value]
        known = [move["remoteness"] for move in group if move["remoteness"] >= 0]
        slow = max(known, default=0) + 1
        for move in group:
            far = move["remoteness"] if move["remoteness"] >= 0 else slow
            best = max(known, default=far) if value == "lose" else min(known, default=far)
            move["deltaRemoteness"] = abs(far - best) if value in ("win", "tie", "lose") else 0
    moves.sort(key=lambda move: (ORDER.index(move["moveValue"]), move["deltaRemoteness"]))


def _drawing(served: Served) -> dict[str, Any] | None:
    """A board of cells, men in two colours; None where the rules draw none."""
    rows = _cells(served, Position(served.game.initial(), None, 0))
    if rows is None:
        return None
    width = max(map(len, rows))
    letters = [chr(first + number) for first in (ord("A"), ord("a")) for number in range(26)]
    theme = {
        "space": [width, len(rows)],
        "centers": [[x + 0.5, y + 0.5] for y, row in enumerate(rows) for x in range(len(row))],
        "charImages": {letter: {"image": IMAGES["X" if letter < "a" else "x"], "scale": 1} for letter in letters},
        "circleButtonRadius": 0.2,
        "lineWidth": 0.1,
        "arrowWidth": 0.1,
        "animationType": "entityFade",
    }
    return {"defaultTheme": "regular", "themes": {"regular": theme}}
