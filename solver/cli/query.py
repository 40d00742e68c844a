"""`solver query`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from typing import Any

import click

from solver.cli.common import Seconds, game_option, in_words, json_option, open_source, outcome
from solver.errors import MissingState, PositionError, SolverError
from solver.game import game_text as text_of
from solver.game import is_score_game
from solver.notation import Position, format_action, parse_position, show
from solver.player import SECONDS, Answer, Move, Player
from solver.value import Value


@click.command("query")
@click.argument("source", metavar="BOOK|GAME")
@click.argument("positions", nargs=-1, required=True, metavar="POSITION...")
@json_option
@click.option("--no-moves", is_flag=True, help="The value alone, not every move's.")
@click.option("--book-only", is_flag=True, help="No live search: exit 3 where the book is silent.")
@click.option(
    "--budget", type=Seconds(0.001, 1e6), default=SECONDS, metavar="SECONDS", help="For each live search; 5."
)
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

    POSITION is the moves played from the start (4453, or "a2a3 b7b6"), `start`, or #12345 for a state's number. `-`
    reads one position a line and writes one JSON line for each, errors included. A GAME without a book is searched
    live.

    \b
    solver query connect-four-5x5.lmdb 4453
    solver query connect-four-5x5.lmdb --no-moves - < positions.txt
    """
    book, game = open_source(source, game_text)
    player = Player(book if book is not None else game, game, seconds=budget, live=not book_only)
    asker = Asker(player, moves=not no_moves)
    missing = 0
    for position in positions:
        if position == "-":
            answer_lines(asker, sys.stdin)
            continue
        facts = asker.ask(position)
        click.echo(json.dumps(facts) if as_json else asker.text(facts))
        missing += facts["source"] == "missing"
    if missing and book_only:
        raise MissingState(f"{missing} of {len(positions)} positions not in {source}: leave out --book-only to search")


def answer_lines(asker: Asker, lines: Iterable[str]) -> None:
    """One JSON line for each line; at a terminal or a pipe that waits they appear as they come."""
    write = sys.stdout.write
    dumps = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
    for line in lines:
        position = line.strip()
        try:
            facts: dict[str, Any] = asker.ask(position)
        except SolverError as error:
            facts = {"position": position, "error": str(error)}
        write(dumps(facts) + "\n")
        if sys.stdin.isatty():
            sys.stdout.flush()


class Asker:
    """Questions to one player, answered in the shape of `--json`."""

    def __init__(self, player: Player, *, moves: bool) -> None:
        self.player = player
        self.game = player.game
        self.name = text_of(player.game)
        self.moves = moves
        self.score_game = is_score_game(player.game)

    def ask(self, position: str) -> dict[str, Any]:
        """The facts of a position. Raises PositionError."""
        started = time.perf_counter()
        parsed = parse_position(self.game, position)
        try:
            facts = self._facts(position, parsed)
        except (ArithmeticError, ValueError, IndexError) as error:
            if parsed.ply is not None or isinstance(error, SolverError):
                raise
            raise PositionError(f"{position} is no state of {self.name}: {type(error).__name__}") from None
        facts["elapsed_us"] = round((time.perf_counter() - started) * 1e6, 1)
        return facts

    def _facts(self, position: str, parsed: Position) -> dict[str, Any]:
        state = parsed.state
        moves = self.player.analyse(state) if self.moves else None
        answer = _from_moves(moves) or self.player.value(state)
        facts = {
            "game": self.name,
            "position": position,
            "state": state,
            "to_move": self._to_move(parsed),
            "ply": parsed.ply,
            "terminal": answer.source == "terminal",
            **_value(answer.value),
            "exact": answer.exact,
            "source": answer.source,
        }
        if moves is not None:
            facts["best"] = [format_action(self.game, state, move.action) for move in moves if move.best]
            facts["moves"] = [self._move(state, move) for move in moves]
        return facts

    def _to_move(self, parsed: Position) -> int | None:
        if hasattr(self.game, "to_move"):
            mover: int = self.game.to_move(parsed.state)
            return mover
        return None if parsed.ply is None else parsed.ply % 2

    def _move(self, state: int, move: Move) -> dict[str, Any]:
        return {
            "move": format_action(self.game, state, move.action),
            **_value(move.value),
            "exact": move.exact,
            "source": move.source,
            "best": move.best,
            "child": {"state": move.child, **_value(move.child_value)},
        }

    def text(self, facts: dict[str, Any]) -> str:
        """The facts for people: board, value, a table of moves."""
        lines = [show(self.game, facts["state"]), ""]
        if facts["terminal"]:
            lines.append(f"the game is over: {self._words(facts)}")
        else:
            lines.append(f"{self._words(facts)} for the side to move ({facts['source']})")
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
        value = None if facts["score"] is None else Value(facts["score"], facts["distance"])
        return in_words(value, self.score_game) + ("" if facts["exact"] or value is None else ", not exact")


def _value(value: Value | None) -> dict[str, Any]:
    if value is None:
        return {"value": "unknown", "score": None, "distance": None}
    return {"value": outcome(value), "score": value.score, "distance": value.distance}


def _from_moves(moves: list[Move] | None) -> Answer | None:
    """The value that a state's moves give it, if all are known; spares a search of the state itself."""
    if not moves or any(move.source != "search" or not move.exact for move in moves if move.source != "terminal"):
        return None
    if all(move.source == "terminal" for move in moves):
        return None
    return Answer(moves[0].value, True, "search")
