"""Books in other codecs: the same answers, the same bytes whichever way they came about; nothing damaged is packed."""

import contextlib
import gc
import json
import random

import pytest

from solver import Player, solve, verify
from solver.base.errors import BookError, DamagedBook
from solver.base.value import Value
from solver.book import Book, streaming
from solver.book.check import check_book
from tests.books import KEYED_BY_STATE, plainly_and_compiled, write_values
from tests.commands import ok, run
from tests.refusals import fails, raises
from tests.ways import plainly

GAMES = ("tic-tac-toe", "connect-four:4,3", "kalah:2,3", "mu-torere", "nim", "coins:600")
RANKED = ("connect-four:3,3,3", "dots-and-boxes:2,1", "tic-tac-toe", "connect-four:3,4,3", "connect-four:4,3")
ANSWERED = [*((text, "compact") for text in GAMES), *((text, "ranked") for text in RANKED)]
LARGE = ("tic-tac-toe", "connect-four:3,4,3", "connect-four:4,3")


def packed_both_ways(path, folder, **options):
    """The book at a path packed to compact, and that to instant again."""
    for source, target, codec in ((path, "compact", "compact"), (folder / "compact", "instant", "instant")):
        streaming.pack(source, folder / target, codec, **options)
    return folder / "compact", folder / "instant"


@pytest.mark.parametrize(
    ("text", "codec"), [pytest.param(*one, marks=pytest.mark.slow if one[0] in LARGE else []) for one in ANSWERED]
)
def test_every_codec_answers_what_the_others_answer(tmp_path, monkeypatch, text, codec):
    """All states, of all else nothing: neighbours, random numbers, other ranks; solved or packed, the same bytes."""
    plainly(monkeypatch)
    path, packed, back = (tmp_path / name for name in ("book", "packed", "back"))
    chance = random.Random(1)
    with solve(text, path, codec="instant") as book, solve(text, tmp_path / "solved", codec=codec) as solved:
        streaming.pack(path, packed, codec)
        streaming.pack(packed, back, "instant")
        assert packed.read_bytes() == (tmp_path / "solved").read_bytes()
        assert back.read_bytes() == path.read_bytes()
        same = {name: getattr(book.header, name) for name in ("codec", "digest", "book_id", "rules")}
        assert solved.header._replace(**same) == book.header
        assert dict(solved.items()) == dict(book.items()) and solved.digest != book.digest
        others = [chance.getrandbits(chance.choice((4, 12, 24, 40, 62, 70))) for _ in range(3000)]
        near = [state ^ 1 << bit for state in chance.sample([*book], min(len(book), 60)) for bit in range(30)]
        if codec == "ranked":
            ranks = [book.rules.rank(state) for state in solved]
            assert ranks == sorted(ranks)
            others += [book.rules.unrank(chance.randrange(3 * len(book) + 9)) for _ in range(2000)]
        for state in (*book, *others, *near, -1, 2**63):
            assert solved.get(state) == book.get(state)
        player, other = Player(book), Player(solved)
        for state in chance.choices(list(book), k=20):
            assert [move.value for move in player.analyse(state)] == [move.value for move in other.analyse(state)]
    assert verify(packed).states == check_book(packed).stored == len(book)


def test_compiled_and_plain_packing_are_the_same_bytes_whatever_the_workers(path, monkeypatch):
    pytest.importorskip("numba")
    chance = random.Random(2)
    values, state = {}, 0
    for count, spread in ((70_000, 3), (5_000, 10**9), (40_000, 60)):  # in two parts, and both kinds of keys
        for _ in range(count):
            state += 1 + int(chance.expovariate(1 / spread))
            values[state] = Value(chance.randrange(-3, 4))
    write_values(path, values)
    contents = set()
    for workers in (1, 2, None):
        if workers is None:
            plainly(monkeypatch)
        compact, instant = packed_both_ways(path, path.parent, workers=workers)
        contents.add(compact.read_bytes())
        assert instant.read_bytes() == path.read_bytes() and len(contents) == 1


def test_a_palette_beyond_the_header_survives(path, monkeypatch):
    """Though what does not fit into the header, the numbers of its values, is not known any more."""
    monkeypatch.setattr("solver.book.format.PALETTE_PART", 1000)
    values = {3 * state: Value(1, state) for state in range(1, 2500)}
    for size in (20_000, 14_000, 8_000):  # holds all, the palette without the numbers, neither
        monkeypatch.setattr("solver.book.format.HEADER_SIZE", size)
        header = write_values(path, values, facts={"numbers": [1] * len(values)})
        assert (header.numbers is None) == (size < 20_000)
        compact, instant = packed_both_ways(path, path.parent)
        assert instant.read_bytes() == path.read_bytes()
        with Book(compact) as book:
            assert dict(book.items()) == values


@pytest.mark.parametrize("is_read", [False, pytest.param(True, marks=pytest.mark.posix("replaces an open file"))])
def test_a_book_may_be_packed_in_its_place(path, is_read):
    values = {5 * state: Value(1, 1) if state % 3 else Value(-1, 2) for state in range(30_000)}
    write_values(path, values)
    size = path.stat().st_size
    with Book(path) if is_read else contextlib.nullcontext() as reader:
        streaming.pack(path, path)
        assert not is_read or (reader.header.codec, reader[5]) == ("instant", Value(1, 1))
    assert path.stat().st_size < size // 2
    with Book(path) as book:
        assert (book.header.codec, dict(book.items())) == ("compact", values)


@plainly_and_compiled
def test_damaged_books_are_not_packed(path, way):
    target = path.with_name("target.lmdb")
    chance = random.Random(4)
    values = {chance.getrandbits(30): Value(1, chance.randrange(7)) for state in range(20_000)}
    for codec in KEYED_BY_STATE:
        write_values(path, values, facts={"codec": codec})
        whole = bytearray(path.read_bytes())
        whole[3 * 4096 + 500] ^= 4
        path.write_bytes(whole)
        write_values(target, {1: Value(0)})
        before = target.read_bytes()
        raises(DamagedBook, "checksum", streaming.pack, path, target)
        assert (target.read_bytes(), {*path.parent.iterdir()}) == (before, {path, target})


def test_the_command_line_packs_and_refuses_in_one_line(tmp_path, path):
    target, text = tmp_path / "small.lmdb", tmp_path / "text"
    text.write_text("no book")
    solved = json.loads(ok("solve", "tic-tac-toe", "-o", path, "--json"))
    code, out, err = run("pack", path, "-o", target, "--json")
    packed = json.loads(out)
    assert (code, err, packed["codec"], packed["bytes"]) == (0, "", "compact", target.stat().st_size)
    differing = {name for name in packed if packed[name] != solved[name]}
    assert differing <= {"codec", "bytes", "bits_per_state", "digest", "book", "seconds"}
    assert "compact codec" in ok("info", target) and "draw" in ok("query", target, "start")
    again = json.loads(ok("pack", target, "-o", path, "--codec", "instant", "--json"))
    assert (again["digest"], again["codec"]) == (solved["digest"], "instant")
    solved = json.loads(ok("solve", "tic-tac-toe", "-o", path, "--codec", "compact", "--json"))
    assert solved["digest"] == packed["digest"]
    gc.collect()  # what the commands have opened
    for arguments, expected, words in (
        (("pack", tmp_path / "none", "-o", target), 2, "cannot be read"),
        (("pack", text, "-o", target), 5, "not an LMDB file"),
        (("pack", __file__, "-o", target), 2, "no book of"),
        (("pack", path, "-o", tmp_path / "no" / "book"), 2, "does not exist: make it first"),
        (("pack", path, "-o", target, "--codec", "tiny"), 2, "'instant', 'compact'"),
        (("solve", "tic-tac-toe", "--codec", "compact"), 2, "name one with -o"),
    ):
        fails(expected, words, *arguments)
    raises(BookError, "no codec 'tiny': choose one of instant, compact", solve, "tic-tac-toe", path, codec="tiny")
    raises(BookError, "no codec 'tiny'", streaming.pack, path, target, "tiny")
