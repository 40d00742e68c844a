"""Books of a part of a game, openings and proofs: complete, right, and the same bytes after any interruption."""

import itertools
import json
import random
import re
import struct
import time
import zlib

import pytest

import solver
from solver.base.errors import DamagedBook, MethodError, ResourceError, UncompiledRules, Unproved
from solver.base.kinds import WDL
from solver.base.options import Options
from solver.base.progress import silent
from solver.base.signals import Terminated
from solver.base.value import Value, merit_of
from solver.book import Book
from solver.book.solution import Trim
from solver.edit.trimming import trim
from solver.estimate import estimation
from solver.rules.fingerprint import fingerprint
from solver.rules.game import Rules, load_game
from solver.rules.reading import parse_position
from solver.solving import pipeline
from solver.solving.following import Follower, Oracle
from solver.solving.job import Job
from solver.solving.ways import opening, proof, whole
from solver.solving.ways.proof import Proving
from solver.verifying import playing, verification
from tests import naive
from tests.books import write_values
from tests.commands import ok, run
from tests.exports import needs_node
from tests.refusals import raises
from tests.verifying.test_forgers import checked
from tests.ways import compiled, plainly, slow, slow_rows

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("text", [*slow("tic-tac-toe", "connect-four:4,3"), "kalah:2,3", "dots-and-boxes:2,1", "coins"])
def test_every_state_to_the_ply_and_no_other_has_its_value(monkeypatch, text, symmetry):
    plainly(monkeypatch)
    monkeypatch.setattr(opening, "BLOCK", 7)
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
    exhaustive = pytest.importorskip("solver.sweep.exhaustive")
    monkeypatch.setattr(exhaustive, "STATES_PER_CHECK", 7)
    monkeypatch.setattr(opening, "PLAIN_LIMIT", 0)
    return exhaustive


PLIED = ("kalah:2,3", "coins", "pong-hau-ki", "hexapawn", *slow("mu-torere", "tic-tac-toe", "three-mens-morris:1"))


@pytest.mark.parametrize("symmetry", [True, *slow(False)])
@pytest.mark.parametrize("text", PLIED)
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


SMALL_TABLE = 1 << 16
DRAWN = "tic-tac-toe:3,2,3"
OF_VALUES = ("palette", "numbers", "stored", "longest", "book_id", "digest")  # facts of a header


def proved(game, path, plan=None, **options):
    asked = Options(table=options.pop("table", SMALL_TABLE), **options)
    return pipeline.run(game, path, asked, plan or Proving())


def sides_of(score):
    """Those who have something to prove at a start of this score."""
    return ("first", "second") if not score else ("first",) if score > 0 else ("second",)


PUBLISHED = {  # for the first player
    "hex:2": 1,  # strategy stealing
    "hex:3": 1,
    "tic-tac-toe": 0,
    "domineering:3,3": 1,  # Winning Ways
    "domineering:4,4": 1,
    "cram:2,4": -1,  # both sides are even: the second player answers by symmetry (Gardner 1974)
    "connect-four:4,4": 0,  # John Tromp
}

METHODS = ("alphabeta", "proof-number")  # alone
QUICK = ("hex:2", DRAWN, "domineering:3,3", "domineering:2,4", "clobber:2,4", "cram:2,4", "breakthrough:2,4")
SLOW = ("hex:3", "tic-tac-toe", "domineering:4,4", "connect-four:4,4", "breakthrough:3,4,2")
EITHER = [*itertools.product(("tic-tac-toe", "hex:3", "clobber:3,4"), METHODS)]


@pytest.mark.parametrize(
    ("text", "method"),
    [
        *((text, "auto") for text in QUICK),
        *itertools.product(QUICK[:2], METHODS),
        *slow_rows(*((text, "auto") for text in SLOW), *EITHER),
    ],
)
def test_the_start_has_its_value_and_its_side_an_answer_to_every_reply(tmp_path, text, method):
    game, header = load_game(text), proved(text, tmp_path / "proof.lmdb", Proving(method=method))
    score, truth = header.root.score, naive.solve(game, symmetry=True)
    start = Rules(game).canonical(game.initial())
    assert PUBLISHED.get(text, score) == score == truth[start].score and method in ("auto", header.method)
    with Book(tmp_path / "proof.lmdb") as book:
        assert {state: value.score for state, value in book.items()} == {state: truth[state].score for state in book}
        assert playing.prove(book, game, live=False).sides == sides_of(score)


@pytest.mark.parametrize(
    "text", ["tic-tac-toe", "domineering:3,3", *slow("hex:3", "domineering:3,4", "connect-four:4,3")]
)
def test_any_position_has_its_score_by_proof_numbers(text):
    from solver.compiled.exact.proof import Prover

    rules = Rules(load_game(text), kind=WDL)
    truth = naive.solve(rules.game)
    prover = Prover(rules, SMALL_TABLE)
    states = sorted(state for state in truth if not rules.is_terminal(state))
    for state in states[:: max(1, len(states) // 25)]:
        for bound in (0, 1):
            assert prover.is_worth(state, bound) == prover.answers([state])[0, bound] == (truth[state].score >= bound)


def test_a_full_table_makes_it_slower_not_wrong(tmp_path):
    for size, name in ((2048, "small"), (1 << 20, "large")):
        with solver.prove("domineering:4,4", tmp_path / f"{name}.lmdb", table=size) as book:
            assert book.root.score == 1


def test_a_book_serves_the_side_that_is_asked_for(tmp_path, monkeypatch):
    for side in ("first", "second", "both"):
        monkeypatch.setattr(proof, "FEW", 0 if side == "second" else 1 << 14)  # in wide plies replies are counted
        header = proved(DRAWN, tmp_path / f"{side}.lmdb", Proving(side))
        assert header.trim.side == side and header.root.score == 0
        with Book(tmp_path / f"{side}.lmdb") as book:
            playing.prove(book, book.game, live=False)
    refused = "the second player loses, so only the other has something to prove"
    raises(MethodError, refused, proved, "hex:2", tmp_path / "lost.lmdb", Proving("second"))


@pytest.mark.slow
def test_a_proof_takes_little_more_than_the_trimmed_book_of_a_solve(tmp_path):
    pipeline.solve("connect-four:5,4", tmp_path / "whole.lmdb").close()
    least = trim(tmp_path / "whole.lmdb", tmp_path / "trimmed.lmdb", Trim(side="first"), wdl=True).stored
    assert least == 2847
    assert proved("connect-four:5,4", tmp_path / "proof.lmdb", Proving("first"), table=None).stored < 2 * least


@pytest.fixture
def short_turns(monkeypatch):
    monkeypatch.setattr("solver.solving.racing.ALPHABETA_TURN", 100)
    monkeypatch.setattr("solver.solving.racing.PROOF_NUMBER_TURN", 25)


@pytest.mark.parametrize("method", ["auto", *slow("alphabeta", "proof-number")])
def test_an_interrupted_proof_goes_on_to_the_same_bytes(tmp_path, short_turns, method):
    whole = proved("tic-tac-toe", tmp_path / "whole.lmdb", Proving(method=method))
    again, interruptions = tmp_path / "again.lmdb", 0
    while not again.exists():
        signal = (KeyboardInterrupt, Terminated)[interruptions % 2]
        searching = itertools.count(1)

        def interrupt(step, *facts, signal=signal, searching=searching):
            if step == "prove" and next(searching) == 2:
                raise signal

        try:
            proved("tic-tac-toe", again, Proving(method=method), progress=interrupt)
        except signal:
            interruptions += 1
            assert (tmp_path / "again.lmdb.proof").exists()
    assert interruptions > 1 and not (tmp_path / "again.lmdb.proof").exists()
    assert again.read_bytes() == (tmp_path / "whole.lmdb").read_bytes()
    assert method in ("auto", whole.method)


def test_a_proof_that_takes_too_long_keeps_its_work(tmp_path, short_turns):
    book = tmp_path / "proof.lmdb"
    with pytest.raises(Unproved, match="after 1[0-9]+ nodes of alpha-beta; the same command goes on from here"):
        proved("tic-tac-toe", book, Proving(seconds=0))
    kept = tmp_path / "proof.lmdb.proof"
    assert kept.exists() and not book.exists()
    raises(ResourceError, "another proof or version: --restart", proved, "tic-tac-toe", book, table=2 * SMALL_TABLE)
    data = kept.read_bytes()
    kept.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    raises(DamagedBook, "is damaged: --restart begins anew", proved, "tic-tac-toe", book)
    assert proved("tic-tac-toe", book, restart=True).root.score == 0
    assert [path.name for path in tmp_path.iterdir()] == ["proof.lmdb"]


@pytest.mark.slow
def test_games_in_which_play_comes_back_are_not_proved(tmp_path):
    refused = "six-mens-morris has cycles, and a proof may never end there: solve it"
    raises(MethodError, refused, proved, "six-mens-morris", tmp_path / "proof.lmdb")


def test_the_command_proves_and_the_others_take_its_book(tmp_path, short_turns):
    book = tmp_path / "hex.lmdb"
    assert "first player wins" in ok("prove", "hex:2", "-o", book, "--table", "64K", "-q")
    assert "what the first player needs, as a search has proved" in ok("info", book)
    assert "the first player gets at least the value of each" in ok("verify", book, "--play", "-q")
    assert "win" in ok("query", book, "start", "-q")
    said = ok("prove", "hex:2", "--from", "start", "--table", "64K", "-q")
    assert "hex:2: win for the side to move, by alphabeta" in said
    book = tmp_path / "further.lmdb"  # Windows replaces no file that is open
    assert "win for the side to move at #8" in ok("prove", "hex:2", "--from", "b2", "-o", book, "--table", "64K", "-q")
    assert json.loads(ok("info", book, "--json"))["start"] == "#8"
    code, _, err = run("export", book, "-o", f"{tmp_path / 'site'}/")
    assert code == 2 and "does not begin where the game does" in err and not (tmp_path / "site").exists()
    assert "win for the side to move at #8" in Book(book).header.verdict
    assert "the first player gets at least the value of each" in ok("verify", book, "--play", "-q")
    asking = ("start", "--live", "--budget", "0.01", "-q")
    assert "or solver prove hex:5 --from POSITION, which says who wins" in run("query", "hex:5", *asking)[2]
    assert "prove" not in run("query", "quixo:4", *asking)[2]
    code, _, err = run("prove", "clobber", "--time", "0s", "--table", "64K", "-q")
    assert code == 7 and re.search("clobber is not proved after 10[0-9] nodes of alpha-beta$", err.strip())


@pytest.mark.parametrize(
    ("text", "moves", "method"),
    [
        ("tic-tac-toe", "a1 b2 c3", "proof-number"),
        *slow_rows(("tic-tac-toe", "a1", "proof-number"), ("tic-tac-toe", "a1 b1", "alphabeta")),
        *slow_rows(("connect-four:4,4", "12", "alphabeta"), ("breakthrough:3,4,2", "b2a3", "proof-number")),
    ],
)
def test_a_book_may_begin_anywhere(tmp_path, monkeypatch, text, moves, method):
    """It answers from there on, `verify` proves it from there, and as a book of the start it proves nothing."""
    game = load_game(text)
    state, path = parse_position(game, moves).state, tmp_path / "proof.lmdb"
    header, truth = proved(text, path, Proving(position=state, method=method)), naive.solve(game, symmetry=True)
    score = header.root.score
    assert header.start == state and score == truth[Rules(game).canonical(state)].score
    few = verification.verify(path)
    # As a large book, of which plain Python judges one state and what the bounds leave open
    monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)
    assert few.verdict == verification.verify(path).verdict == "proved"
    with Book(path) as book:
        assert playing.prove(book, game, live=False).sides == sides_of(score)
        # All that is needed, and less than from the start
        assert len(book) < proved(text, tmp_path / "start.lmdb", Proving(side="both" if not score else None)).stored
        values = dict(book.items())
    facts = {name: fact for name, fact in header._asdict().items() if name not in OF_VALUES} | {"start": None}
    write_values(tmp_path / "forged.lmdb", values, facts=facts)
    raises(DamagedBook, None, verification.verify, tmp_path / "forged.lmdb")


@compiled
def test_a_large_book_for_a_side_lacks_what_a_small_one_lacks(tmp_path, monkeypatch):
    """Behind lost positions, too, whose value any move keeps."""
    pipeline.solve("hex:3", tmp_path / "whole.lmdb").close()
    trim(tmp_path / "whole.lmdb", tmp_path / "side.lmdb", Trim(side="second"), wdl=True)
    with Book(tmp_path / "side.lmdb") as book:
        values, header = dict(book.items()), book.header
    facts = {name: fact for name, fact in header._asdict().items() if name not in OF_VALUES}
    found = set()
    for gap in [*values][::6]:
        less = {state: value for state, value in values.items() if state != gap}
        outcomes = [value.outcome for value in less.values()]
        facts["counts"] = {name: outcomes.count(name) for name in header.counts}
        write_values(tmp_path / "less.lmdb", less, facts=facts)
        verdicts = []
        for limit in (len(values), 0):
            monkeypatch.setattr(verification, "PLAIN_LIMIT", limit)
            try:
                verdicts.append(verification.verify(tmp_path / "less.lmdb", search=1e9).verdict)
            except DamagedBook:
                verdicts.append("refused")
        assert verdicts[0] == verdicts[1]
        found.update(verdicts)
    assert "refused" in found


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("text", ["tic-tac-toe", "hex:4"])
def test_another_program_proves_the_book_by_the_rules(tmp_path, monkeypatch, text):
    book, file, module = (tmp_path / name for name in ("proof.lmdb", "proof.bin", "game.wasm"))
    ok("build", text, "-o", module, "-q")
    assert proved(text, book).stored > 10
    ok("export", book, "-o", file, "-q")
    result = "draw" if text == "tic-tac-toe" else "win"
    assert f"{text}: the first player gets at least a {result}, proved in" in checked(file, module)[1]
    drop_some = proof.needed

    def needed(*asked):
        states = drop_some(*asked)
        return {state: value for state, value in states.items() if state != max(states)}

    monkeypatch.setattr(proof, "needed", needed)
    proved(text, book)
    ok("export", book, "-o", file, "-q")
    code, said = checked(file, module)
    assert code == 1 and re.match("not proved: (the book has no value|no move is known to be worth)", said)


def test_a_walk_ends_when_the_time_is_up():
    """Also where no search takes long enough to be asked for it."""
    from solver.compiled.exact.proof import Prover

    rules = Rules(load_game("hex:3"), kind=WDL)
    start = rules.canonical(rules.first())
    prover = Prover(rules, SMALL_TABLE, bounds=False)
    follower = Follower(rules, prover, None, {start: 1}, silent, deadline=time.monotonic() - 1)
    with pytest.raises(Unproved, match="hex: who wins is proved, but not all replies were followed: give more --time"):
        follower.settle([(start, True)])
    follower.deadline += 99
    follower.settle([(start, True)])
    assert follower.replies([start]) == Oracle.replies(follower, [start]) == [9]
