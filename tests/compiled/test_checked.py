"""Compiled rules give Python's integers, or say where they do not."""

import random

import pytest

from solver.base.errors import UncompiledRules
from solver.check.conformance import random_games
from solver.check.playouts import states_of
from solver.compiled import agreement, binding, identity
from solver.rules.game import Rules, load_game
from solver.sweep import exhaustive
from tests import ROOT, checking
from tests.games import CHANCE_GAMES, MORE_GAMES, SMALL_GAMES
from tests.refusals import raises
from tests.ways import slow
from tests.written import line_of, write_rules

pytest.importorskip("numba")


QUICK = ("sums and products", "masked afterwards", "variables without a value")


@pytest.mark.parametrize("name", QUICK)
def test_operations_are_pythons_or_raise(tmp_path, name):
    bodies = checking.EXACT[name]
    for body, function in zip(bodies, checking.functions_of(tmp_path, bodies), strict=True):
        counts = checking.judged(function, checking.pairs_for(body))
        assert counts["silent"] == [], body
        assert counts["same"] and not counts["alarm"], body


REFUSED = ("constants from 2**63 on", "ints and floats that meet in a list or tuple")


@pytest.mark.parametrize("name", REFUSED)
def test_code_that_differs_from_python_is_refused(tmp_path, name):
    for function in checking.functions_of(tmp_path, checking.REFUSED[name]):
        assert "functions.py line " in checking.refusal(function)


@pytest.mark.slow
def test_docs_print_the_table(tmp_path):
    text = (ROOT / "docs" / "reference" / "rules.md").read_text("utf-8")
    assert "\n".join(checking.table(tmp_path)) in text


@pytest.mark.parametrize("seed", [0, *slow(1, 2)])
def test_random_functions_are_pythons_or_raise(tmp_path, seed):
    chance, compiled = random.Random(seed), 0
    bodies = [checking.random_body(chance) for _ in range(2 if seed == 0 else 40)]
    for function in checking.functions_of(tmp_path, bodies):
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
@pytest.mark.parametrize(
    ("bodies", "width", "least"),
    [(checking.odd_bodies, None, 300_000), (checking.odd_wide_bodies, checking.WIDTH, 50_000)],
    ids=["ints", "wide"],
)
def test_all_odd_functions_are_pythons_or_raise(tmp_path, bodies, width, least):
    silent, calls = checking.differences(tmp_path, bodies(), width=width)
    assert not silent
    assert calls > least


LIMITS = (
    "top + top > 0", "top - -top > 0", "top * 2 > 0", "(top << 1) > 0", "(1 << state + 56) > 0", "-(top * -2) > 0",
    "abs(-top - top + (state & 1) * 2) > 0", "top * 2 // 3 > 0", "(top + top) >> 1 > 0", "top ** 2 > 0",
    "sum([top, top]) > 0", "(-8).bit_count() == 1", "(-8).bit_length() == 4", "(1 << 70 & 255) == 0", "top / 3 > 2",
)  # fmt: skip


def star(folder, limits):
    """Rules of which every action ends the game; end 7 + 2 * i meets the limit of that index, and no other does."""
    cases = [f"if state == {7 + 2 * i}:\n    return 1 if {limit} else -1" for i, limit in enumerate(limits)]
    utility = ["top = (1 << 62) + (state & 1)", *cases, "return 1 if state % 3 else -1"]
    bodies = {"actions": "yield from range(1, self.ends)", "result": "action", "is_terminal": "state > 0"}
    fields = "ends: int = 100"
    return load_game(write_rules(folder / "star.py", fields=fields, utility="\n".join(utility), **bodies))


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


def rewards(folder, reward):
    fields, bodies = "score_game = True\ngoal: int = 30", {"utility": "0", "tier": "state", "reward": reward}
    return Rules(load_game(write_rules(folder / "rewards.py", fields=fields, **bodies)))


@pytest.mark.slow
def test_the_passes_name_the_state_and_the_line(tmp_path):
    game = star(tmp_path, ["top + top > 0"])
    line = line_of(tmp_path / "star.py", "top + top")
    words = f"state 7 fails with OverflowError: star.py line {line}: .* 64 bits"
    raises(UncompiledRules, words, exhaustive.solve, Rules(game))
    rules = rewards(tmp_path, "top = 1 << 62\nif state == 17:\n    return (top * 2 >> 62) + action\nreturn action")
    line = line_of(tmp_path / "rewards.py", "top * 2")
    raises(UncompiledRules, f"state 17 fails with OverflowError: rewards.py line {line}: ", exhaustive.solve, rules)


def test_a_fraction_at_one_state_is_refused(tmp_path):
    rules = rewards(tmp_path, "if state == 17:\n    return action / 2\nreturn action")
    raises(UncompiledRules, "reward gives a float, maybe only in some states", exhaustive.solve, rules)


WIDE_LIMITS = (
    *("(big << 28) > 0", "big * big > 0", "(big << 27) + (big << 27) > 0", "big // (action - 4) > 0"),
    *("big >> (action - 6) > 0", "len(range(big)) > 0", "(5, 6)[big - 2**70] == 5", "(1 << (action - 9)) > 0"),
    *("((big << 40) & 255) == 0", "(0 - big).bit_count() == 100", "(big << 26) + (big << 26) > 0"),
    *("-big - big - big < 0", "(big * 3) & 1"),
)


def test_wide_numbers_are_pythons_or_raise(tmp_path):
    """The first eight raise; the others are right."""
    cases = [f"if action == {i}:\n    return 1 if {limit} else -1" for i, limit in enumerate(WIDE_LIMITS, 1)]
    utility = ["action = (state >> 64) & 255", "big = state | ((1 << 99) - 1)", *cases, "return 0"]
    wide = write_rules(
        tmp_path / "wide.py",
        fields="bits = 100\nends: int = 14",
        initial="1 << 99",
        actions="yield from range(1, self.ends)",
        result="(1 << 99) + (action << 64)",
        is_terminal="state != 1 << 99",
        utility="\n".join(utility),
    )
    game = load_game(wide)
    twins = agreement.Twins(game, False, True)
    ends = [game.result(game.initial(), action) for action in range(1, game.ends)]
    answers = [twins.compiled(end) for end in ends]
    assert all("wide.py line " in answer for answer in answers[:8])
    assert answers[8:] == [twins.plain(end) for end in ends[8:]]


LISTED = {"initial": "1 << 100", "starts": "[1 << 100, (1 << 100) + 1]", "is_terminal": "(state & 1023) >= self.goal"}


def lists(folder, actions):
    return load_game(write_rules(folder / "lists.py", fields="bits = 128\ngoal: int = 24", actions=actions, **LISTED))


LIST = "[action for action in (1, 2, 3) if (state & 1023) + action <= self.goal]"


@pytest.mark.parametrize("body", [LIST, *slow("moves = [1, 2]; return moves if state & 1 else moves[:1]")])
def test_lists_of_moves_are_freed_once(tmp_path, body):
    from numba.core.runtime import _nrt_python, rtsys

    game = lists(tmp_path, body)
    twins = agreement.Twins(game, False, False)
    states = [game.initial() + number for number in range(20)]
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    assert [twins.compiled(state) for state in states] == [twins.plain(state) for state in states]
    after = rtsys.get_allocation_stats()
    assert after.mi_free - before.mi_free == after.mi_alloc - before.mi_alloc > 0


def test_a_list_of_wide_moves_is_refused(tmp_path):
    game = lists(tmp_path, "[1 << 70, 1 << 71]")
    raises(UncompiledRules, "gives a list of numbers beyond 63 bits: yield them", agreement.compare, game, [1 << 100])


def test_a_parameter_with_operators_of_its_own_does_not_compile(tmp_path):
    level = "class Level(int):\n    def __add__(self, other):\n        return 7"
    odd = write_rules(tmp_path / "parameter.py", head=level, fields="goal: int = Level(3)")
    words = "a parameter is a Level: write a plain number"
    raises(UncompiledRules, words, agreement.Twins, load_game(odd), False, False)


@pytest.mark.slow
def test_a_module_stops_where_the_rules_leave_64_bits(tmp_path):
    from solver.compiled.module import building
    from solver.wasm.host import Module

    pytest.importorskip("wasmtime", exc_type=(ImportError, OSError))  # its library may not load
    rules = Rules(star(tmp_path, ["top + top > 0", "top * (top + 1) > 0"]))
    module = Module(building.build(rules), rules)
    for state in (7, 9):
        raises(UncompiledRules, None, module.ask, "utility", state)
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
