"""Throws that are passed through: positions before them alone are stored, and all values are as if all were."""

from typing import NamedTuple

import pytest

import solver
from solver.base.errors import GameError
from solver.check.conformance import check_game
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from solver.search import nets, value_iteration
from solver.solving import pipeline
from solver.solving.ways import plain
from tests import chance as judge
from tests.refusals import raises
from tests.throws import Race
from tests.ways import compiled, slow, what_is_marked_by_kernels
from tests.written import ruled

__all__ = ["what_is_marked_by_kernels"]  # a fixture


@pytest.mark.parametrize(
    "game", [Race(1, 2), *slow(Race(2, 2), Race(3, 2), Race(3, 3), load_game("ur:1"), load_game("ur:1,1"))]
)
def test_values_are_the_judges_of_all_states(tmp_path, game):
    """Also those of throws, which follow from what is stored."""
    check_game(game)
    truth = judge.solve(game, symmetry=True)
    found = value_iteration.solve(game)
    assert found.table.keys() == {state for state in truth if not game.vanishing(state)}
    error = found.units.kind.error - found.units.kind.step / 2
    _, throw = next(iter(game.chance(game.initial())))  # whose value alone may be asked for
    assert abs(value_iteration.solve(game, throw).value.score - truth[Rules(game).canonical(throw)]) < 1e-8
    farthest = max(abs(found.table[state] / found.units.point - truth[state]) for state in found.table)
    assert farthest <= error + 1e-14 < 1e-12
    path = tmp_path / "book.lmdb"
    pipeline.solve(game, path).close()
    assert solver.verify(path, game).verdict == "proved"
    with solver.Book(path, game) as book:
        player, rules = Player(book), Rules(game)
        assert set(book) == {state for state in found.table if not rules.is_terminal(state)}
        for state in book:
            for outcome in player.outcomes(state):
                assert abs(outcome.child_value.score - truth[rules.canonical(outcome.child)]) < 1e-8
                if game.vanishing(outcome.child):
                    answer, moves = player.examine(outcome.child)
                    assert answer.exact and answer.value == moves[0].value == outcome.child_value
                    assert player.best(outcome.child) == moves[0].action


@compiled
@pytest.mark.interpreted
@pytest.mark.parametrize("text", ["1,2", *slow("2,2", "4,3")])
def test_plain_and_compiled_books_are_the_same_bytes_and_proved(tmp_path, monkeypatch, text):
    from solver.verifying import audit

    game, fast, other = Race(*map(int, text.split(","))), tmp_path / "fast.lmdb", tmp_path / "other.lmdb"
    monkeypatch.setattr(nets, "GAUSS_SEIDEL_STATES", 4)
    monkeypatch.setattr(nets, "TOGETHER", 2)  # several turns a round
    monkeypatch.setattr(plain, "LITTLE", 0)
    pipeline.solve(game, fast).close()
    pipeline.solve(game, other, workers=3).close()
    assert other.read_bytes() == fast.read_bytes()
    for name in ("PLAIN_LIMIT", "LITTLE"):
        monkeypatch.setattr(plain, name, 20_000)
    pipeline.solve(game, other).close()
    assert other.read_bytes() == fast.read_bytes()
    with solver.Book(other, game) as book:
        assert audit.check_values(book, Rules(game), memory=1 << 24, workers=1) is True


# A state of its own whose outcome vanishes: stay, or end; with a second one that stays for ever so likely
Forked = ruled(
    "Forked",
    fields="start: int = 0\nvanished: int = 1",
    initial="self.start",
    chance="yield from [(1, 1), (1, 2)] * (state == 0)",
    vanishing="state == self.vanished",
    actions="yield from (0, 3) * (state == 1)",
    result="action",
    is_terminal="state > 1",
    utility="1 if state == 3 else -1",
    to_move="0",
)


def test_few_states_are_solved_in_fractions():
    """Half the time a win may be chosen, or another try: the other half loses."""
    found = value_iteration.solve(Forked())
    assert found.value.score == 0 and found.table.keys() == {0, 2, 3}
    point = found.units.point
    listed = nets.listed(nets.Net([0, 2], [1, 3], [1, 0], [-point], [2], [point]))
    assert listed == nets.Net([0, 1, 2], [3, 1], [1, 0], [-point, point], [2, 0])
    assert nets.must_end(listed) and nets.solved(listed, [0, 0]) == [0, point]


@pytest.mark.parametrize(
    ("breaks", "message"),
    [
        (1, "starts from state 1, which vanishes: only chance leads to such states"),
        (2, "state 1 vanishes, but chance decides there"),
        (3, r"state \d+ vanishes, but another player is to move there than at state 0"),
        (4, r"state \d+ vanishes, and so does \d+, to which it leads: end it"),
        (5, "state 1 vanishes without an action: let chance lead past it"),
        (6, "state 1 vanishes, but play has ended there"),
    ],
)
def test_what_may_not_vanish_is_refused(breaks, message):
    game = Race(2, 2, False, breaks)
    raises(GameError, message, value_iteration.solve, game)
    if breaks > 1:
        raises(GameError, message, check_game, game)


@compiled
@pytest.mark.interpreted
@pytest.mark.parametrize("breaks", [1, 3, 4, 5, 6])
def test_the_kernels_refuse_it_as_well(monkeypatch, breaks):
    monkeypatch.setattr(plain, "LITTLE", 0)
    raises(GameError, "vanish", pipeline.solve, Race(2, 2, False, breaks))


def test_actions_lead_to_nothing_that_vanishes():
    words = "state 0 vanishes, but the action 0 leads there from state 1: only chance may"
    raises(GameError, words, value_iteration.solve, Forked(1, 0))

    class Sure(NamedTuple):
        initial = actions = result = is_terminal = utility = vanishing = lambda self, *_: 0

    raises(GameError, r"vanishing\(state\) but not chance\(state\)", Rules, Sure())
