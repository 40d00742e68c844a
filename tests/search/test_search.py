"""The classical algorithms against the naive twin, the textbook, and closed forms."""

import random

import pytest

from solver.base.errors import BudgetExceeded, GameError, MethodError
from solver.base.value import Value
from solver.games.tree import Tree
from solver.rules.game import Rules, is_score_game, load_game
from solver.search import Budget, alphabeta, heuristic, retrograde, solution_of
from tests import naive
from tests.games import ACYCLIC, MORE_GAMES, SMALL_GAMES
from tests.refusals import raises
from tests.ways import quickly, slow, slowly
from tests.written import ruled, write_rules

ONE_OF_EACH = {text.partition(":")[0]: text for text in reversed(ACYCLIC)}.values()
BOARDS = slowly(ACYCLIC, *(text for text in ACYCLIC if text not in ONE_OF_EACH))
RETROGRADE = ("tic-tac-toe:3,2,2", "hexapawn", "mu-torere:false", "nine-holes", "quixo:2")  # test_pipeline has more
LATER = slow(*(text for text in MORE_GAMES if hasattr(load_game(text), "tier")))
DECIDED, MORE_DECIDED = (
    [text for text in some if not is_score_game(load_game(text))] for some in (SMALL_GAMES, MORE_GAMES)
)


@pytest.mark.parametrize("search", [alphabeta.minimax, alphabeta.solve, heuristic.negamax, heuristic.search])
def test_a_search_takes_numbers_of_numpy_as_pythons(search):
    """Wrapped in 16 bits the rules of this game see other lines drawn."""
    np = pytest.importorskip("numpy")
    game, start = load_game("dots-and-boxes:2,1"), 100
    options = {"depth": 3} if search in (heuristic.negamax, heuristic.search) else {}
    for kind in (np.int8, np.int16, np.int64):
        assert search(game, kind(start), **options)[:2] == search(game, start, **options)[:2]


@pytest.mark.parametrize("symmetry", [*slow(True), False])
@pytest.mark.parametrize("text", [*BOARDS, *LATER])
def test_minimax_values_every_state(text, symmetry):
    game = load_game(text)
    result = alphabeta.minimax(game, symmetry=symmetry)
    assert dict(solution_of(result.table, is_score_game(game))) == naive.solve(game, symmetry)


@pytest.mark.parametrize("text", [*quickly(DECIDED, RETROGRADE), "kalah:2,3", *slow(*MORE_DECIDED)])
def test_retrograde_analysis_values_every_state(text):
    game = load_game(text)
    assert dict(solution_of(retrograde.solve(game).table, is_score_game(game))) == naive.solve(game, symmetry=True)


@pytest.mark.parametrize("symmetry", [True, *slow(False)])
@pytest.mark.parametrize("text", [*BOARDS, *LATER])
def test_alphabeta_keeps_exact_entries_only(text, symmetry):
    game = load_game(text)
    result = alphabeta.solve(game, symmetry=symmetry)
    truth = naive.solve(game, symmetry)
    assert result.value == truth[Rules(game, symmetry).canonical(game.initial())]
    table = solution_of(result.table, is_score_game(game))
    assert {state: truth[state] for state in table} == dict(table)


@pytest.mark.parametrize("text", BOARDS)
def test_the_best_action_leads_to_the_value_from_every_state_in_any_order(text):
    """Searched anew wherever play leaves the table, with the table kept from search to search."""
    game = load_game(text)
    rules, truth = Rules(game), naive.solve(game)
    states = sorted(state for state in truth if not game.is_terminal(state))
    random.Random(1).shuffle(states)
    table = {}
    results = [(state, alphabeta.solve(game, state, table=table)) for state in states[:100]]
    for state, result in [*results, (game.initial(), alphabeta.minimax(game))]:
        assert result.value == truth[state]
        child = game.result(state, result.action)
        sign = 1 if rules.same_mover(state, result.action, child) else -1
        assert rules.gain(state, result.action) + sign * truth[child].score == result.value.score
        if result.value.distance is not None:
            assert truth[child].distance == result.value.distance - 1


def test_no_recursion_limit():
    result = alphabeta.minimax(load_game("coins:5000"))
    assert result.value == Value(1, 2500)
    assert len(result.table) == 5001
    deep = 1
    for _ in range(5000):
        deep = [deep]
    assert alphabeta.solve(Tree.from_lists(deep)).value == Value(1)


def test_mu_torere_is_a_draw():
    """1,180 states: 208 won, 844 drawn, 128 lost; the longest win takes 5 plies (32 states)."""
    solution = solution_of(retrograde.solve(load_game("mu-torere"), symmetry=False).table, False)
    assert [sum(value.score == score for value in solution.values()) for score in (1, 0, -1)] == [208, 844, 128]
    longest = [value.distance for value in solution.values() if value.score == 1]
    assert (max(longest), longest.count(5)) == (5, 32)


@pytest.mark.parametrize("search", [alphabeta.minimax, alphabeta.solve, retrograde.solve])
def test_budgets_are_kept(search):
    game = load_game("connect-four:4,4")
    raises(BudgetExceeded, None, search, game, budget=Budget(nodes=1000))
    raises(BudgetExceeded, None, search, game, budget=Budget(seconds=0))


# searches of limited depth


@pytest.mark.parametrize("search", [heuristic.search, heuristic.negamax])
def test_searches_to_the_end_are_exact_and_estimates_are_marked(search):
    game = load_game("tic-tac-toe:3,2,2")
    for state, value in naive.solve(game).items():
        if not game.is_terminal(state):
            found = search(game, state, depth=9)
            assert (found.value, found.exact) == (value, True)
    found = search(load_game("tic-tac-toe"), 0, depth=2)
    assert not found.exact and -1 < found.value.score < 1
    assert found.value.distance is None and found.table == {}


def test_depth_limited_alphabeta_is_depth_limited_negamax():
    game = load_game("tic-tac-toe")
    for state in random.Random(3).sample(naive.enumerate_states(game), 60):
        if not game.is_terminal(state):
            for depth in (1, 2, 3):
                pruned, full = heuristic.search(game, state, depth=depth), heuristic.negamax(game, state, depth=depth)
                assert pruned.value == full.value
                assert pruned.counts.nodes <= full.counts.nodes


# Coins with an estimate that is not below the utilities from ten coins on
Bold = ruled(
    "Bold",
    fields="",
    initial="30",
    actions="yield from range(1, min(3, state) + 1)",
    result="state - action",
    is_terminal="state == 0",
    evaluate="0.5 if state < 10 else 1",
)


def test_estimates_out_of_bounds_or_missing_are_refused_but_negamax_counts_the_bound_as_a_draw():
    bold = r"evaluate\(29\) is 1: an estimate must lie strictly between -1 and 1"
    raises(GameError, bold, heuristic.search, Bold(), 30, depth=1)
    raises(MethodError, "has no evaluate", heuristic.search, load_game("coins"), 10, depth=2)
    found = heuristic.negamax(load_game("coins:21,3,false"), 21, depth=2)
    assert (found.value, found.exact) == (Value(0), False)


# states of any kind, and chance


@pytest.mark.parametrize("solve", [alphabeta.minimax, alphabeta.solve, retrograde.solve])
def test_states_may_be_tuples(tmp_path, solve):
    """Two heaps; who cannot move loses."""
    heaps = write_rules(
        tmp_path / "heaps.py",
        initial="(2, 3)",
        actions="yield from ((heap, taken) for heap in (0, 1) for taken in range(1, state[heap] + 1))",
        result="tuple(count - action[1] * (place == action[0]) for place, count in enumerate(state))",
        is_terminal="state == (0, 0)",
    )
    result = solve(load_game(heaps))
    assert (result.value.score, result.action) == (1, (1, 1))
    assert solve(load_game(heaps), (2, 2)).value.score == -1
