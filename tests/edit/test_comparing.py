"""Two books side by side, and states of a book chosen at random, against what plain dictionaries say."""

import itertools
import json
import random
from collections import Counter

import pytest

from solver import Book, Trim, diff, merge, pack, sample, solve, trim, verify
from solver.base.errors import BookError, DamagedBook, ForeignBook, MethodError
from solver.base.value import Value
from tests.books import plainly_and_compiled, write_values
from tests.commands import ok, run
from tests.pages import write_grown
from tests.refusals import raises
from tests.ways import plainly, slow

GAME = "connect-four:3,3,3"
PART = {"method": "alphabeta", "scope": "exact", "states": None, "terminal": None}  # of an incomplete book
VALUES = [Value(1, distance) for distance in (1, 3, 5)] + [Value(0)] + [Value(-1, distance) for distance in (2, 4)]


@pytest.fixture(scope="module")
def c4(tmp_path_factory):
    path = tmp_path_factory.mktemp("books") / "c4.lmdb"
    solve(GAME, path).close()
    return path


def some_values(seed, number=3000):
    chance = random.Random(seed)
    return {state: chance.choice(VALUES) for state in chance.sample(range(20_000), number)}


@plainly_and_compiled
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("codec", ["instant", "compact"])
def test_a_diff_finds_each_state_that_differs(tmp_path, codec):
    first = some_values(1)
    chance = random.Random(2)
    gone, changed = chance.sample(sorted(first), 40), chance.sample(sorted(first), 30)
    second = {state: value for state, value in first.items() if state not in gone}
    second |= {state: VALUES[VALUES.index(first[state]) - 1] for state in changed if state in second}
    second |= {state: Value(0) for state in (7_000_000, 7_000_001)}
    write_values(tmp_path / "a", first)
    write_values(tmp_path / "b", second, facts={"codec": codec})
    found = diff(tmp_path / "a", tmp_path / "b", 10**6)
    expected = sorted(state for state in {*first, *second} if first.get(state) != second.get(state))
    assert [*map(tuple, found.examples)] == [(state, first.get(state), second.get(state)) for state in expected]
    both = first.keys() & second
    assert (found.only_first, found.only_second) == (len(first) - len(both), len(second) - len(both))
    assert found.other_values == sum(first[state] != second[state] for state in both) > 0
    assert not found.equal and found.header["stored"] == (len(first), len(second))
    assert diff(tmp_path / "a", tmp_path / "b", 3).examples == found.examples[:3]


def test_the_command_ends_with_1_where_books_differ(tmp_path, c4):
    pack(c4, tmp_path / "packed")
    assert ok("diff", c4, tmp_path / "packed") == "the books hold the same\n"
    trim(c4, tmp_path / "first", Trim(side="first", plies=1))
    code, out, _ = run("diff", c4, tmp_path / "first", "--most", 0)
    assert code == 1 and "trimmed: none / what the first player needs, nothing that 1 ply settles; of the comp" in out
    facts = json.loads(run("diff", c4, tmp_path / "first", "--json")[1])["header"]
    assert facts["trim"][0] is None and facts["trim"][1]["side"] == "first"
    with solve(GAME, tmp_path / "unfolded", symmetry=False) as other, Book(c4) as book:
        lacking = sorted({*other} - {*book})
        code, out, _ = run("diff", c4, other.path, "--most", 1)
    assert code == 1 and "symmetry: True / False" in out and "missing / " in out and "more: --most" in out
    facts = json.loads(run("diff", c4, tmp_path / "unfolded", "--json")[1])
    assert (facts["equal"], facts["only_first"], facts["only_second"]) == (False, 0, len(lacking))
    assert [one["state"] for one in facts["states"]] == lacking[:20]
    assert run("diff", c4, tmp_path / "none")[0] == 2


@plainly_and_compiled
@pytest.mark.usefixtures("way")
def test_merged_parts_are_the_whole(tmp_path):
    """Two books of exact values that overlap; a part and the complete book."""
    whole = some_values(3)
    states = sorted(whole)
    write_values(tmp_path / "low", {state: whole[state] for state in states[:2000]}, facts=PART)
    write_values(tmp_path / "high", {state: whole[state] for state in states[1500:]}, facts=PART)
    write_values(tmp_path / "whole", whole)
    header = merge(tmp_path / "low", tmp_path / "high", tmp_path / "merged")
    with Book(tmp_path / "merged") as book, Book(tmp_path / "whole") as expected:
        assert dict(book.items()) == whole and book.header == header
        assert (header.scope, header.method, book.states) == ("exact", "alphabeta", None)
        assert (book.counts, book.longest) == (expected.counts, expected.longest)
        assert header.numbers == [Counter(whole.values())[value] for value in header.palette]
    assert diff(tmp_path / "merged", tmp_path / "whole").header.keys() == {"method", "scope", "states", "terminal"}
    for one, other in (("whole", "low"), ("high", "whole"), ("whole", "whole")):
        assert merge(tmp_path / one, tmp_path / other, tmp_path / "again").scope == "complete"
        assert (tmp_path / "again").read_bytes() == (tmp_path / "whole").read_bytes()
    assert merge(tmp_path / "low", tmp_path / "high", tmp_path / "c", "compact").codec == "compact"
    assert diff(tmp_path / "c", tmp_path / "merged").equal


@pytest.mark.interpreted
def test_merged_books_of_a_game_are_verified(tmp_path, c4):
    options = {"opening": {"max_ply": 3}, "entries": {"method": "alphabeta"}}
    opening, entries = (solve(GAME, tmp_path / name, **given) for name, given in options.items())
    with Book(c4) as book, opening, entries:
        assert merge(opening, c4, tmp_path / "all").digest == book.digest
        output = ok("merge", opening.path, entries.path, "-o", tmp_path / "both", "--json", "-q")
        assert verify(tmp_path / "both").states == json.loads(output)["stored"] == len({*opening, *entries})
        assert merge(opening, opening, tmp_path / "same").scope == "ply 3"
        assert merge(c4, opening, tmp_path / "ranked", "ranked").codec == "ranked"
        assert merge(tmp_path / "ranked", tmp_path / "ranked", tmp_path / "again").codec == "ranked"
        assert dict(Book(tmp_path / "again").items()) == dict(book.items())


@pytest.mark.parametrize(
    ("change", "facts", "error", "message"),
    [
        ({40: Value(1, 3)}, {}, DamagedBook, "state 40 is draw in .*, win in 3 in .*: verify"),
        ({41: Value(0)}, {}, DamagedBook, "complete, but lacks state 41"),
        ({}, {"rules": "1" * 64}, ForeignBook, "made by rules 00000000 .*, .* by 11111111"),
        ({}, {"symmetry": True}, BookError, "is folded by symmetry"),
        ({}, {"root": Value(1, 5)}, DamagedBook, "the start is draw in .*, win in 5 in"),
    ],
)
def test_books_that_do_not_go_together_are_not_merged(tmp_path, change, facts, error, message):
    values = {state: Value(0) for state in range(0, 100, 2)} | {1001: Value(1, 5)}
    write_values(tmp_path / "a", values)
    write_values(tmp_path / "b", values | change, facts={**PART, **facts})
    write_values(tmp_path / "target", {1: Value(0)})
    before = (tmp_path / "target").read_bytes()
    raises(error, message, merge, tmp_path / "a", tmp_path / "b", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == before and len([*tmp_path.iterdir()]) == 3


@plainly_and_compiled
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"outcome": "win"},
        {"outcome": "loss", "distance": (2, 4)},
        {"distance": (3, 3)},
        {"tier": (4, 6), "outcome": "draw"},
    ],
    ids=["any", "wins", "losses-in-2-to-4", "in-3", "draws-at-4-to-6"],
)
def test_a_sample_is_of_those_that_match(c4, choice):
    with Book(c4) as book:
        low, high = choice.get("distance", (-1, 99))
        first, last = choice.get("tier", (0, 99))
        matching = {
            state: value
            for state, value in book.items()
            if choice.get("outcome", value.outcome) == value.outcome
            and low <= (-1 if value.distance is None else value.distance) <= high
            and first <= book.game.tier(state) <= last
        }
        chosen = sample(book, 10, seed=1, **choice)
        assert len(set(chosen)) == len(chosen) == 10 and set(chosen) <= matching.items()
        assert chosen != sorted(chosen)
        assert sample(book, 10, seed=1, **choice) == chosen != sample(book, 10, seed=2, **choice)
        assert dict(sample(book, 10**6, **choice)) == matching


def test_what_a_sample_takes(c4, tmp_path):
    np = pytest.importorskip("numpy")
    assert sample(c4, np.int16(5), seed=np.int64(3)) == sample(c4, 5, seed=3)
    raises(TypeError, "interpreted as an integer", sample, c4, 2.5)
    raises(MethodError, "have no tiers", sample, solve("mu-torere", tmp_path / "book"), 5, tier=(1, 2))


def test_every_state_is_sampled_as_often_as_any_other(tmp_path):
    """400 samples of 10 of 40 states: each some 100 times, give or take 8.7."""
    write_values(tmp_path / "book", {3 * state: Value(0) for state in range(40)})
    with Book(tmp_path / "book") as book:
        times = Counter(state for seed in range(400) for state, _ in sample(book, 10, seed=seed))
        first = Counter(sample(book, 40, seed=seed)[0][0] for seed in range(400))
    assert len(first) == 40 and sum((number - 10) ** 2 / 10 for number in first.values()) < 80  # in any order, too
    assert len(times) == 40 and all(60 < number < 140 for number in times.values())
    assert sum((number - 100) ** 2 / 75 for number in times.values()) < 80  # chi square, 39 degrees of freedom


def test_the_command_prints_what_query_takes(c4, tmp_path):
    command = ("sample", c4, "-n", 20, "--value", "win", "--distance", "..5", "--seed", 4)
    answers = [json.loads(line) for line in ok("query", c4, "-", "--no-moves", stdin=ok(*command)).splitlines()]
    assert len(answers) == 20 and all(one["value"] == "win" and one["distance"] <= 5 for one in answers)
    same = [json.loads(line) for line in ok(*command, "--json").splitlines()]
    assert same == [{name: one[name] for name in same[0]} for one in answers]
    code, _, err = run("sample", c4, "--ply", 1)
    assert code == 0 and "only 2 match" in err


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """A book of every kind of values, and of every scope."""
    folder = tmp_path_factory.mktemp("kinds")
    for name in ("hexapawn", "mu-torere", "dots-and-boxes:2,1", "pig:3", "nim:1,2"):
        solve(name, folder / name.partition(":")[0], method="nimbers" if name == "nim:1,2" else "auto").close()
    with pytest.MonkeyPatch.context() as patch:
        plainly(patch)
        solve("hexapawn", folder / "opening", max_ply=2).close()
    trim("hexapawn", folder / "trimmed", Trim(side="first"))
    trim("hexapawn", folder / "wdl", Trim(max_ply=4), wdl=True)
    write_grown(folder / "grown")
    return sorted(folder.iterdir())


@pytest.mark.parametrize("all_pairs", [False, *slow(True)])
def test_books_of_all_kinds_are_set_side_by_side(kinds, tmp_path, all_pairs):
    """Each pair differs or is the same, in words and in JSON, and is merged or refused in a line."""
    assert len(kinds) == 9
    pairs = itertools.combinations_with_replacement(kinds, 2) if all_pairs else itertools.pairwise(kinds)
    for first, second in [*pairs, (kinds[0], kinds[0])]:
        code, text, _ = run("diff", first, second)
        assert (code, text == "the books hold the same\n") == (first != second, first == second)
        code, text, _ = run("diff", second, first, "--json")
        assert (code, json.loads(text)["equal"]) == (first != second, first == second)
        code, _, said = run("merge", first, second, "-o", tmp_path / "merged", "-q")
        assert code in (0, 2, 5) and said.count("\n") == (code > 0)
    grown, other = (next(path for path in kinds if path.name == name) for name in ("grown", "mu-torere"))
    assert "estimate: estimates of searches of 4 plies by evaluate (00000000) / none" in run("diff", grown, other)[1]
