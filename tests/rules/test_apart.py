"""Board games against figures of rules written apart, and published ones.

The rules written apart share no code with the package; Git's history has them as tests/apart.py. Their figures lie in
tests/data/moves.csv and values.csv.
"""

from collections import Counter

import pytest

from solver import solve
from solver.base.value import Value
from solver.rules.game import load_game
from solver.rules.notation import format_action
from tests import naive
from tests.oracles import placements, table
from tests.ways import quickly, slowly

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
    np = pytest.importorskip("numpy")
    from solver.compiled.edges import CompiledMoves
    from solver.rules.game import Rules

    none = np.empty(0, np.int64)
    listed = CompiledMoves(Rules(load_game("minichess:all"))).kernels.list_starts(0, none, none)
    assert listed == 1 + 291_037_344  # the initial state comes first, and once more
