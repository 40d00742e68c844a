"""Practical play against the full computation, in plain Python; levels of play; and what refuses them."""

import functools
import itertools
import random

import pytest

import solver
from solver.base.errors import MethodError
from solver.play.player import Player
from solver.play.practical import LEVELS, LOOKS, Practical, level_of
from solver.rules.game import Rules, load_game
from solver.rules.notation import format_action
from tests.commands import ok
from tests.naive import solve
from tests.refusals import raises
from tests.ways import slow


class Definition:
    """The model and its expected results by their definitions, on the values of the naive twin."""

    def __init__(self, rules, values, plies):
        self.rules, self.values, self.plies = rules, values, plies

    def moves(self, state):
        """Child, whether it ends the game, score and distance for the mover, whether the mover stays, points."""
        rules = self.rules
        for action in rules.actions(state):
            child = rules.result(state, action)
            ends = rules.is_terminal(child)
            value = rules.ended(child) if ends else self.values[rules.canonical(child)]
            same, gain = rules.same_mover(state, action, child), rules.gain(state, action)
            distance = None if value.distance is None else value.distance + 1
            yield child, ends, gain + (value.score if same else -value.score), distance, same, gain

    def kept(self, state):
        """The best moves: the highest score, then the quickest win or the slowest loss."""
        listed = list(self.moves(state))
        top = max(move[2] for move in listed)
        best = [move for move in listed if move[2] == top]
        if self.rules.scores or top == 0:
            return best
        target = (min if top > 0 else max)(move[3] for move in best)
        return [move for move in best if move[3] == target]

    def model(self, state):
        """The moves that the opponent chooses from."""
        listed = list(self.moves(state))
        wins = [move for move in listed if move[2] > 0 and move[3] <= self.plies]
        safe = [move for move in listed if not (move[2] < 0 and move[3] <= self.plies)]
        return wins or safe or listed

    def result(self, own_turn, first):
        """The expected result of a player whose own turns are worth `own_turn` of its moves' results."""

        @functools.cache
        def expected(state, own):
            moves = self.kept(state) if own else self.model(state)
            results = [after(move, own) for move in moves]
            return own_turn(state, moves, results) if own else sum(results) / len(results)

        def after(move, own):
            child, ends, score, _, same, gain = move
            if ends:
                return score if own else -score
            return (gain if own else -gain) + expected(self.rules.canonical(child), own == same)

        return expected(self.rules.canonical(self.rules.game.initial()), first)


def full(state, moves, results):
    """The best that can be got."""
    return max(results)


def first_best(state, moves, results):
    """The result of the first best move."""
    return results[0]


@pytest.mark.parametrize("name", ["nim:2,3,4", "hexapawn:3,3", *slow("tic-tac-toe")])
def test_practical_play_gains_most_of_what_can_be_gained(name):
    rules = Rules(load_game(name))
    values = {rules.canonical(state): value for state, value in solve(rules.game).items()}
    for plies, own in itertools.product((0, 2, 4), (True, False)):
        definition, practical = Definition(rules, values, plies), Practical(rules, values.get, plies)

        def chosen(state, moves, results, rate=practical.expectations):
            actions = {rules.result(state, action): action for action in rules.actions(state)}
            rated = rate(state, [actions[move[0]] for move in moves])
            return results[rated.index(max(rated))]

        least, most = definition.result(first_best, own), definition.result(full, own)
        assert definition.result(chosen, own) >= least + 0.85 * (most - least) - 1e-9


@pytest.mark.slow
def test_figures_of_connect_four():
    """The gain of exact practical play on connect-four 4x4 against an opponent that sees two plies: 0.427 to 0.798."""
    with solver.Book(Player("connect-four:4,4").solution.path) as book:
        definition = Definition(Rules(load_game("connect-four:4,4")), book, 2)
        assert round(definition.result(full, True), 3) == 0.798
        assert round(definition.result(first_best, True), 3) == 0.427


@pytest.mark.parametrize("name", ["connect-four:4,4", "kalah:3", "mu-torere", "nim"])
def test_it_never_gives_value_away_and_changes_no_value(name):
    plain, practical = Player(name), Player(name, method="practical")
    chance = random.Random(0)
    for _ in range(3):
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
    raises(MethodError, "game of chance, which has no practical play", Player, "pig:15", method="practical")
    raises(MethodError, "looks from 0 to 4 plies ahead, not 5", Player, "nim", method="practical", opponent=5)
    raises(MethodError, "no method of play 'tricky': choose best or practical", Player, "nim", method="tricky")


def test_query_shows_the_chances_of_every_move_and_says_that_they_are_estimates():
    assert f"It comes from a look ahead at {LOOKS} moves at most" in " ".join(ok("query", "--help").split())
    out = ok("query", "connect-four:4,4", "start", "--opponent", "2")
    assert "*  1  draw  book  +0.12 in practice" in out
    assert "in practice" not in ok("query", "connect-four:4,4", "start")


def test_levels_have_names_and_numbers():
    names = ["beginner", "easy", "medium", "hard", "perfect"]
    assert [level_of(str(number)).name for number in (1, 4, 5, 8, 10)] == names
    assert level_of("hard") is LEVELS["hard"]
    for text in ("0", "11", "expert", ""):
        raises(ValueError, "is no level: choose beginner", level_of, text)


@pytest.mark.parametrize("name", ["connect-four:4,4", "kalah:3", "pig:15"])
def test_the_perfect_level_never_slips_and_a_beginner_always_does(name):
    player, chance = Player(name), random.Random(0)
    state = next(state for state in player.solution if len(set(player.game.actions(state))) > 1)
    legal = set(player.game.actions(state))
    assert all(LEVELS["perfect"].slip(player, state, chance) is None for _ in range(50))
    assert {LEVELS["beginner"].slip(player, state, chance) for _ in range(200)} == legal
    assert {LEVELS["easy"].slip(player, state, chance) for _ in range(50)} <= legal
    mistakes = [LEVELS["medium"].slip(player, state, chance) is not None for _ in range(400)]
    assert 0.45 < sum(mistakes) / 400 < 0.65


def test_an_easy_computer_sees_a_win_at_once():
    player = Player("tic-tac-toe")
    state = solver.load_game("tic-tac-toe").initial()
    for text in ("a1", "b1", "a2", "b2"):
        action = next(a for a in player.game.actions(state) if format_action(player.game, state, a) == text)
        state = player.game.result(state, action)
    chance = random.Random(0)
    slips = {LEVELS["easy"].slip(player, state, chance) for _ in range(20)}
    assert {format_action(player.game, state, action) for action in slips} == {"a3"}
