"""Margins where play can come back to a state: against the naive twin, by every way; and books that deceive."""

import pytest

from solver.base.errors import DamagedBook, GameError, MethodError
from solver.base.kinds import MARGIN
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from solver.search import retrograde, solution_of
from solver.solving import pipeline
from solver.verifying import verification
from solver.verifying.plainly import FAULTS, UNGROUNDED
from tests import naive
from tests.books import write_values
from tests.interpreted import interpret
from tests.refusals import raises
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
    def starts(self):
        for state in range(2 * self.width * self.height):
            yield state
    def to_move(self, state): return state & 1
    def actions(self, state):
        for action in range(1 + self.mixed(state, 9) % 4):
            yield action
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


def test_endless_is_a_margin():
    class Stones:
        def endless(self, state):
            return 1

        actions = result = is_terminal = utility = None

    raises(GameError, "set score_game = True", Rules, Stones())


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
Steps = ruled(
    "Steps",
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
    pytest.importorskip("numba")
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
    raises(GameError, message, pipeline.solve, Steps(*given), tmp_path / "book.lmdb")
    assert not list(tmp_path.iterdir())
    given[rule] = margin // abs(margin) * (MOST - 1)  # the end counts, too
    with pipeline.solve(Steps(*given)) as book:
        truth = naive.solve(book.game)
        assert dict(book.items()) == {state: truth[state] for state in book}
        assert verification.verify(book.path, book.game).verdict == "proved"


def test_rewards_that_add_up_beyond_the_limits_are_refused(tmp_path, either_way):
    message = r"margins of 2\*\*60 or more: .* must be smaller"
    raises(GameError, message, pipeline.solve, Steps(-MOST, MOST), tmp_path / "book.lmdb")
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
