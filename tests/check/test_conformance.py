"""Bad rules, each caught with the state in the message."""

import textwrap

import pytest

from solver.base.errors import GameError
from solver.check import soundness
from solver.check.conformance import check_game
from solver.games.connect_four import ConnectFour
from solver.games.einstein import Einstein
from solver.games.piglet import Piglet
from solver.rules.game import load_game

RULES = """
    import random
    from typing import NamedTuple

    class Rules(NamedTuple):
        def initial(self):
            return {initial}

        def actions(self, state):
            {actions}

        def result(self, state, action):
            return {result}

        def is_terminal(self, state):
            return {is_terminal}

        def utility(self, state):
            return {utility}

        def tier(self, state):
            return {tier}

        def canonical(self, state):
            return {canonical}
"""
MORE, BODY = "\n\n        def ", "\n            "  # another method behind the last
GOOD = {
    "initial": "0",
    "actions": "yield from (1, 2)",
    "result": "state + action",
    "is_terminal": "state >= 8",
    "utility": "-1",
    "tier": "state",
    "canonical": "state",
}


def load(tmp_path, name, change):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(RULES.format(**{**GOOD, **change})))
    return load_game(f"{path}::Rules")


def test_good_rules_pass(tmp_path):
    check_game(load(tmp_path, "good_rules", {}))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("negative", {"result": "state + action - 100 * (state == 6)"}, r"result\(6, .\) is outside \[0, 2\*\*63\)"),
        ("too_large", {"result": "2**63 if state > 4 else state + action"}, r"is outside \[0, 2\*\*63\)"),
        ("float_state", {"result": "state + action / 1"}, "is float: states are plain ints"),
        ("bool_state", {"initial": "True"}, "the start is bool"),
        ("float_action", {"actions": "yield 1.0"}, "has the action 1.0: actions are ints"),
        ("negative_action", {"actions": "yield -1"}, "has the action -1"),
        ("twice", {"actions": "yield from (1, 1)"}, "has an action twice"),
        ("endless", {"actions": "yield from __import__('itertools').count()"}, "more than 65536 actions"),
        (
            "failing",
            {"result": "[1, 2][state]"},
            r"(?<!result )result\(2, .\) fails: IndexError in failing.py line 13: list",
        ),
        ("stuck", {"actions": "yield from () if state == 5 else (1, 2)"}, "state 5 .* has no actions and is not"),
        ("no_utility", {"utility": "None"}, "is terminal, its utility is None"),
        ("failing_utility", {"utility": "1 // 0"}, r": utility\(.*\) fails: ZeroDivisionError in .* line 19: int"),
        ("large_utility", {"utility": "5"}, "utility 5: -1, 0 or 1, or say score_game = True"),
        ("falling_tier", {"tier": "20 - state"}, "is in tier 20, its child . in .*: tier must never decrease"),
        ("negative_tier", {"tier": "state - 1"}, "has tier -1"),
        ("not_idempotent", {"canonical": "max(0, state - 1)"}, "it must be idempotent"),
        ("not_preserving", {"canonical": "state - state % 2"}, "they must be equal|unlike its canonical"),
        ("random", {"result": "state + random.choice((1, 2))"}, "rules must be deterministic"),
        (
            "failing_actions",
            {"actions": "yield from [1] * (1 // state)"},
            r": actions\(0\) fails: ZeroDivisionError in failing_actions.py line 10: int",
        ),
        ("random_utility", {"utility": "random.choice((-1, 0, 1))"}, r"utility\(.*\) differs from call to call"),
        ("random_end", {"is_terminal": "state >= 6 + random.randrange(3)"}, "differs from call to call"),
        ("random_actions", {"actions": "yield random.choice((1, 2))"}, "actions differ from call to call"),
        ("third_player", {"tier": f"state{MORE}to_move(self, state):{BODY}return state % 3"}, "has player 2 to move"),
        ("failing_start", {"initial": "{}[0]"}, r"initial\(\) fails: KeyError in failing_start.py line 7: 0"),
    ],
)
def test_bad_rules_are_named(tmp_path, name, change, message):
    with pytest.raises(GameError, match=message) as error:
        check_game(load(tmp_path, name, change))
    assert "state " in str(error.value)
    assert "\n" not in str(error.value)


LONG = """
    from typing import NamedTuple

    class Long(NamedTuple):
        '''Twenty choices between 0 and 1: an odd number of ones wins for who moves last.'''

        def initial(self):
            return 1

        def actions(self, state):
            yield 0
            yield 1

        def result(self, state, action):
            return 2 * state + action

        def is_terminal(self, state):
            return state >= 1 << 20

        def utility(self, state):
            return {utility}

        def canonical(self, state):
            return {canonical}
"""


@pytest.mark.parametrize(
    ("utility", "canonical"),
    [
        ("-1 if state.bit_count() % 2 else 1", "state & ~1"),  # merges winners with losers at the end
        ("-1 if state % 4 == 3 else 1", "state & ~2 if state >= 1 << 19 else state"),  # and a ply before it
    ],
)
def test_a_canonical_that_merges_winners_and_losers_is_found_in_a_long_game(tmp_path, utility, canonical):
    (tmp_path / "long_rules.py").write_text(textwrap.dedent(LONG.format(utility=utility, canonical=canonical)))
    with pytest.raises(GameError, match="they must be equal"):
        check_game(load_game(f"{tmp_path}/long_rules.py::Long"))


DICE = """
    import random
    from typing import NamedTuple

    class Dice(NamedTuple):
        def initial(self):
            return 0

        def actions(self, state):
            if state % 2 == 0:
                yield 1

        def result(self, state, action):
            return state + action

        def is_terminal(self, state):
            return state >= 20

        def utility(self, state):
            return 1

        def tier(self, state):
            return state

        def to_move(self, state):
            return {to_move}

        def chance(self, state):
            {chance}
"""
THROWN = "if state % 2: "


@pytest.mark.parametrize(
    ("chance", "to_move", "message"),
    [
        (f"{THROWN}yield from [(1, state + 1), (3, state + 3), (1, state + 1)]", "state // 2 % 2", None),
        (f"{THROWN}yield 0.5, state + 1", "0", "has the weight 0.5: weights are whole numbers from 1 on"),
        (f"{THROWN}yield 0, state + 1", "0", "has the weight 0: weights are whole"),
        (f"{THROWN}yield True, state + 1", "0", "has the weight True: weights are whole"),
        (f"{THROWN}yield from [(2**62, state + 1)] * 2", "0", r"weights of 2\*\*63 or more in all"),
        (f"{THROWN}yield state + 1", "0", r"chance yields 2: it must yield \(weight, next state\)"),
        (f"{THROWN}yield 1, state - 10", "0", r"chance leads to from 1 is outside \[0, 2\*\*63\)"),
        (f"{THROWN}yield 1, state + 0.5", "0", "chance leads to from 1 is float"),
        (f"{THROWN}yield 1, [][0]", "0", r"chance\(1\) fails: IndexError in .* line"),
        (f"{THROWN}yield random.randrange(1, 10**9), state + 1", "0", "chance differs from call to call"),
        (f"{THROWN}yield 1, state - 1", "0", "its child 0 in 0: tier must never decrease"),
        ("yield 1, state + 1", "0", "has both chance and actions, which are not asked for then"),
        (f"{THROWN}yield 1, state + 1", "2 * (state == 1)", "has player 2 to move: to_move is 0 or 1"),
        (f"{THROWN}yield 1, state", "0", "comes after 100 chance nodes in a row: make one of them"),
    ],
)
def test_chance_nodes_are_checked(tmp_path, chance, to_move, message):
    (tmp_path / "dice_rules.py").write_text(textwrap.dedent(DICE.format(chance=chance, to_move=to_move)))
    game = load_game(f"{tmp_path}/dice_rules.py::Dice")
    if message is None:
        assert {0, 1, 2} <= set(check_game(game))
        return
    with pytest.raises(GameError, match=message) as error:
        check_game(game)
    assert "state " in str(error.value) and "\n" not in str(error.value)


def test_a_chance_node_need_not_bear_to_be_asked_for_actions(tmp_path):
    rules = DICE.format(chance=f"{THROWN}yield 1, state + 1", to_move="0")
    rules = rules.replace("if state % 2 == 0:", "if 1 // (1 - state % 2):")
    (tmp_path / "dice_rules.py").write_text(textwrap.dedent(rules))
    assert 1 in check_game(load_game(f"{tmp_path}/dice_rules.py::Dice"))


def forgetful(self, state):
    """Takes an odd total of the turn for the even one below."""
    twin = Piglet.canonical(self, state)
    return twin if self.is_terminal(twin) else twin & ~2


@pytest.mark.parametrize(
    ("name", "method", "message"),
    [
        ("canonical", forgetful, "is worth .*, its canonical .*must be equal"),
        ("bounds", lambda self, state: (0, 0), r"is worth .*, its bounds are \(0, 0\)"),
        ("outlook", lambda self, state: 0, "speak of sure outcomes: leave them out of a game of chance"),
        ("replies", lambda self, state: 3, "speak of sure outcomes: leave them out of a game of chance"),
    ],
)
def test_unsound_hints_of_games_of_chance_are_named(monkeypatch, name, method, message):
    for limit in ("COMPARED_EACH", "COMPARED_SECONDS", "SECONDS"):
        monkeypatch.setattr(soundness, limit, 100)  # nodes decide, not the clock
    base = Einstein if name == "bounds" else Piglet
    with pytest.raises(GameError, match=message):
        check_game(type("Hasty", (base,), {name: method})())


def test_a_chance_node_has_a_side(tmp_path):
    rules = DICE.format(chance="yield 1, state + 2", to_move="0").replace("to_move", "moves")
    (tmp_path / "dice_rules.py").write_text(textwrap.dedent(rules))
    with pytest.raises(GameError, match=r"chance\(state\) but no to_move\(state\)"):
        check_game(load_game(f"{tmp_path}/dice_rules.py::Dice"))


def test_rules_that_do_not_end_are_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("solver.check.conformance.SLOW", 0.2)
    game = load(tmp_path, "slow_rules", {"is_terminal": "all(True for _ in iter(int, 1))"})
    with pytest.raises(GameError, match="they must end"):
        check_game(game)


def test_starts_are_sampled(tmp_path):
    change = {"canonical": f"state{MORE}starts(self):{BODY}yield from range(10**12)", "tier": "0"}
    check_game(load(tmp_path, "many_starts", change | {"is_terminal": "state >= 2"}), playouts=3)


def test_the_moves_that_lead_to_the_fault_are_named(tmp_path):
    with pytest.raises(GameError, match=r"state 5 after the moves [12 ]+: has no actions"):
        check_game(load(tmp_path, "path_rules", {"actions": "yield from (1, 2) if state != 5 else ()"}))


@pytest.mark.parametrize(
    ("body", "moves"), [("'take ' + 'abc'[action]", "(take [bc] ?)+"), ("'abc'[action + 9]", "[12 ]+")]
)
def test_the_moves_are_named_as_the_game_names_them(tmp_path, body, moves):
    """Rules that fail to name one do not hide the fault."""
    stuck = f"yield from (1, 2) if state != 5 else (){MORE}format_action(self, state, action):{BODY}return {body}"
    with pytest.raises(GameError, match=rf"state 5 after the moves {moves}: has no actions"):
        check_game(load(tmp_path, "named_rules", {"actions": stuck}))


def sound(game):
    return ConnectFour(*game)


@pytest.mark.parametrize(
    ("name", "hint", "message"),
    [
        ("outlook", lambda self, state: 0, "has outlook 0, by two plies of play -?1"),
        ("outlook", lambda self, state: 2, "has outlook 2, by two plies of play"),
        (
            "outlook",
            lambda self, state: 1 // 0,
            "what the rules say of it fails: ZeroDivisionError in test_conformance.py line",
        ),
        ("followup", lambda self, state: 0, "whose followup is not its outlook"),
        ("replies", lambda self, state: 0, "has no legal replies"),
        ("replies", lambda self, state: 15 << 62, "has no legal replies"),
        ("replies", lambda self, state: sound(self).replies(state) & -sound(self).replies(state), "than its replies"),
        ("bounds", lambda self, state: (0, 0), r"is worth -?1, its bounds are \(0, 0\)"),
        ("longest", lambda self, state: 2, "ends after . plies, longest is 2"),
        ("score_game", True, "which speaks of wins and losses"),
    ],
)
def test_unsound_hints_are_named(name, hint, message):
    def outlook(self, state):
        return sound(self).outlook(state)

    with pytest.raises(GameError, match=message):
        check_game(type("Hasty", (ConnectFour,), {"outlook": outlook, name: hint})(4, 3, 3))


def test_a_draw_that_a_reply_leads_to_says_nothing():
    def replies(self, state):
        return 1 if self.is_terminal(state) else ConnectFour.replies(self, state)

    with pytest.raises(GameError, match="where outlook and replies must be 0"):
        check_game(type("Hasty", (ConnectFour,), {"replies": replies})(2, 2))


def test_starts_that_are_drawn_by_lot_are_looked_at(tmp_path):
    def placing(name, start):
        return load(tmp_path, name, {"canonical": f"state{MORE}placed(self, draw):{BODY}return {start}"})

    check_game(placing("some_placed", "draw % 3 - 1"))
    with pytest.raises(GameError, match="state -2: the start is outside"):
        check_game(placing("none_placed", "-2"))
    with pytest.raises(GameError, match="placed fails: ZeroDivisionError in failing.py line"):
        check_game(placing("failing", "1 // 0"))
