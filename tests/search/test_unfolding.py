"""Small games as explicit trees: their value is the game's, and their nodes have boards."""

import pytest

from solver.base.errors import MethodError
from solver.games.tree import Tree
from solver.rules.game import Rules, load_game
from solver.rules.reading import parse_position
from solver.search.comparison import trace, unfolded
from tests.commands import ok
from tests.naive import solve
from tests.refusals import raises


@pytest.mark.parametrize(
    ("name", "position"),
    [
        ("coins:5", "start"),
        ("nim:1,2", "start"),
        ("tic-tac-toe", "a1 b1 c1 a2"),
        ("dots-and-boxes:1,1", "start"),
        ("kalah:2,1", "start"),
    ],
)
def test_the_tree_of_a_game_has_the_value_of_the_game(name, position):
    game = load_game(name)
    rules, parsed = Rules(game, symmetry=False), parse_position(game, position)
    mover = rules.mover(parsed.state) if parsed.mover is None else parsed.mover
    unfolding = unfolded(rules, parsed.state, mover)
    tree = Tree.from_lists(unfolding.data)
    assert len(tree.children) == len(unfolding.nodes)
    root = trace(tree, tree.payoff).nodes[0]
    value = {rules.canonical(state): value for state, value in solve(game).items()}[parsed.state]
    assert root.value == (value.score if mover == 0 else -value.score)
    for node, (state, moves) in enumerate(unfolding.nodes):
        assert rules.is_terminal(state) == (not tree.children[node])
        for action, child in zip(rules.actions(state) if tree.children[node] else (), tree.children[node], strict=True):
            assert unfolding.nodes[child] == (rules.result(state, action), (*moves, action))


def test_solve_traces_small_games_with_their_boards():
    out = ok("solve", "coins:3", "--trace")
    assert out.startswith("step 1: the start\n3 coins\n") and "value 1, best move 2" in out
    assert "step 2: a3" in ok("solve", "tic-tac-toe", "--trace", "--from", "a1 b1 c1 a2 c2 b2")


def test_a_game_of_chance_has_no_such_tree():
    raises(MethodError, "pig:2 is a game of chance", unfolded, Rules(load_game("pig:2")), 0)
