"""The games and the figures known of them, as docs/reference/games.md has them: `python -m tests.table` writes it."""

from pathlib import Path
from typing import NamedTuple

from solver.games import CATALOGUE
from solver.report import games
from solver.rules.game import is_score_game, load_game
from tests.oracles import CHANCE_ORACLES, ELSEWHERE, NIMBERS, ORACLES, SOURCES, WINNERS, Oracle

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "reference" / "games.md"
QUICK = 12_100  # states that the naive twin takes
HEAD = """# Games

Which games come with the package, and how do we know that our values are right? This page lists all {count} built-in
games by group. Below that stands the figure that each was compared with.

{groups}
`solver games` lists them with their parameters. `solver games NAME` prints the rules. A board is always width, height.

- `tic-tac-toe` is any m,n,k game, and `checkers` is English draughts.
- `chess-ending` covers KQK to KBNK, `chess-duel` KPKP to KQKQ, and `minichess` is chess on nine squares.
- `tree` is [a game tree](../guides/trees.md) of a textbook. `graph` is [a table of moves, a game of OpenSpiel or
  a description in GDL](../guides/other-games.md).

## How to read the tables

The figures are published ones if there are any. Otherwise they come from a program written apart from this package,
which shares no code with it. They are of the board named, the largest of those compared. States are those that play can
reach, finished ones included, without folding by symmetry unless the table says so. Won and lost are for the side to
move. If ours differs from a published figure, both stand here with the reason.

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
    parts = [HEAD.format(count=len(CATALOGUE), groups=groups(facts))]
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


def groups(facts) -> str:
    """The table of all games by group."""
    lines = ["| group | games |", "| --- | --- |"]
    for group, members in games.grouped(facts).items():
        lines.append(f"| {group}: {games.GROUPS[group]} | {', '.join('`' + one['name'] + '`' for one in members)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    GUIDE.write_text(guide())
