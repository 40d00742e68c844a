"""The profile of a game as one page of HTML with plots, without scripts and other files."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from solver.profiling import Profile
from solver.rules.game import Rules
from solver.rules.notation import in_words

WIN, DRAW, LOSS = "#2a78d6", "#b9b8b2", "#d6572a"
MARK = '<meta name="generator" content="solver profile">'  # by which its files are known
WIDTH, HEIGHT, MARGIN = 640, 180, 36  # of a plot
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 720px; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { padding: .3rem .7rem; text-align: right; font-weight: normal; }
th { color: #555; } th[scope=row], td.name { text-align: left; } .wide { overflow-x: auto; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: #555; }
.key span { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #1b1b1b; } th { color: #aaa; }
  svg text { fill: #bbb; } td[style] { color: #222; } }
"""


def page(profile: Profile, rules: Rules) -> str:
    """Return the page. It is the same for the same profile."""
    name = escape(profile.game)
    parts = [
        f"<h1>{name}</h1>",
        f"<p>{_head(profile, rules)}</p>",
        "<h2>Results between players of different strength</h2>",
        _matrix(profile),
        "<p>Mean result of the first player (rows) against the second (columns): 1 for a win, 0 for a draw, -1 for a"
        " loss, or the margin. A player that sees k plies plays a win within k plies, avoids a loss within k plies,"
        " and otherwise plays at random.</p>",
        "<h2>Who wins between equal players</h2>",
        _equal_players(profile),
        "<h2>How long games are</h2>",
        *(_lengths(profile, player) for player in profile.players if player in ("perfect", "sees 2", "random")),
        "<h2>Choice, ply by ply</h2>",
        _bars([ply.moves for ply in profile.plies], "moves on average, by ply of random play", WIN),
        _one_good(profile),
        "<h2>First moves</h2>",
        _first_moves(profile, rules),
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n{MARK}\n'
        f"<title>{name}: profile</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


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
        widest = max(outcomes.interval or 0.0 for outcomes in profile.matrix)
        text += (
            f" The report rests on {profile.games:,} simulated games for each pair of players. The mean results are"
            f" within {widest:.2f} of the true ones, with 95 % confidence."
        )
    return text


def _one_good(profile: Profile) -> str:
    """How often one move alone is good, if values are known."""
    heights = [100 * ply.one_good for ply in profile.plies if ply.one_good is not None]
    return _bars(heights, "per cent of positions with a choice where one move alone is good", LOSS) if heights else ""


def _matrix(profile: Profile) -> str:
    head = "".join(f'<th scope="col">{player}</th>' for player in profile.players)
    most = max(1.0, *(abs(outcomes.mean) for outcomes in profile.matrix))
    rows = []
    for first in profile.players:
        cells = []
        for second in profile.players:
            mean = round(profile.of(first, second).mean, 2) + 0.0
            colour, share = (WIN if mean > 0 else LOSS), round(60 * abs(mean) / most)
            shade = f"background: color-mix(in srgb, {colour} {share}%, #fff)"
            cells.append(f'<td style="{shade}">{mean:+.2f}</td>')
        rows.append(f'<tr><th scope="row">{first}</th>{"".join(cells)}</tr>')
    return f'<div class="wide"><table><tr><td></td>{head}</tr>{"".join(rows)}</table></div>'


def _equal_players(profile: Profile) -> str:
    rows = []
    for index, player in enumerate(profile.players):
        equal = profile.of(player, player)
        y, x = 10 + 30 * index, 90.0
        rows.append(f'<text x="0" y="{y + 15}">{player}</text>')
        for share, colour in ((equal.wins, WIN), (equal.draws, DRAW), (equal.losses, LOSS)):
            wide = share * (WIDTH - 90)
            rows.append(f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="20" fill="{colour}"/>')
            if share > 0.08:
                ink = "#222" if colour == DRAW else "#fff"
                rows.append(f'<text x="{x + 4:.1f}" y="{y + 14}" style="fill:{ink}">{share:.1%}</text>')
            x += wide
    shares = "; ".join(
        f"{player}: {equal.wins:.1%} first, {equal.draws:.1%} draws, {equal.losses:.1%} second"
        for player in profile.players
        for equal in [profile.of(player, player)]
    )
    key = "".join(
        f'<span style="background:{colour}"></span>{word}'
        for colour, word in ((WIN, "first player wins"), (DRAW, "draws"), (LOSS, "second player wins"))
    )
    height = 20 + 30 * len(profile.players)
    plot = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{shares}">{"".join(rows)}</svg>'
    return f'{plot}<p class="key">{key}</p>'


def _lengths(profile: Profile, player: str) -> str:
    equal = profile.of(player, player)
    title = f"{player}: per cent of games by length in plies, {equal.length:.1f} on average"
    known = equal.lead_changes is not None
    lead = f"<p>The lead changes {equal.lead_changes:.2f} times a game.</p>" if known else ""
    return _bars([100 * share for share in equal.lengths], title, DRAW) + lead


def _bars(heights: Sequence[float], title: str, colour: str) -> str:
    """A plot of bars from 0 on, with a scale, each with its number as a tooltip."""
    most, count = max(heights, default=0.0) or 1.0, max(len(heights), 1)
    wide = (WIDTH - MARGIN) / count
    bars = []
    for index, height in enumerate(heights):
        tall = height / most * (HEIGHT - 50)
        x, y = MARGIN + index * wide, HEIGHT - 22 - tall
        bars.append(
            f'<rect x="{x + wide * 0.1:.1f}" y="{y:.1f}" width="{wide * 0.8:.1f}" height="{tall:.1f}" fill="{colour}">'
            f"<title>{index}: {height:.4g}</title></rect>"
        )
    every = max(1, -(-count // 12))
    ticks = [
        f'<text x="{MARGIN + (index + 0.5) * wide:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{index}</text>'
        for index in range(0, count, every)
    ]
    scale = f'<text x="{MARGIN - 4}" y="34" text-anchor="end">{most:.3g}</text>'
    label = f'<text x="{MARGIN}" y="14">{escape(title)}</text>'
    described = f'role="img" aria-label="{escape(title)}"'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" {described}>{label}{scale}{"".join(bars)}{"".join(ticks)}</svg>'


def _first_moves(profile: Profile, rules: Rules) -> str:
    rows = "".join(
        f'<tr><td class="name">{escape(name)}</td><td class="name">'
        f"{'unknown' if value is None else escape(in_words(value, rules))}</td>"
        f"<td>{round(expected, 3) + 0.0:+.3f}</td></tr>"
        for name, value, expected in profile.first_moves
    )
    head = "<tr><th>move</th><th>value</th><th>between players that see 2 plies</th></tr>"
    return f'<div class="wide"><table>{head}{rows}</table></div>'
