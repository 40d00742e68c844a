"""Published results, and results of independent programs, for the games of the package.

The tables lie in tests/data. `make tables` writes them into docs/reference/games.md, one row for each game and
source. An independent program shares no code with this package.
"""

import csv
import math
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

from tests import DATA


class Oracle(NamedTuple):
    """The known results of one game.

    `source` is a key of SOURCES. `root` is the score and the distance of the start (None: no distance). `states` counts
    the distinct states that play can reach, terminal ones included, without symmetry. `counts` are the wins, draws and
    losses among them, for the side to move.
    """

    game: str
    source: str
    root: tuple[int, int | None]
    states: int | None = None
    counts: tuple[int, int, int] | None = None
    longest: int | None = None
    size: int = 0  # states where not published, roughly, so that tests can choose


def table(name: str) -> list[dict[str, str]]:
    """Return the lines of a table of figures."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def oracle(line: dict[str, str]) -> Oracle:
    """Return the results that a line of the table holds. Empty fields are not known."""
    numbers = [int(text) if text else None for text in [*line.values()][2:]]
    score, distance, states, *counts, longest, size = numbers
    known = None if None in counts else tuple(counts)
    return Oracle(line["game"], line["source"], (score, distance), states, known, longest, size or 0)


ORACLES = tuple(map(oracle, table("oracles.csv")))
SOURCES = {line["key"]: line["source"] for line in table("sources.csv")}


class Figures(NamedTuple):
    """One number for each of several boards: the winner (1 or 2), or the nimber of the start.

    `larger` boards take longer.
    """

    game: str
    source: str
    boards: dict[str, int]
    larger: dict[str, int] = {}


def in_a_row(values: str, first: int = 1, text: str = "{}") -> dict[str, int]:
    """Return boards that differ by one number, from `first` on."""
    return {text.format(number): int(value) for number, value in enumerate(values.split(","), first)}


def parted(boards: dict[str, int], quick: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the boards of at most `quick` cells, and the others."""
    cells = {text: math.prod(map(int, text.split(",")[:2])) for text in boards}
    small = {text: boards[text] for text in boards if cells[text] <= quick}
    return small, {text: boards[text] for text in boards if text not in small}


def by_class(rows: dict[int, str], quick: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the winners of domineering on boards of so many rows and 1, 2, 3, ... columns, from outcome classes.

    L: the upright player wins. R: the other one. N: the player who begins. P: the player who does not begin.
    """
    boards = {}
    for height, classes in rows.items():
        for width, letter in enumerate(classes, 1):
            if width * height <= 20:
                boards[f"{width},{height}"] = 1 if letter in "LN" else 2
                boards[f"{height},{width}"] = 1 if letter in "RN" else 2
    return parted(boards, quick)


NIMBERS = (
    Figures(
        "kayles", "kayles", in_a_row("1,2,3,1,4,3,2,1,4,2,6,4"), in_a_row("1,2,7,1,4,3,2,1,4,6,7,4,1,2,8", 13)
    ),
    Figures(
        "kayles", "dawson", in_a_row("0,1,1,2,0,3,1,1,0,3,3,2", 1, "{},2,2"),
        in_a_row("2,4,0,5,2,2,3,3", 13, "{},2,2"),
    ),
    Figures("kayles", "ways4", in_a_row("1,1,1,2,2,0,3,3,1,1,1,0", 3, "{},3,3")),
    Figures("dawson", "dawson", in_a_row("1,1,2,0,3,1,1,0,3,3,2"), in_a_row("2,4,0,5,2,2,3,3", 12)),
    Figures(
        "grundy", "grundy", in_a_row("0,0,1,0,2,1,0,2,1,0,2"), in_a_row("1,3,2,1,3,2,4,3,0", 12)
    ),
    Figures("subtraction", "ways4", in_a_row("1,0,1,2,3,2,0,1,0,1,2,3,2,0", 1, "1,3,4,coins={}")),
    Figures(
        "cram", "lemoine",
        {**in_a_row("1,0,1,0", 1, "{},2"), **in_a_row("1,1,0,1", 1, "{},3")},
        {**in_a_row("1,4", 5, "{},3"), **in_a_row("2,0,1,0", 1, "{},4"), "4,5": 2, "5,5": 0},
    ),
    Figures(
        "nogo", "mcgs", {**in_a_row("0,1,0,1,2,0", 1, "{},1"), "2,2": 1},
        {**in_a_row("1,0,1,2", 7, "{},1"), "3,2": 1, "4,2": 0, "3,3": 0},
    ),
)  # fmt: skip

WINNERS = (
    Figures("domineering", "breuker", *by_class(
        {2: "LNNRLNN", 3: "LNNRRRR", 4: "LLLNLN", 5: "LRLRP", 6: "LNLN"}, 8
    )),
    Figures("col", "ways", *parted(dict.fromkeys(
        ["2,1", "5,1", "10,1", "2,2", "3,2", "4,2", "6,2", "3,3", "4,3"], 2
    ), 8)),
    Figures("snort", "ways", *parted(
        {**dict.fromkeys(["1,1", "4,1", "9,1", "3,2", "5,2", "3,3", "4,3"], 1),
         **dict.fromkeys(["2,2", "4,2", "6,2"], 2)}, 8
    )),
    Figures("clobber", "albert", *parted(
        {**{f"{n},1": 2 if n == 6 else 1 for n in range(2, 17, 2)}, **in_a_row("1,2,1,1,2,1", 2, "{},2"),
         **in_a_row("1,2", 3, "{},3")}, 8
    )),
    Figures(
        "toads-and-frogs", "erickson",
        {**{f"{n},1,{n}": 1 for n in range(1, 4)}, "1,2,1": 2, "2,2,2": 1},
        {**{f"{n},2,{n}": 1 for n in range(3, 5)}, **in_a_row("1,1,2,1", 1, "{0},3,{0}"),
         **in_a_row("2,1,1,2", 1, "{0},4,{0}"), **in_a_row("1,2,2", 1, "{0},5,{0}")},
    ),
    Figures(
        "treblecross", "ways4", {str(n): 2 if n == 6 else 1 for n in range(3, 9)},
        {str(n): 2 if n == 12 else 1 for n in range(9, 14)},
    ),
    Figures("fibonacci-nim", "whinihan", {str(n): 2 if n in (2, 3, 5, 8, 13, 21, 34) else 1 for n in range(2, 36)}),
    Figures(
        "euclid", "cole",
        {f"{a},{b}": 1 if a == b or a * a > b * (a + b) else 2 for a in range(1, 10) for b in range(1, a + 1)},
    ),
    Figures(
        "wythoff", "wythoff",
        {f"{a},{b}": 2 if (a, b) in ((1, 2), (3, 5), (4, 7)) else 1 for a in range(1, 5) for b in range(a, 8)},
    ),
)  # fmt: skip


class ChanceOracle(NamedTuple):
    """The first player's chance to win if both play best, within `error` (0: exact).

    `states` counts the states that play can reach, folded by symmetry, with chance nodes and finished states.
    """

    game: str
    source: str
    chance: Fraction | float
    error: float = 0
    states: int | None = None

    @property
    def expectation(self) -> Fraction | float:
        """The value of the start: the expected utility."""
        return 2 * self.chance - 1


def chance_oracle(line: dict[str, str]) -> ChanceOracle:
    """Return the chance that a line of the table holds, a fraction where it is exact."""
    game, source, chance, error, states = line.values()
    known = int(states) if states else None
    return ChanceOracle(game, source, float(chance) if error else Fraction(chance), float(error or 0), known)


CHANCE_ORACLES = tuple(map(chance_oracle, table("chances.csv")))

# Piglet to 2 points, by the mover's score, the other's and the turn's total (neller, table of its section on piglet)
PIGLET = {
    "0-0-0": Fraction(4, 7), "0-0-1": Fraction(5, 7), "0-1-0": Fraction(2, 5), "0-1-1": Fraction(3, 5),
    "1-0-0": Fraction(4, 5), "1-1-0": Fraction(2, 3),
}  # fmt: skip

# of 36 throws, those that bear off the last one or two checkers: the table in every book on backgammon (for one, Jacoby
# and Crawford, The Backgammon Book, 1970)
LAST_CHECKERS = {
    "1": 36, "2": 36, "3": 36, "4": 34, "5": 31, "6": 27,
    "11": 36, "21": 36, "22": 26, "31": 34, "32": 25, "33": 17, "41": 29, "42": 23, "43": 17, "44": 11,
    "51": 23, "52": 19, "53": 14, "54": 10, "55": 6, "61": 15, "62": 13, "63": 10, "64": 8, "65": 6, "66": 4,
}  # fmt: skip


class Row(NamedTuple):
    """A figure in docs/reference/games.md, and the test that holds it. `ours` is our result, and why if it differs."""

    game: str
    source: str
    figure: str
    test: str
    ours: str = "the same"


# Figures that tests of their own hold
ELSEWHERE = tuple(Row(**line) for line in table("elsewhere.csv"))


def placements(symmetries):
    """By numbers of either side's men: how many positions there are up to symmetry.

    Burnside's lemma: the mean, over all symmetries, of how many positions each keeps. It keeps those whose men fill
    whole cycles of points.
    """
    group = new = {tuple(range(len(symmetries[0])))}
    while new:
        new = {tuple(one[point] for point in other) for one in new for other in symmetries} - group
        group = group | new
    totals = Counter()
    for symmetry in group:
        kept, points = Counter({(0, 0): 1}), set(range(len(symmetry)))
        while points:
            cycle, point = 0, next(iter(points))
            while point in points:
                points.remove(point)
                cycle, point = cycle + 1, symmetry[point]
            before = kept.copy()
            for (mine, theirs), count in before.items():
                kept[mine + cycle, theirs] += count
                kept[mine, theirs + cycle] += count
        totals += kept
    assert all(total % len(group) == 0 for total in totals.values())
    return {men: total // len(group) for men, total in totals.items()}
