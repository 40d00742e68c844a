"""Bad rules, each caught with the state in the message."""

import pytest

from solver.base.errors import GameError
from solver.check import conformance, soundness
from solver.check.conformance import check_game
from solver.games.connect_four import ConnectFour
from solver.games.einstein import Einstein
from solver.games.piglet import Piglet
from solver.rules.game import load_game
from tests.refusals import raises
from tests.written import write_rules

GOOD = {"initial": "0", "actions": "yield from (1, 2)", "result": "state + action", "is_terminal": "state >= 8"}
GOOD |= {"utility": "-1", "tier": "state", "canonical": "state"}


@pytest.fixture(autouse=True)
def nodes_decide_not_the_clock(monkeypatch):
    for name in ("SLOW", "PLAYED_SECONDS", "FOLDING_SECONDS"):
        monkeypatch.setattr(conformance, name, 1000.0)
    for name in ("SECONDS", "COMPARED_EACH", "COMPARED_SECONDS"):
        monkeypatch.setattr(soundness, name, 1000.0)


def load(tmp_path, name, change):
    bodies = {**GOOD, **change}
    return load_game(write_rules(tmp_path / f"{name}.py", name="Rules", fields="", head="import random", **bodies))


def dice(chance, to_move="0"):
    """Steps of one, and a throw in every odd state."""
    more = f"def to_move(self, state): return {to_move}\ndef chance(self, state):\n    {chance}"
    return {"actions": "yield from [1] * (state % 2 == 0)", "is_terminal": "state >= 20", "utility": "1", "more": more}


def throw(outcome, to_move="0"):
    return dice(f"if state % 2: yield {outcome}", to_move)


def naming(body):
    stuck = "yield from (1, 2) if state != 5 else ()"
    return {"actions": stuck, "more": f"def format_action(self, state, action): return {body}"}


# Twenty choices between 0 and 1: an odd number of ones wins for who moves last
LONG = {"initial": "1", "actions": "yield from (0, 1)", "result": "2 * state + action", "tier": "state.bit_length()"}
LONG |= {"is_terminal": "state >= 1 << 20"}
OUTSIDE, WEIGHT = r"is outside \[0, 2\*\*63\)", "weights are whole numbers from 1 on"
BAD = {
    "negative": ({"result": "state + action - 100 * (state == 6)"}, rf"result\(6, .\) {OUTSIDE}"),
    "too_large": ({"result": "2**63 if state > 4 else state + action"}, OUTSIDE),
    "float_state": ({"result": "state + action / 1"}, "is float: states are plain ints"),
    "bool_state": ({"initial": "True"}, "the start is bool"),
    "float_action": ({"actions": "yield 1.0"}, "has the action 1.0: actions are ints"),
    "negative_action": ({"actions": "yield -1"}, "has the action -1"),
    "twice": ({"actions": "yield from (1, 1)"}, "has an action twice"),
    "endless": ({"actions": "yield from __import__('itertools').count()"}, "more than 65536 actions"),
    "failing": ({"result": "[1, 2][state]"}, r"(?<!result )result\(2, .\) fails: IndexError in failing.py line 9: l"),
    "stuck": ({"actions": "yield from () if state == 5 else (1, 2)"}, "state 5 .* has no actions and is not"),
    "no_utility": ({"utility": "None"}, "is terminal, its utility is None"),
    "failing_utility": ({"utility": "1 // 0"}, r": utility\(.*\) fails: ZeroDivisionError in .* line 13: (int|div)"),
    "large_utility": ({"utility": "5"}, "utility 5: -1, 0 or 1, or say score_game = True"),
    "end_of_nim": ({"more": "impartial = True", "utility": "1"}, "utility 1: -1 alone with impartial = True"),
    "falling_tier": ({"tier": "20 - state"}, "is in tier 20, its child . in .*: tier must never decrease"),
    "negative_tier": ({"tier": "state - 1"}, "has tier -1"),
    "not_idempotent": ({"canonical": "max(0, state - 1)"}, "it must be idempotent"),
    "not_preserving": ({"canonical": "state - state % 2"}, "they must be equal|unlike its canonical"),
    "random": ({"result": "state + random.choice((1, 2))"}, "rules must be deterministic"),
    "failing_actions": ({"actions": "yield from [1] * (1 // state)"}, r": actions\(0\) fails: Zero.* in .* line 7: "),
    "random_utility": ({"utility": "random.choice((-1, 0, 1))"}, r"utility\(.*\) differs from call to call"),
    "random_end": ({"is_terminal": "state >= 6 + random.randrange(3)"}, "differs from call to call"),
    "random_actions": ({"actions": "yield random.choice((1, 2))"}, "actions differ from call to call"),
    "third_player": ({"more": "def to_move(self, state): return state % 3"}, "has player 2 to move"),
    "failing_start": ({"initial": "{}[0]"}, r"initial\(\) fails: KeyError in failing_start.py line 5: 0"),
    "negative_place": ({"more": "def placed(self, draw): return -2"}, "state -2: the start is outside"),
    # Moves that lead to the fault, as the game names them; rules that fail to name one do not hide it
    "unnamed": (naming("str(action)"), r"state 5 after the moves [12 ]+: has no actions"),
    "named": (naming("'take ' + 'abc'[action]"), r"state 5 after the moves (take [bc] ?)+: has no actions"),
    "failing_name": (naming("'abc'[action + 9]"), r"state 5 after the moves [12 ]+: has no actions"),
    # Winners and losers that are merged at the end of a long game, and a ply before it
    "merged_end": (
        LONG | {"utility": "-1 if state.bit_count() % 2 else 1", "canonical": "state & ~1"},
        "must be equal",
    ),
    "merged_before": (
        LONG | {"utility": "-1 if state % 4 == 3 else 1", "canonical": "state & ~2 if state >= 1 << 19 else state"},
        "they must be equal",
    ),
    "float_weight": (throw("0.5, state + 1"), f"has the weight 0.5: {WEIGHT}"),
    "no_weight": (throw("0, state + 1"), f"has the weight 0: {WEIGHT}"),
    "bool_weight": (throw("True, state + 1"), f"has the weight True: {WEIGHT}"),
    "large_weights": (throw("from [(2**62, state + 1)] * 2"), r"weights of 2\*\*63 or more in all"),
    "no_pair": (throw("state + 1"), r"chance yields 2: it must yield \(weight, next state\)"),
    "negative_throw": (throw("1, state - 10"), f"chance leads to from 1 {OUTSIDE}"),
    "float_throw": (throw("1, state + 0.5"), "chance leads to from 1 is float"),
    "failing_throw": (throw("1, [][0]"), r"chance\(1\) fails: IndexError in .* line"),
    "random_throw": (throw("random.randrange(1, 10**9), state + 1"), "chance differs from call to call"),
    "falling_throw": (throw("1, state - 1"), "its child 0 in 0: tier must never decrease"),
    "both": (dice("yield 1, state + 1"), "has both chance and actions, which are not asked for then"),
    "third_thrower": (throw("1, state + 1", "2 * (state == 1)"), "has player 2 to move: to_move is 0 or 1"),
    "endless_throw": (throw("1, state"), "comes after 100 chance nodes in a row: make one of them"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_rules_are_named(tmp_path, name):
    change, message = BAD[name]
    raises(GameError, rf"^(?=.*state )[^\n]*({message})[^\n]*$", check_game, load(tmp_path, name, change))


def test_good_rules_pass(tmp_path):
    check_game(load(tmp_path, "good", {}))
    thrown = throw("from [(1, state + 1), (3, state + 3), (1, state + 1)]", "state // 2 % 2")
    assert {0, 1, 2} <= set(check_game(load(tmp_path, "good_dice", thrown)))
    # Starts that are drawn by lot, and sampled of many
    check_game(load(tmp_path, "placed", {"more": "def placed(self, draw): return draw % 3 - 1"}))
    many = {"more": "def starts(self): yield from range(10**12)", "tier": "0", "is_terminal": "state >= 2"}
    check_game(load(tmp_path, "many", many), playouts=3)
    # A chance node need not bear to be asked for actions
    touchy = throw("1, state + 1") | {"actions": "yield from [1] * (1 // (1 - state % 2))"}
    assert 1 in check_game(load(tmp_path, "touchy", touchy))


def test_methods_that_fail_or_lack_another_are_named(tmp_path):
    failing = load(tmp_path, "failing", {"more": "def placed(self, draw): return 1 // 0"})
    raises(GameError, "placed fails: ZeroDivisionError in failing.py line", check_game, failing)
    sideless = {"more": "def chance(self, state): yield 1, state + 2"}
    raises(GameError, r"chance\(state\) but no to_move\(state\)", check_game, load(tmp_path, "sideless", sideless))


def test_rules_that_do_not_end_are_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(conformance, "SLOW", 0.2)
    game = load(tmp_path, "slow_rules", {"is_terminal": "all(True for _ in iter(int, 1))"})
    raises(GameError, "they must end", check_game, game)


def forgetful(self, state):
    """Takes an odd total of the turn for the even one below."""
    twin = Piglet.canonical(self, state)
    return twin if self.is_terminal(twin) else twin & ~2


def sound(game):
    return ConnectFour(*game)


def undrawn(self, state):
    return 1 if self.is_terminal(state) else ConnectFour.replies(self, state)


def one_reply(self, state):
    return (replies := sound(self).replies(state)) & -replies


SURE = "speak of sure outcomes: leave them out of a game of chance"
NAMED = "what the rules say of it fails: ZeroDivisionError in test_conformance.py line"


FOUR = (ConnectFour, 4, 3, 3)
HINTS = {
    "canonical-of-chance": ((Piglet,), "canonical", forgetful, "is worth .*, its canonical .*must be equal"),
    "bounds-of-chance": ((Einstein,), "bounds", lambda self, state: (0, 0), r"is worth .*, its bounds are \(0, 0\)"),
    "outlook-of-chance": ((Piglet,), "outlook", lambda self, state: 0, SURE),
    "replies-of-chance": ((Piglet,), "replies", lambda self, state: 3, SURE),
    "no-outlook": (FOUR, "outlook", lambda self, state: 0, "has outlook 0, by two plies of play -?1"),
    "failing-outlook": (FOUR, "outlook", lambda self, state: 1 // 0, NAMED),
    "followup": (FOUR, "followup", lambda self, state: 0, "whose followup is not its outlook"),
    "no-replies": (FOUR, "replies", lambda self, state: 0, "has no legal replies"),
    "few-replies": (FOUR, "replies", one_reply, "than its replies"),
    "bounds": (FOUR, "bounds", lambda self, state: (0, 0), r"is worth -?1, its bounds are \(0, 0\)"),
    "longest": (FOUR, "longest", lambda self, state: 2, "ends after . plies, longest is 2"),
    "score-game": (FOUR, "score_game", True, "which speaks of wins and losses"),
    "drawn-reply": ((ConnectFour, 2, 2), "replies", undrawn, "where outlook and replies must be 0"),
}


@pytest.mark.parametrize("case", HINTS)
def test_unsound_hints_are_named(case):
    (base, *size), name, hint, message = HINTS[case]
    methods = {"outlook": lambda self, state: sound(self).outlook(state)} if base is ConnectFour else {}
    raises(GameError, message, check_game, type("Hasty", (base,), {**methods, name: hint})(*size))
