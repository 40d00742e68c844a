"""Learning: what is sampled, fitted and evolved, who plays whom, and what a match tells."""

import json
import math
from collections import Counter

import numpy as np
import pytest

from solver import load_game, trim
from solver.base import extras
from solver.base.errors import ForeignBook, MethodError
from solver.book import Book, Trim
from solver.compiled.lookahead.evaluation import read, write
from solver.learning import moves, training
from solver.learning.evolution import evolve
from solver.learning.matches import Z, elo, interval, judged, match, standing
from solver.learning.moves import Board
from solver.learning.players import ByBook, Greedy, Random, Setting, chooser, contender
from solver.learning.training import figures, learn, truth_of
from solver.play.grading import grade
from solver.play.player import Player
from solver.play.practical import LEVELS
from solver.rules.game import Rules
from solver.solving import pipeline
from tests.commands import ok
from tests.refusals import fails, raises
from tests.ways import slow


def test_a_standing_by_hand():
    """Four pairs: 2, 1½, 1 and 0 points of 2."""
    found = standing([(1, 1), (1, 0), (1, -1), (-1, -1)])
    assert (found.wins, found.draws, found.losses, found.pairs) == (4, 1, 3, (1, 0, 1, 1, 1))
    assert found.share == (4 + 0.5) / 8 == 0.5625
    variance = ((1 - 0.5625) ** 2 + (0.75 - 0.5625) ** 2 + (0.5 - 0.5625) ** 2 + 0.5625**2) / 4
    assert variance == 0.13671875
    trials = 4 * 0.5625 * 0.4375 / variance
    assert trials == pytest.approx(7.2)
    middle, half = 0.5625 + Z**2 / 14.4, Z * math.sqrt(0.5625 * 0.4375 / 7.2 + Z**2 / (4 * 7.2**2))
    assert found.low == pytest.approx((middle - half) / (1 + Z**2 / 7.2))
    assert found.high == pytest.approx((middle + half) / (1 + Z**2 / 7.2))
    assert found.elo == pytest.approx(400 * math.log10(0.5625 / 0.4375))
    assert found.margin is None


def test_the_interval_is_wilsons_where_nothing_is_drawn():
    """81 of 263: Wilson's interval is 0.2553 to 0.3662 (Newcombe, Statistics in Medicine 17, 1998, table I)."""
    low, high = interval(81 / 263, 81 / 263 * (1 - 81 / 263), 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    games, pairs = interval(0.7, 0.21, 400), interval(0.7, 0.105, 200)
    assert games == pytest.approx(pairs)  # pairs of independent games without draws tell as much as the games
    assert interval(1.0, 0.0, 29) == pytest.approx((0.8830, 1.0), abs=5e-5)  # the same table, 29 of 29


def test_elo_differences():
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(0.64) == pytest.approx(-elo(0.36)) == pytest.approx(99.96, abs=0.01)
    assert elo(0.0) is None and elo(1.0) is None
    whole = standing([(1, 1)] * 10)
    assert whole.elo is None and whole.elo_high is None and whole.elo_low > 0


def test_margins_of_a_score_game():
    found = standing([(5, -2), (0, 3)], score_game=True)
    assert (found.wins, found.draws, found.losses, found.margin) == (2, 1, 1, 1.5)


def state_after(rules, actions):
    state = rules.game.initial()
    for action in actions:
        assert action in rules.actions(state)
        state = rules.result(state, action)
    return state


MORE = slow("tic-tac-toe", "hexapawn:4,4", "kalah:3,2", "dots-and-boxes:2,1")


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ["connect-four:3,3,3", *slow("connect-four:4,3"), *MORE])
def test_two_perfect_players_get_what_the_opening_is_worth(name, tmp_path):
    """Wins, margins, who moves again, and what moves score: the score of a game is the value of where it began."""
    rules = Rules(load_game(name))
    with pipeline.solve(rules.game, tmp_path / "a.lmdb") as book:
        opened, board = moves.openings(rules, 8, plies=2), Board(rules)
        starts = np.array([opening.state for opening in opened])
        players = [ByBook(board, book), ByBook(board, book)]
        lines = [opening.actions for opening in opened]
        played = moves.play(board, starts, np.tile([[0, 1]], (len(opened), 1)), players, lines=lines)
        for opening, score, actions in zip(opened, played.scores.tolist(), played.actions, strict=True):
            value = book[rules.canonical(opening.state)].score
            assert np.sign(score) == np.sign(value) and (score == value or not rules.scores)
            assert rules.is_terminal(state_after(rules, actions))


@pytest.mark.interpreted
@pytest.mark.parametrize("plies", [1, 2])
def test_a_trimmed_book_plays_perfectly(plies, tmp_path):
    trim("tic-tac-toe", tmp_path / "trimmed.lmdb", Trim(plies=plies))
    player = contender(str(tmp_path / "trimmed.lmdb"))
    setting = Setting(Rules(load_game("tic-tac-toe")))
    played = match(setting.rules, chooser(player, setting), Random(0), games=10, plies=0)
    tally = judged(setting.rules, played, Book("tic-tac-toe"))[0]
    assert tally.moves == tally.perfect > 0


def test_openings_are_distinct_and_the_seeds_and_few_where_a_game_has_no_more():
    rules = Rules(load_game("connect-four:5,5"))
    found = moves.openings(rules, 60, seed=3)
    assert found == moves.openings(rules, 60, seed=3) != moves.openings(rules, 60, seed=4)
    assert len({rules.canonical(opening.state) for opening in found}) == 60
    for opening in found:
        assert state_after(rules, opening.actions) == opening.state and not rules.is_terminal(opening.state)
    rules = Rules(load_game("tic-tac-toe"))
    assert len(moves.openings(rules, 1000, plies=2)) == 12  # distinct up to symmetry: 3 + 2 + ... (5 + 5 + 2)
    raises(MethodError, "over within 9 plies", moves.openings, rules, 10, plies=9)


@pytest.mark.interpreted
def test_games_in_circles_are_drawn(monkeypatch):
    monkeypatch.setattr(moves, "MOST_PLIES", 6)
    rules = Rules(load_game("mu-torere"))
    played = match(rules, Random(0), Random(1), games=20)
    assert sum((played.standing.wins, played.standing.draws, played.standing.losses)) == len(played.games)
    assert played.standing.draws > 0


@pytest.mark.interpreted
def test_a_match_is_the_same_again_and_its_games_can_be_graded():
    book = Book("tic-tac-toe")
    rules = Rules(book.game)
    board = Board(rules)
    first, again = (match(rules, Random(1), Greedy(board, board.guesses), games=30, plies=1) for _ in range(2))
    assert first == again
    one, other = judged(rules, first, book)
    whole = grade(Player(book, live=False), first.games).total
    assert one.moves + other.moves == whole.moves - len(first.games)  # but for the openings' moves
    perfect = judged(rules, match(rules, ByBook(board, book), Random(2), games=30, plies=2), book)
    assert perfect[0].kept == perfect[0].moves == perfect[0].perfect > perfect[1].kept


def test_samples_are_spread_over_plies_and_values():
    book = Book("connect-four:4,3")
    rules, board = book.rules, Board(Rules(book.game), symmetry=True)
    sample, again, other = (training.from_book(book, board, 2000, seed=seed) for seed in (1, 1, 2))
    states = sample.states.tolist()
    assert len({*states}) == len(states) == 2000 and states == again.states.tolist() != other.states.tolist()
    assert [book[state].score for state in states] == sample.scores.tolist()
    counts = Counter((rules.tier(state), book[state].score) for state in states)
    there, share = Counter((rules.tier(state), value.score) for state, value in book.items()), max(counts.values())
    assert all(counts[place] in (number, share, share - 1) for place, number in there.items())
    found = training.by_play(board, 500, seed=1).tolist()  # random play
    assert len({*found}) == len(found) == 500 and not any(map(rules.is_terminal, found))
    assert [*map(rules.canonical, found)] == found


@pytest.mark.parametrize("hidden", [(), *slow((8,))])
def test_learning_from_a_book_beats_the_rules_own_evaluate(hidden, tmp_path):
    book = Book("connect-four:4,3")
    found = learn(book, hidden=hidden, states=1000)
    assert found.shape() == [found.features, *hidden, 1]
    assert found.figures["sign"] > max(0.85, found.figures["evaluate_sign"])
    assert found.figures["best_moves"] > found.figures["evaluate_best_moves"]
    for name in ("a", "b"):
        write(tmp_path / f"{name}.eval", learn(book, hidden=hidden, states=200))
    assert (tmp_path / "a.eval").read_bytes() == (tmp_path / "b.eval").read_bytes()


@pytest.mark.interpreted
def test_figures_of_a_perfect_guess_are_perfect():
    book = Book("tic-tac-toe")
    board = Board(Rules(book.game), symmetry=True)
    sample, truth = training.from_book(book, board, 300), truth_of(book)
    perfect = figures(board, lambda states: truth(states)[0] * 0.9, sample, truth)
    assert perfect == {"sign": 1.0, "correlation": pytest.approx(1.0), "best_moves": 1.0}
    wrong = figures(board, lambda states: truth(states)[0] * -0.9, sample, truth)
    assert wrong["sign"] == 0 and wrong["correlation"] == pytest.approx(-1) and wrong["best_moves"] < 0.5
    blind = figures(board, lambda states: np.zeros(len(states)), sample, truth)
    assert blind["sign"] == 0.5 and blind["correlation"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "least"),
    [
        ("tic-tac-toe", {"states": 200, "depth": 3}, {"sign": 0.7}),
        ("kalah:3", {"states": 2000}, {"correlation": 0.5}),
        ("achi", {"states": 2000, "hidden": (16,)}, {"sign": 0.6}),
    ],
    ids=["searches", "margins", "bits"],
)
def test_searches_margins_and_bits_of_states_are_learned(name, options, least):
    found = learn(load_game(name) if "depth" in options else Book(name), **options)
    assert all(found.figures[figure] > value for figure, value in least.items())
    assert ("depth" in options) == (found.training["source"] == "searches of depth 3")
    if name == "kalah:3":
        assert found.scale > 1 and found.figures["correlation"] > found.figures["evaluate_correlation"]


@pytest.mark.slow
def test_evolution_beats_its_beginnings_and_is_the_same_again():
    game = load_game("tic-tac-toe:4,4,3")
    found, again = (evolve(game, generations=10, seed=1) for _ in range(2))
    assert found.figures["first_generation"] > 0.55
    assert found.figures == again.figures and np.array_equal(found.layers[0][0], again.layers[0][0])


@pytest.mark.interpreted
def test_learn_and_match_from_the_command_line(tmp_path):
    path, games = tmp_path / "a.eval", tmp_path / "games.txt"
    learning = ("learn", "connect-four:4,3", "-o", path, "--states", 300, "-q")
    out = ok(*learning)
    assert "sign" in out and "evaluate" in out
    facts = json.loads(ok(*learning, "--json"))
    assert facts["features"] == read(path).features and facts["training"]["states"] == 300
    words = ("match", path, "evaluate@1", "--games", 6, "--book", "connect-four:4,3")
    found = json.loads(ok(*words, "--json", "-q", "--save", games))
    assert found["games"] == 6 == found["wins"] + found["draws"] + found["losses"]
    assert found["low"] <= found["share"] <= found["high"]
    assert all(0 < graded["share_kept"] <= 1 for graded in found["grades"])
    assert len(games.read_text("utf-8").splitlines()) == 6
    ok("grade", "connect-four:4,3", games, "-q")
    assert "Elo" in ok("match", path, "random", "--games", 6, "-q")


def test_a_missing_extra_names_the_remedy(monkeypatch):
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda name: None)
    fails(2, "solverbook[learn]", "learn", "tic-tac-toe", "-o", "x.eval")


@pytest.mark.interpreted
def test_players_and_judges_of_another_game_are_refused():
    book, rules = Book("connect-four:4,4"), Rules(load_game("tic-tac-toe"))
    refusal = r"made by rules \w{8} \(connect-four:4,4\), these are \w{8} \(tic-tac-toe\)"
    raises(ForeignBook, refusal, ByBook, Board(rules), book)
    raises(ForeignBook, refusal, judged, rules, match(rules, Random(0), Random(1), games=4, plies=1), book)


def elo_of(*words):
    return json.loads(ok("match", *words, "--games", "60", "-q", "--json"))


def test_each_level_beats_the_one_below_and_the_same_seed_plays_the_same():
    names = [f"connect-four:4,4@{name}" for name in LEVELS]
    for weak, strong in zip(names[:3], names[1:4], strict=True):
        assert elo_of(strong, weak)["low"] > 0.5, (strong, weak)
    words = ("connect-four:4,3@easy", "connect-four:4,3@beginner")
    assert elo_of(*words) == elo_of(*words) != elo_of(*words, "--seed", "1")
