"""Matches between two players: who is better, and how sure that is."""

from __future__ import annotations

import collections
from typing import Any

from solver.play.grading import Tally
from solver.report.grades import share

REASONS = {"crash": "where it ended", "illegal": "by no legal move", "silence": "by silence"}  # of `learning.engines`


def facts(game: str, names: tuple[str, str], played: Any, tallies: tuple[Tally, Tally] | None) -> dict[str, Any]:
    """The facts of a `learning.matches.Match`; `kept` are shares of the moves whose value the book knows."""
    return {
        "game": game,
        "players": list(names),
        "games": len(played.games),
        "plies": max(played.plies),
        **played.standing._asdict(),
        "forfeits": [_by_rule(lost) for lost in played.forfeits],
        "grades": tallies and [{**tally._asdict(), "share_kept": share(tally.kept, tally)} for tally in tallies],
    }


def _by_rule(lost: Any) -> dict[str, Any]:
    """How many games an engine has lost by rule, by the reason, and the first of them."""
    counts = collections.Counter(loss.reason for loss in lost)
    first = {**min(lost)._asdict(), "game": min(lost).game + 1} if lost else None
    return {"games": len(lost), **{reason: counts[reason] for reason in REASONS}, "first": first}


def text(facts: dict[str, Any]) -> str:
    """The same for people."""
    (first_loss, second), games = facts["players"], facts["games"]
    elo: dict[str, str] = {}
    for name, points in (("elo", "share"), ("elo_low", "low"), ("elo_high", "high")):
        endless = "+∞" if facts[points] > 0.5 else "-∞"
        elo[name] = endless if facts[name] is None else f"{facts[name]:+.0f}"
    lines = [
        f"{first_loss} against {second}, {facts['game']}: {games:,} games,"
        f" {games // 2:,} openings of {facts['plies']} plies, each with both colours",
        "won {wins:,}, drawn {draws:,}, lost {losses:,}".format(**facts),
        "share    {share:.2%} of the points, with 95 % between {low:.2%} and {high:.2%}".format(**facts),
        "Elo      {elo}, between {elo_low} and {elo_high}".format(**elo),
    ]
    if facts["margin"] is not None:
        lines.append(f"margin   {facts['margin']:+.2f} a game")
    for name, lost in zip(facts["players"], facts["forfeits"], strict=True):
        if lost["games"]:
            first_loss = lost["first"]
            quote = f", {first_loss['said']!r}" if first_loss["said"] else ""
            what = ", ".join(f"{lost[reason]:,} {words}" for reason, words in REASONS.items() if lost[reason])
            lines.append(f"{name} lost {lost['games']:,} by rule: {what}; first game {first_loss['game']:,}{quote}")
    for name, tally in zip(facts["players"], facts["grades"] or (), strict=False):
        if tally["moves"]:
            lines.append(f"{name} keeps the value with {tally['share_kept']:.2%} of {tally['moves']:,} moves")
    return "\n".join(lines)
