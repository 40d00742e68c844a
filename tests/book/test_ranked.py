"""Ranked books: the ranks of every game that has them, and books that answer exactly what the others answer."""

import contextlib
import itertools
import json
import random
import struct
import zlib
from collections import Counter

import pytest

from solver import solve, verify
from solver.base.errors import BookError, DamagedBook, ForeignBook, GameError
from solver.base.parallel import Workers
from solver.base.value import WIN, Value, value_of
from solver.book import Book, streaming
from solver.book.codecs import ranked
from solver.book.solution import Trim
from solver.check.conformance import check_game
from solver.edit.trimming import trim
from solver.games.common import choices
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Rules, load_game
from tests import books
from tests.commands import ok, run
from tests.games import EDGE_GAMES, SMALL_GAMES
from tests.naive import enumerate_states
from tests.refusals import fails, raises
from tests.ways import plainly, slow, slowly

RANKED = [text for text in SMALL_GAMES if Rules(load_game(text)).rank and not Rules(load_game(text)).numbering]
EDGES = [text for text in EDGE_GAMES if Rules(load_game(text)).rank]
DENSITY = 4  # ranks for each state that has one, at most


def write_rules(path, ranks):
    path.write_text(HEAPS + ranks)
    return f"{path}::Heaps"


@pytest.fixture
def heaps(tmp_path):
    """Loads heaps with this behind their methods."""
    return lambda more: load_game(write_rules(tmp_path / "heaps.py", more))


HEAPS = '''
from typing import NamedTuple

class Heaps(NamedTuple):
    """Three heaps of up to three as one number; who takes the last loses nothing but the game."""

    most: int = 3
    def initial(self): return self.most * 21
    def actions(self, state):
        for heap in range(3):
            for some in range(1, (state >> 2 * heap & 3) + 1):
                yield 4 * heap + some
    def result(self, state, action): return state - ((action & 3) << 2 * (action >> 2))
    def is_terminal(self, state): return state == 0
    def utility(self, state): return -1
    def tier(self, state): return 9 - (state & 3) - (state >> 2 & 3) - (state >> 4 & 3)
'''
UNEVEN = "63 - rank // 2 if rank < 127 and rank % 2 == 0 else -2 if rank < 127"
RANKS = """
    def rank(self, state):
        return 63 - state if state < 64 else -1

    def unrank(self, rank):
        return 63 - rank if rank < 64 else -1
"""


@pytest.mark.parametrize("text", slowly(RANKED, "connect-four:4,3"))
def test_ranks_are_a_dense_range_and_tell_their_states(text):
    rules = Rules(load_game(text))
    states = [one for one in enumerate_states(rules.game) if not rules.is_terminal(one) or rules.rank(one) != -1]
    ranks = {rules.rank(state): state for state in states}
    assert len(ranks) == len(states)
    assert all(rules.unrank(rank) == state for rank, state in ranks.items())
    assert min(ranks) >= 0 and max(ranks) < DENSITY * len(states)
    others = [rules.unrank(rank) for rank in range(2 * max(ranks) + 2)]
    assert all(state < 0 or state == ranks.get(rank, state) for rank, state in enumerate(others))
    assert all(rules.rank(state) == rank for rank, state in enumerate(others) if state >= 0)
    assert all(max(others[rank : rank - state]) < 0 for rank, state in enumerate(others) if state < -1)
    chance = random.Random(1)
    for number in [*range(3000), *(chance.getrandbits(chance.choice((13, 20, 24, 62))) for _ in range(5000))]:
        rank = rules.rank(number)
        assert rank == -1 or rules.unrank(rank) == number


@pytest.mark.parametrize("text", [*EDGES, "connect-four", "tic-tac-toe:5,5,4"])
def test_ranks_of_the_largest_boards_fit_a_number(text, monkeypatch):
    monkeypatch.setattr("solver.check.soundness.COMPARED_SECONDS", 0)  # values are not what is looked at
    monkeypatch.setattr("solver.check.soundness.SECONDS", 0)
    check_game(load_game(text), playouts=2)
    rules = Rules(load_game(text))
    assert rules.unrank((1 << 63) - 1) == -1


def test_compiled_choices_are_those_of_the_rules():
    twins = pytest.importorskip("solver.compiled.choices")
    for cells in (0b1011011101, random.Random(4).getrandbits(62), (1 << 62) - 1):
        size = cells.bit_count()
        for some in {0, 1, 2, size // 2, size - 1, size}:
            ways = choices.choose(size, some)
            assert twins.choose(size, some) == ways
            for place in {0, ways // 3, ways // 2, ways - 1} if size > 10 else range(ways):
                chosen = choices.choice_at(place, some, cells)
                assert twins.choice_at(place, some, cells) == chosen
                assert twins.place_of(chosen, cells) == choices.place_of(chosen, cells) == place
    raises(ValueError, "63 items", twins.choose, 64, 2)
    counts = Counter(map(sum, itertools.product(range(4), repeat=3)))
    assert all(twins.fillings(some, 3, 3) == choices.fillings(some, 3, 3) == counts[some] for some in range(-2, 12))
    # The coefficients of x^20 and x^28 in (1 + x + x^2 + x^3 + x^4)^12
    assert twins.fillings(20, 12, 4) == choices.fillings(28, 12, 4) == 14_277_186


STACK = """
    def size(self): return self.goal + 1
    def rank(self, state): return (99 - state) * STEP if LEAST < state else -1
    def unrank(self, rank): return 99 - rank // STEP if rank % STEP == 0 and 0 < 99 - rank // STEP < 99 else -1
"""


@pytest.fixture(params=[1, 2])
def compiled_ranks(request, tmp_path):
    """A function that orders the states 1 to 60 by rank, cut into parts and tasks of seven, on one thread or two."""
    kernels = pytest.importorskip("solver.book.codecs.ranked_kernels")

    def ordered(step, least=0, merits=(WIN - 1, 2 - WIN), left=0, extra=""):
        path = tmp_path / "stack.py"
        path.write_text(books.RACE + STACK.replace("STEP", str(step)).replace("LEAST", str(least)) + extra)
        rules = Rules(load_game(f"{path}::Race:{9 + least},2"))  # no kernels of other ranks
        parts = [([*range(begin, min(begin + 7, 61))], [begin % 2] * min(7, 61 - begin)) for begin in range(1, 61, 7)]
        with Workers(request.param) as team:
            pieces = [*kernels.Compiled(ranked.Ranks(rules, [*map(value_of, merits)], left)).parts(parts, 60, 7, team)]
        assert {indices.dtype.str for _, indices in pieces} == {"<i4"}
        ranks, indices = ([int(item) for column in columns for item in column] for columns in zip(*pieces, strict=True))
        return parts, ranks, indices

    return ordered


@pytest.mark.interpreted
@pytest.mark.parametrize("step", [1 << 56, *slow(1)])
def test_states_are_sorted_by_rank_even_beyond_ranks_that_one_number_holds(compiled_ranks, step):
    parts, ranks, indices = compiled_ranks(step)
    truth = {(99 - state) * step: index for part in parts for state, index in zip(*part, strict=True)}
    assert dict(zip(ranks, indices, strict=True)) == truth
    assert ranks == sorted(truth)


@pytest.mark.interpreted
def test_the_first_wrong_state_is_named_whatever_the_threads(compiled_ranks):
    raises(GameError, "state 1, which play reaches, has no number", compiled_ranks, 1, least=20)
    told = "    def outlook(self, state): return 1 if state in (33, 18, 50) else 0\n"
    raises(GameError, "state 18 has another value", compiled_ranks, 1, merits=(2 - WIN, 4 - WIN), left=1, extra=told)


def test_the_fingerprint_of_the_rules_is_that_without_ranks(heaps, path):
    """So that books in the other codecs outlast a better order; a ranked book's covers it."""
    plain, one, other = map(heaps, ("", RANKS, RANKS.replace("63 - ", "")))
    assert fingerprint(plain) == fingerprint(one) == fingerprint(other)
    with solve(one, path, codec="ranked") as book:
        assert book.header.rules != fingerprint(one) and dict(book.items()) == dict(solve(plain).items())
    raises(ForeignBook, "solve again", Book, path, other)


@pytest.mark.parametrize("text", ["connect-four:3,3,3", pytest.param("dots-and-boxes:2,2", marks=pytest.mark.slow)])
@pytest.mark.interpreted
def test_compiled_and_plain_ranked_books_are_the_same_bytes_whatever_the_workers(tmp_path, path, monkeypatch, text):
    pytest.importorskip("numba")
    monkeypatch.setattr(ranked, "BLOCK_STATES", 512)
    monkeypatch.setattr("solver.book.codecs.arrays.CHUNK", 1024)
    with solve(text, path) as book:
        truth = dict(book.items())
    monkeypatch.setattr(streaming, "PLAIN_LIMIT", 0)
    for workers in (1, 2):
        streaming.pack(path, tmp_path / f"ranked{workers}", "ranked", workers=workers)
        streaming.pack(tmp_path / f"ranked{workers}", tmp_path / "back", "instant", workers=workers)
        assert (tmp_path / "back").read_bytes() == path.read_bytes()
    with Book(tmp_path / "ranked1") as book:
        asked = [*truth, *(state + 1 for state in truth), 2**62]
        assert books.looked_up(book, asked) == [truth.get(book.rules.canonical(state)) for state in asked]
    monkeypatch.setattr("solver.verifying.verification.PLAIN_LIMIT", 0)
    assert verify(tmp_path / "ranked1").states == len(truth)
    plainly(monkeypatch)
    streaming.pack(path, tmp_path / "plain", "ranked")
    assert verify(tmp_path / "plain").plain == len(truth)
    for name in ("ranked2", "plain"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "ranked1").read_bytes()


def test_what_play_cannot_reach_is_missing_though_its_neighbours_answer():
    """A board of as many stones of both, without a line, whose bottom row the first player cannot have left."""
    with solve("connect-four:3,3,3", codec="ranked", symmetry=False) as book:
        states, numbered = set(enumerate_states(book.rules.game)), map(book.header.keys(book.rules).state, range(1000))
        unreachable = [state for state in numbered if state >= 0 and state not in states]
        assert len(unreachable) > 10 and {book.get(state) for state in unreachable} == {None}
        assert len([state for state in states if state in book]) == len(book)


WRONG = {
    "outlook": "return -1 if state == 63 else 0",  # three heaps of three are won, in nine plies
    "replies": "return 1 << 1 if state == 63 else 0",  # one of the moves that are worse
}


@books.plainly_and_slowly_compiled
@pytest.mark.parametrize("hint", WRONG)
def test_values_that_rules_tell_are_compared_before_they_are_left_out(tmp_path, path, heaps, way, hint):
    solve(heaps(RANKS), path).close()
    game = heaps(f"{RANKS}\n    def {hint}(self, state):\n        {WRONG[hint]}\n")
    refused = "state 63 has another value than outlook or replies say"
    raises(GameError, refused, streaming.pack, path, tmp_path / "ranked", "ranked", game)
    assert not (tmp_path / "ranked").exists()


SPARSE = {"connect-four:3,3,3": 2, "tic-tac-toe": 2}


@books.plainly_and_slowly_compiled
@pytest.mark.parametrize("text", ["connect-four:3,3,3", "breakthrough:3,3,1", *slow("tic-tac-toe", "heaps")])
def test_a_book_without_distances_leaves_out_what_moves_tell(tmp_path, heaps, way, text):
    """What is won at once, and the values of every second tier where all moves lead to the next."""
    game = heaps(RANKS) if text == "heaps" else load_game(text)
    paths = [tmp_path / name for name in ("book", "plain", "ranked", "back")]
    solve(game, paths[0]).close()
    trim(paths[0], paths[1], Trim(), game, wdl=True)
    assert trim(paths[0], paths[2], Trim(), game, wdl=True, codec="ranked").sparse == SPARSE.get(text, 1)
    streaming.pack(paths[2], paths[3], "instant", game)
    assert paths[3].read_bytes() == paths[1].read_bytes()
    chance = random.Random(1)
    with Book(paths[1], game) as book, Book(paths[2], game) as found:
        assert dict(found.items()) == dict(book.items())
        assert [found.codec_keys.index(state, found._index) for state in book] == [*map(book._index, book)]
        others = [state ^ 1 << bit for state in chance.sample([*book], min(len(book), 60)) for bit in range(30)]
        assert [found.get(state) for state in others] == [book.get(state) for state in others]
        if way == "compiled":
            asked = [*book, *others, -1, 2**62]
            assert books.looked_up(book, asked) == books.looked_up(found, asked)
    assert verify(paths[2], game=game).states == len(book)


@pytest.mark.parametrize("name", ["Ring", "Tiered", "Forced"])
@pytest.mark.parametrize("sparse", [*slow(0), 1, 2])
def test_a_header_that_denies_the_cycles_of_a_game_is_refused_in_one_line(tmp_path, name, sparse):
    """The rules tell what the header says is left out by values that rest on each other, for ever."""
    game, path = books.called_acyclic(tmp_path, name, sparse)
    with Book(path, game) as book:
        if sparse < 2 and name != "Forced":  # nothing rests on anything: the values are right, their method is not
            assert [book[state].score for state in range(6)] == [0, 0, 0, 0, 0, 1]
            return
        raises(DamagedBook, "(?i)^[^\n]*solve again[^\n]*$", book.get, 0)
    for asked in (("query", path, "#0"), ("export", path, "-o", f"{tmp_path}/site/"), ("verify", path)):
        code, out, err = run(*asked, "--game", f"{tmp_path}/rings.py::{name}")
        assert (code, err.count("\n")) == (5, 1) and err.startswith("Error: "), err
    assert not (tmp_path / "site").exists()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["compiled"], indirect=True)
@pytest.mark.parametrize("sparse", [0, 1])
def test_compiled_look_ups_refuse_it_too(tmp_path, way, sparse):
    game, path = books.called_acyclic(tmp_path, "Forced", sparse)
    with Book(path, game) as book:
        for ask in (lambda: book.lookup([0, 1, 5]), lambda: [*streaming.pieces(book)]):
            raises(DamagedBook, "outside the palette", ask)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("ranked") / "book.lmdb"
    solve("connect-four:3,3,3", path, codec="ranked").close()
    return path


@pytest.mark.parametrize(
    ("seed", "trials"),
    [(1, 15), *(pytest.param(seed, 1000, marks=pytest.mark.faults) for seed in range(2, 12))],
)
def test_no_corruption_gives_a_wrong_value_or_a_signal(small, seed, trials):
    books.assert_no_damage_is_believed(small, seed, trials, 0.2)


def test_forged_segments_are_refused_or_answer_within_the_palette(small):
    chance = random.Random(4)
    with Book(small) as book:
        record = next(book.segments())
        states = chance.sample([*book], 100)
        for _ in range(30):
            body = bytearray(record[4:])
            for _ in range(chance.choice((1, 3, 30))):
                body[chance.randrange(4, len(body) if chance.random() < 0.7 else 60)] = chance.randrange(256)
            with contextlib.suppress(DamagedBook):
                books.alter(book, body)
                assert {book.get(state) for state in states} <= {*book.header.palette, None}
                book.lookup(states, missing="mask")


# more ranks than a group may have, a bomb, too few, none
@pytest.mark.parametrize(("head", "symbols"), [(60_000, 60_001), (99, 60 << 20), (99, 99), (99, 0)])
def test_groups_of_other_sizes_than_they_say_are_refused(head, symbols):
    body = struct.pack("<H", head) + books.deflated(bytes(symbols))
    raises(DamagedBook, "a group is malformed", ranked.decode, memoryview(body), 5, 1)


def test_a_group_is_what_the_documentation_says():
    part = [1000, 1001, 1003], [7, 9, 7]
    payload, counts, lengths = ranked.encode_chunk(*part, 10, 1, lambda rank: False)
    assert (payload[:2].hex(), counts, lengths) == ("0300", [3], [len(payload)])
    assert zlib.decompress(payload[2:], -15) == bytes([8, 10, 10, 8])
    documented = bytes.fromhex("03 00 e3 e0 e2 e2 00 00")
    assert ranked.decode(memoryview(documented), 1000, 1) == ([1000, 1001, 1002, 1003], [7, 9, 9, 7])
    payload, *_ = ranked.encode_chunk(*part, 10, 1)
    assert ranked.decode(memoryview(payload), 1000, 1) == ([1000, 1001, 1002, 1003], [7, 9, -1, 7])


@pytest.mark.parametrize(("palette", "index_bytes"), [(255, 1), (256, 2), (65_535, 2), (65_536, 4)])
def test_a_missing_state_has_a_symbol_of_its_own(palette, index_bytes):
    header = books.header_of({}, palette=[Value(0)] * palette, codec="ranked")
    assert header.index_bytes == index_bytes
    part = [0, 2, 70_000], [palette - 1, 0, palette - 1]
    payload, counts, lengths = ranked.encode_chunk(*part, palette, index_bytes)
    keys, indices = ranked.decode(memoryview(payload)[: lengths[0]], 0, index_bytes)
    assert (counts, keys, indices) == ([2, 1], [0, 1, 2], [palette - 1, -1, 0])


def test_what_cannot_be_ranked_is_refused_in_one_line(path, monkeypatch):
    plainly(monkeypatch)
    for arguments in (("nim",), ("tic-tac-toe", "--method", "alphabeta")):
        fails(2, "choose the codec compact", "solve", *arguments, "--codec", "ranked", "-o", path)
    assert [*path.parent.iterdir()] == []
    with solve("tic-tac-toe", path, method="alphabeta") as book:
        raises(BookError, "too few", streaming.pack, book, path.with_name("ranked.lmdb"), "ranked")


def test_opening_books_may_be_ranked(monkeypatch):
    plainly(monkeypatch)
    text = "connect-four:3,3,3"
    with solve(text, max_ply=4) as book, solve(text, max_ply=4, codec="ranked") as other:
        assert dict(other.items()) == dict(book.items())
        assert not any(state in other for state in enumerate_states(book.rules.game) if state not in book)


def test_a_book_of_rules_of_your_own_is_read_with_them(tmp_path, path):
    """Otherwise it says so and runs nothing; without its ranks nothing of it can be read, but for its header."""
    text = write_rules(tmp_path / "heaps.py", RANKS)
    ok("solve", text, "-o", path, "--codec", "ranked")
    assert json.loads(ok("info", path, "--json"))["codec"] == "ranked"
    assert "63 of them in plain Python" in ok("verify", path, "--game", text)
    assert "win" in ok("query", path, "start", "--game", text, "--no-moves")
    fails(5, "--game", "pack", path, "-o", tmp_path / "other.lmdb")
    ok("pack", path, "-o", tmp_path / "other.lmdb", "--game", text)
    with Book(path) as book:
        raises(ForeignBook, "name its rules", book.get, 5)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (RANKS.replace("return 63 - rank if", "return 62 - rank if"), "must be the state"),
        (RANKS.replace("return 63 - state if", "return -5 if"), "ranks of states are ints"),
        (RANKS.replace("return 63 - rank if rank < 64 else -1", "return (63 - rank) & 62 | 1"), "of another rank"),
        (RANKS.replace("63 - state", "126 - 2 * state").replace("63 - rank if rank < 64", UNEVEN), "of another rank"),
        (RANKS.partition("    def unrank")[0], "they go together"),
        (RANKS.replace("(self, rank)", "(self, number)"), "name its parameters"),
    ],
)
def test_ranks_that_are_none_are_found(heaps, body, fault):
    check_game(heaps(RANKS.replace("rank < 64 else -1", "rank < 64 else -5")))
    raises(GameError, fault, lambda: check_game(heaps(body)))
