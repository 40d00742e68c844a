"""Books and rules in JavaScript: they say what Python says; what is damaged, or has no translation, is named."""

import json
import random
import struct

import pytest

from solver.base.expectations import Estimate, Estimated
from solver.base.value import Value
from solver.book import Book
from solver.book.codecs.instant import GROUP_STATES
from solver.export.script import all_of, sampled
from solver.rules.game import Rules, load_game
from solver.solving import pipeline
from tests import exports
from tests.books import KEYED_BY_STATE, sample_values, write_sample, write_values
from tests.exports import SIMPLE, exported, needs_node
from tests.games import CHANCE_GAMES, EDGE_GAMES, LARGE_CHANCE_GAMES, LARGE_GAMES, MORE_GAMES, SMALL_GAMES
from tests.pages import STRANGE, node, ported
from tests.ways import quickly, slow
from tests.written import write_rules

pytestmark = needs_node

GAMES = ("hexapawn", "kalah:2,3", *slow("tic-tac-toe"), *slow("connect-four:4,4", "kalah:3,3"))


def test_javascript_reads_the_groups_of_the_documentation():
    text = exports.FORMAT.read_text("utf-8")
    groups = (
        "08 02 01 07 09 02 0b",
        "00 02 00 00 00 03 00 e3 06 00 63 e7 64 07 00",
        "03 00 e3 e0 e2 e2 00 00",
        "00 02 02 46 00 00 00 0c 0b",
    )
    assert all(f"`{group}`" in text for group in groups)
    found = [7, 9, None, 7, None, None, None, None, None, None]
    keyed = [[0, 1, 3], [7, 9, 7], found, ["RangeError"]]
    filled = [[0, 1, 2, 3], [7, 9, 9, 7], [7, 9, 9, *found[3:]], ["RangeError"]]  # a rank that nobody asks for
    counted = [[0, 1, 3], [70, 73, 70], [70, 73, None, 70, *found[4:]], ["RangeError"]]
    assert exports.node("groups") == [keyed, keyed, filled, counted]


def answers(book, folder):
    """What the reader says of a book, held against a table of it."""
    return exports.node("answers", exported(book, folder / "b.bin"), exported(book, folder / "b.csv", SIMPLE))


@pytest.mark.parametrize("name", GAMES)
def test_javascript_answers_as_python(name, tmp_path):
    with pipeline.solve(load_game(name), tmp_path / "book.lmdb") as book:
        found = answers(book.path, tmp_path)
        assert [*found["right"], found["entries"], found["length"]] == [len(book)] * 4
        told = {name: getattr(book.header, name) for name in ("game", "digest", "counts")}
        assert found["facts"].items() >= (told | {"root": book.root._asdict()}).items()
    assert found["refused"] == ["TypeError"] * 6


@pytest.mark.parametrize("codec", quickly(KEYED_BY_STATE, ["instant"]))
def test_javascript_reads_groups_of_any_kind(tmp_path, codec):
    """Every key mode with every width of a value, in one book; the last group's keys are single bytes."""
    chance = random.Random(3)
    values, state = {}, 0
    for spread in (1, 40, 70_000, 2**45):
        for different in (1, 2, 4, 16, 150):
            for _ in range(GROUP_STATES):
                values[state] = Value(1, chance.randrange(different) * 2 + 1)
                state += chance.randrange(spread) + 1
    values |= {state: Value(0), state + 99: Value(1, 2), state + 200: Value(-1, 0)}
    for some in (exports.VECTOR, values):
        write_values(tmp_path / "b.lmdb", some, facts={"codec": codec})
        assert answers(tmp_path / "b.lmdb", tmp_path)["right"] == [len(some)] * 2
    if codec == "instant":
        with Book(tmp_path / "b.lmdb") as book:
            segment = next(book.segments())
            kinds = {segment[start] for start in struct.unpack_from("<21H", segment, 8 + 8 * 21)}
        assert kinds == {mode | width << 3 for mode in (0, 2, 3, 4) for width in (0, 1, 2, 4, 8)} | {1 | 2 << 3}


def test_javascript_reads_wide_states_and_estimates(tmp_path):
    """Keys of many lengths, and directories and heads whose states take more words than one."""
    chance = random.Random(4)
    states = sorted(chance.getrandbits(128) >> chance.choice((0, 0, 60, 100)) for _ in range(6000))
    estimates = [Estimated(number / 1024, None) for number in (901, 13, -77)]
    palette = [Value(1, 3), *estimates[:2], Value(0), estimates[2], Value(-1, 2)]
    values = {state: chance.choice(palette) for state in states}
    facts = {"state_bytes": 16, "palette": palette, "score_game": False, "method": "drop-out"}
    facts |= {"scope": "grown", "estimate": Estimate("outcome", 2, "evaluate", "0" * 64)}
    longest = 3, next(state for state in states if values[state] == palette[0])
    counts = {"win": len(states), "draw": 0, "loss": 0}  # of estimates nobody counts again
    facts |= {"states": None, "terminal": None, "counts": counts, "longest": longest}
    write_values(tmp_path / "b.lmdb", values, facts=facts)
    assert len(Book(tmp_path / "b.lmdb").directory) > 1
    found = answers(tmp_path / "b.lmdb", tmp_path)
    assert found["right"] == [len(values)] * 2 and found["facts"]["estimate"]["depth"] == 2


@pytest.mark.slow
def test_javascript_reads_a_book_of_many_values(tmp_path):
    write_values(tmp_path / "b.lmdb", {state: Value(state * 31 % 70_000) for state in range(0, 210_000, 3)})
    assert answers(tmp_path / "b.lmdb", tmp_path)["right"] == [70_000] * 2


@pytest.mark.parametrize(("codec", "most"), [*((codec, 10_000) for codec in KEYED_BY_STATE), ("wide", 20)])
def test_javascript_refuses_every_damaged_byte(small, tmp_path, codec, most):
    with Book(small) as book:
        write_sample(tmp_path / "b.lmdb", dict([*book.items()][:most]), codec)
    source = exported(tmp_path / "b.lmdb", tmp_path / "b.bin")
    assert exports.node("damage", source) == {"DamagedBook": 2 * source.stat().st_size + 1}


@pytest.mark.parametrize("codec", ["instant", "steps", *slow("compact", "wide")])
def test_javascript_bears_forged_files(tmp_path, codec):
    """Segments and heads altered, with checksums that hold: answers, no answer or DamagedBook, never another error."""
    chance = random.Random(5)
    forged = []
    for spread in (2, 5000, 10**12):
        most = 2**37 if codec == "wide" else 2**63
        values = {state: value for state, value in sample_values(20, spread=spread, seed=2).items() if state < most}
        write_sample(tmp_path / "b.lmdb", values, codec)
        data = exported(tmp_path / "b.lmdb", tmp_path / "b.bin").read_bytes()
        forged += [struct.pack("<I", len(data)) + exports.resealed(data, chance) for _ in range(100)]
    (tmp_path / "forged").write_bytes(b"".join(forged))
    found = exports.node("forged", tmp_path / "forged", json.dumps({"states": [0, 1, 1000, 2**40]}))
    assert set(found) <= {"read", "DamagedBook"} and sum(found.values()) == 300 and found["DamagedBook"] > 130


def test_javascript_reads_over_http(tmp_path):
    write_values(tmp_path / "b.lmdb", sample_values(16_000, spread=10**12))
    target = exported(tmp_path / "b.lmdb", tmp_path / "b.bin")
    with Book(tmp_path / "b.lmdb") as book:
        segments, states = len(book.directory), len(book)
    assert segments > 2
    assert exports.node("http", target, exported(tmp_path / "b.lmdb", tmp_path / "b.csv", SIMPLE)) == {
        "ranges": [states, segments + 1],
        "hidden": [states, segments + 1],
        "whole": [states, 1],
        "missing": "HTTP 404",
        "changed": "DamagedBook",
        "again": True,
    }


def test_answers_without_end_are_not_taken_in(small, tmp_path):
    target = exported(small, tmp_path / "b.bin")
    said = exports.node("endless", target)
    assert said.pop("megabytes") < 500
    for name, words in {
        "206/zeros": "DamagedBook: /206/zeros: more was sent than 65536 bytes",
        "200/zeros": "DamagedBook: the file is not a .bin book",
        "200/book": f"DamagedBook: the file has more than {target.stat().st_size} bytes",
        "large": "RangeError: /200/book has more than 1000 bytes, and its server knows no ranges",
    }.items():
        assert said.pop(name).startswith(words)
    assert said == {}


def test_steps_that_are_none_are_refused_as_in_python(tmp_path):
    """Values are whole numbers of steps: of 1e308 they were infinite."""
    write_sample(tmp_path / "b.lmdb", sample_values(9), "steps")
    data = exported(tmp_path / "b.lmdb", tmp_path / "b.bin").read_bytes()
    right, *wrong = [(2.0**-30, 2.0**-31), (1e308, 0.5), (3.0, 2.0), (0.3, 0.2), (0.5, 0.1), (0.5, 1.0), (-0.5, 0.5)]
    for steps, said in (([right], "read"), (wrong, "DamagedBook")):
        facts = [{"expectation": {"of": "utility", "step": step, "error": error}} for step, error in steps]
        assert exports.read_by_node(tmp_path, [exports.with_facts(data, one) for one in facts]) == {said: len(steps)}
    lacking = data[68 : 64 + struct.unpack_from("<I", data, 40)[0]].replace(b"expectation", b"nothing", 1)
    odd = [{"expectation": None}, {"expectation": {"of": "victory", "step": 2.0**-30, "error": 2.0**-31}}, lacking]
    assert exports.read_by_node(tmp_path, [exports.with_facts(data, one) for one in odd]) == {"DamagedBook": 3}


OTHERS = ("connect-four", "othello", "kalah", "chess-ending:KQK", "chess-ending:KBNK", "chess-ending:KPK")
DICE = ("backgammon-bearoff:2,4", "einstein:3,2", "piglet:3", "pig:15", "nannon:3,2,3", "ur:7", "hypergammon")
LARGE = (*SMALL_GAMES, *LARGE_GAMES, *EDGE_GAMES, *OTHERS)


@pytest.mark.parametrize("names", [SMALL_GAMES[::3], DICE, *slow(LARGE, MORE_GAMES, CHANCE_GAMES + LARGE_CHANCE_GAMES)])
def test_rules_run_in_javascript_as_in_python(modules, names):
    paths = []
    for name in names:
        rules = Rules(load_game(name))
        paths.append(ported(modules, name, rules, sampled(rules, 12 if name in EDGE_GAMES else 40, seed=7)))
    assert node("differences", *paths) == {}


def test_a_port_that_differs_is_found(modules):
    rules = Rules(load_game("connect-four:4,3"))
    path = ported(modules, "wrong", rules, sampled(rules, 80))
    text = path.read_text("utf-8")
    path.write_text(text.replace("py.Mult, py.Constant(2n)", "py.Mult, py.Constant(3n)"))
    assert path.read_text("utf-8") != text
    ((record, found),) = node("differences", path).values()
    assert record["state"] in text and found != record


def test_python_as_people_write_it_runs(tmp_path, modules):
    (tmp_path / "strange.py").write_text(STRANGE)
    rules = Rules(load_game(f"{tmp_path}/strange.py::Strange"))
    records = all_of(rules, 100)
    assert len({record["board"] for record in records}) == 15
    assert node("differences", ported(modules, "strange", rules, records)) == {}


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
