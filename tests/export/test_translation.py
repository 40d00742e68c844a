"""Rules in JavaScript: they say what Python says, and what has no translation is named."""

import pytest

from solver.base.errors import MethodError
from solver.export import script
from solver.export.script import all_of, sampled
from solver.rules.game import Rules, load_game
from tests.exports import needs_node
from tests.games import EDGE_GAMES, LARGE_GAMES, MORE_GAMES, SMALL_GAMES
from tests.pages import STRANGE, modules, named, node, ported
from tests.refusals import raises
from tests.ways import slow
from tests.written import line_of, write_rules

__all__ = ["modules"]  # a fixture

OTHERS = ("connect-four", "othello", "kalah", "chess-ending:KQK", "chess-ending:KBNK", "chess-ending:KPK")


@needs_node
@pytest.mark.parametrize(
    "names", [SMALL_GAMES[::3], *slow((*SMALL_GAMES, *LARGE_GAMES, *EDGE_GAMES, *OTHERS), MORE_GAMES)]
)
def test_rules_run_in_javascript_as_in_python(modules, names):
    paths = []
    for name in names:
        rules = Rules(load_game(name))
        paths.append(ported(modules, name, rules, sampled(rules, 12 if name in EDGE_GAMES else 40, seed=7)))
    assert node("differences", *paths) == {}


@needs_node
def test_a_port_that_differs_is_found(modules):
    rules = Rules(load_game("connect-four:4,3"))
    path = ported(modules, "wrong", rules, sampled(rules, 80))
    text = path.read_text("utf-8")
    path.write_text(text.replace("py.Mult, py.Constant(2n)", "py.Mult, py.Constant(3n)"))
    assert path.read_text("utf-8") != text
    ((record, found),) = node("differences", path).values()
    assert record["state"] in text and found != record


@needs_node
def test_python_as_people_write_it_runs(tmp_path, modules):
    (tmp_path / "strange.py").write_text(STRANGE)
    rules = Rules(load_game(f"{tmp_path}/strange.py::Strange"))
    records = all_of(rules, 100)
    assert len({record["board"] for record in records}) == 15
    assert node("differences", ported(modules, "strange", rules, records)) == {}


@needs_node
def test_moves_that_choose_the_same_cells_have_the_same_names_in_both(tmp_path, modules):
    path = tmp_path / "steps.py"
    named_by_cells = """
        def cells(self, state, mover): return ["." * state + "X" + "." * (3 - state)]
        def place(self, state, action): return [min(3, state + min(2, action))]
    """
    moves = {"actions": "(1, 2, 3) if state == 1 else (1, 2)", "result": "min(3, state + min(2, action))"}
    rules = Rules(load_game(write_rules(path, **moves, is_terminal="state >= 3", more=named_by_cells)))
    records = all_of(rules, 100)
    assert [[move["name"] for move in record["moves"]] for record in records[:2]] == [["b1", "c1"], ["1", "2", "3"]]
    assert node("differences", ported(modules, "steps", rules, records)) == {}


REFUSED = {
    "try": "try: return -1\n        finally: pass",
    "with": "with None: return -1",
    "else": "for one in (1,): pass\n        else: pass\n        return -1",
    "method": "return 'a'.encode()[0]",
    "import": "import math\n        return -1",
    "star": "a, *b = 1, 2\n        return -1",
    "base": "return int('12', 3)",
    "modulus": "return pow(2, 3, 5)",
    "lambda": "return (lambda: -1)()",
    "float": "return int(2.5)",
    "count": "return len('aaa'.replace('a', 'b', 1))",
    "percent": "return len('%d' % 5)",
    "format": "return len(f'{state:+}')",
    "repr": "return len(f'{state!r}')",
    "division": "return int(state / 2)",
    "plus": "return +state",
    "cut": "items = [1, 2]\n        items[:1] = []\n        return -1",
    "set": "return len({state})",
    "dict": "return len({state: 1})",
    "walrus": "return (a := state)",
    "key": "return max([1, 2], key=abs)",
    "nested": "def a(): return 1\n        return a()",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_has_no_translation_is_named_by_its_line(tmp_path, kind):
    file = tmp_path / f"refused_{kind}.py"
    utility = f"def utility(self, state):\n        {REFUSED[kind]}"
    file.write_text(STRANGE.replace("def utility(self, state): return -1", utility))
    rules = Rules(load_game(f"{file}::Strange"))
    line = line_of(file, "def utility")
    refusal = rf"^Strange.utility, line ({line + 1}|{line + 2}) of {file.name}: .* has no"
    raises(MethodError, refusal, script.translation, rules, named(rules))
