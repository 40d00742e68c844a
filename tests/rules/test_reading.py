"""Positions and moves as text; boards read back as `show` prints them, as rows and as arrays, and what cannot be."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solver
from solver.base.errors import GameError, PositionError
from solver.export.layout import layout_of
from solver.games import CATALOGUE, FROM_FILES
from solver.rules.boards.text import is_drawn, mover_of
from solver.rules.game import Rules, load_game, own_method
from solver.rules.notation import board_of, format_end, legal_actions, parse_action, show
from solver.rules.reading import parse_position
from tests.pages import positions_of
from tests.refusals import raises
from tests.ways import slow
from tests.written import ruled

THREE = load_game("tic-tac-toe")
CORNER = "X.o/.X./..o"
DIGITS = """
from typing import NamedTuple

class Digits(NamedTuple):
    def initial(self): return 0
    def actions(self, state): return [cell for cell in range(4) if state // 3**cell % 3 == 0]
    def result(self, state, action): return state + 3**action
    def is_terminal(self, state): return not list(self.actions(state))
    def utility(self, state): return 0
    def cells(self, state, mover):
        marks = "".join(".12"[state // 3**cell % 3] for cell in range(4))
        return [marks[:2], marks[2:]]
    def from_cells(self, rows, mover):
        return sum(".12".index(mark) * 3**cell for cell, mark in enumerate("".join(rows)))
    def layout(self): return "12", range(4)
"""
NAMED = {"chess-ending": "chess-ending:KRK"}
GAMES = [NAMED.get(name, name) for name in CATALOGUE if name not in FROM_FILES]
VARIANTS = [
    "amazons:4,4,4", "animal-shogi:true", "chess-ending:KBPK", "chinese-checkers:4,3", "chomp:12,12", "coins:80",
    "dots-and-boxes:3,2", "fox-and-hounds:4", "hare-and-hounds:true", "hex:5", "kalah:6,4", "micro-shogi:2",
    "nannon:8,4,4", "nim:40,2", "nogo:3,3,true", "notakto:3", "picaria:9", "pig:30", "popout:4,3", "quoridor:4,4,3",
    "six-mens-morris:5", "ur:3,1", "wythoff:40,20", "y:5",
]  # fmt: skip
# one of each kind: men put, slid and dropped, hands, heaps, seeds, FEN, cells of letters, dice, walls
TWELVE = [
    "animal-shogi", "chopsticks", "chung-toi", "connect-four:4,4", "dodgem", "grundy:9", "kalah:2,30", "minichess",
    "nim", "othello:4,4", "quoridor", "shut-the-box:5,2",
]  # fmt: skip
LATER = slow(*sorted({*GAMES, *VARIANTS} - {*TWELVE}))


@pytest.mark.parametrize("name", [*TWELVE, *LATER])
def test_every_game_reads_what_it_shows_and_its_rows(name):
    game = load_game(name)
    rules = Rules(game)
    for number, position in enumerate(positions_of(rules, 42)):
        if number % 14 and not rules.is_terminal(position.state):
            continue
        read = parse_position(game, show(game, position.state, position.mover))
        assert read.state == position.state
        assert read.mover in (position.mover, None)
        if own_method(game, "from_cells") is not None:
            rows = board_of(game, position.state, position.mover or 0)
            assert solver.position(game, rows, mover=position.mover) == position.state
            if "".join(rows).isdecimal() and len(rows) == 1:
                # Digits alone are moves
                continue
            assert solver.position(game, f"{'/'.join(rows)} {(position.mover or 0) + 1}") == position.state
            side = mover_of(rules.game, position.state)
            assert side in (None, position.mover)


@pytest.mark.parametrize("name", ["tic-tac-toe", "connect-four:4,4", "kalah:3,3", "othello:4,4", "dao"])
def test_arrays_of_numbers_are_read(name):
    """0 for an empty cell, 1 and 2 for the marks of the layout, or the numbers of seeds."""
    game = load_game(name)
    symbols = layout_of(Rules(game)).symbols
    marks = symbols if symbols[0] == "0" else f".{symbols}"
    for position in positions_of(Rules(game), 30):
        rows = board_of(game, position.state, position.mover)
        numbers = np.array([[marks.index(mark) for mark in row] for row in rows])
        for board in (numbers, numbers.tolist(), numbers.ravel(), [list(row) for row in rows]):
            assert solver.position(game, board, mover=position.mover) == position.state


ALIKE = (
    *(CORNER, "x.o/.x./..o", "X.o\n.X.\n..o", "X . o\n. X .\n. . o", "X1o/1X1/2o", "X 1 o/1 X 1/1 1 o"),
    *("X1o/1X1/11o", "102/010/002", "1 0 2\n0 1 0\n0 0 2", CORNER + " 1"),
)


@pytest.mark.parametrize("text", ALIKE, ids=map(str, itertools.count()))
def test_one_board_in_several_notations(text):
    assert parse_position(THREE, text).state == parse_position(THREE, "a3 c3 b2 c1").state


ONE_WIDE = ("clobber:1,4", "nogo:1,3", "domineering:1,5", "snort:1,3", "connect-four:1,5")


@pytest.mark.parametrize("name", [*TWELVE, *ONE_WIDE, *LATER])
def test_blank_cells_are_read_in_lists_and_as_numbers(name):
    """A 1 for each empty cell and FEN are never another position; they are refused only if all cells are digits."""
    game = load_game(name)
    if own_method(game, "from_cells") is None or not is_drawn(game):
        return
    for position in positions_of(Rules(game), 16)[::4]:
        rows, side = board_of(game, position.state, position.mover or 0), (position.mover or 0) + 1
        empty = "0" if "".join(rows).isdecimal() else "."
        for blank in ("", " ", None):
            board = [[blank if mark == empty else mark for mark in row] for row in rows]
            assert solver.position(game, board, position.mover) == position.state
        if empty == "0" or len(rows) == 1 or name.startswith("chess"):
            # A chess board with digits is FEN, which names the side otherwise
            continue
        counted = [re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows]
        for typed in ([row.replace(".", "1") for row in rows], counted):
            try:
                assert parse_position(game, f"{'/'.join(typed)} {side}").state == position.state
            except PositionError as error:
                assert "write . for each empty cell" in str(error)
                assert {*"".join(typed)} <= {*"123456789 "}


def test_digits_are_marks_where_the_game_has_such_marks(tmp_path):
    path = tmp_path / "digits.py"
    path.write_text(DIGITS)
    game = load_game(f"{path}::Digits")
    assert [parse_position(game, text).state for text in ("2./.1", "2 . / . 1", "11/11")] == [29, 29, 40]
    raises(PositionError, "2/2' is not a board", parse_position, game, "2/2")


@pytest.mark.parametrize(
    ("name", "board", "message"),
    [
        ("tic-tac-toe", "X4o/111/..o", "b3: '4' is not a mark of this game"),
        *[("tic-tac-toe", board, "write 3 rows of 3") for board in ("X1o/9/..o", "9" * 5000 + "/3/3", "X.o/.X.")],
        ("tic-tac-toe", "X0o/111/..o", "b3: '0' is not a mark of this game"),
        ("clobber:1,4", "1/1/1/1", "digits may be marks or empty cells: write ."),
        *[("kalah:4,3", f"{nines} 3 3 3/3 3 3 3", "no number of seeds") for nines in ("9" * 10, "9" * 5000)],
        ("tic-tac-toe", "X.o/.X./..z", "c1: 'z' is not a mark of this game: X o"),
        *[("tic-tac-toe", board, "men are put in turn") for board in ("X.o/.X./.oo", "X.o/.X./..o 2")],
        ("connect-four:4,4", "..../X.../..../....", "a3: a man falls"),
        ("kalah:4,3", ".333/3333", "a2: '.' is not a mark of this game"),
        ("kalah:4,3", "3333/3334", "there are 25 seeds in the houses, of 24"),
        ("othello:4,4", "..../.oX./.Xo./....", "write 1 or 2"),
        ("checkers:4", "b.../..../..../....", "men stand on dark squares alone"),
        ("fox-and-hounds:4", "h.h./..../..../F...", "one fox and 2 hounds"),
        ("quoridor", "1 2\n3 4", "quoridor reads no boards: give moves, or add from_cells"),
        ("chess-ending:KRK", "......../" * 7 + "k....K.K 1", "each side has one king"),
        ("nim", "ooo../ooooo/ooooo", "heap b has at most 4"),
        ("tic-tac-toe", None, "not NoneType"),
        ("tic-tac-toe", [object] * 9, "a3: <class 'object'> is not a mark"),
        ("tic-tac-toe", [3] * 9, "a3: 3 is not a mark: 0 is empty, 1 is X, 2 is o"),
        ("tic-tac-toe", [1, 2], "3 rows of 3 cells, not 2 in all"),
        ("kalah:4,3", [3] * 7 + [0], "either side may be to move: give mover=0 or mover=1"),
        ("kalah:4,3", [3.5] * 8, "a2: 3.5 is not a mark"),
        *[("kalah:4,3", [seeds] * 8, "a2: no number of seeds") for seeds in (-1, 10**9)],
        ("ur:2", [0] * 24, "reads no boards"),
    ],
    ids=map(str, itertools.count()),
)
def test_boards_that_cannot_be_are_refused(name, board, message):
    raises(PositionError, message, solver.position, load_game(name), board)


def test_a_text_that_is_not_as_shown_is_refused():
    """A dice game's board with one number changed, and a chess board whose last line is of another position."""
    for name, row, other in (("ur:2", "* . . .", "* x . ."), ("chess-ending:KRK", "8 . .", "8 . R")):
        game = load_game(name)
        shown = show(game, game.initial()).replace(row, other, 1)
        raises(PositionError, "shows in another way", parse_position, game, shown)


def test_a_side_is_named_by_its_number_or_its_colour():
    game = load_game("othello:4,4")
    sides = {"1": 0, "2": 1, "first": 0, "white": 1, "b": 0, "x": 0}
    assert {side: parse_position(game, f"..../.oX./.Xo./.... {side}").mover for side in sides} == sides
    raises(PositionError, "write 2 behind the rows", solver.position, THREE, "4453", mover=1)


TURNED = "1q6/8/K1k5/8/8/8/8/8"


@pytest.mark.parametrize(
    ("name", "fen", "others"),
    [
        (
            "chess-ending:KQK",
            "8/8/8/8/8/k1K5/8/1Q6 w - - 0 1",
            ["8/8/8/8/8/k1K5/8/1Q6_w_-_-_0_1", f"{TURNED} b - - 0 1"],
        ),
        ("chess-duel:KRKP", "8/8/8/8/3k4/3p4/8/R3K3 w - - 0 1", ["r3k3/8/3P4/3K4/8/8/8/8 b"]),
        ("chess-duel:KPKP", "4k3/8/8/8/Pp6/8/8/4K3 b - a3 0 1", ["4k3/8/8/8/Pp6/8/8/4K3_b_-_a3"]),
    ],
)
def test_fen_is_read_whichever_side_has_the_pieces(name, fen, others):
    game = load_game(name)
    for text in (fen, *others):
        assert game.format_position(solver.position(game, text)) == fen
    raises(PositionError, "never stand|each side has one king", solver.position, game, "8/8/8/8/8/k1K5/8/1NB5 w")


def test_shown_positions_of_files_are_read(tmp_path):
    moves = "state,action,next,reward\ntwo,take 1,one,\ntwo,take 2,none,1\none,take 1,none,1\n"
    (tmp_path / "moves.csv").write_text(moves)
    (tmp_path / "tree.json").write_text("[[3, [12, 8]], [2, 4]]")
    for name, states in ((f"graph:{tmp_path}/moves.csv", 3), (f"tree:{tmp_path}/tree.json", 9)):
        game = load_game(name)
        for state in range(states):
            shown = show(game, state)
            if "\n" in shown or name.startswith("graph"):
                assert show(game, parse_position(game, shown).state) == shown


def test_moves_are_not_taken_for_boards():
    assert parse_position(load_game("kayles:6"), "1 3").ply == 2
    assert parse_position(load_game("connect-four:4,4"), "1 2 3 4 1 2 3 4").ply == 8


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


def test_case_and_separators_do_not_matter_where_one_move_can_be_meant():
    assert parse_position(PAWNS, "a1a2 b3a2").ply == 2
    raises(PositionError, "move 1", parse_position, PAWNS, "a1a2b3a2")
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
