"""Games of chance in JavaScript: the reader and the page answer what Python answers; dice fall by their weights."""

import decimal
import json
import random
import re
import shutil
import struct

import pytest

from solver.base.value import Value
from solver.book import Book
from solver.book.sealing import seal
from solver.export import export, script, site
from solver.export.bin import PREFIX
from solver.export.records import all_of, record_of, sampled
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from solver.rules.notation import chances, first_position, format_action, next_position
from solver.rules.reading import parse_position
from solver.solving import pipeline
from tests.books import expectations, sample_values, write_expectations
from tests.exports import FORMAT, SIMPLE, dump, exported, needs_node, node, resealed
from tests.games import CHANCE_GAMES, LARGE_CHANCE_GAMES
from tests.pages import modules, ported
from tests.pages import node as page_node
from tests.sweep.test_expectation import Bids

__all__ = ["modules"]  # a fixture

VECTOR = {5: Value(0.5), 6: Value(-0.25), 8: Value(0.0), 1 << 62: Value(0.5 + 2.0**-30)}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The book of a game of chance and its page, made once, in a folder that says to Node what modules are."""
    made = {}

    def of(name):
        if name not in made:
            folder = tmp_path_factory.mktemp("chance")
            shutil.copy(site.WEB / "package.json", folder)
            with pipeline.solve(Bids() if name == "bids" else load_game(name), folder / "book.lmdb") as book:
                export(book, f"{folder}/site/")
            made[name] = folder
        return made[name]

    return of


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
    for name in ("pig:10", "nannon:3,2,3", "einstein:3,2"):
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
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (b'"of":"utility"', b'"of":"victory"'),
        (b'"step":9.', b'"step":-9'),
        (b'"expectation"', b'"expectatiom"'),
        (b'"error":4.', b'"error":-4'),
    ],
)
def test_facts_that_tell_no_values_are_refused(pages, tmp_path, right, wrong):
    data = (pages("nannon:3,2,3") / "site" / "book.bin").read_bytes()
    (size,) = struct.unpack_from("<I", data, 40)
    facts = data[68 : 64 + size].replace(right, wrong, 1)
    assert facts != data[68 : 64 + size] and len(facts) + 4 == size
    data = data[:64] + seal(data[32:40], 0, facts) + data[64 + size :]
    (tmp_path / "forged").write_bytes(struct.pack("<I", len(data)) + data)
    assert node("forged", tmp_path / "forged", json.dumps({"states": [0]})) == {"DamagedBook": 1}


@needs_node
def test_rules_run_in_javascript_as_in_python(modules):
    paths = []
    for name in (*CHANCE_GAMES, *LARGE_CHANCE_GAMES):
        rules = Rules(load_game(name))
        records = sampled(rules, 40, seed=7)
        by_chance = [[move["weight"] for move in one["moves"] if "weight" in move] for one in records]
        assert all(len(weights) in (0, len(one["moves"])) for weights, one in zip(by_chance, records, strict=True))
        assert any(by_chance) and not all(by_chance)
        paths.append(ported(modules, name, rules, records))
    assert page_node("differences", *paths) == {}


@needs_node
@pytest.mark.parametrize(
    ("right", "wrong"), [("yield py.tuple([1n, $added", "yield py.tuple([2n, $added"), ("range(2n", "range(3n")]
)
def test_wrong_dice_are_found_before_the_page_answers(modules, right, wrong):
    rules = Rules(load_game("pig:10"))
    path = ported(modules, "loaded", rules, sampled(rules, 64))
    text = path.read_text("utf-8")
    path = path.with_name(f"loaded{len(wrong)}.js")
    path.write_text(text.replace(right, wrong))
    assert path.read_text("utf-8") != text and len(page_node("differences", path)) == 1


def positions_of(rules, count, seed=3):
    """Positions along random games, all outcomes of chance as likely."""
    chance, found = random.Random(seed), []
    while len(found) < count:
        position = first_position(rules)
        while not rules.is_terminal(position.state) and position.ply < 40 and len(found) < count:
            outcomes = chances(rules.game, position.state)
            choices = range(len(outcomes)) if outcomes else list(rules.actions(position.state))
            position = next_position(rules, position, chance.choice(choices))
            found.append(position)
    return found


def in_words(value, of):
    """An expectation as a page has it."""
    number = decimal.Decimal(50) * (1 + decimal.Decimal(value.score)) if of == "utility" else abs(value.score)
    shown = decimal.Decimal(number).quantize(decimal.Decimal("0.1" if of == "utility" else "0.01"), "ROUND_HALF_UP")
    if of == "margin":
        return ("+" if value.score > 0 else "-") * bool(shown) + str(shown)
    if number in (0, 100):
        return f"{int(number)} %"
    low, high = decimal.Decimal("0.1"), decimal.Decimal("99.9")
    return "< 0.1 %" if number < low else "> 99.9 %" if number > high else f"{shown} %"


def said_of(player, position):
    """What a page is to say of all moves, or of all that chance may do: (name, value in words, whether it is best)."""
    game, state, of = player.game, position.state, player.solution.expectation.of
    moves = [(format_action(game, state, one.action), one.value, one.best) for one in player.analyse(state)]
    outcomes = [(str(number), one.value, False) for number, one in enumerate(player.outcomes(state), 1)]
    return [(name, in_words(value, of), best) for name, value, best in moves + outcomes]


@needs_node
@pytest.mark.parametrize("name", ["pig:10", "einstein:3,2", "nannon:3,2,3", "backgammon-bearoff:1", "bids", "ur:1"])
def test_a_page_says_what_a_player_says(pages, name, tmp_path):
    folder = pages(name)
    with Book(folder / "book.lmdb", Bids() if name == "bids" else None) as book:
        player, rules, of = Player(book), book.rules, book.expectation.of
        positions = [one for one in positions_of(rules, 80) if not rules.is_terminal(one.state)]
        asked = [[str(one.state), one.mover, one.gained or 0] for one in positions]
        (tmp_path / "asked").write_text(json.dumps(asked))
        answers = page_node("answers", folder / "site", tmp_path / "asked")
        for position, answer in zip(positions, answers, strict=True):
            value, moves = player.examine(position.state)
            outcomes = player.outcomes(position.state)
            said = [(move, words.replace("\u2212", "-"), best) for move, words, best in answer["moves"]]
            assert sorted(said) == sorted(said_of(player, position))
            assert in_words(value.value, of) in answer["words"].replace("\u2212", "-")
            assert answer["record"] == record_of(rules, position)
            assert answer["byChance"] == bool(outcomes)
            likely = [number / total for number, total in (map(int, one.split("/")) for one in answer["odds"])]
            assert likely == [one.probability for one in outcomes]
            if moves:
                assert answer["chosen"] == format_action(rules.game, position.state, player.best(position.state))


@needs_node
def test_dice_fall_by_their_weights():
    assert page_node("throws", "[5, 4, 3, 2, 1]") == [[1200, 960, 720, 480, 240], 4, "5/15"]
    assert page_node("throws", "[1]") == [[3600], 0, "1/1"]


@needs_node
def test_what_a_throw_brings_is_told_in_the_words_of_the_board(pages):
    """One line that has changed; and beside cells all but their rows and letters."""
    cases = {"pig:10": "roll", "backgammon-bearoff:1": "start", "nannon": "start", "einstein": "start"}
    asked, before = [], {}
    for name, played in cases.items():
        game = load_game(name)
        state = parse_position(game, played).state
        before[name] = game.show(state)
        _, child = list(game.chance(state))[1]
        asked.append([before[name], game.show(child), list(game.cells(child, 0)) if hasattr(game, "cells") else None])
    asked += [["a\nb", "c\nd", None], ["#12", "#15", None]]  # of a game without `show`
    assert page_node("told", json.dumps(asked)) == [
        ["player 1 to move, 2 in this turn", "player 1: 0   player 2: 0   of 10\nplayer 1 to move, 2 in this turn"],
        ["player 1 plays 2 1", "player 1: 6\nplayer 2: 6\nplayer 1 plays 2 1"],
        ["x has thrown 2", "x: 1 home, 0 safe   o: 1 home, 0 safe\nx has thrown 2"],
        ["ABC has thrown 2", "ABC has thrown 2"],
        *[["", None]] * 2,
    ]


DICE_WITHOUT = """
from typing import NamedTuple


class Coin(NamedTuple):
    \"\"\"Heads wins, tails hands the coin on, three times.\"\"\"

    def initial(self): return 0

    def actions(self, state):
        if state % 2 == 0:
            yield 0

    def result(self, state, action): return state + 1

    def chance(self, state):
        if state % 2 and state < 7:
            yield 1, 8 + self.to_move(state)
            yield 3, state + 1

    def to_move(self, state): return state // 2 % 2 if state < 8 else state - 8

    def is_terminal(self, state): return state > 5

    def utility(self, state): return 1 if state > 7 else 0

    def tier(self, state): return state

    def show(self, state):
        import re
        return f"{re.sub('x', 'y', 'x')} {state}"
""".replace('\\"', '"')


@needs_node
def test_rules_without_translation_are_a_table_where_the_game_is_small(tmp_path, monkeypatch):
    (tmp_path / "coin.py").write_text(DICE_WITHOUT)
    shutil.copy(site.WEB / "package.json", tmp_path)
    with pipeline.solve(load_game(f"{tmp_path}/coin.py::Coin"), tmp_path / "coin.lmdb") as book:
        export(book, f"{tmp_path}/site/")
        rules, value = Rules(book.game), book[0]
        (tmp_path / "asked").write_text(json.dumps([[one["state"], one["mover"], 0] for one in all_of(rules, 99)]))
        answers = page_node("answers", tmp_path / "site", tmp_path / "asked")
        assert [answer["record"] for answer in answers] == all_of(rules, 99)
        assert answers[0]["words"] == f"winning chance {in_words(value, 'utility')}"
        assert len({answer["record"]["state"] for answer in answers}) == 9
        monkeypatch.setattr(script, "TABLED", 3)
        (note,) = export(book, f"{tmp_path}/other/")
    assert re.match(r"Coin.show, line \d+ of coin.py: 'import re' has no translation", note)
    assert page_node("differences", tmp_path / "other" / "game.js") == {}
