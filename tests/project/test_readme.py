"""The sessions of the README and of the documentation print as the pages show; public names have their help."""

import ast
import doctest
import importlib
import os
import pydoc
import re
import shutil
import subprocess
import sys
import textwrap
import typing
from pathlib import Path

import pytest

import solver
from solver.book import Book
from solver.rules.game import load_game
from solver.rules.protocol import OPTIONAL, REQUIRED
from tests import ROOT
from tests.sessions import by_shell, in_process, run_page, sources

README = ROOT / "README.md"
DOCS = ROOT / "docs"
COMPILED = frozenset({  # by the shell, among the slow tests
    "solver solve connect-four:4,4 -o connect-four-4x4.lmdb", "solver verify connect-four-4x4.lmdb",
    "solver pack connect-four-4x4.lmdb -o small.lmdb | grep size",
})  # fmt: skip
LONG = frozenset({"solver compare tic-tac-toe"})  # seconds each
BY_SHELL = ("guides/trees", "guides/other-games", "tutorials/lesson")
QUICK = ("reference/limits", *(pytest.param(name, marks=pytest.mark.posix("a shell")) for name in BY_SHELL))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder to work in, and the command `solver` of this Python on the PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("output_of", [in_process, pytest.param(by_shell, marks=pytest.mark.slow)])
def test_every_session_prints_what_the_readme_says(output_of):
    if output_of is in_process:
        shutil.copy(Book("connect-four:4,4").path, "connect-four-4x4.lmdb")
    else:
        pytest.importorskip("numba")
        assert doctest.testmod(solver) == (0, 9)  # it solves the same game
    assert run_page(README, output_of, COMPILED if output_of is in_process else frozenset()) >= 8


@pytest.mark.parametrize("name", QUICK)
def test_every_session_of_a_guide_prints_what_it_says(name):
    assert run_page(DOCS / f"{name}.md", leave=LONG) >= 2


PAGES = {page.relative_to(DOCS).as_posix(): page for page in sorted(DOCS.rglob("*.md"))}
PAGES |= {name: ROOT / name for name in ("examples/README.md", "CONTRIBUTING.md")}


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_block_of_a_page_runs(page):
    run_page(page)


# what mypy refuses and the pages explain: attributes in a NamedTuple, a property shown without its class
UNTYPED = re.compile('Invalid statement in NamedTuple definition|"property" used with a non-method')
MYPY = (sys.executable, "-m", "mypy")
# rules on the pages have no annotations, and pandas no types
LENIENT = ("untyped-defs", "incomplete-defs", "untyped-calls", "subclassing-any")
LACKING = ("import-untyped", "import-not-found")

ANNOTATED = """
from typing import NamedTuple
import solver

class Race(NamedTuple):
    def initial(self) -> int: return 0
    def actions(self, state: int) -> list[int]: return [1, 2]
    def result(self, state: int, action: int) -> int: return state + action
    def is_terminal(self, state: int) -> bool: return state > 9
    def utility(self, state: int) -> int: return -1

solver.check_game(Race())
player = solver.Player(solver.solve(Race()))
print(solver.show(Race(), 3), solver.format_action(player.game, 3, 1), player.rules.tier(3))
"""


@pytest.mark.docs
def test_every_block_of_a_page_passes_a_type_checker(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "annotated.py").write_text(ANNOTATED)
    count = 1
    for name, page in {**PAGES, "README.md": README}.items():
        for file, source in sources(page).items():
            path = tmp_path / re.sub(r"\W", "_", name) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
            count += 1
    options = [*(f"--allow-{kind}" for kind in LENIENT), *(f"--disable-error-code={code}" for code in LACKING)]
    command = [*MYPY, "--strict", *options, "--namespace-packages", "--explicit-package-bases", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert f"{count} source files" in done.stdout, done.stdout + done.stderr
    assert [line for line in done.stdout.splitlines() if ": error: " in line and not UNTYPED.search(line)] == []


@pytest.mark.docs
def test_the_package_passes_a_type_checker_with_the_extras_of_the_pages():
    """`make lint` runs it without them."""
    pytest.importorskip("mypy")
    done = subprocess.run(MYPY, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_what_only_reads_the_package_knows_its_names():
    """Type checkers take a name of a stub as public if it is imported as itself."""
    tree = ast.parse(Path(solver.__file__).with_suffix(".pyi").read_text("utf-8"))
    imported = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert [alias.asname for node in imported for alias in node.names] == solver.__all__
    for node in imported:
        (alias,) = node.names
        assert alias.name == alias.asname
        assert getattr(solver, alias.name) is getattr(importlib.import_module(node.module), alias.name)
    everything = {}
    exec("from solver import *", everything)  # noqa: S102
    assert {*solver.__all__} <= everything.keys() and {*solver.__all__} <= {*dir(solver)}
    assert Book.lookup.__annotations__["return"] == "Values"
    bulk = pytest.importorskip("solver.book.bulk")
    # the text of an array's type differs from one NumPy to the next, the name of its elements' type does not
    dtypes = [re.findall(r"int64|float64|bool", str(hint)) for hint in typing.get_type_hints(bulk.Values).values()]
    assert dtypes == [["int64", "float64"], ["int64"], ["bool"]]


def test_help_lists_the_public_names_and_what_they_are():
    text = pydoc.plain(pydoc.render_doc(solver))
    assert solver.__doc__.splitlines()[0] in text and "connect-four-4x4.lmdb" in text
    public = {*solver.__all__} - {"Solution"}
    assert [name for name in public if name not in text or not getattr(solver, name).__doc__] == []
    assert [name for name in vars(Book) if name[:1] != "_" and not getattr(Book, name).__doc__] == []


def test_the_guide_to_rules_names_all_methods_and_its_examples_keep_their_promises(tmp_path):
    guide = (DOCS / "reference" / "rules.md").read_text("utf-8")
    assert [name for name in {**REQUIRED, **OPTIONAL} if name not in ("to_text",) and f"{name}(" not in guide] == []
    race, *blocks = re.findall(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    for_race = [textwrap.indent(block, "    ") for block in blocks if block.startswith("# Race\n")]
    for number, parts in enumerate(([race], [race, *for_race])):
        (tmp_path / f"race{number}.py").write_text("\n".join(parts))
        game = load_game(tmp_path / f"race{number}.py")
        solver.check_game(game)
        with solver.solve(game) as book:
            assert (book.root.outcome, book.states) == ("win", 22)  # 21 % 4 != 0
    assert len(for_race) >= 6
    for block in blocks:
        methods = {node.name: node for node in ast.parse(block).body if isinstance(node, ast.FunctionDef)}
        for name, expected in {**REQUIRED, **OPTIONAL}.items():
            if name in methods:
                assert [arg.arg for arg in methods[name].args.args] == ["self", *expected]
