"""Grown books: the tree, what grows of it, what its values are worth, and what is made of such a book."""

import dataclasses
import json
import random
import shutil
import subprocess
import sys

import pytest

from solver import Book, Player, load_game
from solver.base.errors import BookError, ForeignBook, MethodError, PositionError
from solver.base.expectations import Estimate
from solver.base.options import Options
from solver.base.value import is_estimate, merit_of
from solver.compiled.lookahead.evaluation import write
from solver.edit.comparing import diff, merge
from solver.play.analysis import Move, nearly_best
from solver.play.ugi import Session
from solver.rules.game import Rules
from solver.solving import pipeline
from solver.solving.ways import grown
from solver.solving.ways.grown import Growing, Tree, positions_of
from solver.verifying.verification import verify
from tests import naive
from tests.commands import ok, run
from tests.compiled.test_depth import evaluation
from tests.interpreted import interpret
from tests.refusals import fails, raises
from tests.ways import until

pytestmark = pytest.mark.interpreted
GAME = "connect-four:4,3"
KIND = Estimate("outcome", 2, "evaluate", "0" * 64)


def unfinished(game):
    return {state: value for state, value in naive.solve(game, True).items() if not game.is_terminal(state)}


def test_a_tree_of_exact_leaves_has_the_game_s_values_in_whatever_order_they_come():
    game = load_game("tic-tac-toe")
    rules, truth = Rules(game), unfinished(game)
    late = {state for state in truth if rules.tier(state) >= 5}
    items = [(state, merit_of(value) if state in late else 0.001) for state, value in truth.items()]
    for seed in range(3):
        random.Random(seed).shuffle(items)
        tree = Tree(rules, KIND)
        for begin in range(0, len(items), 100):
            tree.add(items[begin : begin + 100])
        assert tree.merits == {state: merit_of(value) for state, value in truth.items()}
        assert all(tree.is_exact(state) and tree.is_expanded(state) for state in truth)
        assert tree.leaves(9, 1.0, None) == []


def test_moves_of_what_is_exact_come_when_nothing_else_does():
    """A start whose value a search has found is not a book yet: it tells no move."""
    rules, truth = Rules(load_game("tic-tac-toe")), unfinished(load_game("tic-tac-toe"))
    tree, start = Tree(rules, KIND), rules.game.initial()
    tree.add([(start, merit_of(truth[start]))])
    assert tree.leaves(9, 1.0, None) == [start]
    children = tree.children(start)
    tree.add([(child, -0.25 if child == children[1] else merit_of(truth[child])) for child in children])
    assert tree.leaves(9, 1.0, None) == [children[1], *sorted({*children} - {children[1]})], "the best first"
    assert tree.leaves(9, 0.1, None) == [children[1]]


def test_backing_up_keeps_apart_what_is_exact():
    win, loss, good, bad = merit_of((1, 3)), merit_of((-1, 4)), 0.5 + 0.5 / 512, -0.25 + 0.5 / 512
    for merits, found in (
        ([good, bad], good),
        ([0, -1, loss], 0),
        ([win, good], win),
        ([loss, bad], bad),
        ([loss, -1.0], -1.0),
        ([merit_of((1, 9)), good], 1.0),
        ([merit_of((1, 9)), 0], merit_of((1, 9))),
        ([0, bad], 0.5 / 512),
    ):
        assert (KIND.backed_up(merits), type(KIND.backed_up(merits))) == (found, type(found))
        assert KIND.fits(KIND.value(found)) and merit_of(KIND.value(found)) == found
    margins = KIND._replace(of="margin")
    assert margins.backed_up([3, 1.5625]) == 3.0625 and margins.backed_up([3, 1]) == 3
    assert [margins.estimated(x) for x in (0.0, 0.1, -0.1, 1e9)] == [0.0625, 0.0625, -0.0625, 4095.9375]
    assert KIND.estimated(0.999999) < 1 and KIND.lifted(0.25, False, 0) == -0.25


def test_leaves_are_those_of_likely_play():
    rules = Rules(load_game("tic-tac-toe"), symmetry=False)
    game, start = rules.game, rules.game.initial()
    tree = Tree(rules, KIND)
    tree.add([(start, 0.001)])
    assert tree.leaves(9, 0.1, None) == [start]
    after = {action: game.result(start, action) for action in game.actions(start)}
    worth = dict(zip(after, (-0.25, -0.2, 0.25, 0.3, 0.25, 0.3, 0.3, 0.3, 0.3), strict=True))
    tree.add([(after[action], estimate) for action, estimate in worth.items()])
    assert tree.merits[start] == 0.25
    assert tree.leaves(9, 0.1, None) == [after[0], after[1]]  # the second loses 0.05, the third half a game
    assert tree.leaves(9, 0.1, 0) == [after[0]] and tree.leaves(9, 0.1, 1) == [after[0], after[1]]
    assert len(tree.leaves(9, 1.0, None)) == 9 and len(tree.leaves(3, 1.0, None)) == 3


def test_games_in_which_play_comes_back_are_refused():
    rules = Rules(load_game("mu-torere"))
    states = ((state, 0.001) for state in naive.solve(rules.game, True) if not rules.is_terminal(state))
    raises(MethodError, "cycles", Tree(rules, KIND).add, states)


@pytest.fixture(autouse=True, scope="module")
def few_nodes():
    """So few that a small game has estimates; and small rounds, so that there are some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grown, "EXACT_NODES", 28)
        patch.setattr(grown, "ROUND", 4)
        yield


def grow(path, plan, game=GAME, **options):
    return pipeline.grow(game, path, dataclasses.replace(plan, depth=plan.depth or 1), Options(**options))


@pytest.fixture(scope="module")
def book(tmp_path_factory, pytestconfig):
    path = tmp_path_factory.mktemp("grown") / "a.lmdb"
    with pytest.MonkeyPatch.context() as patch:
        if not pytestconfig.getoption("compile"):
            interpret(patch)
        grow(path, Growing(positions=60, error=2.0))
    return path


def test_what_is_exact_is_right_and_estimates_are_their_moves(book):
    truth = unfinished(load_game(GAME))
    with Book(book) as opened:
        exact = [state for state, value in opened.items() if not is_estimate(value)]
        assert all(opened[state] == truth[state] for state in exact)
        assert 10 < len(exact) < len(opened) - 10 and len(opened) >= 60
        scores = opened.lookup(list(opened)).scores
        assert [value.score for value in opened.values()] == scores.tolist()
    report = verify(book, search=0.05)
    assert report.verdict == "consistent" and f"{len(exact):,} values are exact" in report.basis


def test_the_same_bytes_for_any_workers_in_steps_and_interrupted(book, tmp_path):
    path, whole = tmp_path / "b.lmdb", Growing(positions=60, error=2.0)

    def stop(step, done, total, note=""):
        if step == "growing" and done > 40:
            raise KeyboardInterrupt

    grow(path, dataclasses.replace(whole, positions=20), workers=3)
    raises(KeyboardInterrupt, None, grow, path, whole, workers=2, checkpoint=0, progress=stop)
    assert 20 < len(Book(path)) < 60
    grow(path, whole)
    assert path.read_bytes() == book.read_bytes()


@pytest.mark.faults
def test_a_killed_grow_goes_on_to_the_same_bytes(tmp_path):
    def begun(name):
        words = ["-m", "solver", "grow", "connect-four", "-q", "--checkpoint", "0", "--depth", "4", "--positions"]
        return subprocess.Popen([sys.executable, *words, "600", "-o", tmp_path / name], stdout=subprocess.DEVNULL)

    path, whole = tmp_path / "a.lmdb", begun("b.lmdb")
    for _ in range(3):
        before = path.stat().st_mtime_ns if path.exists() else None
        process = begun(path.name)
        until(lambda: (path.exists() and path.stat().st_mtime_ns != before) or process.poll() is not None)  # noqa: B023
        process.kill()
        process.wait()
    assert 0 < len(Book(path)) < 600
    assert begun(path.name).wait() == whole.wait() == 0
    assert path.read_bytes() == (tmp_path / "b.lmdb").read_bytes()


def test_games_are_put_in_first(tmp_path):
    path, rules = tmp_path / "a.lmdb", Rules(load_game(GAME))
    grow(path, Growing(positions=1, games=["1 1 1 2 2 2", "", "44"]))
    with Book(path) as opened:
        asked = [state for states in positions_of(rules, ["1 1 1 2 2", "44"]) for state in states]
        assert all(state in opened for state in asked)
        children = {rules.result(state, action) for state in asked for action in rules.actions(state)}
        assert all(child in opened for child in children if not rules.is_terminal(child))
    before = path.read_bytes()
    message = "line 2: move 3 of '1 2 9': '9' is not a legal move"
    raises(PositionError, message, grow, path, Growing(positions=900, games=["1 2", "1 2 9"]))
    assert path.read_bytes() == before


def test_growing_ends_where_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(grown, "EXACT_NODES", 1 << 15)
    small = "connect-four:3,3,3"
    header, game = grow(tmp_path / "a.lmdb", Growing(positions=10**6, error=2.0), small), load_game(small)
    assert header.root == unfinished(game)[game.canonical(game.initial())] and header.root.outcome == "draw"


@pytest.mark.parametrize(
    ("game", "options", "plan", "error", "message"),
    [
        (GAME, {}, {"depth": 3}, BookError, "searches of 1 ply: --depth 1"),
        ("connect-four:4,4", {}, {}, ForeignBook, "made by rules"),
        (GAME, {"symmetry": False}, {}, BookError, "folded by symmetry: --restart"),
        ("nim", {}, {}, MethodError, "no evaluate"),
        ("pig:15", {}, {}, MethodError, "game of chance"),
        ("mu-torere", {}, {}, MethodError, "no tier"),
        (GAME, {}, {"evaluate": "4x4.eval"}, ForeignBook, "the evaluation was made by rules .*connect-four:4,3"),
    ],
)
def test_what_cannot_grow_is_refused_and_nothing_lost(book, tmp_path, monkeypatch, game, options, plan, error, message):
    monkeypatch.chdir(tmp_path)
    shutil.copy(book, "a.lmdb")
    if plan.get("evaluate"):
        write("4x4.eval", evaluation(load_game("connect-four:4,4")))
    raises(error, message, pipeline.grow, game, "a.lmdb", Growing(positions=900, **plan), Options(**options))
    assert (tmp_path / "a.lmdb").read_bytes() == book.read_bytes()


def test_another_evaluation_begins_anew_only_if_told_to(book, tmp_path):
    path, model = tmp_path / "a.lmdb", tmp_path / "c4.eval"
    shutil.copy(book, path)
    write(model, evaluation(load_game(GAME)))
    plan = Growing(positions=30, depth=1, evaluate=str(model))
    raises(ForeignBook, r"another evaluation \(evaluate, .*c4.eval, .*--restart", grow, path, plan)
    header = grow(path, plan, restart=True)
    assert header.estimate.evaluation == "c4.eval" and header.stored < 50
    assert grow(path, dataclasses.replace(plan, positions=50)).stored >= 50


@pytest.mark.slow
@pytest.mark.parametrize("text", ["othello:4,4", "kalah:3,2", "dots-and-boxes:2,2"])
def test_margins_grow_too(tmp_path, text):
    path, game = tmp_path / "a.lmdb", load_game(text)
    grow(path, Growing(positions=300, error=9.0), game=text)
    truth = unfinished(game)
    with Book(path) as opened:
        exact = [state for state, value in opened.items() if not is_estimate(value)]
        assert exact and all(opened[state] == truth[state] for state in exact)
    assert verify(path, search=0.05).verdict == "consistent"


def test_query_says_what_is_an_estimate(book):
    facts = json.loads(ok("query", book, "start", "--json"))
    assert facts["source"] == "book" and not facts["exact"] and facts["depth"] == 1
    assert facts["evaluation"] == "evaluate" and facts["score"] is None and -1 < facts["estimate"] < 1
    assert all(move["source"] == "book" for move in facts["moves"])
    assert "(book by evaluate, 1 ply ahead)" in ok("query", book, "start")
    for words, stdin in ((["start", "--json"], None), (["-"], f"#{facts['state']}\n")):
        alone = json.loads(ok("query", book, "--no-moves", *words, stdin=stdin))
        assert alone["estimate"] == facts["estimate"] and alone["exact"] is False


def test_a_player_takes_the_book_s_word_and_searches_beyond_it(book):
    player = Player(book if isinstance(book, Book) else Book(book))
    start = player.game.initial()
    move = player.choose(start)
    assert move.source == "book" and move.estimate == player.value(start).estimate and not move.exact
    assert not player.foresight.compiled._started
    said = []
    session = Session(player, said.append, 1.0, "tested")
    session.obey("go")
    session.end(at_once=False)
    assert said[0].startswith("info depth 0 score cp") and said[-1].startswith("bestmove ")


def test_info_verify_trim_pack_and_export(book, tmp_path):
    facts = json.loads(ok("info", book, "--json"))
    assert facts["estimate"]["depth"] == 1 and facts["scope"] == "grown" and facts["root"]["value"] == "estimate"
    assert "exact, the others estimates of searches of 1 ply by evaluate" in ok("info", book)
    assert run("verify", book, "-q", "--search", 0.05)[0] == 7
    ok("trim", book, "-o", tmp_path / "t.lmdb", "--max-ply", 2, "-q")
    with Book(tmp_path / "t.lmdb") as trimmed, Book(book) as whole:
        assert 0 < len(trimmed) < len(whole) and all(whole[state] == value for state, value in trimmed.items())
    assert verify(tmp_path / "t.lmdb", search=0.05).verdict == "consistent"
    assert "--max-ply or --max-bytes" in run("trim", book, "-o", tmp_path / "t.lmdb", "--for", "first")[2]
    ok("pack", book, "-o", tmp_path / "p.lmdb", "-q")
    assert dict(Book(tmp_path / "p.lmdb")) == dict(Book(book))
    ok("export", book, "-o", tmp_path / "a.jsonl", "-q")
    rows = [json.loads(row) for row in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    assert {row["value"] for row in rows} >= {"estimate", "draw", "loss"}
    ok("export", book, "-o", tmp_path / "a.bin", "-q")
    ok("grade", book, "-", "-q", stdin="1 2 3\n")
    assert "learn from a solved book" in run("learn", book, "-o", tmp_path / "x.eval")[2]


def test_grown_books_are_merged_and_valued_anew(tmp_path):
    for name, games in (("a", ["1 1 1"]), ("b", ["4 3 2", "2 2"]), ("c", ["1 1 1", "4 3 2", "2 2"])):
        grow(tmp_path / f"{name}.lmdb", Growing(positions=1, games=games))
    merge(tmp_path / "a.lmdb", tmp_path / "b.lmdb", tmp_path / "m.lmdb")
    assert diff(tmp_path / "m.lmdb", tmp_path / "c.lmdb").equal
    grow(tmp_path / "d.lmdb", Growing(positions=1, depth=3))
    raises(BookError, "other searches", merge, tmp_path / "a.lmdb", tmp_path / "d.lmdb", tmp_path / "m.lmdb")


def test_variety_is_among_moves_that_lose_little():
    def move(action, estimate=None, value=None):
        return Move(action, value, value is not None, "book", False, 0, None, estimate)

    moves = [move(0, 0.3), move(1, 0.26), move(2, None, KIND.value(0)), move(3), move(4, -0.5)]
    assert [one.action for one in nearly_best(moves, 0.05)] == [0, 1]
    assert [one.action for one in nearly_best(moves, 0.3)] == [0, 1, 2]
    assert [one.action for one in nearly_best([move(9, None, KIND.value(merit_of((1, 3)))), *moves], 2)] == [9]


def test_the_command_line(book, tmp_path):
    path, games = tmp_path / "a.lmdb", tmp_path / "games.txt"
    games.write_text("1 1\n1 2 9\n")
    fails(4, "line 2", "grow", GAME, "-o", path, "--positions", 50, "--add", games)
    assert not path.exists()
    assert json.loads(ok("grow", GAME, "-o", path, "--time", "0s", "--depth", 2, "-q", "--json"))["stored"] == 1
    assert "computer:" in ok("play", book, "--second", "--variety", 0.5, "--seed", 1, stdin="quit\n")


def test_a_grown_book_plays_matches_and_an_evaluation_goes_on_where_it_ends(book, tmp_path):
    model = tmp_path / "c4.eval"
    facts = json.loads(ok("match", f"{book}@2", "evaluate@2", "--games", 4, "--plies", 0, "--json", "-q"))
    assert facts["wins"] + facts["draws"] + facts["losses"] == facts["games"]
    write(model, evaluation(load_game(GAME)))
    grow(tmp_path / "a.lmdb", Growing(positions=1, evaluate=str(model)))
    words = ("match", tmp_path / "a.lmdb", "random", "--games", 2, "-q")
    assert "--evaluate names it" in run(*words)[2]
    ok(*words, "--evaluate", model)
