"""Estimates: they end, they do not fail, and a solve never depends on them."""

import itertools
import types

import pytest

from solver.base.errors import MethodError
from solver.base.options import Options
from solver.estimate import estimation
from solver.report import estimates
from solver.report.facts import facts_of
from solver.rules.game import Rules, load_game
from solver.solving import pipeline
from solver.solving.ways import plain
from tests import naive
from tests.games import SMALL_GAMES
from tests.ways import slow

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.base.parallel import Workers  # noqa: E402
from solver.compiled.edges import CompiledMoves  # noqa: E402
from solver.store import runs  # noqa: E402
from solver.store.work import Work  # noqa: E402
from solver.sweep import exhaustive, expansion, projection  # noqa: E402
from solver.sweep.forward import Forward  # noqa: E402
from tests.interpreted import interpret  # noqa: E402


@pytest.fixture
def small(monkeypatch):
    """Pieces and samples in which small games are large."""
    interpret(monkeypatch)
    for module, name, size in ((expansion, "CHUNK", 20), (runs, "PIECE", 40), (projection, "SAMPLE", 64)):
        monkeypatch.setattr(module, name, size)


class Steps(Workers):
    """Workers whose pass forward is stopped after each piece."""

    def forward(self, game, work, symmetry):
        options = {"cycles": True, "limit": 1 << 20, "most": 1 << 30}
        one = Forward(CompiledMoves(Rules(game, symmetry)), work, progress=lambda *step: None, **options)
        while not one.run(self, 0.0):
            yield one
        yield one


SOME = ("tic-tac-toe:3,2,2", "kalah:2,3", "mu-torere")


@pytest.mark.parametrize(
    "text", [*SOME, *(pytest.param(text, marks=pytest.mark.slow) for text in SMALL_GAMES if text not in SOME)]
)
def test_an_estimate_ends_wherever_counting_is_stopped(small, text):
    """In tiers whose moves stay inside, too; and counting goes on from there to the same states."""
    game = load_game(text)
    with Work() as work, Steps(1) as team:
        for number, one in enumerate(team.forward(game, work, symmetry=False)):
            if number % 7 == 0 and not one.closing:
                estimate = projection.estimated(one, 0.1)
                assert all(type(size) is int and 0 <= size <= 1 << 63 for size in estimate.sizes)
        assert sum(layer.reached for layer in one.layers) == len(naive.enumerate_states(game))


def test_a_tier_with_cycles_that_was_not_reached_is_met_in_samples(small):
    with Work() as work, Steps(1) as team:
        for one in team.forward(load_game("three-mens-morris:1"), work, symmetry=True):
            if len(one.layers) == 3:
                break
        estimate = projection.estimated(one, 5.0)
    assert (len(estimate.sizes), estimate.cyclic, estimate.whole) == (7, True, True)


@pytest.mark.parametrize("text", ["kalah:2,3", *slow("three-mens-morris:1")])
def test_a_failing_estimate_ends_no_solve(tmp_path, monkeypatch, small, text):
    monkeypatch.setattr(plain, "SMALL", 0)
    expected = pipeline.run(load_game(text), None, Options())

    def fail(*arguments):
        raise OverflowError("cannot convert float infinity to integer")

    monkeypatch.setattr(exhaustive, "TRIAL", 0.0)
    monkeypatch.setattr(projection, "estimated", fail)
    assert pipeline.solve(load_game(text), tmp_path / "book.lmdb").counts == expected.counts


def test_sizes_that_explode_stay_numbers():
    assert projection.continued([1, 10**2, 10**5, 10**10, 10**17])[-1] <= 1 << 63
    assert estimation.grown([1, 10**5], 1000)[-1] == 1 << 63
    assert estimation.grown([1, 4, 16, 0], 6) == [1, 4, 16, 0, 0, 0, 0]


def test_a_census_is_not_compiled_for_what_it_cannot_take(tmp_path):
    (tmp_path / "tree.json").write_text("[[3, 12, 8], [2, 4, 6]]")
    tree = load_game(f"tree:{tmp_path / 'tree.json'}")
    for estimate in (estimation.of_sweep, lambda game: estimation.of_opening(game, 1)):
        with pytest.raises(MethodError, match="runs in plain Python only"):
            estimate(tree)


def test_an_estimate_without_time_says_what_it_left_out(small):
    with Work() as work, Steps(1) as team:
        one = next(team.forward(load_game("connect-four:4,4"), work, symmetry=True))
        assert not projection.estimated(one, 0.0).whole
    text = estimates.sweep(facts_of(estimation.Sweep(5, False, False, False, 2, 1.0, 1, 1, 1, False)))
    assert "more than 5 states" in text


def test_counting_takes_the_workers_it_is_given(monkeypatch, small):
    counts = []

    class Counted(Workers):
        def __init__(self, count):
            counts.append(count)
            super().__init__(count)

    monkeypatch.setattr(projection, "Workers", Counted)
    assert estimation.of_sweep(load_game("tic-tac-toe:3,2,2"), workers=3, seconds=60.0).counted
    assert counts == [3]


def test_an_opening_of_more_plies_than_there_is_time_for(monkeypatch):
    from solver.compiled.exact import searcher

    class Idle:
        def __init__(self, game, symmetry):
            pass

        def warm(self):
            pass

        def value(self, state, seconds):
            assert 0 < seconds <= 0.2

    monkeypatch.setattr(searcher, "Searcher", Idle)
    ticks = itertools.count()
    clock = types.SimpleNamespace(monotonic=lambda: next(ticks) / 100)  # 10 ms pass whenever it is looked at
    monkeypatch.setattr(estimation, "time", clock)
    estimate = estimation.of_opening(load_game("connect-four"), 25, seconds=0.2)
    assert (len(estimate.plies), estimate.counted, estimate.plies[:3]) == (26, False, [1, 4, 25])
    assert estimate.sample > 0 and "for want of time" in estimates.opening(facts_of(estimate))


def test_plies_stop_when_there_are_enough():
    from solver.solving.ways import opening

    game = load_game("connect-four")
    asked = []

    def enough(count):
        asked.append(count)
        return count > 100

    assert [len(layer) for layer in opening.plies(Rules(game), 30, enough)] == [1, 4, 25, 121]
    assert asked == sorted(asked) and asked[-1] > 100
