"""Opening books: complete to their ply, right, and the same bytes after any interruption."""

import itertools
import random
import struct
import zlib

import pytest

from solver.base.errors import ResourceError, UncompiledRules
from solver.base.options import Options
from solver.base.value import Value, merit_of
from solver.book import Book
from solver.estimate import estimation
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Rules, load_game
from solver.solving import pipeline
from solver.solving.job import Job
from solver.solving.ways import opening, whole
from solver.verifying import verification
from tests import naive
from tests.refusals import raises
from tests.ways import compiled, plainly, slow


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("text", [*slow("tic-tac-toe", "connect-four:4,3"), "kalah:2,3", "dots-and-boxes:2,1", "coins"])
def test_every_state_to_the_ply_and_no_other_has_its_value(monkeypatch, text, symmetry):
    plainly(monkeypatch)
    game = load_game(text)
    truth = naive.solve(game, symmetry=symmetry)
    for max_ply in (0, 1, 3):
        merits = opening.merits_to(Job(Rules(game, symmetry), None, Options(max_ply=max_ply)))
        layers = opening.plies(Rules(game, symmetry), max_ply)
        assert sorted(merits) == sorted(state for layer in layers for state in layer)
        assert merits == {state: merit_of(truth[state]) for state in merits}


def test_states_of_connect_four_by_ply():
    """John Tromp's counts (OEIS A212693), which none but unfinished states have up to ply 6."""
    layers = opening.plies(Rules(load_game("connect-four"), False), 5)
    assert [len(layer) for layer in layers] == [1, 7, 49, 238, 1120, 4263]
    assert estimation.mean_parents(Rules(load_game("connect-four"), False), layers[:5]) == 238 * 7 / 1120


@pytest.fixture
def arrays(monkeypatch):
    """Plies are taken by arrays from the first on, a few states at a time."""
    pytest.importorskip("numba")
    from solver.sweep import exhaustive

    monkeypatch.setattr(exhaustive, "STATES_PER_CHECK", 7)
    monkeypatch.setattr(opening, "PLAIN_LIMIT", 0)
    return exhaustive


PLIED = ("kalah:2,3", "coins", "pong-hau-ki", "hexapawn", *slow("mu-torere", "tic-tac-toe", "three-mens-morris:1"))


@pytest.mark.parametrize("symmetry", [True, *slow(False)])
@pytest.mark.parametrize("text", PLIED)
@pytest.mark.interpreted
def test_plies_by_arrays_are_the_plain_ones(monkeypatch, text, symmetry, request):
    """With cycles, with moves that lead to an earlier ply, and where there is nothing more to reach."""
    rules = Rules(load_game(text), symmetry)
    layers = opening.plies(rules, 7)
    request.getfixturevalue("arrays")
    assert layers == opening.plies(rules, 7)
    some = opening.plies(rules, 7, lambda count: count > 5)
    assert some == layers[: len(some)] and len(some) < len(layers)


@pytest.mark.parametrize("symmetry", [True, *slow(False)])
@pytest.mark.parametrize("text", ["tic-tac-toe", *slow("connect-four:4,3"), "kalah:2,3", "dots-and-boxes:2,1", "coins"])
@pytest.mark.interpreted
def test_merits_by_arrays_are_true(arrays, text, symmetry):
    game = load_game(text)
    rules, truth = Rules(game, symmetry), naive.solve(game, symmetry=symmetry)
    layers = opening.plies(rules, 4)
    merits = {state: merit_of(truth[state]) for state in layers[-1]}
    opening.derive(rules, layers, merits)
    assert merits == {state: merit_of(truth[state]) for layer in layers for state in layer}
    for layer, later in itertools.pairwise(layers):
        found = arrays.merits_of(rules, layer, later, [merits[state] for state in later])
        assert found == [merits[state] for state in layer] or (found is None and text in ("kalah:2,3", "coins"))


def test_plies_that_fail_to_compile_are_gone_on_with_plainly(monkeypatch, request):
    rules = Rules(load_game("connect-four:4,3"))
    layers = opening.plies(rules, 5)
    arrays = request.getfixturevalue("arrays")

    def fail_later(*arguments):
        yield layers[1]
        raise UncompiledRules("state 7 leads elsewhere")

    monkeypatch.setattr(arrays, "further", fail_later)
    assert opening.plies(rules, 5) == layers


@compiled
@pytest.mark.interpreted
def test_the_book_of_the_kernels_is_the_plain_one(tmp_path, monkeypatch, arrays):
    game = load_game("connect-four:3,4,3")
    pipeline.solve(game, tmp_path / "one.lmdb", max_ply=5, workers=1)
    pipeline.solve(game, tmp_path / "three.lmdb", max_ply=5, workers=3, table=1 << 12)
    plainly(monkeypatch)
    pipeline.solve(game, tmp_path / "plain.lmdb", max_ply=5)
    books = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(books) == {"one.lmdb", "three.lmdb", "plain.lmdb"}  # no journal is left
    assert len(set(books.values())) == 1
    assert verification.verify(tmp_path / "one.lmdb").closed is False
    with Book(tmp_path / "one.lmdb") as book:
        assert (book.header.scope, book.header.states) == ("ply 5", None)


def test_an_interrupted_solve_goes_on_where_it_was(tmp_path, monkeypatch):
    plainly(monkeypatch)
    game, path = load_game("tic-tac-toe"), tmp_path / "book.lmdb"
    pipeline.solve(game, tmp_path / "whole.lmdb", max_ply=4)
    searched = []

    def stop_after(count):
        def progress(step, done, total, note=""):
            if step == "search":
                searched.append(done)
                if len(searched) == count:
                    raise KeyboardInterrupt

        return progress

    raises(KeyboardInterrupt, None, pipeline.solve, game, path, max_ply=4, progress=stop_after(10))
    assert (path.exists(), (tmp_path / "book.lmdb.journal").exists()) == (False, True)
    pipeline.solve(game, path, max_ply=4, progress=stop_after(0))
    assert len(searched) == len(opening.plies(Rules(game), 4)[-1])  # none of the ten is searched again
    assert searched[-1] == len(searched)
    assert path.read_bytes() == (tmp_path / "whole.lmdb").read_bytes()


def test_a_damaged_journal_is_believed_up_to_the_damage(tmp_path):
    game, path = load_game("connect-four:4,3"), tmp_path / "journal"
    with opening.Journal(path, opening.header_of(Rules(game), 4), False) as journal:
        for state in range(20):
            journal.add([(state, Value(state - 10))])
    whole = path.read_bytes()
    header = len(whole) - 20 * (8 + opening.TAIL)
    chance = random.Random(5)
    for _ in range(50):
        at = chance.randrange(header, len(whole))
        damaged = bytearray(whole[: chance.randrange(at, len(whole)) + 1])
        damaged[at] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        with opening.Journal(path, opening.header_of(Rules(game), 4), False) as journal:
            kept = (at - header) // (8 + opening.TAIL)
            assert journal.merits == {state: state - 10 for state in range(kept)}
        path.write_bytes(whole)


def test_a_journal_of_version_1_is_taken_over_byte_by_byte(tmp_path, monkeypatch):
    """Books of many hours are begun by one release and finished by the next; the order of records means nothing."""
    plainly(monkeypatch)
    game, path = load_game("tic-tac-toe"), tmp_path / "book.lmdb"
    pipeline.solve(game, tmp_path / "whole.lmdb", max_ply=4)
    deepest = opening.plies(Rules(game), 4)[-1]
    with Book(tmp_path / "whole.lmdb") as book:
        known = [(state, merit_of(book[state])) for state in deepest[-10:] + deepest[:10]]
    line = f"solver journal 1 tic-tac-toe {fingerprint(game)} ply 4 True\n".encode()
    sums = [zlib.crc32(struct.pack("<Qq", *pair), zlib.crc32(line)) for pair in known]
    records = b"".join(struct.pack("<QqI", *pair, check) for pair, check in zip(known, sums, strict=True))
    (tmp_path / "book.lmdb.journal").write_bytes(line + records + records[:7])
    search_all, searched = opening.search_all, []

    def search(job, states):
        searched.extend(states)
        return search_all(job, states)

    monkeypatch.setattr(opening, "search_all", search)
    pipeline.solve(game, path, max_ply=4)
    assert sorted(searched) == deepest[10:-10]
    assert path.read_bytes() == (tmp_path / "whole.lmdb").read_bytes()


def test_a_journal_of_another_solve_is_refused_and_restart_discards_it(tmp_path):
    path = tmp_path / "journal"
    with opening.Journal(path, opening.header_of(Rules(load_game("connect-four:4,3")), 4), False) as journal:
        journal.add([(1, Value(2))])
        with pytest.raises(ResourceError, match="another solver"):
            opening.Journal(path, opening.header_of(Rules(load_game("connect-four:4,3")), 4), False)
    with pytest.raises(ResourceError, match="--restart"):
        opening.Journal(path, opening.header_of(Rules(load_game("connect-four:4,4")), 4), False)
    with opening.Journal(path, opening.header_of(Rules(load_game("connect-four:4,4")), 4), True) as journal:
        assert journal.merits == {}


@compiled
@pytest.mark.parametrize("options", [{"max_ply": 3}, {"method": "alphabeta"}], ids=str)
def test_rules_that_numba_cannot_compile_are_searched_plainly(tmp_path, monkeypatch, options):
    from solver.compiled.exact import searcher

    def fail(*arguments):
        raise UncompiledRules("Game cannot be compiled: a generator")

    said = []
    with monkeypatch.context() as patch:
        patch.setattr(searcher, "bind", fail)
        patch.setattr(whole, "PLAIN_LIMIT", 0)  # as if it were too large for plain Python alone
        pipeline.solve(load_game("coins"), tmp_path / "fast.lmdb", say=said.append, **options)
    assert len(said) == 1 and said[0].endswith("a generator")
    plainly(monkeypatch)
    pipeline.solve(load_game("coins"), tmp_path / "plain.lmdb", **options)
    assert (tmp_path / "plain.lmdb").read_bytes() == (tmp_path / "fast.lmdb").read_bytes()


@pytest.mark.slow
def test_an_opening_book_equals_the_exhaustive_book(tmp_path):
    pytest.importorskip("numba")
    game = load_game("connect-four:5,5")
    pipeline.solve(game, tmp_path / "all.lmdb")
    pipeline.solve(game, tmp_path / "8.lmdb", max_ply=8)
    with Book(tmp_path / "all.lmdb") as whole, Book(tmp_path / "8.lmdb") as book:
        assert len(book) == 19_492
        assert all(whole[state] == value for state, value in book.items())
        assert book.header.root == Value(0)
