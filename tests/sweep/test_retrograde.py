"""Compiled retrograde analysis against the naive twin, the sweep, and published results."""

from collections import Counter

import pytest

from solver.base.errors import ResourceError
from solver.base.value import Value
from solver.book import Book, shipped
from solver.book.solution import TierCount
from solver.rules.game import load_game
from solver.solving import pipeline
from solver.solving.ways import plain
from solver.verifying import verification
from tests.oracles import ORACLES
from tests.refusals import raises
from tests.solutions import assert_is_the_same, assert_is_the_truth, columns, swept, values
from tests.ways import quickly, slow, slow_rows

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.sweep import parents  # noqa: E402

pytestmark = pytest.mark.interpreted

MORRIS = "three-mens-morris"  # has tiers, the last of them with cycles
CYCLIC = [one for one in ORACLES if MORRIS in one.game or not hasattr(load_game(one.game), "tier")]
SMALL = [one for one in CYCLIC if (one.states or one.size) < 6_000]


@pytest.fixture(autouse=True)
def by_kernels(monkeypatch):
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)


@pytest.mark.parametrize(
    "oracle", quickly(SMALL, [oracle for oracle in SMALL if oracle.game == "mu-torere"]), ids=lambda oracle: oracle.game
)
def test_every_value_is_the_naive_twins_and_counts_are_the_published_ones(oracle):
    solved = assert_is_the_truth(load_game(oracle.game))
    assert len(solved.tiers) == (7 if MORRIS in oracle.game else 1)
    tier = TierCount(0, *map(sum, zip(*(one[1:] for one in solved.tiers), strict=True)))
    assert solved.root == Value(*oracle.root)
    assert oracle.states in (None, tier.states)
    assert oracle.counts in (None, (tier.win, tier.draw, tier.loss))


@pytest.mark.slow
@pytest.mark.parametrize("oracle", CYCLIC, ids=lambda oracle: oracle.game)
def test_folded_values_of_the_start_are_the_published_ones(oracle):
    said = []
    with pipeline.solve(oracle.game, say=said.append) as book:
        assert (book.header.method, book.root, said) == ("retrograde", Value(*oracle.root), [])


@pytest.mark.parametrize("text", ["tic-tac-toe:3,2,2", *slow("tic-tac-toe", "connect-four:4,3")])
def test_acyclic_games_agree_with_the_sweep(text):
    game = load_game(text)
    back, forth = swept(game, method="retrograde"), swept(game)
    assert (back.cyclic, forth.cyclic) == (True, False)
    assert values(back) == values(forth)
    for name in ("palette", "numbers", "root", "longest"):
        assert getattr(back, name) == getattr(forth, name)
    assert back.tiers[0].states == sum(tier.states for tier in forth.tiers)


# moves to mate, White to move then Black, by number of canonical placements: syzygy-tables.info, stats.json, commit
# 61bb8f6, 2018. Syzygy tables count to the next taking or pawn's move, which against a bare king is mate. The UCI data
# set "Chess (King-Rook vs. King)" has the same numbers of KRK, Black to move
KRK = (
    [189, 587, 484, 238, 607, 1091, 1418, 2149, 2514, 2382, 2565, 2691, 2234, 2027, 662, 121],
    [78, 246, 81, 198, 471, 592, 683, 1433, 1712, 1985, 2854, 3597, 4194, 4553, 2166, 390],
)
KQK = ([306, 629, 1135, 2499, 3273, 4010, 4016, 1877, 335, 1], [169, 372, 936, 1773, 3190, 4997, 6769, 5483, 1417, 8])


def mates(plies):
    """Numbers of positions by moves to mate, from those by plies."""
    return [plies[2 * moves - 1] + plies[2 * moves] for moves in range(1, (max(plies) + 1) // 2 + 1)]


@pytest.mark.parametrize(("ending", "histograms"), [("KRK", KRK), ("KQK", KQK)])
def test_mates_in_the_shipped_books_are_the_published_ones(ending, histograms):
    with Book(shipped.path_of(f"chess-ending:{ending}")) as book:
        for turn, histogram in enumerate(histograms):
            plies = (value.distance for state, value in book.items() if state >> 30 == turn and value.distance)
            assert mates(Counter(plies)) == histogram


def test_placements_of_a_pawn_in_the_shipped_book_are_won_and_lost_as_published():
    """Syzygy-tables.info: 62,480 and 48,802; Kryukov's forum, as below: 3 and 2 of them in 28 moves."""
    with Book(shipped.path_of("chess-ending:KPK")) as book:
        pawn = [(state >> 30, value) for state, value in book.items() if state >> 12 & 7 == 1 and value.score]
    assert Counter(turn for turn, _ in pawn) == {0: 62_480, 1: 48_802}
    assert [pawn.count((0, Value(1, 55))), pawn.count((1, Value(-1, 56)))] == [3, 2]
    assert max(value.distance for _, value in pawn) == 56


@pytest.mark.slow
@pytest.mark.parametrize(  # moves: Shane Hudson's list in Scid, tcl/tb.tcl, 2002
    ("ending", "moves", "longest", "won"),
    [
        ("KPK", 28, (3, 2), None),  # so many: Guido in Kirill Kryukov's forum, Longest Mate in kqk
        # syzygy-tables.info, as above; there two bishops are told apart, and all four figures are twice as many. That
        # forum has 138 of KBNK from Peter Karrer, too, and says that the ICGA's spreadsheet had 144
        ("KBBK", 19, (15, 45), (312_951, 351_755)),
        ("KBNK", 33, (138, 370), (1_352_913, 1_398_741)),
    ],
)
def test_longest_mates_of_four_men(ending, moves, longest, won):
    solved = swept(load_game(f"chess-ending:{ending}"))
    states, indices = map(np.array, columns(solved))
    for turn in (0, 1):
        counts = np.bincount(indices[states >> 30 == turn], minlength=len(solved.palette)).tolist()
        plies = {value.distance: count for value, count in zip(solved.palette, counts, strict=True) if count}
        histogram = mates(Counter({distance: count for distance, count in plies.items() if distance}))
        assert (len(histogram), histogram[-1]) == (moves, longest[turn])
    if won:
        assert (solved.tiers[0].win, solved.tiers[0].loss) == won


@pytest.mark.slow
def test_a_queen_against_a_rook_mates_in_35_moves_at_most():
    assert swept(load_game("chess-duel:KQKR")).longest[0] == 2 * 35 - 1


# mate in so many moves at most, White's man and Black's: Shane Hudson's list in Scid, tcl/tb.tcl, 2002; the longer of
# each two also Peter Österlund's, from Gaviota's tables, in Texel, tbprobe.cpp; the 85 plies of PR also Helmut Conrady,
# Computer Chess Club, 1 June 2000
DUELS = {
    "PP": 33, "PN": 29, "PB": 29, "PR": 43, "PQ": 29, "NP": 7, "RP": 26, "QP": 28, "RN": 40, "RB": 29, "RR": 19,
    "RQ": 19, "QN": 21, "QB": 17, "QR": 35, "QQ": 13,
}  # fmt: skip


@pytest.mark.stress
def test_mates_of_a_piece_each_take_as_long_as_is_published():
    """Pawns of both sides promote to all that there are."""
    solved, longest = swept(load_game("chess-duel:KPKP")), {}
    distances = np.array([value.distance or 0 if value.score > 0 else 0 for value in solved.palette])
    for states, places in solved.parts():
        kinds = 6 * (np.asarray(states) >> 12 & 7) + (np.asarray(states) >> 21 & 7)
        for kind in np.unique(kinds).tolist():
            most = int(distances[np.asarray(places)[kinds == kind]].max())
            longest[kind] = max(longest.get(kind, 0), most)
    found = {" PNBRQ"[kind // 6] + " PNBRQ"[kind % 6]: (plies + 1) // 2 for kind, plies in longest.items()}
    assert {pair: found[pair] for pair in DUELS} == DUELS


@pytest.mark.stress
def test_underpromotions_decide_endings_of_a_pawn_and_a_bishop():
    """With queens and rooks alone, 27 canonical placements would be drawn."""
    game = load_game("chess-ending:KBPK")
    with pipeline.solve(game) as book:
        assert book.counts == {"win": 8_042_921, "draw": 2_567_079, "loss": 9_112_467}
        for fen, value in (
            ("8/6P1/7k/8/6K1/8/8/1B6 w", Value(1, 51)),
            ("8/3P4/KBk5/8/8/8/8/8 w", Value(1, 61)),
            ("8/P7/1kBK4/8/8/8/8/8 w", Value(1, 23)),
            ("8/4P3/1KB5/3k4/8/8/8/8 b", Value(-1, 56)),
            ("8/1P6/kBK5/8/8/8/8/8 w", Value(1, 1)),
        ):
            assert book[game.canonical(game.parse_position(fen))] == value


@pytest.mark.slow
def test_an_ending_is_verified_starts_and_all(tmp_path):
    pipeline.solve(load_game("chess-ending:KRK"), tmp_path / "krk.lmdb")
    assert verification.verify(tmp_path / "krk.lmdb").closed


def test_chunks_of_any_size_agree(monkeypatch):
    pieces = {"parents.CACHED_STATES": 37, "parents.BLOCKS_PER_CALL": 2, "retrograde.PIECE_STATES": 50}
    pieces |= {"retrograde.STATES_PER_PAUSE": 300, "forward.SMALL_GENERATION": 64, "runs.PIECE_STATES": 64}
    pieces |= {"shelves.VALUES_PER_CALL": 1000, "shelves.VALUES_PER_BLOCK": 300}
    if not hasattr(parents.gather, "py_func"):  # compiled kernels hold the constant
        pieces |= {"parents.BLOCK_BITS": 5}
    assert_is_the_same(monkeypatch, load_game("three-mens-morris:1"), pieces, workers=3)


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("pong-hau-ki", 3_000),
        *slow_rows(("mu-torere", 20_000), ("three-mens-morris:1", 100_000), ("three-mens-morris:1", 10**6)),
    ],
)
def test_an_index_beyond_the_memory_is_built_in_ranges(text, memory, monkeypatch):
    """Of moves that are in a file or, where the disk lacks room for them, listed once more."""
    game = load_game(text)
    if not hasattr(parents.gather, "py_func"):
        monkeypatch.setattr(parents, "BLOCK_BITS", 5)
    whole, listed = swept(game, symmetry=False), parents.list_parents
    monkeypatch.setattr(parents, "list_parents", None)
    assert columns(whole) == columns(swept(game, symmetry=False, memory=memory))
    monkeypatch.setattr(parents, "list_parents", listed)
    monkeypatch.setattr(parents.Inside, "fits", lambda self, states: self.room >= 0)
    assert columns(whole) == columns(swept(game, symmetry=False, memory=memory))


@pytest.mark.slow
def test_starts_are_listed_in_parts(monkeypatch):
    assert_is_the_same(monkeypatch, load_game("chess-ending:KRK"), {"forward.PIECE_STATES": 1 << 14}, memory=8 << 20)


def test_what_it_cannot_do_is_refused():
    raises(ResourceError, "states.*GiB of memory.*--memory", swept, load_game("mu-torere"), memory=1000)
