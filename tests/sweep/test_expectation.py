"""Games of chance solved: the sweep, its plain twin, and the judge, which solves them anew by the twin; their books."""

import random
from fractions import Fraction

import pytest

from solver.base.errors import GameError, MethodError, ResourceError
from solver.base.expectations import UNIT, Steps, number_of
from solver.base.options import Options
from solver.base.value import Value
from solver.rules.game import load_game
from solver.search import alphabeta, nets, value_iteration
from solver.solving import pipeline
from solver.solving.ways import plain
from solver.sweep import exhaustive
from tests import chance as judge
from tests.games import CHANCE_GAMES
from tests.oracles import CHANCE_ORACLES
from tests.refusals import raises
from tests.solutions import columns, stops_until_solved, swept
from tests.ways import compiled, quickly, slow, slowly, what_is_marked_by_kernels
from tests.written import ruled

__all__ = ["what_is_marked_by_kernels"]  # a fixture


@pytest.mark.parametrize("text", slowly(CHANCE_GAMES, "pig:15", "piglet:10", "einstein:3,2"))
def test_plain_values_are_the_judges(text):
    game = load_game(text)
    found, truth = value_iteration.solve(game, symmetry=False), judge.solve(game)
    assert found.table.keys() == truth.keys()
    for state, value in truth.items():
        stored = Steps(found.units.kind.step)[number_of(found.table[state])]
        assert abs(stored.score - value) <= found.units.kind.error + 1e-15, state


@compiled
@pytest.mark.interpreted
@pytest.mark.parametrize(
    "text", ["piglet:3", *slow("backgammon-bearoff:2,4", "pig:7,4", "nannon:3,2,3", "einstein:3,2")]
)
def test_plain_and_compiled_books_are_the_same_bytes(tmp_path, monkeypatch, text):
    game, fast, other = load_game(text), tmp_path / "fast.lmdb", tmp_path / "other.lmdb"
    pipeline.solve(game, fast).close()
    for options in ({"workers": 1}, {"workers": 3}, {"memory": 1 << 30}):
        pipeline.solve(game, other, **options).close()
        assert other.read_bytes() == fast.read_bytes(), options
    for name in ("PLAIN_LIMIT", "LITTLE"):
        monkeypatch.setattr(plain, name, 20_000)
    pipeline.solve(game, other).close()
    assert other.read_bytes() == fast.read_bytes()


@compiled
@pytest.mark.interpreted
@pytest.mark.parametrize(
    "text", ["piglet:3", *slow("piglet:10", "backgammon-bearoff:2,4", "pig:15", "backgammon-bearoff:3,2,true")]
)
def test_pieces_of_any_size_and_little_memory_agree(monkeypatch, text):
    from solver.sweep import backward, exhaustive, expansion

    game = load_game(text)
    whole = swept(game)
    for module, name, size in (
        (expansion, "STATES_PER_CALL", 50),
        (backward, "STATES_PER_CALL", 64),
        (exhaustive, "PART", 500),
    ):
        monkeypatch.setattr(module, name, size)
    pieces = swept(game, memory=1 << 15)  # tiers are evaluated by ranges of keys
    assert columns(pieces) == columns(whole)
    assert pieces.kind == whole.kind


@compiled
@pytest.mark.interpreted
def test_a_solve_that_was_stopped_goes_on_to_the_same_book(tmp_path):
    assert stops_until_solved("pig:6", tmp_path, step=50) > 2


@pytest.mark.parametrize(
    "oracle",
    quickly(CHANCE_ORACLES, [one for one in CHANCE_ORACLES if one.states and one.states < 500]),
    ids=lambda oracle: oracle.game,
)
def test_books_have_the_published_chances(oracle):
    with pipeline.solve(oracle.game) as book:
        assert abs((1 + book.root.score) / 2 - oracle.chance) < 1e-9
        assert book.expectation.error < 1e-9


# Who holds hands the turn over for nothing; who throws wins or loses by a fair coin. Nobody need throw
Endless = ruled(
    "Endless",
    fields="bias: int = 1",
    actions="if state < 2:\n    yield 0\n    yield 1",
    result="state + 2 if action else 1 - state",
    chance="if 2 <= state < 4:\n    yield 1, 4 + (state & 1)\n    yield self.bias, 5 - (state & 1)",
    to_move="state & 1",
    is_terminal="state >= 4",
    utility="1",
)
# Three throws, whose eyes the thrower may keep or give away: margins, some of them at once
Bids = ruled(
    "Bids",
    fields="score_game = True\nsides: int = 3",
    to_move="state // 4 % 2",
    is_terminal="state % 4 == 3 and state < 8",
    utility="0",
    chance="if state < 8 and state % 4 < 3:\n"
    "    for eyes in range(1, self.sides + 1):\n        yield eyes, state + 8 * eyes",
    actions="if state >= 8:\n    yield 0\n    yield 1",
    result="(state % 4 + 1) + 4 * (1 - self.to_move(state))",
    reward="state // 8 if action == 0 else -100 * (state // 8)",
    tier="2 * (state % 4) + (state >= 8)",
)
# Two throws in a row of 1 in `sides` win, 2**28 throws on average; `both`: whoever throws them
Seldom = ruled(
    "Seldom",
    fields="sides: int = 1 << 14\nboth: bool = False",
    actions="yield from ()",
    result="state",
    to_move="state >> 2 if self.both else 0",
    is_terminal="state & 3 == 2",
    utility="1",
    chance="yield 1, state + 1\nyield self.sides - 1, ((state >> 2) + self.both & 1) << 2",
)


both_ways = pytest.mark.parametrize(
    "solve", [value_iteration.solve, pytest.param(swept, marks=[compiled, pytest.mark.interpreted])]
)


@both_ways
def test_play_that_need_not_end_is_refused(solve):
    raises(MethodError, "need not end", solve, Endless(5))  # nobody wants to throw
    found = solve(Endless(1))  # whoever throws, it is worth nothing
    assert (found.root if solve is swept else found.value) == Value(0.0)


def test_margins_that_moves_score_are_expected():
    found = value_iteration.solve(Bids())
    assert found.units.kind.of == "margin"
    truth = judge.solve(Bids())
    assert alphabeta.expectiminimax(Bids()).table == truth
    for state, value in truth.items():
        assert abs(found.table[state] / found.units.point - value) < 1e-9
    assert found.value.score == pytest.approx(7 / 3)  # two throws of the first, one of the second, of 7/3 each


@compiled
@pytest.mark.interpreted
def test_the_sweep_finds_the_same_margins():
    solved, plain = swept(Bids()), value_iteration.solve(Bids())
    assert solved.kind == plain.units.kind
    truth = {state: number_of(value) for state, value in plain.table.items() if not Bids().is_terminal(state)}
    assert dict(zip(*columns(solved), strict=True)) == truth


@both_ways
@pytest.mark.parametrize("weight", [1 << 14, 0, -1])
def test_weights_beyond_bounds_are_named_with_the_remedy(solve, weight):
    plainly = "16,384 together: divide them .*, or write several throws" if weight > 0 else f"the weight {weight}"
    by_kernels = "weights below 1, or .* 16,384 together: write several throws"
    raises(GameError, by_kernels if solve is swept else plainly, solve, Endless(weight))


def test_play_that_hardly_ends_is_solved_exactly():
    sides = 1 << 14
    for both, worth in ((False, 1.0), (True, float(2 / (2 - Fraction(1, sides) ** 2) - 1))):
        found = value_iteration.solve(Seldom(sides, both))
        assert abs(found.value.score - worth) < 1e-14
        assert found.units.kind.error < 1e-9


def test_play_that_hardly_ends_is_refused_where_it_is_large(monkeypatch):
    monkeypatch.setattr(nets, "FEW_STATES", 1)
    monkeypatch.setattr(nets, "LOOK", 1 << 9)
    told = []
    with pytest.raises(MethodError, match=r"takes too long to end, its value is known within 1 after 1,024 rounds"):
        value_iteration.solve(Seldom(), progress=lambda *step: told.append(step))
    assert ("narrow", 1024, None, "2.0e+00 apart") in told


@pytest.mark.parametrize("seed", range(8))
def test_policy_iteration_finds_what_bounds_meet_at(seed):
    chance = random.Random(seed)
    players, states = range(6), range(12)
    moves = [[2 * chance.choice(states[6:]) + chance.randrange(2) for _ in range(3)] for _ in players]
    moves += [[2 * chance.choice(states) + chance.randrange(2) for _ in range(4)] for _ in states[6:]]
    weights = [1] * 24
    begins = [0, 3, 6, 9, 12, 15, 18, *range(22, 43, 4)]
    outside = [chance.choice([nets.NO_BOUND, chance.randrange(-UNIT, UNIT)]) for _ in players]
    outside += [chance.randrange(-UNIT, UNIT) for _ in states[6:]]
    net = nets.Net(begins, sum(moves, []), [0] * 18 + weights, outside, [0] * 6 + [5] * 6)
    assert nets.must_end(net)
    bounds = [-UNIT] * 24
    for _ in range(400):
        nets.narrow(net, (0, 12), (0, 0), True, bounds, 0, 0)
    values = nets.solved(net, [Fraction(0)] * 12)
    assert values is not None
    pairs = zip(bounds[::2], values, bounds[1::2], strict=True)
    assert all(low <= value <= -high <= low + 100 for low, value, high in pairs)
    assert not nets.must_end(net._replace(weight=[0] * 6 + [4] * 6))  # no throw leaves it


@compiled
@pytest.mark.interpreted
def test_a_tier_with_cycles_beyond_memory_is_refused_before_others_are_solved():
    phases, memory = [], 1 << 14
    with pytest.raises(ResourceError, match="states in a tier with cycles need .* GiB in memory.*raise --memory"):
        options = Options(memory=memory, progress=lambda phase, *_: phases.append(phase))
        exhaustive.solve(load_game("nannon:4,2,4"), options=options)
    assert phases and not {"narrow", "backward"} & set(phases)
