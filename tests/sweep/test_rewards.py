"""Games whose states do not carry the score so far: every algorithm against a recursion that carries it."""

import functools
import json

import pytest

from solver.base.errors import GameError, UncompiledRules
from solver.base.value import Value
from solver.check.conformance import check_game
from solver.play.player import Player
from solver.rules.game import Rules
from solver.search import alphabeta, heuristic
from solver.solving.ways import opening
from tests import naive
from tests.commands import ok
from tests.refusals import raises
from tests.solutions import assert_is_the_truth
from tests.ways import compiled
from tests.written import ruled

# Count to `goal` in steps of 1 to 3: who moves again, what a step scores and the end are drawn by numbers
Steps = ruled(
    "Steps",
    fields="seed: int = 0\ngoal: int = 8\nscore_game = True",
    actions="yield from range(1, min(3, self.goal - state) + 1)",
    is_terminal="state == self.goal",
    utility="self._drawn(state, 0) % 5 - 2",
    tier="state",
    reward="self._drawn(state, action) % 9 - 4",
    evaluate="self._drawn(state, 5) % 7 - 3",
    more="""
        def promise(self, state, action):
            return self._drawn(state, action) % 9

        def _drawn(self, state, action):
            return ((self.seed * 31 + state) * 31 + action) * 1103515245 + 12345 >> 12 & 0xFFFF
    """,
)


class Again(Steps):
    def again(self, state, action):
        return self._drawn(state, action) & 256 != 0


class ToMove(Steps):
    def to_move(self, state):
        return self._drawn(state, 7) & 1


class Outcomes(Again):
    """The same players, but only who wins counts."""

    score_game = False
    reward = evaluate = None

    def utility(self, state):
        return self._drawn(state, 0) % 3 - 1


GAMES = [cls(seed) for cls in (Steps, Again, ToMove) for seed in range(6)]
each_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{type(game).__name__}-{game.seed}")


def margin_of_play(game, state):
    """The final margin, the score so far carried along and never looked back upon, for the side to move at `state`."""
    rules = Rules(game)

    @functools.cache
    def best(state, mine, so_far):
        if game.is_terminal(state):
            return so_far + (game.utility(state) if mine else -game.utility(state))
        finals = []
        for action in game.actions(state):
            child = game.result(state, action)
            same = rules.same_mover(state, action, child)
            gain = game.reward(state, action)
            finals.append(best(child, mine == same, so_far + (gain if mine else -gain)))
        return max(finals) if mine else min(finals)

    return best(state, True, 0)


@each_game
def test_every_algorithm_values_every_state_as_play_goes(game):
    truth = {state: Value(margin_of_play(game, state)) for state in naive.enumerate_states(game)}
    assert naive.solve(game) == truth
    everything = alphabeta.minimax(game).table
    cut, table = alphabeta.solve(game), {}
    for state, value in truth.items():
        assert everything[state] == value.score
        assert cut.table.get(state, value.score) == value.score
        assert alphabeta.solve(game, state, table=table).value == value
        if not game.is_terminal(state):
            for search in (heuristic.negamax, heuristic.search):
                found = search(game, state, depth=game.goal)
                assert (found.value, found.exact) == (value, True)
    layers = opening.plies(Rules(game), 2)
    merits = {state: truth[state].score for state in layers[-1]}
    opening.derive(Rules(game), layers[:-1], merits)
    assert merits.items() <= everything.items()


@each_game
def test_limited_searches_agree_and_best_actions_attain_the_value(game):
    for depth in range(1, 6):
        one, other = (search(game, 0, depth=depth) for search in (heuristic.negamax, heuristic.search))
        assert (one.value, one.action) == (other.value, other.action)
    truth, rules = naive.solve(game), Rules(game)
    for action in (alphabeta.minimax(game).action, alphabeta.solve(game).action, Player(truth, game).best(0)):
        child = game.result(0, action)
        assert rules.lifted(truth[child].score, 0, action, child) == truth[0].score


@each_game
def test_players_and_lines(game):
    """From a whole solution, from a part that live search completes, and from nothing."""
    truth = naive.solve(game)
    some = {state: value for state, value in truth.items() if state % 2}
    for player in (Player(known, game, seconds=None) for known in (truth, some, {})):
        answer, moves = player.examine(0)
        assert answer.value == truth[0] == moves[0].value and moves[0].best
        for move in moves:
            assert move.child_value == truth[move.child]
        assert player.choose(0).value == truth[0]
        assert final_margin(game, [action for action, _ in player.line(0)]) == truth[0].score


def final_margin(game, actions):
    """Of a game that was played to its end, for who began."""
    rules = Rules(game)
    state, sign, margin = 0, 1, 0
    for action in actions:
        child = game.result(state, action)
        margin += sign * game.reward(state, action)
        sign *= 1 if rules.same_mover(state, action, child) else -1
        state = child
    assert game.is_terminal(state)
    return margin + sign * game.utility(state)


COMPILED = [Steps(3), Again(3), ToMove(3)]


@compiled
@pytest.mark.interpreted
@pytest.mark.parametrize("game", COMPILED, ids=lambda game: type(game).__name__)
def test_the_compiled_search_and_the_sweep_value_every_state(game):
    from solver.compiled.exact.searcher import Searcher

    searcher, truth = Searcher(game), naive.solve(game)
    assert {state: searcher.value(state) for state in truth} == truth
    assert_is_the_truth(game)


@pytest.mark.parametrize("seed", range(6))
def test_moves_again_where_only_winning_counts(seed):
    game = Outcomes(seed)
    truth = naive.solve(game)
    for state, value in truth.items():
        for search in (alphabeta.minimax, alphabeta.solve):
            assert search(game, state).value == value
    assert Player({}, game, seconds=None).examine(0)[0].value == truth[0]


class Large(Steps):
    def reward(self, state, action):
        return (1 << 62 + action) >> 60


class Late(Steps):
    def again(self, state, action):
        return (1 << 62 + action) > 0


@compiled
@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "message"),
    [(Large(), r"reward\(1, .\) is \d+ in Python; "), (Late(), r"again\(1, .\) is True in Python; ")],
    ids=["reward", "again"],
)
def test_compiled_rewards_are_held_against_plain_ones(game, message):
    from solver.compiled import agreement

    raises(UncompiledRules, message, agreement.compare, game, [1, 3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reward": lambda self, state, action: 0.5}, r"reward\(0, 1\) is 0.5: it must be a whole number"),
        ({"again": lambda self, state, action: 2}, r"again\(0, 1\) is 2: it must be True or False"),
        ({"again": lambda self, state, action: state == 3 and 1 // (state - 3)}, r"again\(3, .\) fails: ZeroDivision"),
        ({"size": lambda self: 6}, r"is not below size\(\), 6: every state must be"),
        ({"to_move": lambda self, state: 0}, "has both to_move.* and again"),
        ({"score_game": False}, "set score_game = True in the class"),
    ],
)
def test_bad_rules_are_named(change, message):
    check_game(Again())
    raises(GameError, message, check_game, type("Bad", (Again,), change)())


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("query dots-and-boxes:2,1", "+2: margin so far +1, still to come +1 for player 2 (search)"),
        ("query dots-and-boxes:2,1 start", "0 still to come for player 1"),
        ("query dots-and-boxes:1,1 #0", "-1 still to come for the side to move"),
        ("query dots-and-boxes:1,1", "game is over: +1 for player 2"),
        ("query dots-and-boxes:1,1 #15", "game is over: margin not known"),
        ("line dots-and-boxes:2,1", "+2: margin so far +1, still to come +1"),
    ],
)
def test_the_margin_so_far_is_said(command, said):
    words = command.split()
    assert said in ok(*words, *["a1h a2h a1v b1v"][len(words) - 2 :])


def test_positions_know_who_moves_and_the_margin_so_far():
    places = ("a1h a2h a1v b1v", "a1h a2h a1v b1v b1h", "#45")  # the second player closed a box and moves again
    asked = [json.loads(ok("query", "dots-and-boxes:2,1", place, "--json")) for place in places]
    found = [(facts["to_move"], facts["ply"], facts["gained"], facts["score"]) for facts in asked]
    assert found == [(1, 4, 1, 1), (0, 5, -1, -1), (None, None, None, 1)]
    assert json.loads(ok("query", "othello:4,2", "start", "--json"))["gained"] is None


def test_play_shows_the_score_and_announces_the_margin():
    text = ok("play", "dots-and-boxes:2,1", "--from", "a1h a2h a1v", "--second", stdin="b1v\nb1h\nc1v\nb2h\n")
    lines = text.splitlines()
    assert "level so far" in lines and "you are 1 ahead" in lines
    assert lines[-2:] == ["you are 2 ahead", "you win by 2"]
    text = ok("play", "dots-and-boxes:1,1", "--from", "a1h a2h a1v", stdin="hint\n")
    assert text.splitlines()[-2:] == ["the computer is 1 ahead", "the computer wins by 1"]
