"""The profile of a game, and puzzles: as facts, for people, as rows of a table, as pages, and as tasks for models."""

from __future__ import annotations

import string
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from solver.play.showing import drawn
from solver.profiling import Profile
from solver.puzzles import Puzzle
from solver.report.facts import facts_of, table, worth
from solver.rules.boards.text import drawing_of, is_drawn, mover_of, picture_of
from solver.rules.game import Rules, game_text
from solver.rules.notation import first_position, in_words, show, summary_of

MARK = '<meta name="generator" content="solver profile">'  # by which its pages are known
WEAK = ("sees 2: first wins", "draws", "second wins")
COLUMNS = ("game", "value", "positions", "perfect draws", *WEAK, "plies", "moves")
PUZZLE_MARK = '<meta name="generator" content="solver puzzles">'  # by which its sheets are known
PUZZLE_COLUMNS = ("position", "goal", "distance", "move", "line", "tempting", "difficulty")
GOALS = {"win": "wins in {}", "draw": "holds the draw", "margin": "keeps the best margin"}


def facts(profile: Profile) -> dict[str, Any]:
    """Return the facts of a profile."""
    return {
        "game": profile.game,
        "root": facts_of(profile.value),
        "states": profile.states,
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
    if profile.games is not None:
        means = f"means within {_widest(profile):.2f} (95 %)"
        lines.append(f"simulated: {profile.games:,} games for each pair of players; {means}")
    lines += ["", "mean result of the first player (rows) against the second (columns)"]
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
        f"{name:10} {in_words(value, rules):12} {round(expected, 3) + 0.0:+.3f}"
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
        in_words(profile.value, rules),
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
    equally = []
    for player, games in equal.items():
        # As one bar of three parts
        shares = {"win": games.wins, "draw": games.draws, "loss": games.losses}
        parts = [
            f'<i class="{outcome}" style="width:{share:.2%}">{f"{share:.1%}" if share > 0.08 else ""}</i>'
            for outcome, share in shares.items()
            if share
        ]
        label = f"{player}: {games.wins:.1%} first, {games.draws:.1%} draws, {games.losses:.1%} second"
        equally.append(
            f'<div class="share" role="img" aria-label="{label}"><b>{player}</b><div>{"".join(parts)}</div></div>'
        )
    most, matrix = max(1.0, *(abs(outcomes.mean) for outcomes in profile.matrix)), []
    for first in profile.players:
        cells = ""
        for second in profile.players:
            mean = round(profile.of(first, second).mean, 2) + 0.0
            colour, strength = ("#2a78d6" if mean > 0 else "#d6572a"), round(60 * abs(mean) / most)
            cells += f'<td style="background: color-mix(in srgb, {colour} {strength}%, #fff)">{mean:+.2f}</td>'
        matrix.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    choice = [_bars([ply.moves for ply in profile.plies], "moves on average, by ply of random play", "win")]
    if one_good := [100 * ply.one_good for ply in profile.plies if ply.one_good is not None]:
        choice.append(_bars(one_good, "per cent of positions with a choice where one move alone is good", "loss"))
    moves = [
        f'<tr><td class="name">{escape(name)}</td><td class="name">{escape(in_words(value, rules))}</td>'
        f"<td>{round(expected, 3) + 0.0:+.3f}</td></tr>"
        for name, value, expected in profile.first_moves
    ]
    return filled(
        "profile.html",
        mark=MARK,
        name=escape(profile.game),
        head=_head(profile, rules),
        players=[f'<th scope="col">{player}</th>' for player in equal],
        matrix=matrix,
        equal=equally,
        lengths=lengths,
        choice=choice,
        moves=moves,
    )


def _head(profile: Profile, rules: Rules) -> str:
    """What perfect players reach, and how many positions or games the report rests on."""
    value = "not known" if profile.value is None else f"{escape(in_words(profile.value, rules))} for the first player"
    text = f"Between perfect players: {value}."
    if profile.states is not None:
        text += f" {profile.states:,} positions, symmetric ones counted once."
    if profile.games is not None:
        text += (
            f" The report rests on {profile.games:,} simulated games for each pair of players. The mean results are"
            f" within {_widest(profile):.2f} of the true ones, with 95 % confidence."
        )
    return text


def _widest(profile: Profile) -> float:
    """Return the half width of the widest confidence interval."""
    return max(outcomes.interval or 0.0 for outcomes in profile.matrix)


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


def puzzle_facts(puzzle: Puzzle) -> dict[str, Any]:
    """Return the facts of a puzzle."""
    return {"position": f"#{puzzle.state}", **{name: getattr(puzzle, name) for name in PUZZLE_COLUMNS[1:]}}


def puzzle_text(rules: Rules, puzzle: Puzzle, number: int) -> str:
    """Return a puzzle for people: the board, the task, and the solution below it."""
    task = GOALS[puzzle.goal].format(puzzle.distance)
    return (
        f"{number}. One move {task}. #{puzzle.state}, difficulty {puzzle.difficulty}\n\n"
        f"{show(rules.game, puzzle.state)}\n\nsolution: {' '.join(puzzle.line)}\n"
    )


def puzzle_task(rules: Rules, puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle as a task for a language model: a prompt, the right answer, and each legal one with its value.

    `solver.score_answer(book, state, answer)` scores an answer.
    """
    game, mover = rules.game, mover_of(rules.game, puzzle.state)
    sides = picture_of(game).sides if is_drawn(game) else ("", "")
    side = "" if mover is None else f"You are {sides[mover] and f'{sides[mover]}, '}player {mover + 1}. "
    plies = "" if puzzle.distance is None else " plies (moves of either side, this one included)"
    if puzzle.goal == "margin":
        plies = f" (your points less the other side's{', from here on' if rules.reward else ''})"
    prompt = (
        f"This is position #{puzzle.state} of the game {game_text(game)}. {summary_of(game)}\n\n"
        f"{show(game, puzzle.state, mover)}\n\n"
        f"{side}It is your turn. One move {GOALS[puzzle.goal].format(puzzle.distance)}{plies}."
        f" Legal moves: {', '.join(puzzle.values)}. Answer with one move."
    )
    return {
        "game": game_text(game),
        "state": puzzle.state,
        "prompt": prompt,
        "legal": [*puzzle.values],
        "values": {move: rules.kind.words(value) for move, value in puzzle.values.items()},
        "answer": puzzle.move,
        "difficulty": puzzle.difficulty,
    }


def sheet(rules: Rules, puzzles: Sequence[Puzzle]) -> str:
    """Return puzzles as a page: boards with their tasks, and the solutions on a sheet of their own.

    It holds no scripts and needs no other files; the same puzzles give the same bytes.
    """
    cards = []
    for number, puzzle in enumerate(puzzles, 1):
        position = first_position(rules, puzzle.state)._replace(mover=mover_of(rules.game, puzzle.state))
        plies = "" if puzzle.distance is None else " plies"
        is_picture = is_drawn(rules.game)
        board = str(drawn(rules, position)) if is_picture else f"<pre>{escape(show(rules.game, position.state))}</pre>"
        # The side to move, by the colour that the picture gives it
        sides, mover = drawing_of(rules.game).get("sides"), position.mover
        side = "You are" if mover is None or sides is None else f"{str(sides[mover]).capitalize()} is"
        cards.append(
            f'<section class="puzzle"><h2>{number}</h2>{board}<p>{side} to move.'
            f" One move {GOALS[puzzle.goal].format(puzzle.distance)}{plies}.</p></section>"
        )
    solutions = "".join(
        f"<li>{escape(' '.join(puzzle.line) or puzzle.move)} <small>#{puzzle.state}</small></li>" for puzzle in puzzles
    )
    return filled(
        "puzzles.html",
        mark=PUZZLE_MARK,
        name=escape(game_text(rules.game)),
        about=escape(summary_of(rules.game)),
        cards=cards,
        solutions=solutions,
    )


def filled(page: str, /, **parts: str | Sequence[str]) -> str:
    """Return a page: the template of that name beside this file, with its parts; several of one become lines."""
    text = Path(__file__).with_name(page).read_text("utf-8")
    lines = {part: content if isinstance(content, str) else "\n".join(content) for part, content in parts.items()}
    return string.Template(text).substitute(lines)
