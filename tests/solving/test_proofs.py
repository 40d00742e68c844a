"""Proof books: the right value of the start, an answer to every reply, the same bytes after any interruption."""

import itertools
import json
import re
import subprocess
import time

import pytest

import solver
from solver.base.errors import DamagedBook, MethodError, ResourceError, Unproved
from solver.base.kinds import WDL
from solver.base.options import Options
from solver.base.progress import silent
from solver.base.signals import Terminated
from solver.book import Book
from solver.book.solution import Trim
from solver.edit.trimming import trim
from solver.export.site import WEB
from solver.rules.game import Rules, load_game
from solver.rules.reading import parse_position
from solver.solving import pipeline
from solver.solving.racing import Follower
from solver.solving.ways import proof
from solver.solving.ways.proof import Proving
from solver.verifying import playing, verification
from tests import naive
from tests.books import write_values
from tests.commands import ok, run
from tests.exports import needs_node
from tests.refusals import raises
from tests.ways import slow, slow_rows

SMALL_TABLE = 1 << 16
DRAWN = "tic-tac-toe:3,2,3"
OF_VALUES = ("palette", "numbers", "stored", "longest", "book_id", "digest")  # facts of a header


def proved(game, path, plan=None, **options):
    """Write a proof book; its header."""
    asked = Options(table=options.pop("table", SMALL_TABLE), **options)
    return pipeline.run(game, path, asked, plan or Proving())


# for the first player
PUBLISHED = {
    "hex:2": 1,  # strategy stealing
    "hex:3": 1,
    "tic-tac-toe": 0,
    "domineering:3,3": 1,  # Winning Ways
    "domineering:4,4": 1,
    "cram:2,4": -1,  # both sides are even: the second player answers by symmetry (Gardner 1974)
    "connect-four:4,4": 0,  # John Tromp
}


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "text",
    [
        *("hex:2", DRAWN, "domineering:3,3", "domineering:2,4", "clobber:2,4", "cram:2,4", "breakthrough:2,4"),
        *slow("hex:3", "tic-tac-toe", "domineering:4,4", "connect-four:4,4", "breakthrough:3,4,2"),
    ],
)
def test_the_start_has_its_value_and_its_side_an_answer_to_every_reply(tmp_path, text):
    game = load_game(text)
    score = proved(text, tmp_path / "proof.lmdb").root.score
    truth = naive.solve(game, symmetry=True)
    assert PUBLISHED.get(text, score) == score == truth[game.initial()].score
    with Book(tmp_path / "proof.lmdb") as book:
        assert {state: value.score for state, value in book.items()} == {state: truth[state].score for state in book}
        found = playing.prove(book, game, live=False)
    assert found.sides == (("first", "second") if not score else ("first",) if score > 0 else ("second",))


@pytest.mark.interpreted
@pytest.mark.parametrize("text", [DRAWN, "hex:2", *slow("tic-tac-toe", "hex:3", "clobber:3,4")])
def test_either_search_alone_proves_the_same(tmp_path, text):
    scores = set()
    for method in ("alphabeta", "proof-number"):
        header = proved(text, tmp_path / method, Proving(method=method))
        assert header.method == method
        scores.add(header.root.score)
        with Book(tmp_path / method) as book:
            playing.prove(book, book.game, live=False)
    assert len(scores) == 1


@pytest.mark.interpreted
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
            assert prover.is_worth(state, bound) == (truth[state].score >= bound)
            assert prover.answer(state, bound) == (truth[state].score >= bound)


@pytest.mark.interpreted
def test_a_full_table_makes_it_slower_not_wrong(tmp_path):
    header = proved("domineering:4,4", tmp_path / "small.lmdb", table=2048)
    assert header.root.score == proved("domineering:4,4", tmp_path / "large.lmdb", table=1 << 20).root.score == 1


@pytest.mark.interpreted
def test_a_book_serves_the_side_that_is_asked_for(tmp_path):
    for side in ("first", "second", "both"):
        header = proved(DRAWN, tmp_path / f"{side}.lmdb", Proving(side))
        assert header.trim.side == side and header.root.score == 0
        with Book(tmp_path / f"{side}.lmdb") as book:
            playing.prove(book, book.game, live=False)
    with pytest.raises(MethodError, match="the second player loses, so only the other has something to prove"):
        proved("hex:2", tmp_path / "lost.lmdb", Proving("second"))


@pytest.mark.slow
def test_a_proof_takes_little_more_than_the_trimmed_book_of_a_solve(tmp_path):
    pipeline.solve("connect-four:5,4", tmp_path / "whole.lmdb").close()
    least = trim(tmp_path / "whole.lmdb", tmp_path / "trimmed.lmdb", Trim(side="first"), wdl=True).stored
    assert least == 2843
    assert proved("connect-four:5,4", tmp_path / "proof.lmdb", Proving("first"), table=None).stored < 2 * least


@pytest.fixture
def short_turns(monkeypatch):
    """Races in turns of few nodes."""
    monkeypatch.setattr("solver.solving.racing.ALPHABETA_TURN", 100)
    monkeypatch.setattr("solver.solving.racing.PROOF_NUMBER_TURN", 25)


@pytest.mark.interpreted
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


@pytest.mark.interpreted
def test_a_proof_that_takes_too_long_keeps_its_work(tmp_path, short_turns):
    book = tmp_path / "proof.lmdb"
    with pytest.raises(Unproved, match="after 1[0-9]+ nodes of alpha-beta; the same command goes on from here"):
        proved("tic-tac-toe", book, Proving(seconds=0))
    kept = tmp_path / "proof.lmdb.proof"
    assert kept.exists() and not book.exists()
    with pytest.raises(ResourceError, match="is of another proof or version: --restart discards it"):
        proved("tic-tac-toe", book, table=2 * SMALL_TABLE)
    data = kept.read_bytes()
    kept.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    raises(DamagedBook, "is damaged: --restart begins anew", proved, "tic-tac-toe", book)
    assert proved("tic-tac-toe", book, restart=True).root.score == 0
    assert [path.name for path in tmp_path.iterdir()] == ["proof.lmdb"]


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kalah:2,2", "kalah:2,2 has margins: prove is for wins, draws and losses"),
        ("pig:10", "pig:10 has chance"),
        ("mu-torere", "mu-torere has no tier"),
        *slow_rows(("six-mens-morris", "six-mens-morris has cycles, and a proof may never end there: solve it")),
    ],
)
def test_games_that_cannot_be_proved_are_refused(tmp_path, text, said):
    raises(MethodError, said, proved, text, tmp_path / "proof.lmdb")
    assert not (tmp_path / "proof.lmdb").exists()


@pytest.mark.interpreted
def test_a_book_is_returned_open(tmp_path):
    with solver.prove("coins:5", tmp_path / "coins.lmdb", table=SMALL_TABLE) as book:
        assert book.root.score == naive.solve(book.game)[book.game.initial()].score


@pytest.mark.interpreted
def test_the_command_proves_and_the_others_take_its_book(tmp_path, short_turns):
    book = tmp_path / "hex.lmdb"
    assert "first player wins" in ok("prove", "hex:2", "-o", book, "--table", "64K", "-q")
    assert "what the first player needs, as a search has proved" in ok("info", book)
    assert "the first player gets at least the value of each" in ok("verify", book, "--play", "-q")
    assert "win" in ok("query", book, "start", "-q")
    assert "hex:2: win for the side to move, by alphabeta" in ok(
        "prove", "hex:2", "--from", "start", "--table", "64K", "-q"
    )
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


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("text", "moves", "method"),
    [
        ("tic-tac-toe", "a1 b2 c3", "proof-number"),
        *slow_rows(("tic-tac-toe", "a1", "proof-number"), ("tic-tac-toe", "a1 b1", "alphabeta")),
        *slow_rows(("connect-four:4,4", "12", "alphabeta"), ("breakthrough:3,4,2", "b2a3", "proof-number")),
    ],
)
def test_a_book_may_begin_anywhere(tmp_path, text, moves, method):
    """It answers from there on, `verify` proves it from there, and as a book of the start it proves nothing."""
    game = load_game(text)
    state, path = parse_position(game, moves).state, tmp_path / "proof.lmdb"
    header, truth = proved(text, path, Proving(position=state, method=method)), naive.solve(game, symmetry=True)
    score = header.root.score
    assert header.start == state and score == truth[Rules(game).canonical(state)].score
    assert verification.verify(path).verdict == "proved"
    with Book(path) as book:
        found = playing.prove(book, game, live=False)
        assert found.sides == (("first", "second") if not score else ("first",) if score > 0 else ("second",))
        # All that is needed, and less than from the start
        assert len(book) < proved(text, tmp_path / "start.lmdb", Proving(side="both" if not score else None)).stored
        values = dict(book.items())
    facts = {name: fact for name, fact in header._asdict().items() if name not in OF_VALUES} | {"start": None}
    write_values(tmp_path / "forged.lmdb", values, facts=facts)
    raises(DamagedBook, None, verification.verify, tmp_path / "forged.lmdb")


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("text", ["tic-tac-toe", "hex:4"])
def test_another_program_proves_the_book_by_the_rules(tmp_path, monkeypatch, text):
    assert proved(text, tmp_path / "proof.lmdb").stored > 10
    result = "draw" if text == "tic-tac-toe" else "win"
    assert f"{text}: the first player gets at least a {result}, proved in" in checked(tmp_path, text)[1]
    drop_some = proof.needed

    def needed(*asked):
        states = drop_some(*asked)
        return {state: value for state, value in states.items() if state != max(states)}

    monkeypatch.setattr(proof, "needed", needed)
    proved(text, tmp_path / "proof.lmdb")
    code, _, err = checked(tmp_path, text)
    assert code == 1 and re.match("not proved: (the book has no value|no move is known to be worth)", err)


def checked(folder, text):
    """What `check.mjs` says of a book."""
    ok("export", folder / "proof.lmdb", "-o", folder / "proof.bin", "-q")
    if not (folder / "game.wasm").exists():
        ok("build", text, "-o", folder / "game.wasm", "-q")
    check = WEB / "reader" / "check.mjs"
    done = subprocess.run(
        ["node", check, folder / "proof.bin", folder / "game.wasm"], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.interpreted
def test_a_walk_ends_when_the_time_is_up():
    """Also where no search takes long enough to be asked for it."""
    from solver.compiled.exact.proof import Prover

    rules = Rules(load_game("hex:3"), kind=WDL)
    start = rules.canonical(rules.first())
    prover = Prover(rules, SMALL_TABLE, bounds=False)
    follower = Follower(rules, prover, None, {start: 1}, silent, deadline=time.monotonic() - 1)
    with pytest.raises(Unproved, match="hex: who wins is proved, but not all replies were followed: give more --time"):
        follower.settle(start, True)
    Follower(rules, prover, None, {start: 1}, silent).settle(start, True)
