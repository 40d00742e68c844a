"""Positions and moves as text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.errors import PositionError
from solver.game import load_game
from solver.notation import format_action, parse_action, parse_position, show
from tests.games import SMALL_GAMES

FOUR = load_game("connect-four:4,4")
PAWNS = load_game("hexapawn:3,3")


def test_positions_are_moves_numbers_or_the_start():
    state = FOUR.initial()
    for column in (3, 3, 0):
        state = FOUR.result(state, column)
    for text in ("441", "4 4 1", "4,4,1", " 44 1 "):
        assert parse_position(FOUR, text) == (state, 3)
    assert parse_position(FOUR, f"#{state}") == (state, None)
    assert parse_position(FOUR, "start") == parse_position(FOUR, "") == (FOUR.initial(), 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", "move 1 .*choose one of 1, 2, 3, 4"),
        ("11111", "move 5"),
        ("12121211", "move 8.*the game is over before it"),
        ("#", "no state"),
        ("#-1", "no state"),
        ("#9223372036854775808", "no state"),
        ("#\u0661", "no state"),
        ("x" * 5000, "no legal move"),
        ("\u0661", "no legal move"),
    ],
)
def test_bad_positions_say_where(text, message):
    with pytest.raises(PositionError, match=message) as error:
        parse_position(FOUR, text)
    assert len(str(error.value)) < 400


def test_numbers_that_are_no_states():
    with pytest.raises(PositionError, match="has no moves and is not over"):
        parse_position(load_game("tic-tac-toe"), "#2311495")
    with pytest.raises(PositionError, match="cannot be shown"):
        show(load_game("chess-ending:KQK"), 2029221097926325141)


def test_moves_of_several_characters_need_separators():
    assert parse_position(PAWNS, "a1a2 b3a2").ply == 2
    with pytest.raises(PositionError, match="move 1"):
        parse_position(PAWNS, "a1a2b3a2")


@pytest.mark.parametrize("text", SMALL_GAMES)
def test_every_move_is_read_as_it_is_written(text):
    game = load_game(text)
    states = [game.initial()]
    for state in states[:200]:
        assert show(game, state)
        if not game.is_terminal(state):
            for action in game.actions(state):
                assert parse_action(game, state, format_action(game, state, action)) == action
                states.append(game.result(state, action))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_a_position_or_a_position_error(text):
    for game in (FOUR, PAWNS):
        try:
            position = parse_position(game, text)
        except PositionError:
            continue
        assert 0 <= position.state < 2**63
