"""Loading games by their strings, and refusing what makes no game, in one line that names the remedy."""

import importlib
import re
import subprocess
import sys
import textwrap

import pytest

from solver.base.errors import GameError
from solver.base.value import WIN
from solver.games import CATALOGUE, FROM_FILES, class_of
from solver.games.connect_four import ConnectFour
from solver.report.games import GROUPS, facts
from solver.rules.game import Rules, game_text, is_built_in, load_game, own_value
from tests.games import CHANCE_GAMES, LARGE_CHANCE_GAMES, LARGE_GAMES, MORE_GAMES, SMALL_GAMES
from tests.refusals import raises

OWN = """
    from typing import NamedTuple

    class Own(NamedTuple):
        size: int = 3
        loud: bool = False
        def initial(self): return self.size
        def actions(self, state):
            yield 1
        def result(self, state, action): return state - action
        def is_terminal(self, state): return state == 0
        def utility(self, state): return -1
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own_rules.py"
    path.write_text(textwrap.dedent(OWN))
    return path


@pytest.mark.parametrize("text", SMALL_GAMES)
def test_the_text_of_a_game_loads_it_again(text):
    game = load_game(text)
    assert load_game(game_text(game)) == game


def test_texts_leave_defaults_out():
    four = {"7,6,4": "", "width=5,height=4": ":5,4", "5": ":5,6", "height=4": ":7,4", "5,connect=3": ":5,6,3"}
    texts = {f"connect-four:{given}": f"connect-four{left}" for given, left in four.items()}
    texts |= {"nim:3,4,5": "nim", "tic-tac-toe:4,3,3,false": "tic-tac-toe:4,3", "kalah:3,3": "kalah:3"}
    assert {text: game_text(load_game(text)) for text in texts} == texts


def test_a_users_file_and_module(own, monkeypatch):
    game = load_game(f"{own}::Own:5,loud=yes")
    assert (game.size, game.loud) == (5, True)
    assert game_text(game) == "own_rules.py::Own:5,true"
    assert not any(map(is_built_in, (game_text(game), f"{own}", "own_rules.py:5")))  # books that name them run nothing
    assert load_game("solver.games.coins::Coins:9,2") == load_game("coins:9,2")


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        ("int | None", "12", 12),
        ("int | None", "none", None),
        ("Optional[int]", "12", 12),
        ("Optional[Literal[5, 12]]", "12", 12),
        ("Size | None", "LARGE", 12),
        ("Size", "12", 12),
        ("Size", "LARGE", 12),
        ("Name", "LARGE", "Large"),
        ("Literal['a', 'B']", "B", "B"),
        ("Literal[True]", "true", True),
        ("Annotated[int, 'plies']", "12", 12),
        ("tuple[int, ...] | None", "1,2", (1, 2)),
        ("tuple[int, ...] | None", "none", None),
        ("str", "Ab", "Ab"),  # not "ab": the book would be one of another game
        ("float", "1.5", 1.5),
        ("float", "-1e300", -1e300),
        ("float", "x", "goal is a number such as 0.5, not 'x'"),
        ("float", "nan", "goal is a number such as 0.5, not 'nan'"),  # which equals nothing, itself included
        ("int | None", "x", "goal is a whole number below 2**63, not 'x'"),
        ("Size", "3", "goal is one of 5, 12, SMALL, LARGE, not '3'"),
        ("Literal['a', 'B']", "b", "goal is one of a, B, not 'b'"),
        ("Fraction", "1/2", "goal is annotated fractions.Fraction, to which no text is converted: annotate it int,"),
        *[
            (kind, "1", f"goal is annotated {kind}, to which no text")
            for kind in ("int | str", "Any", "list[int]", "tuple", "tuple[str, ...]")
        ],
    ],
)
def test_parameters_are_converted_by_their_annotations_or_these_are_refused(annotation, text, value, tmp_path):
    names = "from typing import Annotated, Any, Literal, Optional\nfrom fractions import Fraction\nimport enum\n"
    kinds = "class Size(enum.IntEnum):\n    SMALL = 5\n    LARGE = 12\n"
    kinds += "class Name(enum.StrEnum):\n    SMALL = 'small'\n    LARGE = 'Large'\n"
    own = names + kinds + textwrap.dedent(OWN).replace("size: int = 3", f"goal: {annotation} = 3")
    (tmp_path / "own.py").write_text(own)
    if isinstance(value, str) and value.startswith("goal is"):
        raises(GameError, re.escape(value), load_game, f"{tmp_path / 'own.py'}::Own:{text}")
        return
    game = load_game(f"{tmp_path / 'own.py'}::Own:{text}")
    assert game.goal == value
    again = load_game(f"{tmp_path}/{game_text(game)}")
    assert again == game and type(again.goal) is type(game.goal)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chess", "no game 'chess': did you mean minichess, chess-duel or chess-ending\\? All: solver games"),
        ("connect-four:0", "width must be from 1 to 125"),
        *[(text, "must be at most 250") for text in ("connect-four:70,60", "tic-tac-toe:16,16")],
        ("connect-four:5,4,4,4", "too many parameters: it takes width, height, connect"),
        ("connect-four:depth=3", "no parameter 'depth': it takes width, height, connect"),
        ("connect-four:5,width=4", "width is given twice"),
        ("connect-four:five", "width is a whole number below 2\\*\\*63, not 'five'"),
        *[(f"connect-four:{width}", "width is a whole number") for width in ("\u0665", "9" * 400, "nan", ",")],
        ("connect-four:9223372036854775808", "width is out of range"),
        ("coins:5,misere=perhaps", "misere is one of true, false, yes, no, 1, 0, not 'perhaps'"),
        ("coins:0", "coins must be"),
        ("coins:100000,65537", "most must be from 1 to 65536"),
        ("nim:65000,537", "heaps together must be at most 65536"),
        ("connect-four:3,3,63", "connect must be from 2 to 62"),
        ("tic-tac-toe:27,1", "width must be from 1 to 26"),
        ("tic-tac-toe:3,3,32", "line must be from 2 to 31"),
        ("quixo:5,true", "everything is for sizes 2 to 4"),
        ("nim:" + ",".join(["1"] * 27), "one to 26 heaps"),
        *[(text, "must fit 62 bits") for text in ("nim:1023,1023,1023,1023,1023,1023,1023", "chomp:26,40")],
        ("nim:1,3,5,7,true", "what follows the numbers is given by its name: misere=true"),
        ("nim:1,3,misere", "what follows the numbers is given by its name: misere=misere"),
        ("nim:true,3", r"heaps is a whole number below 2\*\*63, not 'true'"),
        ("othello:1,4", "must be at least 2, for four discs"),
        ("hexapawn:1,1", "height must be at least 2"),
        ("breakthrough:4,4,3", "height at least twice the rows"),
        ("dots-and-boxes:6,6", "take fewer boxes"),
        ("kalah:9,9", "take fewer houses or seeds"),
        ("othello:12,12", "must be at most 100"),
        ("mu-torere:3", "restricted is one of true, false, yes"),
        *[(name, "name the file") for name in ("tree", "graph")],
        *[(text, "cannot be read") for text in ("tree:nosuch.json", "nosuch.csv", "nosuch.py::Own")],
        ("no.such.module::Own", "cannot be imported"),
    ],
)
def test_bad_texts_are_refused_at_once(text, message):
    raises(GameError, rf"^[^\n]*{message}[^\n]*$", load_game, text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class Own", "class Other", "has no class 'Own'"),
        ("actions(self, state)", "actions(self, board)", r"Own.actions takes \(board\): name its parameters \(state\)"),
        ("def utility", "def worth", r"Own has no method utility\(self, state\): add it"),
        ("class Own", "1 / 0\nclass Own", "cannot be imported: ZeroDivisionError"),
        ("size: int", "tier = 3\n    size: int", "Own.tier is 3: make it a method"),
        ("size: int", "layout = 5\n    size: int", "Own.layout is 5: make it a tuple"),
        ("size: int", "drawing = 'x'\n    size: int", "Own.drawing is 'x': make it a dict"),
    ],
)
def test_a_file_of_other_rules_is_refused(own, old, new, message):
    own.write_text(own.read_text("utf-8").replace(old, new))
    names = ("tier", "layout", "drawing")
    raises(GameError, message, lambda: [own_value(load_game(f"{own}::Own"), name) for name in names])


def test_rules_fill_in_what_a_game_lacks(own):
    """For a lesson's plain class as well, whose states are whatever can be hashed."""

    class Lesson:
        initial = staticmethod(lambda: ("a",))
        actions = result = is_terminal = None
        utility = staticmethod(lambda state: -1)

    for game, name in ((load_game(f"{own}::Own"), "own_rules.py::Own"), (Lesson(), "Lesson")):
        rules, start = Rules(game), game.initial()
        assert rules.name == name
        assert not (rules.scores or rules.folds or rules.tiered or rules.plain_only)
        assert rules.alternates and not rules.same_mover(start, 1, start)
        assert (rules.canonical(start), rules.tier(start), rules.plies_left(start)) == (start, 0, 0)
        assert rules.roots() == [start]
        assert rules.end(start) == -WIN
        for name in ("to_move", "again", "reward", "chance", "evaluate", "bounds", "promise"):
            assert getattr(rules, name) is None
    del Lesson.utility
    raises(GameError, r"Lesson has no method utility\(self, state\): add it", Rules, Lesson())


def test_who_moves_and_what_a_move_scores():
    class Piles:
        """Take one or all from the pile; who takes all moves again."""

        score_game = True
        initial = staticmethod(lambda: 3)
        actions = staticmethod(lambda state: range(1, state + 1))
        result = staticmethod(lambda state, action: state - action)
        is_terminal = staticmethod(lambda state: state == 0)
        utility = staticmethod(lambda state: 0)
        again = staticmethod(lambda state, action: action == 2)
        reward = staticmethod(lambda state, action: action * 10)

    rules = Rules(Piles())
    assert not rules.alternates
    assert (rules.same_mover(3, 2, 1), rules.same_mover(3, 1, 2)) == (True, False)
    assert (rules.lifted(7, 3, 2, 1), rules.lifted(7, 3, 1, 2)) == (27, 3)
    Piles.to_move = staticmethod(lambda state: 0)
    raises(GameError, "Piles has both to_move.* and again.*: keep to_move if", Rules, Piles())
    del Piles.to_move
    Piles.chance = staticmethod(lambda state: iter(()))
    raises(GameError, r"says nothing about chance nodes: add to_move\(state\)", Rules, Piles())
    del Piles.chance
    Piles.score_game = False
    raises(GameError, "set score_game = True in the class", Rules, Piles())


def test_rules_fold_only_where_symmetry_is_wanted():
    game = ConnectFour(4, 4)
    state = game.result(game.initial(), 3)
    assert Rules(game).folds and Rules(game).canonical(state) == game.canonical(state) != state
    assert not Rules(game, False).folds and Rules(game, False).canonical(state) == state
    boxes = Rules(load_game("dots-and-boxes:1,1"))
    assert boxes.scores and not boxes.alternates and boxes.tiered


LISTED = SMALL_GAMES + MORE_GAMES + LARGE_GAMES + CHANCE_GAMES + LARGE_CHANCE_GAMES
TESTED = {text.partition(":")[0] for text in LISTED} | {"chess-ending", "quarto"}


def lacks(name):
    """Yield the parts that a game of the package lacks, and the remedy: the steps are those of CONTRIBUTING.md."""
    class_name = name.title().replace("-", "")
    module = importlib.import_module(f"solver.games.{name.replace('-', '_')}")
    cls, group = getattr(module, class_name, None), getattr(module, "GROUP", None)
    if cls is None:
        yield f"no class {class_name}: name the class of the rules like the file"
    elif group not in GROUPS:
        yield f"no group: set GROUP above the class to one of {', '.join(GROUPS)}"
    else:
        text = facts(name)["rules"]
        if not 3 <= len(re.findall(r"[.:](?=\s|$)", text)) <= 25:
            yield "rules told in fewer than 3 or more than 25 sentences before 'A state': mend the file's docstring"
        if word := re.search(r"\b(bits?|tiers?|states?)\b", text):
            yield f"{word[0]!r} among the rules: write of the encoding after a sentence that begins with 'A state'"
    if name in FROM_FILES:
        return
    if not hasattr(cls, "cells"):
        yield "no cells(state, mover): pages draw the board by it, see docs/reference/rules.md"
    if not hasattr(cls, "place") and group != "dice":  # a throw may have no place
        yield "no place(state, action): a page takes clicks by it, see docs/reference/rules.md"
    if name not in TESTED:
        yield f"no test: add a line {name!r}, with the parameters of a small board, to tests/games.py"


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_game_of_the_package_lacks_nothing(name):
    missing = list(lacks(name))
    assert not missing, f"{name} has {'; '.join(missing)}"


def test_a_game_is_found_by_the_name_of_its_file():
    assert all(game_text(class_of(name)()) == name for name in CATALOGUE if not hasattr(class_of(name), "from_text"))
    code = "import sys, solver; solver.load_game('three-mens-morris'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    own = {name for name in loaded if name.startswith("solver.games.")}
    shared = {f"solver.games.common{name}" for name in ("", ".boards", ".grid", ".men")}
    assert own == {"solver.games.three_mens_morris", *shared}
