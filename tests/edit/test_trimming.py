"""Trimmed books: what is left answers as the whole book does, and play proves what it is for."""

import functools
import json
import random

import msgpack
import pytest

from solver import Player, solve, verify
from solver.base import extras
from solver.base.errors import BookError, DamagedBook, MethodError
from solver.base.kinds import WDL
from solver.base.options import Options
from solver.base.value import Value, sign_of
from solver.book import Book, streaming
from solver.book.solution import Trim
from solver.edit import trimming
from solver.rules.game import Rules, load_game
from solver.solving import pipeline
from solver.solving.job import Job
from solver.solving.ways import opening
from solver.verifying import playing
from tests.books import book_of
from tests.commands import ok, run
from tests.refusals import fails, raises
from tests.ways import plainly, slow, slow_rows, slowly

KERNELS = extras.has_kernels()
GAMES = (
    "tic-tac-toe", "connect-four:4,3", "coins:30", "nim", "hexapawn", "dots-and-boxes:2,1", "kalah:2,3",
    "kalah:3,2,false", "othello:4,2", "mu-torere", "hare-and-hounds",
)  # fmt: skip


def trim(path, target, *, wdl=False, codec=None, workers=None, **wanted):
    """`trimming.trim` with the options as keywords."""
    return trimming.trim(path, target, Trim(**wanted), wdl=wdl, codec=codec, workers=workers)


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """Whole books, by the game's name."""
    folder = tmp_path_factory.mktemp("books")

    @functools.cache
    def path_of(text):
        path = folder / f"{text.replace(':', '-').replace(',', '-')}.lmdb"
        solve(text, path).close()
        return path

    return path_of


@pytest.mark.parametrize("text", slowly(GAMES, "connect-four:4,3", "tic-tac-toe", "kalah:3,2,false", "nim"))
def test_what_a_search_settles_is_answered_as_if_it_were_stored(books, tmp_path, text):
    """Every state, and every move of some hundreds, without a live search."""
    sizes = []
    with Book(books(text)) as whole:
        for plies in (1, 2):
            for wdl in (False, True):
                if wdl and (whole.header.score_game or whole.header.method == "retrograde"):
                    raises(MethodError, "--wdl", trim, whole.path, tmp_path / "no.lmdb", wdl=True)
                    continue
                header = trim(whole.path, tmp_path / "some.lmdb", plies=plies, wdl=wdl)
                sizes.append(header.stored)
                with Book(tmp_path / "some.lmdb") as book:
                    player, other = Player(book), Player(whole)
                    assert not player.live
                    for state, value in whole.items():
                        found = player.value(state)
                        assert found.exact and found.value == (sign_of(value) if wdl else value)
                    for state in list(whole)[:: 1 + len(whole) // 300]:
                        kept, best = player.best(state), other.examine(state)[1]
                        scores = {move.action: move.value.score for move in best}
                        assert scores[kept] == best[0].value.score
                        if not wdl:
                            assert [move[:3] for move in player.analyse(state)] == [move[:3] for move in best]
                            assert kept == other.best(state)
        assert sizes[-1] <= sizes[0] < len(whole)
    assert not (tmp_path / "no.lmdb").exists()


@pytest.mark.parametrize("text", slowly(GAMES, "tic-tac-toe", "connect-four:4,3", "nim", "hare-and-hounds"))
@pytest.mark.parametrize("plies", [*slow(0), 2])
def test_a_side_needs_nothing_but_its_book(books, tmp_path, monkeypatch, text, plies):
    """Played out against every reply, without a live search, it gets the value of each position, or more."""
    monkeypatch.setattr(playing, "Player", functools.partial(Player, live=False))
    with Book(books(text)) as whole:
        kinds = [False] if whole.header.score_game or whole.header.method == "retrograde" else [False, True]
        for side in ("first", "second", "both") if len(whole) < 1000 else ("both",):
            for wdl in kinds:
                header = trim(whole.path, tmp_path / "side.lmdb", side=side, plies=plies, wdl=wdl)
                assert (header.scope, header.trim.side, header.wdl) == ("trimmed", side, wdl)
                report = verify(tmp_path / "side.lmdb", play=True, search=0)
                assert report.played == (("first", "second") if side == "both" else (side,))
                assert report.positions > 0 and not report.closed
                with Book(tmp_path / "side.lmdb") as book:
                    said = {state: sign_of(value) if wdl else value for state, value in whole.items()}
                    assert all(said[state] == value for state, value in book.items())


@pytest.mark.parametrize(
    ("side", "compiled"), [("first", True), ("second", False), *slow_rows(("first", False), ("second", True))]
)
@pytest.mark.interpreted
def test_what_a_book_without_distances_lacks_is_played_by_search_not_by_guess(
    books, tmp_path, monkeypatch, side, compiled
):
    """Where the value of a state is in the book, and of its moves none, whoever wins."""
    if compiled:
        pytest.importorskip("numba")
        monkeypatch.setattr("solver.play.live.PATIENT", 0)
    monkeypatch.setattr(Player, "_estimate", None)
    trim(books("connect-four:4,3"), tmp_path / "side.lmdb", side=side, max_ply=5, wdl=True)
    with Book(tmp_path / "side.lmdb") as book, Book(books("connect-four:4,3")) as whole:
        rules, player = Rules(whole.game), Player(book, seconds=None)
        for state in (state for state in book if rules.tier(state) in (4, 5)):
            move = player.choose(state)
            assert move.best and sign_of(move.value) == sign_of(whole[state])
    assert verify(tmp_path / "side.lmdb", play=True, search=0).played == (side,)


@pytest.mark.parametrize("text", [*slow("tic-tac-toe"), "hexapawn", "kalah:2,3", "mu-torere"])
def test_what_is_beyond_a_ply_is_searched_live(books, tmp_path, text):
    with Book(books(text)) as whole:
        rules = Rules(whole.game)
        for options in ({"max_ply": 3}, {"max_ply": 4, "plies": 2}, {"max_ply": 3, "side": "first", "plies": 1}):
            trim(whole.path, tmp_path / "some.lmdb", **options)
            with Book(tmp_path / "some.lmdb") as book:
                near = {state for layer in opening.plies(rules, options["max_ply"]) for state in layer}
                assert set(book) <= near and ("plies" in options or set(book) == near)
                player = Player(book, seconds=None)
                for state in random.Random(1).sample(list(whole), min(40, len(whole))):
                    assert player.value(state).value == whole[state]
                assert verify(book.path, play=True, search=0).positions


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Value(1, 3), "first player, a1 b1 is said to be win in 3 for the side to move, but becomes win in 5 by"),
        (Value(-1, 4), "is said to be .* for the side to move, but becomes .* by (a1 )?(b1 )?"),
    ],
)
def test_a_sabotaged_book_is_found_out_by_play(books, tmp_path, wrong, said):
    """With the moves that show it: a win that takes longer, a blunder that is called a good reply."""
    with Book(books("tic-tac-toe")) as whole:
        game = whole.game
        state = whole.rules.canonical(game.result(game.result(game.initial(), 0), 1))
        assert whole[state] == Value(1, 5)
        facts = {name: getattr(whole.header, name) for name in ("game", "rules", "symmetry")}
        with book_of(tmp_path / "wrong.lmdb", {**dict(whole.items()), state: wrong}, **facts) as book:
            raises(DamagedBook, said, playing.prove, book, game)


@pytest.mark.parametrize("text", ["hexapawn", "mu-torere", "dots-and-boxes:2,1", "kalah:2,3"])
def test_whole_books_are_played_out_too(books, text):
    assert verify(books(text), play=True).played == ("first", "second")


def test_a_book_fits_into_the_bytes_given(books, tmp_path):
    path = books("connect-four:4,3")
    for limit in (24_000, 28_672):
        header = trim(path, tmp_path / "small.lmdb", max_bytes=limit)
        assert 0.8 * limit - 4096 <= (tmp_path / "small.lmdb").stat().st_size <= limit
        with Book(path) as whole, Book(tmp_path / "small.lmdb") as book:
            last = max(map(whole.game.tier, book))
            assert {state for state in whole if whole.game.tier(state) < last} <= set(book)
            assert header.trim.max_bytes == limit and header.stored == len(book)
            player = Player(book, seconds=None)
            for state in random.Random(2).sample(list(whole), 50):
                assert player.value(state).value == whole[state]
    raises(MethodError, "no book has so few bytes as 4,096", trim, path, tmp_path / "none.lmdb", max_bytes=4096)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["small.lmdb"]


@pytest.mark.skipif(not KERNELS, reason="the extra [solve] is not installed")
@pytest.mark.parametrize("text", ["connect-four:4,3,3", *slow("connect-four:4,3", "kalah:2,3", "dots-and-boxes:2,2")])
@pytest.mark.interpreted
def test_compiled_and_plain_trimming_are_the_same_bytes_whatever_the_workers(books, tmp_path, monkeypatch, text):
    path, target = books(text), tmp_path / "trimmed"
    trims = [
        {"plies": 2, "wdl": text.startswith("connect")},
        {"plies": 1, "codec": "compact"},
        {"max_ply": 4, "plies": 2},
        {"max_bytes": 20_000},
        {"side": "both", "plies": 1},
    ]
    plain = []
    for options in trims:
        trim(path, target, **options)
        plain.append(target.read_bytes())
    for module in (trimming, streaming):
        monkeypatch.setattr(module, "PLAIN_LIMIT", 0)
    for options, expected in zip(trims, plain, strict=True):
        for workers in (1, 3) if "wdl" in options else (3,):
            trim(path, target, workers=workers, **options)
            assert target.read_bytes() == expected, options


def test_a_trimmed_book_is_packed_exported_and_shown(books, tmp_path):
    path, packed = tmp_path / "trimmed.lmdb", tmp_path / "packed.lmdb"
    header = trim(books("connect-four:4,3"), path, side="first", plies=2, wdl=True, max_ply=8)
    streaming.pack(path, packed)
    with Book(path) as book, Book(packed) as other, Book(books("connect-four:4,3")) as whole:
        assert (other.header.trim, other.header.wdl) == (header.trim, True)
        assert dict(book.items()) == dict(other.items())
        # of books that were not trimmed the bytes and digests are what they were
        assert not {"trim", "wdl"} & set(msgpack.unpackb(whole.header.packed()[4:]))
    ok("export", path, "-o", tmp_path / "trimmed.bin")
    data = (tmp_path / "trimmed.bin").read_bytes()
    facts = json.loads(data[68 : 64 + int.from_bytes(data[40:44], "little")])
    assert facts["trim"] == header.trim._asdict() and facts["wdl"] is True
    shown = ok("info", packed)
    assert "needs, to ply 8, nothing that 2 plies settle" in shown and "without distances" in shown
    assert json.loads(ok("info", packed, "--json"))["trim"]["plies"] == 2


@pytest.mark.parametrize("options", [{"plies": 2}, *slow({"wdl": True}, {"side": "first", "plies": 1, "wdl": True})])
@pytest.mark.parametrize("text", ["connect-four:3,3,3", *slow("tic-tac-toe", "connect-four:4,3")])
def test_trimmed_books_are_ranked_and_back(books, tmp_path, text, options):
    plain, small, again, back = (tmp_path / f"{name}.lmdb" for name in ("plain", "ranked", "again", "back"))
    trim(books(text), plain, **options)
    trim(books(text), small, codec="ranked", **options)
    streaming.pack(plain, again, "ranked")
    streaming.pack(small, back, "instant")
    assert small.read_bytes() == again.read_bytes() and plain.read_bytes() == back.read_bytes()
    with Book(plain) as one, Book(small) as other, Book(books(text)) as whole:
        assert dict(one.items()) == dict(other.items())
        assert all(other.get(state) == one.get(state) for state in whole)
        sides, known = Player(one, live=False), Player(other, live=False)
        assert all(known.value(state) == sides.value(state) for state in whole)


def test_what_cannot_be_left_out_is_refused_in_a_line(books, tmp_path):
    path, out = books("tic-tac-toe"), tmp_path / "out.lmdb"
    assert "against every reply" not in ok("trim", path, "-o", out, "--for", "second")
    assert "the second player gets at least" in run("verify", out, "--play")[1]
    assert "is trimmed already" in run("trim", out, "-o", tmp_path / "again.lmdb", "--drop-plies", "1")[2]
    raises(BookError, None, trim, path, tmp_path / "none" / "out.lmdb", plies=1)
    raises(MethodError, "is too slow", trim, path, out, plies=5)
    raises(MethodError, "no side", trim, path, out, side="white")


@pytest.mark.parametrize("kernels", [False, *slow(True)])
@pytest.mark.parametrize("text", ["connect-four:3,3,3", *slow("tic-tac-toe", "connect-four:4,3", "coins")])
def test_an_opening_book_without_distances(tmp_path, monkeypatch, text, kernels):
    """It has the signs of the one with them; the kernels write what plain Python writes; journals do not mix."""
    if not kernels:
        plainly(monkeypatch)
    rules = Rules(load_game(text))
    full = opening.merits_to(Job(rules, None, Options(max_ply=4)))
    with pipeline.solve(rules.game, tmp_path / "one.lmdb", max_ply=4, wdl=True) as book:
        assert dict(book.items()) == {state: Value((merit > 0) - (merit < 0)) for state, merit in full.items()}
        assert book.header.wdl and book.longest is None
    plainly(monkeypatch)
    pipeline.solve(rules.game, tmp_path / "plain.lmdb", max_ply=4, wdl=True)
    assert (tmp_path / "one.lmdb").read_bytes() == (tmp_path / "plain.lmdb").read_bytes()
    assert verify(tmp_path / "one.lmdb", search=1e9).verdict == "proved"
    assert opening.header_of(rules, 4) != opening.header_of(Rules(rules.game, kind=WDL), 4)


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        ("dots-and-boxes:2,1", {}, "are margins, which --wdl cannot leave out"),
        ("dots-and-boxes:2,1", {"max_ply": 2}, "margins"),
        ("pig:3", {}, "game of chance, whose values have no distances"),
        ("nim:1,2", {"method": "nimbers"}, "holds nimbers"),
        ("tic-tac-toe", {"method": "alphabeta"}, "--wdl has no effect"),
    ],
)
def test_games_that_have_no_distances_are_not_solved_without_them(text, options, reason):
    raises(MethodError, reason, pipeline.solve, text, wdl=True, **options)


def test_a_book_without_distances_has_none_to_drop(tmp_path):
    """Also where the game has cycles, of which the refusal would speak."""
    pipeline.solve("tapatan", tmp_path / "whole.lmdb", wdl=True).close()
    fails(2, "trim has nothing to drop", "trim", tmp_path / "whole.lmdb", "-o", tmp_path / "out.lmdb", "--wdl")
    ok("trim", tmp_path / "whole.lmdb", "-o", tmp_path / "out.lmdb", "--wdl", "--max-ply", "4", "-q")
    with Book(tmp_path / "out.lmdb") as book:
        assert book.header.wdl and len(book) < 1000
