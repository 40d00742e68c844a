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
from tests.ways import compiled, slow, what_is_marked_by_kernels
from tests.written import ruled

__all__ = ["what_is_marked_by_kernels"]  # a fixture

# A race with a throw before each move: two men a side, hits instead of moves, and a throw that moves again.
# Run both men `length` squares by a throw of `sides`; a one may throw the other's foremost man back instead, the most
# throws again. A throw vanishes, or is stored; it `breaks` one of the promises of what vanishes. A state holds the
# throw, 0 before it (3 bits), the squares of the mover's men, of the other's (4 bits each), the mover.
Race = ruled(
    "Race",
    fields="length: int = 4\nsides: int = 3\nstored: bool = False\nbreaks: int = 0",
    initial="1 if self.breaks == 1 else 0",
    chance="""if state & 7 == 0 or self.breaks == 2:
    for throw in range(1, self.sides + 1):
        yield throw, (state ^ (1 << 19 if self.breaks == 3 else 0)) // 8 * 8 + throw""",
    vanishing="not self.stored and (state & 7 > 0 or (self.breaks == 4 and state > 0))",
    actions="""if state & 7 and self.breaks != 5:
    for man in range(2):
        if self.at(state, man) < self.length:
            yield man
    if state & 7 == 1:
        yield 2""",
    result="""throw, mover = state & 7, self.to_move(state)
own, own_too, other, other_too = self.at(state, 0), self.at(state, 1), self.at(state, 2), self.at(state, 3)
if action == 0:
    own = min(self.length, own + throw)
elif action == 1:
    own_too = min(self.length, own_too + throw)
elif other < self.length and (other >= other_too or other_too == self.length):
    other = max(0, other - 1)
else:
    other_too = max(0, other_too - 1)
if throw == self.sides:
    return own << 3 | own_too << 7 | other << 11 | other_too << 15 | mover << 19
return other << 3 | other_too << 7 | own << 11 | own_too << 15 | 1 - mover << 19""",
    is_terminal="""mine, others = state >> 3 & 0xFF, state >> 11 & 0xFF
return mine == 17 * self.length or others == 17 * self.length or (self.breaks == 6 and state & 7 > 0)""",
    utility="1 if state >> 3 & 0xFF == 17 * self.length else -1",
    to_move="state >> 19",
    canonical="state & (1 << 19) - 1",
    tier="""count = 0
for man in range(4):
    count += self.at(state, man) == self.length
return count""",
    more="def at(self, state, man): return state >> 3 + 4 * man & 15",
)


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
