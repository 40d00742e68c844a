"""Trees from files and of small games: alpha-beta's trace against the textbook's, chance nodes, fractions, drawings."""

import json
import math
import random
import re
from fractions import Fraction

import pytest

from solver.base.errors import MethodError
from solver.games.tree import Tree, written
from solver.report import trees
from solver.rules.game import Rules, load_game
from solver.rules.reading import parse_position
from solver.search import alphabeta
from solver.search.comparison import trace, unfolded
from solver.solving import pipeline
from tests.commands import ok
from tests.naive import solve
from tests.refusals import fails, raises
from tests.written import write_rules


def textbook(node, player, alpha, beta, visited):
    """ALPHA-BETA-SEARCH and EXPECTIMINIMAX as books print them, on lists; `visited` gets (alpha, beta, value) of each
    node, the window as it comes in, in the order of coming."""
    place = len(visited)
    visited.append(None)
    low, high = alpha, beta
    if isinstance(node, dict):
        name, below = next(iter(node.items()))
        if name == "chance":
            value = Fraction(0)
            for share, child in below:
                value += Fraction(str(share)) * textbook(child, player, -math.inf, math.inf, visited)
            visited[place] = (low, high, value)
            return value
        node, player = below, name.lower()
    if not isinstance(node, list):
        visited[place] = (low, high, Fraction(str(node)))
        return Fraction(str(node))
    value = -math.inf if player == "max" else math.inf
    for child in node:
        found = textbook(child, "min" if player == "max" else "max", alpha, beta, visited)
        if player == "max":
            value, alpha = max(value, found), max(alpha, found)
            done = value >= beta
        else:
            value, beta = min(value, found), min(beta, found)
            done = value <= alpha
        if done:
            break
    visited[place] = (low, high, value)
    return value


def random_tree(chance, depth, strange):
    """Strange ones have chance nodes, fractions, and players who move again."""
    if depth == 0 or chance.random() < 0.1:
        leaves = chance.randint(-9, 9), chance.randint(-90, 90) / 10, "1/3"
        return chance.choice(leaves) if strange else leaves[0]
    below = [random_tree(chance, depth - 1, strange) for _ in range(chance.randint(1, 3 if strange else 4))]
    if not strange:
        return below
    kind = chance.choice(["", "", "MAX", "min", "chance"])
    if kind == "chance":
        shares = {1: ["1"], 2: [0.6, 0.4], 3: ["1/3", "1/2", "1/6"]}[len(below)]
        return {kind: [list(pair) for pair in zip(shares, below, strict=True)]}
    return {kind: below} if kind else below


@pytest.mark.parametrize("seed", range(40))
def test_the_trace_is_the_textbooks_visit_and_so_is_alpha_betas(seed):
    chance, visited = random.Random(seed), []
    nodes = [random_tree(chance, 5, seed % 2) for _ in range(3)]
    root = chance.choice(["max", "min"])
    value = textbook(nodes, root, -math.inf, math.inf, visited)
    tree = Tree.from_lists(nodes, root)
    found = trace(tree, tree.payoff)
    assert found.nodes[0].value == value
    assert [(*node.before, node.value) for node in found.nodes.values()] == visited
    if not seed % 2:
        result = alphabeta.solve(tree)
        assert result.value.score == (value if root == "max" else -value)
        assert {leaf for leaf in tree.leaves() if leaf in result.table} == {*tree.leaves()} & {*found.nodes}
    for node in found.nodes.values():  # what it claims of the true value
        truth = textbook_value(tree, node.state)
        assert node.low <= truth <= node.high
        assert (truth == node.value) if node.low == node.high else (node.value in (node.low, node.high))


def textbook_value(tree, state):
    """Without a window."""
    if tree.is_terminal(state):
        return tree.payoff(state)
    below = [textbook_value(tree, child) for child in tree.children[state]]
    if tree.weights[state]:
        return sum(share * value for share, value in zip(tree.shares(state), below, strict=True))
    return (min if tree.to_move(state) else max)(below)


def test_the_textbook_tree_is_traced(tmp_path):
    path, nodes = tmp_path / "exercise.json", [[3, 12, 8], [2, 4, 6], [14, 5, 2]]
    path.write_text(json.dumps(nodes))
    facts = json.loads(ok("solve", f"tree:{path}", "--trace", "--json"))
    assert (facts["value"], facts["best"], [leaf["leaf"] for leaf in facts["pruned"]]) == (3, "1", [5, 6])
    left = {step["node"]: step for step in facts["steps"] if not step["entered"]}
    expected = {"player": "MIN", "entered": False, "alpha": 3, "beta": 2, "value": 2, "bound": "upper", "cut": 2}
    assert left["2"] == {"node": "2", **expected}
    assert left["3"]["bound"] == "exact"  # 14, 5 and 2 were all looked at
    for search in (alphabeta.minimax, alphabeta.solve):
        assert search(Tree.from_lists(nodes)).value.score == 3
        assert search(Tree.from_lists({"root": "MIN", "tree": nodes})).value.score == -6


def test_chance_is_written_as_it_is_read(tmp_path):
    """Russell and Norvig's pair of trees: with chance, leaves of the same order may make another move the best."""
    small = [{"chance": [[0.9, 2], [0.1, 3]]}, {"chance": [[0.9, 1], [0.1, 4]]}]
    large = [{"chance": [["9/10", 20], ["1/10", 30]]}, {"chance": [[9, 1], [1, 400]]}]
    for nodes, worths in ((small, ("2.1", "1.3")), (large, ("21", "40.9"))):
        tree = Tree.from_lists(nodes)
        found = trace(tree, tree.payoff)
        assert tuple(written(found.nodes[child].value) for child in tree.children[0]) == worths
        assert alphabeta.expectiminimax(tree).value.score == found.nodes[0].value
        book = pipeline.solve(tree)
        assert book.root.score == pytest.approx(float(found.nodes[0].value), abs=1e-6)
    path = tmp_path / "dice.json"
    path.write_text(json.dumps(small))
    shown = ok("solve", f"tree:{path}", "--trace")
    assert "0.1: leaf 2.2" in shown and "CHANCE 1.3" in shown
    assert ok("solve", f"tree:{path}", "--pruned").splitlines()[0] == "value 2.1, best move 1"


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([{"chance": [[0.6, 1], [0.3, 2]]}], "0.6, 0.3 add up to 0.9"),
        ([{"chance": [[0, 1], [1, 2]]}], "above 0"),
        ([{"chance": [[None, 1]]}], "above 0"),
        ([{"chance": [1, 2]}], "chance lists pairs"),
        *[([one], "a node is") for one in ({"chance": []}, {"mean": [1]}, {}, {"max": [1], "min": [2]}, [], True)],
        ([], "a node is"),
        ([1, "two"], "'two' is not a number"),
        *[([one], "is not a number") for one in ("1/0", math.nan, 1e300)],
        *[(some, "between") for some in ([1 << 62], [1 << 61, "1/3"])],
    ],
)
def test_what_is_no_tree_is_refused(nodes, said):
    raises(ValueError, said, Tree.from_lists, nodes)


def test_fractions_are_traced_and_refused_elsewhere(tmp_path):
    path = tmp_path / "half.json"
    path.write_text('[[2.50, 3], ["1/3", 4]]')
    assert "<=1/3" in ok("solve", f"tree:{path}", "--trace")
    assert json.loads(ok("solve", f"tree:{path}", "--pruned", "--json"))["value"] == 2.5
    for command in (("solve", f"tree:{path}"), ("query", f"tree:{path}", "start")):
        fails(2, "multiply all by 6", *command)
    assert [written(Fraction(*pair)) for pair in ((-1, 8), (1, 50), (-3, 1), (2, 3))] == ["-0.125", "0.02", "-3", "2/3"]


DRAWN = """
            MAX 7
    .---------+-------.
  MIN 3   CHANCE 3    7
.---+--.   .--+--.
3  12  8  0.5   0.5
           2   MIN 4
                .+-.
                4  6
"""


def test_a_drawing_has_every_node_and_one_too_wide_says_so():
    tree = Tree.from_lists([[3, 12, 8], {"chance": [[0.5, 2], [0.5, [4, 6]]]}, 7])
    lines = trees.drawing(tree, trace(tree, tree.payoff))
    assert lines == DRAWN.strip("\n").splitlines()
    wide = Tree.from_lists([list(range(100, 150)), list(range(100, 150))])
    assert "--plot FILE" in trees.drawing(wide, trace(wide, wide.payoff))[0]
    deep = 1
    for _ in range(5000):
        deep = [deep]
    chain = Tree.from_lists(deep)
    assert "--plot FILE" in trees.drawing(chain, trace(chain, chain.payoff))[0]


def test_a_tree_is_drawn_to_a_file(tmp_path):
    path = tmp_path / "exercise.json"
    path.write_text(json.dumps([[3, 12, 8], {"chance": [[0.5, 1], [0.5, 2]]}]))
    fails(2, "--trace", "solve", f"tree:{path}", "--plot", tmp_path / "tree.svg")
    pytest.importorskip("matplotlib")
    ok("solve", f"tree:{path}", "--trace", "--plot", tmp_path / "tree.svg")
    assert (tmp_path / "tree.svg").read_bytes()[:5] == b"<?xml"
    path.write_text(json.dumps(list(range(1000))))
    fails(2, "1,001 nodes, too many for a picture", "solve", f"tree:{path}", "--trace", "--plot", tmp_path / "tree.svg")


# -- small games as trees


@pytest.mark.parametrize(
    ("name", "position"),
    [("nim:1,2", "start"), ("tic-tac-toe", "a1 b1 c1 a2"), ("dots-and-boxes:1,1", "start"), ("kalah:2,1", "start")],
)
def test_the_tree_of_a_game_has_the_value_of_the_game(name, position):
    game = load_game(name)
    rules, parsed = Rules(game, symmetry=False), parse_position(game, position)
    mover = rules.mover(parsed.state) if parsed.mover is None else parsed.mover
    data, nodes = unfolded(rules, parsed.state, mover)
    tree = Tree.from_lists(data)
    assert len(tree.children) == len(nodes)
    root = trace(tree, tree.payoff).nodes[0]
    value = {rules.canonical(state): value for state, value in solve(game).items()}[parsed.state]
    assert root.value == (value.score if mover == 0 else -value.score)
    for node, (state, moves) in enumerate(nodes):
        assert rules.is_terminal(state) == (not tree.children[node])
        for action, child in zip(rules.actions(state) if tree.children[node] else (), tree.children[node], strict=True):
            assert nodes[child] == (rules.result(state, action), (*moves, action))


def test_solve_traces_small_games_with_their_boards():
    out = ok("solve", "coins:3", "--trace")
    assert "\n\nstep 1: the start\n3 coins\n" in out and "value 1, best move 2" in out
    out = ok("solve", "tic-tac-toe", "--trace", "--from", "a1 b1 c1 a2 c2 b2")
    # The steps come first, and name moves as the game does
    assert re.match(r"step +node .*\n +1 +MAX .*\n +2 +MIN a3 ", out)
    assert out.index("MIN a3 ") < out.index("\nstep 2: a3\n")


def test_a_trace_to_a_depth_is_the_alpha_beta_of_that_depth():
    """The other search backs estimates up as merits, without a tree."""
    at = ("tic-tac-toe", "b2 a2")
    *_, look = json.loads(ok("compare", *at, "--depth", 3, "--json"))["depths"]
    facts = json.loads(ok("solve", at[0], "--trace", "--from", at[1], "--depth", 3, "--json"))
    visited = sum(step["entered"] for step in facts["steps"])
    assert (visited, facts["best"], facts["value"]) == (look["alphabeta"], look["line"][0], round(look["score"], 2))


def test_points_and_an_estimate_add_up_to_two_decimals(tmp_path):
    bodies = {"reward": "1", "evaluate": "0.9", "utility": "0"}
    rules = Rules(load_game(write_rules(tmp_path / "points.py", more="score_game = True", **bodies)))
    assert unfolded(rules, 0, depth=1)[0] == {"MAX": [0.1, 0.1]}  # 1 - 0.9 is less in floats


def test_a_game_of_chance_has_no_such_tree():
    raises(MethodError, "pig:2 is a game of chance", unfolded, Rules(load_game("pig:2")), 0)
