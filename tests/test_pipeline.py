"""The pipeline: the same book by every way of solving, and no trace of a solve that failed."""

import pytest

from solver import extras, pipeline
from solver.book import Book
from solver.errors import BookError, GameError, MethodError, ResourceError
from solver.game import load_game
from solver.value import Value
from solver.verification import verify
from tests import naive
from tests.games import SMALL_GAMES

KERNELS = extras.has_kernels()
compiled = pytest.mark.skipif(not KERNELS, reason="the extra [solve] is not installed")


def plainly(monkeypatch):
    monkeypatch.setattr(extras, "has_kernels", lambda: False)


def by_kernels(monkeypatch):
    monkeypatch.setattr(pipeline, "SMALL", 0)


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("text", SMALL_GAMES)
def test_a_book_holds_the_truth(tmp_path, monkeypatch, text, symmetry):
    plainly(monkeypatch)
    game = load_game(text)
    truth = naive.solve(game, symmetry=symmetry)
    summary = pipeline.solve(game, tmp_path / "book.lmdb", symmetry=symmetry)
    header = summary.header
    with Book(tmp_path / "book.lmdb") as book:
        assert dict(book.items()) == {state: value for state, value in truth.items() if not game.is_terminal(state)}
        assert book.header == header
    assert header.states == len(truth)
    assert header.terminal == sum(game.is_terminal(state) for state in truth)
    assert header.counts["win"] == sum(value.score > 0 for value in truth.values())
    assert header.counts["draw"] == sum(value.score == 0 for value in truth.values())
    wins = [value.distance for value in truth.values() if value.score > 0 and value.distance]
    if header.longest is not None:
        distance, state = header.longest
        assert distance == max(wins)
        assert truth[state] == Value(1, distance)


@compiled
@pytest.mark.parametrize(("text", "method"), [("tic-tac-toe", "retrograde"), ("three-mens-morris:1", "auto")])
def test_plain_and_compiled_retrograde_books_are_the_same_bytes(tmp_path, monkeypatch, text, method):
    by_kernels(monkeypatch)
    header = pipeline.solve(load_game(text), tmp_path / "fast.lmdb", method=method).header
    assert (header.method, header.tiers is None) == ("retrograde", method == "retrograde")
    plainly(monkeypatch)
    pipeline.solve(load_game(text), tmp_path / "plain.lmdb", method=method)
    assert (tmp_path / "plain.lmdb").read_bytes() == (tmp_path / "fast.lmdb").read_bytes()


@pytest.mark.parametrize("kernels", [False, pytest.param(True, marks=compiled)])
def test_retrograde_analysis_refuses_scores(monkeypatch, kernels):
    if not kernels:
        plainly(monkeypatch)
    with pytest.raises(MethodError, match="minimax"):
        pipeline.solve(load_game("kalah:2,2"), method="retrograde")


@compiled
@pytest.mark.parametrize("text", ["tic-tac-toe", "kalah:2,3", "dots-and-boxes:2,2"])
def test_plain_and_compiled_books_are_the_same_bytes(tmp_path, monkeypatch, text):
    game = load_game(text)
    pipeline.solve(game, tmp_path / "small.lmdb")
    by_kernels(monkeypatch)
    fast, note = tmp_path / "fast.lmdb", pipeline.solve(game, tmp_path / "fast.lmdb").note
    assert note is None
    assert (tmp_path / "small.lmdb").read_bytes() == fast.read_bytes()
    for workers in (1, 3):
        pipeline.solve(game, tmp_path / "again.lmdb", workers=workers)
        assert (tmp_path / "again.lmdb").read_bytes() == fast.read_bytes()
    plainly(monkeypatch)
    summary = pipeline.solve(game, tmp_path / "plain.lmdb")
    assert "pip install 'solverbook[solve]'" in summary.note
    assert (tmp_path / "plain.lmdb").read_bytes() == fast.read_bytes()


def test_games_with_cycles_are_solved_by_retrograde_analysis():
    summary = pipeline.solve(load_game("mu-torere"))
    assert (summary.header.method, summary.header.root) == ("retrograde", Value(0))
    with pytest.raises(MethodError, match="retrograde"):
        pipeline.solve(load_game("mu-torere"), method="minimax")


def test_alphabeta_keeps_exact_entries_only(tmp_path):
    game = load_game("connect-four:4,3")
    truth = naive.solve(game, symmetry=True)
    summary = pipeline.solve(game, tmp_path / "book.lmdb", method="alphabeta")
    assert summary.header.scope == "exact"
    assert summary.header.states is None
    with Book(tmp_path / "book.lmdb") as book:
        assert 0 < len(book) < len(truth) / 2
        assert all(truth[state] == value for state, value in book.items())


SAME_TIER = """
from typing import NamedTuple

class Ring(NamedTuple):
    size: int = 9

    def initial(self):
        return 1

    def actions(self, state):
        yield 1
        yield 2

    def result(self, state, action):
        return (state + action) % self.size

    def is_terminal(self, state):
        return state == 0

    def utility(self, state):
        return -1

    def tier(self, state):
        return {tier}
"""


@compiled
def test_moves_inside_a_tier_turn_to_retrograde_analysis(tmp_path, monkeypatch):
    by_kernels(monkeypatch)
    (tmp_path / "ring.py").write_text(SAME_TIER.format(tier="0"))
    game = load_game(f"{tmp_path / 'ring.py'}::Ring")
    summary = pipeline.solve(game, tmp_path / "ring.lmdb")
    assert summary.header.method == "retrograde"
    assert summary.note is None
    truth = naive.solve(game)
    assert summary.header.root == truth[1]
    with pytest.raises(MethodError, match="stays in its tier"):
        pipeline.solve(game, method="minimax")


STARTS = """
    def starts(self):
        yield 5
        yield 3
"""


@pytest.mark.parametrize("kernels", [False, pytest.param(True, marks=compiled)])
def test_the_start_is_solved_though_starts_does_not_name_it(tmp_path, monkeypatch, kernels):
    if kernels:
        by_kernels(monkeypatch)
    text = SAME_TIER.replace("(state + action) % self.size", "state + action").replace("state == 0", "state >= 9")
    (tmp_path / "several.py").write_text(text.format(tier="state") + STARTS)
    game = load_game(f"{tmp_path / 'several.py'}::Ring")
    header = pipeline.solve(game, tmp_path / "book.lmdb").header
    assert (header.root, header.stored) == (naive.solve(game)[1], 8)
    assert verify(tmp_path / "book.lmdb", game).states == 8


@compiled
def test_rules_that_numba_cannot_compile_are_solved_plainly(tmp_path, monkeypatch):
    by_kernels(monkeypatch)
    sum_ = "__import__('operator').add(state, action)"
    text = SAME_TIER.format(tier="state").replace("(state + action) % self.size", sum_)
    (tmp_path / "dynamic.py").write_text(text.replace("state == 0", "state >= self.size"))
    summary = pipeline.solve(load_game(f"{tmp_path / 'dynamic.py'}::Ring"), tmp_path / "ring.lmdb")
    assert (summary.header.method, summary.header.stored) == ("minimax", 8)
    assert "cannot be compiled" in summary.note


def test_bad_rules_of_a_user_are_refused_before_solving(tmp_path):
    (tmp_path / "bad.py").write_text(SAME_TIER.format(tier="9 - state").replace("% self.size", "% self.size - 1"))
    with pytest.raises(GameError, match="state"):
        pipeline.solve(load_game(f"{tmp_path / 'bad.py'}::Ring"), tmp_path / "bad.lmdb")
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".lmdb"] == []


@pytest.mark.parametrize(
    ("options", "error"),
    [({"method": "magic"}, MethodError), ({"method": "minimax", "memory": 1000}, ResourceError)],
)
def test_a_refused_solve_leaves_nothing_behind(tmp_path, options, error):
    if error is ResourceError and not KERNELS:
        return
    with pytest.raises(error):
        pipeline.solve(load_game("tic-tac-toe"), tmp_path / "book.lmdb", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_cannot_be_written_is_refused_before_solving(tmp_path):
    (tmp_path / "folder.lmdb").mkdir()
    for target in (tmp_path / "missing" / "book.lmdb", tmp_path / "folder.lmdb"):
        with pytest.raises((BookError, ResourceError)):
            pipeline.solve(load_game("connect-four"), target)  # would take hours


def test_boards_too_large_are_refused_at_once():
    for text in ("connect-four:20,20", "connect-four:0,4", "tic-tac-toe:1000,1000", "nim:" + ",".join(["9999"] * 7)):
        with pytest.raises(GameError):
            load_game(text)


@pytest.mark.parametrize("kernels", [False, pytest.param(True, marks=compiled)])
def test_rules_that_fail_where_no_random_game_went_are_named_with_the_state(tmp_path, monkeypatch, kernels):
    if kernels:
        by_kernels(monkeypatch)
    monkeypatch.setattr(pipeline, "check_game", lambda game: [])
    text = SAME_TIER.replace("(state + action) % self.size", "state + action + 0 // (7 - state)")
    (tmp_path / "failing.py").write_text(text.replace("state == 0", "state >= 9").format(tier="state"))
    with pytest.raises(GameError, match=r"state 7.*fails: ZeroDivisionError"):
        pipeline.solve(load_game(f"{tmp_path / 'failing.py'}::Ring"), tmp_path / "book.lmdb")
    assert [path.name for path in tmp_path.glob("book*")] == []
