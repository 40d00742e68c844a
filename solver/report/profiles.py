"""The profile of a game as facts, for people, as a page with plots, and as a row of a table of variants."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from solver.base.value import Value
from solver.profiling import Profile
from solver.report.facts import facts_of, filled, table, worth
from solver.rules.game import Rules
from solver.rules.notation import in_words

MARK = '<meta name="generator" content="solver profile">'  # by which its pages are known
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
            {"move": name, **worth(value), "expected": expected} for name, value, expected in profile.first_moves
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
        means = f"means within {_widest(profile):.2f} (95 %)"
        lines.append(f"simulated: {profile.games:,} games for each pair of players; {means}")
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
        f"{name:10} {_said(value, rules):12} {round(expected, 3) + 0.0:+.3f}"
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
        _said(profile.value, rules),
        "?" if profile.states is None else f"{profile.states:,}",
        draws,
        f"{weak.wins:.1%}",
        f"{weak.draws:.1%}",
        f"{weak.losses:.1%}",
        f"{weak.length:.1f}",
        f"{moves:.2f}",
    ]


def listed(rows: list[list[str]]) -> str:
    """Return rows as a table for people."""
    return "\n".join(table([COLUMNS, *rows], "<<>"))


def page(profile: Profile, rules: Rules) -> str:
    """Return the page. It has no scripts and needs no other files; it is the same for the same profile."""
    equal = {player: profile.of(player, player) for player in profile.players}
    lengths = []
    for player, games in equal.items():
        if player in ("perfect", "sees 2", "random"):
            title = f"{player}: per cent of games by length in plies, {games.length:.1f} on average"
            lengths.append(_bars([100 * share for share in games.lengths], title, "draw"))
            if games.lead_changes is not None:
                lengths.append(f"<p>The lead changes {games.lead_changes:.2f} times a game.</p>")
    choice = [_bars([ply.moves for ply in profile.plies], "moves on average, by ply of random play", "win")]
    if one_good := [100 * ply.one_good for ply in profile.plies if ply.one_good is not None]:
        choice.append(_bars(one_good, "per cent of positions with a choice where one move alone is good", "loss"))
    moves = [
        f'<tr><td class="name">{escape(name)}</td><td class="name">{escape(_said(value, rules))}</td>'
        f"<td>{round(expected, 3) + 0.0:+.3f}</td></tr>"
        for name, value, expected in profile.first_moves
    ]
    return filled(
        "profile.html",
        mark=MARK,
        name=escape(profile.game),
        head=_head(profile, rules),
        players=[f'<th scope="col">{player}</th>' for player in equal],
        matrix=_matrix(profile),
        equal=[_shares(player, (games.wins, games.draws, games.losses)) for player, games in equal.items()],
        lengths=lengths,
        choice=choice,
        moves=moves,
    )


def _said(value: Value | None, rules: Rules) -> str:
    return "unknown" if value is None else in_words(value, rules)


def _head(profile: Profile, rules: Rules) -> str:
    """What perfect players reach, and how many positions or games the report rests on."""
    value = "not known" if profile.value is None else f"{escape(in_words(profile.value, rules))} for the first player"
    text = f"Between perfect players: {value}."
    if profile.states is not None:
        text += f" {profile.states:,} positions, symmetric ones counted once."
        if profile.unfolded:
            saved = 1 - profile.states / profile.unfolded
            text += f" Without symmetry there are {profile.unfolded:,}: symmetry saves {saved:.0%}."
    if profile.games is not None:
        text += (
            f" The report rests on {profile.games:,} simulated games for each pair of players. The mean results are"
            f" within {_widest(profile):.2f} of the true ones, with 95 % confidence."
        )
    return text


def _widest(profile: Profile) -> float:
    """Return the half width of the widest confidence interval."""
    return max(outcomes.interval or 0.0 for outcomes in profile.matrix)


def _matrix(profile: Profile) -> list[str]:
    most = max(1.0, *(abs(outcomes.mean) for outcomes in profile.matrix))
    rows = []
    for first in profile.players:
        cells = []
        for second in profile.players:
            mean = round(profile.of(first, second).mean, 2) + 0.0
            colour, share = ("#2a78d6" if mean > 0 else "#d6572a"), round(60 * abs(mean) / most)
            cells.append(f'<td style="background: color-mix(in srgb, {colour} {share}%, #fff)">{mean:+.2f}</td>')
        rows.append(f'<tr><th scope="row">{first}</th>{"".join(cells)}</tr>')
    return rows


def _shares(player: str, shares: Sequence[float]) -> str:
    """The games between equal players as one bar of three parts."""
    wins, draws, losses = shares
    parts = [
        f'<i class="{outcome}" style="width:{share:.2%}">{f"{share:.1%}" if share > 0.08 else ""}</i>'
        for outcome, share in zip(("win", "draw", "loss"), shares, strict=True)
        if share
    ]
    label = f"{player}: {wins:.1%} first, {draws:.1%} draws, {losses:.1%} second"
    return f'<div class="share" role="img" aria-label="{label}"><b>{player}</b><div>{"".join(parts)}</div></div>'


def _bars(heights: Sequence[float], title: str, outcome: str) -> str:
    """A plot of bars from 0 on, with the highest as its scale, each with its number as a tooltip."""
    most, every = max(heights, default=0.0) or 1.0, max(1, -(-len(heights) // 12))
    bars = [
        f'<div title="{index}: {height:.4g}"><i class="{outcome}" style="height:{height / most:.2%}"></i>'
        f"<small>{index if index % every == 0 else ''}</small></div>"
        for index, height in enumerate(heights)
    ]
    return (
        f'<figure role="img" aria-label="{escape(title)}"><figcaption>{escape(title)}</figcaption>'
        f'<div class="bars"><b>{most:.3g}</b>{"".join(bars)}</div></figure>'
    )
