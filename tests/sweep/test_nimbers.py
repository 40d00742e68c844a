"""Nimbers against the xor of heaps (Bouton 1901) and published sequences and boards."""

import csv
import functools
import json
import operator

import pytest

from solver import Book, Player, solve, verify
from solver.base.errors import DamagedBook, GameError
from solver.base.value import Value
from solver.export import export
from solver.games.kayles import Kayles
from solver.rules.game import Rules, load_game
from solver.rules.notation import format_action
from solver.search.alphabeta import nimber
from solver.solving.ways import plain
from solver.verifying import verification
from tests import naive
from tests.books import write_values
from tests.commands import ok, run
from tests.oracles import NIMBERS
from tests.refusals import fails, raises
from tests.verifying.test_forgers import facts_of
from tests.ways import slow

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("boards", ["boards", *slow("larger")])
@pytest.mark.parametrize("figures", NIMBERS, ids=lambda figures: f"{figures.game}-{figures.source}")
def test_published_nimbers(figures, boards):
    for text, published in getattr(figures, boards).items():
        game = load_game(f"{figures.game}:{text}")
        assert nimber(Rules(game), game.initial(), {}, nodes=10**7) == published, text


# the first bite that wins, one on each board (Schuh 1952, Gale 1974)
BITES = {"2,2": "b2", "5,2": "e2", "3,3": "b2", "4,3": "c2", "4,4": "b2"}
LARGER_BITES = {"5,3": "d3", "6,3": "d2", "5,4": "c3", "6,4": "c2", "6,5": "d3"}


@pytest.mark.parametrize("text", [*BITES, *slow(*LARGER_BITES)])
def test_chomp_is_won_by_the_published_bite(text):
    game, table = load_game(f"chomp:{text}"), {}
    start, rules = game.initial(), Rules(game)
    won = [action for action in game.actions(start) if nimber(rules, game.result(start, action), table) == 0]
    assert [format_action(game, start, action) for action in won] == [(BITES | LARGER_BITES)[text]]


@pytest.mark.parametrize("text", ["nim:3,4,5", "nim:1,3,5,7", "coins:20,3,false"])
def test_heaps_have_their_xor_and_what_is_lost_is_zero(text):
    game = load_game(text)
    rules, table = Rules(game), {}
    for state, value in naive.solve(game).items():
        heaps = [state % 4] if text[0] == "c" else [game._heap(state, i) for i in range(len(game.heaps))]
        found = nimber(rules, state, table)
        assert found == functools.reduce(operator.xor, heaps)
        assert (found == 0) == (value.score < 0)


def test_a_query_says_nimbers_of_impartial_games_alone():
    assert "nimber 2" in ok("query", "nim:3,4,5", "start", "-q")
    assert "nimber" not in ok("query", "coins", "start", "-q")  # misere
    line = ok("query", "nim:3,4,5", "-", "-q", stdin="start\n")
    assert json.loads(line)["nimber"] == 2


def test_what_has_no_nimbers_says_so_and_what_takes_too_long_is_not_known():
    draws = type("Draws", (Kayles,), {"utility": lambda self, state: 0})(3)
    sides = type("Sides", (Kayles,), {"to_move": lambda self, state: 0})(3)
    for game, said in ((draws, "not lost"), (sides, "to_move"), (load_game("coins"), "set impartial")):
        raises(GameError, said, nimber, Rules(game), game.initial(), {})
    assert nimber(Rules(Kayles(20)), Kayles(20).initial(), {}, nodes=10) is None


def mex(game, state, found):
    """The nimber of a state by the book, and those of all below, not folded."""
    if state not in found:
        actions = [] if game.is_terminal(state) else game.actions(state)
        below = {mex(game, game.result(state, action), found) for action in actions}
        found[state] = next(number for number in range(len(below) + 1) if number not in below)
    return found[state]


@pytest.mark.parametrize("text", ["nim:2,3", "cram:3,2", *slow("nim:2,3,4", "cram:3,3", "nogo:3,2"), "grundy:9"])
def test_a_book_of_nimbers_is_that_of_plain_python_and_proved(text, tmp_path, monkeypatch):
    game, truth = load_game(text), {}
    mex(game, game.initial(), truth)
    solve(game, tmp_path / "plain.lmdb", method="nimbers").close()
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)
    with solve(game, tmp_path / "swept.lmdb", method="nimbers") as book:
        states = [state for state in truth if not game.is_terminal(state)]
        keys = [*map(Rules(game).canonical, states)]
        assert [book[key].score for key in keys] == [truth[state] or -1 for state in states]
        assert {*book} == {*keys} and book.root == book[keys[states.index(game.initial())]]
    assert (tmp_path / "plain.lmdb").read_bytes() == (tmp_path / "swept.lmdb").read_bytes()
    assert verify(tmp_path / "plain.lmdb").verdict == "proved"
    monkeypatch.setattr(verification, "PLAIN_LIMIT", 0)  # by kernels
    assert verify(tmp_path / "plain.lmdb").verdict == "proved"


def test_nimbers_of_more_than_a_byte(tmp_path, monkeypatch):
    """Which ends at 127."""
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)
    with solve("nim:130", tmp_path / "book.lmdb", method="nimbers") as book:
        assert {state: value.score for state, value in book.items()} == {heap: heap for heap in range(1, 131)}


@pytest.mark.slow
def test_the_nimbers_of_a_larger_board_by_the_sweep(tmp_path):
    with solve("cram:6,5", tmp_path / "book.lmdb", method="nimbers") as book:
        assert (book.root, book.states) == (Value(2), 3_169_277)  # the nimber is published
    assert verify(tmp_path / "book.lmdb").verdict == "proved"


@pytest.mark.parametrize("lie", ["large", "none"])
@pytest.mark.parametrize("few", [10**6, 0])
def test_a_wrong_nimber_is_found(few, lie, tmp_path, monkeypatch):
    with solve("nim:2,3", tmp_path / "book.lmdb", method="nimbers") as book:
        values, header = dict(book.items()), book.header
    if lie == "none":  # no number is as large as the children's
        values = dict.fromkeys(values, Value(-1))
    else:  # won as well: who wins is right everywhere
        values[next(state for state, value in values.items() if value.score == 2)] = Value(5)
    facts = facts_of(load_game("nim:2,3"), values, method="nimbers", wdl=header.wdl)
    write_values(tmp_path / "wrong.lmdb", values, facts=facts)
    monkeypatch.setattr(verification, "PLAIN_LIMIT", few)
    raises(DamagedBook, "another value than its children", verify, tmp_path / "wrong.lmdb")


def test_a_book_of_nimbers_is_asked_told_and_played_as_one_of_wins_and_losses(tmp_path):
    path = tmp_path / "book.lmdb"
    assert "first player wins, nimber 2" in ok("solve", "nim:3,4,5", "--method", "nimbers", "-o", path, "-q")
    assert "nimber 7               4" in ok("info", path, "--counts")
    facts = json.loads(ok("query", path, "start", "--json", "-q"))
    assert (facts["value"], facts["score"], facts["nimber"], facts["best"]) == ("win", 1, 2, ["a2"])
    searched = json.loads(ok("query", "nim:3,4,5", "start", "--json", "-q"))
    told = [{move["move"]: move["child"]["nimber"] for move in one["moves"]} for one in (facts, searched)]
    assert told[0] == told[1]
    with Book(path) as book, solve("nim:3,4,5") as usual:
        player = Player(book)
        for state, value in usual.items():
            assert player.value(state).value == Value(value.score)
            assert usual.get(player.choose(state).child, Value(-1)).score == -value.score or value.score < 0
        export(book, tmp_path / "book.csv", ["state", "score", "best"])
        best = {state: [move.action for move in player.analyse(state) if move.best] for state in book}
        told = {str(state): " ".join(book.game.format_action(state, one) for one in best[state]) for state in book}
    rows = [*csv.DictReader((tmp_path / "book.csv").read_text("utf-8").splitlines())]
    assert {row["state"]: row["best"] for row in rows} == told and {row["score"] for row in rows} == {*"1234567", "-1"}
    code, _, said = run("export", path, "-o", tmp_path / "no.parquet", "--format", "training")
    assert code == 2 and ("holds nimbers" in said or "pyarrow" in said)
    fails(2, "holds nimbers", "trim", path, "-o", tmp_path / "no.lmdb", "--drop-plies", "2")
