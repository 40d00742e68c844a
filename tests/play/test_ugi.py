"""The Universal Game Interface: a player as an engine, and engines as players of matches."""

import contextlib
import json
import sys

import pytest

from solver import Player, load_game
from solver.base.errors import MethodError
from solver.base.value import Value
from solver.learning import players
from solver.learning.matches import match
from solver.learning.players import Engine, Forfeit, Limits, Random
from solver.play import ugi
from solver.play.analysis import Answer
from solver.play.ugi import Session, score
from solver.rules.game import Rules
from solver.rules.notation import format_action
from solver.rules.reading import parse_position
from tests import ROOT, naive
from tests.commands import run
from tests.processes import command_line
from tests.refusals import raises
from tests.ways import plainly

SCRIPTED = ROOT / "tests" / "scripted.py"
SQUARES = [column + row for row in "123" for column in "abc"]


class Talk:
    """A session and its answers."""

    def __init__(self, *source, **options):
        self.said = []
        self.session = Session(Player(*source, **options), self.said.append, 5.0, "tested")

    def __call__(self, *lines):
        """What these lines are answered, once every search that has an end has ended."""
        before = len(self.said)
        for line in lines:
            assert self.session.obey(line)
        self.session.end(at_once=False)
        return self.said[before:]


def infos(said):
    """The `info` lines of searches, as their words by name."""
    for line in said:
        words = line.split()
        if words[:2] == ["info", "depth"]:
            at = words.index("pv")
            yield {"depth": int(words[2]), "score": (words[4], int(words[5])), "pv": words[at + 1 :]}


def test_a_book_answers_at_once_and_the_rules_what_is_asked_of_them():
    talk = Talk("tic-tac-toe")
    assert talk("ugi") == ["id name tested tic-tac-toe", "id author the authors of solverbook", "ugiok"]
    assert talk("isready") == ["readyok"]
    said = talk("uginewgame", "query p1turn", "query gameover", "query result")
    assert said == ["response true", "response false", "response none"]
    said = talk("position startpos moves a1 b1 a2 b2", "go movetime 1000")
    (info,) = infos(said)
    assert info == {"depth": 0, "score": ("mate", 1), "pv": ["a3"]}
    assert said[-2:] == ["info string exact, by terminal", "bestmove a3"]
    assert talk("position startpos moves a1", "query p1turn") == ["response false"]
    said = talk("position startpos moves a1 b1 a2 b2 a3", "query gameover", "query result", "go")
    assert said == ["response true", "response p1win", "info string the game is over", "bestmove (none)"]
    assert talk("position startpos moves a1 b1 a2 b2 c3 b3", "query result") == ["response p2win"]


def test_a_practical_engine_plays_the_move_that_is_hardest_to_answer():
    plain, practical = Talk("connect-four:4,4"), Talk("connect-four:4,4", method="practical")
    game = "position startpos moves 2"
    (best,) = [line for line in practical(game, "go") if line.startswith("bestmove")]
    player = Player("connect-four:4,4", method="practical")
    expected = max(player.analyse(parse_position(player.game, "2").state), key=lambda move: (move.best, move.practical))
    assert best == f"bestmove {format_action(player.game, 0, expected.action)}"
    assert best not in plain(game, "go")


def test_what_is_wrong_is_said_and_the_session_goes_on():
    talk = Talk("tic-tac-toe")
    for what, *lines in (
        ("move 2: 'a1' is not a legal move here", "position startpos moves a1 a1"),
        ("position startpos, or position fen", "position"),
        ("not a state", "position fen #x"),
        ("no options", "setoption name x"),
        ("'hm'", "hm"),
        ("no query 'winner': there are gameover, p1turn, result", "", "position startpos", "query winner"),
        ("position refused", "position startpos moves z"),
    ):
        (said,) = talk(*lines)
        assert said.startswith("info string ") and what in said, lines
    refused = "info string there is no position: the last was refused"
    assert talk("go", "query p1turn") == [refused, "bestmove (none)", refused]


def test_every_go_ends_in_a_move():
    known = ("p1time 1000 p2time 1000 movestogo 40", "movestogo 40", "ponder depth 3", "searchmoves a1 depth 3", "fast")
    odd = ("depth", "depth x", "depth --3", "nodes 1e6", "movetime \u0661", "depth " + "9" * 5000, "depth -5")
    for words in known + odd:
        assert Talk("tic-tac-toe")(f"go {words}")[-1].startswith("bestmove "), words


def test_a_position_may_be_a_number_and_dice_have_no_best_move():
    talk = Talk("connect-four:4,4")
    state = parse_position(load_game("connect-four:4,4"), "112").state
    assert talk("position startpos moves 1 1 2", "go")[-1] == talk(f"position fen #{state}", "go")[-1]
    talk = Talk("pig:15")
    assert talk("position startpos moves roll", "go depth 3") == ["info string chance decides here", "bestmove (none)"]


@pytest.mark.parametrize("go", ["go movetime 60000", "go depth 9", "go nodes 100000000"])
def test_a_live_search_deepens_until_it_knows(monkeypatch, go):
    plainly(monkeypatch)
    monkeypatch.setattr(ugi, "FIRST_TURN", 1000.0)  # no turn of the exact search, which repeats a depth
    game = load_game("tic-tac-toe")
    talk = Talk({}, game)
    said = talk("position startpos moves a1 b2 c3 c2", go)
    found = list(infos(said))
    assert [one["depth"] for one in found] == [*range(1, len(found) + 1)]
    state = parse_position(game, "a1 b2 c3 c2").state
    value = naive.solve(game)[state]
    assert found[-1]["score"] == ("cp", 0) and value.score == 0
    assert said[-1] == f"bestmove {found[-1]['pv'][0]}" == "bestmove a2"  # all else loses
    for one in found:
        parse_position(game, " ".join(["a1 b2 c3 c2", *one["pv"]]))


def test_stop_ends_a_search_without_an_end(monkeypatch):
    plainly(monkeypatch)
    talk = Talk({}, load_game("connect-four"))
    for line in ("position startpos", "go infinite", "go infinite", "isready", "stop"):
        assert talk.session.obey(line)
    assert [line.startswith("bestmove ") for line in talk.said].count(True) == 2
    assert "readyok" in talk.said and talk.said[-1].startswith("bestmove ")
    assert talk("go depth 2")[-1].startswith("bestmove ")
    talk.session.obey("go infinite")
    talk.session.end(at_once=True)
    assert talk.said[-1].startswith("bestmove ")


def test_scores_are_of_the_side_to_move():
    values = {(1, 1): "mate 1", (1, 7): "mate 4", (-1, 6): "mate -3"}
    values |= {(-1, None): "cp -100", (0, None): "cp 0", (5, None): "cp 500"}
    assert {value: score(Answer(Value(*value), True, "book")) for value in values} == values
    assert score(Answer(None, False, "search", -0.256)) == "cp -26" and score(Answer(None, False, "missing")) == "cp 0"


def test_the_command_speaks_until_quit_or_the_end_of_the_input():
    code, out, err = run("ugi", "tic-tac-toe", stdin="ugi\nposition startpos moves a1 b1 a2 b2\ngo\n")
    assert (code, out.splitlines()[-1], err) == (0, "bestmove a3", "")
    code, out, _ = run("ugi", "tic-tac-toe", stdin="query p1turn\nquit\nquery p1turn\n")
    assert (code, out) == (0, "response true\n")


PATIENT = 600.0  # seconds, which no engine takes that answers at all


@pytest.fixture(autouse=True)
def engines_have_time_to_start(monkeypatch):
    monkeypatch.setattr(players, "GREETING", PATIENT)


def scripted(*words):
    return command_line(sys.executable, "-SE", SCRIPTED, *words)


class Impatient(players.Process):
    """Waits for an answer but where it knows that none comes."""

    def tell(self, line):
        if line.startswith("position"):
            self.stones = line.count(" ") - 2
        super().tell(line)

    def ask(self, line, awaited, seconds):
        never = awaited == "bestmove" and self.stones == 2
        return super().ask(line, awaited, 0.01 if never else seconds)


def played(*words, command=None, games=4):
    rules = Rules(load_game("tic-tac-toe"))
    with contextlib.closing(Engine(rules, command or scripted(*words), Limits(grace=PATIENT), processes=2)) as engine:
        return match(rules, engine, Random(1), games=games, plies=1), engine


def test_an_engine_plays_what_it_says():
    found, engine = played()
    assert engine.forfeits == [] == found.forfeits[0]
    assert found.standing.wins + found.standing.draws + found.standing.losses == 4
    game = load_game("tic-tac-toe")
    for number, (line, plies) in enumerate(zip(found.games, found.plies, strict=True)):
        words = line.split()
        for ply in range(plies + number % 2, len(words), 2):
            assert words[ply] == next(square for square in SQUARES if square not in words[:ply])
        assert game.is_terminal(parse_position(game, line).state)


@pytest.mark.parametrize("reason", players.REASONS)
def test_games_are_lost_by_rule(reason, monkeypatch):
    """With three stones on the board, one of the opening, it is to move where it was second behind the opening."""
    monkeypatch.setattr(players, "LAST", 0.01)
    if reason == "silence":
        monkeypatch.setattr(players, "Process", Impatient)
    found, engine = played(reason, 2)
    said = found.games[1].split()[0] if reason == "illegal" else ""
    assert sorted(engine.forfeits)[0] == Forfeit(1, reason, said)
    assert [one.game for one in sorted(engine.forfeits)] == [1, 3] and found.forfeits == [engine.forfeits, []]
    assert all(len(found.games[number].split()) == 2 for number in (1, 3))
    assert found.standing.losses >= 2


def test_what_an_engine_lost_by_rule_is_reported():
    words = ("match", "random", f"engine:{scripted('illegal', 2)}", "--game", "tic-tac-toe", "--games", 4, "--plies", 1)
    code, out, _ = run(*words, "--json", "-q", "--seed", 1)
    facts = json.loads(out)
    lost = facts["forfeits"][1]
    assert code == 0 and facts["forfeits"][0]["games"] == 0
    assert lost["games"] == lost["illegal"] == 2 and lost["first"]["game"] == 1 and facts["wins"] >= 2
    told = f"lost 2 by rule: 2 by no legal move; first game 1, '{lost['first']['said']}'"
    assert told in run(*words, "-q", "--seed", 1)[1]


def test_an_engine_that_does_not_start_or_speaks_something_else_is_refused(monkeypatch):
    monkeypatch.setattr(players, "LAST", 0.01)
    refused = {"no-such-program": "cannot be started", "'": "cannot be started"}
    refused |= {f"{sys.executable} -Sc 0": "crash before", scripted("mute"): "silence before ugiok"}
    for command, message in refused.items():
        monkeypatch.setattr(players, "GREETING", 0.01 if "silence" in message else PATIENT)
        raises(MethodError, message, Engine, Rules(load_game("tic-tac-toe")), command, Limits())


@pytest.mark.slow
def test_our_own_engine_never_loses_with_a_book():
    found, _ = played(command=f"{sys.executable} -m solver ugi tic-tac-toe", games=20)
    assert found.standing.losses == 0 and found.standing.wins > 0
