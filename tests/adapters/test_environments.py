"""Environments of PettingZoo and Gymnasium: what they take, refuse and show. They need the libraries."""

import copy
import pickle
import random

import pytest

import solver
from solver.base.errors import ForeignBook, GameError, MissingState, PositionError

np = pytest.importorskip("numpy")
pytest.importorskip("pettingzoo")

from solver.adapters import gymnasium as solo  # noqa: E402
from solver.adapters.pettingzoo import SCALE, Opponent, SolverEnv, env, picture  # noqa: E402
from solver.rules.boards import looks  # noqa: E402
from tests.refusals import raises  # noqa: E402
from tests.ways import slow  # noqa: E402


def begun(game, position=None, **options):
    environment = env(game, **options)
    environment.reset(seed=1, options=None if position is None else {"position": position})
    return environment


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Observation:UserWarning", "ignore:The old environment:DeprecationWarning")
@pytest.mark.parametrize("text", ["tic-tac-toe", "dots-and-boxes:2,2", "pig:10", "nim:1,3", "kalah:3,2"])
def test_the_api_test_passes(text):
    from pettingzoo.test import api_test, seed_test

    api_test(env(text), num_cycles=100)
    seed_test(lambda: env(text), num_cycles=20)


def test_a_book_teaches_and_plays():
    player = solver.Player(solver.solve("hexapawn"), live=False)
    environment = env("hexapawn", teacher=player, render_mode="ansi")
    opponent = Opponent(player)
    environment.reset(seed=0)
    rewards = {}
    for agent in environment.agent_iter():
        seen, reward, terminated, truncated, info = environment.last()
        rewards[agent] = reward
        if terminated or truncated:
            environment.step(None)
            continue
        assert (info["best_mask"] <= seen["action_mask"]).all() and info["best_mask"].any()
        assert info["value"] == (1 if agent == "player_1" else -1)
        legal = [action for action, is_legal in enumerate(seen["action_mask"]) if is_legal]
        environment.step(opponent(environment) if agent == "player_1" else legal[0])
    assert rewards == {"player_0": -1.0, "player_1": 1.0}
    assert environment.render().count("\n") == 3


def test_a_teacher_or_an_opponent_of_another_game_is_refused():
    refusal = r"made by rules \w{8} \(connect-four:4,4\), the environment by \w{8} \(tic-tac-toe\)"
    other = "connect-four:4,4"
    raises(ForeignBook, f"the teacher was {refusal}", env, "tic-tac-toe", teacher=solver.Player(other))
    raises(ForeignBook, f"the opponent was {refusal}", Opponent(other), begun("tic-tac-toe"))
    raises(ForeignBook, f"the opponent was {refusal}", solo.SoloEnv, "tic-tac-toe", opponent=other)
    raises(GameError, "no render_mode 'gif'", env, "hexapawn", render_mode="gif")


@pytest.mark.parametrize("make", [env, SolverEnv])
def test_what_is_no_action_is_one_kind_of_error(make):
    environment = make("tic-tac-toe")
    environment.reset()
    for odd in (-1, 99, np.array([1, 2]), np.array([1]), [1], None, 1.0, "1", True, np.float32(1)):
        raises(GameError, r"is not an action: give a whole number from 0 to", environment.step, odd)
    environment.step(np.int64(5))  # and it goes on
    environment.step(np.array(1))
    assert environment.unwrapped.played == 2
    raises(GameError, "action 1 is not legal here", environment.unwrapped.step, 1)


def test_an_environment_is_pickled_and_copied_where_it_stands_and_its_dice_fall_alike():
    environment = begun("tic-tac-toe", teacher="tic-tac-toe")
    environment.step(4)  # the middle
    for twin in (pickle.loads(pickle.dumps(environment)), copy.deepcopy(environment)):  # noqa: S301
        assert twin.unwrapped.position == environment.unwrapped.position
        twin.step(0)
        assert twin.unwrapped.played == 2 and environment.unwrapped.played == 1
        assert twin.infos[twin.agent_selection]["value"] == 0
    environment = begun("pig:15")
    twin = pickle.loads(pickle.dumps(environment))  # noqa: S301
    for _ in range(5):
        for one in (environment, twin):
            one.step(one.unwrapped.legal[0])
        assert twin.unwrapped.position == environment.unwrapped.position


def test_a_game_begins_where_it_is_told():
    environment = begun("tic-tac-toe", "b2 a1 c3")
    assert environment.agent_selection == "player_1" and environment.render() is not None
    state = environment.unwrapped.position.state
    environment.reset(options={"position": state})
    assert environment.unwrapped.position.state == state
    assert begun("minichess:KQK").unwrapped.position != begun("minichess:KQK", "start").unwrapped.position


def test_what_a_reset_cannot_take_is_refused():
    environment = begun("tic-tac-toe", teacher="tic-tac-toe")
    environment.step(5)
    for position, message in (
        ("b2 b2", "'b2' is not a legal move here"),
        ("a1 b1 a2 b2 a3", "the game is over at 'a1 b1 a2 b2 a3'"),
        (1.5, "1.5"),
        (5, "play cannot reach state 5"),  # as the teacher's book says
    ):
        raises(PositionError, message, environment.reset, options={"position": position})
    raises(GameError, "reset has no option 'place': choose one of position", environment.reset, options={"place": "b2"})
    assert environment.unwrapped.played == 1


@pytest.mark.parametrize("game", ["minichess:KQK", *slow("chess-ending:KQK")])
def test_an_ending_begins_at_any_placement(game):
    environment, first = SolverEnv(game), {}
    for seed in (*range(30), 3, 3):
        environment.reset(seed)
        assert environment.legal and environment.position.state == first.setdefault(seed, environment.position.state)
    assert len({*first.values()}) > 20


@pytest.mark.parametrize("draws", [5000, *slow(500_000)])
@pytest.mark.parametrize("game", ["minichess:KQK", *slow("minichess:KRPKR", "chess-ending:KPK")])
def test_placements_are_starts_and_every_start_can_be_placed(game, draws):
    rules, chance = solver.load_game(game), random.Random(0)
    placed = {rules.placed(chance.randrange(1 << 62)) for _ in range(draws)} - {-1}
    starts = set(rules.starts())
    assert placed and placed <= starts and (draws < 500_000 or game == "chess-ending:KPK" or placed == starts)


def test_a_teacher_that_knows_nothing_says_so():
    for teacher in (solver.Player({}, "connect-four", live=False), solver.Player({}, "connect-four", nodes=100)):
        info = begun("connect-four", teacher=teacher).infos["player_0"]
        assert info["value"] is None and not info["exact"] and not info["best_mask"].all()
        assert teacher.live or not info["best_mask"].any()
    told = begun("tic-tac-toe", teacher="tic-tac-toe").infos["player_0"]
    assert told["value"] == 0 and told["exact"] and told["best_mask"].sum() == 9  # all moves draw


def play(environment, choose, seed):
    """The rewards of a game."""
    observation, _ = environment.reset(seed=seed)
    rewards, over = [], False
    while not over:
        assert (environment.action_masks() == observation["action_mask"]).all()
        action = choose(environment, observation)
        observation, reward, terminated, truncated, _ = environment.step(action)
        rewards.append(reward)
        over = terminated or truncated
    return rewards


def randomly(environment, observation):
    return environment.action_space.sample(observation["action_mask"])


def perfectly(environment, observation):
    return Opponent("tic-tac-toe")(environment.inner)


def test_no_one_wins_against_a_book_and_its_equal_draws():
    for seat in (0, 1, None):
        environment = solo.SoloEnv("tic-tac-toe", seat=seat)
        assert all(sum(play(environment, randomly, seed)) <= 0 for seed in range(10))
        assert sum(play(environment, perfectly, 1)) == 0
    weak = solo.SoloEnv("tic-tac-toe", level=1)
    assert max(sum(play(weak, perfectly, seed)) for seed in range(10)) == 1


def test_a_move_is_rewarded_by_the_value_that_it_gives_away():
    environment = solo.SoloEnv("tic-tac-toe", reward="given away", level=1)
    assert all(reward == 0 for seed in range(5) for reward in play(environment, perfectly, seed))
    player = solver.Player("tic-tac-toe")
    for action in (2, 6, 8, 9, 10):
        environment.reset(options={"position": "a1 b1 a2 b2"})
        values = {move.action: move.value.score for move in player.analyse(environment.inner.position.state)}
        number = environment.inner.layout.number(action)
        assert environment.step(number)[1] == values[action] - 1 and values[8] == 1


def test_an_illegal_action_loses_what_there_was_and_options_are_refused():
    environment = solo.SoloEnv("tic-tac-toe")
    environment.reset(seed=0, options={"position": "a1 b1"})
    assert environment.step(0)[1:] == (-1.0, True, False, {"illegal": True})
    raises(GameError, "the game is over: reset the environment", environment.step, 0)
    judging = solo.SoloEnv("tic-tac-toe", reward="given away")
    judging.reset(options={"position": "a1 b1 a2 b2"})
    assert judging.step(0)[1] == -2.0  # it was won
    ignorant = solver.Player({}, "connect-four", live=False)
    unjudged = solo.SoloEnv("connect-four", opponent=ignorant, reward="given away")
    unjudged.reset()
    raises(MissingState, "does not know how much each move from state", unjudged.step, 0)
    wrong = {"seat": (2, "no seat 2"), "reward": ("regret", "no reward 'regret'"), "level": (11, "'11' is not a level")}
    for option, (given, message) in (wrong | {"render_mode": ("gif", "no render_mode 'gif'")}).items():
        raises(GameError, message, solo.SoloEnv, "tic-tac-toe", **{option: given})


@pytest.mark.parametrize("game", ["tic-tac-toe", "pig:15", *slow("minichess:KQK")])
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_gymnasiums_own_check_passes(game):
    import gymnasium
    from gymnasium.utils.env_checker import check_env

    check_env(solo.SoloEnv(game, seat=None, level=5, render_mode="rgb_array"), skip_render_check=True)
    environment = gymnasium.make(solo.NAME, game=game, level=5)
    observation, _ = environment.reset(seed=1)
    assert observation["action_mask"].sum() == len(environment.unwrapped.inner.legal)


def test_a_picture_has_the_men_where_the_page_has_them():
    environment = begun("connect-four", "12", render_mode="rgb_array")
    pixels = environment.render()
    assert pixels.dtype == np.uint8 and pixels.shape == (302, 349, 3)  # of 628 and 728 units
    bottom, columns = round((14 + 550) * SCALE), [round((14 + 50 + 100 * column) * SCALE) for column in range(3)]
    colours = ["#" + bytes(pixels[bottom, column]).hex() for column in columns]
    assert colours == [looks.SIDE_LOOKS["red"].body, looks.SIDE_LOOKS["yellow"].body, looks.HOLE]


class Undrawn(type(solver.load_game("coins:7"))):
    cells = None  # a board of text


BOARDS = ("kalah", "hex", "dots-and-boxes", "y", "hypergammon", "pig", "micro-shogi", "quarto", "coins", Undrawn(7))


@pytest.mark.parametrize("game", BOARDS, ids=str)
def test_every_kind_of_board_is_drawn(game):
    rules = solver.load_game(game)
    state, first = rules.initial(), picture(rules, rules.initial(), 0)
    is_other = False
    for _ in range(4):
        outcomes = list(rules.chance(state)) if hasattr(rules, "chance") else []
        state = outcomes[-1][1] if outcomes else rules.result(state, list(rules.actions(state))[0])
        pixels = picture(rules, state, 0)
        assert pixels.shape == first.shape and pixels.ndim == 3 and pixels.min() < 100
        is_other |= bool((pixels != first).any())
    assert is_other


def test_a_game_is_cut_off_where_it_is_longest():
    environment = begun("animal-shogi", longest=3)
    for _ in range(3):
        assert environment.observation_space(environment.agent_selection).contains(environment.last()[0])
        environment.step(environment.unwrapped.legal[0])
    assert all(environment.truncations.values()) and not any(environment.terminations.values())
