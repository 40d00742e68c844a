"""How well somebody plays: games judged, matches between two players, and learned evaluations."""

from __future__ import annotations

import collections
import contextlib
import os
from typing import Any

from solver.base.errors import MissingState
from solver.base.value import Value, counted, in_plies
from solver.play.grading import Grades, Tally
from solver.play.player import Player
from solver.report.answers import line_names
from solver.report.facts import facts_of
from solver.rules.game import Rules
from solver.rules.notation import in_words, parse_action

PLAYERS = ("first player", "second player")


def grade_facts(grades: Grades, player: Player) -> dict[str, Any]:
    """The facts of grades; shares are of the moves whose value is known, null without any.

    Each blunder has its refutation. `turned` has the last blunder of each game: there its value changed for good.
    """
    blunders = []
    for blunder in grades.blunders:
        refutation: list[str] = []
        # The book may not know best play after it
        with contextlib.suppress(MissingState):
            action = parse_action(player.game, blunder.state, blunder.move)
            refutation = line_names(player, blunder.state, player.why(blunder.state, action))
        blunders.append({**facts_of(blunder), "refutation": refutation})
    turned = {blunder.line: blunder.ply for blunder in grades.blunders}
    return {
        "games": grades.games,
        "unknown": grades.unknown,
        **_shares(grades.total),
        "sides": [_shares(tally) for tally in grades.sides],
        "blunders": blunders,
        "turned": [{"line": line, "ply": ply} for line, ply in turned.items()],
    }


def _shares(tally: Tally) -> dict[str, Any]:
    return {**tally._asdict(), "share_perfect": share(tally.perfect, tally), "share_kept": share(tally.kept, tally)}


def share(moves: int, tally: Tally) -> float | None:
    """So many moves as a share of all."""
    return moves / tally.moves if tally.moves else None


def grade_text(facts: dict[str, Any], rules: Rules) -> str:
    """The grades for people: a row for both, one for each side, then the blunders."""
    judged = f"{counted(facts['games'], 'game')}, {counted(facts['moves'], 'move')} judged"
    lines = [f"{judged}, {facts['unknown']:,} not known to the book"]
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


REASONS = {"crash": "where it ended", "illegal": "by no legal move", "silence": "by silence"}  # of `learning.players`


def match_facts(game: str, names: tuple[str, str], played: Any, tallies: tuple[Tally, Tally] | None) -> dict[str, Any]:
    """The facts of a `learning.matches.Match`; `kept` are shares of the moves whose value the book knows."""
    forfeits = []
    for lost in played.forfeits:
        # Games lost by rule, by the reason, and the first of them
        counts = collections.Counter(loss.reason for loss in lost)
        first = {**min(lost)._asdict(), "game": min(lost).game + 1} if lost else None
        forfeits.append({"games": len(lost), **{reason: counts[reason] for reason in REASONS}, "first": first})
    return {
        "game": game,
        "players": list(names),
        "games": len(played.games),
        "plies": max(played.plies),
        **played.standing._asdict(),
        "forfeits": forfeits,
        "grades": tallies and [{**tally._asdict(), "share_kept": share(tally.kept, tally)} for tally in tallies],
    }


def match_text(facts: dict[str, Any]) -> str:
    """The same for people."""
    (first_loss, second), games = facts["players"], facts["games"]
    elo: dict[str, str] = {}
    for name, points in (("elo", "share"), ("elo_low", "low"), ("elo_high", "high")):
        endless = "+∞" if facts[points] > 0.5 else "-∞"
        elo[name] = endless if facts[name] is None else f"{facts[name]:+.0f}"
    lines = [
        f"{first_loss} against {second}, {facts['game']}: {games:,} games,"
        f" {counted(games // 2, 'opening')} of {in_plies(facts['plies'])}, each with both colours",
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
            lines.append(f"{name} keeps the value with {tally['share_kept']:.2%} of {counted(tally['moves'], 'move')}")
    return "\n".join(lines)


MEASURES = {"sign": ("sign", ".2%"), "correlation": ("correlation", ".3f"), "best_moves": ("best moves", ".2%")}


def evaluation_facts(evaluation: Any, path: str) -> dict[str, Any]:
    """The facts of an evaluation (`compiled.lookahead.evaluation`) that was written to a file."""
    return {
        "game": evaluation.game,
        "rules": evaluation.rules,
        "features": evaluation.features,
        "shape": evaluation.shape(),
        "training": evaluation.training,
        "figures": evaluation.figures,
        "file": path,
        "bytes": os.path.getsize(path),
    }


def evaluation_text(facts: dict[str, Any]) -> str:
    """The same for people."""
    training, figures = facts["training"], facts["figures"]
    lines = [f"game     {facts['game']}", f"model    {training['model']}, {facts['features']} features"]
    if "generations" in training:
        lines.append(f"source   {training['source']}, {training['generations']} generations")
        for name, share in figures.items():
            lines.append(f"{share:8.2%} of the points against {name.replace('_', ' ')}")
    else:
        lines.append(f"source   {training['source']}, {training['states']:,} states")
        names = "".join(f"{name:>13}" for name, _ in MEASURES.values())
        lines += [f"on {figures['states']:,} states that it never saw:", f"{'':9}{names}"]
        # A row for the model, one for the rules' own `evaluate`
        for name, prefix in (("learned", ""), ("evaluate", "evaluate_")):
            if f"{prefix}sign" in figures:
                known = [(figures[prefix + measure], form) for measure, (_, form) in MEASURES.items()]
                cells = ["-" if figure is None else format(figure, form) for figure, form in known]
                lines.append(f"{name:9}" + "".join(f"{cell:>13}" for cell in cells))
    return "\n".join([*lines, f"written  {facts['file']}, {facts['bytes']:,} bytes"])
