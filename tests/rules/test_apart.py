"""Board games against figures of rules written apart, and published ones, also of boards beyond 63 bits.

The rules written apart share no code with the package; Git's history has them as tests/apart.py. Their figures lie in
tests/data/moves.csv and values.csv.
"""

from collections import Counter

import numpy as np
import pytest

from solver import solve
from solver.base.kinds import WDL
from solver.base.value import Value
from solver.compiled.edges import CompiledMoves
from solver.compiled.exact.searcher import Searcher, Team
from solver.games.checkers import Checkers
from solver.games.hex import Hex
from solver.games.micro_shogi import MicroShogi
from solver.games.othello import Othello
from solver.learning.moves import Board
from solver.rules.game import Rules, load_game
from solver.rules.notation import format_action
from solver.search import alphabeta
from tests import naive
from tests.oracles import placements, table
from tests.ways import quickly, slow, slowly

PLACED = {}  # by game, how many positions follow each of some positions: `27 675-3` are 27 after a ply, 3 of 675 over
for line in table("moves.csv"):
    PLACED.setdefault(line["game"], {})[int(line["state"])] = line["after"]


@pytest.mark.parametrize("text", slowly(PLACED, "picaria:9", "nocca-nocca:5,3", "nocca-nocca:4,4", "quoridor:3,4,2"))
def test_moves_lead_to_as_many_positions_as_by_rules_written_apart(text):
    game = load_game(text)
    for state, after in PLACED[text].items():
        states, found = {state}, []
        for _ in after.split():
            ongoing = [one for one in states if not game.is_terminal(one)]
            states = {game.result(one, action) for one in ongoing for action in game.actions(one)}
            over = sum(map(game.is_terminal, states))
            found.append(f"{len(states)}-{over}" if over else str(len(states)))
        assert " ".join(found) == after, state


VALUES = {line["game"]: line for line in table("values.csv")}  # how many positions have each: `3*-1:2` are lost in 2
SMALL = ("dodgem:2", "tsoro-yematatu", "tsoro-yematatu:false", "chopsticks", "chopsticks:4,true", "quoridor:2,2,1")
SMALL += ("quoridor:3,3,0", "othello:3,3", "othello:5,2", "othello:4,3")


def said(value):
    return str(value.score) if value.distance is None else f"{value.score}:{value.distance}"


@pytest.mark.parametrize("text", quickly(VALUES, SMALL))
def test_values_are_as_many_as_by_rules_written_apart(text):
    """Of positions that play from the start reaches; in othello, who is to move is a part of a finished one."""
    game = load_game(text)
    known, reached, todo = naive.solve(game), set(), [(game.initial(), 0)]
    while todo:
        state, mover = todo.pop()
        if (state, mover) not in reached:
            reached.add((state, mover))
            after = [] if game.is_terminal(state) else [game.result(state, action) for action in game.actions(state)]
            todo += [(child, 1 - mover if text.startswith("othello") else 0) for child in after]
    counts = Counter(said(known[state]) for state, _ in reached)
    assert sorted(VALUES[text]["values"].split()) == sorted(f"{count}*{value}" for value, count in counts.items())
    assert VALUES[text]["root"] == said(known[game.initial()])


PERFT = {  # of a program that shares no code with the package: plies of en passant, promotion, checks and pins
    "KPKP": ("4k3/8/8/8/1p6/8/P7/4K3 w - - 0 1", [7, 44, 349]),
    "KRKP": ("8/8/8/8/8/k7/3p4/K6R b - - 0 1", [7, 72, 614]),
    "KQKN": ("8/8/8/4n3/8/2k5/8/K6Q w - - 0 1", [22, 241]),
    "KBKP": ("8/8/8/8/2k5/6B1/1p6/7K b - - 0 1", [12, 126, 1453]),
}


@pytest.mark.parametrize("men", PERFT)
def test_perft_of_chess_with_a_man_each(men):
    game, (fen, counts) = load_game(f"chess-duel:{men}"), PERFT[men]
    state = game.parse_position(fen)
    assert [naive.perft(game, state, depth + 1) for depth in range(len(counts))] == counts


def test_mates_of_a_rook_on_nine_squares_are_the_published_ones():
    """Natalia Skirrow, OEIS A358339, 2022: positions by plies to the mate, up to symmetry."""
    game = load_game("minichess:KRK")
    found = Counter(value.distance for value in naive.solve(game, True).values() if value.score)
    assert [found[plies] for plies in range(max(found) + 1)] == [2, 4, 3, 5, 9, 5, 4]


@pytest.mark.slow
@pytest.mark.parametrize(("men", "position"), [("KBNNPKQBP", "wKpNbPkBqN"), ("KNPPPKRNN", "wKrNPnnPPk")])
def test_published_mates_in_16_moves_on_nine_squares_are_the_longest_of_their_men(men, position):
    """Kirill Kryukov, 3x3 Chess: no mate takes longer."""
    game = load_game(f"minichess:{men}")
    with solve(game) as book:
        assert book.longest == (31, game.canonical(game.parse_position(position)))


@pytest.mark.slow
def test_placements_of_bagh_chal_are_the_published_ones():
    images = [5 * (cell % 5) + cell // 5 for cell in range(25)], [cell // 5 * 5 + 4 - cell % 5 for cell in range(25)]
    count = placements([*images])
    assert 2 * sum(count[4, goats] for goats in range(16, 21)) == 88_260_972
    with solve("bagh-chal") as book:
        assert [tier.states for tier in book.header.tiers[:2]] == [2 * count[4, 20], 2 * count[4, 19]]


UNKNOWN = (None, None, None)
PUBLISHED = [  # whether folded, states, won, drawn and lost, the value of the start, the longest win
    ("mini-shobu", False, 1_963_316, (972_708, 458_768, 531_840), Value(1, 11), 25),
    ("mini-shobu:3", True, None, UNKNOWN, Value(1, 17), 39),
    ("six-mens-morris:6", True, None, UNKNOWN, Value(0), None),
    ("nocca-nocca", True, None, UNKNOWN, Value(1, 9), None),
    ("chinese-checkers:7,2,true", True, 1_265_851, (710_665, 0, 555_186), Value(1, 33), None),
    ("dodgem:4", True, None, UNKNOWN, Value(0), None),
    ("quoridor:5,5,1", True, None, UNKNOWN, Value(-1, 12), None),
    ("five-field-kono:4,4,true,-1", True, 145_133, (80_288, 16_492, 48_353), Value(0), None),
    # Brian Liou, github.com/brianhliou/micro-shogi, 2026
    ("micro-shogi:1", True, 457_993, (135_804, None, None), Value(0), 29),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "folded", "states", "counts", "root", "longest"), PUBLISHED)
def test_published_results(text, folded, states, counts, root, longest):
    with solve(text, symmetry=folded) as book:
        assert book.root == root
        assert states in (None, book.states)
        assert all(known in (None, count) for known, count in zip(counts, book.counts.values(), strict=True))
        assert longest in (None, book.longest[0])


@pytest.mark.slow
def test_white_wins_chess_in_one_dimension_by_the_knight_alone():
    game = load_game("one-dimensional-chess")
    values = naive.solve(game)
    start = game.initial()
    found = {format_action(game, start, action): values[game.result(start, action)] for action in game.actions(start)}
    assert [name for name, value in found.items() if value.score < 0] == ["N4"]


@pytest.mark.stress
def test_chess_on_nine_squares_has_so_many_placements():
    """145,518,672 with White to move.

    Kirill Kryukov has 304,545,552. He counts a placement twice if both kings stand on the middle file, unless it is its
    own image, as 11,016 are: 2 * (145,518,672 + 6,765,120 - 11,016).
    """
    none = np.empty(0, np.int64)
    listed = CompiledMoves(Rules(load_game("minichess:all"))).kernels.list_starts(0, none, none)
    assert listed == 1 + 291_037_344  # the initial state comes first, and once more


# Perft of othello 8x8 from the start, passes counted as moves: Aart Bik, Perft for Reversi, 2009
OTHELLO = (4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288)
# Perft of English draughts, a capture counted as one move: Jonathan Schaeffer and Aart Bik, OEIS A133046
CHECKERS = (7, 49, 302, 1469, 7361, 36768, 179740, 845931)

# Brian Liou, github.com/brianhliou/micro-shogi, research/repro/perft.txt
MICRO_SHOGI = (9, 81, 812, 8512, 97321)


@pytest.mark.parametrize(("game", "published"), [(Othello(8, 8), OTHELLO[:4]), (Checkers(), CHECKERS[:3])])
def test_perft(game, published):
    assert tuple(naive.perft(game, game.initial(), depth) for depth in range(1, len(published) + 1)) == published


def lines_of_micro_shogi(game, state, depth):
    """A line ends where the King is taken."""
    king, count = state >> 5 & 31, 0
    for action in game.actions(state):
        if depth == 1 or (action < 400 and action % 20 == king):
            count += 1
        else:
            count += lines_of_micro_shogi(game, game.result(state, action), depth - 1)
    return count


@pytest.mark.parametrize("plies", [4, *slow(5)])
def test_perft_of_micro_shogi(plies):
    game = MicroShogi()
    found = [lines_of_micro_shogi(game, game.initial(), depth) for depth in range(1, plies + 1)]
    assert found == list(MICRO_SHOGI[:plies])


@pytest.mark.parametrize("size", [2, *slow(3)])
def test_winning_openings_of_hex(size):
    game, found, table = Hex(size), {}, {}
    for action in game.actions(game.initial()):
        value = alphabeta.solve(game, game.result(game.initial(), action), table=table).value
        if value.score < 0:
            found[format_action(game, game.initial(), action)] = value.distance + 1
    assert found == {2: {"b1": 3, "a2": 3}, 3: {"b2": 5, "c1": 7, "a3": 7, "a2": 9, "c2": 9}}[size]


def test_bridges_of_hex_tell_who_wins():
    """`bounds` never contradicts the naive twin, and sees wins of both players that are far from over."""
    game = Hex(3)
    truth, told = naive.solve(game), []
    for state, value in truth.items():
        if not game.is_terminal(state):
            lower, upper = game.bounds(state)
            assert lower <= value.score <= upper
            told += [(state.bit_count() % 2 == 0) == (lower > 0)] * (lower == upper)
    assert len(told) > len(truth) / 10 and 0.2 < sum(told) / len(told) < 0.8
    assert game.bounds(1 << 4) == (-1, -1)  # b2: bridges to both edges
    assert game.bounds(1 << 4 | 1 << 9) == (1, 1)  # a1 takes a cell of one bridge, the other is left


@pytest.mark.slow
def test_an_order_of_moves_makes_proofs_short():
    """Alpha-beta takes 246,046 nodes for hex 5x5 without bridges, 3.8 million for domineering 6x6 without `promise`."""
    for text, most in (("hex:5", 2_000), ("domineering:6,6", 30_000)):
        rules = Rules(load_game(text), kind=WDL)
        searcher = Searcher(rules, outcomes=True)
        assert searcher.value(rules.first()).score == 1 and searcher.nodes < most


def test_checkers_jumps_are_forced_and_carried_on():
    game, squares = Checkers(), 32

    def board(black, white, kings=(), turn=0):
        bits = [1 << one - 1 for one in black] + [1 << squares + one - 1 for one in white]
        return sum(bits) + sum(1 << 2 * squares + one - 1 for one in kings) + (turn << 3 * squares)

    def moves(state):
        return [format_action(game, state, action) for action in game.actions(state)]

    assert moves(board([10, 1], [14, 23])) == ["10x17"]
    assert moves(board([10], [14, 22, 15])) == ["10x17x26", "10x19"]
    assert moves(board([19], [24, 26, 25])) == ["19x28"]
    crowned = board([22], [25, 26])
    assert moves(crowned) == ["22x29", "22x31"]  # which becomes a king and stops
    king = board([11], [7, 8, 15, 16], kings=[11])
    assert moves(king) == ["11x2", "11x4", "11x18", "11x20"]
    after = game.result(board([10], [14, 22]), next(game.actions(board([10], [14, 22]))))
    assert after == board([26], [], turn=1) and game.is_terminal(after)
    assert moves(board([18], [27], turn=1)) == ["27-23", "27-24"]


@pytest.mark.slow
@pytest.mark.parametrize(("game", "published"), [(Othello(8, 8), OTHELLO), (Checkers(), CHECKERS)])
def test_perft_compiled(game, published):
    board = Board(Rules(game))
    states, counts = np.array([game.initial()], object), []
    for _ in published:
        children = board.children(states)
        counts.append(len(children.states))
        states = children.states[~children.ended]
    assert tuple(counts) == published


# FFO endgame test positions 40 to 44 (Marc Tastet), rows from the top, and their scores for the side to move
FFO = {
    40: ("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------", "X", 38),
    41: ("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O-", "X", 0),
    42: ("--OOO-------XX-OOOOOOXOO-OOOOXOOX-OOOXXO---OOXOO---OOOXO--OOOO--", "X", 6),
    43: ("--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX-", "O", -12),
    44: ("--O-X-O---O-XO-O-OOXXXOOOOOOXXXOOOOOXX--XXOOXO----XXXX-----XXX--", "O", -14),
}


def of_diagram(text, mover):
    bits = [1 << cell for cell in range(64)]
    mine = sum(bit for bit, mark in zip(bits, text, strict=True) if mark == mover)
    theirs = sum(bit for bit, mark in zip(bits, text, strict=True) if mark not in ("-", mover))
    return mine | theirs << 64


@pytest.mark.slow
@pytest.mark.parametrize("number", FFO)
def test_ffo_endgames(number):
    text, mover, score = FFO[number]
    with Team(Othello(8, 8), table=1 << 30) as team:
        found = team.value(of_diagram(text, mover)).score
    assert found == score
