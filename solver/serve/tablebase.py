"""Requests of scripts to tablebases of chess endings: `/standard?fen=` and `/standard/mainline?fen=`, as on lichess.

By the README of lila-tablebase. The endings are those whose books are served, of pieces against a bare king, whichever
colour has them. `dtm` is in plies. Nothing is zeroed on the way to a mate without pawns, so that `dtz` is the same;
with a pawn it is null. Of a move all is told from the opponent's view. Books know no fifty-move rule, which none of
these endings needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio.to_thread

from solver.base.value import Value
from solver.rules.notation import format_action
from solver.rules.reading import parse_position
from solver.serve.handlers import Handlers
from solver.serve.reply import FOREVER, Refused, Reply, reply_of
from solver.serve.shelf import Served

FILES, MOST_FEN = "abcdefgh", 100
NAMED = "PNBRQ"


class Tablebase:
    """The two endpoints over a shelf."""

    def __init__(self, handlers: Handlers) -> None:
        self._shelf = handlers.shelf

    def routes(self) -> Iterator[tuple[str, Any]]:
        """Return the paths and their handlers."""
        yield "/standard", self._standard
        yield "/standard/mainline", self._mainline

    async def _standard(self, request: Any) -> Reply:
        return await self._told(request, _position)

    async def _mainline(self, request: Any) -> Reply:
        return await self._told(request, _mainline)

    async def _told(self, request: Any, facts_of: Any) -> Reply:
        fen = request.query_params.get("fen", "").replace("_", " ").strip()
        served, turned = self._served(fen)
        state = parse_position(served.game, fen).state
        facts = await anyio.to_thread.run_sync(facts_of, served, state, turned)
        return reply_of(facts, FOREVER, facts_of.__name__, served.digest, fen)

    def _served(self, fen: str) -> tuple[Served, bool]:
        """The ending of a position, and whether Black has the pieces: the rules then turn the board round."""
        placement, _, rest = fen.partition(" ")
        if len(fen) > MOST_FEN or placement.count("/") != 7 or rest[:1] not in ("w", "b"):
            raise Refused(400, f"fen={fen[:80]!r}: say the ranks from 8 to 1, then w or b, as 8/8/8/8/8/k1K5/8/1Q6_w")
        turned = any(mark in NAMED.lower() for mark in placement)
        pieces = sorted((mark for mark in placement.upper() if mark in NAMED), key=NAMED.index, reverse=True)
        served = self._shelf.get(f"chess-ending:K{''.join(pieces)}K")
        if served is None or served.book is None or (turned and any(mark in NAMED for mark in placement)):
            raise Refused(404, f"fen={fen[:80]!r} is of no ending whose book is served: /v1/books lists them")
        return served, turned


def _position(served: Served, state: int, turned: bool) -> dict[str, Any]:
    """A position, and its moves, best first."""
    answer, moves = served.player.examine(state)
    told = []
    for move in moves:
        said = {**_named(served, state, move.action, turned), **_worth(served, move.child, move.child_value)}
        told.append({**said, "zeroing": _zeroes(served, state, move.action, move.child)})
    return {**_worth(served, state, answer.value), "moves": told}


def _mainline(served: Served, state: int, turned: bool) -> dict[str, Any]:
    """The quickest mate against the longest resistance; no moves where it is a draw."""
    player, line, winner = served.player, [], None
    value = player.value(state).value
    if value is not None and value.score:
        winner = "wb"[_is_black(served, state) ^ turned ^ (value.score < 0)]
        before = state
        for action, after in player.line(state):
            said = _named(served, before, action, turned)
            line.append({**said, "dtz": _worth(served, after, player.value(after).value)["dtz"]})
            before = after
    return {"dtz": _worth(served, state, value)["dtz"], "mainline": line, "winner": winner}


def _worth(served: Served, state: int, value: Value | None) -> dict[str, Any]:
    """Return the facts of a position, for its side to move."""
    category, dtm = "unknown", None
    if value is not None:
        category = value.outcome
        dtm = 0 if value.distance is None else value.distance if value.score > 0 else -value.distance
    dtz = None if dtm is None or ("P" in _cells(served, state) and dtm) else dtm
    if category == "loss" and dtz == 0:
        # A mate has a dtz of -1
        dtz = -1
    over = served.game.is_terminal(state)
    mate = over and category == "loss"
    stuck = over and not mate and next(iter(served.game.actions(state)), None) is None
    return {
        "category": category,
        "dtz": dtz,
        "precise_dtz": dtz,
        "dtm": dtm,
        "checkmate": mate,
        "stalemate": stuck,
        "variant_win": False,
        "variant_loss": False,
        "insufficient_material": over and not mate and not stuck,
    }


def _named(served: Served, state: int, action: int, turned: bool) -> dict[str, str]:
    """A move as engines and as players write it."""
    cells = _cells(served, state)
    start, end = served.game.place(state, action)  # type: ignore[attr-defined]
    piece, promoted = cells[start].upper(), format_action(served.game, state, action).partition("=")[2]
    child = served.game.result(state, action)
    uci = _square(start, turned) + _square(end, turned) + promoted.lower()
    takes = "x" if cells[end] != "." else ""
    if piece == "P":
        san = _square(end, turned) + (f"={promoted}" if promoted else "")
    else:
        san = piece + _told_apart(served, state, action, turned) + takes + _square(end, turned)
    if _is_check(served, child) and not _is_black(served, state):
        san += "#" if served.game.is_terminal(child) else "+"
    return {"uci": uci, "san": san}


def _told_apart(served: Served, state: int, action: int, turned: bool) -> str:
    """The file, rank or square that a move of one of two like pieces is told by."""
    cells = _cells(served, state)
    start, end = served.game.place(state, action)  # type: ignore[attr-defined]
    places = [served.game.place(state, other) for other in served.game.actions(state)]  # type: ignore[attr-defined]
    others = {at for at, to in places if to == end and at != start and cells[at] == cells[start]}
    if not others:
        return ""
    if all(at % 8 != start % 8 for at in others):
        return _square(start, turned)[0]
    return _square(start, turned)[1] if all(at // 8 != start // 8 for at in others) else _square(start, turned)


def _zeroes(served: Served, state: int, action: int, child: int) -> bool:
    """Whether a move is a pawn's or takes a piece."""
    cells, after = _cells(served, state), _cells(served, child)
    start, _ = served.game.place(state, action)  # type: ignore[attr-defined]
    return cells[start] == "P" or cells.count(".") != after.count(".")


def _is_check(served: Served, state: int) -> bool:
    """Whether Black is in check: with White to move that would be no position."""
    try:
        served.game.from_cells(list(served.game.cells(state, 0)), 0)  # type: ignore[attr-defined]
    except ValueError:
        return True
    return False


def _cells(served: Served, state: int) -> str:
    return "".join(served.game.cells(state, 0))  # type: ignore[attr-defined]


def _is_black(served: Served, state: int) -> bool:
    """Whether the bare king is to move."""
    return bool(served.game.format_position(state).split()[1] == "b")  # type: ignore[attr-defined]


def _square(cell: int, turned: bool) -> str:
    """The name of a cell, counted from the top left."""
    rank = 8 - cell // 8
    return f"{FILES[cell % 8]}{9 - rank if turned else rank}"
