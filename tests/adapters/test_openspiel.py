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


def loaded(text):
    return pyspiel.load_game(f"solverbook(game={text})")


def thrown(text):
    """A state in which chance decides."""
    state = loaded(text).new_initial_state()
    while not state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return state


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
    for cut, whole in (("connect-four:4,4", "connect-four:4;4"), ("coins:4,2", "coins:4;"), ("nim:1,2", "nim:1;2")):
        lacks = f"{cut.partition(',')[0]} may lack .* write semicolons for commas"
        raises(GameError, lacks, pyspiel.load_game, f"solverbook(game={cut})")
        for game in (loaded(whole), pyspiel.load_game("solverbook", {"game": whole})):
            assert game.shared.rules.name == whole.rstrip(";").replace(";", ",")
    game = loaded("chess-ending:KQK,longest=50")  # which has no other parameter
    assert game.shared.rules.name == "chess-ending:KQK" and game.max_game_length() == 50


def test_an_illegal_action_or_outcome_is_an_error_and_changes_nothing():
    state = loaded("coins:3;2").new_initial_state()
    one, two = state.legal_actions()
    raises(PositionError, f"action 7 is not legal here: choose one of {one}, {two}", state.apply_action, 7)
    assert state.number == 3 and state.legal_actions() == [one, two]
    state.apply_action(two)
    state.apply_action(one)
    raises(PositionError, "the game is over", state.apply_action, one)
    raises(PositionError, "action 99 is not legal here", thrown("pig:5;").apply_action, 99)


def test_observation_tensors_are_the_planes():
    game = loaded("connect-four:4;4")
    state = game.new_initial_state()
    state.apply_action(1)
    planes = np.array(state.observation_tensor(0)).reshape(game.observation_tensor_shape())
    assert planes.shape == state.get_game().shared.layout.shape and planes.sum() == 1
    assert planes[:, 3, 1].max() == 1  # the stone lies in the second column, at the bottom
    copied = state.clone()
    copied.apply_action(1)
    assert np.sum(copied.observation_tensor(1)) == 2 and np.sum(state.observation_tensor(1)) == 1


def test_players_of_other_games_are_refused():
    game = loaded("connect-four:4;4")
    refusal = r"made by rules \w{8} \(tic-tac-toe\), the game by \w{8} \(connect-four:4,4\)"
    raises(ForeignBook, refusal, openspiel.PlayerPolicy, game, "tic-tac-toe")
    for user in (openspiel.PlayerBot("tic-tac-toe").step, openspiel.PlayerEvaluator("tic-tac-toe").evaluate):
        raises(ForeignBook, refusal, user, game.new_initial_state())
    theirs, bot = pyspiel.load_game("connect_four").new_initial_state(), openspiel.PlayerBot("connect-four:4,4")
    raises(ForeignBook, r"\(connect-four:4,4\), connect_four.* \(connect-four\)", bot.step, theirs)
    nim = pyspiel.load_game("nim")
    raises(ForeignBook, r"the player is of hexapawn, the state of nim\(\)", openspiel.PlayerPolicy, nim, "hexapawn")


def test_a_bot_at_the_end_and_one_that_knows_nothing_say_so():
    game = loaded("connect-four:4;4")
    state, silent = game.new_initial_state(), solver.Player({}, "connect-four:4,4", live=False)
    policy, evaluator = openspiel.PlayerPolicy(game, silent), openspiel.PlayerEvaluator(silent)
    raises(MissingState, "knows no best move from state", policy.action_probabilities, state)
    raises(MissingState, "knows nothing of state", evaluator.evaluate, state)
    bot = openspiel.PlayerBot("connect-four:4,4")
    while not state.is_terminal():
        state.apply_action(bot.step(state))
    assert state.returns() == [0.0, 0.0]
    raises(PositionError, "the game is over: no action is left", bot.step, state)
    raises(PositionError, "chance decides here", openspiel.PlayerBot("pig:15").step, thrown("pig:15;"))


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
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for action in (0, 3, 1, 4):
        state.apply_action(action)
    assert openspiel.PlayerBot("tic-tac-toe").step(state) == 2


def test_an_evaluator_goes_with_their_search():
    from open_spiel.python.algorithms import mcts

    game = loaded("hexapawn")
    evaluator = openspiel.PlayerEvaluator(player_of("hexapawn"))
    state = game.new_initial_state()
    assert evaluator.evaluate(state).tolist() == [-1, 1]
    state.apply_action(mcts.MCTSBot(game, 2, 10, evaluator).step(state))
    assert evaluator.evaluate(state).tolist() == [-1, 1] and sum(dict(evaluator.prior(state)).values()) == 1
    while not state.is_terminal():
        prior = evaluator.prior(state)
        action, _ = prior[0] if state.current_player() == 0 else max(prior, key=lambda pair: pair[1])
        state.apply_action(action)
    assert evaluator.evaluate(state).tolist() == state.returns() == [-1, 1]


def test_an_evaluator_counts_what_was_scored_before_and_returns_are_those_of_our_rules():
    evaluator = openspiel.PlayerEvaluator(player_of("dots-and-boxes:1,1"))
    state = loaded("dots-and-boxes:1;1").new_initial_state()
    while not state.is_terminal():
        assert evaluator.evaluate(state).tolist() == [-1, 1]  # the second player closes the only box
        state.apply_action(state.legal_actions()[0])
    assert state.returns() == [-1.0, 1.0]
