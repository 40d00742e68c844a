"""Books of games of chance in JavaScript: the reader answers what Python answers; rules with dice run as in Python."""

import json
import random
import re
import struct

import pytest

from solver.base.value import Value
from solver.book import Book
from solver.book.sealing import seal
from solver.export.bin import PREFIX
from solver.export.records import sampled
from solver.rules.game import Rules, load_game
from tests.books import expectations, sample_values, write_expectations
from tests.exports import FORMAT, SIMPLE, dump, exported, needs_node, node, resealed
from tests.games import CHANCE_GAMES, LARGE_CHANCE_GAMES
from tests.pages import modules, pages, ported
from tests.pages import node as page_node
from tests.ways import slow

__all__ = ["modules", "pages"]  # fixtures

VECTOR = {5: Value(0.5), 6: Value(-0.25), 8: Value(0.0), 1 << 62: Value(0.5 + 2.0**-30)}


def test_the_file_is_what_the_documentation_says(tmp_path):
    write_expectations(tmp_path / "vector.lmdb", VECTOR)
    data = exported(tmp_path / "vector.lmdb", tmp_path / "vector.bin").read_bytes()
    _, _, codec, size, stored, _, facts, values, segments, index_bytes, _ = PREFIX.unpack_from(data)
    assert (codec, size, stored, values, segments, index_bytes) == (3, len(data), 4, 0, 1, 4)
    ends = [64, 64 + facts, 68 + facts, 72 + facts + 16 * segments, size]
    parts = [data[begin:end] for begin, end in zip(ends, ends[1:], strict=False)]
    blocks = re.findall(r"^```(?:json|text)\n(.*?)\n```$", FORMAT.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks[3:] == [parts[0][4:].decode(), dump(parts[2][4:]) + "\n" + dump(parts[3][4:])]


@needs_node
def test_javascript_answers_as_python(pages, tmp_path):
    for name in ("nannon:3,2,3", "einstein:3,2"):
        folder = pages(name)
        table = exported(folder / "book.lmdb", tmp_path / "b.csv", SIMPLE)
        found = node("answers", folder / "site" / "book.bin", table)
        with Book(folder / "book.lmdb") as book:
            header = book.header
            assert (found["right"], found["entries"]) == ([len(book)] * 2, len(book))
        assert found["facts"]["expectation"] == header.expectation._asdict()
        assert found["facts"]["root"] == header.root._asdict()
        assert found["refused"] == ["TypeError"] * 6


@needs_node
def test_javascript_reads_groups_of_any_kind(tmp_path):
    """Bitmaps and keys of 2 to 55 bits, values of 0 to 31."""
    chance, values, state = random.Random(3), {}, 0
    for spread in (1, 3, 40, 70_000, 2**31, 2**38, 2**46, 2**53):
        for bits in (0, 1, 7, 30):
            for _ in range(256):
                values[state] = Value(chance.randrange(-(1 << bits), (1 << bits) + 1) / (1 << 30))
                state += chance.randrange(spread) + 1
    for number, some in enumerate((VECTOR, values, expectations(sample_values(3000)))):
        write_expectations(tmp_path / "b.lmdb", some)
        target = exported(tmp_path / "b.lmdb", tmp_path / f"{number}.bin")
        found = node("answers", target, exported(tmp_path / "b.lmdb", tmp_path / "b.csv", SIMPLE))
        assert found["right"] == [len(some)] * 2


@needs_node
def test_javascript_refuses_every_damaged_byte(pages):
    source = pages("nannon:3,2,3") / "site" / "book.bin"
    assert node("damage", source) == {"DamagedBook": 2 * source.stat().st_size + 1}


@needs_node
def test_javascript_bears_forged_files(tmp_path):
    """Segments and heads altered, with checksums that hold: answers, no answer or DamagedBook, never another error."""
    chance, forged = random.Random(5), []
    for spread in (2, 5000, 10**12):
        values = {state: value for state, value in sample_values(20, spread=spread, seed=2).items() if state < 2**63}
        write_expectations(tmp_path / "b.lmdb", expectations(values))
        data = exported(tmp_path / "b.lmdb", tmp_path / "b.bin").read_bytes()
        forged += [struct.pack("<I", len(data)) + resealed(data, chance) for _ in range(300)]
    (tmp_path / "forged").write_bytes(b"".join(forged))
    found = node("forged", tmp_path / "forged", json.dumps({"states": [0, 1, 1000, 2**40]}))
    assert set(found) <= {"read", "DamagedBook"} and sum(found.values()) == 900 and found["DamagedBook"] > 400


@needs_node
def test_facts_that_tell_no_values_are_refused(pages, tmp_path):
    data = (pages("nannon:3,2,3") / "site" / "book.bin").read_bytes()
    (size,) = struct.unpack_from("<I", data, 40)
    forged = b""
    for right, wrong in (
        (b'"of":"utility"', b'"of":"victory"'),
        (b'"step":9.', b'"step":-9'),
        (b'"expectation"', b'"expectatiom"'),
        (b'"error":4.', b'"error":-4'),
    ):
        facts = data[68 : 64 + size].replace(right, wrong, 1)
        assert facts != data[68 : 64 + size] and len(facts) + 4 == size
        forged += struct.pack("<I", len(data)) + data[:64] + seal(data[32:40], 0, facts) + data[64 + size :]
    (tmp_path / "forged").write_bytes(forged)
    assert node("forged", tmp_path / "forged", json.dumps({"states": [0]})) == {"DamagedBook": 4}


SOME = ("backgammon-bearoff:2,4", "einstein:3,2", "piglet:3", "pig:15", "nannon:3,2,3", "ur:7", "hypergammon")


@needs_node
@pytest.mark.parametrize("names", [SOME, *slow(CHANCE_GAMES + LARGE_CHANCE_GAMES)], ids=["some", "all"])
def test_rules_run_in_javascript_as_in_python(modules, names):
    paths = []
    for name in names:
        rules = Rules(load_game(name))
        records = sampled(rules, 40, seed=7)
        by_chance = [[move["weight"] for move in one["moves"] if "weight" in move] for one in records]
        assert all(len(weights) in (0, len(one["moves"])) for weights, one in zip(by_chance, records, strict=True))
        assert any(by_chance) and not all(by_chance)
        paths.append(ported(modules, name, rules, records))
    assert page_node("differences", *paths) == {}


@needs_node
def test_wrong_dice_are_found_before_the_page_answers(modules):
    rules = Rules(load_game("pig:10"))
    path = ported(modules, "loaded", rules, sampled(rules, 64))
    text, wrong = path.read_text("utf-8"), []
    for right, other in (("yield py.tuple([1n, $added", "yield py.tuple([2n, $added"), ("range(2n", "range(3n")):
        assert right in text
        wrong.append(path.with_name(f"loaded{len(wrong)}.js"))
        wrong[-1].write_text(text.replace(right, other))
    assert page_node("differences", *wrong).keys() == {str(one) for one in wrong}
