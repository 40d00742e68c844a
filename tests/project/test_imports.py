"""Which rooms may import which, and that the light half stays light."""

import ast
import functools
import re
import sys

import pytest

from tests import ROOT
from tests.processes import python

PACKAGE = ROOT / "solver"
HEAVY = {"numpy", "numba", "llvmlite"}
HOMES = {"adapters", "cluster", "compiled", "learning", "store", "sweep"}  # of those
HEAVY_FILES = {  # in rooms of which the rest is light
    "book/bulk.py", "book/codecs/arrays.py", "book/codecs/ranked_kernels.py",
    "profiling/exact.py", "verifying/audit.py", "verifying/judging.py",
}  # fmt: skip
ALLOWED = {  # third-party packages and other rooms that each may import anywhere in its code, the lowest rooms first
    "base": {"psutil"},
    "games": {"pyspiel", "base"},
    "rules": {"base", "games"},
    "search": {"base", "rules"},
    "check": {"base", "rules", "search"},
    "wasm": {"wasmtime", "base", "rules", "search"},
    "store": {"llvmlite", "msgspec", "numba", "numpy", "base", "rules"},
    "compiled": {"llvmlite", "msgpack", "numba", "numpy", "base", "games", "rules", "search", "check", "store", "wasm"},
    "book": {"lmdb", "msgpack", "numpy", "base", "games", "rules", "compiled", "store"},
    "play": {"base", "rules", "search", "check", "wasm", "compiled", "book"},
    "learning": {"cma", "numpy", "sklearn", "threadpoolctl", "base", "rules", "search", "compiled", "book", "play"},
    "puzzles": {"base", "rules", "book", "play", "learning"},
    "export": {"pyarrow", "resvg_py", "base", "rules", "check", "compiled", "book", "play", "puzzles"},
    "sweep": {"numba", "numpy", "base", "rules", "search", "check", "compiled", "store", "book"},
    "cluster": {"fsspec", "numpy", "psutil", "ray", "base", "rules", "compiled", "store", "book", "sweep"},
    "verifying": {"numpy", "base", "rules", "search", "compiled", "store", "book", "play", "sweep"},
    "solving": {"base", "rules", "search", "check", "compiled", "store", "book", "sweep", "cluster"},
    "edit": {"base", "rules", "search", "compiled", "book", "solving"},
    "estimate": {"base", "rules", "search", "check", "compiled", "sweep", "solving"},
    "profiling": {"numpy", "base", "rules", "store", "book", "play", "learning"},
    "report": {
        "matplotlib", "msgspec", "base", "games", "rules", "search", "check", "book", "play", "profiling", "puzzles",
    },
    "serve": {"anyio", "msgspec", "starlette", "uvicorn", "base", "rules", "book", "play", "export", "report"},
    "cli": {
        "click", "tqdm", "base", "games", "rules", "search", "check", "compiled", "book", "play", "export", "learning",
        "verifying", "cluster", "solving", "edit", "estimate", "profiling", "puzzles", "report", "serve",
    },
    "adapters": {
        "PIL", "PyInstaller", "gymnasium", "numpy", "open_spiel", "pettingzoo", "pyspiel", "resvg_py",
        "base", "games", "rules", "book", "play", "export",
    },
}  # fmt: skip


@functools.cache
def imports_of(path, at_top=False):
    """The dotted names that a file imports, anywhere or at its top: TYPE_CHECKING counts too."""
    tree = ast.parse(path.read_text("utf-8"))
    names = []
    for node in tree.body if at_top else ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def packages(path):
    """The third-party packages that a file imports."""
    return {name.partition(".")[0] for name in imports_of(path)} - {*sys.stdlib_module_names, "solver"}


def rooms(path):
    """The rooms of `solver` that a file imports."""
    names = [name.split(".") for name in imports_of(path)]
    return {name[1] for name in names if name[0] == "solver"} & {*ALLOWED}


def room_of(path):
    return path.relative_to(PACKAGE).parts[0]


@pytest.mark.parametrize("room", ALLOWED)
def test_imports_run_one_way(room):
    found = {name for path in (PACKAGE / room).rglob("*.py") for name in rooms(path) | packages(path)}
    assert found - {room} == ALLOWED[room]
    lower = [*ALLOWED][: [*ALLOWED].index(room)]
    assert ALLOWED[room] & {*ALLOWED} <= {*lower}


def test_every_file_is_in_a_room():
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}
    assert {room_of(path) for path in PACKAGE.glob("*/*.py")} == {*ALLOWED}


def test_no_module_is_above_itself():
    """Within rooms, too, and TYPE_CHECKING counts."""
    modules = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
    below = {}
    for name, path in modules.items():
        known = [one if one in modules else one.rpartition(".")[0] for one in imports_of(path)]
        below[name] = {one for one in known if one in modules and one != name}
    while leaves := {name for name, others in below.items() if not others & {*below}}:
        below = {name: others for name, others in below.items() if name not in leaves}
    assert below == {}


def test_numba_and_numpy_live_in_their_rooms_only():
    heavy = {path for path in PACKAGE.rglob("*.py") if HEAVY & packages(path) and room_of(path) not in HOMES}
    assert {path.relative_to(PACKAGE).as_posix() for path in heavy} <= HEAVY_FILES


def test_nothing_light_imports_the_kernels_at_its_top():
    heavy = [f"solver.{name}." for name in HOMES]
    heavy += [f"solver.{name.removesuffix('.py').replace('/', '.')}." for name in HEAVY_FILES]
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if room_of(path) not in HOMES and name not in HEAVY_FILES:
            loaded = [one for one in imports_of(path, True) if f"{one}.".startswith(tuple(heavy))]
            assert loaded == [], path


def test_only_rules_ask_what_a_game_has():
    """`game.Rules` fills in what a game lacks; a few files look at the class itself, which is their duty."""
    asks = re.compile(r"\b(?:has|get)attr\((?:type\()?(?:\w+\.)*(?:game|cls|rules)[,)]")
    duty = {"check/conformance.py", "compiled/rewriting.py", "compiled/widening.py"}
    names = ("game", "protocol", "fingerprint", "sources", "orbits", "walk", "width")
    duty |= {f"rules/{name}.py" for name in names}
    asking = (path for path in PACKAGE.rglob("*.py") if asks.search(path.read_text("utf-8")))
    assert {path.relative_to(PACKAGE).as_posix() for path in asking} == duty


def loaded_by(code):
    return python(f"import sys\n{code}\nprint(*sorted({HEAVY} & set(sys.modules)))", check=True).stdout.split()


def test_answers_from_a_book_load_neither_numpy_nor_numba():
    """And pictures are loaded only when they are asked for."""
    ask = """
import solver
book = solver.Book("tic-tac-toe")
player = solver.Player(book)
player.best(book.game.initial()), player.analyse(book.game.initial())
assert not any("rules.boards" in name for name in sys.modules)
player.analyse(book.game.initial())._repr_html_(), solver.board(book)
solver.verify, solver.solve, solver.check_book(book.path)
"""
    commands = "from solver.cli import main\nfor name in main.list_commands(None): main.get_command(None, name)"
    assert loaded_by(ask) == [] == loaded_by(commands)
