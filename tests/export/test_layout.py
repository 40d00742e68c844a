"""Layouts of games for learners: declared ones hold whatever play shows, and others come from all positions."""

import tomllib
from itertools import islice

import pytest

import solver
from solver.base.errors import GameError
from solver.export.layout import EMPTY, Layout, layout_of
from solver.games import CATALOGUE
from solver.rules.game import Rules, load_game, own_value
from tests import ROOT
from tests.games import following, play_outs
from tests.refusals import raises
from tests.ways import slow_rows
from tests.written import ruled

PLAIN = [name for name in CATALOGUE if name not in ("graph", "tree", "chess-ending")] + ["chess-ending:KPK"]
CATALOG = tomllib.loads((ROOT / "books" / "catalog.toml").read_text("utf-8"))
MOST_ACTIONS = 15_625  # of nine men's morris: from 25 points to 25, and 25 to take
SIZES = ["othello:4,5", "six-mens-morris:3,true", "ur:2,1", "ur:2,2", "wythoff:40,3", "nim:31,2", "checkers:6"]


ROWS = [(text, 200, 3) for text in PLAIN]
ROWS += slow_rows(*((text, 10_000, 200) for text in [*CATALOG, *SIZES]))


@pytest.mark.parametrize(("text", "states", "plays"), ROWS)
def test_every_game_declares_a_layout_that_holds_what_play_shows(text, states, plays):
    """If this fails, complete `layout()` of the game by the character or the action that the error names.

    Of the first positions breadth first, and of those of some random games.
    """
    rules = Rules(load_game(text))
    layout = layout_of(rules)
    assert layout.symbols == own_value(rules.game, "layout")[0] and len(layout.actions) <= MOST_ACTIONS
    seen = dict.fromkeys([rules.game.initial(), *islice(rules.starts(), 50)])
    for state in (waiting := list(seen)):
        if len(seen) < states and not rules.is_terminal(state):
            new = dict.fromkeys(child for child in following(rules.game, state) if child not in seen)
            seen |= new
            waiting.extend(new)
    for state in (*seen, *play_outs(rules.game, plays, length=200)):
        layout.planes(rules, state)
        if not rules.is_terminal(state) and not any(True for _ in rules.outcomes(state)):
            layout.mask(rules.actions(state))


def test_a_layout_numbers_actions_densely_and_draws_planes():
    rules = Rules(load_game("tic-tac-toe"))
    layout = layout_of(rules)
    assert layout == Layout("Xo", 3, 3, (0, 1, 2, 4, 5, 6, 8, 9, 10)) and layout.shape == (3, 3, 3)
    assert [layout.number(action) for action in rules.actions(rules.game.initial())] == list(range(9))
    assert [*layout.mask([1, 10])] == [0, 1, 0, 0, 0, 0, 0, 0, 1]
    state = rules.game.result(rules.game.initial(), 4)
    assert layout.planes(rules, state) == bytes([*[0, 0, 0, 1, 0, 0, 0, 0, 0], *[0] * 9, *[rules.mover(state)] * 9])
    raises(GameError, r"layout\(\) lacks action 3: add it", layout.mask, [3])
    lacking = Layout("o", 3, 3, layout.actions)
    raises(GameError, r"tic-tac-toe: layout\(\) lacks the board of state .*: add it", lacking.planes, rules, state)


# Take two, three or seven coins; declares no layout
Stack = ruled(
    "Stack",
    fields="coins: int = 12",
    initial="self.coins",
    actions="yield from (take for take in (2, 3, 7) if take <= state)",
    result="state - action",
    is_terminal="state < 2",
)


def test_a_game_of_few_positions_needs_no_declaration_and_no_board():
    rules = Rules(Stack())
    layout = layout_of(rules)
    assert layout == Layout("", 1, 63, (2, 3, 7)) and layout.shape == (2, 1, 63)
    assert layout.planes(rules, 5) == bytes([1, 0, 1, *[0] * 60, *[0] * 63])


def test_a_complete_book_gives_the_layout_of_a_game_of_many_positions_and_a_folded_one_lacks_images(monkeypatch):
    monkeypatch.setattr("solver.export.layout.FEW", 3)
    game = type("Larger", (Stack,), {})(13)
    rules = Rules(game)
    with solver.solve(game) as book:
        assert layout_of(rules, book) == Layout("", 1, 63, (2, 3, 7))
    raises(GameError, r"Larger:13 has over 3 positions .*, or take a complete book", layout_of, rules)
    game = type("Folded", (type(load_game("hexapawn")),), {"layout": None})(3, 3)
    rules = Rules(game)
    with solver.solve(game, symmetry=False) as book:
        layout = layout_of(rules, book)
        assert layout.shape == (3, 3, 3) and layout.actions == (*range(1, 8), *range(10, 17), *range(19, 26))
    with solver.solve(game) as book:
        raises(GameError, "take a complete book solved without symmetry", layout_of, rules, book)


@pytest.mark.parametrize(
    ("declared", "error"),
    [
        *((("Xo", actions), "actions that do not ascend from 0: sort") for actions in ([3, 2], [2, 2], [-1])),
        (("XX", [1]), r"names 'XX': name each character once, '\.' and ' ' not at all"),
        ((EMPTY, [1]), r"names '\. '"),
        *((wrong, "make it a text, and actions") for wrong in (("X",), (5, 2), ("X", "ab"), ("X", None))),
    ],
)
def test_wrong_declarations_are_named(declared, error):
    game = type("Wrong", (type(load_game("hex")),), {"layout": lambda self: declared})(3)
    raises(GameError, error, layout_of, Rules(game))


@pytest.mark.parametrize("layout", [lambda self: ("", 8), ("", 8)])
def test_a_count_of_actions_means_those_from_0(layout):
    counted = type("Counted", (Stack,), {"layout": layout})(12)
    assert layout_of(Rules(counted)).actions == tuple(range(8))
    raises(GameError, r"layout\(\) lacks action 8: add it", layout_of(Rules(counted)).number, 8)


def test_graphs_and_trees_declare_the_longest_list_of_moves(tmp_path):
    (tmp_path / "tree.json").write_text("[[3, 12, 8, 1], [2, 4, 6], [14, 5, 2]]")
    assert layout_of(Rules(load_game(f"tree:{tmp_path}/tree.json"))).actions == (0, 1, 2, 3)
    (tmp_path / "moves.csv").write_text("state,action,next,reward\na,x,b,\na,y,c,\nb,,,1\nc,,,-1\n")
    assert layout_of(Rules(load_game(f"graph:{tmp_path}/moves.csv"))).actions == (0, 1)
