"""Compiled retrograde analysis against the naive twin, the sweep, and published results."""

import pytest

from solver import pipeline, verification
from solver.errors import GameError, MethodError, ResourceError
from solver.game import load_game
from solver.value import Value
from tests import naive
from tests.oracles import ORACLES

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.kernels import retrograde, sweep  # noqa: E402

CYCLIC = [one for one in ORACLES if not hasattr(load_game(one.game), "tier")]
SMALL = [one for one in CYCLIC if (one.states or one.size) < 6_000]


def values(solved):
    """The solution as a dict."""
    pairs = zip(solved.states.tolist(), solved.indices.tolist(), strict=True)
    return {state: solved.palette[place] for state, place in pairs}


@pytest.mark.parametrize("oracle", SMALL, ids=lambda oracle: oracle.game)
def test_every_value_is_the_naive_twins_and_counts_are_the_published_ones(oracle):
    game = load_game(oracle.game)
    truth = naive.solve(game)
    solved = retrograde.solve(game, symmetry=False)
    assert values(solved) == {state: value for state, value in truth.items() if not game.is_terminal(state)}
    (tier,) = solved.tiers
    assert (tier.states, tier.terminal) == (len(truth), sum(map(game.is_terminal, truth)))
    signs = [(value.score > 0) - (value.score < 0) for value in truth.values()]
    assert (tier.win, tier.draw, tier.loss) == (signs.count(1), signs.count(0), signs.count(-1))
    assert truth[game.initial()] == Value(*oracle.root)
    assert oracle.states in (None, tier.states)
    assert oracle.counts in (None, (tier.win, tier.draw, tier.loss))


@pytest.mark.slow
@pytest.mark.parametrize("oracle", CYCLIC, ids=lambda oracle: oracle.game)
def test_folded_values_of_the_start_are_the_published_ones(oracle):
    game = load_game(oracle.game)
    summary = pipeline.solve(game)
    assert (summary.header.method, summary.header.root) == ("retrograde", Value(*oracle.root))
    assert summary.note is None


@pytest.mark.parametrize("text", ["tic-tac-toe", "connect-four:4,3"])
def test_acyclic_games_agree_with_the_sweep(text):
    game = load_game(text)
    back, swept = retrograde.solve(game), sweep.solve(game)
    assert values(back) == values(swept)
    assert back.examples == swept.examples
    assert back.tiers[0].states == sum(tier.states for tier in swept.tiers)


def test_workers_and_the_plain_algorithm_give_the_same_bytes(tmp_path, monkeypatch):
    from solver import extras

    game = load_game("mu-torere")
    for workers in (1, 3):
        pipeline.solve(game, tmp_path / f"{workers}.lmdb", workers=workers)
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    pipeline.solve(game, tmp_path / "plain.lmdb")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
    assert verification.verify(tmp_path / "1.lmdb").closed


def test_chunks_of_any_size_agree(monkeypatch):
    game = load_game("three-mens-morris:1")
    whole = retrograde.solve(game)
    monkeypatch.setattr(retrograde, "CHUNK", 37)
    cut = retrograde.solve(game, workers=3)
    assert np.array_equal(whole.states, cut.states)
    assert np.array_equal(whole.indices, cut.indices)


def test_what_it_cannot_do_is_refused():
    with pytest.raises(MethodError, match="minimax"):
        retrograde.solve(load_game("kalah:2,2"))
    with pytest.raises(ResourceError, match="--memory"):
        retrograde.solve(load_game("mu-torere"), memory=1000)


RING = """
from typing import NamedTuple

class Ring(NamedTuple):
    size: int = 20

    def initial(self):
        return 1

    def actions(self, state):
        for step in range({steps}):
            yield step + 1

    def result(self, state, action):
        return {result}

    def is_terminal(self, state):
        return state == 0

    def utility(self, state):
        return {utility}
"""
GOOD = {"steps": "2", "result": "(state + action) % self.size", "utility": "-1"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": "2 * (state != 7)"}, "state 7 has no actions"),
        ({"result": "(state + action) % self.size - 50 * (state == 9)"}, "state 9 has a child outside"),
        ({"utility": "5"}, "utility other than"),
    ],
)
def test_bad_rules_are_named_with_the_state(tmp_path, change, message):
    path = tmp_path / f"ring{len(message)}.py"
    path.write_text(RING.format(**{**GOOD, **change}))
    with pytest.raises(GameError, match=message):
        retrograde.solve(load_game(f"{path}::Ring"))
