"""Why moves are bad: the refutation of every move that gives value away, as facts and in words."""

from __future__ import annotations

import contextlib

from solver.base.errors import MissingState
from solver.base.value import Value
from solver.play import refuting
from solver.play.player import Player
from solver.play.refuting import Refutation
from solver.report import records
from solver.rules.notation import format_action, names_of


def explained(player: Player, facts: records.Position) -> records.Position:
    """Add to a position's facts its refutations, and whether one move alone keeps the value.

    Moves of unknown value are left out, and nothing is added where a position is finished or chance decides.
    """
    if not facts.moves:
        return facts
    answer, moves = player.examine(facts.state)
    refutations = []
    for action in player.game.actions(facts.state):
        with contextlib.suppress(MissingState):
            refutations.append(refuting.explained(player, facts.state, action, answer, moves))
    keepers = sum(refutation.gives == 0 for refutation in refutations)
    facts.only = keepers == 1 and len(refutations) == len(facts.moves) > 1
    facts.why = []
    for refutation in refutations:
        if refutation.gives:
            name = format_action(player.game, facts.state, refutation.action)
            line = names(player, facts.state, refutation)
            facts.why.append(records.Why(name, refutation.gives, line, words(player, refutation)))
    return facts


def names(player: Player, state: int, refutation: Refutation) -> list[str]:
    """Return the moves of a refutation in the game's notation."""
    child = player.game.result(state, refutation.action)
    return [*names_of(player.rules, child, (action for action, _ in refutation.line))]


def words(player: Player, refutation: Refutation) -> str:
    """Say in a few words what a move gives away."""
    if player.rules.scores:
        return f"gives {refutation.gives:g} away"
    return f"makes a {_plain(refutation.after)} of a {_plain(refutation.before)}"


def _plain(value: Value) -> str:
    return value.outcome if value.outcome in ("win", "draw", "loss") else "result"


def text(facts: records.Position) -> str:
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
