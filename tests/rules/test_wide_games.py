"""Games of boards beyond 63 bits against what has been published of them: positions by ply, openings, endgames."""

import pytest

from solver.base.kinds import WDL
from solver.compiled.exact.searcher import Searcher
from solver.games.checkers import Checkers
from solver.games.hex import Hex
from solver.games.micro_shogi import MicroShogi
from solver.games.othello import Othello
from solver.rules.game import Rules, load_game
from solver.rules.notation import format_action
from solver.search import alphabeta
from tests import naive
from tests.ways import slow

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
    pytest.importorskip("numba")
    import numpy as np

    from solver.learning.moves import Board

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
    pytest.importorskip("numba")
    from solver.compiled.exact.searcher import Team

    text, mover, score = FFO[number]
    with Team(Othello(8, 8), table=1 << 30) as team:
        found = team.value(of_diagram(text, mover)).score
    assert found == score
