"""A player's answers as facts, in the shape of `query --json`, as lines of JSON, and in words: values, why, best play.

Values at the top and of `moves` are for the side to move now, those of a `child` for its own; an unknown value is
None, never a number that stands for it.
"""

from __future__ import annotations

import contextlib
import functools
import time
import types
from typing import TYPE_CHECKING, Any

from solver.base.errors import BookError, GameError, MissingState, PositionError, SolverError
from solver.base.kinds import NIMBER, nimber_of
from solver.base.value import Value, in_plies
from solver.book import Book
from solver.play import analysis
from solver.play.player import Player
from solver.report.facts import table
from solver.rules import notation, reading
from solver.rules.game import Game, Rules, game_text
from solver.search import Table

if TYPE_CHECKING:
    from solver.play.showing import Board
    from solver.report import records

Parsed = tuple[int, int | None, int | None, int | None]  # as `notation.Position`
Known = tuple[Value | None, bool, str, float | None]  # as `analysis.Answer`
MOST_NIMBERS = 1 << 20  # kept from question to question


class _Facts:
    """What text needs of a record, whose other fields are None: what writes JSON takes long to import."""

    def __init__(self, names: list[str], *fields: Any) -> None:
        self.__dict__.update(zip(names, fields, strict=True))

    def __getattr__(self, name: str) -> None:
        return None


FIELDS = {  # of the classes of `records`, those that are always given
    "Position": "game position state to_move ply gained terminal value score distance estimate exact source evaluation",
    "Move": "move value score distance estimate exact source best child",
    "Child": "state value score distance",
    "Chance": "faces probability value score distance child",
    "Why": "move gives line words",
}
PLAIN = types.SimpleNamespace(**{kind: functools.partial(_Facts, names.split()) for kind, names in FIELDS.items()})


class Answers:
    """The answers of one player: of each position its value and, with `moves`, all its moves, best first.

    `timed` answers say how long they took; without it the same book always gives the same bytes. `as_text`: they are
    not written as JSON.
    """

    def __init__(self, player: Player, *, moves: bool = True, timed: bool = True, as_text: bool = False) -> None:
        if as_text:
            self.records: Any = PLAIN
        else:
            from solver.report import records

            self.records = records
        self.player = player
        self.name: str = game_text(player.game)
        self.moves, self.timed = moves, timed
        header = player.solution.header if isinstance(player.solution, Book) else None
        self._grown = header and header.estimate
        self._converts = header is not None and header.kind.converts
        self._impartial = player.rules.impartial
        self._nimbers: Table = {}
        # A nimber is not a value
        self._of_nimbers = header is not None and header.kind is NIMBER
        self._holds_all = header is not None and (not moves or header.scope == "complete")
        self._holds_all = self._holds_all and not self._grown and not self._of_nimbers
        self._find, self._canonical = player.solution.get, player.canonical
        self._mover = player.rules.to_move
        self._action_name = notation.namer(player.game)
        self._legal = functools.lru_cache(maxsize=1 << 9)(functools.partial(notation.legal_actions, player.rules))
        self._worth = functools.lru_cache(maxsize=1 << 16)(_worth)

    def line(self, position: str) -> bytes:
        """Return the facts of a position, or its error, as a line of JSON."""
        try:
            facts: Any = self.ask(position)
        except (PositionError, MissingState) as error:
            facts = {"position": position, "error": str(error)}
        return bytes(self.records.line_of(facts))

    def ask(self, position: str, budget: Any = None) -> records.Position:
        """Return the facts of a position.

        Args:
            position: As `notation.parse_position` takes it.
            budget: Of a live search, in place of the player's.

        Raises:
            PositionError: It is not a position of the game, or play cannot reach it.
        """
        started = time.perf_counter()
        facts = self._stored(position, budget)
        if facts is None:
            parsed = reading.parse_position(self.player.rules, position, self._legal)
            try:
                if self.moves:
                    facts = self._facts(position, parsed, *self.player.examine(parsed.state, budget))
                else:
                    facts = self._facts(position, parsed, self.player.value(parsed.state, budget), None)
            except Exception as error:
                # Rules need not bear numbers that are not states
                expected = isinstance(error, (SolverError, MemoryError)) and not isinstance(error, GameError)
                if parsed.ply is not None or expected:
                    raise
                raise PositionError(f"{position} is not a state of {self.name}: {type(error).__name__}") from None
        if self.timed:
            facts.elapsed_us = round((time.perf_counter() - started) * 1e6, 1)
        return facts

    def _stored(self, text: str, budget: Any) -> records.Position | None:
        """Return the facts of a state's number that the book holds: it needs no check, which takes most of the time."""
        digits = text[1:]
        if not (self._holds_all and text[:1] == "#" and digits.isdecimal() and digits.isascii() and len(digits) < 19):
            return None
        state = int(digits)
        # A named tuple takes three times as long
        parsed = state, None, None, None
        try:
            if self.moves:
                answer, moves = self.player.examine(state, budget)
                return self._facts(text, parsed, answer, moves) if answer.source == "book" else None
            value = self._find(self._canonical(state))
            return None if value is None else self._facts(text, parsed, (value, True, "book", None), None)
        except BookError:
            raise
        except Exception:
            # Rules need not bear numbers that are not states
            return None

    def _facts(self, text: str, parsed: Parsed, answer: Known, moves: list[analysis.Move] | None) -> records.Position:
        state, ply, mover, gained = parsed
        value, exact, source, estimate = answer
        facts: records.Position = self.records.Position(
            self.name,
            text,
            state,
            mover if self._mover is None else int(self._mover(state)),
            ply,
            gained,
            source == "terminal",
            *self._worth(value),
            estimate,
            exact,
            source,
            None,
        )
        if estimate is not None or moves and not all([move[2] for move in moves]):
            guesses = [estimate, *[move.estimate for move in moves or ()]]
            # In a game without margins 1 and -1 are certain
            if any(guess is not None and (self.player.rules.scores or abs(guess) < 1) for guess in guesses):
                facts.evaluation = self.player.foresight.name
        if self._impartial:
            facts.nimber = self._nimber(state)
        if self._grown is not None:
            facts.depth = self._grown.depth if source == "book" and not exact else None
            facts.evaluation = facts.evaluation if facts.depth is None else self._grown.evaluation
        if moves is not None:
            facts.moves = self._moves(state, moves)
            facts.best = [move.move for move in facts.moves if move.best]
            if self.player.rules.chance is not None:
                outcomes = self.player.outcomes(state)
                shown: list[str | None] = [*notation.faces(self.player.game, len(outcomes))] or [None] * len(outcomes)
                make, child_of = self.records.Chance, self.records.Child
                facts.chances = [
                    make(face, probability, *_worth(value), child_of(child, *_worth(child_value)))
                    for face, (probability, value, child, child_value) in zip(shown, outcomes, strict=True)
                ]
        return facts

    def _moves(self, state: int, moves: list[analysis.Move]) -> list[records.Move]:
        facts, worth_of, name_of = [], self._worth, self._action_name
        for action, value, exact, source, best, child, child_value, estimate, practical in moves:
            after = self.records.Child(child, *worth_of(child_value))
            fact = self.records.Move(name_of(state, action), *worth_of(value), estimate, exact, source, best, after)
            if practical is not None:
                fact.practical = round(practical, 6)
            facts.append(fact)
        if self._converts:
            for move, fact in zip(moves, facts, strict=True):
                conversion = self.player.conversion(state, move)
                if conversion is not None:
                    fact.conversion = conversion
            # Of moves that win the quickest first, of those that lose the slowest
            facts.sort(key=lambda fact: (-(fact.score or 0), (fact.score or 0) * (fact.conversion or 0)))
        if self._impartial:
            for fact in facts:
                stored = self._stored_nimber(fact.child.state)
                known = self._nimbers.get(self._canonical(fact.child.state))
                fact.child.nimber = stored if known is None else max(known, 0)
        return facts

    def explained(self, facts: records.Position) -> records.Position:
        """Add to a position's facts its refutations, and whether one move alone keeps the value.

        Moves of unknown value are left out, and nothing is added where a position is finished or chance decides.
        """
        if not facts.moves:
            return facts
        answer, moves = self.player.examine(facts.state)
        refutations = []
        for action in self.player.game.actions(facts.state):
            with contextlib.suppress(MissingState):
                refutations.append(analysis.explained(self.player, facts.state, action, answer, moves))
        keepers = sum(refutation.gives == 0 for refutation in refutations)
        facts.only = keepers == 1 and len(refutations) == len(facts.moves) > 1
        facts.why = []
        for refutation in refutations:
            if refutation.gives:
                name = notation.format_action(self.player.game, facts.state, refutation.action)
                line = line_names(self.player, facts.state, refutation)
                gift = f"makes a {_plain(refutation.after)} of a {_plain(refutation.before)}"
                gift = f"gives {refutation.gives:g} away" if self.player.rules.scores else gift
                facts.why.append(self.records.Why(name, refutation.gives, line, gift))
        return facts

    def _nimber(self, state: int) -> int | None:
        """The nimber of a state, from a book of them or found now; None where that takes too long."""
        if len(self._nimbers) > MOST_NIMBERS:
            self._nimbers.clear()
        from solver.search import alphabeta

        stored = self._stored_nimber(state)
        return alphabeta.nimber(self.player.rules, state, self._nimbers) if stored is None else stored

    def _stored_nimber(self, state: int) -> int | None:
        """That of a state in a book of nimbers."""
        value = self._find(self._canonical(state)) if self._of_nimbers else None
        return None if value is None else nimber_of(value)


def _worth(value: Value | None) -> tuple[str | None, float | None, int | None]:
    return (None, None, None) if value is None else (value.outcome, value.score, value.distance)


def text(player: Player, facts: records.Position) -> str:
    """The facts for people: board, value, a table of moves."""
    rules = player.rules
    lines = [notation.show(player.game, facts.state), "", sentence(rules, facts)]
    if not facts.terminal:
        guessed = facts.estimate is not None and (rules.scores or abs(facts.estimate) < 1)
        source = f"{facts.source} by {facts.evaluation}" if guessed else facts.source
        source += f", {in_plies(facts.depth)} ahead" if facts.depth else ""
        lines[-1] += f" ({source})"
    lines += _nimber(facts)
    if facts.moves:
        rows = []
        for move in facts.moves:
            words = notation.in_words(value_of(move), rules, move.estimate)
            rows.append(["*" if move.best else " ", move.move, words, move.source])
            if isinstance(move.practical, float | int):
                rows[-1].append(f"{move.practical:+.2f} in practice")
            if isinstance(move.conversion, int):
                rows[-1].append(f"conversion in {in_plies(move.conversion)}")
            rows[-1] += _nimber(move.child)
        lines += table(rows)
    for number, chance in enumerate(facts.chances or (), 1):
        shown = "" if chance.faces in (None, str(number)) else f" ({chance.faces})"
        words = notation.in_words(value_of(chance), rules)
        lines.append(f"{number:4}{shown}  {100 * chance.probability:6.2f} %  {words}")
    return "\n".join(lines) + "\n"


def value_of(record: Any) -> Value | None:
    """The value that a record has in its fields."""
    return None if record.score is None else Value(record.score, record.distance)


def sentence(rules: Rules, facts: records.Position) -> str:
    """The value of a position and whose it is."""
    return notation.in_full(rules, facts.to_move, facts.gained, value_of(facts), facts.estimate, over=facts.terminal)


def _nimber(facts: records.Position | records.Child) -> list[str]:
    """The nimber of a position of an impartial game, if it is known."""
    return [f"nimber {facts.nimber}"] if isinstance(facts.nimber, int) else []


def picture(player: Player, facts: records.Position) -> Board:
    """Draw the answer of `query --json` for a position: its board, its value, and those of its moves."""
    from solver.play.showing import drawn, labelled

    position = notation.Position(facts.state, facts.ply, facts.to_move, facts.gained)
    moves = facts.moves or []
    actions = notation.legal_actions(player.rules, position.state) if moves else {}
    labels = ((actions[move.move], value_of(move), move.estimate, move.best) for move in moves)
    return drawn(player.rules, position, labelled(player.rules, position, labels), sentence(player.rules, facts))


def line_names(player: Player, state: int, refutation: analysis.Refutation) -> list[str]:
    """Return the moves of a refutation in the game's notation."""
    child = player.game.result(state, refutation.action)
    return [*notation.names_of(player.rules, child, (action for action, _ in refutation.line))]


def _plain(value: Value) -> str:
    return value.outcome if value.outcome in ("win", "draw", "loss") else "result"


def reasons(facts: records.Position) -> str:
    """Return the explanation for people, a line each; empty without any."""
    if not isinstance(facts.why, list) or not facts.moves:
        return ""
    best = [move.move for move in facts.moves if move.best]
    lines = [f"{best[0]} is the only move that keeps the value"] if facts.only and best else []
    for reason in facts.why:
        line = f": {' '.join(reason.line)}" if reason.line else ""
        lines.append(f"{reason.move}  {reason.words}{line}")
    if not facts.why:
        lines.append("no move gives value away")
    return "\n".join(lines) + "\n"


def best_line(player: Player, position: str, max_moves: int = 1000) -> dict[str, Any]:
    """Return the facts of a line: its moves, where it ends, and how.

    Raises:
        MissingState: if the position's value is not known.
        PositionError: if it is not a legal position, or one that play cannot reach.
    """
    game = player.game
    parsed = reading.parse_position(game, position)
    state = parsed.state
    value = player.value(state).value
    if value is None:
        raise MissingState(f"{position} is not known: {_remedy(player)}")
    line: list[tuple[int, int]] = []
    known = False
    # The moves before one that is not known count
    with contextlib.suppress(MissingState):
        for move in player.line(state, max_moves):
            line.append(move)
        known = True
    states = [state, *(child for _, child in line)]
    if not known:
        value_text = notation.in_words(player.value(states[-1]).value, player.rules)
        whose = "the book ends here" if isinstance(player.solution, Book) else "no more is known"
        ending = f"{whose}: {value_text} for the side to move; {_remedy(player)}"
    elif game.is_terminal(states[-1]):
        how = notation.format_end(game, states[-1])
        ending = f"the game is over: {how}" if how else "the game is over"
    elif states[-1] in states[:-1]:
        ending = "the position repeats" + player.rules.kind.repeats
    else:
        ending = f"cut off after {in_plies(max_moves)}, the most that was asked for"
    return {
        "position": position,
        "state": state,
        "score": value.score,
        "distance": value.distance,
        "words": notation.in_all(value, player.rules, parsed.gained),
        "moves": [*notation.names_of(player.rules, state, (action for action, _ in line))],
        "end": states[-1],
        "ending": ending,
    }


def line_text(game: Game, line: dict[str, Any]) -> str:
    """The facts for people: where it begins, its moves, ten in a row, and where it ends."""
    moves = line["moves"]
    rows = [f"{index + 1:4}  " + " ".join(moves[index : index + 10]) for index in range(0, len(moves), 10)]
    begun, ended = notation.show(game, line["state"]), notation.show(game, line["end"])
    return "\n".join([f"{begun}\n\n{line['words']} for the side to move", *rows, f"\n{ended}\n\n{line['ending']}"])


def _remedy(player: Player) -> str:
    """How to know more than the player does."""
    solve = f"solver solve {game_text(player.game)} -o BOOK"
    if player.live:
        return f"more --budget than {player.seconds:g} s a move, or {solve}"
    if "live" in player.rules.kind.unfit:
        return f"{solve} knows all"
    return f"--budget SECONDS searches on, {solve} knows all"
