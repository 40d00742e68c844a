"""Games, bots and evaluators in OpenSpiel, and its own games as our players know them. They need OpenSpiel."""

import random

import pytest

import solver
from solver.base.errors import ForeignBook, GameError, MissingState, PositionError

pyspiel = pytest.importorskip("pyspiel")
np = pytest.importorskip("numpy")

from solver.adapters import openspiel  # noqa: E402
from tests.refusals import raises  # noqa: E402
from tests.ways import slow  # noqa: E402

openspiel.register()


def player_of(text):
    return solver.Player(solver.solve(text), live=False)


BOARDS = ("hexapawn", "tic-tac-toe:3,2,3", "nim:1,2,3", "connect-four:3,2,3", "dots-and-boxes:2,1")


@pytest.mark.parametrize("text", ["nim:1,2", "coins:4;", *slow(*BOARDS)])
def test_no_one_gains_on_the_policy_of_a_book(text):
    from open_spiel.python.algorithms.exploitability import exploitability

    game = pyspiel.load_game("solverbook", {"game": text})
    assert exploitability(game, openspiel.PlayerPolicy(game, player_of(text.rstrip(";")))) == pytest.approx(0)


@pytest.mark.parametrize("text", ["hexapawn", "dots-and-boxes:2,1", "nannon:6,2"])
def test_openspiel_finds_our_games_in_order(text):
    game = pyspiel.load_game("solverbook", {"game": text})
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    state = game.new_initial_state()
    assert str(state).strip() and not state.is_terminal()


def test_returns_are_those_of_our_rules():
    game = pyspiel.load_game("solverbook", {"game": "dots-and-boxes:1,1"})
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert state.returns() == [-1.0, 1.0]  # the fourth line makes the box


def test_a_bot_wins_what_is_won():
    game = pyspiel.load_game("nim(pile_sizes=1;2)")
    bot = openspiel.PlayerBot(player_of("openspiel:nim(pile_sizes=1;2)"))
    state = game.new_initial_state()
    while not state.is_terminal():
        policy, action = bot.step_with_policy(state)
        assert {known for known, _ in policy} == set(state.legal_actions()) and dict(policy)[action]
        state.apply_action(action if state.current_player() == 0 else state.legal_actions()[0])
        bot.inform_action(state, 0, action)
    assert state.returns()[0] == 1.0
    other = pyspiel.load_game("tic_tac_toe").new_initial_state()
    raises(ForeignBook, "openspiel:nim.*, the state of tic_tac_toe.*: solve openspiel:tic_tac_toe", bot.step, other)


def test_a_game_that_openspiel_cut_at_a_comma_is_refused():
    for cut, whole, game in (
        ("connect-four:4,4", "connect-four:4;4", "connect-four:4,4"),
        ("coins:4,2", "coins:4;", "coins:4"),
        ("nim:1,2", "nim:1;2", "nim:1,2"),
    ):
        with pytest.raises(GameError, match=f"{cut.partition(',')[0]} may lack .* write semicolons for commas"):
            pyspiel.load_game(f"solverbook(game={cut})")
        assert pyspiel.load_game(f"solverbook(game={whole})").shared.rules.name == game
        assert pyspiel.load_game("solverbook", {"game": whole}).shared.rules.name == game


def test_one_parameter_is_enough_where_a_game_has_no_more():
    game = pyspiel.load_game("solverbook(game=chess-ending:KQK,longest=50)")
    assert game.shared.rules.name == "chess-ending:KQK" and game.max_game_length() == 50
    assert pyspiel.load_game("solverbook(game=hexapawn)").shared.rules.name == "hexapawn"


def test_an_illegal_action_or_outcome_is_an_error_and_changes_nothing():
    state = pyspiel.load_game("solverbook(game=coins:3;2)").new_initial_state()
    raises(PositionError, "action 7 is not legal here: choose one of 0, 1", state.apply_action, 7)
    assert state.number == 3 and state.legal_actions() == [0, 1]  # to take 1 or 2
    state.apply_action(1)
    state.apply_action(0)
    raises(PositionError, "the game is over", state.apply_action, 0)
    state = pyspiel.load_game("solverbook(game=pig:5;)").new_initial_state()
    while not state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    raises(PositionError, "action 99 is not legal here", state.apply_action, 99)


def test_observation_tensors_are_the_planes():
    game = pyspiel.load_game("solverbook(game=connect-four:4;4)")
    state = game.new_initial_state()
    state.apply_action(1)
    planes = np.array(state.observation_tensor(0)).reshape(game.observation_tensor_shape())
    assert planes.shape == state.get_game().shared.layout.shape and planes.sum() == 1
    assert planes[:, 3, 1].max() == 1  # the stone lies in the second column, at the bottom
    copied = state.clone()
    copied.apply_action(1)
    assert np.sum(copied.observation_tensor(1)) == 2 and np.sum(state.observation_tensor(1)) == 1


def test_players_of_other_games_are_refused():
    game = pyspiel.load_game("solverbook(game=connect-four:4;4)")
    refusal = r"made by rules \w{8} \(tic-tac-toe\), the game by \w{8} \(connect-four:4,4\)"
    raises(ForeignBook, refusal, openspiel.PlayerPolicy, game, "tic-tac-toe")
    for user in (openspiel.PlayerBot("tic-tac-toe").step, openspiel.PlayerEvaluator("tic-tac-toe").evaluate):
        with pytest.raises(ForeignBook, match=refusal):
            user(game.new_initial_state())
    theirs = pyspiel.load_game("connect_four")
    with pytest.raises(ForeignBook, match=r"\(connect-four:4,4\), connect_four.* \(connect-four\)"):
        openspiel.PlayerBot("connect-four:4,4").step(theirs.new_initial_state())
    with pytest.raises(ForeignBook, match=r"the player is of hexapawn, the state of nim\(\)"):
        openspiel.PlayerPolicy(pyspiel.load_game("nim"), "hexapawn")


def test_a_bot_at_the_end_and_one_that_knows_nothing_say_so():
    game = pyspiel.load_game("solverbook(game=connect-four:4;4)")
    state = game.new_initial_state()
    silent = solver.Player({}, "connect-four:4,4", live=False)
    with pytest.raises(MissingState, match="knows no best move from state"):
        openspiel.PlayerPolicy(game, silent).action_probabilities(state)
    with pytest.raises(MissingState, match="knows nothing of state"):
        openspiel.PlayerEvaluator(silent).evaluate(state)
    bot = openspiel.PlayerBot("connect-four:4,4")
    while not state.is_terminal():
        state.apply_action(bot.step(state))
    assert state.returns() == [0.0, 0.0]
    raises(PositionError, "the game is over: no action is left", bot.step, state)
    dice = pyspiel.load_game("solverbook(game=pig:15;)").new_initial_state()
    while not dice.is_chance_node():
        dice.apply_action(dice.legal_actions()[0])
    with pytest.raises(PositionError, match="chance decides here"):
        openspiel.PlayerBot("pig:15").step(dice)


SHARED = {
    "connect_four": "connect-four",
    "connect_four(rows=4,columns=5,x_in_row=3)": "connect-four:5,4,3",
    "tic_tac_toe": "tic-tac-toe",
    "breakthrough(rows=4,columns=3)": "breakthrough:3,4,1",
    "breakthrough(rows=6,columns=3)": "breakthrough:3,6,2",
    "othello": "othello:8,8",
}


@pytest.mark.parametrize(("text", "ours"), SHARED.items(), ids=SHARED.values())
def test_moves_and_results_of_shared_games_are_the_same(text, ours):
    game, player, chance = pyspiel.load_game(text), solver.Player({}, ours, live=False), random.Random(0)
    reader, rules = openspiel.reader_of(player, game), player.game
    for _ in range(3):
        state, number = game.new_initial_state(), rules.initial()
        while not state.is_terminal():
            actions = reader.actions(state)
            assert list(actions) == state.legal_actions()
            assert sorted(actions.values()) == sorted(rules.actions(number))
            action = chance.choice(list(actions))
            number = rules.result(number, actions[action])
            state.apply_action(action)
            assert reader.number(state) == number
        assert rules.is_terminal(number)
        worth = rules.utility(number)
        assert state.returns()[len(state.history()) % 2] == (worth > 0) - (worth < 0)


def test_a_book_of_ours_plays_their_game():
    game, chance = pyspiel.load_game("tic_tac_toe"), random.Random(1)
    bot = openspiel.PlayerBot("tic-tac-toe")
    results = set()
    for number in range(40):
        state = game.new_initial_state()
        while not state.is_terminal():
            own = state.current_player() == number % 2
            state.apply_action(bot.step(state) if own else chance.choice(state.legal_actions()))
        results.add(state.returns()[number % 2])
    assert min(results) == 0 and max(results) == 1
    state = game.new_initial_state()
    for action in (0, 3, 1, 4):
        state.apply_action(action)
    assert bot.step(state) == 2


def test_an_evaluator_goes_with_their_search():
    from open_spiel.python.algorithms import mcts

    game = pyspiel.load_game("solverbook(game=hexapawn)")
    evaluator = openspiel.PlayerEvaluator(player_of("hexapawn"))
    state = game.new_initial_state()
    assert evaluator.evaluate(state).tolist() == [-1, 1]
    state.apply_action(mcts.MCTSBot(game, 2, 10, evaluator).step(state))
    assert evaluator.evaluate(state).tolist() == [-1, 1] and sum(dict(evaluator.prior(state)).values()) == 1
    while not state.is_terminal():
        state.apply_action(evaluator.prior(state)[0][0] if state.current_player() == 0 else best(evaluator, state))
    assert evaluator.evaluate(state).tolist() == state.returns() == [-1, 1]


def best(evaluator, state):
    return max(evaluator.prior(state), key=lambda pair: pair[1])[0]


def test_an_evaluator_counts_what_was_scored_before():
    game = pyspiel.load_game("solverbook(game=dots-and-boxes:1;1)")
    evaluator = openspiel.PlayerEvaluator(player_of("dots-and-boxes:1,1"))
    state = game.new_initial_state()
    while not state.is_terminal():
        assert evaluator.evaluate(state).tolist() == [-1, 1]  # the second player closes the only box
        state.apply_action(state.legal_actions()[0])
