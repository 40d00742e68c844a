"""The compiled search of limited depth against the plain one, models as arrays, and who plays by them."""

import json
import random
from unittest import mock

import pytest

from solver.base.errors import BudgetExceeded, ForeignBook, GameError, MethodError, UncompiledRules
from solver.base.value import WIN, Value
from solver.play.lookahead import Foresight, plainly
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from solver.search import Budget, heuristic
from tests import naive
from tests.commands import ok
from tests.games import play_outs
from tests.refusals import fails, raises
from tests.search.test_search import Bold
from tests.ways import slow, slow_rows

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from solver.compiled.lookahead import searches  # noqa: E402
from solver.compiled.lookahead.depth import model_of, new_model, weighed  # noqa: E402
from solver.compiled.lookahead.evaluation import Evaluation, estimates, identity, write  # noqa: E402
from solver.compiled.lookahead.searches import Chooser, Lookahead  # noqa: E402

MORE = (
    "connect-four:4,3", "othello:4,4", "hexapawn:3,4", "kalah:2,4,false", "breakthrough:3,3,1",
    "tic-tac-toe:3,3,3,true", "quixo:2,true", "mu-torere", "achi", "dots-and-boxes:2,2",
)  # fmt: skip


def positions(game, count, seed=0):
    states = [state for state in play_outs(game, count, seed) if not game.is_terminal(state)]
    return random.Random(seed).sample(states, count)


def evaluation(game, hidden=(), scale=1.0, seed=1, activation="tanh", part=64):
    """A model whose weights are multiples of 1 / part: sums of a few are exact."""
    rules, draw = Rules(game), np.random.default_rng(seed)
    count = len(list(rules.features(game.initial()))) if rules.features else 63
    widths = [count, *hidden, 1]
    shapes = zip(widths, widths[1:], strict=False)
    layers = [tuple(draw.integers(-3, 4, size).astype("f4") / part for size in (shape, shape[1])) for shape in shapes]
    return Evaluation("a game", identity(game), count, activation, layers, scale, {}, {})


def plain(game, state, depth, evaluate=None):
    rules = Rules(game)
    return heuristic.search(game, state, depth=depth, evaluate=evaluate or rules.evaluate or (lambda state: 0))


@pytest.mark.parametrize(("text", "count"), [("connect-four:4,3", 8), *slow_rows(*((text, 60) for text in MORE))])
@pytest.mark.interpreted
def test_values_and_moves_are_those_of_the_plain_search(text, count):
    game = load_game(text)
    ahead = Lookahead(game, table=1 << 16)
    truth = naive.solve(game) if text != "othello:4,4" else {}
    chance = random.Random(5)
    for state in positions(game, count):
        for depth in range(1, 5):
            if chance.random() < 0.2:
                ahead.use(None)
            wanted, found = plain(game, state, depth), ahead.search(state, depth=depth)
            at_once = ahead.look(state, depth)
            assert (found.value, found.action) == (wanted.value, wanted.action), (state, depth)
            assert (at_once.value, at_once.action) == (wanted.value, wanted.action), (state, depth)
            if truth and found.exact:
                assert found.value == truth[state]
            if wanted.value.distance is not None:
                assert found.exact == wanted.exact
    for end in filter(game.is_terminal, play_outs(game, 3)):
        assert ahead.search(end, depth=3)[:3] == plain(game, end, 3)[:3]


@pytest.mark.interpreted
def test_a_budget_ends_the_search_and_what_was_found_is_kept(monkeypatch):
    monkeypatch.setattr("solver.search.NODES_PER_CLOCK_CHECK", 64)
    game = load_game("connect-four:4,3")
    ahead = Lookahead(game)
    wanted = plain(game, game.initial(), 6)
    for budget in (Budget(nodes=100), Budget(seconds=0)):
        raises(BudgetExceeded, None, ahead.search, game.initial(), depth=6, budget=budget)
    assert ahead.nodes < 1000
    budget = Budget(nodes=10**6)
    found = ahead.search(game.initial(), depth=6, budget=budget)
    assert (found.value, found.action) == (wanted.value, wanted.action)
    assert 0 < 10**6 - budget.nodes_left == found.counts.nodes
    raises(MethodError, "at least 1 ply", ahead.search, game.initial(), depth=0)


@pytest.mark.slow
def test_states_with_very_many_moves_and_deep_searches_are_given_room():
    game = load_game("coins:6000,5500,false")
    assert Lookahead(game).search(6000, depth=2).value == plain(game, 6000, 2).value
    deep = load_game("achi")
    assert Lookahead(deep).search(deep.initial(), depth=130).value == naive.solve(deep)[deep.initial()]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.interpreted
def test_many_states_at_once_are_searched_as_one_by_one(workers, monkeypatch):
    monkeypatch.setattr(searches, "STATES_PER_TASK", 7)
    game = load_game("connect-four:4,3")
    states = positions(game, 60)
    for depth in (1, 3):
        choices = Chooser(game, workers=workers).choose(states, depth)
        for state, action, place, merit in zip(states, *choices, strict=True):
            found = plain(game, state, depth)
            assert action == found.action == list(game.actions(state))[place]
            score, distance = found.value
            assert merit == (score if distance is None else score * (WIN - distance))


@pytest.mark.slow
def test_estimates_out_of_bounds_are_refused():
    ahead = Lookahead(Bold())
    assert ahead.search(8, depth=1).value == plain(Bold(), 8, 1).value
    raises(GameError, r"evaluate\(29\) is 1: an estimate must lie strictly between -1 and 1", ahead.search, 30, depth=1)
    raises(GameError, "is 1: an estimate", Chooser(Bold()).choose, [8, 30], 1)


@pytest.mark.parametrize(("hidden", "activation"), [((), "tanh"), ((5,), "tanh"), ((4, 3), "tanh"), ((6, 2), "relu")])
def test_models_as_arrays_are_a_product_of_matrices(hidden, activation):
    one = evaluation(load_game("connect-four:4,3"), hidden, activation=activation)
    model = model_of(one)
    assert model.shape.tolist() == one.shape()
    table = np.random.default_rng(2).integers(-4, 5, (50, one.features))
    found = [weighed(model.shape, model.weights, model.relu, row, model.units) for row in table]
    assert np.allclose(found, estimates(one, table), atol=1e-6)
    assert np.allclose(found, [_numpy(one, row) for row in table], atol=1e-12)


def _numpy(one, row):
    numbers = row.astype(float)
    for weights, biases in one.layers[:-1]:
        numbers = numbers @ weights.astype(float) + biases
        numbers = np.tanh(numbers) if one.activation == "tanh" else np.maximum(numbers, 0)
    weights, biases = one.layers[-1]
    return np.clip(np.tanh(numbers @ weights.astype(float) + biases)[0], -0.999999, 0.999999)


@pytest.mark.parametrize(
    ("text", "hidden", "scale"),
    [("connect-four:4,3", (4,), 1.0), ("dots-and-boxes:2,2", (), 4.0), ("achi", (), 1.0)],
)
@pytest.mark.slow
def test_a_search_by_a_model_is_the_plain_one_by_it(text, hidden, scale):
    game = load_game(text)
    ahead = Lookahead(game)
    kernel = ahead._list_moves
    for seed in (1, 2):
        one = evaluation(game, hidden, scale, seed)
        ahead.use(model_of(one))
        evaluate = plainly(Rules(game), one)
        for state in positions(game, 10):
            for depth in (1, 2, 4):
                wanted, found = plain(game, state, depth, evaluate), ahead.search(state, depth=depth)
                assert (found.value.distance, found.exact) == (wanted.value.distance, wanted.exact)
                assert found.value.score == pytest.approx(wanted.value.score, abs=1e-9)
                again = Chooser(game, model=model_of(one), workers=1).choose([state], depth)
                assert again.actions[0] == found.action
    assert len(kernel.signatures) == 1  # no model is compiled


@pytest.mark.interpreted
def test_a_model_of_other_features_is_refused():
    ahead = Lookahead(load_game("connect-four:4,3"), model=new_model([(np.ones((3, 1)), np.zeros(1))]))
    raises(UncompiledRules, "features as many for each", ahead.search, ahead.rules.game.initial(), depth=2)


@pytest.mark.parametrize("learned", [False, *slow(True)])
@pytest.mark.interpreted
def test_plain_and_compiled_foresight_are_the_same(learned):
    game = load_game("connect-four:4,3")
    rules, one = Rules(game), evaluation(game) if learned else None
    slow, quick = Foresight(rules, one), Foresight(rules, one)
    assert slow.name == ("a learned evaluation" if learned else "evaluate")
    quick.compiled.load(wait=True)
    assert quick.compiled.it is not None
    for state in positions(game, 10):
        for depth in (1, 3, 7):  # deep enough for `search` to leave plain Python
            found = quick.look(state, depth)
            assert found.value.score == pytest.approx(slow.look(state, depth).value.score, abs=1e-12)
            assert slow.search(state, depth).action == found.action


@pytest.mark.interpreted
def test_rules_that_do_not_compile_are_searched_plainly(monkeypatch):
    game = load_game("connect-four:4,3")
    foresight = Foresight(Rules(game))
    foresight.compiled.load(wait=True)
    monkeypatch.setattr(foresight.compiled.it, "look", mock.Mock(side_effect=UncompiledRules("no")))
    assert foresight.look(game.initial(), 3).value == plain(game, game.initial(), 3).value
    assert foresight.compiled.it is None


def test_a_player_estimates_by_an_evaluation(tmp_path):
    game, other = load_game("connect-four:6,5"), load_game("connect-four:5,5")
    write(tmp_path / "mine.eval", evaluation(game)._replace(game="connect-four:6,5"))
    own = Player({}, game, nodes=500)
    learned = Player({}, game, nodes=500, evaluate=tmp_path / "mine.eval")
    assert (own.foresight.name, learned.foresight.name) == ("evaluate", "mine.eval")
    one, two = own.value(game.initial()), learned.value(game.initial())
    assert one.source == two.source == "search"
    assert one.estimate != two.estimate
    assert Player({}, game, evaluate=learned.foresight.evaluation).foresight.name == "a learned evaluation"
    raises(ForeignBook, "learn it again", Player, {}, other, evaluate=tmp_path / "mine.eval")


@pytest.mark.slow
def test_wins_that_limited_depth_sees_are_known_without_evaluate():
    game = load_game("achi")
    state = next(state for state, value in naive.solve(game).items() if value == Value(1, 3))
    player = Player({}, game)
    player.live_search.is_cyclic, player.live_search._retrograde = True, lambda state, budget: {}
    answer = player.value(state)
    assert (answer.value, answer.exact, answer.source) == (Value(1, 3), True, "search")


@pytest.mark.slow
def test_query_and_play_say_by_what_they_estimate(tmp_path):
    path = str(tmp_path / "mine.eval")
    write(path, evaluation(load_game("connect-four:6,5"))._replace(game="connect-four:6,5"))
    asked = ("query", "connect-four:6,5", "start", "--budget", "0.4", "--no-moves", "--json")
    for more, name in (((), "evaluate"), (("--evaluate", path), "mine.eval")):
        facts = json.loads(ok(*asked, *more))
        assert (facts["source"], facts["evaluation"]) == ("search", name)
        assert "(search by " + name + ")" in ok(*asked[:-1], *more)
    assert json.loads(ok("query", "tic-tac-toe", "start", "--json"))["evaluation"] is None
    fails(5, "learn it again", "query", "connect-four:5,5", "start", "--live", "--evaluate", path)
    fails(2, "leave one out", "query", "connect-four:6,5", "start", "--book-only", "--evaluate", path)
    fails(2, "best or heuristic", "play", "connect-four:6,5", "--method", "negamax", "--evaluate", path)
    output = ok("play", "connect-four:6,5", "--method", "heuristic", "--evaluate", path, "--second")
    assert "heuristic of depth 4 by mine.eval" in output and "computer:" in output
