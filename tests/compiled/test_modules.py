"""Modules of WebAssembly: the shipped ones and those of wide states against truth, what is refused, and players."""

import gzip
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import solver
from solver import Player
from solver.base import errors, extras
from solver.base.value import Value, lift_value, merit_of
from solver.book import shipped
from solver.compiled.exact.searcher import Searcher
from solver.compiled.module import building
from solver.games.connect_four import ConnectFour
from solver.play import modules
from solver.rules.game import Rules, load_game
from solver.search import Budget, alphabeta, heuristic
from solver.wasm import binary
from solver.wasm.binary import MAX_MODULE_BYTES, SEAL_BYTES, Reader, facts_of, sealed, text
from solver.wasm.host import Module
from tests import ROOT, naive, pages
from tests import modules as search
from tests.commands import ok
from tests.compiled.test_alphabeta import pons, scored
from tests.exports import needs_node
from tests.games import play_outs
from tests.modules import FACTS, FOR_EVER, GREEDY, IDLE, NAN, built, crowded, forged, mutants, nested, with_sections
from tests.pages import export_page
from tests.processes import python
from tests.refusals import fails, raises
from tests.rules.test_wide import Declared, Full
from tests.ways import slow, slowly
from tests.written import ruled, write_rules

pytest.importorskip("wasmtime", exc_type=(ImportError, OSError))  # its library may not load
WIN = 8_388_607  # of modules
OF_ALL_KINDS = {"connect-four", "dots-and-boxes", "nim", "othello", "six-mens-morris", "teeko"}
SHIPPED = sorted(path.name.removesuffix(".wasm.gz") for path in (shipped.folder() / "modules").glob("*.wasm.gz"))


def data_of(name):
    return gzip.decompress(modules.path_of(name).read_bytes())


def module_of(name):
    return Module(data_of(name), Rules(load_game(name)))


@pytest.mark.parametrize("name", ["tic-tac-toe", "coins", "hexapawn"])
def test_every_value_is_the_naive_twins(name):
    game, module = load_game(name), module_of(name)
    truth = naive.solve(game)
    for state, value in random.Random(0).sample([*truth.items()], min(len(truth), 200)):
        assert module.value(state) == value
        if not game.is_terminal(state):
            assert module.reaches(state, value)
            assert not module.reaches(state, value, strictly=True)


def test_shipped_modules_are_of_todays_rules():
    for name in SHIPPED:
        assert facts_of(data_of(name))["rules"] == Rules(load_game(name)).fingerprint, name


@pytest.mark.parametrize("name", slowly(SHIPPED, *(name for name in SHIPPED if name not in OF_ALL_KINDS)))
def test_shipped_modules_have_the_rules_of_plain_python(name):
    game, module = load_game(name), module_of(name)
    rules, room = Rules(game), 69_632
    assert module.ask("initial") == game.initial()
    for state in play_outs(game, 2):
        assert module.ask("is_terminal", state) == game.is_terminal(state)
        assert not rules.folds or module.ask("canonical", state) == rules.canonical(state)
        if game.is_terminal(state):
            assert module.ask("utility", state) == game.utility(state)
            continue
        actions = list(game.actions(state))
        assert module.ask("actions", state, room, 64) == len(actions)
        for action in actions:
            assert module.ask("result", state, action) == game.result(state, action)


def test_published_connect_four_scores():
    module = module_of("connect-four")
    for state, ply, score in scored("end-easy", 100):
        assert pons(module.value(state), ply) == score


@pytest.mark.parametrize("name", ["connect-four", "othello", "kalah", "breakthrough"])
def test_what_it_sees_some_plies_ahead_is_what_plain_python_sees(name):
    game, module = load_game(name), module_of(name)
    for depth in (1, 2, 3):
        for state in play_outs(game, 1, depth, length=11):
            if not game.is_terminal(state):
                found, wanted = module.look(state, depth), heuristic.search(game, state, depth=depth)
                assert (found.value, found.action, found.exact) == (wanted.value, wanted.action, wanted.exact)


def test_a_budget_ends_a_search_and_the_next_goes_on_from_its_table():
    game, module = load_game("connect-four"), module_of("connect-four")
    raises(errors.BudgetExceeded, None, module.value, game.initial(), nodes=3000)
    assert 3000 <= module.nodes() < 3100
    raises(errors.BudgetExceeded, None, module.value, game.initial(), seconds=0.0)


def test_altered_modules_and_those_of_other_rules_are_said():
    data, rules = data_of("coins"), Rules(load_game("coins"))
    assert facts_of(data)["rules"] == rules.fingerprint
    chance = random.Random(3)
    for _ in range(2000):
        altered = bytearray(data)
        altered[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        raises(errors.DamagedBook, None, facts_of, bytes(altered))
    for cut in range(0, len(data), 97):
        raises(errors.DamagedBook, None, facts_of, data[:cut])
    for other in (Rules(load_game("coins:20")), Rules(load_game("nim"))):
        raises(errors.ForeignBook, "build it again", Module, data, other)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Busy as a machine may be, nothing is taken for endless but what is."""
    monkeypatch.setattr("solver.wasm.host.CALL_SECONDS", 300.0)
    monkeypatch.setattr("solver.wasm.watch.COMPILE_SECONDS", 300.0)


def forge(*changes, **more):
    """Forge the module of tic-tac-toe, and load it."""
    return Module(forged(data_of("tic-tac-toe"), *changes, **more), Rules(load_game("tic-tac-toe")))


def without(data, name):
    return sealed(data[: -SEAL_BYTES - 7].replace(text(name) + b"\0", text(name[::-1]) + b"\0"))


def changing(**sections):
    return lambda data: with_sections(data, **sections)


def forging(*bodies, **more):
    return lambda data: forged(data, *bodies, **more)


TABLE = bytes([1, 0x70, 0, 1])  # of one function at least
NO_MODULE = "not a module of `solver build`"
REFUSED = [
    *((f"facts-{name.replace(' ', '-')}", forging(facts=facts), NO_MODULE) for name, facts in FACTS.items()),
    ("start", changing(START=bytes([0])), NO_MODULE),
    ("table", changing(TABLE=TABLE), NO_MODULE),
    ("export", changing(TABLE=TABLE, MEMORY=None, EXPORT=bytes([1]) + text("memory") + bytes([1, 0])), NO_MODULE),
    ("import", changing(IMPORT=bytes([0])), NO_MODULE),
    ("element", changing(ELEMENT=bytes([0])), NO_MODULE),
    ("crowded", crowded, NO_MODULE),
    ("large", lambda data: data + bytes(MAX_MODULE_BYTES), "262,144 at most"),
    ("memory", forging(memory=bytes([1, 0, *(255, 255, 3)])), "does not start"),
    ("nested", forging({"utility": nested()}), "takes more than 512 MB to compile: build it again"),
    ("body", forging({"utility": b"\0\x0b"}), "does not compile: build it again"),
    ("begin", lambda data: without(data, "begin"), "the module lacks begin: build it again"),
    ("utility", lambda data: without(data, "utility"), "the module lacks utility: build it again"),
]


@pytest.mark.parametrize(("name", "change", "said"), REFUSED, ids=[name for name, *_ in REFUSED])
def test_damaged_modules_are_refused(name, change, said):
    raises(errors.DamagedBook, said, Module, change(data_of("tic-tac-toe")), Rules(load_game("tic-tac-toe")))


def test_facts_of_others_are_said_in_a_line():
    raises(errors.ForeignBook, r"^[ -~]{,500}$", forge, facts={"rules": "\x1b[2J\n" * 1000})


def test_what_takes_too_long_to_compile_is_ended(monkeypatch):
    """A minute and gigabytes for 40 KB: another process compiles, which has limits, and this one hears signals."""
    monkeypatch.setattr("solver.wasm.watch.COMPILE_SECONDS", 0.001)
    raises(errors.DamagedBook, r"more than 0\.001 seconds to compile: build it again", forge, {"utility": FOR_EVER})
    monkeypatch.setattr("sys.executable", "/no/python")
    raises(errors.ResourceError, r"/no/python does not start \(No such file", forge, {"utility": IDLE})


def test_what_does_not_end_is_ended_and_asked_anew(monkeypatch):
    assert forge().value(0) == Value(0)
    for name in ("go_on", "begin", "found"):
        module = forge({name: FOR_EVER})
        module.patience = 0.01
        for _ in range(2):
            words = rf"{name}.* fails in its module: it does not end$"
            raises(errors.UncompiledRules, words, module.value, 0, seconds=0.01)
        module.patience = 300.0
        assert module.look(0, 9).value == Value(0)
    raises(errors.UncompiledRules, "does not get on", forge({"go_on": IDLE}).value, 0)
    raises(errors.UncompiledRules, "does not get on", forge({"look_on": IDLE}).look, 0, 3)
    monkeypatch.setattr("solver.wasm.host.CALL_SECONDS", 0.01)
    raises(errors.DamagedBook, "does not start: it does not end: build it again", forge, {"lay_out": FOR_EVER})


def test_a_module_has_the_memory_that_its_host_allows():
    for memory in (None, bytes([1, 0, 2])):  # bounded by itself, or not
        module = forge({"settled": GREEDY}, memory)
        assert module.ask("settled", 0, 0) == -1 and module.value(0) == Value(0)


def test_numbers_have_ten_bytes_at_most():
    assert Reader(bytes([255] * 9 + [1])).number() == (1 << 64) - 1
    raises(ValueError, "more than ten bytes", Reader(bytes([128] * 1000 + [0])).number)


def test_no_module_is_built_that_hosts_refuse():
    """Objects of no function, whose constants make modules of the most bytes, and of one more."""

    def built(constants):
        parts = {binary.DATA: bytes(constants), binary.CUSTOM: text("linking") + bytes([2])}
        return binary.finished(binary.joined(parts), [], {"game": "coins"}, 1 << 16, 2, 4)

    most = 2 * MAX_MODULE_BYTES - 1000 - len(built(MAX_MODULE_BYTES - 1000))
    assert len(built(most)) == MAX_MODULE_BYTES
    raises(errors.MethodError, "of coins has 262,145 bytes, hosts take 262,144: shorten its rules", built, most + 1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Cannot cache")
def test_no_module_has_a_table_that_stays_in_the_process_that_builds_it(tmp_path):
    tables = {"head": "TABLE = tuple(range(150_000))", "actions": "yield 1 + TABLE[state] % 2"}
    rules = write_rules(tmp_path / "large.py", **tables)
    fails(2, " has a table of more than a megabyte", "build", rules, "-o", tmp_path / "a")


def test_an_export_of_another_kind_is_no_memory(monkeypatch):
    """Tables grow, too."""
    monkeypatch.setattr(binary, "OURS", {*range(13)})
    data, rules = data_of("tic-tac-toe"), Rules(load_game("tic-tac-toe"))
    reader = Reader(dict(binary.sections(data[: -SEAL_BYTES - 7]))[binary.EXPORT])
    count = reader.number()
    reader.take(len(text("memory")) + 2)
    exports = binary.number(count) + text("memory") + bytes([1, 0]) + reader.data[reader.at :]
    damaged = with_sections(data, TABLE=TABLE, EXPORT=exports)
    raises(errors.DamagedBook, "the module lacks a memory: build it again", Module, damaged, rules)


def test_estimates_that_are_no_numbers_and_looks_too_far_ahead_are_refused():
    raises(errors.UncompiledRules, "not a number", forge({"merit": NAN}).look, 0, 3)
    raises(errors.UncompiledRules, "254 plies ahead at most, not 255", module_of("tic-tac-toe").look, 0, 255)


@pytest.mark.parametrize("count", [10, *slow(2000)])
def test_altered_modules_sealed_anew_do_no_harm(count, monkeypatch):
    """They are refused, trapped, ended, or answer: rightly or not, a seal is against accidents."""
    data, rules = data_of("tic-tac-toe"), Rules(load_game("tic-tac-toe"))
    state, ends = rules.game.initial(), Counter()
    monkeypatch.setattr("solver.wasm.host.CALL_SECONDS", 0.5)
    for altered in mutants(data, count):
        try:
            module = Module(altered, rules, is_ours=count > 10)  # a process for each would take ten minutes
            module.patience = 0.2
            found = module.value(state, seconds=1.0), module.look(state, 9, None, Budget(seconds=1.0)).value
            ends["right" if found == (Value(0), Value(0)) else "wrong"] += 1
        except (errors.BookError, errors.BudgetExceeded, errors.UncompiledRules) as error:
            ends["ended" if "does not end" in str(error) else type(error).__name__] += 1
            assert "\n" not in str(error) and len(str(error)) < 1000
    assert ends["DamagedBook"] and ends.total() == count, ends


@pytest.fixture
def own(tmp_path):
    """A game of one's own, as it is named, and its module."""
    path = tmp_path / "mine.py"
    path.write_text(Path(sys.modules[type(load_game("coins")).__module__].__file__).read_text("utf-8"))
    name = f"{path}::Coins"
    (tmp_path / "mine.wasm").write_bytes(forged(data_of("coins"), facts={"rules": Rules(load_game(name)).fingerprint}))
    return name, tmp_path / "mine.wasm"


def test_a_player_asks_the_module_that_a_user_names(own):
    name, path = own
    for module in (path, path.read_bytes()):
        player = Player(name, module=module)
        player.prepare()
        assert isinstance(player.foresight.compiled.it, Module) and isinstance(player.live_search.compiled.it, Module)
        assert player.value(21).value == naive.solve(player.game)[21]
        assert pickle.loads(pickle.dumps(player)).foresight.module == path.read_bytes()  # noqa: S301
    other = Player(name)
    assert other.foresight.module is None and modules.data_of(other.rules) is None  # one beside the rules is not opened
    raises(errors.ForeignBook, "made by rules .* these are .*: build it again", Player, "coins:20", module=path)


def test_query_line_and_play_take_a_module(own, monkeypatch):
    name, path = own
    assert json.loads(ok("query", name, "1 2", "--module", path, "--json"))["value"] == "win"
    assert "loss" in ok("line", name, "--module", path)
    assert "searching live" in ok("play", name, "--module", path, stdin="quit\n")
    fails(5, "build it again: solver build", "query", "coins:20", "start", "--live", "--module", path)
    fails(2, "--module has no part in it", "query", name, "start", "--book-only", "--module", path)
    fifo, large = path.with_name("fifo"), path.with_name("large")
    if sys.platform == "win32":  # which has no such pipes, nor files with holes
        return
    os.mkfifo(fifo)
    large.touch()
    os.truncate(large, 1 << 40)
    for other in (fifo, "/dev/zero", large):
        fails(2, "cannot be read (", "query", name, "1 2", "--module", other)
    path.write_bytes(path.read_bytes()[:-1])
    fails(5, "or it is damaged: build it again", "line", name, "--module", path)
    monkeypatch.setattr(extras, "has", lambda *modules: False)
    fails(2, "pip install 'solverbook[live]' brings wasmtime", "query", name, "start", "--module", path)


def test_without_numba_a_player_asks_the_module():
    """A middle position of the 7x6 board, which plain Python does not solve in a second."""
    state = solver.position("connect-four", "44444432525")
    asked = (
        "import json, sys, solver\n"
        "player = solver.Player({}, solver.load_game('connect-four'), seconds=3600)\n"
        "found = player.value(int(sys.argv[1]))\n"
        "print(json.dumps([found.value, found.exact, found.source, 'numba' in sys.modules]))\n"
    )
    value, exact, source, heavy = json.loads(python(asked, state, check=True).stdout)
    assert (Value(*value), exact, source, heavy) == (module_of("connect-four").value(state), True, "search", False)


def test_a_win_at_once_wants_no_module(monkeypatch):
    monkeypatch.setattr(modules, "find", None)
    assert Player({}, load_game("connect-four")).best(solver.position("connect-four", "112233")) == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shipped_is_what_is_built_now(name):
    rules, chance = Rules(load_game(name)), random.Random(4)
    steps = []
    data = building.build(rules, progress=lambda *step: steps.append(step[0]))
    assert set(steps) == {"compile", "link"}
    built, native = Module(data, rules), Searcher(rules)
    shipped = module_of(name)
    assert built.facts == shipped.facts
    for seed in range(100):
        path = [*play_outs(rules.game, 1, seed, length=300)][:-1]
        state = chance.choice(path[len(path) // 2 :])
        assert built.look(state, 2).value == shipped.look(state, 2).value
        try:
            value = native.value(state, nodes=50_000)
            found = [module.value(state, nodes=200_000) for module in (built, shipped)]
        except (errors.BudgetExceeded, errors.MethodError, errors.UncompiledRules):  # too hard, or play goes round
            continue
        assert found == [value, value]


@pytest.mark.slow
def test_the_same_rules_give_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        subprocess.run([sys.executable, "-m", "solver", "build", "coins", "-o", tmp_path / name], check=True)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("wasm2c") and shutil.which("cc")), reason="wabt, or a C compiler, is missing")
def test_the_example_in_c_values_every_move(tmp_path):
    module, game = module_of("connect-four"), load_game("connect-four")
    (tmp_path / "game.wasm").write_bytes(data_of("connect-four"))
    subprocess.run(["wasm2c", "game.wasm", "-n", "game", "-o", "game.c"], cwd=tmp_path, check=True)
    example = ROOT / "examples" / "player.c"
    command = ["cc", "-O1", "-w", "-I.", example, "game.c", "-lwasm-rt-impl", "-lm", "-o", "player"]
    subprocess.run(command, cwd=tmp_path, check=True)
    for line in ("44444432525", "112233", "1122334"):
        output = subprocess.run([tmp_path / "player", *line], capture_output=True, text=True, check=True).stdout
        (_, merit), *moves = (words.split() for words in output.splitlines())
        state = solver.position(game, line)
        if game.is_terminal(state):
            assert moves == [] and int(merit) == -WIN
            continue
        assert int(merit) == merit_of(module.value(state), WIN)
        assert {*dict(moves)} == {str(action + 1) for action in game.actions(state)}
        for move, merit in moves:
            child = game.result(state, int(move) - 1)
            value = Value(-1, 0) if game.is_terminal(child) else module.value(child)
            assert int(merit) == merit_of(lift_value(value, False), WIN)


# Make a number of `size` bits smaller, by division; who cannot has lost
Divide = ruled(
    "Divide",
    fields="size: int = 101",
    bits="self.size + 1",
    initial="1234567890123456789012345678901 << self.size - 101",
    actions="yield 0\nyield 1\nif state % 7 == 3:\n    yield 2",
    result="""if action == 0:
    return state // (10**11 + 39)
if action == 1:
    return (state // 3 * 2 % (state // 5 + 1)) // 11 + (state >> state % 70) // 9
return state % (state // (1 << 40) + 2) // 2""",
    is_terminal="state < 1 << 33",
    tier="600 - state.bit_length()",
    evaluate="(state % 1000003 - 500000) / 500003",
)


def test_a_host_refuses_states_that_lie_elsewhere(tmp_path):
    rules = Rules(load_game("tic-tac-toe"))
    data = forged(modules.data_of(rules), facts={"format": 2, "words": 2})
    raises(errors.ForeignBook, "the module's format is 2, not 1: build it again", Module, data, rules)


def test_those_of_chance_are_refused():
    Pig = type("Pig", (type(load_game("pig:10")),), {"bits": 80})
    raises(errors.MethodError, "has states of 80 bits, that of a game of chance takes 63", built, Rules(Pig(10)))


@pytest.mark.slow
@pytest.mark.parametrize("game", [Declared(4, 3), Full(4, 3), Divide(), Divide(127), Divide(190)], ids=str)
def test_a_module_says_what_plain_python_says(game, tmp_path):
    rules = Rules(game)
    module = Module(built(rules), rules)
    assert module.facts["words"] == -(-rules.bits // 64) and module.ask("initial") == game.initial()
    truth = naive.solve(game) if isinstance(game, ConnectFour) else None
    for state in play_outs(game, 6):
        value = truth[state] if truth else alphabeta.solve(game, state).value
        assert module.value(state) == value
        assert module.ask("is_terminal", state) == game.is_terminal(state)
        if game.is_terminal(state):
            continue
        for action in game.actions(state):
            assert module.ask("result", state, action) == game.result(state, action)
        for depth in (1, 2, 3):
            found, wanted = module.look(state, depth), heuristic.search(game, state, depth=depth)
            assert (found.value, found.action, found.exact) == (wanted.value, wanted.action, wanted.exact)


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("game", [Full(4, 3), Divide(190)], ids=str)
def test_pages_search_by_it(game, tmp_path):
    """Without a book: the rules are the module's, held against Python's on 64 positions, and so are the values."""
    assert export_page(game, tmp_path) == []
    assert pages.node("differences", tmp_path / "site" / "game.js") == {}
    asked = [*play_outs(game, 3)]
    (tmp_path / "asked").write_text(json.dumps([str(state) for state in asked]))
    answers = search.node("answers", tmp_path / "site" / "game.wasm", tmp_path / "asked")
    for state, answer in zip(asked, answers, strict=True):
        value = alphabeta.solve(game, state).value
        assert answer["value"] == [value.score, value.distance, value.outcome]
        children = [str(game.result(state, action)) for action in game.actions(state)]
        assert game.is_terminal(state) or [move[1] for move in answer["moves"]] == children
