"""The games and what is known of them, as docs/reference/games.md and README have them: `python -m tests.table` writes both."""

import re
from pathlib import Path
from typing import NamedTuple

from solver.games import CATALOGUE
from solver.report import games
from solver.rules.game import is_score_game, load_game
from tests.oracles import CHANCE_ORACLES, ELSEWHERE, NIMBERS, ORACLES, SOURCES, WINNERS, Oracle

ROOT = Path(__file__).parent.parent
GUIDE, README = ROOT / "docs" / "reference" / "games.md", ROOT / "README.md"
QUICK = 12_100  # states that the naive twin takes
HEAD = """# Games

Every game of the package, by groups, and what it was held against: published figures where there are any, else those of
a program written apart from this package, which shares no code with it. Figures are of the board that is named, the
largest of those that are judged; `solver games NAME` tells the rules. States are those that play can reach, finished
ones included, not folded by symmetry unless it says so; won and lost are for the side to move. Where ours differs from
what was published both figures stand here, and why.

`python -m tests.table` writes this page from `tests/oracles.py`, and a test compares.
"""


class Row(NamedTuple):
    game: str
    figure: str
    ours: str
    source: str
    test: str


def name_of(text: str) -> str:
    return text.partition(":")[0]


def rows() -> list[Row]:
    """What is known of each game: a row for each source, with the largest board."""
    found = []
    for name, source in dict.fromkeys((name_of(one.game), one.source) for one in (*ORACLES, *CHANCE_ORACLES)):
        known = [one for one in (*ORACLES, *CHANCE_ORACLES) if (name_of(one.game), one.source) == (name, source)]
        largest = max(known, key=size_of)
        boards = f", and of {len(known) - 1} other{'s' if len(known) > 2 else ''}" if len(known) > 1 else ""
        found.append(Row(largest.game, figure_of(largest) + boards, "the same", SOURCES[source], test_of(largest)))
    for all_figures, of, test in ((NIMBERS, "nimber", "test_nimbers"), (WINNERS, "winner", "test_games")):
        for one in all_figures:
            boards = [*one.boards, *one.larger]
            figure = f"the {of}, and of {len(boards) - 1} other boards"
            found.append(Row(f"{one.game}:{boards[-1]}", figure, "the same", SOURCES[one.source], test))
    found += [Row(one.game, one.figure, one.ours, one.source, one.test) for one in ELSEWHERE]
    return found


def size_of(oracle) -> int:
    return oracle.states or getattr(oracle, "size", 0)


def test_of(oracle) -> str:
    if not isinstance(oracle, Oracle):
        return "test_chance"
    if size_of(oracle) <= QUICK:
        return "test_games"
    return "test_sweep" if hasattr(load_game(oracle.game), "tier") else "test_retrograde"


def figure_of(oracle) -> str:
    if not isinstance(oracle, Oracle):
        return f"chance of the first player {oracle.chance if oracle.error == 0 else format(oracle.chance, '.10g')}"
    parts = []
    if oracle.states is not None:
        parts.append(f"{oracle.states:,} states")
    if oracle.counts is not None:
        won, drawn, lost = (f"{count:,}" for count in oracle.counts)
        parts.append(f"{won} won, {drawn} drawn, {lost} lost" if oracle.counts[1] else f"{won} won, {lost} lost")
    score, distance = oracle.root
    if is_score_game(load_game(oracle.game)):
        parts.append(f"value {score:+}" if score else "value 0")
    elif score:
        player = "first" if score > 0 else "second"
        plies = "1 ply" if distance == 1 else f"{distance} plies"
        parts.append(f"{player} player wins" + (f" in {plies}" if distance is not None else ""))
    else:
        parts.append("draw")
    return ", ".join(parts) + (f", longest win {oracle.longest} plies" if oracle.longest is not None else "")


def guide() -> str:
    """The text of docs/reference/games.md."""
    facts, known = [games.facts(name) for name in CATALOGUE], rows()
    parts = [HEAD]
    for group, members in games.grouped(facts).items():
        lines = ["| game | figure | ours | source | test |", "| --- | --- | --- | --- | --- |"]
        for one in members:
            lines += [
                f"| `{row.game}` | {row.figure} | {row.ours} | {row.source} | `{row.test}` |"
                for row in known
                if name_of(row.game) == one["name"]
            ]
        parts.append(f"## {group.capitalize()}: {games.GROUPS[group]}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def readme() -> str:
    """README with its list of games."""
    lines = ["| group | games |", "| --- | --- |"]
    for group, members in games.grouped(games.facts(name) for name in CATALOGUE).items():
        lines.append(f"| {group}: {games.GROUPS[group]} | {', '.join('`' + one['name'] + '`' for one in members)} |")
    table = "<!-- games -->\n" + "\n".join(lines) + "\n<!-- end of games -->"
    return re.sub("<!-- games -->\n.*<!-- end of games -->", table, README.read_text(), flags=re.DOTALL)


if __name__ == "__main__":
    GUIDE.write_text(guide())
    README.write_text(readme())
