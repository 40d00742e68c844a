"""The books that come with the package: they are those of the catalogue and of today's rules, and answer by name."""

import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
import zipapp
from collections import Counter
from pathlib import Path

import pytest

import solver
from solver import Book, Player, load_game, pack
from solver.base.errors import ForeignBook
from solver.base.value import Value
from solver.book import open_source, shipped
from solver.games import CATALOGUE
from solver.play.live import Live
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Rules, game_text
from tests import ROOT
from tests.books import write_values
from tests.commands import ok, run
from tests.project.test_imports import loaded_by
from tests.refusals import fails, raises

LARGEST, ALL = 100_000, 2_000_000  # bytes
OPENINGS = {"connect-four"}  # larger
OUTDATED = {"hypergammon", "ur:5,1", "ur:7"}  # an hour each: their rules have a new fingerprint, so a new digest


@pytest.fixture(scope="module")
def catalogue():
    return tomllib.loads((ROOT / "books" / "catalog.toml").read_text("utf-8"))


def test_the_catalogue_is_of_games_of_the_package(catalogue):
    """A game needs no book: some have no small one."""
    assert len(catalogue) >= 100
    for game, facts in catalogue.items():
        whole, options = game not in OPENINGS, r" --max-ply \d+" if game in OPENINGS else r"( --memory \d+G)?"
        assert game.partition(":")[0] in CATALOGUE
        assert re.fullmatch(f"solver solve {game}{options} -o BOOK", facts["recipe"]) and ("states" in facts) == whole
        assert sum(facts["counts"].values()) == facts["states" if whole else "stored"] >= facts["stored"]
        assert ("digest" not in facts) == (game in OUTDATED)
        assert len(facts.get("digest", 64 * "0")) == 64


def test_what_is_shipped_is_small_and_in_the_catalogue(catalogue):
    said = {shipped.path_of(game_text(load_game(game))) for game, facts in catalogue.items() if "shipped" in facts}
    assert said == set(shipped.paths()), "remove what is not in books/catalog.toml, or add it to scripts/catalog.py"
    assert len(said) >= 30
    sizes = [path.stat().st_size for path in said if path.stem not in OPENINGS]
    assert max(sizes) < LARGEST and sum(sizes) < ALL


def test_every_shipped_book_is_of_todays_rules_and_has_the_digest_of_the_catalogue(catalogue, tmp_path):
    for name, facts in catalogue.items():
        if "shipped" in facts:
            game = load_game(name)
            with Book(shipped.path_of(game_text(game))) as book:
                remedy = f"the rules of {name} have changed: run python scripts/catalog.py {name}"
                assert (book.header.rules, book.header.codec) == (fingerprint(game), facts["shipped"]), remedy
                said = facts.get("states"), facts["stored"], facts["counts"]
                assert (book.states, book.header.stored, book.counts) == said
                assert book.root == Value(facts["root"]["score"], facts["root"].get("distance"))
                header = book.header if book.expectation else pack(book, tmp_path / "instant", "instant")
            assert header.digest == facts["digest"], name


@pytest.mark.skipif(not shipped.path_of("connect-four").exists(), reason="hours of work, which nobody has done yet")
@pytest.mark.parametrize("plies", [5, pytest.param(8, marks=pytest.mark.slow)])
def test_connect_four_to_ply_8_has_the_published_values(plies):
    """Won, drawn and lost positions for the first player, finished ones included (Boeck's counts), not folded."""
    published = [(1, 0, 0), (1, 2, 4), (27, 12, 10), (35, 58, 145), (690, 200, 230), (1080, 697, 2486)]
    published += [(10889, 1943, 3590), (17507, 5944, 31408), (124624, 14676, 44975)]
    with Book(shipped.path_of("connect-four")) as book:
        rules = Rules(book.game)
        layer, side = {book.game.initial()}, 1
        for counts in published[: plies + 1]:
            over = {state for state in layer if rules.is_terminal(state)}
            scores = Counter(side * rules.utility(state) for state in over)
            scores.update(side * book[rules.canonical(state)].score for state in layer - over)
            assert (scores[1], scores[0], scores[-1]) == counts
            layer = {rules.result(state, action) for state in layer - over for action in rules.actions(state)}
            side = -side
        assert book.root == Value(1, 41)
        first = [move.value for move in Player(book).analyse(book.game.initial())]
        assert first == [Value(1, 41), Value(0), Value(0), Value(-1, 42), Value(-1, 42), Value(-1, 40), Value(-1, 40)]


def test_a_game_by_its_name_is_answered_from_its_book():
    player = Player("connect-four:width=4,height=4")
    start = player.game.initial()
    assert player.solution.path.name == "connect-four-4x4.lmdb" and not player.live
    assert [(move.value, move.source) for move in player.analyse(start)] == [(Value(0), "book")] * 4
    assert Player(load_game("tic-tac-toe")).value(0).source == "book"
    assert Player({}, "coins").value(21).source == "search"
    assert Player("tic-tac-toe:3,3,2").solution == {}
    assert loaded_by("from solver import Player; Player('connect-four:4,4').best(33825)") == []


def test_a_book_of_other_rules_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "folder", lambda: tmp_path)
    write_values(tmp_path / "coins.lmdb", {21: Value(1, 1)}, facts={"game": "coins", "root": Value(1, 1)})
    assert open_source("coins").book is None
    raises(ForeignBook, "was made by rules", Book, "coins")
    assert Player("coins").value(21) == (Value(-1, 11), True, "search", None)


def test_a_damaged_book_is_not_believed(tmp_path, monkeypatch):
    data = bytearray(shipped.path_of("nim").read_bytes())
    with Book(shipped.path_of("nim")) as book:
        data[data.index(next(book.segments())) + 20] ^= 1
    monkeypatch.setattr(shipped, "folder", lambda: tmp_path)
    (tmp_path / "nim.lmdb").write_bytes(data)
    fails(5, "fails its checksum", "query", "nim", "start")
    assert run("query", "nim", "start", "--live")[0] == 0


def test_the_commands_use_them_and_say_so():
    note = "Note: from the book tic-tac-toe.lmdb that comes with the package\n"
    for options, source, said in (((), "book", note), (("-q",), "book", ""), (("--live", "-q"), "search", "")):
        code, out, err = run("query", "tic-tac-toe", "5", "--json", *options)
        assert (code, json.loads(out)["source"], err) == (0, source, said)
    assert "comes with" not in run("query", "tic-tac-toe", "5", "--live")[2]
    for words, command, stdin in (
        ("tic-tac-toe.lmdb)", ("play", "tic-tac-toe"), "quit\n"),
        ("searching live", ("play", "tic-tac-toe", "--live"), "quit\n"),
        ("draw for the side to move", ("line", "tic-tac-toe"), None),
        ("627", ("info", "tic-tac-toe"), None),
        ("value", ("sample", "tic-tac-toe", "-n", 5, "--json"), None),
        ("100.00% perfect", ("grade", "tic-tac-toe", "-"), "5 1\n"),
        ("37 states", ("verify", "hexapawn"), None),
    ):
        assert words in ok(*command, stdin=stdin)
    assert run("query", "connect-four:4,4", "1", "--live", "--game", "coins")[0] == 2
    fails(2, "--live", "query", shipped.path_of("tic-tac-toe"), "5", "--live")


def test_whatever_takes_a_book_takes_such_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command, *options in (("verify",), ("pack", "-o", "no.lmdb"), ("info",), ("diff", "hexapawn")):
        fails(2, "solver solve connect-four:6,6 -o BOOK", command, "connect-four:6,6", *options)
        fails(2, "hexapawn", command, "hexapawn:3,x", *options)
        fails(2, "nothing cannot be read (No such file", command, "nothing", *options)
    contender = pytest.importorskip("solver.learning.players").contender
    assert contender("hexapawn").file.path == shipped.path_of("hexapawn")
    solver.trim("hexapawn", "less.lmdb", solver.Trim(max_ply=2))
    os.rename("less.lmdb", "hexapawn")
    assert contender("hexapawn").file.header.stored == len(solver.Book("hexapawn")) < 37
    os.remove("hexapawn")
    os.mkdir("hexapawn")
    assert len(solver.Book("hexapawn")) == 37


def test_an_opening_book_ends_where_it_ends(monkeypatch):
    """Nothing is searched for `info`, nor for `line` unless it is asked to be."""
    monkeypatch.setattr(Live, "solve", None)
    facts = json.loads(ok("info", "connect-four", "--json"))
    assert (facts["longest"]["distance"], len(facts["longest"]["line"])) == (41, 10)
    assert " ...\n" in ok("info", "connect-four")
    facts = json.loads(ok("line", "connect-four", "--json"))
    assert (facts["distance"], len(facts["moves"])) == (41, 10)
    assert facts["ending"].startswith("the book ends here: win in 31 for the side to move; --budget SECONDS searches")
    fails(3, "--budget", "line", "connect-four", "44444122123")
    assert "the book ends here" not in ok("line", "connect-four", "444441223335")


def test_books_lists_them():
    facts = json.loads(ok("books", "--json"))
    assert [(one["book"], one["bytes"]) for one in facts] == [(str(one), one.stat().st_size) for one in shipped.paths()]
    lines = ok("books").splitlines()
    assert len(lines) == len(facts) and lines[0].startswith(facts[0]["game"])


READER = """
import solver

player, book = solver.Player("nim"), solver.Book("tic-tac-toe")
print(player.solution.path, player.value(355).source, len(book), solver.verify(book).verdict)
print(len(solver.games.CATALOGUE), len(solver.__all__), len(solver.book.shipped.paths()), solver.__file__)
try:
    solver.Book("nosuch")
except solver.BookError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package as pyproject.toml lays out the wheel, but without the stub, which only tools read."""
    folder = tmp_path_factory.mktemp("installed")
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    for package in wheel["packages"]:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "*.pyi"))
    for source, target in wheel["force-include"].items():
        shutil.copytree(ROOT / source, folder / target)
    (folder / "__main__.py").write_text(READER)
    return folder


def read_by(*command):
    """The words that READER prints: the path of a book, how it answers, counts, the path of the package."""
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    first, second, error = done.stdout.splitlines() or ["", "", done.stderr]
    assert "nosuch cannot be read (No such file or directory): solve the game first" in error
    path, *answers = first.split()
    *counts, package = second.split()
    assert answers == ["book", "627", "proved"]
    assert counts == [str(len(items)) for items in (CATALOGUE, solver.__all__, shipped.paths())]
    return Path(path), Path(package)


def test_an_installed_package_finds_them_inside_of_it(installed):
    path, package = read_by(sys.executable, installed)
    assert (path, package.parent) == (installed / "solver" / "books" / "nim.lmdb", installed / "solver")
    assert Path(solver.__file__).parent.parent / "books" == shipped.folder()


def test_a_zipapp_copies_a_book_as_long_as_it_runs(installed, tmp_path):
    zipapp.create_archive(installed, tmp_path / "app.pyz")
    path, package = read_by(sys.executable, tmp_path / "app.pyz")
    assert path.name == "nim.lmdb"
    assert sys.platform == "win32" or not path.parent.exists()  # Windows removes no file that is open
    assert package == tmp_path / "app.pyz" / "solver" / "__init__.py"


def test_pyinstaller_is_told_of_the_hook():
    (entry,) = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"].values()
    (folder,) = pkgutil.resolve_name(entry["hook-dirs"])()
    assert (Path(folder) / "hook-solver.py").is_file()


@pytest.mark.faults
def test_a_program_frozen_by_pyinstaller_reads_books(installed, tmp_path):
    pytest.importorskip("PyInstaller")
    wanted = {"solver", "click", "lmdb", "msgpack", "msgspec", "tqdm", "cffi", "_cffi_backend"}
    others = {name for name in sys.modules if "." not in name} | {"numba", "numpy", "ray", "scipy", "sklearn"}
    left_out = sorted(others - wanted - sys.stdlib_module_names - {"__main__", "tests"})
    options = [word for name in left_out for word in ("--exclude-module", name)]
    (installed / "reader.py").write_text(READER)
    options += ["--noconfirm", "--log-level", "ERROR", "--additional-hooks-dir", ROOT / "solver" / "adapters"]
    command = [sys.executable, "-m", "PyInstaller", *options, installed / "reader.py"]
    subprocess.run(command, cwd=tmp_path, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    path, package = read_by(tmp_path / "dist" / "reader" / "reader")
    assert path.name == "nim.lmdb" and tmp_path / "dist" in path.parents and tmp_path / "dist" in package.parents
