"""Board games against rules written apart: the same moves along random games, the same values on small boards."""

import random
from collections import Counter

import pytest

from solver import solve
from solver.base.value import Value
from solver.rules.game import load_game
from solver.rules.notation import format_action
from tests import apart, naive
from tests.ways import slow


def stacks(game, state, mover=0):
    """Cells with words: the rows of `show` above the letters of the columns."""
    lines = game.show(state).splitlines()
    lines = lines[: next(i for i, line in enumerate(lines) if line.split()[0] == "a")]
    return tuple(word.replace(".", "") for line in lines for word in line.split()[1:])


def words(game, state, mover=0):
    return tuple(word if word else "." for word in stacks(game, state))


def board(game, state, mover=0):
    return tuple(game.cells(state, mover))


def row(game, state, mover=0):
    return board(game, state, mover)[0]


def inner(game, state, mover=0):
    """Without the row and the column of arrows."""
    return tuple(line[:-1] for line in board(game, state)[1:])


def placed(game, state, mover=0):
    hands = game.show(state).partition("in hand ")[2].split()
    left = int(hands[0]) + int(hands[2]) if hands else 0
    return row(game, state), 2 * game.men - left


def hands(game, state, mover=0):
    above, below = ([int(word) for word in line.split()[-2:]] for line in game.show(state).splitlines())
    return tuple(below), tuple(above)


def walls(game, state, mover=0):
    left = game.show(state).split()[-3::2]
    return board(game, state), (int(left[0]), int(left[1]))


GAMES = {  # the rules apart, and how a position is read
    "gobblet-gobblers": (apart.gobblet, stacks),
    "six-mens-morris": (apart.morris, placed),
    "nine-mens-morris": (
        lambda men, flying: apart.morris(men, flying, 3),
        lambda game, state, mover: (row(game, state, mover), state >> 48),
    ),
    "dodgem": (apart.dodgem, inner),
    "nocca-nocca": (apart.nocca, stacks),
    "dao": (apart.dao, board),
    "chung-toi": (apart.chung, words),
    "tsoro-yematatu": (apart.tsoro, row),
    "rota": (apart.rota, row),
    "picaria": (apart.picaria, row),
    "bagh-chal": (apart.baghchal, board),
    "chopsticks": (apart.chopsticks, hands),
    "one-dimensional-chess": (apart.chess, row),
    "quoridor": (apart.quoridor, walls),
}
BOARDS = [
    "gobblet-gobblers", "gobblet-gobblers:3,2", "six-mens-morris", "six-mens-morris:6", "six-mens-morris:4,true",
    "nine-mens-morris", "nine-mens-morris:4,false", "nine-mens-morris:5", "dodgem", "dodgem:5", "nocca-nocca",
    "nocca-nocca:5,3", "nocca-nocca:4,4", "dao", "dao:false", "chung-toi", "chung-toi:false", "tsoro-yematatu", "rota",
    "rota:false", "picaria", "picaria:9", "chopsticks", "chopsticks:7,true", "one-dimensional-chess",
    "one-dimensional-chess:20", "quoridor", "quoridor:3,4,2",
    "bagh-chal", "bagh-chal:20,5", "bagh-chal:3,2,2",
]  # fmt: skip
SMALL = [
    "dodgem:2", "tsoro-yematatu", "tsoro-yematatu:false", "chopsticks", "chopsticks:4,true", "quoridor:2,2,1",
    "quoridor:3,3,0",
]  # fmt: skip
LARGER = [
    "dodgem", "rota", "rota:false", "picaria", "picaria:9", "chopsticks:6", "one-dimensional-chess", "nocca-nocca:2,3",
    "nocca-nocca:3,2", "quoridor", "quoridor:3,2,2",
]  # fmt: skip


def both(text):
    game = load_game(text)
    judge, read = GAMES[text.partition(":")[0]]
    return game, judge(*game), lambda state, mover=0: read(game, state, mover)


def assert_same_moves(text, games, plies):
    game, judge, read = both(text)
    names = text.partition(":")[0] == "chopsticks"  # whose positions do not tell who moves
    rng = random.Random(text)
    for _ in range(games):
        state, mover = game.initial(), 0
        for _ in range(plies):
            over = judge.over(read(state, mover), 0 if names else mover)
            assert game.is_terminal(state) == (over is not None)
            if over is not None:
                assert game.utility(state) == over
                break
            children = [game.result(state, action) for action in game.actions(state)]
            expected = judge.moves(read(state, mover), 0 if names else mover)
            assert {read(child, 1 - mover) for child in children} == {position for position, _ in expected}
            state, mover = rng.choice(children), 1 - mover


@pytest.mark.parametrize("text", BOARDS)
def test_moves_are_those_of_rules_written_apart(text):
    assert_same_moves(text, 1, 20)


@pytest.mark.slow
@pytest.mark.parametrize("text", BOARDS)
def test_moves_are_those_of_rules_written_apart_in_many_games(text):
    assert_same_moves(text, 60, 80)


@pytest.mark.parametrize("text", [*SMALL, *slow(*LARGER)])
def test_values_are_those_of_rules_written_apart(text):
    game, judge, _ = both(text)
    ours, theirs = naive.solve(game), naive.solve(judge)
    assert ours[game.initial()] == theirs[judge.initial()]
    assert sorted(ours.values(), key=tuple_of) == sorted(theirs.values(), key=tuple_of)


@pytest.mark.parametrize("text", ["othello:3,3", "othello:5,2", "othello:4,3", *slow("othello:3,5", "othello:5,3")])
def test_othello_of_odd_rows_and_columns_is_that_of_rules_written_apart(text):
    game = load_game(text)
    judge = apart.othello(*game)
    theirs, todo = naive.solve(judge), [(game.initial(), 0)]
    ours, seen = naive.solve(game), {}
    while todo:
        state, mover = todo.pop()
        position = tuple(game.cells(state, mover)), mover
        if position not in seen:
            seen[position] = ours[state]
            todo += [(game.result(state, one), 1 - mover) for one in game.actions(state) if not game.is_terminal(state)]
    assert seen == theirs and len(seen) > 4


@pytest.mark.slow
def test_values_of_bagh_chal_are_those_of_rules_written_apart():
    game, judge, read = both("bagh-chal:2,1,1")
    ours, theirs = naive.solve(game), naive.solve(judge)
    found = {(read(state), state >> 50): value for state, value in ours.items()}
    assert {position: found[position] for position in theirs} == theirs and len(theirs) > 1000


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
    assert [apart.perft(game, state, depth + 1) for depth in range(len(counts))] == counts


def test_mates_of_a_rook_on_nine_squares_are_the_published_ones():
    """Natalia Skirrow, OEIS A358339, 2022: positions by plies to the mate, up to symmetry."""
    game = load_game("minichess:KRK")
    found = Counter(value.distance for value in naive.solve(game, True).values() if value.score)
    assert [found[plies] for plies in range(max(found) + 1)] == [2, 4, 3, 5, 9, 5, 4]


@pytest.mark.slow
def test_king_and_pawn_of_micro_shogi_are_as_published():
    """Brian Liou, github.com/brianhliou/micro-shogi, 2026: positions up to symmetry, wins, the longest."""
    with solve(load_game("micro-shogi:1")) as book:
        assert (book.states, book.counts["win"], book.longest[0]) == (457_993, 135_804, 29)
        assert book.root == Value(0, None)


@pytest.mark.slow
@pytest.mark.parametrize(("men", "position"), [("KBNNPKQBP", "wKpNbPkBqN"), ("KNPPPKRNN", "wKrNPnnPPk")])
def test_published_mates_in_16_moves_on_nine_squares_are_the_longest_of_their_men(men, position):
    """Kirill Kryukov, 3x3 Chess: no mate takes longer."""
    game = load_game(f"minichess:{men}")
    with solve(game) as book:
        assert book.longest == (31, game.canonical(game.parse_position(position)))


@pytest.mark.slow
def test_placements_of_bagh_chal_are_the_published_ones():
    cells = range(25)
    count = apart.placements(
        [[5 * (cell % 5) + cell // 5 for cell in cells], [cell // 5 * 5 + 4 - cell % 5 for cell in cells]]
    )
    assert 2 * sum(count[4, goats] for goats in range(16, 21)) == 88_260_972
    with solve("bagh-chal") as book:
        assert [tier.states for tier in book.header.tiers[:2]] == [2 * count[4, 20], 2 * count[4, 19]]


def tuple_of(value):
    return value.score, value.distance or 0


PUBLISHED = [  # whether folded, states, won, drawn and lost, the value of the start, the longest win
    ("mini-shobu", False, 1_963_316, (972_708, 458_768, 531_840), Value(1, 11), 25),
    ("mini-shobu:3", True, None, None, Value(1, 17), 39),
    ("six-mens-morris:6", True, None, None, Value(0), None),
    ("nocca-nocca", True, None, None, Value(1, 9), None),
    ("chinese-checkers:7,2,true", True, 1_265_851, (710_665, 0, 555_186), Value(1, 33), None),
    ("dodgem:4", True, None, None, Value(0), None),
    ("quoridor:5,5,1", True, None, None, Value(-1, 12), None),
    ("five-field-kono:4,4,true,-1", True, 145_133, (80_288, 16_492, 48_353), Value(0), None),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "folded", "states", "counts", "root", "longest"), PUBLISHED)
def test_published_results(text, folded, states, counts, root, longest):
    with solve(text, symmetry=folded) as book:
        assert book.root == root
        assert states in (None, book.states)
        assert counts in (None, tuple(book.counts[name] for name in ("win", "draw", "loss")))
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
    np = pytest.importorskip("numpy")
    from solver.compiled.edges import CompiledMoves
    from solver.rules.game import Rules

    none = np.empty(0, np.int64)
    listed = CompiledMoves(Rules(load_game("minichess:all"))).kernels.list_starts(0, none, none)
    assert listed == 1 + 291_037_344  # the initial state comes first, and once more
