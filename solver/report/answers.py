"""A player's answers as facts, in the shape of `query --json`, as lines of JSON, and in words.

Values at the top and of `moves` are for the side to move now, those of a `child` for its own; what is not known is
None, never a number that stands for it.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from typing import Any

from solver.base.errors import BookError, GameError, PositionError, SolverError
from solver.base.kinds import NIMBER, nimber_of
from solver.base.value import in_plies
from solver.book.reader import Book
from solver.play.analysis import Answer, Move, Outcome
from solver.play.player import Player
from solver.report.facts import value_of, worth
from solver.report.words import table
from solver.rules.game import Rules, game_text, own_method
from solver.rules.notation import Position, faces, format_action, legal_actions, parse_position, show
from solver.rules.words import in_full, in_words
from solver.search import Table
from solver.search.nimbers import nimber

MOST_NIMBERS = 1 << 20  # kept from question to question
DUMPS = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class Answers:
    """The answers of one player: of each position its value and, with `moves`, all its moves, best first.

    `timed` answers say how long they took; without it the same book always gives the same bytes.
    """

    def __init__(self, player: Player, *, moves: bool = True, timed: bool = True) -> None:
        self.player = player
        self.game = player.game
        self.name = game_text(player.game)
        self.moves, self.timed = moves, timed
        book = player.solution
        self._grown = book.header.estimate if isinstance(book, Book) else None
        self._quick = isinstance(book, Book) and (not moves or book.header.scope == "complete") and not self._grown
        self._quick = self._quick and not player.rules.impartial
        self._nimbers: Table = {}
        self._of_nimbers = isinstance(book, Book) and book.header.kind is NIMBER
        self._find = player.solution.get
        self._canonical = player.canonical
        self._mover = player.rules.to_move
        self._said: Callable[[int, int], str] = own_method(self.game, "format_action") or _by_number
        self._legal = functools.lru_cache(maxsize=1 << 9)(functools.partial(legal_actions, player.rules))
        self._fields = functools.lru_cache(maxsize=1 << 16)(lambda value: DUMPS(worth(value))[1:-1])
        self._name = functools.lru_cache(maxsize=1 << 16)(DUMPS)
        self._head = f'{{"game":{json.dumps(self.name)},"position":'

    def line(self, position: str) -> str:
        """The facts of a position, or its error, as a line of JSON."""
        try:
            return self.stored(position) or DUMPS(self.ask(position)) + "\n"
        except SolverError as error:
            return DUMPS({"position": position, "error": str(error)}) + "\n"

    def stored(self, position: str) -> str | None:
        """The line of a position that the book holds, put together by hand: that takes a third of the time.

        None of any other position, for which `ask` is there. Raises PositionError.
        """
        started = time.perf_counter()
        if not self._quick:
            return None
        digits = position[1:]
        if position[:1] == "#" and digits.isdecimal() and digits.isascii() and len(digits) < 19:
            parsed = Position(int(digits), None)
        else:
            parsed = parse_position(self.player.rules, position, self._legal)
        state = parsed.state
        try:
            if self.moves:
                answer, moves = self.player.examine(state)
                if not moves or answer.source != "book":
                    return None
                value, found = answer.value, self._move_fields(state, moves)
            else:
                value, found = self._find(self._canonical(state)), ""
            mover = parsed.mover if self._mover is None else int(self._mover(state))
        except BookError:
            raise
        except Exception:  # rules need not bear numbers that are no states
            return None
        if value is None or found is None:
            return None
        _, ply, _, gained = parsed
        taken = f',"elapsed_us":{(time.perf_counter() - started) * 1e6:.1f}' if self.timed else ""
        return (
            f'{self._head}{DUMPS(position)},"state":{state},"to_move":{_or_null(mover)},"ply":{_or_null(ply)},'
            f'"gained":{_or_null(gained)},"terminal":false,{self._fields(value)},'
            f'"estimate":null,"exact":true,"source":"book","evaluation":null{found}{taken}}}\n'
        )

    def _move_fields(self, state: int, moves: list[Move]) -> str | None:
        """The fields of a state's moves; None without any or if one is not known."""
        best, texts, fields, name_of, said = [], [], self._fields, self._name, self._said
        for action, value, _, source, is_best, child, child_value, _ in moves:
            if value is None:
                return None
            name = name_of(str(said(state, action)))
            if is_best:
                best.append(name)
            texts.append(
                f'{{"move":{name},{fields(value)},"estimate":null,"exact":true,"source":"{source}",'
                f'"best":{"true" if is_best else "false"},"child":{{"state":{child},{fields(child_value)}}}}}'
            )
        return f',"best":[{",".join(best)}],"moves":[{",".join(texts)}]' if texts else None

    def ask(self, position: str, budget: Any = None) -> dict[str, Any]:
        """The facts of a position; a `budget` takes the place of the player's. Raises PositionError."""
        started = time.perf_counter()
        parsed = parse_position(self.player.rules, position, self._legal)
        try:
            facts = self._facts(position, parsed, budget)
        except Exception as error:  # rules need not bear numbers that are no states
            expected = isinstance(error, (SolverError, MemoryError)) and not isinstance(error, GameError)
            if parsed.ply is not None or expected:
                raise
            raise PositionError(f"{position} is no state of {self.name}: {type(error).__name__}") from None
        if self.timed:
            facts["elapsed_us"] = round((time.perf_counter() - started) * 1e6, 1)
        return facts

    def _facts(self, position: str, parsed: Position, budget: Any) -> dict[str, Any]:
        state = parsed.state
        moves: list[Move] | None = None
        if self.moves:
            answer, moves = self.player.examine(state, budget)
        else:
            answer = self.player.value(state, budget)
        facts = {
            "game": self.name,
            "position": position,
            "state": state,
            "to_move": self._to_move(parsed),
            "ply": parsed.ply,
            "gained": parsed.gained,
            "terminal": answer.source == "terminal",
            **worth(answer.value),
            "estimate": answer.estimate,
            "exact": answer.exact,
            "source": answer.source,
            "evaluation": self.player.foresight.name if self._is_estimated(answer, moves) else None,
        }
        if self.player.rules.impartial:
            facts["nimber"] = self._nimber(state)
        if self._grown is not None:
            facts["depth"] = self._grown.depth if answer.source == "book" and not answer.exact else None
            if facts["depth"] is not None:
                facts["evaluation"] = self._grown.evaluation
        if moves is not None:
            facts["best"] = [format_action(self.game, state, move.action) for move in moves if move.best]
            facts["moves"] = [self._move(state, move) for move in moves]
            if self.player.rules.chance is not None:
                facts["chances"] = self._chances(state)
        return facts

    def _chances(self, state: int) -> list[dict[str, Any]]:
        outcomes = self.player.outcomes(state)
        shown: list[str | None] = [*faces(self.game, len(outcomes))] or [None] * len(outcomes)
        return [
            {"faces": face, "probability": one.probability, **worth(one.value), "child": _child(one)}
            for face, one in zip(shown, outcomes, strict=True)
        ]

    def _is_estimated(self, answer: Answer, moves: list[Move] | None) -> bool:
        """Whether anything rests on an evaluation: in a game without margins 1 and -1 are certain."""
        given = [one.estimate for one in (answer, *(moves or ())) if one.estimate is not None]
        return any(self.player.rules.scores or abs(estimate) < 1 for estimate in given)

    def _to_move(self, parsed: Position) -> int | None:
        return parsed.mover if self._mover is None else self._mover(parsed.state)

    def _move(self, state: int, move: Move) -> dict[str, Any]:
        facts = {
            "move": format_action(self.game, state, move.action),
            **worth(move.value),
            "estimate": move.estimate,
            "exact": move.exact,
            "source": move.source,
            "best": move.best,
            "child": _child(move),
        }
        if self.player.rules.impartial:
            stored = self._stored_nimber(move.child)
            known = self._nimbers.get(self._canonical(move.child))
            facts["child"]["nimber"] = known if stored is None else stored
        return facts

    def _nimber(self, state: int) -> int | None:
        """The nimber of a state, from a book of them or found now; None where that takes too long."""
        if len(self._nimbers) > MOST_NIMBERS:
            self._nimbers.clear()
        stored = self._stored_nimber(state)
        return nimber(self.player.rules, state, self._nimbers) if stored is None else stored

    def _stored_nimber(self, state: int) -> int | None:
        """That of a state in a book of nimbers."""
        value = self._find(self._canonical(state)) if self._of_nimbers else None
        return None if value is None else nimber_of(value)


def _by_number(state: int, action: int) -> str:
    return str(action)


def _or_null(number: int | None) -> int | str:
    return "null" if number is None else number


def _child(one: Move | Outcome) -> dict[str, Any]:
    return {"state": one.child, **worth(one.child_value)}


def text(player: Player, facts: dict[str, Any]) -> str:
    """The facts for people: board, value, a table of moves."""
    rules = player.rules
    lines = [show(player.game, facts["state"]), "", sentence(rules, facts)]
    if not facts["terminal"]:
        guessed = facts["estimate"] is not None and (rules.scores or abs(facts["estimate"]) < 1)
        source = f"{facts['source']} by {facts['evaluation']}" if guessed else facts["source"]
        source += f", {in_plies(facts['depth'])} ahead" if facts.get("depth") else ""
        lines[-1] += f" ({source})"
    lines += _nimber(facts)
    if facts.get("moves"):
        moves = facts["moves"]
        rows = [("*" if one["best"] else " ", one["move"], _words(rules, one), one["source"]) for one in moves]
        lines += table([(*row, *_nimber(one["child"])) for row, one in zip(rows, moves, strict=True)])
    for number, one in enumerate(facts.get("chances", ()), 1):
        shown = "" if one["faces"] in (None, str(number)) else f" ({one['faces']})"
        lines.append(f"{number:4}{shown}  {100 * one['probability']:6.2f} %  {_words(rules, one)}")
    return "\n".join(lines) + "\n"


def sentence(rules: Rules, facts: dict[str, Any]) -> str:
    """The value of a position and whose it is."""
    value, over = value_of(facts), facts["terminal"]
    return in_full(rules, facts["to_move"], facts["gained"], value, facts["estimate"], over=over)


def _nimber(facts: dict[str, Any]) -> list[str]:
    """The nimber of a position of an impartial game, if it is known."""
    return [] if facts.get("nimber") is None else [f"nimber {facts['nimber']}"]


def _words(rules: Rules, facts: dict[str, Any]) -> str:
    return in_words(value_of(facts), rules, facts.get("estimate"))
