"""The facts of a position as a picture."""

from __future__ import annotations

from solver.play.player import Player
from solver.play.showing import Board, drawn, labelled
from solver.report import records
from solver.report.answers import sentence
from solver.report.records import value_of
from solver.rules.notation import Position, legal_actions


def board(player: Player, facts: records.Position) -> Board:
    """Draw the answer of `query --json` for a position: its board, its value, and those of its moves."""
    position = Position(facts.state, facts.ply, facts.to_move, facts.gained)
    moves = facts.moves or []
    actions = legal_actions(player.rules, position.state) if moves else {}
    labels = ((actions[move.move], value_of(move), move.estimate, move.best) for move in moves)
    return drawn(player.rules, position, labelled(player.rules, position, labels), sentence(player.rules, facts))
