"""Write docs/reference/games.md, the page of all games and their known figures, and the numbers of games and books
that other pages quote: `make tables`."""

import re
import tomllib

from solver.book import shipped
from solver.games import CATALOGUE
from solver.report import games
from solver.rules.game import is_score_game, load_game
from tests import DATA, ROOT
from tests.oracles import CHANCE_ORACLES, ELSEWHERE, NIMBERS, ORACLES, SOURCES, WINNERS, Oracle, Row

GUIDE = ROOT / "docs" / "reference" / "games.md"
PAGES = ["README.md", "CONTRIBUTING.md", "examples/README.md", "CHANGELOG.md", "solver/__init__.py"]
PAGES += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
COUNTED = {  # what a page says, and the number in it
    r"(\d+)\s+games\s+and\s+\d+\s+books": lambda: len(CATALOGUE),
    r"(\d+)\s+built-in\s+games": lambda: len(CATALOGUE),
    r"(?:games and )?(\d+)\s+(?:shipped\s+)?books\s+(?:come|ship)": lambda: len(shipped.paths()),
    r"(\d+)\s+shipped\s+books": lambda: len(shipped.paths()),
    r"(\d+)\s+catalogue\s+entries": lambda: len(tomllib.loads((ROOT / "books" / "catalog.toml").read_text("utf-8"))),
}
QUICK = 12_100  # the most states that plain minimax solves in the quick tests
HEAD = (DATA / "games.md").read_text("utf-8")  # the page before its tables


def name_of(text: str) -> str:
    return text.partition(":")[0]


def rows() -> list[Row]:
    """Return a row for each game and source, with the largest board."""
    table = []
    oracles = (*ORACLES, *CHANCE_ORACLES)
    for name, source in dict.fromkeys((name_of(oracle.game), oracle.source) for oracle in oracles):
        boards = [oracle for oracle in oracles if (name_of(oracle.game), oracle.source) == (name, source)]
        largest = max(boards, key=size_of)
        figure = figure_of(largest) + others(len(boards) - 1)
        table.append(Row(largest.game, SOURCES[source], figure, test_of(largest)))
    for group, quantity, test in ((NIMBERS, "nimber", "test_nimbers"), (WINNERS, "winner", "test_games")):
        for figures in group:
            names = [*figures.boards, *figures.larger]
            figure = f"the {quantity}{others(len(names) - 1)}"
            table.append(Row(f"{figures.game}:{names[-1]}", SOURCES[figures.source], figure, test))
    return table + [*ELSEWHERE]


def others(count: int) -> str:
    """Return how many more boards a row stands for."""
    return f"; {count} other board{'s' if count > 1 else ''} too" if count else ""


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
    if oracle.longest is not None:
        parts.append("longest win 1 ply" if oracle.longest == 1 else f"longest win {oracle.longest} plies")
    return "; ".join(parts)


def guide() -> str:
    """Return the text of docs/reference/games.md."""
    facts, table = [games.facts(name) for name in CATALOGUE], rows()
    parts = [HEAD.format(count=len(CATALOGUE), groups=groups(facts))]
    for group, members in games.grouped(facts).items():
        lines = ["| game | figure | ours | source | test |", "| --- | --- | --- | --- | --- |"]
        for one in members:
            of_game = [row for row in table if name_of(row.game) == one["name"]]
            lines += [f"| `{row.game}` | {row.figure} | {row.ours} | {row.source} | `{row.test}` |" for row in of_game]
        parts.append(f"## {group.capitalize()}: {games.GROUPS[group]}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def counted(text: str) -> str:
    """Return a page with the numbers of games and books as they are today."""
    for pattern, count in COUNTED.items():
        for found in reversed([*re.finditer(pattern, text)]):
            text = f"{text[: found.start(1)]}{count()}{text[found.end(1) :]}"
    return text


def groups(facts) -> str:
    """Return the table of all games by group."""
    lines = ["| group | games |", "| --- | --- |"]
    for group, members in games.grouped(facts).items():
        lines.append(f"| {group}: {games.GROUPS[group]} | {', '.join('`' + one['name'] + '`' for one in members)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    GUIDE.write_text(guide())
    for page in PAGES:
        (ROOT / page).write_text(counted((ROOT / page).read_text("utf-8")))
