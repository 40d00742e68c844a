"""Modules asked by JavaScript: what the naive twin says, whatever the budget, and nothing of other rules."""

import base64
import gzip
import json
import os
import random
import re
import shutil
import subprocess

import pytest

import solver
from solver.base.errors import MethodError
from solver.base.extras import INSTALL
from solver.base.progress import silent
from solver.base.value import Value, lift_value, merit_of
from solver.book import shipped
from solver.export import export, site
from solver.play import modules
from solver.rules.game import Rules, load_game
from solver.wasm import binary
from tests import ROOT, naive
from tests.commands import ok
from tests.exports import needs_node
from tests.modules import FACTS, FOR_EVER, GREEDY, IDLE, NAN, crowded, forged, module_of, mutants, node, with_sections
from tests.pages import export_page
from tests.pages import node as port
from tests.refusals import fails, raises
from tests.ways import slow
from tests.written import write_third

__all__ = ["module_of"]  # a fixture

pytestmark = needs_node
COMPILED = 'import { readFileSync } from "node:fs"; const module = new WebAssembly.Module(readFileSync("game.wasm"));'
QUICK = "tic-tac-toe"
GAMES = (QUICK, "dots-and-boxes", *slow("coins", "hexapawn", "connect-four:4,3,3", "kalah:2,2", "othello:4,2"))


def ask(command, module, folder, asked, *more):
    """What a command of search.mjs says of a module and a list of states, or of files."""
    (folder / "asked").write_text(json.dumps([str(one) for one in asked]))
    return node(command, module, folder / "asked", *more)


def some(truth, count, seed=1):
    return random.Random(seed).sample(sorted(truth), min(count, len(truth)))


def said(value):
    return [value.score, value.distance, value.outcome]


@pytest.mark.parametrize("name", GAMES)
def test_answers_are_the_naive_twins(module_of, tmp_path, name):
    rules, truth = Rules(load_game(name)), naive.solve(load_game(name))
    states = some(truth, 60)
    for state, answer in zip(states, ask("answers", module_of(name), tmp_path, states), strict=True):
        assert answer["value"] == said(truth[state]) and answer["known"] == [said(truth[state]), True]
        moves = [] if rules.is_terminal(state) else [*moves_of(rules, truth, state)]
        assert answer["moves"] == moves
        best = [[action, value, True] for action, _, value, _, is_best in moves if is_best]
        assert answer["best"] in (best or [None])


def moves_of(rules, truth, state):
    """Action, child, value, whether it is exact, whether it is best: as JavaScript says it."""
    for action in rules.actions(state):
        child = rules.result(state, action)
        value = lift_value(truth[child], rules.same_mover(state, action, child), rules.gain(state, action))
        value = value if value.score or rules.scores else Value(0)
        yield [str(action), str(child), said(value), True, merit_of(value) == merit_of(truth[state])]


def test_null_windows_bound_a_value(module_of, tmp_path):
    truth = naive.solve(load_game(QUICK))
    states = [state for state in some(truth, 60) if not 0 < (truth[state].distance or 9) < 2]
    for state, answer in zip(states, ask("bounds", module_of(QUICK), tmp_path, states), strict=True):
        assert answer == [True, False, True], (state, truth[state])


def test_what_a_budget_leaves_open_is_an_estimate(module_of, tmp_path):
    game = load_game(QUICK)
    open_states = [state for state in naive.solve(game) if not game.is_terminal(state)]
    early = sorted(open_states)[:5] + [game.initial()]
    for value, exact, unknown, best in ask("budgets", module_of(QUICK), tmp_path, early):
        assert unknown == 0 and (exact or best is not None)
        assert value is None or exact or value[1] is None or value[0]


@pytest.mark.slow
def test_where_alpha_beta_does_not_end_estimates_are_left(module_of, tmp_path):
    endless = tmp_path / "endless.wasm"
    endless.write_bytes(forged(module_of(QUICK).read_bytes(), {"go_on": bytes([0, 0x42, 2, 0x0B])}))  # i64.const 2
    exact, unknown, moves = ask("endless", endless, tmp_path, [load_game(QUICK).initial()])
    assert not exact and not unknown and moves


def test_questions_are_answered_in_turn(module_of, tmp_path):
    game = load_game(QUICK)
    states = [game.initial(), *some(naive.solve(game), 20)]
    moves, values, _ = ask("turns", module_of(QUICK), tmp_path, states)
    assert moves and values == [said(naive.solve(game)[state]) for state in states]


def test_modules_of_others_are_refused(module_of):
    found = node("refusals", module_of(QUICK))
    assert found.pop("own") == "open" and found.pop("checksums") is True
    assert found.pop("state") == "TypeError"
    assert all(text.startswith("ForeignModule: ") for text in found.values()), found
    assert "build it again" in found["rules"] and "symmetry" in found["symmetry"]
    assert "fails its checksum" in found["checksum"] and "or it is damaged" in found["other"]


def test_altered_modules_are_refused(module_of):
    assert node("damage", module_of(QUICK)) == {"ForeignModule": 2000}


def test_types_declare_what_is_exported():
    for name in ("book", "search"):
        text, types = ((site.WEB / "reader" / f"{name}{ending}").read_text("utf-8") for ending in (".js", ".d.ts"))
        pattern = r"^export (?:class|function) (\w+)"
        assert re.findall(pattern, types, re.M) == re.findall(pattern, text, re.M)


def ends_of(command, folder, modules, *more):
    """What a command of search.mjs says of a list of modules."""
    return ask(command, folder / "asked", folder, [base64.b64encode(module).decode() for module in modules], *more)


PATIENT = 600_000  # milliseconds, which no machine takes


def test_what_does_not_end_is_ended_with_its_worker(module_of, tmp_path):
    data = module_of(QUICK).read_bytes()
    loops = [forged(data, {name: FOR_EVER}) for name in ("go_on", "is_terminal", "lay_out")]
    ends = {*ends_of("harm", tmp_path, loops, 200)}
    assert ends == {"Error: the module does not end what it was asked, and was ended"}
    lazy = [forged(data, {"go_on": IDLE}), forged(data, memory=bytes([1, 0, 2])), forged(data, {"merit": NAN})]
    errors = f"Error: {QUICK}: the module does not get on", f"Error: {QUICK}: the module's estimate is not a number"
    idle, unbounded, nan = ends_of("harm", tmp_path, lazy, PATIENT)
    assert (idle, nan) == errors and unbounded == "draw draw"  # the host bounds it


def test_what_no_module_of_ours_has_is_refused_before_it_is_compiled(module_of, tmp_path):
    """Node took 2.4 GB for 64 KB of blocks behind a high stack, and ended for want of memory."""
    data = module_of(QUICK).read_bytes()
    high = bytes([0]) + bytes([0x42, 0]) * 8000 + bytes([0x41, 0, 0x04, 0x40, 0x0B]) * 8000 + bytes([0x0F, 0x0B])
    locals_ = binary.vector([binary.number(50_000) + bytes([0x7E])]) + bytes([0x42, 0, 0x0B])
    pages = bytes([1, 1, 128, 128, 1, 255, 255, 1])
    said = [
        ("a function is too large", forged(data, {"utility": high})),
        ("a function has more than 4000 locals", forged(data, {"utility": locals_})),
        ("it has more than 1000 functions", crowded(data)),
        ("it has sections that no module of ours has", with_sections(data, START=bytes([0]))),
        ("a number is too long", with_sections(data, TYPE=bytes([128] * 1000 + [0]))),
        ("it is cut off", with_sections(data, TYPE=bytes([255, 255, 255, 255, 15]))),
        ("it wants 16384 pages of memory, of 1408 at most", forged(data, memory=pages)),
        ("it has no memory such as ours", forged(data, memory=bytes([1, 3, 2, 4]))),
        ("it has instructions that no module of ours has", forged(data, {"utility": bytes([0, 0xFD, 0x0B])})),
        ("more than 262144 bytes: build it again", data + bytes(1 << 18)),
    ]
    for name, facts in FACTS.items():
        what = "the module's format is undefined, not 1" if name == "a fraction" else "this is not a module of"
        said.append((what, forged(data, facts=facts)))
    ends, megabytes = ends_of("openings", tmp_path, [module for _, module in said])
    assert megabytes < 500
    for (words, _), end in zip(said, ends, strict=True):
        assert end.startswith("ForeignModule: ") and words in end, end


def test_files_and_answers_without_end_are_no_modules(module_of, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 1 << 40)
    files = (tmp_path / "fifo", "/dev/zero", tmp_path / "large")
    ends, megabytes = ask("files", module_of(QUICK), tmp_path, files)
    file = "ForeignModule: IT is not a regular file: name one that `solver build` wrote"
    many = "ForeignModule: the module has more than 262144 bytes: build it again"
    assert ends == [file, file, many, many] and megabytes < 500


def test_a_module_has_the_memory_that_its_host_allows(module_of, tmp_path):
    """Whatever it says of itself, up to 1 GiB."""
    data = module_of(QUICK).read_bytes()
    for memory in (None, bytes([1, 0, 2]), bytes([1, 1, 2, 255, 255, 1])):
        (tmp_path / "greedy.wasm").write_bytes(forged(data, {"utility": GREEDY}, memory))
        assert node("greed", tmp_path / "greedy.wasm") == [-1, -1]


@pytest.mark.parametrize("count", [10, *slow(2000)])
def test_altered_modules_sealed_anew_do_no_harm(module_of, tmp_path, count):
    """They are refused, trapped, ended, or answer: rightly or not, a seal is against accidents."""
    ends = ends_of("harm", tmp_path, mutants(module_of(QUICK).read_bytes(), count), 10_000)
    assert len(ends) == count and any(end.startswith("ForeignModule: ") for end in ends)
    assert all(end and len(end.splitlines()) == 1 and len(end) < 1000 for end in ends)


def test_the_example_plays_by_the_book_then_by_the_search(module_of, tmp_path, monkeypatch):
    """And what is exported names the module that it has, and lets it be compiled."""
    solver.trim(QUICK, tmp_path / "short.lmdb", solver.Trim(max_ply=1))
    monkeypatch.setattr(site, "module_of", lambda *asked: module_of(QUICK).read_bytes())
    with solver.Book(tmp_path / "short.lmdb") as book:
        export_page(book, tmp_path)
    cases = (("", "book", "score: 0"), ("a1 a2 a3", "search", "exact: true"), ("a1 a2 b1 b2 c1", "", "over"))
    for line, by, said in cases:
        script = ROOT / "examples" / "node.mjs"
        done = subprocess.run(["node", script, tmp_path / "site", *line.split()], capture_output=True, text=True)
        assert by in done.stdout and said in done.stdout, (line, done)
    assert "script-src 'self' 'wasm-unsafe-eval';" in (tmp_path / "site" / "index.html").read_text("utf-8")
    assert [path.name for path in (tmp_path / "site").glob("*.d.ts")] == ["game.d.ts"]


def test_a_page_of_a_game_alone_has_its_rules_and_its_module(module_of, tmp_path):
    assert "a game without a book" in ok("export", QUICK, "--live", "-o", f"{tmp_path}/site/")
    page = tmp_path / "site"
    assert not (page / "book.bin").exists() and "'wasm-unsafe-eval'" in (page / "index.html").read_text("utf-8")
    assert (page / "game.wasm").read_bytes() == module_of(QUICK).read_bytes()
    shutil.copy(site.WEB / "package.json", tmp_path)
    assert port("differences", page / "game.js") == {} and '"digest"' not in (page / "game.js").read_text("utf-8")
    assert "627 states" in ok("export", QUICK, "-o", f"{tmp_path}/site/")  # a shipped book goes first


SHIPPED = sorted(one.name.partition(".")[0] for one in (shipped.folder() / "modules").glob("*.wasm.gz"))
SOME = ("connect-four", "dots-and-boxes", "kalah", "three-mens-morris")


@pytest.mark.parametrize("names", [SOME, pytest.param(SHIPPED, marks=pytest.mark.slow)], ids=["some", "all"])
def test_modules_tell_a_page_the_rules(tmp_path, names):
    """Moves again, what they score, cycles, symmetry: as Python does on the records of a page."""
    assert {*SOME} <= {*SHIPPED}
    for name in names:
        made = site.script_of(Rules(load_game(name)), None, silent)
        assert not made.notes and "...module.rules" in made.text and "$actions" not in made.text
        (tmp_path / name).mkdir()
        (tmp_path / name / "game.js").write_text(made.text)
        (tmp_path / name / "game.wasm").write_bytes(made.module)
        for file in ("site/python.js", "site/rules.js", "reader/search.js", "reader/limits.js"):
            shutil.copy(site.WEB / file, tmp_path / name)
    shutil.copy(site.WEB / "package.json", tmp_path)
    assert port("differences", *sorted(tmp_path.glob("*/game.js"))) == {}


def test_a_game_alone_that_no_page_can_search_is_refused(tmp_path, monkeypatch):
    raises(MethodError, "solve it first, or write a page, b/", export, load_game(QUICK), tmp_path / "b.csv")
    raises(MethodError, "a game of chance", export, load_game("pig:20"), f"{tmp_path}/site/")
    monkeypatch.setattr("solver.base.extras.kernel_defect", lambda: MethodError(INSTALL))
    for game in ("connect-four:6,5", write_third(tmp_path / "third.py", players=2)):
        fails(2, INSTALL, "export", game, "-o", f"{tmp_path}/site/")
    assert [path.name for path in tmp_path.iterdir()] == ["third.py"]


def test_the_example_of_an_edge_worker_plays(tmp_path):
    """Its module comes as the platform hands it over: compiled."""
    module = modules.path_of("connect-four")
    (tmp_path / "game.wasm").write_bytes(gzip.decompress(module.read_bytes()))
    text = (ROOT / "examples" / "edge.mjs").read_text("utf-8")
    text = text.replace('import module from "./connect-four.wasm";', COMPILED)
    (tmp_path / "edge.mjs").write_text(text.replace("solverbook/search", (site.WEB / "reader" / "search.js").as_uri()))
    script = """const { default: edge } = await import("./edge.mjs"), answers = [];
        for (const moves of ["1,2,1,2,1,2", "1,2,1,2,1,2,1", "9", ""])
            answers.push(await (await edge.fetch(new Request(`http://x/?moves=${moves}`))).json());
        console.log(JSON.stringify(answers));"""
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, cwd=tmp_path)
    won, over, wrong, start = json.loads(done.stdout)
    assert won == {"best": "1", "exact": True, "score": 1, "distance": 1, "outcome": "win"}
    assert (over, wrong, start["exact"]) == ({"over": True}, {"error": "9 is not legal there"}, False)


def test_the_units_of_the_javascript():
    """In one process of Node: `make javascript` runs them by Node's own runner, too."""
    files = [path.as_uri() for path in sorted((ROOT / "tests" / "javascript").glob("*.test.mjs"))]
    script = f"for (const file of {json.dumps(files)}) await import(file);"
    command = ["node", "--test-reporter=tap", "--input-type=module", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, "\n".join(line for line in done.stdout.splitlines() if "not ok" in line) + done.stderr
    assert "\n# fail 0\n" in done.stdout and "\n# pass 0\n" not in done.stdout
