"""Margins: where play can come back to a state, and where moves score; against the naive twin, by every way."""

import functools
import json

import pytest

from solver.base.errors import DamagedBook, GameError, MethodError, UncompiledRules
from solver.base.kinds import MARGIN
from solver.base.value import Value
from solver.check.conformance import check_game
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from solver.search import alphabeta, heuristic, retrograde, solution_of
from solver.solving import pipeline
from solver.solving.ways import opening
from solver.verifying import verification
from solver.verifying.plainly import FAULTS, UNGROUNDED
from tests import naive
from tests.books import write_values
from tests.commands import ok
from tests.interpreted import interpret
from tests.refusals import raises
from tests.solutions import assert_is_the_truth
from tests.verifying.test_forgers import facts_of
from tests.ways import by_kernels, compiled, plainly, quickly, slow
from tests.written import ruled

MAZE = """
from typing import NamedTuple

class Maze(NamedTuple):
    '''A graph like any other, in tiers, with two sides: moves stay in a tier, and then score nothing, or lead on.'''
    width: int = 12
    height: int = 3
    seed: int = 0
    stake: int = 0

    score_game = True
    def tier(self, state): return state // 2 // self.width
    def mixed(self, state, salt):
        number = (state * 2654435761 + salt * 668265263 + self.seed * 40503) & 0xFFFFFFFF
        number = (number ^ number >> 15) * 2246822519 & 0xFFFFFFFF
        return number ^ number >> 13
    def initial(self): return 0
    def starts(self): yield from range(2 * self.width * self.height)
    def to_move(self, state): return state & 1
    def actions(self, state): yield from range(1 + self.mixed(state, 9) % 4)
    def result(self, state, action):
        number = self.mixed(state, action)
        up = 1 if number % 4 == 0 else 0
        mover = (state & 1) ^ (0 if number // 4 % 4 == 0 else 1)
        return 2 * ((self.tier(state) + up) * self.width + number // 16 % self.width) + mover
    def reward(self, state, action):
        up = self.mixed(state, action) % 4 == 0
        return self.mixed(state, action + 20) % 9 - 4 if up else 0
    def endless(self, state): return -self.stake if state & 1 else self.stake
    def is_terminal(self, state): return self.tier(state) >= self.height
    def utility(self, state): return self.mixed(state, 8) % 9 - 4
"""


@pytest.fixture(scope="module")
def maze(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "maze.py"
    path.write_text(MAZE)
    return lambda *given: load_game(f"{path}::Maze:{','.join(map(str, given))}")


MAZES = [(12, 3, seed, stake) for seed in range(60) for stake in (0, 3, -2)]
AWARI = ["awari:2", "awari:3", "awari:4", "awari:5"]


@pytest.mark.parametrize("given", quickly(MAZES + AWARI, MAZES[:9] + AWARI[:1]))
def test_margins_with_cycles_are_those_of_the_naive_twin(maze, given):
    game = load_game(given) if given in AWARI else maze(*given)
    truth = naive.solve(game)
    assert len({value.score for value in truth.values()}) > 3
    assert solution_of(retrograde.solve(game).table, True) == dict(truth)


@pytest.mark.parametrize("given", [(12, 3, 1, 0), (6, 1, 5, -2), *slow((30, 3, 2, 3))])
def test_live_search_finds_margins_where_play_comes_back(maze, given):
    game, count = maze(*given), 3
    truth = naive.solve(game)
    open_states = [state for state in truth if not game.is_terminal(state)]
    for state in open_states[:: len(open_states) // count + 1]:
        answer = Player({}, game, seconds=None).value(state)
        assert (answer.value, answer.exact) == (truth[state], True)


@compiled
@pytest.mark.parametrize("given", [(8, 2, 1, 0), (8, 2, 2, 3), *slow((3000, 4, 1, 0), (3000, 4, 2, -3))])
def test_the_sweep_finds_what_the_naive_twin_finds(maze, tmp_path, monkeypatch, given):
    interpret(monkeypatch)
    by_kernels(monkeypatch)
    game = maze(*given)
    with pipeline.solve(game, tmp_path / "maze.lmdb") as book:
        assert book.header.method == "retrograde"
        truth = {state: value for state, value in retrograde.solve(game).table.items() if not game.is_terminal(state)}
        assert {state: value.score for state, value in book.items()} == truth
    monkeypatch.undo()
    assert verification.verify(tmp_path / "maze.lmdb", game).verdict == "proved"
    with pipeline.solve(game, tmp_path / "plain.lmdb"):
        assert (tmp_path / "plain.lmdb").read_bytes() == (tmp_path / "maze.lmdb").read_bytes()


@pytest.mark.parametrize(("side", "kernels"), [(0, False), (1, False), pytest.param(1, True, marks=compiled)])
def test_margins_that_rest_on_each_other_are_refused(maze, tmp_path, monkeypatch, side, kernels):
    """Whoever is favoured gets one more in all states from which play may stay where it is."""
    if kernels:
        interpret(monkeypatch)
        monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)
    game, found = maze(6, 1, 5), 0
    truth = naive.solve(game)
    for stake in range(-4, 5):
        false = naive.solve(game._replace(stake=(1, -1)[side] * stake))
        values = {state: value for state, value in false.items() if not game.is_terminal(state)}
        path = tmp_path / f"{stake}.lmdb"
        write_values(path, values, facts=facts_of(game, values, method="retrograde"))
        if values.items() <= truth.items():
            assert verification.verify(path, game).verdict == "proved"
        else:
            found += 1
            raises(DamagedBook, FAULTS[UNGROUNDED], verification.verify, path, game)
    assert found > 2


def test_moves_that_score_and_stay_are_refused(tmp_path):
    (tmp_path / "mint.py").write_text(MAZE.replace("% 9 - 4 if up else 0", "% 9 - 4"))
    with pytest.raises(MethodError, match="state .* has a move that scores and stays in its tier"):
        pipeline.solve(f"{tmp_path / 'mint.py'}::Maze")


def test_awari_has_the_positions_of_the_published_databases():
    """Whose sizes, by seeds, add up to 889,063,398,405 (Romein and Bal, 2003, with the start as one more)."""
    states = list(load_game("awari:7").starts())
    assert len(states) == len(set(states)) == 12 + 78 + 364 + 1_365 + 4_368 + 12_375 + 31_812


@compiled
@pytest.mark.slow
def test_awari_is_worth_what_the_published_databases_say(tmp_path):
    """A position of 16 seeds, which the databases of Romein and Bal are shown with: 100 CPU seconds."""
    game, houses = load_game("awari:16"), (1, 1, 1, 1, 1, 2, 4, 2, 3, 0, 0, 0)
    state = sum(seeds << 5 * house for house, seeds in enumerate(houses))
    with pipeline.solve(game, tmp_path / "awari.lmdb") as book:
        found = {move.action: move.value.score for move in Player(book).analyse(state)}
        assert (book[state].score, found) == (0, {0: -1, 1: -1, 2: -2, 3: -2, 4: -2, 5: 0})


def test_moves_of_awari():
    game = load_game("awari:31")

    def state(*houses):
        return sum(seeds << 5 * house for house, seeds in enumerate(houses))

    def houses(number):
        return [number >> 5 * house & 31 for house in range(12)]

    before = state(0, 0, 0, 0, 2, 4, 1, 2, 2, 1, 0, 5)
    assert list(game.actions(before)) == [4, 5]
    assert houses(game.result(before, 5)) == [0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 2, 0], "four houses are captured"
    assert game.reward(before, 5) == 10
    assert houses(game.result(before, 4)) == [0, 2, 2, 1, 0, 5, 0, 0, 0, 0, 0, 5] and game.reward(before, 4) == 2
    assert houses(game.result(state(0, 0, 0, 0, 0, 13, 0, 0, 0, 0, 0, 1), 5)) == [0, 0, 1, 1, 1, 2, 1, 1, 1, 1, 1, 0]
    taken = state(1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0)  # to take all the other has, or to leave it a move
    assert list(game.actions(taken)) == [0] and list(game.actions(taken - 1)) == [5]
    assert game.is_terminal(state(0, 0, 0, 0, 0, 0, 3)) and game.utility(state(0, 0, 0, 0, 0, 0, 3)) == -3


@pytest.mark.parametrize("game", ["MAZE", *slow("awari:5")])
def test_best_moves_get_somewhere(maze, tmp_path, monkeypatch, game):
    """By any best move play might go round without end, which is worth less than the book says."""
    is_maze = game == "MAZE"
    game = maze(8, 3, 0, 0) if is_maze else load_game(game)
    pipeline.solve(game, tmp_path / "book.lmdb").close()
    report = verification.verify(tmp_path / "book.lmdb", game, play=True)
    assert report.verdict == "proved" and report.played == ("first", "second") and report.positions > 20
    if is_maze:
        monkeypatch.setattr("solver.play.practical.Leading", lambda *given: None)
        raises(DamagedBook, "played by the .* player", verification.verify, tmp_path / "book.lmdb", game, play=True)


# One step at a time, and from 5 or 6 two to a far end that nobody takes if the other is better
Far = ruled(
    "Far",
    fields="end: int = 1\ngain: int = 0\nstay: int = 0\nscore_game = True",
    initial="9",
    actions="yield 1\nif state == 5 or state == 6:\n    yield 2",
    result="state - 1 if action == 1 else 77",
    is_terminal="state == 0 or state == 77",
    utility="self.end if state == 77 else 1",
    reward="self.gain if action == 2 else 0",
    endless="self.stay",
)
MOST = MARGIN.most - 1
RULES = {0: ("is terminal with a margin", "utilities"), 1: ("has a move that scores", "rewards")}


@pytest.fixture(params=[plainly, by_kernels])
def either_way(request, monkeypatch):
    """In plain Python and by kernels, which run as they are written; no random games look at the rules before."""
    interpret(monkeypatch)
    request.param(monkeypatch)
    monkeypatch.setattr("solver.solving.job.random_games", lambda game, progress: [])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("margin", [MOST + 1, -MOST - 1, 2**62, -(2**62), -(2**63)])
def test_margins_beyond_the_limits_are_refused_by_every_way(tmp_path, either_way, rule, margin):
    """Also where nobody chooses them."""
    given = [1, 0]
    given[rule] = margin
    message = r"state (77|5|6):? {} .*2\*\*60 or more: {} must be smaller".format(*RULES[rule])
    raises(GameError, message, pipeline.solve, Far(*given), tmp_path / "book.lmdb")
    assert not list(tmp_path.iterdir())
    given[rule] = margin // abs(margin) * (MOST - 1)  # the end counts, too
    with pipeline.solve(Far(*given)) as book:
        truth = naive.solve(book.game)
        assert dict(book.items()) == {state: truth[state] for state in book}
        assert verification.verify(book.path, book.game).verdict == "proved"


def test_rewards_that_add_up_beyond_the_limits_are_refused(tmp_path, either_way):
    message = r"margins of 2\*\*60 or more: .* must be smaller"
    raises(GameError, message, pipeline.solve, Far(-MOST, MOST), tmp_path / "book.lmdb")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("stake", [1 << 16, 1 << 60, -(1 << 62)])
def test_endless_play_is_worth_no_more_than_merits_hold(maze, either_way, stake):
    """It was cut to 16 bits, of which 2**62 leaves 0."""
    game = maze(12, 3, 1, stake)
    if abs(stake) >= MARGIN.most:
        raises(GameError, r"2\*\*60 or more for endless play: endless must be smaller", pipeline.solve, game)
        return
    with pipeline.solve(game) as book:
        truth = naive.solve(game)
        assert dict(book.items()) == {state: truth[state] for state in book}


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
    truth, rules = naive.solve(game), Rules(game)
    some = {state: value for state, value in truth.items() if state % 2}
    for player in (Player(known, game, seconds=None) for known in (truth, some, {})):
        answer, moves = player.examine(0)
        assert answer.value == truth[0] == moves[0].value and moves[0].best
        for move in moves:
            assert move.child_value == truth[move.child]
        assert player.choose(0).value == truth[0]
        state = 0
        for action, child in player.line(0):
            assert rules.lifted(truth[child].score, state, action, child) == truth[state].score
            state = child
        assert game.is_terminal(state)


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
        ({"score_game": False}, "reward.*set score_game = True in the class"),
        ({"score_game": False, "reward": None, "endless": lambda self, state: 1}, "endless.*set score_game = True"),
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
