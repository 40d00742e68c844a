"""A change that alters values alters the fingerprint: one edit at a time, in the same file, within a second."""

import json
import pickle
import pkgutil
import re
import runpy
import textwrap
from pathlib import Path

import pytest

from solver.base.errors import GameError
from solver.book.codecs import rules_of
from solver.compiled.identity import HOME, identity_of
from solver.games import CATALOGUE, FROM_FILES, class_of
from solver.rules import walk
from solver.rules.fingerprint import _tabled, fingerprint
from solver.rules.game import Rules, load_game
from solver.rules.protocol import HINTS, NUMBERS, OPTIONAL, OUTSIDE
from solver.rules.sources import PACKAGE
from solver.search import retrograde, value_iteration
from tests import ROOT
from tests.refusals import raises
from tests.ways import slow

HEAD = "from typing import NamedTuple\n"
RULES = """
    class Rules(NamedTuple):
        goal: int = 9
        def initial(self):
            return 0
        def actions(self, state):
            yield 1
        def result(self, state, action):
            return {result}
        def is_terminal(self, state):
            return state >= self.goal
        def utility(self, state):
            return -1
"""


def write(folder, head="", result="state + action", body="", name="rules.py", tail=""):
    rules = textwrap.dedent(RULES).format(result=result) + textwrap.indent(textwrap.dedent(body), "    ")
    (folder / name).write_text(HEAD + textwrap.dedent(head) + rules + tail)


def rules_in(folder, parameters=""):
    return load_game(f"{folder}/rules.py::Rules{parameters}")


BY = " import STEP\n    return state + STEP"
STEPS, PACK = {"steps.py": "STEP = ONE"}, {"pack/__init__.py": "", "pack/steps.py": "STEP = ONE"}
RELATIVE = {"pack/__init__.py": "from .steps import step", "pack/steps.py": "def step():\n    return ONE"}
LATE = {**PACK, "pack/__init__.py": f"def step(state):\n    from .steps{BY}"}
MORE = {"steps.py": "import more\ndef step():\n    return more.STEP", "more.py": "STEP = ONE"}
TWO = {"a.py": "STEP = 0\ndef step():\n    return STEP", "b.py": "STEP = ONE\ndef step():\n    return STEP"}
DATACLASS = "import dataclasses\n@dataclasses.dataclass{}\nclass Step:\n    by: int{}\n"
FIELD = " = dataclasses.field(compare=ONE == 2)"
ANNOTATED = "class Step:\n    by: int = ONE\n    def more(self, least: int) -> int:\n        return self.by + least\n"
PROTOCOL = "from typing import Protocol\nclass Has(Protocol):\n    by: int\nclass Step(Has):\n    by = ONE\n"
ADD = "import functools\ndef add(a, b):\n    return a + b{}\n"
CACHED = "import steps\nfrom numba import njit\n@njit(cache=True)\ndef step():\n    return steps.STEP"
READING = "import pathlib  # ONE\nSTEP = int(pathlib.Path(__file__).with_name('steps.txt').read_text('utf-8'))"
SAME = "import functools\ndef same(f):\n    @functools.wraps(f)\n    def g(*a):\n        return f(*a){}\n    return g\n"
# head of the file, what result returns, and more methods and files if any; `1` becomes `2` where it says ONE
EDITS = {
    "the rule itself": ("", "state + ONE"),
    "int": ("STEP = ONE", "state + STEP"),
    "float": ("STEP = ONE.0", "state + int(STEP)"),
    "nested list": ("STEPS = [[0], [5, ONE]]", "state + STEPS[1][1]"),
    "dict": ("STEPS = {'a': ONE}", "state + STEPS['a']"),
    "order of a dict": ("a, b = ONE, 3 - ONE\nSTEPS = {a: 1, b: 2}", "state + next(iter(STEPS))"),
    "set": ("STEPS = {ONE}", "state + max(STEPS)"),
    "array": ("import numpy as np\nSTEPS = np.arange(3) * ONE", "state + int(STEPS[1])"),
    "enum": ("import enum\nclass Step(enum.Enum):\n    A = ONE", "state + Step.A.value"),
    "int enum": ("import enum\nclass Step(enum.IntEnum):\n    A = ONE", "state + Step.A"),
    "enum member": ("import enum\nclass Step(enum.Enum):\n    A = ONE\nSTEP = Step.A", "state + STEP.value"),
    "object": ("import types\nSTEP = types.SimpleNamespace(by=ONE)", "state + STEP.by"),
    "object's class": ("class Step:\n    def by(self):\n        return ONE\nSTEP = Step()", "state + STEP.by()"),
    "dataclass": (DATACLASS.format("", "") + "STEP = Step(ONE)", "state + STEP.by"),
    "frozen dataclass": (DATACLASS.format("(frozen=True)", " = ONE") + "STEP = Step()", "state + STEP.by"),
    "dataclass with slots": (DATACLASS.format("(slots=True, order=True)", "") + "STEP = Step(ONE)", "state + STEP.by"),
    "field of a dataclass": (DATACLASS.format("", FIELD), "state + (Step(1) == Step(2))"),
    "default of a named tuple": ("class Step(NamedTuple):\n    by: int = ONE", "state + Step().by"),
    "class with annotations": (ANNOTATED + "STEP = Step()", "STEP.more(state)"),
    "protocol": (PROTOCOL + "STEP = Step()", "state + STEP.by"),
    "union": ("from typing import Union\nKIND = Union[int, (float, str)[ONE - 1]]", "state + 1 + isinstance('', KIND)"),
    "f-string": ("", "state + int(f'{state:>{1}}ONE')"),
    "fraction": ("from fractions import Fraction\nSTEP = Fraction(ONE, 1)", "state + int(STEP)"),
    "namedtuple": ("class Step(NamedTuple):\n    by: int\nSTEP = Step(ONE)", "state + STEP.by"),
    "helper's helper": ("def two():\n    return ONE\ndef step():\n    return two()", "state + step()"),
    "lambda in a list": ("STEPS = [lambda: 0, lambda: ONE]", "state + STEPS[1]()"),
    "default made at import": ("BY = ONE\ndef step(by=BY + 0):\n    return by", "state + step()"),
    "keyword default": ("BY = ONE\ndef step(*, by=BY + 0):\n    return by", "state + step()"),
    "attribute of a function": ("def step():\n    return step.by\nstep.by = ONE", "state + step()"),
    "closure": ("def make(by):\n    return lambda: by\nstep = make(ONE)", "state + step()"),
    "partial": (ADD.format("") + "step = functools.partial(add, ONE)", "state + step(0)"),
    "function in a partial": (ADD.format(" * ONE") + "f = functools.partial(add, 0)", "state + f(1)"),
    "lru_cache": ("import functools\n@functools.lru_cache\ndef step():\n    return ONE", "state + step()"),
    "wraps": (SAME.format("") + "@same\ndef step():\n    return ONE", "state + step()"),
    "what wraps": (SAME.format(" * ONE") + "@same\ndef step():\n    return 1", "state + step()"),
    "njit": ("from numba import njit\n@njit\ndef step():\n    return ONE", "state + step()"),
    "static method": ("", "state + self.step()", "@staticmethod\ndef step():\n    return ONE"),
    "class method": ("", "state + self.step()", "@classmethod\ndef step(cls):\n    return ONE"),
    "property": ("", "state + self.step", "@property\ndef step(self):\n    return ONE"),
    "class constant": ("", "state + self.STEP", "STEP = ONE"),
    "name made at run time": ("", "state + getattr(self, 'st' + 'ep')()", "def step(self):\n    return ONE"),
    "globals": ("STEP = ONE", "state + globals()['STEP']"),
    "value behind globals": ("import os\nSTEP = len('x' * ONE)", "state + globals()['STEP']"),
    "eval": ("STEP = ONE", "state + eval('ST' 'EP')"),
    "global of the name of a method": ("step = ONE", "state + step", "def step(self):\n    return 0"),
    # with files beside it
    "name from a module beside": ("from steps import STEP", "state + STEP", "", STEPS),
    "module of a package": ("import pack.steps as h", "state + h.STEP", "", PACK),
    "module of a package by its full name": ("import pack.steps", "state + pack.steps.STEP", "", PACK),
    "relative import": ("import pack", "state + pack.step()", "", RELATIVE),
    "relative import in a function": ("import pack", "pack.step(state)", "", LATE),
    "module of a module": ("import steps", "state + steps.step()", "", MORE),
    "names of two modules": ("import a, b", "state + a.step() + b.step()", "", TWO),
    "module in a function": ("", "state + __import__('steps').STEP", "", STEPS),
    "module imported in a rule": ("", "self.go(state)", f"def go(self, state):\n    from steps{BY}", STEPS),
    "module behind Numba's cache": (CACHED, "state + step()", "", STEPS),
    "data file": (READING, "state + STEP", "", {"steps.txt": "ONE"}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_changes_the_fingerprint(tmp_path, edit):
    found = []
    for one in "12":
        edited(tmp_path, edit, one)
        game = rules_in(tmp_path)
        found.append((game.result(0, 1), fingerprint(game)))
        assert fingerprint(rules_in(tmp_path, ":9")) == found[-1][1]
    assert found[0][0] != found[1][0]
    assert found[0][1] != found[1][1]


def edited(folder, edit, one):
    parts, files = EDITS[edit][:3], dict(*EDITS[edit][3:])
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text.replace("ONE", one))
    write(folder, *(part.replace("ONE", one) for part in parts))


# made with Python 3.11: a book must stay valid with every later Python
EVERYWHERE = {
    "the rule itself": "60567fc648202f6b",
    "dataclass": "3f18087aadc782fb",
    "frozen dataclass": "a337bec6058d0912",
    "dataclass with slots": "7acd29f5ff1ac548",
    "namedtuple": "f28b0447031899ba",
    "default of a named tuple": "98fad2b5538aa3d5",
    "class with annotations": "ecb60cfde819f985",
    "enum": "dfef93622bd04654",
    "int enum": "402eabc729d5c052",
    "object's class": "e8af71c1ec5c444f",
    "protocol": "76eb34dfd22751af",
    "partial": "d01aba00ff26f1fa",
    "lru_cache": "b0ba0fe00bef68b7",
    "f-string": "094c306fe511e8fe",
    "union": "e1088f77a38c2d3d",
}


@pytest.mark.parametrize("edit", EVERYWHERE)
def test_every_python_makes_the_same_fingerprint(tmp_path, edit):
    edited(tmp_path, edit, "1")
    assert fingerprint(rules_in(tmp_path))[:16] == EVERYWHERE[edit]


def test_an_edit_of_a_base_class_or_a_method_behind_super_changes_the_fingerprint(tmp_path):
    found = set()
    for one, two in (("1", "1"), ("2", "1"), ("1", "2")):
        (tmp_path / "mixin.py").write_text(f"class Steps:\n    def step(self):\n        return {one}\n")
        method = f"    def utility(self, state):\n        return super().utility(state) * {two}\n"
        write(tmp_path, "import mixin", "state + self.step()", tail=f"class Mine(mixin.Steps, Rules):\n{method}")
        found.add(fingerprint(load_game(f"{tmp_path}/rules.py::Mine")))
    assert len(found) == 3


def test_margins_may_be_declared_by_a_property(tmp_path):
    """As type checkers want it in a NamedTuple, with the fingerprint of the attribute."""
    found, declared = [], "@property\ndef score_game(self):\n    return "
    for body in ("", "score_game = True", f"{declared}True", f"{declared}False"):
        write(tmp_path, body=body)
        found.append(fingerprint(rules_in(tmp_path)))
    assert found[0] == found[3] != found[1] == found[2]


def test_what_changes_no_value_leaves_the_fingerprint(tmp_path):
    write(tmp_path)
    plain = fingerprint(rules_in(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    shown = "def show(self, state):\n    return str(state)"
    edits = (tmp_path, "# a remark", ""), (tmp_path, "UNUSED = 5", ""), (tmp_path, "", shown)
    for folder, head, body in (*edits, (tmp_path / "elsewhere", "", "")):
        write(folder, head, body=body)
        assert fingerprint(rules_in(folder)) == plain


MADE = "names = {}\nexec('def step(self): return 1', names)\nclass Step:\n    step = names['step']\nSTEP = Step()"


def test_what_cannot_be_told_apart_is_refused(tmp_path):
    write(tmp_path, "import threading\nLOCK = threading.Lock()", "state + LOCK.locked() + 1")
    raises(GameError, "content cannot be told", fingerprint, rules_in(tmp_path))
    write(tmp_path, MADE, "state + STEP.step()")
    raises(GameError, "source of Step.step is not at hand", fingerprint, rules_in(tmp_path))


def test_a_game_made_before_an_edit_keeps_its_fingerprint(tmp_path):
    write(tmp_path)
    before = rules_in(tmp_path)
    write(tmp_path, result="state + 2")
    assert fingerprint(rules_in(tmp_path)) != fingerprint(before)
    write(tmp_path)
    assert fingerprint(rules_in(tmp_path)) == fingerprint(before)


def test_modules_of_one_name_in_two_folders_are_two(tmp_path):
    games = []
    for one in "12":
        folder = tmp_path / one
        folder.mkdir()
        (folder / "steps.py").write_text(f"STEP = {one}")
        write(folder, "import steps", "state + steps.STEP")
        games.append(rules_in(folder))
    assert [game.result(0, 1) for game in games] == [1, 2]


def test_a_module_of_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "mygames").mkdir()
    write(tmp_path / "mygames", name="race.py")
    monkeypatch.chdir(tmp_path)
    game = load_game("mygames.race::Rules:12")
    assert game.goal == 12
    assert pickle.loads(pickle.dumps(game)) == game  # noqa: S301


def test_where_all_positions_are_starts_the_tables_are_in_the_fingerprint(tmp_path):
    lines = ["symmetries(self): yield 1, 0", "tables(self): yield 0, 1, {}", "canonical(self, state): return 0"]
    body = "".join(f"def {line}\n" for line in lines)
    found = {}
    for everywhere in ("", "everywhere = True"):
        for men in "01":
            folder = tmp_path / f"{bool(everywhere)}{men}"
            folder.mkdir()
            write(folder, "", "state + 1", body.format(men) + everywhere)
            found[everywhere, men] = fingerprint(rules_in(folder))
    assert len(set(found.values())) == 3


# What an edit of each optional method may look like: `1` becomes `2` where it says ONE. Games have the other methods
# and the attributes that a method goes with. All but those that decide what a book holds are right before and after.
SCORES, LEVEL = "score_game = True\ndef tier(self, state): return state", "def canonical(self, state): return state"
TURNS = "def to_move(self, state): return state // 2 % 2"
BACK = "return 3 if state == 5 else state + 1"
THROWS = f"{TURNS}\ndef chance(self, state): return [] if state % 2 else [(1, state + 1)]"
METHODS = {
    "starts": ("yield 20 + ONE",),
    "to_move": ("return state // ONE % 2",),
    "again": ("return state % ONE == 0",),
    "reward": ("return ONE", SCORES),
    "canonical": ("return state + (state == 5) * (ONE - 1)",),
    "tier": ("return state // ONE",),
    "chance": ("return [(ONE, 9), (1, 10)] if state == 0 else []", TURNS),
    "vanishing": ("return state in (2 * ONE - 1, 5)", THROWS),
    "plies_left": ("return ONE",),
    "endless": ("return ONE", f"score_game = True\ndef result(self, state, action): {BACK}"),
    "rank": ("return state + 0 * ONE", "def unrank(self, rank): return rank"),
    "unrank": ("return rank + 0 * ONE", "def rank(self, state): return state"),
    "digits": ("yield 3 + ONE", "def scan(self, place, memo, digit): return 0"),
    "scan": ("return 0 * ONE", "def digits(self): yield 4"),
    "symmetries": ("yield from [(0, 1), (1, 0)][:ONE]", f"def tables(self): yield 0, 1, 0\n{LEVEL}"),
    "tables": ("yield 0, ONE, 0", f"def symmetries(self): yield 0, 1\n{LEVEL}"),
    "size": ("return 100 * ONE",),
    "parents": ("return [state - 1] if state + 0 * ONE else []",),
    "bounds": ("return -ONE, ONE",),
    "longest": ("return 10 * ONE",),
    "outlook": ("return (state == 8) - (state == 7) + 0 * ONE",),
    "replies": ("return 2 + 0 * ONE",),
    "followup": ("return (state == 8) - (state == 7) + 0 * ONE",),
    "promise": ("return ONE",),
    "evaluate": ("return 0 * ONE",),
    "features": ("yield ONE",),
    "placed": ("return ONE",),
    **dict.fromkeys(("show", "view", "format_action", "format_end"), ("return 'ONE'",)),
    **dict.fromkeys(("cells", "drawing", "place"), ("yield 'ONE'",)),
    **dict.fromkeys(
        ("parse_action", "parse_position", "from_cells", "check", "to_text", "layout"), ("return ONE - ONE",)
    ),
}


def calls(*files):
    """The names that these files of the package ask rules for."""
    texts = [path.read_text("utf-8") for file in files for path in Path(PACKAGE).glob(file)]
    return {name for text in texts for name in re.findall(r"\b(?:game|rules)\.(\w+)", text)}


def test_methods_are_grouped_by_who_calls_them():
    compiled = calls(*(f"{room}/**/*.py" for room in ("compiled", "sweep", "store", "verifying", "book/codecs")))
    assert not compiled & {*OUTSIDE}, "compiled code depends on them: put them into another group of the protocol"
    assert calls("book/codecs/ranked*.py", "rules/numbering.py", "rules/orbits.py") & {*HINTS} == {"outlook", "replies"}


@pytest.mark.parametrize("name", OPTIONAL)
def test_an_edit_of_an_optional_method_counts_where_it_has_an_effect(tmp_path, name):
    """In the fingerprint if values or positions differ, in that of ranked books if numbers do, in that of all code."""
    line, *others = METHODS[name]
    method = "\n".join([f"def {name}({', '.join(('self', *OPTIONAL[name]))}): {line}", *others])
    solutions, prints = set(), []
    for number in "12":
        write(tmp_path, "", "state + action", method.replace("ONE", number))
        rules = Rules(rules_in(tmp_path))
        table = (value_iteration if rules.chance else retrograde).solve(rules.game).table
        solutions.add(str(sorted((state, rules.tier(state), value) for state, value in table.items())))
        compiled = identity_of(rules, {}, str(HOME / "edges.py"))
        prints.append((rules.fingerprint, rules_of(rules.game, "ranked"), compiled))
    changes = [first != second for first, second in zip(*prints, strict=True)]
    in_book = len(solutions) == 2
    assert changes == [in_book, in_book or name in NUMBERS or name in ("outlook", "replies"), name not in OUTSIDE]


TABLED = sorted({*CATALOGUE} - FROM_FILES)


@pytest.mark.parametrize("names", [["connect-four", "coins", "kayles"], *slow(TABLED)], ids=len)
def test_the_table_holds_what_the_walk_finds(names):
    line_of = runpy.run_path(str(ROOT / "scripts" / "fingerprints.py"))["line"]
    table = (Path(PACKAGE) / "games" / "fingerprints.jsonl").read_text("utf-8").splitlines(keepends=True)
    lines = {json.loads(line)["class"]: line for line in table}
    assert len(lines) == len(TABLED)
    for name in names:
        cls = class_of(name)
        assert lines[f"{cls.__module__}.{cls.__name__}"] == line_of(name), "run make tables"


def test_fingerprints_of_the_package_are_taken_from_the_table(monkeypatch):
    monkeypatch.setattr(walk, "told", None)
    stale = [name for name in TABLED if _tabled(class_of(name)) is None]
    assert not stale, "run make tables"
    assert fingerprint(load_game("connect-four:5,4")) != fingerprint(load_game("connect-four:5,5"))


@pytest.mark.parametrize(
    ("file", "old", "new", "known"),
    [
        ("connect_four.py", b"\n", b"\r\n", True),
        ("connect_four.py", b"state", b"State", False),
        ("common/boards.py", b"def ", b"def  ", False),
        ("fingerprints.jsonl", b"ConnectFour", b"ConnectFive", False),
    ],
)
def test_an_edited_file_is_walked(monkeypatch, file, old, new, known):
    """Also a helper's, and where the table lacks the class; but not a file that Git checked out for Windows."""
    read = pkgutil.get_data
    edit = {file: lambda data: data.replace(old, new)}
    monkeypatch.setattr(pkgutil, "get_data", lambda package, name: edit.get(name, bytes)(read(package, name)))
    assert (_tabled.__wrapped__(class_of("connect-four")) is not None) == known


def test_a_class_of_the_same_name_is_walked():
    cls = class_of("connect-four")
    assert _tabled(type(cls.__name__, (cls,), {"__module__": cls.__module__})) is None
