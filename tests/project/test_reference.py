"""The reference pages on errors, exit codes and JSON agree with the commands."""

import json
import re
import runpy

import pytest

import solver
from solver.cli import COMMANDS, EXIT_CODES
from tests import DATA, ROOT
from tests.commands import ok, run
from tests.written import write_rules

REFERENCE = ROOT / "docs" / "reference"
RACE = {
    "fields": "goal: int = 21",
    "actions": "range(1, min(3, self.goal - state) + 1)",
    "is_terminal": "state == self.goal",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rules, sound and not, and books, sound and not."""
    folder = tmp_path_factory.mktemp("reference")
    write_rules(folder / "my_game.py", **RACE)
    write_rules(folder / "other.py", **RACE | {"actions": "range(1, min(4, self.goal - state) + 1)"})
    write_rules(folder / "bad.py", **RACE | {"result": "state + [1]"})
    (folder / "less.py").write_text((folder / "my_game.py").read_text("utf-8").replace("def utility", "def worth"))
    (folder / "notes.txt").write_text("no book\n")
    (folder / "exercise.json").write_text('{"root": "MAX", "tree": [[3, 12, 8], [2, 4, 6], [14, 5, 2]]}')
    with solver.solve("tic-tac-toe", folder / "whole.lmdb") as book:
        data = bytearray(book.path.read_bytes())
        segment = next(book.segments())
    (folder / "cut.lmdb").write_bytes(data[:5000])
    data[data.index(segment[100:200])] ^= 1
    (folder / "damaged.lmdb").write_bytes(data)
    solver.solve(solver.load_game(f"{folder / 'my_game.py'}::Race:30"), folder / "race.lmdb").close()
    return folder


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("SOLVER_GAME", raising=False)


def rows(page):
    """The rows of a page's tables, without their heads."""
    for line in (REFERENCE / page).read_text("utf-8").splitlines():
        cells = re.split(r"(?<!\\) ?\| ?", line)[1:-1]
        if cells and not cells[0].startswith("---"):
            yield cells


def listed():
    """Patterns of messages, and the exit codes beside them, None for those of Python alone."""
    for message, *rest in rows("errors.md"):
        if message.startswith("`") and len(rest) == 2:
            pattern = ".+".join(re.escape(part) for part in message.strip("`").split("…"))
            yield pattern, None if rest[1] == "—" else int(rest[1])


FAILING = (DATA / "failing.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("command", FAILING, ids=[re.sub(r"[^\w.:-]+", "_", one) for one in FAILING])
def test_the_page_lists_a_message_with_its_exit_code(command):
    code, _, error = run(*command.split(), "-q")
    message = error.strip().splitlines()[-1].removeprefix("Error: ")
    assert [wanted for pattern, wanted in listed() if re.fullmatch(pattern, message)] == [code], message


def test_the_page_lists_what_python_says():
    book, digest = solver.Book("tic-tac-toe"), {"sha256": "0" * 64}
    asked = [(book.__getitem__, 7), (book.__getitem__, 7.0), (solver.Book, None), (solver.Player, type(book.game))]
    for ask, argument, options in [*((*one, {}) for one in asked), (solver.Book, "whole.lmdb", digest)]:
        with pytest.raises(solver.SolverError) as raised:
            ask(argument, **options)
        assert [wanted for pattern, wanted in listed() if re.fullmatch(pattern, str(raised.value))] == [None]


def test_the_page_of_exit_codes_has_every_code_and_exception():
    told = {int(cells[0]): cells for cells in rows("exit-codes.md") if cells[0].isdecimal()}
    assert {code for _, code in EXIT_CODES} <= told.keys()
    for kind, code in EXIT_CODES:
        assert f"`{kind.__name__}`" in told[code][2], kind


def section(name):
    """The section of a command on the page on JSON."""
    text = (REFERENCE / "json.md").read_text("utf-8")
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[1]


def keys(facts):
    """The names of all fields, but those of free choice."""
    if isinstance(facts, list):
        return set().union(*map(keys, facts))
    if not isinstance(facts, dict):
        return set()
    free = ("header", "near_misses", "parameters")
    return facts.keys() | set().union(*(keys(fact) for name, fact in facts.items() if name not in free))


PRINTING = {  # commands by the sections that list their fields
    "query": ("query tic-tac-toe b2", "query nim start", "query pig:15 roll"),
    "line": ("line tic-tac-toe",),
    "info": ("info tic-tac-toe", "info pig:15", "solve tic-tac-toe", "books", "trim tic-tac-toe -o t.lmdb --wdl"),
    "verify": ("verify tic-tac-toe",),
    "sample": ("sample tic-tac-toe -n 1",),
    "grade": ("grade tic-tac-toe games.txt",),
    "diff": ("diff tic-tac-toe t.lmdb",),
    "check": ("check tic-tac-toe",),
    "compare": ("compare coins:5", "compare tic-tac-toe:2,2 --depth 2"),
    "Solve a tree": ("solve tree:exercise.json --trace",),
    "games": ("games tic-tac-toe",),
}


def test_the_page_on_json_lists_every_field(folder):
    (folder / "games.txt").write_text("b2 a2 a1\n")
    for name, commands in PRINTING.items():
        for command in commands:
            _, out, error = run(*command.split(), "--json")
            assert out, error
            told = section(name) + section("Values")
            assert {field for field in keys(json.loads(out)) if f"`{field}`" not in told} == set(), command


def test_the_page_on_json_lists_the_fields_of_what_takes_long():
    pytest.importorskip("numba")
    pytest.importorskip("fsspec")
    from solver.cluster.nodes import Examined
    from solver.estimate.estimation import BookTimes, Opening, Sweep
    from solver.estimate.planning import Phase, Plan, TierPlan
    from solver.learning.matches import Standing
    from solver.rules.placements import Placements

    told = {"estimate": (Opening, Sweep, BookTimes, Placements, Plan, TierPlan, Phase)}
    told |= {"match": (Standing,), "cluster check": (Examined,)}
    for name, kinds in told.items():
        assert {field for kind in kinds for field in kind._fields if f"`{field}`" not in section(name)} == set()


def test_the_page_on_json_lists_every_command_that_has_it():
    text = (REFERENCE / "json.md").read_text("utf-8")
    for name in COMMANDS:
        has = "--json" in ok(name, "--help") or name == "cluster"
        without = re.search(r"^(.*) have no `--json`", text, re.MULTILINE)[1]
        assert (f"`{name}`" in without) != has, name


def test_the_index_has_every_message_of_the_source():
    page = runpy.run_path(str(ROOT / "scripts" / "error_index.py"))["page"]()
    assert (REFERENCE / "error-index.md").read_text("utf-8") == page, "run make tables"
    assert "`trim has nothing to drop: choose --max-ply, --for, --drop-plies, --wdl or --max-bytes`" in page
