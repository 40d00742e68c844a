"""Games judged: shares of perfect moves and of moves that keep the value, and the blunders."""

from __future__ import annotations

from typing import Any

from solver.play.grading import Grades, Tally
from solver.report.facts import facts_of, value_of
from solver.rules.game import Rules
from solver.rules.words import in_words

PLAYERS = ("first player", "second player")


def facts(grades: Grades) -> dict[str, Any]:
    """The facts of grades; shares are of the moves whose value is known, null without any."""
    return {
        "games": grades.games,
        "unknown": grades.unknown,
        **_shares(grades.total),
        "sides": [_shares(tally) for tally in grades.sides],
        "blunders": facts_of(grades.blunders),
    }


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
        before, after = (in_words(value_of(blunder[name]), rules) for name in ("before", "after"))
        lines.append(
            "line {line}, ply {ply}: {move} at #{state} makes ".format(**blunder)
            + f"{after} of {before}; best {' '.join(blunder['best'])}"
        )
    return "\n".join(lines)
