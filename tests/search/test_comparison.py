"""Searches side by side: published counts, Knuth and Moore's least number of leaves, and the naive twin."""

import json
import random

import pytest

from solver.base.errors import MethodError
from solver.base.kinds import WDL
from solver.base.value import Value
from solver.games.tree import Tree
from solver.rules.game import Rules, load_game
from solver.search import comparison, heuristic
from solver.search.comparison import MINIMAX, TRIALS, Trial, compare
from solver.search.heuristic import looks
from tests import naive
from tests.commands import ok
from tests.refusals import fails, raises
from tests.written import write_rules

GAMES = ("tic-tac-toe:3,2,2", "connect-four:3,3,2", "coins:9", "hexapawn", "breakthrough:2,4,2", "dots-and-boxes:2,1")


PRUNED = [Trial(True), Trial(True, "exact"), Trial(True, "bounds")]


def by_trial(game, **options):
    return {tally.trial: tally for tally in compare(game, **options)}


def test_tic_tac_toe_in_published_numbers(monkeypatch):
    """5,478 positions, 765 up to symmetry."""
    monkeypatch.setattr(comparison, "TRIALS", [trial for trial in TRIALS if not trial.prune and trial.table] + PRUNED)
    found = by_trial(load_game("tic-tac-toe"), nodes=18_300)
    assert found[MINIMAX].nodes == found[MINIMAX].entries == 5478
    assert found[Trial(False, "exact", symmetry=True)].nodes == 765
    assert found[Trial(True)].nodes == 18_297
    assert found[Trial(True, "exact")].nodes > 5478 > 2 * found[Trial(True, "bounds")].nodes
    assert {tally.value for tally in found.values()} == {Value(0)}
    (given_up,) = (tally for tally in compare(load_game("tic-tac-toe"), nodes=10) if tally.trial == MINIMAX)
    assert (given_up.value, given_up.nodes) == (None, 11)


def test_minimax_without_a_table_is_counted(monkeypatch):
    """The games of tic-tac-toe are published; without the values of all states the count is not known."""
    monkeypatch.setattr(comparison, "TRIALS", [Trial(False), MINIMAX])
    found = by_trial(load_game("tic-tac-toe"))[Trial(False)]
    assert (found.nodes, found.leaves, found.value) == (549_946, 255_168, Value(0))
    given_up = by_trial(load_game("tic-tac-toe"), nodes=5000)[Trial(False)]
    assert (given_up.value, given_up.nodes) == (None, 5001)


def test_an_order_is_judged_by_its_first_moves():
    """Best moves first refute at once wherever a move does; the report says why orders help or hurt."""
    found = by_trial(load_game("coins:9"))
    best, given = found[Trial(True, order="best")], found[Trial(True)]
    assert best.at_once == best.refuted > 0
    assert 0 < given.at_once < given.refuted
    assert given.cutoffs <= given.refuted
    text = ok("compare", "coins:9", "-q")
    assert f"{100 * given.at_once / given.refuted:.1f} % with moves as they come" in text
    assert "best moves first: 100.0 %, so it visits" in text
    facts = json.loads(ok("compare", "coins:9", "--json"))["searches"]
    # Nodes of plain minimax are counted, so no time is told
    assert [fact["search"] for fact in facts if fact["seconds"] is None] == ["minimax"]
    assert {fact["search"]: fact["at_once"] for fact in facts}["alpha-beta"] == given.at_once


@pytest.mark.parametrize("text", GAMES)
def test_every_search_finds_the_naive_twins_value_and_keeps_true_bounds(text):
    game = load_game(text)
    truth = naive.solve(game)
    start = truth[game.initial()].score
    found = by_trial(game, nodes=100_000)
    assert {tally.value for tally in found.values()} == {Value(start)}
    assert found[Trial(False)].nodes == nodes_below(game, game.initial())
    assert found[MINIMAX].entries == len(truth)
    rules = Rules(game, symmetry=False, kind=WDL)
    for trial in TRIALS:
        if trial.table and not trial.symmetry and trial.order == "given":
            _, table = comparison.run_trial(trial, rules, game.initial(), rules.actions, 10**6, lambda *_: None)
            assert all(low <= truth[state].score <= high for state, (low, high) in table.items())


def nodes_below(game, state):
    """Of the tree that a search without a table goes through."""
    if game.is_terminal(state):
        return 1
    return 1 + sum(nodes_below(game, game.result(state, action)) for action in game.actions(state))


@pytest.mark.parametrize(("branches", "depth"), [(2, 5), (3, 3), (3, 4), (4, 4)])
def test_the_order_of_moves_decides_between_all_leaves_and_knuth_and_moores_least(branches, depth):
    chance = random.Random(branches * depth)
    values = chance.sample(range(10_000), branches**depth)
    nodes = values
    for _ in range(depth - 1):
        nodes = [nodes[at : at + branches] for at in range(0, len(nodes), branches)]
    found = by_trial(Tree.from_lists(nodes))
    least = branches ** ((depth + 1) // 2) + branches ** (depth // 2) - 1  # Knuth and Moore 1975, section 6
    assert found[Trial(True, order="best")].leaves == least
    assert all(least <= tally.leaves <= branches**depth for tally in found.values())
    if depth <= 3:  # deeper, a window from far above may cut all the same
        assert found[Trial(True, order="worst")].leaves == branches**depth


@pytest.mark.parametrize(("text", "depth"), [("tic-tac-toe", 3), ("connect-four:4,4", 4), ("dots-and-boxes:2,1", 3)])
def test_deeper_looks_see_what_searches_of_that_depth_see(text, depth):
    game = load_game(text)
    for look in looks(game, depth=depth):
        full = heuristic.negamax(game, game.initial(), depth=look.depth)
        pruned = heuristic.search(game, game.initial(), depth=look.depth)
        assert (look.value, look.exact, look.minimax) == (full.value, full.exact, full.counts.nodes)
        assert look.value == pruned.value and look.alphabeta <= look.minimax
        assert len(look.line) == look.depth
        if Rules(game).reward is None:
            assert look.value.score == look.estimate * (-1) ** look.depth


def test_deepening_sees_the_win_and_says_what_changed():
    facts = json.loads(ok("compare", "tic-tac-toe", "b2 a2", "--depth", "5", "--json"))["depths"]
    assert [look["exact"] for look in facts] == [False] * 4 + [True]
    assert (facts[-1]["value"], facts[-1]["distance"]) == ("win", 5)
    assert naive.solve(load_game("tic-tac-toe"))[facts[-1]["end"]] == Value(-1, 0)


def test_what_cannot_be_compared_is_said(tmp_path):
    raises(MethodError, "chance nodes", list, compare(load_game("pig:5")))
    raises(MethodError, "has cycles", list, compare(load_game("mu-torere")))
    fails(2, "actions(0) fails: TypeError", "compare", write_rules(tmp_path / "silent.py", actions="None"))
    assert "none came to its end" in ok("compare", "tic-tac-toe", "--nodes", "10")
