"""Values from elsewhere: what an export says comes back to the byte, and nothing wrong is believed."""

import json

import pytest

from solver.book import Book
from solver.export import export
from solver.rules.game import load_game
from solver.solving import pipeline
from solver.verifying import verification
from tests.commands import ok, run
from tests.refusals import fails
from tests.ways import slow
from tests.written import write_rules

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
    assert verification.verify(tmp_path / "some.lmdb").closed is False


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
    finished = next(
        game.result(state, action)
        for state in (json.loads(line)["state"] for line in lines)
        for action in game.actions(state)
        if game.is_terminal(game.result(state, action))
    )
    refused("finished", *lines, json.dumps({"state": finished, "score": 0, "distance": None}))


ROUND = {
    "fields": "score_game = True",
    "result": "(state + action) % 3 if action == 1 else 3",
    "is_terminal": "state == 3",
    "utility": "0",
}


def test_margins_that_follow_from_themselves_prove_nothing(tmp_path):
    game = write_rules(tmp_path / "round.py", **ROUND)
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
