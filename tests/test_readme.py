"""The README's sessions, run in a folder of their own: what it prints is what a user sees.

`...` stands for anything on a line (times, digests). Blocks are run in their order: `console` in this process, and
by a shell among the slow tests, `pycon` as doctests, `python` blocks that begin with a file's name are written to it.
"""

import ast
import doctest
import os
import pydoc
import re
import shlex
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import solver
from solver.book import Book
from solver.rules.protocol import OPTIONAL, REQUIRED
from tests.test_cli import run
from tests.ways import slow

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"^```(console|pycon|python)\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)


def commands(block):
    """(command, expected output) pairs of a console session."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def matches(expected, actual):
    pattern = r"[^\n]*".join(re.escape(part) for part in expected.rstrip().split("..."))
    return re.fullmatch(pattern, actual.rstrip())


def by_shell(command):
    """What a command prints."""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_process(command):
    """The same, without a process for each `solver`."""
    text, *parts = "", *command.split(" | ")
    for part in parts:
        words = shlex.split(part)
        if words[0] == "solver":
            code, text, error = run(*words[1:], stdin=text)
            assert code == 0 or part is not parts[-1], error  # as in a shell
        else:
            text = subprocess.run(["bash", "-c", part], input=text, capture_output=True, text=True, check=True).stdout
    return text


COMPILED = {"solver verify connect-four-4x4.lmdb"}  # for seconds, which by the shell it is among the slow tests


@pytest.mark.parametrize("output_of", [in_process, pytest.param(by_shell, marks=pytest.mark.slow)])
def test_every_session_prints_what_the_readme_says(tmp_path, monkeypatch, output_of):
    pytest.importorskip("numba")
    monkeypatch.chdir(tmp_path)
    scripts = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", f"{scripts}{os.pathsep}{os.environ['PATH']}")
    ran = 0
    for kind, block in BLOCKS:
        if kind == "python":
            Path(re.match(r"# (\S+\.py)\n", block)[1]).write_text(block)
        elif kind == "pycon":
            test = doctest.DocTestParser().get_doctest(block, {}, "README", str(README), 0)
            assert doctest.DocTestRunner().run(test).failed == 0
        else:
            for command, expected in commands(block):
                if output_of is in_process and command in COMPILED:
                    continue
                printed = output_of(command)
                assert matches(expected, printed), f"$ {command}\n{printed}"
                ran += 1
    assert ran >= 8
    assert doctest.testmod(solver) == (0, 9)


LONG = {"solver compare tic-tac-toe"}  # seconds each


@pytest.mark.parametrize("name", ["trees.md", "limits.md", "doors.md", "lessons.md", *slow("lessons.md, all of it")])
def test_every_session_of_a_guide_prints_what_it_says(tmp_path, monkeypatch, name):
    name, _, whole = name.partition(",")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```(console|python|kif)\n(.*?)^```$", (README.parent / "docs" / name).read_text(), re.MULTILINE | re.DOTALL
    )
    ran = 0
    for kind, block in blocks:
        if kind != "console":
            Path(re.match(r"[#;] (\S+\.(?:py|kif))", block)[1]).write_text(block)
            continue
        for command, expected in commands(block):
            if command in LONG and not whole:
                continue
            printed = in_process(command)
            shown = expected.count("\n") if expected.endswith("\n...\n") else None  # the rest is left out
            assert matches(expected, "\n".join(printed.split("\n")[:shown])), f"$ {command}\n{printed}"
            ran += 1
    assert ran >= 2


def test_what_only_reads_the_package_knows_its_names():
    """Type checkers take `__all__` if it is a plain list, and the names that are imported for them alone."""
    tree = ast.parse(Path(solver.__file__).read_text())
    (listed,) = (
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    assert ast.literal_eval(listed) == list(solver._HOMES) == solver.__all__
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {name.name: node.module for node in typed.body for name in node.names if node.module != "typing"}
    assert imported == {name: f"solver.{home}" for name, home in solver._HOMES.items()}
    assert Book.lookup.__annotations__["return"] == "Values"
    bulk = pytest.importorskip("solver.book.bulk")
    # the text of an array's type differs from one NumPy to the next, the name of its elements' type does not
    dtypes = [re.findall(r"int64|float64|bool", str(hint)) for hint in typing.get_type_hints(bulk.Values).values()]
    assert dtypes == [["int64", "float64"], ["int64"], ["bool"]]


def test_help_lists_the_public_names_and_what_they_are():
    text = pydoc.plain(pydoc.render_doc(solver))
    assert solver.__doc__.splitlines()[0] in text and "connect-four-4x4.lmdb" in text
    for name in solver.__all__:
        thing = getattr(solver, name)
        assert (name in text and thing.__doc__) or name == "Solution", name
    assert [name for name in vars(Book) if name[:1] != "_" and not getattr(Book, name).__doc__] == []


def test_the_guide_to_rules_shows_rules_that_work_and_names_all_methods(tmp_path):
    guide = (README.parent / "docs" / "rules.md").read_text()
    (tmp_path / "guide.py").write_text(re.search(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)[1])
    assert solver.solve(f"{tmp_path / 'guide.py'}::Race").root.outcome == "win"  # 21 % 4 != 0
    assert [name for name in {**REQUIRED, **OPTIONAL} if name not in ("to_text",) and f"{name}(" not in guide] == []
