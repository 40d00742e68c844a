"""`solver check`: faults of rules, found before a solve."""

import io
import json
import re

import pytest

from solver.base import extras
from solver.base.errors import GameError
from solver.check import conformance, playouts
from solver.check.playouts import RandomGame, repeated
from solver.cli import common
from solver.cli.common import Bars
from solver.rules.game import Rules, load_game
from solver.solving import pipeline
from solver.solving.ways import plain
from tests.commands import ok, run
from tests.refusals import fails, raises
from tests.ways import until
from tests.written import write_rules, write_third


@pytest.fixture
def ring(tmp_path):
    def write(name, *more, end="0"):
        result, is_terminal = "(state + action) % self.size", f"state == {end}"
        fields = "\n".join(["size: int = 50", *more])
        write_rules(tmp_path / name, name="Ring", fields=fields, initial="1", result=result, is_terminal=is_terminal)
        return tmp_path / name

    return write


@pytest.fixture(autouse=True)
def there_is_time_for_all_games(monkeypatch):
    monkeypatch.setattr(conformance, "PLAYED_SECONDS", 1000.0)


@pytest.fixture
def short(monkeypatch):
    """Random games end after ten moves."""
    monkeypatch.setattr(conformance, "MOST_MOVES", 10)
    monkeypatch.setattr(playouts, "MOST_MOVES", 10)


def test_check_does_what_solve_would_do_at_first(tmp_path, monkeypatch):
    facts = json.loads(ok("check", "coins", "--json"))
    assert (facts["states"], facts["solved"], facts["compiled"]) == (22, 22, None)
    assert {"tier", "layout"} <= {*facts["optional"]}
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)
    if extras.has_kernels():
        compared = []
        monkeypatch.setattr("solver.compiled.agreement.compare", lambda *of: compared.append(of))
        assert "the compiled rules agree with plain Python" in ok("check", "coins")
        assert len(compared[0][1]) == facts["states"]
    monkeypatch.setattr(extras, "has_kernels", lambda: False)
    assert "only in plain Python, which is some sixty times slower: pip install" in ok("check", "coins")
    fails(2, "has player 2 to move", "check", write_third(tmp_path / "third.py"))


def test_quick_plays_and_does_no_more(monkeypatch, ring):
    monkeypatch.setattr(plain, "tried", None)
    facts = json.loads(ok("check", ring("quick.py"), "--quick", "--json"))
    assert (facts["game"], facts["solved"], facts["compiled"]) == ("quick.py::Ring", None, None)
    games = facts["games"]
    assert games["played"] == games["ended"] == 100 == sum(games["first_player"].values())
    assert games["plies"]["shortest"] >= 25 and games["first_player"]["draw"] == 0  # 49 steps of 1 or 2


def test_the_first_player_is_who_begins():
    rules = Rules(load_game("kalah:2,2"))
    games = conformance.random_games(rules.game, playouts=20)
    for game in games:
        mover, seeds = 0, [0, 0]
        for state, action in zip(game.states, game.actions, strict=False):
            seeds[mover] += rules.reward(state, action)
            mover = mover if rules.again(state, action) else 1 - mover
        seeds[mover] += rules.utility(game.states[-1])
        assert game.worth == seeds[0] - seeds[1]
    assert {game.worth > 0 for game in games} == {True, False}


def test_one_of_the_games_is_shown_as_boards(ring):
    lines = ok("check", "tic-tac-toe:2,2,2", "--show").splitlines()
    assert [line[:6] for line in lines].count("   a b") == 4
    assert lines[-1] == "the game is over after 3 plies, +1 for the first player"
    boards = ok("check", ring("numbers.py"), "--quick", "--show").split("\n\n")[1:]
    assert boards[0] == "#1" and boards[-2].endswith("\n#0")


def test_names_that_nothing_asks_for_are_named_with_what_may_be_meant(ring):
    path = ring(
        "names.py",
        "score_games = True",
        "def tiers(self, state): return state",
        "def cannonical(self, state): return self.place_of(state)",
        "def place_of(self, state): return state",
        "def helper(self): return 1",
    )
    misses = json.loads(ok("check", path, "--quick", "--json"))["near_misses"]
    assert misses == {"score_games": "score_game", "tiers": "tier", "cannonical": "canonical", "helper": None}
    text = ok("check", path, "--quick")
    assert "warning: nothing asks for tiers: tier may be meant" in text
    assert "warning: nothing asks for helper: solver calls the methods of docs/reference/rules.md alone" in text
    path.write_text(path.read_text("utf-8").replace("is_terminal", "is_terminated"))
    assert "has no method is_terminal(self, state): rename is_terminated" in run("check", path)[2]


def test_a_file_of_one_class_of_rules_needs_no_other_name(tmp_path, ring):
    path = ring("only.py")
    assert load_game(f"{path}:20") == load_game(f"{path}::Ring:20") != load_game(str(path))
    path.write_text(path.read_text("utf-8") + "\n\nclass Pair(NamedTuple):\n    size: int = 1\n")
    assert ok("query", f"{path}:9", "start").startswith("#1")
    path.write_text(path.read_text("utf-8") + "\n\nclass Other(Ring):\n    pass\n")
    fails(2, f"several classes of rules: name one of {path}::Ring, {path}::Other", "solve", path)
    (tmp_path / "none.py").write_text("class Empty:\n    pass\n")
    assert "has no class of rules: give one a method initial" in run("check", tmp_path / "none.py")[2]


@pytest.mark.parametrize("options", [(), ("--quick",)])
def test_what_solve_refuses_check_refuses_in_the_same_words(ring, short, options):
    reward = "def reward(self, state, action): return 1"
    more = ("score_game = True", "def canonical(self, state): return state % 5", reward)
    path, words = ring("margins.py", *more, end="999"), "has a move that scores and stays in its tier"
    code, _, refused = run("solve", path)
    assert code == 2 and words in refused
    code, _, checked = run("check", path, *options)
    assert code == 2 and checked.partition(words)[2] == refused.partition(words)[2]


def test_states_come_again_up_to_symmetry():
    rules = Rules(load_game("tic-tac-toe"))
    a, b = (rules.result(rules.game.initial(), action) for action in (0, 8))  # two corners
    assert repeated(rules, [RandomGame([0, a], [0], None), RandomGame([a, b], [0], None)]) == rules.canonical(a)
    assert repeated(Rules(rules.game, symmetry=False), [RandomGame([a, b], [0], None)]) is None


def test_games_without_an_end_are_told_before_all_states_are_met(monkeypatch, ring, short):
    path = ring("endless.py", "plain_only = True", end="1000")
    assert "none of 100 random games has ended within 10 moves" in run("check", path, "--quick")[2]
    assert run("check", path, "--quick", "-q")[2] == ""
    said, steps = [], []
    pipeline.solve(load_game(str(path)), say=said.append, progress=lambda step, *_: steps.append(step)).close()
    assert said == []  # it was small
    assert list(dict.fromkeys(steps))[:2] == ["random games", "plain Python"]
    monkeypatch.setattr(plain, "PLAIN_LIMIT", 0)
    pipeline.solve(load_game(str(path)), say=said.append).close()
    assert len(said) == 1 and "none of 100 random games has ended" in said[0]


def test_a_step_that_counts_nothing_has_a_line(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", terminal)
    with Bars(quiet=False) as progress:
        progress("compile", 0, 0)
        progress("forward", 3, None)
    assert "compile ..." in terminal.getvalue() and "forward: 3" in terminal.getvalue()


def test_work_in_a_pipe_has_lines_that_say_how_far_it_is(monkeypatch, capfd):
    monkeypatch.setattr(common, "THREAD_SECONDS", -1.0)
    monkeypatch.setattr(common, "LINE_SECONDS", 0.01)
    with Bars(quiet=False) as progress:
        progress("verify", 250, 1000, "all is well")
        err = until(lambda: capfd.readouterr().err)
    assert re.match(r"verify: 250 of 1,000 positions, 25 %, \d+ s, all is well\n", err)
    assert Bars(quiet=True)._lines is None


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (("compile", 0, 0, ""), "compile ..., 20 s"),
        (("forward", 3_000, None, ""), "forward: 3,000 positions, 20 s"),
        (("verify", 2_500, 10_000, ""), "verify: 2,500 of 10,000 positions, 25 %, 20 s, about 30 s left of this step"),
    ],
)
def test_a_line_of_progress(report, line):
    lines = common._Lines()
    lines.stop()  # a clock set back would start the thread
    lines.see(report[0], 0, report[2], "")
    lines._started, lines._begun = 100.0, 110.0
    lines.see(*report)
    assert lines.line(120.0) == line


SEEN = "import functools\nSEEN = {}\n"


def test_check_refuses_rules_that_change_what_they_name_as_solve_does(ring, monkeypatch):
    path = ring("changing.py")
    text = SEEN + path.read_text("utf-8")
    path.write_text(text)
    assert "keep the protocol" in ok("check", path) and pipeline.check_game(path)
    path.write_text(text.replace("        yield 1", "        SEEN[len(SEEN)] = 1; yield 1"))
    words = "changing.py::Ring: SEEN changed while the rules ran"
    assert words in run("check", path, "--quick")[2] and words in run("solve", path)[2]
    raises(GameError, words, pipeline.check_game, path)
    # Changed where no random game came, but the solve of check
    monkeypatch.setattr(conformance, "PLAYED_SECONDS", 0.0)
    assert words in run("check", path)[2]


def test_check_says_how_many_games_it_had_the_time_for(ring, monkeypatch):
    monkeypatch.setattr(conformance, "PLAYED_SECONDS", 0.0)
    facts = json.loads(ok("check", ring("slow.py"), "--quick", "--json"))
    assert facts["games"]["played"] < facts["games"]["wanted"] == 100
    assert "random games (of 100, for lack of time) keep the protocol" in ok("check", ring("slow.py"), "--quick")


TURN, AGAIN = "def to_move(self, state): return {}", "def again(self, state, action): return {}"
NEVER, SOMETIMES = (TURN.format(0), AGAIN.format(True)), (TURN.format("state % 2"), AGAIN.format("state == 1"), "")


@pytest.mark.parametrize("method", [*NEVER, *SOMETIMES])
def test_rules_that_never_pass_the_turn_on_get_a_hint(ring, method):
    said = ok("check", ring("turn.py", method), "--quick")
    assert ("warning: the same player is to move in every state" in said) == (method in NEVER)


def test_an_error_in_rules_is_told_once_with_the_last_line_of_the_users_files(ring, tmp_path, monkeypatch):
    beside = "def step(state, action):\n    return (state + action + 0 // (49 - state)) % 50\n"
    (tmp_path / "beside.py").write_text(beside)
    path = ring("late.py")
    late = path.read_text("utf-8").replace("(state + action) % self.size", "step(state, action)")
    path.write_text("from beside import step\n" + late)
    words = "result(49, 1) fails: ZeroDivisionError in beside.py line 2: "
    assert re.search(f"state 49 after the moves [12 ]+: {re.escape(words)}", run("check", path)[2])
    # Where no random game came, the solve fails
    with monkeypatch.context() as patch, pytest.raises(GameError, match=re.escape(f"Ring: state 49: {words}")):
        patch.setattr(conformance, "PLAYED_SECONDS", 0.0)
        pipeline.solve(path)
    path.write_text(late)
    assert re.search(r"state 1: result\(1, 1\) fails: NameError in late.py line 10: name 'step'", run("check", path)[2])
    path.write_text("import beside\n" + late)
    (tmp_path / "beside.py").write_text("1 // 0\n")
    assert "cannot be imported: ZeroDivisionError in beside.py line 1: " in run("check", path)[2]
