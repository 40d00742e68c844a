"""Practical play against the full computation, in plain Python; levels of play; and what refuses them."""

import functools
import random

import pytest

import solver
from solver.base.errors import MethodError
from solver.play.levels import LEVELS, level_of
from solver.play.player import Player
from solver.play.practical import Practical
from solver.rules.game import Rules, load_game
from tests.commands import ok, run
from tests.naive import solve


def outcomes(rules, values, plies):
    """Expected results against the model, by its definition: of a state at one's own turn and at the opponent's."""

    def moves(state):
        for action in rules.actions(state):
            child = rules.result(state, action)
            ends = rules.is_terminal(child)
            value = rules.ended(child) if ends else values[rules.canonical(child)]
            same, gain = rules.same_mover(state, action, child), rules.gain(state, action)
            distance = None if value.distance is None else value.distance + 1
            yield child, ends, gain + (value.score if same else -value.score), distance, same, gain

    def kept(state):
        listed = list(moves(state))
        top = max(move[2] for move in listed)
        best = [move for move in listed if move[2] == top]
        if rules.scores or top == 0:
            return best
        target = (min if top > 0 else max)(move[3] for move in best)
        return [move for move in best if move[3] == target]

    def model(state):
        listed = list(moves(state))
        wins = [move for move in listed if move[2] > 0 and move[3] <= plies]
        safe = [move for move in listed if not (move[2] < 0 and move[3] <= plies)]
        return wins or safe or listed

    @functools.cache
    def expected(state, own):
        if own:
            return max(after(move, own) for move in kept(state))
        chosen = model(state)
        return sum(after(move, own) for move in chosen) / len(chosen)

    def after(move, own):
        child, ends, score, _, same, gain = move
        if ends:
            return score if own else -score
        return (gain if own else -gain) + expected(rules.canonical(child), own == same)

    return expected, kept, model, after


def played(rules, choose, model, after_, state, own):
    """The expected result of a player's choices against the model."""

    @functools.cache
    def expected(state, own):
        chosen = [choose(state)] if own else model(state)
        return sum(after(move, own) for move in chosen) / len(chosen)

    def after(move, own):
        child, ends, score, _, same, gain = move
        if ends:
            return score if own else -score
        return (gain if own else -gain) + expected(rules.canonical(child), own == same)

    return expected(state, own)


@pytest.mark.parametrize("plies", [0, 2, 4])
@pytest.mark.parametrize("name", ["tic-tac-toe", "nim:2,3,4", "hexapawn:3,3"])
@pytest.mark.parametrize("own", [True, False])
def test_practical_play_gains_most_of_what_can_be_gained(name, plies, own):
    rules = Rules(load_game(name))
    values = solve(rules.game)
    find = {rules.canonical(state): value for state, value in values.items()}
    expected, kept, model, after = outcomes(rules, find, plies)
    practical = Practical(rules, find.get, plies)

    @functools.cache
    def choose(state):
        moves = kept(state)
        actions = {rules.result(state, action): action for action in rules.actions(state)}
        results = practical.expectations(state, [actions[move[0]] for move in moves])
        return moves[results.index(max(results))]

    start = rules.canonical(rules.game.initial())
    first_best = played(rules, lambda state: kept(state)[0], model, after, start, own)
    found = played(rules, choose, model, after, start, own)
    assert found >= first_best + 0.85 * (expected(start, own) - first_best) - 1e-9


def test_figures_of_connect_four(tmp_path):
    """The gain of exact practical play on connect-four 4x4 against an opponent that sees two plies: 0.427 to 0.798."""
    rules = Rules(load_game("connect-four:4,4"))
    with solver.Book(solver.Player("connect-four:4,4").solution.path) as book:
        expected, kept, model, after = outcomes(rules, book, 2)
        start = rules.canonical(rules.game.initial())
        assert round(expected(start, True), 3) == 0.798
        assert round(played(rules, lambda state: kept(state)[0], model, after, start, True), 3) == 0.427


@pytest.mark.parametrize("name", ["connect-four:4,4", "kalah:3", "mu-torere", "nim"])
def test_it_never_gives_value_away_and_changes_no_value(name):
    plain, practical = Player(name), Player(name, method="practical")
    chance = random.Random(0)
    for _ in range(6):
        state = plain.game.initial()
        for _ in range(30):
            if plain.game.is_terminal(state):
                break
            moves = practical.analyse(state)
            assert [move._replace(practical=None) for move in sorted(moves)] == sorted(plain.analyse(state))
            assert all(isinstance(move.practical, float | int) for move in moves)
            choice = practical.choose(state)
            assert choice.best and choice.value == plain.choose(state).value
            state = chance.choice(moves).child


def test_unfit_games_and_options_are_refused():
    with pytest.raises(MethodError, match="game of chance, which has no practical play"):
        Player("pig:15", method="practical")
    with pytest.raises(MethodError, match="looks 0, 2, 4 plies ahead, not 3"):
        Player("nim", method="practical", opponent=3)
    with pytest.raises(MethodError, match="no method of play 'tricky': choose best or practical"):
        Player("nim", method="tricky")
    code, _, err = run("play", "nim", "--opponent", "2")
    assert code == 2 and "add --method practical" in err


def test_query_shows_the_chances_of_every_move():
    out = ok("query", "connect-four:4,4", "start", "--opponent", "2")
    assert "*  1  draw  book  +0.12 in practice" in out
    assert "in practice" not in ok("query", "connect-four:4,4", "start")


def test_levels_have_names_and_numbers():
    assert [level_of(str(number)).name for number in (1, 4, 5, 8, 10)] == [
        "beginner",
        "easy",
        "medium",
        "hard",
        "perfect",
    ]
    assert level_of("hard") is LEVELS["hard"]
    for text in ("0", "11", "expert", ""):
        with pytest.raises(ValueError, match="is no level: choose beginner"):
            level_of(text)


@pytest.mark.parametrize("name", ["connect-four:4,4", "kalah:3", "pig:15"])
def test_the_perfect_level_never_slips_and_a_beginner_always_does(name):
    player, chance = Player(name), random.Random(0)
    state = player.game.initial()
    assert LEVELS["perfect"].slip(player, state, chance) is None
    legal = list(player.game.actions(state))
    for level in ("beginner", "easy"):
        slip = LEVELS[level].slip(player, state, chance)
        assert slip in legal or not legal


def test_an_easy_computer_sees_a_win_at_once():
    player = Player("tic-tac-toe")
    state = solver.load_game("tic-tac-toe").initial()
    for text in ("a1", "b1", "a2", "b2"):
        action = next(a for a in player.game.actions(state) if player.game.format_action(state, a) == text)
        state = player.game.result(state, action)
    chance = random.Random(0)
    slips = {LEVELS["easy"].slip(player, state, chance) for _ in range(20)}
    assert {player.game.format_action(state, action) for action in slips} == {"a3"}
