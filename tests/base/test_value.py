"""Values and the only arithmetic on them."""

import copy
import itertools

import pytest

from solver.base.errors import MethodError
from solver.base.expectations import UNIT_BITS, Expectation
from solver.base.kinds import CONVERSION, MARGIN, NIMBER, OUTCOME, WDL, Units
from solver.base.value import WIN, Value, drop, lift, merit_of, value_of
from solver.rules.game import kind_of
from tests.refusals import raises

BEST_FIRST = [Value(1, 1), Value(1, 3), Value(1, 100), Value(0), Value(-1, 100), Value(-1, 2), Value(-1, 0)]


def test_merits_order_quick_wins_before_slow_ones_and_slow_losses_before_quick_ones():
    merits = [merit_of(value) for value in BEST_FIRST]
    assert merits == sorted({*merits}, reverse=True)


@pytest.mark.parametrize("win", [WIN, 127, 2**31 - 1])
def test_a_merit_gives_its_value_back(win):
    for value in BEST_FIRST:
        assert value_of(merit_of(value, win), win=win) == value
    for margin in (-3, 0, 12):
        assert value_of(merit_of(Value(margin), win), score_game=True, win=win) == Value(margin)


def test_drop_undoes_lift():
    merits = [merit_of(value) for value in BEST_FIRST[:-1]]
    for merit, same_mover in itertools.product(merits, (False, True)):
        assert lift(drop(merit, same_mover, False), same_mover, False) == merit
        assert lift(drop(merit, same_mover, True), same_mover, True) == merit


def test_a_game_has_one_kind_of_values():
    for kind in (OUTCOME, WDL, CONVERSION, NIMBER):
        assert kind_of(False, False, copy.copy(kind)) is kind
    assert kind_of(True, False) is kind_of(True, False, WDL) is MARGIN
    assert kind_of(True, True) == Expectation("margin") and kind_of(False, True, WDL).of == "utility"
    assert [kind.kept(Value(1, 3)) for kind in (OUTCOME, WDL)] == [Value(1, 3), Value(1)]


def test_a_kind_knows_the_distances_of_a_book():
    kinds = (OUTCOME, WDL, CONVERSION, MARGIN, NIMBER)
    assert [kind.has_distances for kind in kinds] == [True, False, True, False, False]
    assert CONVERSION.basis is WDL and CONVERSION.values([Value(1, 3), Value(0)]) == [Value(1), Value(0)]
    assert CONVERSION.palette_kind.fits(Value(1, 3)) and CONVERSION.fits(Value(1)) and not CONVERSION.fits(Value(1, 3))


EXPECTED = Units(Expectation("utility", 2.0**-30, 1e-9), 1, 1 << UNIT_BITS, 2)


@pytest.mark.parametrize(
    ("units", "number", "value", "words"),
    [
        (Units(OUTCOME, 127), 127 - 5, Value(1, 5), "win in 5"),
        (Units(WDL), -1, Value(-1), "loss"),
        (Units(MARGIN), 3, Value(3), "+3"),
        (EXPECTED, -(1 << UNIT_BITS - 2), Value(-0.25), "-0.250000 (37.5000 %)"),
    ],
)
def test_a_kind_says_what_the_numbers_of_a_solve_are(units, number, value, words):
    assert units.value(number) == value
    assert units.kind.words(units.value(number)) == words
    assert MARGIN.words(Value(0)) == "0"
    assert units.agrees(number, units.lift(units.lift(number, True, 1), True, -1)) or units.kind is OUTCOME
    listed = units.kind.listed({number: 1, -number: 1})
    assert listed is None or listed == sorted((number, -number), reverse=True)


def test_a_kind_says_what_it_is_not_for():
    assert OUTCOME.refusal("retrograde", "nim") is None
    raises(MethodError, "the values of nim are margins, .*: leave it out", MARGIN.refuse, "wdl", "nim")
    assert Expectation("utility").refusal("minimax", "pig") == "pig is a game of chance: use expectiminimax"
