"""`solver query`."""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Iterable
from typing import Any

import click

from solver.book import Book
from solver.cli.common import (
    at_the_end,
    budget_option,
    game_option,
    in_all,
    in_words,
    json_option,
    note,
    open_source,
    thinking,
)
from solver.errors import BookError, GameError, MissingState, PositionError, SolverError
from solver.game import game_text as text_of
from solver.notation import Position, format_action, parse_position, show
from solver.player import Move, Player
from solver.value import Value

DUMPS = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


@click.command("query")
@click.argument("source", metavar="BOOK|GAME")
@click.argument("positions", nargs=-1, required=True, metavar="POSITION...")
@json_option
@click.option("--no-moves", is_flag=True, help="The value alone, not every move's.")
@click.option("--book-only", is_flag=True, help="No live search: exit 3 where the book is silent.")
@budget_option
@game_option
def command(
    source: str,
    positions: tuple[str, ...],
    as_json: bool,
    no_moves: bool,
    book_only: bool,
    budget: float,
    game_text: str | None,
) -> None:
    """Value positions and all their moves, best first.

    POSITION is the moves played from the start (4453, or "a2a3 b7b6"), `start`, #12345 for a state's number, or FEN for
    a chess ending. `-` reads one position a line and writes one JSON line for each, errors included. A GAME without a
    book is searched live, within the budget: compiling the search, which happens once, counts.

    In JSON what is not known exactly is null; "estimate" then is what a search of limited depth takes it for: from -1,
    lost, to 1, won, or a margin; null without one. Moves are sorted best first, those of which nothing is known before
    those that are known to lose.

    Where moves score (dots-and-boxes), values are what is still to come; "gained" is the margin so far for the side to
    move, null where the moves so far are not known, and in other games.

    \b
    solver query connect-four-5x5.lmdb 4453
    solver query connect-four-5x5.lmdb --no-moves - < positions.txt
    """
    book, game = open_source(source, game_text)
    player = Player(book if book is not None else game, game, seconds=budget, live=not book_only)
    asker = Asker(player, moves=not no_moves)
    missing, inexact = 0, 0
    for position in positions:
        if position == "-":
            answer_lines(asker, sys.stdin)
            continue
        with thinking(budget, quiet=not sys.stderr.isatty()):
            facts = asker.ask(position)
        click.echo(json.dumps(facts) if as_json else asker.text(facts))
        missing += facts["source"] == "missing"
        inexact += not facts["exact"]
    if missing and book_only:
        raise MissingState(f"{missing} of {len(positions)} positions not in {source}: leave out --book-only to search")
    if inexact and player.live:
        _say_what_helps(player)


def _say_what_helps(player: Player) -> None:
    """After an answer that is not exact: more time, a book, or the search that is still being compiled."""
    if player.is_preparing():
        note("the compiled search was not ready in time; compiling it now, once, for the next question", quiet=False)
        player.prepare()
        return
    note(f"not known within the budget: more --budget, or solver solve {text_of(player.game)} -o BOOK", quiet=False)


def answer_lines(asker: Asker, lines: Iterable[str]) -> None:
    """One JSON line for each line; at a terminal or a pipe that waits they appear as they come."""
    write, waits = sys.stdout.write, sys.stdin.isatty()
    for line in lines:
        write(asker.line(line.strip()))
        if waits:
            sys.stdout.flush()


class Asker:
    """Questions to one player, answered in the shape of `--json`."""

    def __init__(self, player: Player, *, moves: bool) -> None:
        self.player = player
        self.game = player.game
        self.name = text_of(player.game)
        self.moves = moves
        book = player.solution
        self._quick = isinstance(book, Book) and (not moves or book.header.scope == "complete")
        self._find = player.solution.get
        self._canonical = player.canonical
        self._mover = player.rules.to_move
        self._fields = functools.lru_cache(maxsize=1 << 16)(lambda value: DUMPS(_value(value))[1:-1])
        self._name = functools.lru_cache(maxsize=1 << 16)(DUMPS)
        self._head = f'{{"game":{json.dumps(self.name)},"position":"#'

    def line(self, position: str) -> str:
        """The facts of a position, or its error, as a line of JSON."""
        try:
            return self._stored(position) or DUMPS(self.ask(position)) + "\n"
        except SolverError as error:
            return DUMPS({"position": position, "error": str(error)}) + "\n"

    def _stored(self, position: str) -> str | None:
        """The line of a state's number that the book holds, put together by hand: that takes a third of the time."""
        started = time.perf_counter()
        digits = position[1:]
        if not (self._quick and position[:1] == "#" and digits.isdecimal() and digits.isascii() and len(digits) < 19):
            return None
        state = int(digits)
        try:
            if self.moves:
                answer, moves = self.player.examine(state)
                value, found = answer.value, self._move_fields(state, moves)
            else:
                value, found = self._find(self._canonical(state)), ""
            mover = "null" if self._mover is None else int(self._mover(state))
        except BookError:
            raise
        except Exception:  # rules need not bear numbers that are no states
            return None
        if value is None or found is None:
            return None
        return (
            f'{self._head}{digits}","state":{state},"to_move":{mover},"ply":null,"gained":null,"terminal":false,'
            f'{self._fields(value)},"estimate":null,"exact":true,"source":"book",{found}'
            f'"elapsed_us":{(time.perf_counter() - started) * 1e6:.1f}}}\n'
        )

    def _move_fields(self, state: int, moves: list[Move]) -> str | None:
        """The fields of a state's moves; None without any or if one is not known."""
        best, texts, fields, name_of = [], [], self._fields, self._name
        for action, value, _, source, is_best, child, child_value, _ in moves:
            if value is None:
                return None
            name = name_of(format_action(self.game, state, action))
            if is_best:
                best.append(name)
            texts.append(
                f'{{"move":{name},{fields(value)},"estimate":null,"exact":true,"source":"{source}",'
                f'"best":{"true" if is_best else "false"},"child":{{"state":{child},{fields(child_value)}}}}}'
            )
        return f'"best":[{",".join(best)}],"moves":[{",".join(texts)}],' if texts else None

    def ask(self, position: str) -> dict[str, Any]:
        """The facts of a position. Raises PositionError."""
        started = time.perf_counter()
        parsed = parse_position(self.game, position)
        try:
            facts = self._facts(position, parsed)
        except Exception as error:  # rules need not bear numbers that are no states
            expected = isinstance(error, (SolverError, MemoryError)) and not isinstance(error, GameError)
            if parsed.ply is not None or expected:
                raise
            raise PositionError(f"{position} is no state of {self.name}: {type(error).__name__}") from None
        facts["elapsed_us"] = round((time.perf_counter() - started) * 1e6, 1)
        return facts

    def _facts(self, position: str, parsed: Position) -> dict[str, Any]:
        state = parsed.state
        moves: list[Move] | None = None
        if self.moves:
            answer, moves = self.player.examine(state)
        else:
            answer = self.player.value(state)
        facts = {
            "game": self.name,
            "position": position,
            "state": state,
            "to_move": self._to_move(parsed),
            "ply": parsed.ply,
            "gained": parsed.gained,
            "terminal": answer.source == "terminal",
            **_value(answer.value),
            "estimate": answer.estimate,
            "exact": answer.exact,
            "source": answer.source,
        }
        if moves is not None:
            facts["best"] = [format_action(self.game, state, move.action) for move in moves if move.best]
            facts["moves"] = [self._move(state, move) for move in moves]
        return facts

    def _to_move(self, parsed: Position) -> int | None:
        return parsed.mover if self._mover is None else self._mover(parsed.state)

    def _move(self, state: int, move: Move) -> dict[str, Any]:
        return {
            "move": format_action(self.game, state, move.action),
            **_value(move.value),
            "estimate": move.estimate,
            "exact": move.exact,
            "source": move.source,
            "best": move.best,
            "child": {"state": move.child, **_value(move.child_value)},
        }

    def text(self, facts: dict[str, Any]) -> str:
        """The facts for people: board, value, a table of moves."""
        lines = [show(self.game, facts["state"]), ""]
        value, rules, gained, side = _value_of(facts), self.player.rules, facts["gained"], "the side to move"
        if rules.again is not None and facts["to_move"] is not None:  # no board can tell
            side = f"player {facts['to_move'] + 1}"
        if facts["terminal"]:
            whose = f" for {side}" if rules.again is not None else ""
            lines.append(f"the game is over: {at_the_end(value, rules, gained)}{whose}")
        else:
            lines.append(f"{in_all(value, rules, gained, facts['estimate'])} for {side} ({facts['source']})")
        if facts.get("moves"):
            rows = [
                ("*" if move["best"] else " ", move["move"], self._words(move), move["source"])
                for move in facts["moves"]
            ]
            widths = [max(len(row[column]) for row in rows) for column in range(4)]
            lines += [
                "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
            ]
        return "\n".join(lines) + "\n"

    def _words(self, facts: dict[str, Any]) -> str:
        return in_words(_value_of(facts), self.player.rules, facts["estimate"])


def _value_of(facts: dict[str, Any]) -> Value | None:
    return None if facts["score"] is None else Value(facts["score"], facts["distance"])


def _value(value: Value | None) -> dict[str, Any]:
    if value is None:
        return {"value": None, "score": None, "distance": None}
    return {"value": value.outcome, "score": value.score, "distance": value.distance}
