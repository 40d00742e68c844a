"""Positions and moves as text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solver
from solver.base.errors import GameError, PositionError
from solver.rules.game import Rules, load_game
from solver.rules.notation import format_end, legal_actions, parse_action, show
from solver.rules.reading import parse_position
from tests.refusals import raises
from tests.written import ruled

FOUR = load_game("connect-four:4,4")
PAWNS = load_game("hexapawn:3,3")


def test_positions_are_moves_numbers_or_the_start():
    state = FOUR.initial()
    for column in (3, 3, 0):
        state = FOUR.result(state, column)
    for text in ("441", "4 4 1", "4,4,1", " 441 "):
        assert parse_position(FOUR, text) == (state, 3, 1, None)
    assert parse_position(FOUR, f"#{state}") == (state, None, None, None)
    assert parse_position(FOUR, "start") == parse_position(FOUR, "") == (FOUR.initial(), 0, 0, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", "move 1 .*choose one of 1, 2, 3, 4"),
        ("11111", "move 5"),
        ("12121211", "move 8.*the game is over before it"),
        *[(text, "not a state") for text in ("#", "#-1", "#9223372036854775808", "#\u0661")],
        ("x" * 5000, "^.{,200}not a legal move.{,200}$"),
        # Moves and a score, as published test sets have them
        *[(text, "spaces between all moves or none") for text in ("11242 3", "11242,3", "1124\t-3", "1 1 -3", "44 1")],
        ("\u0661", "not a legal move"),
    ],
)
def test_bad_positions_say_where(text, message):
    raises(PositionError, message, parse_position, FOUR, text)


def test_a_sign_is_no_separator_and_a_number_may_be_no_state():
    raises(PositionError, "'-3' is not a legal move", parse_position, load_game("connect-four:10,4"), "1 1 -3")
    raises(PositionError, "has no moves but is not terminal", parse_position, load_game("tic-tac-toe"), "#2311495")
    raises(PositionError, "cannot be shown", show, load_game("chess-ending:KQK"), 2029221097926325141)


def test_moves_of_several_characters_need_separators():
    assert parse_position(PAWNS, "a1a2 b3a2").ply == 2
    raises(PositionError, "move 1", parse_position, PAWNS, "a1a2b3a2")


def test_case_and_separators_do_not_matter_where_one_move_can_be_meant():
    for text in ("A1A2", "a1-a2", " a1 a2 ", "a1:A2"):
        assert parse_action(PAWNS, PAWNS.initial(), text) == parse_action(PAWNS, PAWNS.initial(), "a1a2")
    assert parse_position(PAWNS, "A1A2 B3-A2") == parse_position(PAWNS, "a1a2 b3a2")
    assert parse_position(PAWNS, "START") == parse_position(PAWNS, "start")


def test_a_piece_may_be_named_before_its_move():
    shogi = load_game("animal-shogi")
    assert parse_action(shogi, shogi.initial(), "Lb1a2") == parse_action(shogi, shogi.initial(), "b1a2")
    assert parse_action(shogi, shogi.initial(), "cb2-b3") == parse_action(shogi, shogi.initial(), "b2b3")
    raises(PositionError, None, parse_action, shogi, shogi.initial(), "Gb1a2")


@settings(max_examples=20)
@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_any_text_is_a_position_or_a_position_error(text):
    for game in (FOUR, PAWNS):
        try:
            position = parse_position(game, text)
        except PositionError:
            continue
        assert 0 <= position.state < 2**63


def test_an_outcome_of_two_dice_is_named_by_its_number_or_by_what_they_show():
    game = load_game("hypergammon:1")
    thrown = parse_position(game, "20")
    assert thrown == parse_position(game, "6-5") == parse_position(game, "5-6") != parse_position(game, "5-5")
    raises(PositionError, "'6-7' is not a legal move here", parse_position, game, "6-7")


def test_finished_games_say_how_they_ended():
    for name, position, end in (
        ("chess-ending:KQK", "3k4/3Q4/3K4/8/8/8/8/8 b", "checkmate"),
        ("chess-ending:KQK", "k7/2Q5/8/8/8/8/8/7K b", "stalemate"),
        ("hexapawn:3,3", "b1b2 a3b2 c1b2 c3c2 a1a2 c2c1", "a pawn has reached the last row"),
        ("hexapawn:1,3", "a1a2", "no move is left"),
        ("connect-four:4,4", "start", ""),
    ):
        assert format_end(load_game(name), parse_position(load_game(name), position).state) == end


Bare = ruled("Bare")  # rules without text of their own


# A man walks to the end of a row, and the second move to a cell is another move
Steps = ruled(
    "Steps",
    actions="yield from [1, 2, 3] if state == 1 else [1, 2]",
    result="min(3, state + min(2, action))",
    is_terminal="state >= 3",
    more="""
    def cells(self, state, mover): return ["." * state + "X" + "." * (3 - state)]
    def place(self, state, action): return [min(3, state + min(2, action))]
    """,
)


def test_moves_that_choose_the_same_cells_go_by_their_numbers():
    assert legal_actions(Rules(Steps()), 0) == {"b1": 1, "c1": 2}
    assert legal_actions(Rules(Steps()), 1) == {"1": 1, "2": 2, "3": 3}
    assert solver.parse_action(Steps(), 1, "3") == 3 and solver.format_action(Steps(), 1, 3) == "3"


def test_cells_without_a_name_of_their_own_are_printed_bare():
    """The light squares of checkers."""
    board = solver.show(solver.load_game("checkers:4"), solver.load_game("checkers:4").initial())
    assert board.splitlines()[0] == ". b . b     1   2" and "a" not in board.replace("black", "")


@pytest.mark.parametrize(
    ("cells", "board"),
    [
        (lambda state, mover: ["." * (state + 1)], " 1 . . .\n   a b c"),  # other rows than at the start
        (lambda state, mover: ["..", "."[state:]], "rows of one length"),
        (lambda state, mover: [] if state else [".."], "rows of one length"),
    ],
    ids=["growing", "ragged", "empty"],
)
def test_boards_of_any_rows_are_printed_or_refused(cells, board):
    game = type("Odd", (Steps,), {"cells": staticmethod(cells)})()
    if "rows" in board:
        raises(GameError, board, solver.show, game, 2)
    else:
        assert solver.show(game, 2) == board


@pytest.mark.parametrize(
    ("game", "board", "names"),
    [("tic-tac-toe:2,2,2", " 2 . .\n 1 . .\n   a b   X to move", ["a1", "b1", "a2", "b2"]), (Bare(), "#0", ["1", "2"])],
)
def test_public_functions_take_any_game_or_its_name(game, board, names):
    start = solver.position(game, "start")
    assert solver.show(game, start) == board
    actions = list(load_game(game).actions(start))
    assert [solver.format_action(game, start, action) for action in actions] == names
    assert [solver.parse_action(game, start, name) for name in names] == actions
