"""The profile of a game as facts, for people, and as a row of a table of variants."""

from __future__ import annotations

from typing import Any

from solver.profiling import Profile
from solver.report.facts import facts_of
from solver.rules.game import Rules
from solver.rules.notation import in_words

COLUMNS = (
    "game",
    "value",
    "positions",
    "perfect draws",
    "sees 2: first wins",
    "draws",
    "second wins",
    "plies",
    "moves",
)


def facts(profile: Profile) -> dict[str, Any]:
    """Return the facts of a profile."""
    return {
        "game": profile.game,
        "root": facts_of(profile.value),
        "states": profile.states,
        "unfolded": profile.unfolded,
        "games": profile.games,
        "players": profile.players,
        "matrix": [outcomes._asdict() for outcomes in profile.matrix],
        "plies": [ply._asdict() for ply in profile.plies],
        "first_moves": [
            {"move": name, **facts_of(value), "expected": expected} for name, value, expected in profile.first_moves
        ],
    }


def text(profile: Profile, rules: Rules) -> str:
    """Return a profile for people: the value, the matrix, play by ply, and the first moves."""
    players = profile.players
    width = max(map(len, players)) + 2
    value = "value unknown" if profile.value is None else f"{in_words(profile.value, rules)} for the first player"
    lines = [f"{profile.game}: {value}"]
    if profile.states is not None:
        lines[0] += f", {profile.states:,} positions"
    if profile.states is not None and profile.unfolded:
        lines[0] += f" ({profile.unfolded:,} without symmetry)"
    if profile.games is not None:
        widest = max(outcomes.interval or 0.0 for outcomes in profile.matrix)
        lines.append(f"simulated: {profile.games:,} games for each pair of players; means within {widest:.2f} (95 %)")
    lines.append("")
    lines.append("mean result of the first player (rows) against the second (columns)")
    lines.append(" " * width + "".join(name.rjust(width) for name in players))
    for first in players:
        cells = (f"{round(profile.of(first, second).mean, 2) + 0.0:+.2f}" for second in players)
        lines.append(first.ljust(width) + "".join(cell.rjust(width) for cell in cells))
    lines += ["", "players that are equal     first wins    draws  second wins   plies  lead changes"]
    for name in players:
        equal = profile.of(name, name)
        changes = "?" if equal.lead_changes is None else f"{equal.lead_changes:.2f}"
        lines.append(
            f"{name:24}{equal.wins:12.1%}{equal.draws:10.1%}{equal.losses:13.1%}{equal.length:8.1f}"
            f"{changes:>14}" + (f"  {equal.error:.1%} did not end" if equal.error > 1e-3 else "")
        )
    lines += ["", "ply    games  moves  one good move"]
    for ply in profile.plies:
        one_good = "?" if ply.one_good is None else f"{ply.one_good:.1%}"
        lines.append(f"{ply.ply:3}{ply.share:9.1%}{ply.moves:7.2f}{one_good:>15}")
    lines += ["", "first move, its value, and the mean result between players that see 2 plies"]
    lines += [
        f"{name:10} {'unknown' if value is None else in_words(value, rules):12} {round(expected, 3) + 0.0:+.3f}"
        for name, value, expected in profile.first_moves
    ]
    return "\n".join(lines)


def row(profile: Profile, rules: Rules) -> list[str]:
    """Return the row of a variant, the columns of COLUMNS."""
    weak = profile.of("sees 2", "sees 2")
    draws = "?" if profile.games is not None else f"{profile.of('perfect', 'perfect').draws:.0%}"
    games = sum(ply.share for ply in profile.plies)
    moves = sum(ply.share * ply.moves for ply in profile.plies) / games
    return [
        profile.game,
        "unknown" if profile.value is None else in_words(profile.value, rules),
        "?" if profile.states is None else f"{profile.states:,}",
        draws,
        f"{weak.wins:.1%}",
        f"{weak.draws:.1%}",
        f"{weak.losses:.1%}",
        f"{weak.length:.1f}",
        f"{moves:.2f}",
    ]


def table(rows: list[list[str]]) -> str:
    """Return rows as a table for people."""
    every = [list(COLUMNS), *rows]
    widths = [max(len(line[column]) for line in every) for column in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in every
    )
