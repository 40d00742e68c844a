"""Published results, and results of independent programs, for the games of the package.

`make tables` writes them into docs/reference/games.md, one row for each game and source. An independent
program shares no code with this package.
"""

import csv
import math
from fractions import Fraction
from typing import NamedTuple

from tests import DATA

SOURCES = {
    "tromp": "John Tromp's tables of connect-four, recomputed by Markus Boeck",
    "mnk": "Uiterwijk and van den Herik, The Advantage of the Initiative, 2000, and the usual m,n,k tables",
    "uci": "the UCI data set Tic-Tac-Toe Endgame: 958 finished boards",
    "gardner": "Martin Gardner, 1962",
    "wilson": "David Wilson's dots-and-boxes solver pages",
    "iru": "Irving, Donkers and Uiterwijk, Solving Kalah, ICGA Journal 23(3), 2000",
    "ipsj": "Takeshita and others, IPSJ-GI 2015",
    "wiki": "Wikipedia",
    "ways": "Winning Ways; the counts come from an independent program",
    "haugland": "Jan Kristian Haugland, neutreeko.net",
    "straffin": "Philip Straffin, Mathematics Magazine, 1995",
    "tanaka": "Tanaka, Bonnet, Tixeuil and Tamura, arXiv:2007.15895",
    "closed": "a closed formula",
    "hexwiki": "HexWiki, maps of winning openings; the counts come from an independent program",
    "neller": "Neller and Presser, Optimal Play of the Dice Game Pig, UMAP Journal 25(1), 2004",
    "one": "Bonnet and Viennot, Analytical Solution for EinStein wuerfelt nicht with One Stone, ACG 2017",
    "kayles": "Guy and Smith, The G-values of various games, 1956; sequence A002186 of the OEIS",
    "dawson": "Guy and Smith, The G-values of various games, 1956; sequence A002187 of the OEIS",
    "ways4": "Winning Ways, chapter 4",
    "grundy": "sequence A002188 of the OEIS",
    "lemoine": "Lemoine and Viennot, Nimbers are inevitable, Theoretical Computer Science 462, 2012",
    "mcgs": "results of the solver MCGS, University of Alberta",
    "breuker": "Breuker, Uiterwijk and van den Herik, Solving 8 x 8 Domineering, 2000",
    "albert": "Albert, Grossman, Nowakowski and Wolfe, An Introduction to Clobber, Integers 5(2), 2005",
    "erickson": "Erickson, New Toads and Frogs Results, Games of No Chance, 1996",
    "whinihan": "Whinihan, Fibonacci Nim, Fibonacci Quarterly 1, 1963",
    "wythoff": "Wythoff, A modification of the game of nim, 1907",
    "cole": "Cole and Davie, A Game Based on the Euclidean Algorithm, Mathematical Gazette 53, 1969",
    "solved": "Brian Liou, Solved Games; the winners come from an independent program",
    "wild": "Wikipedia, Wild tic-tac-toe; the counts come from an independent program",
    "sim": "Mead, Rosa and Huang, The Game of Sim, Mathematics Magazine 47, 1974; the counts come from"
    " an independent program",
    "plambeck": "Plambeck and Whitehead, The Secrets of Notakto, arXiv:1301.1672; the counts come from"
    " an independent program",
    "own": "an independent program",
}


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


ORACLES = (
    Oracle("tic-tac-toe", "uci", (0, None), 5_478, (2836, 1068, 1574), 5),
    Oracle("tic-tac-toe:3,3,3,true", "own", (0, None), 5_478, (3054, 980, 1444)),
    Oracle("tic-tac-toe:4,3,3", "mnk", (1, 7), 111_973, (64738, 3060, 44175)),
    Oracle("tic-tac-toe:4,4,3", "mnk", (1, 5), 6_036_001, (3199406, 1322, 2835273), None),
    Oracle("tic-tac-toe:4,3,4", "mnk", (0, None), 142_231, None, 1),
    Oracle("connect-four:2,2", "tromp", (0, None), 18, (0, 18, 0)),
    Oracle("connect-four:2,3", "tromp", (0, None), 58, (0, 58, 0)),
    Oracle("connect-four:2,4", "tromp", (0, None), 179, (2, 175, 2)),
    Oracle("connect-four:2,6", "tromp", (0, None), 1_571, (52, 1467, 52)),
    Oracle("connect-four:3,3", "tromp", (0, None), 869, (0, 869, 0)),
    Oracle("connect-four:3,4", "tromp", (0, None), 6_000, (261, 5478, 261)),
    Oracle("connect-four:3,5", "tromp", (0, None), 38_310, (2295, 33720, 2295)),
    Oracle("connect-four:3,6", "tromp", (0, None), 235_781, (16677, 202271, 16833)),
    Oracle("connect-four:3,7", "tromp", (0, None), 1_417_322, (111972, 1190639, 114711)),
    Oracle("connect-four:3,8", "tromp", (0, None), 8_424_616, (681456, 7044457, 698703)),
    Oracle("connect-four:4,3", "tromp", (0, None), 12_031, (716, 10903, 412), 9),
    Oracle("connect-four:5,3", "tromp", (0, None), 158_911, (22618, 123840, 12453), 11),
    Oracle("connect-four:6,3", "tromp", (0, None), 2_087_325, (394672, 1453129, 239524), 15),
    Oracle("connect-four:7,3", "tromp", (0, None), 27_441_956, (7051635, 15823482, 4566839), 17),
    Oracle("connect-four:4,4", "tromp", (0, None), 161_029, (38675, 90120, 32234), 13),
    Oracle("connect-four:4,5", "tromp", (0, None), 1_706_255, (509601, 712421, 484233), 17),
    Oracle("connect-four:4,6", "tromp", (0, None), 15_835_683, (5254277, 5267176, 5314230), 21),
    Oracle("connect-four:5,5", "tromp", (0, None), 69_763_700, (27296634, 14419273, 28047793), 23),
    Oracle("connect-four:6,4", "tromp", (-1, 24), 94_910_577, (38913621, 18361279, 37635677), None),
    Oracle("connect-four:3,3,3", "own", (0, None), 694, (266, 160, 268)),
    Oracle("connect-four:4,3,3", "own", (1, 9), 7_157, (3249, 327, 3581)),
    Oracle("connect-four:3,4,3", "own", (0, None), 2_715, (1136, 316, 1263)),
    Oracle("connect-four:4,4,3", "own", (1, 9), 41_750, (18605, 340, 22805)),
    Oracle("connect-four:5,4,3", "own", (1, 9), 613_459, (260064, 266, 353129)),
    *(
        Oracle(f"coins:{coins},3", "closed", (-1 if coins % 4 == 1 else 1, plies), coins + 1)
        for coins, plies in zip(range(1, 14), (1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7), strict=True)
    ),
    Oracle("coins:21,3", "closed", (-1, 11), 22),
    Oracle("hexapawn:2,3", "own", (-1, 2), 14, (6, 0, 8)),
    Oracle("hexapawn:2,4", "own", (-1, 6), 46, (21, 0, 25)),
    Oracle("hexapawn:2,5", "own", (-1, 6), 103, (46, 0, 57)),
    Oracle("hexapawn:2,6", "own", (-1, 10), 183, (85, 0, 98)),
    Oracle("hexapawn:3,3", "gardner", (-1, 6), 135, (55, 0, 80)),
    Oracle("hexapawn:3,4", "own", (-1, 8), 987, (424, 0, 563)),
    Oracle("hexapawn:3,5", "own", (1, 11), 3_708, (1662, 0, 2046)),
    Oracle("hexapawn:3,6", "own", (-1, 14), 9_984, (4613, 0, 5371)),
    Oracle("hexapawn:4,3", "own", (1, 5), 1_128, (394, 0, 734)),
    Oracle("hexapawn:4,5", "own", (-1, 16), 118_133, (51631, 0, 66502)),
    Oracle("hexapawn:5,3", "own", (1, 7), 8_698, (2679, 0, 6019)),
    Oracle("hexapawn:6,3", "own", (-1, 8), 64_074, (17710, 0, 46364)),
    Oracle("breakthrough:2,4,2", "own", (-1, 8), 646, (256, 0, 390)),
    Oracle("breakthrough:2,5,2", "own", (-1, 10), 11_287, (4928, 0, 6359)),
    Oracle("breakthrough:3,4,2", "own", (-1, 12), 55_152, (19807, 0, 35345)),
    Oracle("breakthrough:3,5,2", "own", (-1, 18), 2_418_400, (945115, 0, 1473285)),
    Oracle("breakthrough:4,4,2", "own", (-1, 14), 3_212_224, (1052264, 0, 2159960)),
    Oracle("breakthrough:3,3,1", "own", (1, 5), 723, (211, 0, 512)),
    Oracle("breakthrough:3,4,1", "own", (1, 9), 10_689, (4048, 0, 6641)),
    Oracle("breakthrough:4,4,1", "own", (1, 11), 387_693, (133572, 0, 254121)),
    Oracle("dots-and-boxes:1,1", "wilson", (-1, None), 16),
    Oracle("dots-and-boxes:2,1", "wilson", (0, None), 128),
    Oracle("dots-and-boxes:3,1", "wilson", (-1, None), 1_024),
    Oracle("dots-and-boxes:4,1", "wilson", (0, None), 8_192),
    Oracle("dots-and-boxes:2,2", "wilson", (2, None), 4_096),
    Oracle("dots-and-boxes:3,2", "wilson", (-2, None), 131_072),
    Oracle("dots-and-boxes:2,3", "wilson", (-2, None), 131_072),
    Oracle("dots-and-boxes:4,2", "wilson", (2, None), 4_194_304),
    Oracle("dots-and-boxes:3,3", "wilson", (-3, None), 16_777_216),
    *(
        Oracle(f"kalah:1,{seeds}", "iru", (value, None), size=100)
        for seeds, value in enumerate((0, -2, 6, -2, 2, 0), 1)
    ),
    *(
        Oracle(f"kalah:2,{seeds}", "iru", (value, None), size=1_000)
        for seeds, value in enumerate((2, -2, -2, -12, 6, 8), 1)
    ),
    Oracle("kalah:2,4,false", "iru", (-10, None), size=1_000),
    *(
        Oracle(f"kalah:3,{seeds}", "iru", (value, None), size=10 ** (seeds + 1))
        for seeds, value in enumerate((0, 4, 2), 1)
    ),
    Oracle("kalah:3,4", "iru", (2, None), size=40_000),
    Oracle("kalah:3,5", "iru", (6, None), size=130_000),
    Oracle("kalah:4,1", "iru", (2, None), size=600),
    Oracle("kalah:4,2", "iru", (6, None), size=60_000),
    Oracle("kalah:4,4", "iru", (2, None), size=6_000_000),
    Oracle("kalah:5,1", "iru", (0, None), size=6_000),
    Oracle("awari:3", "own", (3, None), 455),
    Oracle("hex:2", "hexwiki", (1, 3), 32),
    Oracle("hex:3", "hexwiki", (1, 5), 5514),
    Oracle("othello:4,2", "ipsj", (0, None), size=10),
    Oracle("othello:4,4", "ipsj", (-8, None), size=60_000),
    Oracle("mu-torere", "wiki", (0, None), 1_180, (208, 844, 128), 5),
    Oracle("mu-torere:false", "own", (1, 1), 1_180, (320, 700, 160)),
    Oracle("three-mens-morris", "own", (1, 9), 5_390, (2877, 1312, 1201)),
    Oracle("three-mens-morris:1", "own", (1, 9), 5_390, (2997, 1208, 1185)),
    Oracle("three-mens-morris:2", "own", (0, None), 5_390, (2914, 1576, 900)),
    Oracle("nine-holes", "own", (0, None), 5_470, (2502, 2446, 522), 3),
    Oracle("achi", "own", (1, 11), 5_716),
    Oracle("tapatan", "own", (0, None), 3_080, (1646, 662, 772), 11),
    Oracle("pong-hau-ki", "straffin", (0, None), 56),
    Oracle("quixo:2", "tanaka", (1, 3), size=81),
    Oracle("quixo:3", "tanaka", (1, 7), size=19_683),
    Oracle("quixo:4", "tanaka", (1, 21), size=43_046_721),
    Oracle("quixo:2,true", "own", (1, 3), 81, (50, 0, 31)),
    Oracle("quixo:3,true", "own", (1, 7), 19_683, (12_748, 0, 6_935)),
    Oracle("quixo:4,true", "own", (1, 21), 43_046_721, (26_434_489, 1_608_496, 15_003_736)),
    Oracle("hare-and-hounds", "own", (1, 23), 2_303),
    Oracle("hare-and-hounds:true", "own", (-1, 24), 2_303),
    Oracle("l-game", "wiki", (0, None), 36_736, (16_096, 20_176, 464), 9),
    Oracle("neutreeko", "haugland", (0, None), 6_935_248, (4_945_760, 209_296, 1_780_192), 51),
    *(
        Oracle(f"fox-and-hounds:8,{fox}", "ways", (-1, 44), states)
        for fox, states in enumerate((892_699, 895_094, 895_280, 894_341), 1)
    ),
)

# The games of MORE_GAMES in tests/games.py. The quick suite checks those with few states.
ORACLES += (
    Oracle("sim:3", "own", (0, None), 13),
    Oracle("sim:4", "own", (0, None), 263),
    Oracle("sim:5", "own", (0, None), 14_953),
    Oracle("sim", "sim", (-1, 15), 2_230_702, (1_722_240, 0, 508_462)),
    Oracle("y:1", "solved", (1, 1), 2, (1, 0, 1)),
    Oracle("y:2", "solved", (1, 3), 13, (7, 0, 6)),
    Oracle("y:3", "solved", (1, 5), 257, (163, 0, 94)),
    Oracle("wild-tic-tac-toe", "wild", (1, 7), 18_753, (10_085, 1_012, 7_656)),
    Oracle("wild-tic-tac-toe:3,3,3,true", "own", (0, None), 18_753, (12_136, 4_467, 2_150)),
    Oracle("order-and-chaos:2,2,2", "own", (1, 3), 57, (25, 0, 32)),
    Oracle("order-and-chaos", "own", (1, 5), 18_753, (9_659, 0, 9_094)),
    Oracle("order-and-chaos:4,3", "own", (1, 5), 453_831, (227_921, 0, 225_910)),
    Oracle("konane:3,3", "own", (-1, 4), 42, (17, 0, 25)),
    Oracle("konane:4,2", "own", (-1, 2), 30, (12, 0, 18)),
    Oracle("konane:4,3", "own", (-1, 4), 185, (94, 0, 91)),
    Oracle("konane", "own", (-1, 6), 3_863, (2_158, 0, 1_705)),
    Oracle("quarto", "own", (-1, 6), size=8_000_000),
    Oracle("popout:2,2,2", "own", (1, 3), 18, (7, 0, 11)),
    Oracle("popout:2,3", "own", (0, None), 186, (65, 63, 58)),
    Oracle("popout", "own", (-1, 16), 1_996, (1_024, 0, 972)),
    Oracle("popout:4,3", "own", (1, 9), 22_309, (11_010, 0, 11_299)),
    Oracle("notakto:1", "plambeck", (1, 6), 450, (377, 0, 73)),
    Oracle("minichess:KQK", "own", (1, 1), 336, (48, 168, 120), 1),
    Oracle("minichess:KPK", "own", (1, 1), 1_537, (221, 1_048, 268), 9),
    Oracle("minichess:KBNK", "own", (1, 1), 2_924, (304, 2_252, 368), 13),
    Oracle("minichess:KPKP", "own", (0, None), 30_204, (7_166, 18_724, 4_314), 13),
    Oracle("mini-shobu:1", "own", (0, None), 144, (0, 144, 0)),
    Oracle("chinese-checkers:3,1", "own", (1, 9), 128, (76, 0, 52), 9),
    Oracle("chinese-checkers:3,2", "own", (1, 9), 1_302, (808, 0, 494), 9),
    Oracle("five-field-kono:3,3", "own", (0, None), 60, (0, 60, 0)),
    Oracle("five-field-kono:3,3,true,-1", "own", (0, None), 49, (18, 15, 16), 5),
    Oracle("five-field-kono:3,5,true,-1", "own", (1, 9), 2_632, (1_399, 63, 1_170), 11),
)


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


CHANCE_ORACLES = (
    ChanceOracle("pig:2", "closed", Fraction(6, 7), 0, 3),
    ChanceOracle("pig:5", "own", 0.7970479705, 5e-11, 65),
    ChanceOracle("pig:15", "own", 0.6537869732, 5e-11, 2_605),
    ChanceOracle("pig", "neller", 0.5305927253, 5e-11),
    ChanceOracle("piglet:2", "neller", Fraction(4, 7), 0, 13),
    ChanceOracle("piglet:3", "own", Fraction(6, 11), 0, 37),
    ChanceOracle("piglet:10", "own", 0.5224794079, 5e-11, 1_101),
    ChanceOracle("backgammon-bearoff:1", "own", Fraction(13, 16), 0, 436),
    ChanceOracle("backgammon-bearoff:2", "own", Fraction(105_030_049, 136_048_896), 0, 15_496),
    ChanceOracle("backgammon-bearoff:3", "own", Fraction(41_570_430_673, 58_773_123_072), 0, 141_672),
    ChanceOracle("nannon:4,2,4", "own", 0.52042829623034, 1e-12, 756),
    ChanceOracle("nannon", "own", 0.51573687096932, 1e-12, 16_451),
    ChanceOracle("einstein:2,1", "one", Fraction(1), 0, 15),
    ChanceOracle("einstein:3,1", "one", Fraction(1), 0, 88),
    ChanceOracle("einstein:4,1", "one", Fraction(1), 0, 295),
    ChanceOracle("einstein:5,1", "one", Fraction(1), 0, 726),
    ChanceOracle("einstein:3,2", "own", Fraction(7, 16), 0, 2_569),
    ChanceOracle("einstein:3,3", "own", Fraction(170, 243), 0, 39_737),
)

# Piglet to 2 points, by the mover's score, the other's and the turn's total (neller, table of its section on piglet)
PIGLET = {
    "0-0-0": Fraction(4, 7),
    "0-0-1": Fraction(5, 7),
    "0-1-0": Fraction(2, 5),
    "0-1-1": Fraction(3, 5),
    "1-0-0": Fraction(4, 5),
    "1-1-0": Fraction(2, 3),
}

# of 36 throws, those that bear off the last one or two checkers: the table in every book on backgammon (for one, Jacoby
# and Crawford, The Backgammon Book, 1970)
LAST_CHECKERS = {
    "1": 36, "2": 36, "3": 36, "4": 34, "5": 31, "6": 27,
    "11": 36, "21": 36, "22": 26, "31": 34, "32": 25, "33": 17, "41": 29, "42": 23, "43": 17, "44": 11,
    "51": 23, "52": 19, "53": 14, "54": 10, "55": 6, "61": 15, "62": 13, "63": 10, "64": 8, "65": 6, "66": 4,
}  # fmt: skip


class Elsewhere(NamedTuple):
    """A figure that its own test holds. `ours` is our result, with the reason if it differs."""

    game: str
    source: str
    figure: str
    test: str
    ours: str


# a line a figure: `tests/table.py` writes them into docs/reference/games.md
with (DATA / "elsewhere.csv").open(encoding="utf-8", newline="") as file:
    ELSEWHERE = tuple(Elsewhere(**row) for row in csv.DictReader(file))
