"""Games judged: shares of perfect moves and of moves that keep the value, and the blunders."""

from __future__ import annotations

from typing import Any

from solver.base.errors import MissingState
from solver.base.value import Value
from solver.play.grading import Graded, Grades, Tally
from solver.play.player import Player
from solver.report.facts import facts_of
from solver.report.reasons import names
from solver.rules.game import Rules
from solver.rules.notation import in_words, parse_action

PLAYERS = ("first player", "second player")


def facts(grades: Grades, player: Player) -> dict[str, Any]:
    """The facts of grades; shares are of the moves whose value is known, null without any.

    Each blunder has its refutation. `turned` has the last blunder of each game: there its value changed for good.
    """
    return {
        "games": grades.games,
        "unknown": grades.unknown,
        **_shares(grades.total),
        "sides": [_shares(tally) for tally in grades.sides],
        "blunders": [{**facts_of(blunder), "refutation": _refutation(player, blunder)} for blunder in grades.blunders],
        "turned": [
            {"line": blunder.line, "ply": blunder.ply}
            for blunder in {blunder.line: blunder for blunder in grades.blunders}.values()
        ],
    }


def _refutation(player: Player, blunder: Graded) -> list[str]:
    """Return best play after a blunder; empty if the book does not know it."""
    try:
        action = parse_action(player.game, blunder.state, blunder.move)
        return names(player, blunder.state, player.why(blunder.state, action))
    except MissingState:
        return []


def _shares(tally: Tally) -> dict[str, Any]:
    return {**tally._asdict(), "share_perfect": share(tally.perfect, tally), "share_kept": share(tally.kept, tally)}


def share(moves: int, tally: Tally) -> float | None:
    """So many moves as a share of all."""
    return moves / tally.moves if tally.moves else None


def text(facts: dict[str, Any], rules: Rules) -> str:
    """The grades for people: a row for both, one for each side, then the blunders."""
    games = f"{facts['games']:,} game{'' if facts['games'] == 1 else 's'}"
    lines = [f"{games}, {facts['moves']:,} moves judged, {facts['unknown']:,} not known to the book"]
    for name, tally in zip(("all", *PLAYERS), (facts, *facts["sides"]), strict=True):
        if tally["moves"]:
            lines.append(
                f"{name:13} {tally['share_perfect']:8.2%} perfect  {tally['share_kept']:8.2%} keep the value"
                f"  blunders {tally['moves'] - tally['kept']:,}"
            )
    for blunder in facts["blunders"]:
        values = blunder["before"], blunder["after"]
        before, after = (in_words(Value(value["score"], value["distance"]), rules) for value in values)
        lines.append(
            "line {line}, ply {ply}: {move} at #{state} makes ".format(**blunder)
            + f"{after} of {before}; best {' '.join(blunder['best'])}"
            + (f"; refuted by {' '.join(blunder['refutation'])}" if blunder["refutation"] else "")
        )
    lines += [f"line {turn['line']} turned at ply {turn['ply']}" for turn in facts["turned"]]
    return "\n".join(lines)
