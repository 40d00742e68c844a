"""Games of chance: published values, and the plain algorithms against an independent judge.

The rules written apart, of which some figures are, share no code with the package; Git's history has them as
tests/dice_games.py.
"""

import itertools
import math
from fractions import Fraction

import pytest

from solver.base.errors import BudgetExceeded, GameError, MethodError
from solver.rules.game import load_game
from solver.search import Budget, alphabeta, value_iteration
from tests import chance
from tests.games import CHANCE_ACYCLIC, CHANCE_CYCLIC
from tests.oracles import CHANCE_ORACLES, LAST_CHECKERS, PIGLET
from tests.refusals import raises
from tests.ways import quickly, slowly
from tests.written import ruled, write_rules

JUDGED = 3_000  # states that the judge takes in the fast tests
SIZED = [oracle for oracle in CHANCE_ORACLES if oracle.states is not None]


def wins(expectation):
    """The winning chance that an expectation of utilities -1 and 1 stands for."""
    return (1 + expectation) / 2


@pytest.mark.parametrize(
    "oracle",
    quickly(SIZED, [oracle for oracle in SIZED if oracle.states <= JUDGED]),
    ids=lambda oracle: oracle.game,
)
def test_published_chances(oracle):
    game = load_game(oracle.game)
    values = chance.solve(game, symmetry=True)
    assert len(values) == oracle.states
    start = chance.Rules(game, True).canonical(game.initial())
    assert abs(wins(values[start]) - oracle.chance) <= oracle.error


@pytest.mark.parametrize("text", ["piglet:3", "pig:7,4", "backgammon-bearoff:2,4", "nannon:3,2,3", "einstein:3,2"])
def test_folding_keeps_every_value(text):
    game = load_game(text)
    folded, values = chance.solve(game, symmetry=True), chance.solve(game)
    assert len(folded) < len(values)
    assert all(value == folded[game.canonical(state)] for state, value in values.items())


@pytest.mark.parametrize("text", CHANCE_ACYCLIC)
def test_expectiminimax_is_exact(text):
    game = load_game(text)
    values = chance.solve(game, symmetry=True)
    found = alphabeta.expectiminimax(game)
    assert found.table == values
    assert found.value.score == values[game.canonical(game.initial())]


@pytest.mark.parametrize("text", slowly([*CHANCE_CYCLIC, "backgammon-bearoff:1", "einstein:3,2"], "pig:15"))
def test_value_iteration_keeps_its_error(text):
    game = load_game(text)
    values = chance.solve(game, symmetry=True)
    found = value_iteration.solve(game)
    assert found.table.keys() == values.keys()
    error = found.units.kind.error - found.units.kind.step / 2  # before values are rounded to steps
    assert error < 4e-12
    # the judge solves some equations in floats
    assert max(abs(found.table[state] / found.units.point - value) for state, value in values.items()) <= error + 1e-14


def test_piglet_to_two_points():
    game = load_game("piglet:2")
    values = chance.solve(game)
    assert {text: wins(values[game.parse_position(text)]) for text in PIGLET} == PIGLET
    assert value_iteration.solve(game, game.parse_position("0-1-1")).action == 0  # flips on: 3/5 against 1/2


def test_the_last_checkers_against_one_that_is_off_next():
    game = load_game("backgammon-bearoff:2")
    table = {}
    for checkers, throws in LAST_CHECKERS.items():
        found = alphabeta.expectiminimax(game, game.parse_position(f"{checkers}-1"), table=table)
        assert wins(found.value.score) == Fraction(throws, 36)


def test_bearing_off_by_other_rules():
    game = load_game("backgammon-bearoff:3,3,true")
    values = chance.solve(game, symmetry=True)
    for text, won in (("3-3", 1), ("321-31", Fraction(121, 648)), ("1-333", 1)):
        assert wins(values[game.parse_position(text)]) == won


def test_dice_of_a_position():
    game = load_game("backgammon-bearoff:3")
    plays = {"53-1 42": "5/1 3/1 5/3", "61-1 65": "6/off 6/1", "32-1 65": "3/off", "31-6 11": "3/2 1/off"}
    for text, moves in {**plays, "6-1 31": "6/3 6/5"}.items():
        state = game.parse_position(text)
        assert {game.format_action(state, action) for action in game.actions(state)} == set(moves.split()), text
    for text in ("7-1", "61-", "1-1 7", "3", "start"):
        assert game.parse_position(text) is None
    raises(ValueError, "at most 3 checkers on points 1 to 6", game.parse_position, "1111-1")


def test_nannon_moves():
    """Three checkers each, the first player's at home, a and b; f and e are the second's prime."""
    game = load_game("nannon")
    opening = [*game.chance(game.initial())]
    assert [weight for weight, _ in opening] == [5, 4, 3, 2, 1]

    def moves(state):
        return {game.format_action(state, action): game.result(state, action) for action in game.actions(state)}

    listed = [" ".join(moves(state)) for _, state in opening]
    assert listed == ["b-c", "a-c b-d", "home-c a-d", "home-d", "b-safe"]
    after = moves(opening[2][1])["a-d"]
    (reply,) = (state for _, state in game.chance(after) if "has thrown 1" in game.show(state))
    hit = moves(reply)["e-d"]
    assert game.show(hit).splitlines()[:2] == ["x: 2 home, 0 safe   o: 1 home, 0 safe", ". x . o . o"]


UR = {  # by rules written apart: the winning chance of who begins, and the states in which someone throws
    "1": (0.5300498395248593, 232),
    "1,1": (0.5092376483607279, 294),
    "1,2": (0.5275982581059857, 230),
    "2": (0.5185729074956591, 12_990),
    "2,1": (0.505027398163177, 20_468),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", UR)
def test_ur_by_other_rules(text):
    """Where none of four coins may show heads, someone throws in all placements."""
    game = load_game(f"ur:{text}")
    opening, states = UR[text]
    found = value_iteration.solve(game)
    assert abs(wins(found.value.score) - opening) < 1e-10
    assert sum(state & 7 == 0 for state in found.table) == states
    if game.rules < 2:
        assert states == throwing(*game)


def throwing(pieces, rules):
    """Placements of both sides' men in which the mover has not won."""
    own, shared = (6, 8) if rules == 0 else (4, 12)
    total = 0
    for first, second in itertools.product(range(pieces + 1), repeat=2):
        begun = (pieces - first + (first > 0)) * (pieces - second + 1)
        for one, other in itertools.product(range(first + 1), range(second + 1)):
            alone = math.comb(own, first - one) * math.comb(own, second - other)
            total += begun * alone * math.comb(shared, one) * math.comb(shared - one, other)
    return total


def test_placements_of_ur_and_hypergammon_are_the_published_ones():
    assert [throwing(7, 0), throwing(5, 1), throwing(7, 2)] == [137_892_016, 41_254_034, 500_981_472]
    # The other's checkers of hypergammon are on none of the points taken, on the bar or off
    free = (26 - len({*side} - {0, 25}) for side in itertools.combinations_with_replacement(range(26), 3))
    assert sum(math.comb(places + 2, 3) for places in free) == 7_959_904


HYPERGAMMON = {  # by rules written apart, of a checker a side: the start's value, three sums over all states
    1: (0.20316544849782586, 134.1659629136603, 231.62873800891396, 20.51814986719308),
    2: (0.4063308969956517, 268.3319258273206, 926.5149520356558, 41.03629973438616),
    3: (0.45277313704189026, 297.8121811397239, 1064.5673849356103, 189.54996535270246),
}


@pytest.mark.slow
@pytest.mark.parametrize("most", HYPERGAMMON)
def test_hypergammon_by_other_rules(most):
    """The last sum is of each value times the point on which the mover's checker stands."""
    game = load_game(f"hypergammon:1,{most}")
    found = value_iteration.solve(game)
    ours = {state: found.table[state] / found.units.point for state in found.table if state >> 15}
    sums = sum(ours.values()), sum(value**2 for value in ours.values())
    sums += (sum((state & 31) * value for state, value in ours.items()),)
    assert (found.value.score, *sums) == pytest.approx(HYPERGAMMON[most], abs=1e-7) and len(ours) == 499


PLAYS = {  # how many there are of each throw, by rules written apart, at positions of a random game
    763124472: "7 6 11 7 8 15 7 8 9 15 7 8 9 9 15 7 8 9 9 9 12",
    69413362424: "7 6 11 7 8 15 7 8 9 15 7 8 9 9 15 7 8 9 9 9 12",
    659280567: "9 7 11 7 7 11 8 8 8 15 8 8 8 9 14 8 8 8 9 9 12",
    69178478231: "10 8 13 7 8 11 7 8 7 11 8 9 8 8 13 8 9 8 8 9 12",
    457914039: "13 9 11 10 8 15 10 8 9 12 10 8 9 9 10 10 8 9 9 9 10",
    69175260822: "13 9 11 10 8 14 10 8 9 14 10 8 9 9 11 10 9 10 10 10 10",
    453621333: "14 10 15 9 8 11 10 10 9 12 9 8 7 9 8 11 10 9 11 9 8",
    69069354515: "13 11 14 9 7 7 12 11 9 13 11 9 7 11 10 10 8 6 10 8 5",
    383166901: "5 7 15 6 8 7 7 9 8 9 7 9 8 8 6 7 9 7 8 8 5",
    68830997933: "7 4 5 5 4 8 5 4 5 6 5 4 5 5 4 5 4 5 5 4 2",
}


def test_plays_of_hypergammon_by_other_rules():
    """All throws of some positions with three checkers a side."""
    game = load_game("hypergammon")
    for state, counts in PLAYS.items():
        found = []
        for _, after in game.chance(state):
            plays = [*game.actions(after)] if game.vanishing(after) else []  # none if no checker can move
            assert len({game.result(after, action) for action in plays}) == len(plays)
            assert len({game.format_action(after, action) for action in plays}) == len(plays)
            found.append(len(plays) or 1)
        assert found == [*map(int, counts.split())]


# Stay or throw, for ever; chance as the test says
Ways = ruled(
    "Ways",
    fields="weights: tuple[int, ...] = (1,)",
    actions="yield from (0, 1)",
    result="action",
    is_terminal="state > 2",
    to_move="0",
    chance="if state == 1:\n    for weight in self.weights:\n        yield weight, 2 + weight",
)


@pytest.mark.parametrize("solve", [alphabeta.expectiminimax, value_iteration.solve])
def test_unsound_chance_is_named(solve):
    raises(GameError, r"chance\(1\) has the weight 0: weights are whole numbers from 1 on", solve, Ways((0,)), 1)
    raises(GameError, r"chance\(1\) has the weight 0.5: weights are whole", solve, Ways((0.5,)), 1)
    raises(GameError, r"chance\(1\) leads to 9223372036854775810: it is outside \[0", solve, Ways((1 << 63,)), 1)
    raises(MethodError, r"no chance\(state\): use minimax", solve, load_game("coins"))
    raises(BudgetExceeded, None, solve, load_game("einstein:3,2"), budget=Budget(nodes=100))


def test_play_that_need_not_end_is_refused():
    raises(MethodError, "has cycles, .*: use value iteration", alphabeta.expectiminimax, Ways())
    raises(MethodError, "need not end, whatever the dice", value_iteration.solve, Ways())
    assert not chance.ends_surely(chance.nodes_of(Ways()))


def test_ends_may_be_fractions(tmp_path):
    """A coin decides between ends of a half and a third."""
    halves = write_rules(
        tmp_path / "halves.py",
        head="from fractions import Fraction",
        actions="yield 0",
        result="1",
        chance="if state == 1:\n    yield 1, 2\n    yield 2, 3",
        to_move="0",
        is_terminal="state > 1",
        utility="Fraction(1, state)",
    )
    assert alphabeta.expectiminimax(load_game(halves)).value.score == Fraction(7, 18)
