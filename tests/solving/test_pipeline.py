"""The pipeline: the same book by every way of solving and by import, and no trace of a solve that failed."""

import json
import os
import pickle
import tempfile
from pathlib import Path

import pytest

from solver.base import options
from solver.base.errors import ForeignBook, MethodError, ResourceError
from solver.base.value import Value
from solver.book import Book, streaming
from solver.export import export
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from solver.solving import pipeline
from solver.solving.job import Job
from solver.solving.ways import plain
from solver.verifying.verification import verify
from tests import naive
from tests.commands import ok, run
from tests.games import MORE_GAMES, SMALL_GAMES
from tests.processes import python
from tests.refusals import failing, fails, raises
from tests.ways import by_kernels, compiled, plainly, slow, slowly
from tests.written import write_rules

ONE_OF_EACH = {text.partition(":")[0]: text for text in reversed(SMALL_GAMES)}.values()
MORE_BOARDS = [text for text in SMALL_GAMES if text not in ONE_OF_EACH]


@pytest.mark.parametrize("symmetry", [True, *slow(False)])
@pytest.mark.parametrize("text", [*slowly(SMALL_GAMES, *MORE_BOARDS), *slow(*MORE_GAMES)])
def test_a_book_holds_the_truth(tmp_path, monkeypatch, text, symmetry):
    plainly(monkeypatch)
    game = load_game(text)
    truth = naive.solve(game, symmetry=symmetry)
    with pipeline.solve(game, tmp_path / "book.lmdb", symmetry=symmetry) as written:
        header = written.header
    with Book(tmp_path / "book.lmdb") as book:
        assert dict(book.items()) == {state: value for state, value in truth.items() if not game.is_terminal(state)}
        assert book.header == header
    assert header.states == len(truth)
    assert header.terminal == sum(game.is_terminal(state) for state in truth)
    assert header.counts["win"] == sum(value.score > 0 for value in truth.values())
    assert header.counts["draw"] == sum(value.score == 0 for value in truth.values())
    wins = [value.distance for value in truth.values() if value.score > 0 and value.distance]
    if book.longest is not None:
        distance, state = book.longest
        assert distance == max(wins)
        assert truth[state] == Value(1, distance)


def test_every_option_of_solve_gets_to_the_way(monkeypatch):
    def prepared(game, path, given):
        raise InterruptedError(given)

    monkeypatch.setattr(pipeline, "_prepared", prepared)
    wanted = options.Options(*(f"the {name}" for name in options.Options._fields))
    with pytest.raises(InterruptedError) as raised:
        pipeline.solve("coins", **wanted._asdict())
    assert raised.value.args == (wanted,)


def test_a_book_without_a_path_goes_when_it_is_closed(tmp_path, monkeypatch):
    plainly(monkeypatch)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    way = {"initial": "1", "result": "(state + action) % 9", "is_terminal": "state == 0", "tier": "0"}
    with pipeline.solve(write_rules(tmp_path / "ring.py", **way)) as book:
        assert book.path.parent.parent == tmp_path
        assert dict(book) == {state: value for state, value in naive.solve(book.game).items() if state}
        assert Player(book).value(1).value == book.root  # it knows rules of a user's own
        assert verify(book.path, book.game).closed
        with Book(book.path, book.game) as again, pickle.loads(pickle.dumps(book)) as sent:  # noqa: S301
            assert again == sent == book and again.game == sent.game == book.game
        with Book(book.path) as unknown, pytest.raises(ForeignBook, match=r"or in Python Book\(path, game\)"):
            _ = unknown.game
        raises(ForeignBook, "was made by rules", Book, book.path, load_game("coins"))
    assert not book.path.parent.exists()
    assert (book.header.stored, book.header.method) == (8, "retrograde")  # what it says of itself stays
    book = pipeline.solve("coins")
    path = book.path
    if hasattr(os, "fork"):
        child = os.fork()
        if child == 0:  # what a fork lets go of is not its own
            book.close()
            os._exit(not path.exists())
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    del book
    assert not path.parent.exists()


def test_a_book_without_a_path_goes_with_the_interpreter(tmp_path):
    script = "import solver\nbook = solver.solve('coins')\nprint(book.path, book.path.exists(), book.root.outcome)"
    done = python(script, check=True)
    path, *rest = done.stdout.split()
    assert (rest, done.stderr, Path(path).parent.exists()) == (["True", "loss"], "", False)


def test_a_temporary_book_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    plainly(monkeypatch)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(streaming, "write_book", failing(ResourceError("the disk is full")))
    raises(ResourceError, "full", pipeline.solve, "coins")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    raises(ResourceError, "no temporary file can be made .*: name a path for the book", pipeline.solve, "coins")


def test_a_game_is_solved_without_a_book_where_none_is_wanted(tmp_path, monkeypatch):
    plainly(monkeypatch)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pipeline.solve("tic-tac-toe") as book:
        written = book.header
    monkeypatch.delattr(streaming, "write_book")
    header = pipeline.run(load_game("tic-tac-toe"), None, options.Options())
    assert header == written._replace(book_id=b"", digest="")


DOWN, ROUND = "max(state - action, 0)", "(state + action) % 20 + 1"


def stones(path, result, **bodies):
    bodies = {"initial": "12", "is_terminal": "state <= 0 or state >= 1000", "utility": "3 - state % 7", **bodies}
    return load_game(write_rules(path, fields="score_game = True", result=result, **bodies))


SAME = [  # games, the methods asked for, and those of their books
    ("tic-tac-toe:3,2,2", "auto", "minimax"),
    ("tic-tac-toe:3,2,2", "retrograde", "retrograde"),
    ("dots-and-boxes:1,2", "auto", "minimax"),
    ("pong-hau-ki", "retrograde", "retrograde"),
    ("STONES", "auto", "retrograde"),
    *slow(("three-mens-morris:1", "auto", "retrograde"), ("tic-tac-toe", "auto", "minimax")),
    *slow(("kalah:2,3", "auto", "minimax"), ("STONES", "minimax", "minimax")),
]


@compiled
@pytest.mark.parametrize("case", SAME, ids="-".join)
@pytest.mark.interpreted
def test_plain_and_compiled_books_are_the_same_bytes(tmp_path, monkeypatch, case):
    text, method, found = case
    game = stones(tmp_path / "flat.py", DOWN) if text == "STONES" else load_game(text)
    by_kernels(monkeypatch)
    books, said = set(), []
    for workers in (None, 1, 3):
        with pipeline.solve(game, tmp_path / "fast.lmdb", method=method, workers=workers, say=said.append) as book:
            assert book.header.method == found
            assert text == "STONES" or (book.header.tiers is None) == (method == found)
        books.add((tmp_path / "fast.lmdb").read_bytes())
    assert (said == []) == (case[:2] != ("STONES", "minimax"))
    plainly(monkeypatch)
    pipeline.solve(game, tmp_path / "plain.lmdb", method=method, say=said.append).close()
    assert books == {(tmp_path / "plain.lmdb").read_bytes()}
    assert "pip install 'solverbook[solve]'" in said[-1]


@pytest.mark.parametrize("way", [plainly, pytest.param(by_kernels, marks=compiled)], ids=["plain", "kernels"])
@pytest.mark.interpreted
def test_retrograde_analysis_of_margins_heeds_tiers(monkeypatch, way):
    way(monkeypatch)
    with pipeline.solve(load_game("kalah:2,2"), method="retrograde") as book, pipeline.solve("kalah:2,2") as other:
        assert dict(book.items()) == dict(other.items()) and book.header.tiers == other.header.tiers


def test_alphabeta_keeps_exact_entries_only(tmp_path):
    game = load_game("connect-four:4,3")
    truth = naive.solve(game, symmetry=True)
    with pipeline.solve(game, tmp_path / "book.lmdb", method="alphabeta") as book:
        assert (book.header.scope, book.states) == ("exact", None)
        assert 0 < len(book) < len(truth) / 2
        assert all(truth[state] == value for state, value in book.items())


@pytest.mark.parametrize("arrays", [False, pytest.param(True, marks=compiled)])
@pytest.mark.interpreted
def test_the_start_is_solved_though_starts_does_not_name_it(tmp_path, monkeypatch, arrays):
    if arrays:
        by_kernels(monkeypatch)
    game = load_game(write_rules(tmp_path / "several.py", initial="1", starts="yield 5\nyield 3", tier="state"))
    with pipeline.solve(game, tmp_path / "book.lmdb") as book:
        assert (book.root, book.header.stored) == (naive.solve(game)[1], 9)
    assert verify(tmp_path / "book.lmdb", game).states == 9


@compiled
def test_rules_that_numba_cannot_compile_are_solved_plainly(tmp_path, monkeypatch):
    by_kernels(monkeypatch)
    dynamic = write_rules(tmp_path / "dynamic.py", result="__import__('operator').add(state, action)", tier="state")
    said = []
    with pipeline.solve(dynamic, tmp_path / "ring.lmdb", say=said.append) as book:
        assert (book.header.method, book.header.stored) == ("minimax", 10)
    assert "cannot be compiled" in said[0]


@compiled
@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.interpreted
def test_scores_with_moves_inside_a_tier_are_solved_plainly_where_these_score(tmp_path, monkeypatch, scores):
    by_kernels(monkeypatch)
    rewards = {"reward": "1"} if scores else {}
    game, said = stones(tmp_path / "steps.py", DOWN, tier="(12 - state) // 5", **rewards), []
    book = pipeline.solve(game, tmp_path / "steps.lmdb", checkpoint=0, say=said.append)
    method = "minimax" if scores else "retrograde"
    assert (book.header.method, book.header.stored, len(book.header.tiers)) == (method, 12, 3)
    assert not scores or "has a move that scores and stays in its tier" in said[-1]
    assert not (tmp_path / "steps.lmdb.work").exists()


@compiled
@pytest.mark.parametrize("tier", [{}, {"tier": "7"}], ids=["flat", "tier"])
@pytest.mark.interpreted
def test_scores_with_cycles_are_solved(monkeypatch, tmp_path, tier):
    by_kernels(monkeypatch)
    monkeypatch.setattr("solver.solving.job.random_games", lambda game, progress: [])  # they have no end
    game = stones(tmp_path / "round.py", ROUND, **tier)
    with pipeline.solve(game, tmp_path / "round.lmdb") as book:
        assert {value.score for value in book.values()} == {0}, "it has no end"
    with pytest.raises(MethodError, match="has cycles, which minimax cannot solve: use retrograde analysis"):
        pipeline.solve(game, method="minimax")


def test_plain_python_takes_what_has_few_states_a_tier(monkeypatch):
    """The kernels pay for every tier, plain Python for every state."""
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 200)
    assert plain.tiers_of_one_game(Rules(load_game("coins:2000"))) > 500
    monkeypatch.setattr(plain, "TIER_SECONDS", 0.01)
    games = map(load_game, ("coins:2000", "connect-four:4,3,3"))
    thin, broad = (Job(Rules(game), None, options.Options()) for game in games)
    assert plain.tried(thin).solved.stored == 2000
    assert plain.tried(broad) is None
    assert 1 <= plain.tiers_of_one_game(Rules(load_game("three-mens-morris"))) < 100  # whose play never ends


GAME = "connect-four:3,3,3"


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("import")
    with pipeline.solve(load_game(GAME), folder / "book.lmdb") as book:
        export(book, folder / "book.jsonl", ["state", "score", "distance"])
    return (folder / "book.jsonl").read_text("utf-8").splitlines(), folder / "book.lmdb"


@pytest.mark.parametrize("game", [GAME, "kalah:2,3", "mu-torere", "dots-and-boxes:2,1", *slow("three-mens-morris:1")])
def test_an_exported_book_comes_back_to_the_byte(tmp_path, game):
    with pipeline.solve(load_game(game), tmp_path / "book.lmdb") as book:
        export(book, tmp_path / "book.jsonl")
    facts = json.loads(ok("import", tmp_path / "book.jsonl", game, "-o", tmp_path / "again.lmdb", "--json"))
    assert (facts["scope"], facts["book"]) == ("complete", str(tmp_path / "again.lmdb")) and facts["seconds"] >= 0
    assert (tmp_path / "again.lmdb").read_bytes() == (tmp_path / "book.lmdb").read_bytes()


def test_a_file_in_any_order_with_all_images_is_folded(solved, tmp_path):
    game = load_game(GAME)
    with pipeline.solve(game, tmp_path / "whole.lmdb", symmetry=False) as book:
        export(book, tmp_path / "whole.jsonl", ["distance", "score", "state"])
    lines = (tmp_path / "whole.jsonl").read_text("utf-8").splitlines()
    lines = [line.replace('"state":', '"state":"').replace("}", '"}') for line in reversed(lines)]  # for JavaScript
    (tmp_path / "whole.jsonl").write_text("\n".join(lines))
    ok("import", tmp_path / "whole.jsonl", GAME, "-o", tmp_path / "folded.lmdb")
    assert (tmp_path / "folded.lmdb").read_bytes() == solved[1].read_bytes()
    ok("import", tmp_path / "whole.jsonl", GAME, "-o", tmp_path / "apart.lmdb", "--no-symmetry")
    assert (tmp_path / "apart.lmdb").read_bytes() == (tmp_path / "whole.lmdb").read_bytes()


def test_some_states_make_a_book_of_exact_entries(solved, tmp_path):
    lines, _ = solved
    (tmp_path / "some.jsonl").write_text("\n".join(lines[:1] + lines[7::3]) + "\n")
    code, out, err = run("import", tmp_path / "some.jsonl", GAME, "-o", tmp_path / "some.lmdb")
    assert code == 0 and "exact" in out and "not all of the game" in err
    with Book(tmp_path / "some.lmdb") as book:
        assert len(book) == len(lines[:1] + lines[7::3])
    assert verify(tmp_path / "some.lmdb").closed is False


def changed(line, **fields):
    return json.dumps({**json.loads(line), **fields})


def test_nothing_wrong_is_imported(solved, tmp_path):
    lines, _ = solved
    target = tmp_path / "book.lmdb"
    wrong = tmp_path / "wrong.jsonl"
    win = next(number for number, line in enumerate(lines) if json.loads(line)["score"] == 1)
    distance = json.loads(lines[win])["distance"]

    def refused(expected, *rest, code=2):
        wrong.write_text("\n".join(rest) + "\n")
        found, out, err = run("import", wrong, GAME, "-o", target)
        assert (found, out, err.count("\n")) == (code, "", 1) and expected in err and str(wrong) in err, err
        assert not target.exists()

    others = lines[:win] + lines[win + 1 :]
    for fields in ({"distance": distance + 2}, {"score": -1}, {"score": 0, "distance": None}):
        refused("another value than its moves give it", *others, changed(lines[win], **fields), code=5)
    refused("has another value before", *lines, changed(lines[win], distance=distance + 2), code=5)
    refused(f"line {len(lines) + 1}", *lines, "{")
    refused("lacks the start", *lines[1:])
    wrong_fields = {"score": (2, True, 1.0, None), "distance": (-1, None, 10**15, "5"), "state": (-1, 2**63, "x", [1])}
    for name, numbers in wrong_fields.items():
        for number in numbers:
            line = changed(lines[win], **{name: number})
            refused(f"line {win + 1}: ", *lines[:win], line, *lines[win + 1 :])
    refused("line 1", "[" * 100_000)
    refused("line 1", '"text"')
    refused("no state and score", '{"state": 0}')
    game = load_game(GAME)
    finished = next(filter(game.is_terminal, naive.enumerate_states(game)))
    refused("finished", *lines, json.dumps({"state": finished, "score": 0, "distance": None}))


def test_margins_that_follow_from_themselves_prove_nothing(tmp_path):
    circle = {"result": "(state + action) % 3 if action == 1 else 3", "is_terminal": "state == 3", "utility": "0"}
    game = write_rules(tmp_path / "round.py", fields="score_game = True", **circle)
    (tmp_path / "round.jsonl").write_text("".join(f'{{"state":{state},"score":0}}\n' for state in range(3)))
    command = ("import", tmp_path / "round.jsonl", game, "-o", tmp_path / "round.lmdb")
    fails(2, "--no-verify", *command)
    assert "stored   3" in ok(*command, "--no-verify")


def test_numbers_that_are_no_states_are_refused(solved, tmp_path, monkeypatch):
    lines, _ = solved
    (tmp_path / "odd.jsonl").write_text("\n".join([*lines, '{"state":9223372036854775807,"score":0}']))
    code, _, err = run("import", tmp_path / "odd.jsonl", GAME, "-o", tmp_path / "odd.lmdb")
    assert code in (2, 5) and "9223372036854775807" in err and err.count("\n") == 1
    monkeypatch.setattr("solver.solving.ways.imported.STATE_BYTES", 1 << 40)
    monkeypatch.setattr("solver.solving.ways.imported.STEP", 100)
    fails(6, "free some memory", "import", tmp_path / "odd.jsonl", GAME, "-o", tmp_path / "odd.lmdb")
    fails(2, "cannot be read", "import", tmp_path / "none.jsonl", GAME, "-o", tmp_path / "odd.lmdb")
