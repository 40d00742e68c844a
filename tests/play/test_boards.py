"""Boards as SVG and HTML: every game at random positions, what notebooks show, and `query --svg`."""

import functools
import pickle
import re
from collections import Counter
from xml.etree import ElementTree

import pytest

import solver
from solver.base.errors import BookError, MethodError, PositionError
from solver.games import CATALOGUE
from solver.play import showing
from solver.rules.boards import looks
from solver.rules.boards.scene import Label, label_of, marks_of
from solver.rules.boards.surfaces import OWN_MEN
from solver.rules.boards.text import cells_of_move, drawing_of
from solver.rules.game import Rules
from solver.rules.notation import board_of, chances, first_position, format_action
from solver.rules.reading import parse_position
from tests.commands import run
from tests.pages import positions_of
from tests.processes import python
from tests.project.test_imports import PACKAGE
from tests.refusals import raises
from tests.written import write_rules

SITE = PACKAGE / "web" / "site"
NAMES = [{"chess-ending": "chess-ending:KBNK"}.get(name, name) for name in CATALOGUE if name not in ("graph", "tree")]
SVG = "{http://www.w3.org/2000/svg}"


def invented(rules, position):
    """Labels of all moves, with values as they come."""
    if rules.is_terminal(position.state) or chances(rules.game, position.state):
        return []
    board = board_of(rules.game, position.state, position.mover or 0)
    values = [solver.Value(1, 11), solver.Value(0), solver.Value(-1, 4), None]
    values = [solver.Value(3), solver.Value(0), solver.Value(-12), None] if rules.scores else values
    told = []
    for number, action in enumerate(rules.actions(position.state)):
        cells = cells_of_move(rules.game, position.state, action, board)
        name = format_action(rules.game, position.state, action)
        told.append(label_of(name, cells, rules, values[number % 4], None, number == 0))
    return told


def parsed(text):
    root = ElementTree.fromstring(text)
    places = ("x", "y", "cx", "cy", "r", "points", "transform")
    numbers = [element.get(name) for element in root.iter() for name in places]
    assert not re.search(r"nan|inf|e-", " ".join(filter(None, numbers)))
    assert root.tag == f"{SVG}svg" and root[0].tag == f"{SVG}title" and root[0].text
    return root


def words_of(root):
    return [element.text for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("name", NAMES)
def test_every_game_is_drawn(name):
    rules = Rules(solver.load_game(name))
    kind = drawing_of(rules.game).get("board")
    for position in (first_position(rules), *positions_of(rules, 12)[3::4]):
        told = invented(rules, position)
        text = showing.drawn(rules, position, told, "a <caption> & more")
        assert text == showing.drawn(rules, position, told, "a <caption> & more")
        root = parsed(text)
        width, height = map(float, root.get("viewBox").split()[2:])
        said = Counter(words_of(root))
        assert "a <caption> & more" in " ".join(said)
        marks = "".join(board_of(rules.game, position.state, position.mover or 0))
        if kind not in OWN_MEN:
            known = drawing_of(rules.game).get("men", {})
            shown = Counter(element.get("data-mark") for element in root.iter(f"{SVG}g") if element.get("data-mark"))
            assert shown == Counter(mark for mark in marks if looks.kind_of_man(mark, known))
        badges = marks_of(told, drawing_of(rules.game).get("free", 0)).badges
        chips = [one for one in root.iter(f"{SVG}rect") if one.get("fill") in looks.VALUES.values()]
        assert len(chips) == len(badges)
        for rect in chips:  # in the picture, whole
            left, top, wide, high = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
            assert left >= -14 and top >= -14 and left + wide <= width and top + high <= height


def test_what_cells_do_not_tell_is_told_in_words(tmp_path):
    """Moves without cells below the board, numbers, and a game without cells as its text."""
    rules = Rules(solver.load_game("nogo"))
    position = first_position(rules)
    told = invented(rules, position)
    said = " ".join(words_of(parsed(showing.drawn(rules, position, told))))
    assert all(f"{one.name}: {one.words}" in said for one in told)
    assert {"0", "4"} <= {*words_of(parsed(solver.board("kalah:6,4")))}
    assert "0 of 100" in words_of(parsed(solver.board("pig")))
    assert {"24", "off", "bar"} <= {*words_of(parsed(solver.board("hypergammon")))}
    heap = {"initial": "self.goal", "result": "state - action", "is_terminal": "state <= 0"}
    heap = write_rules(tmp_path / "heap.py", show='f"{state} <left> & more"', **heap)
    assert words_of(parsed(solver.board(f"{heap}:7"))) == ["7 <left> & more"]


@functools.cache
def player(name="tic-tac-toe"):
    return solver.Player(solver.Book(name))


def test_the_values_of_a_board_are_those_of_its_book():
    text = solver.board(player().solution, "a1 b2")
    root = parsed(text)
    assert root[0].text == "tic-tac-toe, state 131073: draw for the side to move"
    chips = Counter(looks.VALUES[move.value.outcome] for move in player().analyse(131073))
    shown = Counter(one.get("fill") for one in root.iter(f"{SVG}rect") if one.get("fill") in looks.VALUES.values())
    assert shown == chips and sum(chips.values()) == 7
    moves = player().analyse(131073)
    assert text == solver.board(player(), "a1 b2") == solver.board("tic-tac-toe", 131073, moves=moves)
    assert text == solver.board(player().solution.path, "a1 b2") == solver.board(str(player().solution.path), "a1 b2")
    assert parsed(solver.board("tic-tac-toe")).find(f"{SVG}rect").get("fill") == looks.PAPER


def test_what_cannot_be_drawn_or_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = player().analyse(0)
    raises(PositionError, "the moves of state 0: 'a1' is state", solver.board, "tic-tac-toe", "a1", moves=other)
    raises(PositionError, "not a legal move", solver.board, "tic-tac-toe", "z9")
    raises(BookError, "no.lmdb cannot be read", solver.board, "no.lmdb")
    raises(MethodError, "name a .svg file", solver.board("tic-tac-toe").save, "board.html")
    raises(BookError, None, solver.board("tic-tac-toe").save, "nowhere/board.svg")
    assert list(tmp_path.iterdir()) == []


def test_analyse_returns_a_list_that_shows_itself():
    moves = player().analyse(131073)
    assert moves == list(moves) == player().examine(131073)[1] and isinstance(moves, list)
    assert moves.game == player().game and moves.state == 131073 and moves.answer == player().value(131073)
    assert pickle.loads(pickle.dumps(moves)) == moves and type(moves[:2]) is list  # noqa: S301
    html = moves._repr_html_()
    root = ElementTree.fromstring(html.replace("&#9733;", "*").replace("&nbsp;", " "))
    assert len(root.findall(".//tr")) == 7 and html.count("*") <= 1
    assert "<svg" in html and "draw for the side to move" in html and ">b1<" in html
    answer = player().value(131073)
    assert answer == (solver.Value(0), True, "book", None) and repr(answer).startswith("Answer(value=")
    over = parse_position(player().game, "a1 b1 a2 b2 a3").state
    assert "the game is over: loss" in player().analyse(over)._repr_html_()


def test_boards_and_figures_are_those_of_the_page():
    css = (SITE / "board.css").read_text("utf-8")
    for name, side in looks.SIDE_LOOKS.items():
        first, second = (re.search(rf"\.{way}-{name}\b[^{{]*{{ --{way}: (#\w+)", css) for way in ("first", "second"))
        assert side.body in {found[1] for found in (first, second) if found}, name
    page = (SITE / "page.css").read_text("utf-8")
    assert all(f"--{kind}: {colour};" in page for kind, colour in looks.VALUES.items())
    classes = {part[5 if part[0] == "rect" else -1] for figure in looks.figures().values() for part in figure}
    assert classes == {*looks.paints_of(looks.NOBODY)} and len(looks.figures()) > 18
    assert all(f".{name}" in css for part in classes for name in part.split() if name != "step")
    assert all(f".{name}" in css or name in css for name in ("hexagon", "wedge", "felt"))


def test_of_moves_that_share_a_cell_the_best_is_shown():
    moves = [Label("ab", (0, 1), "win in 1", ("win", "1"), "win", True)]
    moves += [Label("ac", (0, 1), "draw", ("draw", ""), "draw")]
    assert marks_of(moves).badges == {(0,): moves[0]} and marks_of(moves).arrows == moves[:1]


def test_a_position_is_written_as_svg(tmp_path):
    path = tmp_path / "board.svg"
    code, output, _ = run("query", "tic-tac-toe", "a1 b2", "--svg", path)
    assert code == 0 and "X . ." in output
    assert path.read_text("utf-8") == solver.board(player(), "a1 b2")
    assert solver.board(player(), "a1 b2").save(tmp_path / "two.svg").read_bytes() == path.read_bytes()
    run("query", "tic-tac-toe", "a1 b2", "--no-moves", "--svg", path)
    fills = [one.get("fill") for one in parsed(path.read_text("utf-8")).iter(f"{SVG}rect")]
    assert not {*fills} & {*looks.VALUES.values()}


def test_bars_fit_a_notebook_without_widgets():
    script = """
import sys, types, warnings
warnings.simplefilter("error")
shell = types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = types.ModuleType("IPython")
sys.modules["IPython"].get_ipython = lambda: shell
sys.modules["ipywidgets"] = None
import solver
with solver.Bars() as bars:
    solver.solve("coins:9", progress=bars)
    bars("counting", 5, 10)
"""
    done = python(script, check=True)
    assert "counting" in done.stderr and "Warning" not in done.stderr
