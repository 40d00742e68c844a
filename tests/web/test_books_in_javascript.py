"""Ranked books, and books of games of chance, in JavaScript: the reader and the page answer what Python answers.

Rules that were translated run as in Python, dice too.
"""

import functools
import json
import random
import struct

import pytest

from solver import solve
from solver.base import extras
from solver.base.value import Value
from solver.book import Book, streaming
from solver.book.codecs.ranked import Ranks
from solver.book.solution import Trim
from solver.edit.trimming import trim
from solver.export import script
from solver.export.script import sampled
from solver.rules.game import Rules, load_game
from tests.book.test_ranked import RANKS, write_rules
from tests.books import KEPT, called_acyclic, write_expectations
from tests.exports import SIMPLE, STEPS_VECTOR, exported, needs_node, node, resealed, with_facts
from tests.naive import enumerate_states
from tests.pages import export_page, named, ported, positions_of
from tests.pages import node as page_node
from tests.ways import slow

pytestmark = needs_node

RANKED = {  # those whose rules tell values, and those whose ranks are the states
    "connect-four:3,4,3": {},
    "connect-four:3,3,3": {"symmetry": False},
    "tic-tac-toe": {},
    "tic-tac-toe opening": {"max_ply": 4},
    "dots-and-boxes:2,1": {},
}
BARE = ("connect-four:3,4,3 bare", "tic-tac-toe bare", "breakthrough:3,3,1 bare")  # without distances
SLOW = (*BARE, "six-mens-morris:3", "connect-four:4,3", *(name for name in RANKED if name != "dots-and-boxes:2,1"))


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """The ranked book of a game and its page, made once, in a folder that says to Node what modules are."""

    @functools.cache
    def of(name):
        folder = tmp_path_factory.mktemp("ranked")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(extras, "has_kernels", lambda: "5,4" in name)  # a small game needs none
            text, _, kind = name.partition(" ")
            solve(text, folder / "book.lmdb", codec="ranked", **RANKED.get(name, {})).close()
            if kind == "bare":
                trim(folder / "book.lmdb", folder / "bare.lmdb", Trim(), wdl=True)
                (folder / "bare.lmdb").replace(folder / "book.lmdb")
            with Book(folder / "book.lmdb") as book:
                export_page(book, folder)
        return folder

    return of


@pytest.mark.parametrize("name", ["dots-and-boxes:2,1", "breakthrough:2,4,2 bare", *slow(*SLOW)])
def test_every_state_answers_as_in_python(ranked, tmp_path, name):
    folder = ranked(name)
    page = folder / "site"
    table = exported(folder / "book.lmdb", tmp_path / "b.csv", SIMPLE)
    found = node("answers", page / "book.bin", table, page / "game.js")
    with Book(folder / "book.lmdb") as book:
        assert found["right"] == [len(book)] * 2
        assert (found["entries"], found["length"], found["facts"]["codec"]) == (len(book), len(book), "ranked")
        others = [str(state) for state in enumerate_states(book.game) if state not in book][:2000]
    assert found["refused"] == ["TypeError"] * 6
    assert node("absent", page / "book.bin", json.dumps(others), page / "game.js") == len(others)
    assert "{ rules }" in node("ruleless", page / "book.bin")


def test_kept_files_are_read(ranked):
    rules = ranked("connect-four:3,3,3 bare") / "site" / "game.js"  # which tell all that either asks
    for kept in (path for path in KEPT if path.stem in ("outcomes-ranked", "bare-ranked")):
        found = node("answers", kept.with_suffix(".bin"), kept.with_suffix(".csv"), rules)
        assert found["right"] == [found["length"]] * 2 and found["length"] > 200


@pytest.mark.slow
def test_random_states_of_a_larger_game_answer_as_in_python(ranked, tmp_path):
    pytest.importorskip("numba")
    folder = ranked("connect-four:5,4")
    with Book(folder / "book.lmdb") as book:
        rules = Rules(book.game)
        positions = {rules.canonical(one.state) for one in positions_of(rules, 30_000)}
        rows = [(state, book[state]) for state in sorted(positions) if not rules.is_terminal(state)]
    lines = [f"{state},{value.score},{'' if value.distance is None else value.distance}" for state, value in rows]
    (tmp_path / "b.csv").write_text("\n".join(["state,score,distance", *lines]))
    page = folder / "site"
    assert len(rows) > 5000
    assert node("lookups", page / "book.bin", tmp_path / "b.csv", page / "game.js") == len(rows)


def test_wrong_ranks_and_dice_are_found_before_the_page_answers(ranked, modules):
    rules, dice = Rules(load_game("connect-four:3,3,3")), Rules(load_game("pig:10"))
    with Book(ranked("connect-four:3,3,3") / "book.lmdb") as book:
        records = sampled(rules, 30, keys=book.codec_keys)
    assert all(("told" in record) == (record["end"] is None) for record in records)
    names = [*named(rules), "rank", "unrank", "outlook", "replies"]
    (modules / "ranks.js").write_text(script.ported({}, *script.translation(rules, names), records))
    ported(modules, "dice", dice, sampled(dice, 64))
    wrong = []
    for name, right, other in (
        ("ranks", "py.Sub, py.Constant(1n)", "py.Sub, py.Constant(2n)"),
        ("dice", "[py.Constant(1n), py.Call($added", "[py.Constant(2n), py.Call($added"),  # the weight
        ("dice", "py.range, [py.Constant(2n)", "py.range, [py.Constant(3n)"),  # the first face
    ):
        text = (modules / f"{name}.js").read_text("utf-8")
        wrong.append(modules / f"wrong{len(wrong)}.js")
        wrong[-1].write_text(text.replace(right, other))
    assert [*page_node("differences", modules / "ranks.js", *wrong)] == [*map(str, wrong)]


def test_a_page_numbers_positions_by_orbits_as_python_does(ranked):
    rules = Rules(load_game("six-mens-morris:3"))
    records = sampled(rules, 20, keys=Ranks(rules, [Value(0, 0)], 0))
    path = ranked("tic-tac-toe") / "site" / "orbits.js"
    path.write_text(script.ported({}, *script.translation(rules, [*named(rules), "rank", "unrank"]), records))
    assert page_node("differences", path) == {}


def test_every_damaged_byte_is_refused(ranked, pages):
    for folder, rules in ((ranked("tic-tac-toe"), "game.js"), (pages("nannon:3,2,3"), None)):
        book = folder / "site" / "book.bin"
        said = node("damage", book, *(["", book.with_name(rules)] if rules else []))
        assert said == {"DamagedBook": 2 * book.stat().st_size + 1}


RING = """
export const rules = {
  is_terminal: (state) => state > 5n,
  rank: (state) => (state <= 5n ? state : -1n),
  unrank: (rank) => (rank <= 5n ? rank : -1n),
  utility: () => -1n,
  actions: (state) => (state < 5n ? [0n, 1n] : [0n]),
  result: (state, action) => (action ? (state + 1n) % 5n : state === 5n ? 6n : 5n),
  MORE
};
"""
HALVED = "tier: (state) => (state > 5n ? 2n : 0n)"  # all in even tiers: each is told by others, for ever
FORCED = "replies: (state) => (state < 5n ? 2n : 1n)"
TURNS = "tier: (state) => 0n, to_move: (state) => state % 2n"
ENDLESS, STORED = ["DamagedBook", 1], [0, 1]
CONTRADICTED = "DamagedBook: the facts contradict each other, or the prefix"


def each(folder, *books):
    """What JavaScript says of books, each given as bytes and what the rules of the ring have more."""
    for number, (data, more) in enumerate(books):
        (folder / f"{number}.bin").write_bytes(data)
        (folder / f"{number}.mjs").write_text(RING.replace("MORE", more))
    pairs = [[f"{folder}/{number}.bin", f"{folder}/{number}.mjs"] for number in range(len(books))]
    (folder / "pairs").write_text(json.dumps(pairs))
    return node("each", folder / "pairs")


def test_a_book_that_denies_the_cycles_of_its_game_does_not_hang(tmp_path):
    """Values that rest on each other are refused, and no other error."""
    data = []
    for sparse, name in enumerate(("Ring", "Ring", "Tiered")):
        _, path = called_acyclic(tmp_path, name, sparse)
        data.append(exported(path, tmp_path / f"{sparse}.export.bin").read_bytes())
    cases = [(2, HALVED, ENDLESS), (1, FORCED, ENDLESS), (0, FORCED, ENDLESS), (1, "", STORED), (0, HALVED, STORED)]
    cases += [
        (1, TURNS, "DamagedBook: the facts leave out what these rules do not tell: solve the book again"),
        (2, "", "TypeError: the book leaves out what moves tell: give rules with actions, result, utility and tier"),
    ]
    said = each(tmp_path, *((data[sparse], more) for sparse, more, _ in cases))
    assert said == [expected for *_, expected in cases]


def test_facts_that_contradict_each_other_are_refused(tmp_path):
    _, path = called_acyclic(tmp_path, "Tiered", 1)
    data = exported(path, tmp_path / "b.bin").read_bytes()
    wrong = [{"sparse": sparse} for sparse in (0, 3, "2", True)]
    wrong += [{"wdl": False}, {"method": "retrograde"}, {"scope": "ply 3"}, {"codec": "compact"}]
    changed = [with_facts(data, changes) for changes in ({}, *wrong, {"estimate": {"depth": 1}})]
    opened, *refused = each(tmp_path, *((one, HALVED) for one in changed))
    assert isinstance(opened, list) and refused == [CONTRADICTED] * 9


def test_forged_files_are_borne(ranked, tmp_path):
    """Segments and heads altered, with checksums that hold: answers, no answer or DamagedBook, never another error."""
    folder, chance = ranked("connect-four:3,3,3"), random.Random(5)
    data = (folder / "site" / "book.bin").read_bytes()
    forged = [struct.pack("<I", len(data)) + resealed(data, chance) for _ in range(12)]
    (tmp_path / "forged").write_bytes(b"".join(forged))
    with Book(folder / "book.lmdb") as book:
        states = json.dumps({"states": [str(state) for state in chance.sample([*book], 30)]})
    found = node("forged", tmp_path / "forged", states, folder / "site" / "game.js")
    assert set(found) <= {"read", "DamagedBook"} and sum(found.values()) == 12 and found["DamagedBook"] > 3


def test_text_without_translation_is_numbers(tmp_path):
    """Small as the game is: a table has no ranks."""
    game = load_game(write_rules(tmp_path / "heaps.py", RANKS + "\n    def show(self, state):\n        import re\n"))
    solve(game, tmp_path / "book.lmdb").close()
    streaming.pack(tmp_path / "book.lmdb", tmp_path / "ranked.lmdb", "ranked", game)
    with Book(tmp_path / "ranked.lmdb", game) as book:
        (note,) = export_page(book, tmp_path)
    assert "'import re' has no translation to JavaScript: the page shows states by their numbers" in note
    assert page_node("differences", tmp_path / "site" / "game.js") == {}


def test_javascript_reads_groups_of_any_kind(tmp_path):
    """Bitmaps and keys of 2 to 55 bits, values of 0 to 31."""
    chance, values, state = random.Random(3), {}, 0
    for spread in (1, 3, 40, 70_000, 2**31, 2**38, 2**46, 2**53):
        for bits in (0, 1, 7, 30):
            for _ in range(256):
                values[state] = Value(chance.randrange(-(1 << bits), (1 << bits) + 1) / (1 << 30))
                state += chance.randrange(spread) + 1
    for number, some in enumerate((STEPS_VECTOR, values)):
        write_expectations(tmp_path / "b.lmdb", some)
        target = exported(tmp_path / "b.lmdb", tmp_path / f"{number}.bin")
        found = node("answers", target, exported(tmp_path / "b.lmdb", tmp_path / "b.csv", SIMPLE))
        assert (found["right"], found["entries"], found["refused"]) == ([len(some)] * 2, len(some), ["TypeError"] * 6)
        assert found["facts"]["expectation"] == {"of": "utility", "step": 2.0**-30, "error": 2.0**-31}
        assert found["facts"]["root"] == Value(0.0)._asdict()
