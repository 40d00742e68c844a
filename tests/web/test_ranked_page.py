"""Ranked books in JavaScript: the reader and the page answer what Python answers, with rules that were translated."""

import json
import random
import struct

import pytest

from solver import solve
from solver.base import extras
from solver.book import Book, recoding
from solver.book.trim import Trim
from solver.edit.trimming import trim
from solver.export import script
from solver.export.records import sampled
from solver.rules.game import Rules, load_game
from tests.book.test_ranked import RANKS, reachable, write_rules
from tests.books import called_acyclic
from tests.exports import SIMPLE, exported, needs_node, node, resealed, with_facts
from tests.pages import export_page, named, positions_of
from tests.pages import node as page_node
from tests.ways import slow

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
    made = {}

    def of(name, **options):
        if name not in made:
            folder = tmp_path_factory.mktemp("ranked")
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(extras, "has_kernels", lambda: "5,4" in name)  # a small game needs none
                text, _, kind = name.partition(" ")
                solve(text, folder / "book.lmdb", codec="ranked", **options).close()
                if kind == "bare":
                    trim(folder / "book.lmdb", folder / "bare.lmdb", Trim(), wdl=True)
                    (folder / "bare.lmdb").replace(folder / "book.lmdb")
                with Book(folder / "book.lmdb") as book:
                    export_page(book, folder)
            made[name] = folder
        return made[name]

    return of


@needs_node
@pytest.mark.parametrize("name", ["dots-and-boxes:2,1", "breakthrough:2,4,2 bare", *slow(*SLOW)])
def test_every_state_answers_as_in_python(ranked, tmp_path, name):
    folder = ranked(name, **RANKED.get(name, {}))
    page = folder / "site"
    table = exported(folder / "book.lmdb", tmp_path / "b.csv", SIMPLE)
    found = node("answers", page / "book.bin", table, page / "game.js")
    with Book(folder / "book.lmdb") as book:
        assert found["right"] == [len(book)] * 2
        assert (found["entries"], found["length"], found["facts"]["codec"]) == (len(book), len(book), "ranked")
        others = [str(state) for state in reachable(Rules(book.game)) if state not in book][:2000]
    assert found["refused"] == ["TypeError"] * 6
    assert node("absent", page / "book.bin", json.dumps(others), page / "game.js") == len(others)


@needs_node
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


@needs_node
def test_a_wrong_rank_is_found_before_the_page_answers(ranked):
    rules = Rules(load_game("connect-four:3,3,3"))
    with Book(ranked("connect-four:3,3,3", symmetry=False) / "book.lmdb") as book:
        keys = book.codec_keys
    names = [*named(rules), "rank", "unrank", "outlook", "replies"]
    records = sampled(rules, 60, keys=keys)
    assert all(("told" in record) == (record["end"] is None) for record in records)
    text = script.ported({}, *script.translation(rules, names), records)
    for number, (right, wrong) in enumerate((("", ""), ("py.sub(left$, 1n)", "py.sub(left$, 2n)"))):
        path = ranked("tic-tac-toe") / "site" / f"ranks{number}.js"
        path.write_text(text.replace(right, wrong))
        assert len(page_node("differences", path)) == number


@needs_node
def test_every_damaged_byte_is_refused(ranked):
    page = ranked("tic-tac-toe") / "site"
    size = (page / "book.bin").stat().st_size
    assert node("damage", page / "book.bin", "", page / "game.js") == {"DamagedBook": 2 * size + 1}


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
CONTRADICTED = "DamagedBook: the facts contradict each other, or the version"


def each(folder, *books):
    """What JavaScript says of books, each given as bytes and what the rules of the ring have more."""
    pairs = []
    for number, (data, more) in enumerate(books):
        pairs.append([f"{folder}/{number}.bin", f"{folder}/{number}.mjs"])
        (folder / f"{number}.bin").write_bytes(data)
        (folder / f"{number}.mjs").write_text(RING.replace("MORE", more))
    (folder / "pairs").write_text(json.dumps(pairs))
    return node("each", folder / "pairs")


@needs_node
def test_a_book_that_denies_the_cycles_of_its_game_does_not_hang(tmp_path):
    """Values that rest on each other are refused, and no other error."""
    data = []
    for sparse, name in enumerate(("Ring", "Ring", "Tiered")):
        _, path = called_acyclic(tmp_path, name, sparse)
        data.append(exported(path, tmp_path / f"{sparse}.export.bin").read_bytes())
    cases = (
        (2, HALVED, ENDLESS),
        (1, FORCED, ENDLESS),
        (0, FORCED, ENDLESS),
        (1, "", STORED),
        (0, HALVED, STORED),
        (1, TURNS, "DamagedBook: the facts leave out what these rules do not tell: solve the book again"),
        (2, "", "TypeError: the book leaves out what moves tell: give rules with actions, result, utility and tier"),
    )
    said = each(tmp_path, *((data[sparse], more) for sparse, more, _ in cases))
    assert said == [expected for *_, expected in cases]


@needs_node
def test_facts_that_contradict_each_other_are_refused(tmp_path):
    _, path = called_acyclic(tmp_path, "Tiered", 1)
    data = exported(path, tmp_path / "b.bin").read_bytes()
    wrong = [{"sparse": sparse} for sparse in (0, 3, "2", True)]
    wrong += [{"wdl": False}, {"method": "retrograde"}, {"scope": "ply 3"}, {"codec": "compact"}]
    changed = [with_facts(data, changes) for changes in ({}, *wrong, {"estimate": {"depth": 1}})]
    opened, *refused = each(tmp_path, *((one, HALVED) for one in changed))
    assert isinstance(opened, list) and refused == [CONTRADICTED] * 9


@needs_node
def test_forged_files_are_borne(ranked, tmp_path):
    """Segments and heads altered, with checksums that hold: answers, no answer or DamagedBook, never another error."""
    folder, chance = ranked("connect-four:3,3,3", symmetry=False), random.Random(5)
    data = (folder / "site" / "book.bin").read_bytes()
    forged = [struct.pack("<I", len(data)) + resealed(data, chance) for _ in range(30)]
    (tmp_path / "forged").write_bytes(b"".join(forged))
    with Book(folder / "book.lmdb") as book:
        states = json.dumps({"states": [str(state) for state in chance.sample([*book], 30)]})
    found = node("forged", tmp_path / "forged", states, folder / "site" / "game.js")
    assert set(found) <= {"read", "DamagedBook"} and sum(found.values()) == 30 and found["DamagedBook"] > 10


@needs_node
def test_without_rules_a_ranked_book_says_what_it_wants(ranked):
    said = node("ruleless", ranked("tic-tac-toe") / "site" / "book.bin")
    assert said.startswith("TypeError: the book is ranked") and "{ rules }" in said


@needs_node
def test_text_without_translation_is_numbers(tmp_path):
    """Small as the game is: a table has no ranks."""
    game = load_game(write_rules(tmp_path / "heaps.py", RANKS + "\n    def show(self, state):\n        import re\n"))
    solve(game, tmp_path / "book.lmdb").close()
    recoding.pack(tmp_path / "book.lmdb", tmp_path / "ranked.lmdb", "ranked", game)
    with Book(tmp_path / "ranked.lmdb", game) as book:
        (note,) = export_page(book, tmp_path)
    assert "'import re' has no translation to JavaScript: the page shows states by their numbers" in note
    assert page_node("differences", tmp_path / "site" / "game.js") == {}
