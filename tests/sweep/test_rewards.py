"""Games whose states do not carry the score so far: every algorithm against a recursion that carries it."""

import functools
import json
from typing import NamedTuple

import pytest

from solver.base import extras
from solver.base.errors import DamagedBook, GameError, UncompiledRules
from solver.base.value import Value
from solver.book import Book
from solver.check.conformance import check_game
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from solver.rules.reading import parse_position
from solver.search import alphabeta, heuristic
from solver.solving import pipeline
from solver.solving.ways import opening
from solver.verifying import verification
from tests import naive
from tests.books import write_values
from tests.commands import ok
from tests.refusals import raises
from tests.solutions import assert_is_the_truth
from tests.verifying.test_forgers import facts_of
from tests.ways import compiled, slow
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


def test_a_searched_child_needs_its_window_moved_by_the_reward():
    """Of two moves the second is better by what it scores at once alone."""

    class Two(NamedTuple):
        score_game = True
        initial = staticmethod(lambda: "start")
        actions = staticmethod(lambda state: (0, 1) if state == "start" else (0,))
        result = staticmethod(lambda state, action: ("a", "b")[action] if state == "start" else state * 2)
        is_terminal = staticmethod(lambda state: len(state) == 2)
        utility = staticmethod(lambda state: {"aa": 5, "bb": 1}[state])
        reward = staticmethod(lambda state, action: 10 * action if state == "start" else 0)

    for search in (alphabeta.minimax, alphabeta.solve, functools.partial(heuristic.search, state="start", depth=3)):
        extra = {"evaluate": lambda state: 0} if isinstance(search, functools.partial) else {}
        assert search(Two(), **extra)[:2] == (Value(11), 1)


def test_expectations_have_rewards():
    class Throw(NamedTuple):
        """Take 3 and end it, or pay 1 for a coin that decides between 8 and -4."""

        score_game = True
        initial = staticmethod(lambda: "choice")
        actions = staticmethod(lambda state: (0, 1))
        result = staticmethod(lambda state, action: ("end", "throw")[action])
        is_terminal = staticmethod(lambda state: state in ("end", "heads", "tails"))
        utility = staticmethod(lambda state: {"end": 0, "heads": 8, "tails": -4}[state])
        to_move = staticmethod(lambda state: 0)
        reward = staticmethod(lambda state, action: (3, -1)[action])

        def chance(self, state):
            if state == "throw":
                yield 3, "heads"
                yield 1, "tails"

    result = alphabeta.expectiminimax(Throw())
    assert (result.value.score, result.action) == (4, 1)


@pytest.mark.parametrize("way", ["plain", *slow("compiled")])
def test_books_are_verified_and_wrong_margins_found(tmp_path, monkeypatch, way):
    game, path = load_game("dots-and-boxes:2,1"), tmp_path / "book.lmdb"
    pipeline.solve(game, path)
    if way == "plain":
        monkeypatch.setattr(extras, "has_kernels", lambda: False)
    else:
        pytest.importorskip("numba")
        monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)
    assert verification.verify(path).closed
    with Book(path) as book:
        assert book.header.root == Value(0)
        values = dict(book.items())
        state = next(state for state, value in values.items() if value.score == 1)
    write_values(path, values | {state: Value(2)}, facts=facts_of(game, values, symmetry=True, method="minimax"))
    raises(DamagedBook, "another value than its children give it", verification.verify, path)


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


def test_positions_know_who_moves_and_the_margin_so_far():
    boxes = load_game("dots-and-boxes:2,1")
    two = parse_position(boxes, "a1h a2h a1v b1v")
    assert two == (0b0101101, 4, 1, 1)  # the second player closed a box and moves again
    assert parse_position(boxes, "a1h a2h a1v b1v b1h") == (0b0101111, 5, 0, -1)
    assert parse_position(boxes, "start") == (0, 0, 0, 0)
    assert parse_position(boxes, f"#{two.state}") == (two.state, None, None, None)
    assert parse_position(load_game("othello:4,2"), "start").gained is None


def test_the_margin_so_far_in_answers():
    asked = [json.loads(ok("query", "dots-and-boxes:2,1", place, "--json")) for place in ("a1h a2h a1v b1v", "#45")]
    assert [(facts["to_move"], facts["ply"], facts["gained"], facts["score"]) for facts in asked] == [
        (1, 4, 1, 1),
        (None, None, None, 1),
    ]
    assert json.loads(ok("query", "othello:4,2", "start", "--json"))["gained"] is None
    text = ok("query", "dots-and-boxes:2,1", "a1h a2h a1v b1v")
    assert "+2: margin so far +1, still to come +1 for player 2 (search)" in text
    assert "0 still to come for player 1" in ok("query", "dots-and-boxes:2,1", "start")
    assert "-1 still to come for the side to move" in ok("query", "dots-and-boxes:1,1", "#0")
    assert "game is over: +1 for player 2" in ok("query", "dots-and-boxes:1,1", "a1h a2h a1v b1v")
    assert "game is over: margin not known" in ok("query", "dots-and-boxes:1,1", "#15")
    assert "+2: margin so far +1, still to come +1" in ok("line", "dots-and-boxes:2,1", "a1h a2h a1v b1v")


def test_play_shows_the_score_and_announces_the_margin():
    text = ok("play", "dots-and-boxes:2,1", "--from", "a1h a2h a1v", "--second", stdin="b1v\nb1h\nc1v\nb2h\n")
    lines = text.splitlines()
    assert "level so far" in lines and "you are 1 ahead" in lines
    assert lines[-2:] == ["you are 2 ahead", "you win by 2"]
    text = ok("play", "dots-and-boxes:1,1", "--from", "a1h a2h a1v", stdin="hint\n")
    assert text.splitlines()[-2:] == ["the computer is 1 ahead", "the computer wins by 1"]
