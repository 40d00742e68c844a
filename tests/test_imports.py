"""Which rooms may import which, and that the light half stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "solver"
HEAVY = {"numpy", "numba", "llvmlite"}
HOMES = {"cluster", "kernels", "learning", "store", "sweep"}  # of those
ALLOWED = {  # third-party packages and other rooms that each may import anywhere in its code, the lowest rooms first
    "value": set(),
    "errors": set(),
    "progress": set(),
    "signals": set(),
    "parameters": set(),
    "moves": {"value"},
    "solved": {"expected", "value"},
    "files": {"errors"},
    "memory": {"errors"},
    "extras": set(),
    "parallel": {"errors"},
    "patience": {"errors"},
    "sources": {"errors"},
    "fingerprint": {"errors", "sources"},
    "loading": {"errors", "files", "fingerprint", "sources"},
    "games": {"files"},
    "game": {"errors", "fingerprint", "games", "loading", "parameters", "sources", "value"},
    "options": {"progress"},
    "expected": {"value"},
    "nets": {"errors", "expected"},
    "search": {"errors", "expected", "game", "nets", "progress", "value"},
    "soundness": {"errors", "game", "search", "value"},
    "playouts": {"game"},
    "conformance": {"errors", "game", "patience", "playouts", "progress", "search", "soundness", "value"},
    "notation": {"errors", "game"},
    "shipped": {"errors", "game", "games"},
    "book": {
        "lmdb", "msgpack", "errors", "expected", "extras", "files", "fingerprint", "game", "progress", "shipped",
        "solved", "store", "value",
    },
    "store": {"llvmlite", "numba", "numpy", "errors", "expected", "files", "parallel", "sources", "value"},
    "kernels": {
        "llvmlite", "msgpack", "numba", "numpy", "book", "conformance", "errors", "expected", "files", "fingerprint",
        "game", "games", "parallel", "progress", "search", "solved", "soundness", "sources", "store",
        "value",
    },
    "sweep": {
        "numba", "numpy", "book", "conformance", "errors", "expected", "game", "kernels", "nets", "options",
        "parallel", "progress", "search", "solved", "store", "value",
    },
    "cluster": {
        "fsspec", "numba", "numpy", "ray", "book", "conformance", "errors", "expected", "extras", "files",
        "fingerprint", "game", "kernels", "memory", "options", "parallel", "progress", "psutil", "solved", "store",
        "sweep", "value",
    },
    "opening": {
        "errors", "extras", "files", "fingerprint", "game", "kernels", "options", "search", "sweep", "value",
    },
    "estimation": {
        "errors", "extras", "game", "kernels", "memory", "opening", "parallel", "progress", "search", "sweep",
    },
    "phases": {"memory", "parallel", "sweep"},
    "planning": {"conformance", "errors", "estimation", "game", "kernels", "phases", "progress", "sweep"},
    "foresight": {"errors", "extras", "game", "kernels", "search"},
    "live": {"conformance", "errors", "extras", "foresight", "game", "kernels", "patience", "search", "value"},
    "player": {"book", "errors", "foresight", "game", "live", "moves", "search", "shipped", "value"},
    "export": {"pyarrow", "book", "errors", "files", "game", "notation", "player", "progress", "sources", "value"},
    "answers": {"book", "errors", "game", "moves", "notation", "player", "value"},
    "methods": {
        "book", "conformance", "errors", "expected", "extras", "game", "kernels", "opening", "options", "playouts",
        "search", "solved", "sweep", "value",
    },
    "importing": {"errors", "files", "game", "progress", "value"},
    "pipeline": {
        "book", "cluster", "conformance", "errors", "extras", "fingerprint", "game", "importing", "kernels", "memory",
        "methods", "opening", "options", "packing", "patience", "playouts", "progress", "search", "store", "streaming",
        "sweep",
    },
    "streaming": {"book", "errors", "extras", "game", "kernels", "parallel", "progress", "solved", "sweep"},
    "packing": {"book", "errors", "game", "progress", "streaming"},
    "comparing": {"book", "errors", "progress", "streaming", "value"},
    "sampling": {"book", "errors", "game", "progress", "streaming", "value"},
    "grading": {"errors", "game", "notation", "player", "value"},
    "strategy": {"game", "progress", "search", "value"},
    "learning": {
        "cma", "msgpack", "numpy", "sklearn", "threadpoolctl", "book", "errors", "extras", "files", "fingerprint",
        "game", "games", "grading", "kernels", "notation", "parallel", "player", "progress", "search", "shipped",
        "soundness", "streaming", "value",
    },
    "trimming": {
        "book", "errors", "extras", "files", "game", "kernels", "memory", "opening", "packing", "parallel", "progress",
        "search", "solved", "strategy", "streaming", "sweep", "value",
    },
    "proving": {"book", "errors", "game", "notation", "player", "progress", "search", "value"},
    "searching": {"errors", "extras", "game", "kernels", "progress", "search", "value"},
    "claims": {"book", "errors", "game", "progress", "proving", "search", "searching", "value"},
    "bounding": {"book", "errors", "extras", "game", "options", "progress", "sweep"},
    "verification": {
        "book", "bounding", "claims", "errors", "extras", "game", "kernels", "memory", "options", "progress",
        "proving", "solved", "value",
    },
    "cli": {
        "click", "matplotlib", "tqdm", "answers", "book", "comparing", "conformance", "errors", "estimation", "export",
        "extras", "files", "game", "games", "grading", "kernels", "learning", "live", "methods", "notation", "options",
        "packing", "phases", "pipeline", "planning", "player", "playouts", "sampling", "search", "shipped", "signals",
        "trimming", "value", "verification",
    },
}


def imports(path, top_level=False):
    """Names imported by a file: third-party packages, and rooms of `solver` by their first name."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" if node.module == "solver" else node.module for alias in node.names]
        else:
            continue
        for name in names:
            first, _, rest = name.partition(".")
            if first == "solver":
                yield rest.partition(".")[0]
            elif first not in sys.stdlib_module_names:
                yield first


def files(room):
    place = PACKAGE / room
    return sorted(place.rglob("*.py")) if place.is_dir() else [PACKAGE / f"{room}.py"]


@pytest.mark.parametrize("room", ALLOWED)
def test_imports_run_one_way(room):
    found = {name for path in files(room) for name in imports(path)}
    assert found - ALLOWED[room] - {room, "", "__version__"} == set()


def test_every_room_says_what_it_imports():
    """All but the package's own file, which names them all, and `__main__`."""
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")}
    assert rooms - {"__init__", "__main__"} == set(ALLOWED)


def test_no_room_is_above_itself():
    above = {room: set(names & set(ALLOWED)) for room, names in ALLOWED.items()}
    for through in above:
        for names in above.values():
            if through in names:
                names |= above[through]
    assert {room for room, names in above.items() if room in names} == set()


def test_numba_and_numpy_live_in_their_rooms_only():
    heavy = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py") if HEAVY & set(imports(path))}
    assert heavy <= HOMES


def test_nothing_light_imports_the_kernels_at_its_top():
    for path in PACKAGE.rglob("*.py"):
        if not HOMES & set(path.parts):
            assert not HOMES & set(imports(path, top_level=True)), path


def asked_of_games(path):
    """Where a file asks a game by name what it has: `hasattr(game, ...)` or `getattr(self.game, ...)`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("hasattr", "getattr"):
            asked = ast.unparse(node.args[0]).removeprefix("type(").rstrip(")")  # of a game or its class
            if asked.rpartition(".")[2] in ("game", "cls", "rules"):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}"


def test_only_rules_ask_what_a_game_has():
    """`game.Rules` fills in what a game lacks; a few files look at the class itself, which is their duty."""
    duty = {PACKAGE / name for name in ("game.py", "conformance.py", "fingerprint.py", "kernels/rewriting.py")}
    assert [place for path in sorted({*PACKAGE.rglob("*.py")} - duty) for place in asked_of_games(path)] == []
    assert list(asked_of_games(PACKAGE / "conformance.py"))  # the search finds what it looks for


def loaded_by(code, *arguments):
    script = f"import sys\n{code}\nprint(*sorted({HEAVY} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_answers_from_a_book_load_neither_numpy_nor_numba(tmp_path):
    from solver import load_game, pipeline

    path = tmp_path / "book.lmdb"
    pipeline.solve(load_game("tic-tac-toe"), path)
    ask = """
import solver
book = solver.Book(sys.argv[1])
player = solver.Player(book)
player.best(book.game.initial()), player.analyse(book.game.initial())
solver.verify, solver.solve, solver.check_book(sys.argv[1])
"""
    assert loaded_by(ask, str(path)) == []
    commands = "from solver.cli import main\nfor name in main.list_commands(None): main.get_command(None, name)"
    assert loaded_by(commands) == []
