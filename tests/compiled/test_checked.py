"""Compiled rules give Python's integers, or say where they do not."""

import pytest

from solver.base.errors import UncompiledRules
from solver.check.conformance import random_games
from solver.check.playouts import states_of
from solver.compiled import agreement, binding, identity
from solver.rules.game import Rules, load_game
from solver.sweep import exhaustive
from tests import ROOT, checking
from tests.games import CHANCE_GAMES, MORE_GAMES, SMALL_GAMES

pytest.importorskip("numba")
QUICK = {
    *("sums and products", "masked afterwards", "variables without a value"),
    *(
        "constants from 2**63 on",
        "ints and floats that meet in a list or tuple",
        "`~` of a truth value, `is` of numbers",
    ),
}


def rows(groups):
    return [pytest.param(*row, marks=() if row[0] in QUICK else pytest.mark.slow, id=row[0]) for row in groups.items()]


@pytest.mark.parametrize(("name", "bodies"), rows(checking.EXACT | checking.CAUTIOUS))
def test_operations_are_pythons_or_raise(tmp_path, name, bodies):
    for body, function in zip(bodies, checking.functions_of(tmp_path, bodies), strict=True):
        counts = checking.judged(function, checking.pairs_for(body))
        assert counts["silent"] == [], body
        assert counts["same"], body
        assert not counts["alarm"] or name in checking.CAUTIOUS, body


@pytest.mark.parametrize(("name", "bodies"), rows(checking.REFUSED))
def test_code_that_differs_from_python_is_refused(tmp_path, name, bodies):
    for body, function in zip(bodies, checking.functions_of(tmp_path, bodies), strict=True):
        reason = checking.refusal(function)
        assert reason is not None, body
        assert "functions.py line " in reason or body.startswith(("try", "math", "a **", "2.0 **")), reason


@pytest.mark.slow
def test_docs_print_the_table(tmp_path):
    text = (ROOT / "docs" / "reference" / "rules.md").read_text("utf-8")
    assert "\n".join(checking.table(tmp_path)) in text


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_random_functions_are_pythons_or_raise(tmp_path, seed):
    writer = checking.Writer(seed)
    compiled = 0
    for function in checking.functions_of(tmp_path, [writer.body() for _ in range(2 if seed == 0 else 60)]):
        if checking.refusal(function) is None:  # constants beyond 64 bits are refused
            counts = checking.judged(function)
            assert counts["silent"] == []
            compiled += 1
    assert compiled


ODD = (
    *("best = INF\nbest = min(best, a)\nreturn best == b", "Kind.LARGE + a", "a << Kind.LEFT", "twice(Kind.LARGE) + a"),
    "x = (a, 1) if b > 0 else (0.5, 1)\nreturn x[0]",
    "x = None\nif b > 0:\n    x = a\nelif b:\n    x = 0.5\nreturn x",
    *("NUMPYS_TRUE + True", "bits_of(INT64[a % 4]) - 3", "keyed(a, b)"),
)  # fmt: skip
ODD_WIDE = ("r = min(2.0**80, a)", "r = max(a, 0.5)", "x = [3]\nx.append(a)\nr = x[1]", "r = sorted((b, a, 3))[2]")


def test_odd_functions_are_pythons_or_raise(tmp_path):
    ends = (-(1 << 63), -3, 0, 1, (1 << 53) + 1, (1 << 63) - 1)
    silent, calls = checking.differences(tmp_path, ODD, ends)
    assert not silent
    assert calls
    wide = [checking.WIDE_BODY.format(body) for body in ODD_WIDE]
    assert not checking.differences(tmp_path, wide, ends, checking.WIDTH)[0]


@pytest.mark.stress
def test_all_odd_functions_are_pythons_or_raise(tmp_path):
    silent, calls = checking.differences(tmp_path, checking.odd_bodies())
    assert not silent
    assert calls > 300_000


@pytest.mark.stress
def test_all_odd_wide_functions_are_pythons_or_raise(tmp_path):
    silent, calls = checking.differences(tmp_path, checking.odd_wide_bodies(), width=checking.WIDTH)
    assert not silent
    assert calls > 50_000


STAR = '''
from typing import NamedTuple

import numpy as np

BITS = np.array([0, 1], np.int64)


class Star(NamedTuple):
    """Every action ends the game; the utility of one end in each {count} takes an operator to its limit."""

    ends: int = 100

    def initial(self):
        return 0

    def actions(self, state):
        for action in range(1, self.ends):
            yield action

    def result(self, state, action):
        return action

    def is_terminal(self, state):
        return state > 0

    def utility(self, state):
        top = (1 << 62) + (state & 1)
{lines}
        return 1 if state % 3 else -1
'''
LIMITS = (
    "top + top > 0",
    "top - -top > 0",
    "top * 2 > 0",
    "(top << 1) > 0",
    "(1 << state + 56) > 0",
    "-(top * -2) > 0",
    "abs(-top - top + (state & 1) * 2) > 0",
    "top * 2 // 3 > 0",
    "(top + top) >> 1 > 0",
    "top ** 2 > 0",
    "sum([top, top]) > 0",
    "(-8).bit_count() == 1",
    "(-8).bit_length() == 4",
    "(1 << 70 & 255) == 0",
    "top / 3 > 2",
)


def star(folder, limits):
    """Rules of which end number 7 + 2 * i meets the limit of that index, and no other does."""
    lines = "".join(
        f"        if state == {7 + 2 * index}:\n            return 1 if {limit} else -1\n"
        for index, limit in enumerate(limits)
    )
    path = folder / "star.py"
    path.write_text(STAR.format(count=100, lines=lines))
    return load_game(f"{path}::Star")


def test_the_one_state_at_a_limit_is_noticed_or_right(tmp_path):
    game = star(tmp_path, LIMITS)
    twins = agreement.Twins(game, True, False)
    noticed = 0
    for state in range(1, game.ends):
        plain, fast = twins.plain(state), twins.compiled(state)
        if isinstance(fast, str):
            assert "star.py line " in fast
            assert state in range(7, 7 + 2 * len(LIMITS), 2)
            noticed += 1
        else:
            assert plain == fast
    assert noticed == 12  # all but the counts of bits and the shift that a mask follows


@pytest.mark.slow  # the backward pass names them in the same way
def test_the_forward_pass_names_the_state_and_the_line(tmp_path):
    game = star(tmp_path, ["top + top > 0"])
    with pytest.raises(UncompiledRules, match=r"state 7 fails with OverflowError: star.py line 30: .* beyond 64 bits"):
        exhaustive.solve(Rules(game))


REWARDS = '''
from typing import NamedTuple


class Rewards(NamedTuple):
    """A race to 30 in steps of 1 and 2; one step scores a sum that leaves 64 bits on the way."""

    score_game = True
    last: int = 30

    def initial(self):
        return 0

    def tier(self, state):
        return state

    def actions(self, state):
        yield 1
        yield 2

    def result(self, state, action):
        return state + action

    def is_terminal(self, state):
        return state >= self.last

    def utility(self, state):
        return 0

    def reward(self, state, action):
        top = 1 << 62
        if state == 17:
            return (top * 2 >> 62) + action
        return action
'''


def test_the_backward_pass_names_the_state_and_the_line(tmp_path):
    (tmp_path / "rewards.py").write_text(REWARDS)
    with pytest.raises(UncompiledRules, match="state 17 fails with OverflowError: rewards.py line 33: "):
        exhaustive.solve(Rules(load_game(f"{tmp_path / 'rewards.py'}::Rewards")))


FRACTION = REWARDS.replace("return (top * 2 >> 62) + action", "return action / 2")


def test_a_fraction_at_one_state_is_refused(tmp_path):
    (tmp_path / "rewards.py").write_text(FRACTION)
    with pytest.raises(UncompiledRules, match="reward gives a float, maybe only in some states: it must give an int"):
        exhaustive.solve(Rules(load_game(f"{tmp_path / 'rewards.py'}::Rewards")))


WIDE = """
from typing import NamedTuple


class Wide(NamedTuple):
    bits = 100
    ends: int = 14

    def initial(self):
        return 1 << 99

    def actions(self, state):
        for action in range(1, self.ends):
            yield action

    def result(self, state, action):
        return (1 << 99) + (action << 64)

    def is_terminal(self, state):
        return state != 1 << 99

    def utility(self, state):
        action = (state >> 64) & 255
        big = state | ((1 << 99) - 1)
        if action == 1:
            return 1 if (big << 28) > 0 else -1
        if action == 2:
            return 1 if big * big > 0 else -1
        if action == 3:
            return 1 if (big << 27) + (big << 27) > 0 else -1
        if action == 4:
            return 1 if big // (action - 4) > 0 else -1
        if action == 5:
            return 1 if big >> (action - 6) > 0 else -1
        if action == 6:
            return 1 if len(range(big)) > 0 else -1
        if action == 7:
            return 1 if (5, 6)[big - 2**70] == 5 else -1
        if action == 8:
            return 1 if (1 << (action - 9)) > 0 else -1
        if action == 9:
            return 1 if ((big << 40) & 255) == 0 else -1
        if action == 10:
            return 1 if (0 - big).bit_count() == 100 else -1
        if action == 11:
            return 1 if (big << 26) + (big << 26) > 0 else -1
        if action == 12:
            return 1 if -big - big - big < 0 else -1
        return 1 if (big * 3) & 1 else -1
"""


def test_wide_numbers_are_pythons_or_raise(tmp_path):
    (tmp_path / "wide.py").write_text(WIDE)
    game = load_game(f"{tmp_path / 'wide.py'}::Wide")
    twins = agreement.Twins(game, False, True)
    ends = [game.result(game.initial(), action) for action in range(1, game.ends)]
    answers = [twins.compiled(end) for end in ends]
    assert all("wide.py line " in answer for answer in answers[:8])
    assert answers[8:] == [twins.plain(end) for end in ends[8:]]


LISTS = """
from typing import NamedTuple


class Lists(NamedTuple):
    bits = 128
    goal: int = 24

    def initial(self):
        return 1 << 100

    def starts(self):
        return [1 << 100, (1 << 100) + 1]

    def actions(self, state):
        {body}

    def result(self, state, action):
        return state + action

    def is_terminal(self, state):
        return (state & 1023) >= self.goal

    def utility(self, state):
        return -1
"""


@pytest.mark.parametrize(
    "body",
    [
        "return [action for action in (1, 2, 3) if (state & 1023) + action <= self.goal]",
        pytest.param("moves = [1, 2]; return moves if state & 1 else moves[:1]", marks=pytest.mark.slow),
    ],
)
def test_lists_of_moves_are_freed_once(tmp_path, body):
    from numba.core.runtime import _nrt_python, rtsys

    (tmp_path / "lists.py").write_text(LISTS.format(body=body))
    game = load_game(f"{tmp_path / 'lists.py'}::Lists")
    twins = agreement.Twins(game, False, False)
    states = [game.initial() + number for number in range(20)]
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    assert [twins.compiled(state) for state in states] == [twins.plain(state) for state in states]
    after = rtsys.get_allocation_stats()
    assert after.mi_free - before.mi_free == after.mi_alloc - before.mi_alloc > 0


def test_a_list_of_wide_moves_is_refused(tmp_path):
    (tmp_path / "lists.py").write_text(LISTS.format(body="return [1 << 70, 1 << 71]"))
    with pytest.raises(UncompiledRules, match="actions gives a list of numbers beyond 63 bits: yield them"):
        agreement.compare(load_game(f"{tmp_path / 'lists.py'}::Lists"), [1 << 100])


PARAMETER = """
import enum
from typing import NamedTuple


class Level(int):
    def __add__(self, other):
        return 7


class Odd(NamedTuple):
    level: int = Level(3)

    def initial(self):
        return 0
"""


def test_a_parameter_with_operators_of_its_own_does_not_compile(tmp_path):
    (tmp_path / "parameter.py").write_text(PARAMETER + LISTS[LISTS.index("    def starts") :].format(body="return [1]"))
    with pytest.raises(UncompiledRules, match="a parameter is a Level: write a plain number"):
        agreement.Twins(load_game(f"{tmp_path / 'parameter.py'}::Odd"), False, False).compiled(1)


@pytest.mark.slow
def test_a_module_stops_where_the_rules_leave_64_bits(tmp_path):
    from solver.compiled.module import building
    from solver.wasm.host import Module

    pytest.importorskip("wasmtime", exc_type=(ImportError, OSError))  # its library may not load
    rules = Rules(star(tmp_path, ["top + top > 0", "top * (top + 1) > 0"]))
    module = Module(building.build(rules), rules)
    for state in (7, 9):
        with pytest.raises(UncompiledRules):
            module.ask("utility", state)
    assert module.ask("utility", 8) == rules.utility(8)


@pytest.mark.stress
@pytest.mark.parametrize("text", [*SMALL_GAMES, *MORE_GAMES, *CHANCE_GAMES])
def test_the_packages_own_rules_keep_within_64_bits(monkeypatch, text):
    monkeypatch.setattr(identity, "CHECKS_ALL", True)
    binding.bind.cache_clear()
    game = load_game(text)
    if Rules(game).plain_only:
        pytest.skip("runs in plain Python only")
    agreement.compare(game, states_of(random_games(game, playouts=20)))
    binding.bind.cache_clear()
