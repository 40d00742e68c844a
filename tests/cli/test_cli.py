"""The command line: output, refusals, exit codes and help."""

import itertools
import json
import os
import re
import select
import shlex
import subprocess
import sys

import click
import msgspec
import pytest

from solver import Book, Player, __version__, load_game
from solver.cli import COMMANDS, SECTIONS, common, main
from solver.games import CATALOGUE
from solver.report import records
from solver.report.answers import FIELDS, Answers
from solver.report.games import GROUPS, facts
from solver.report.records import Child, line_of
from solver.rules.notation import parse_action, show
from tests import DATA, ROOT
from tests.commands import ok, run
from tests.processes import python
from tests.refusals import fails
from tests.ways import slow, slow_rows
from tests.written import write_rules


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "ttt.lmdb"
    ok("solve", "tic-tac-toe", "-o", path)
    return path


def test_games_lists_parameters_and_what_they_support_and_tells_the_rules():
    games = {game["name"]: game for game in json.loads(ok("games", "--json"))}
    assert games["connect-four"]["parameters"] == {"width": 7, "height": 6, "connect": 4}
    assert games["kalah"]["score_game"] and "moves again" in games["kalah"]["supports"]
    assert {"moves again", "moves that score"} <= set(games["dots-and-boxes"]["supports"])
    assert list(games) == list(CATALOGUE)
    lines = ok("games").splitlines()
    assert "connect-four  width=7, height=6, connect=4" in lines
    assert [line for line in lines if line.partition(":")[0] in GROUPS] == [f"{key}: {GROUPS[key]}" for key in GROUPS]
    assert ok("games", "nim", "--json") == json.dumps([facts("nim")]) + "\n"
    told = ok("games", "connect-four:5,4", "hex")
    assert "a stone falls onto the topmost one" in told and "there is no swap" in told and "bits" not in told


def test_info_has_the_agreed_shape(book):
    facts = json.loads(ok("info", book, "--json"))
    assert " ".join(facts) == (
        "game rules method scope symmetry states terminal stored counts tiers root longest values wdl conversion"
        " expectation estimate trim codec start bytes bits_per_state digest"
    )
    assert (facts["states"], facts["terminal"], facts["stored"]) == (765, 138, 627)  # under the board's symmetries
    assert facts["root"] == {"value": "draw", "score": 0, "distance": None}
    assert facts["bytes"] == book.stat().st_size
    assert sum(tier["states"] for tier in facts["tiers"]) == 765
    assert sum(value["stored"] for value in facts["values"]) == facts["stored"]
    assert len(facts["longest"]["line"]) == facts["longest"]["distance"]
    distances = [value["distance"] for value in facts["values"] if value["score"] == 1]
    assert distances == sorted(distances) and max(distances) == facts["longest"]["distance"]
    text, words = ok("info", book), ok("info", book, "--counts").split()
    assert "765, 138 of them terminal" in text and "win in 5 plies" in text
    assert all(f"{tier['states']:,}" in words for tier in facts["tiers"])


def test_query_has_the_agreed_shape(book):
    facts = json.loads(ok("query", book, "a1 b1 a2 b2", "--json"))
    assert " ".join(facts) == (
        "game position state to_move ply gained terminal value score distance estimate exact source evaluation best"
        " moves elapsed_us"
    )
    assert (facts["value"], facts["distance"], facts["best"]) == ("win", 1, ["a3"])
    move = facts["moves"][0]
    assert " ".join(move) == "move value score distance estimate exact source best child"
    assert (move["value"], move["source"]) == ("win", "terminal")
    assert (move["child"]["value"], move["child"]["score"]) == ("loss", -1)
    assert [one["score"] for one in facts["moves"]] == sorted((one["score"] for one in facts["moves"]), reverse=True)
    slow_losses = [one["distance"] for one in facts["moves"] if one["value"] == "loss"]
    assert slow_losses == sorted(slow_losses, reverse=True)
    assert "moves" not in json.loads(ok("query", book, "start", "--json", "--no-moves"))


def test_a_batch_answers_every_line_in_order(book):
    lines = ["start", "a1", "#0", "nonsense", "", "a1 a1", "#99999999999999999999"]
    answers = [json.loads(line) for line in ok("query", book, "-", stdin="\n".join(lines) + "\n").splitlines()]
    assert [answer["position"] for answer in answers] == lines
    assert ["error" in answer for answer in answers] == [False, False, False, True, False, True, True]


@pytest.mark.posix("waits for a pipe")
def test_a_program_may_ask_and_read_in_turns(book):
    """Nothing is held back while the writer of a pipe waits; lines may come in pieces, the last without an end."""
    command = [sys.executable, "-m", "solver", "query", str(book), "-", "--no-moves"]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    with subprocess.Popen(command, env=environment, **pipes) as asked:

        def answer_to(*pieces):
            for piece in pieces:
                asked.stdin.write(piece)
            ready, _, _ = select.select([asked.stdout], [], [], 300)
            assert ready, "no answer while the writer waits"
            return json.loads(asked.stdout.readline())

        assert answer_to(b"a1\n")["ply"] == 1
        assert answer_to(b"a", b"1 b", b"1\r\n")["ply"] == 2
        assert "error" in answer_to(b"\xff\n")
        asked.stdin.write(b"a1 b1 c1")
        asked.stdin.close()
        assert json.loads(asked.stdout.readline())["ply"] == 3


def test_a_game_is_searched_live():
    facts = json.loads(ok("query", "tic-tac-toe", "a1 b1 a2 b2", "--json", "--live"))
    assert (facts["value"], facts["distance"], facts["best"], facts["source"]) == ("win", 1, ["a3"], "search")
    code, _, err = run("query", "tic-tac-toe", "start", "--book-only", "--live")
    assert code == 3 and "--book-only" in err
    unknown = json.loads(ok("query", "hexapawn:5,6", "start", "--json", "--budget", "0.01"))
    names = ("value", "score", "distance", "estimate", "exact", "source")
    assert [unknown[name] for name in names] == [None, None, None, None, False, "missing"]


def test_an_estimate_is_no_value():
    code, out, err = run("query", "connect-four:5,5", "1213", "--json", "--budget", "0.1")
    facts = json.loads(out)
    assert (code, facts["source"]) == (0, "search") and "--budget" in err and "solver solve connect-four:5,5" in err
    for one in (facts, *facts["moves"], facts["moves"][0]["child"]):
        assert (one["value"], one["score"], one["distance"]) == (None, None, None)
        assert "estimate" not in one or (-1 < one["estimate"] < 1 and not one["exact"])
    text = ok("query", "connect-four:5,5", "1213", "--budget", "0.1")
    assert "unknown, looks" in text and "draw" not in text
    assert "unknown, looks" in ok("play", "connect-four:5,5", "--budget", "0.1", stdin="hint\nquit\n")


def test_a_number_that_the_book_stores_is_answered_without_a_check_and_alike(book, tmp_path):
    """Of states, of other numbers, and of states that no book holds. A space before a number has it checked."""
    ok("solve", "nim:2,3", "--method", "nimbers", "-o", tmp_path / "nimbers.lmdb")
    for path, moves in itertools.product((book, tmp_path / "nimbers.lmdb"), (True, False)):
        with Book(path) as opened:
            answers = Answers(Player(opened), moves=moves, timed=False)
            numbers = [*[*opened][:300], 7, "0009", 4294967295, 999999999999999999]
            for number in numbers:
                unchecked, checked = (json.loads(answers.line(f"{space}#{number}")) for space in ("", " "))
                assert list(unchecked) == list(checked)
                assert checked.pop("position") == f" {unchecked.pop('position')}"
                if "error" in checked:
                    assert checked["error"].replace(" #", "#") == unchecked["error"]
                else:
                    assert unchecked == checked
            assert "error" in json.loads(answers.line("x")) and "error" not in json.loads(answers.line("start"))


def test_a_line_is_json_in_ascii_whatever_it_says():
    assert line_of({"position": "\u00e9"}) == b'{"position":"\\u00e9"}\n'
    assert line_of({"position": "\ud800"}) == b'{"position":"\\ud800"}\n'
    big = 1 << 150
    child = Child(big, "expectation", 1e-05, None)
    assert json.loads(line_of(child)) == {"state": big, "value": "expectation", "score": 1e-05, "distance": None}


def test_text_needs_the_fields_of_the_records_and_not_what_writes_them():
    for kind, names in FIELDS.items():
        given = [field.name for field in msgspec.structs.fields(getattr(records, kind)) if field.required]
        assert names.split() == given
    code = "import sys\nfrom solver.cli import main\ntry: main()\nfinally: print('msgspec' in sys.modules)"
    for option, is_loaded in (("--explain", "False"), ("--json", "True")):
        printed = python(code, "query", "tic-tac-toe", "5", option, check=True).stdout.split()
        assert printed[-1] == is_loaded


@pytest.mark.interpreted
def test_estimates_count_what_they_can():
    pytest.importorskip("numba")
    sweep = json.loads(ok("estimate", "connect-four:4,3", "--json", "--seconds", "3600"))
    assert (sweep["stored"], sweep["counted"]) == (5_525, True)  # what solving it stores
    opening = json.loads(ok("estimate", "connect-four:4,3", "--max-ply", "2", "--json", "--seconds", "3600"))
    assert opening["plies"] == [1, 2, 8]
    assert (opening["sample"], opening["unfinished"], opening["margin"]) == (8, 0, 0)
    cyclic = json.loads(ok("estimate", "mu-torere", "--json", "--seconds", "3600"))
    assert (cyclic["stored"], cyclic["counted"], cyclic["cyclic"]) == (80, True, True)
    assert set(sweep["book_times"]) == {"verify", "trim", "pack"} and min(sweep["book_times"].values()) > 0
    assert cyclic["book_times"]["trim"] is None  # no wins without distances where play may go round


def test_verify_says_how_many_states_are_right(book):
    out = ok("verify", book)
    assert "627 states verified" in out and "627 of them in plain Python" in out
    facts = json.loads(ok("verify", book, "--json", "--memory", "1G"))
    assert (facts["closed"], facts["plain"]) == (True, 627)


# Commands, their exit codes, a part of their message, and a module that they need
ILL = [line.split("\t") for line in (DATA / "refused.tsv").read_text("utf-8").splitlines()[1:]]


def errors_of(err):
    """The lines of an error, without what click says of the usage, and without notes."""
    return [line for line in err.splitlines() if line and not line.startswith(("Usage:", "Try ", "Note: "))]


def test_an_argument_of_many_lines_or_letters_is_an_error_in_a_short_line():
    commands = [[], ["info", "x"], ["solve", "x", "--method"], ["serve", "--port"], ["solve", "--"]]
    commands += [["learn", "x", "-o", "y", "--model"], ["profile", "x", "--games"]]
    for words, argument in itertools.product(commands, ("a\nb\x1b[31m\u202e", "x" * 10_000)):
        code, out, err = run(*words, argument)
        (error,) = errors_of(err)
        assert (code, out) == (2, "") and len(error) < 1100 and error.isprintable(), words
    code, _, err = run()
    assert code == 2 and err.startswith("Usage: ") and err.count("\n") > 40  # the help has its lines


@pytest.mark.parametrize("row", ILL, ids=[re.sub(r"[^\w.:-]+", "_", one[0]) for one in ILL])
def test_bad_input_gets_one_line_and_a_code_and_writes_nothing(book, tmp_path, monkeypatch, row):
    command, code, message, needs = row
    if needs:
        pytest.importorskip(needs)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("no book" * 1000)
    (tmp_path / "tree.json").write_text("[[3, 12], [2, 4]]")
    (tmp_path / "bad.eval").write_bytes(b"solver.eval\0" + b"\1" + bytes(99))
    actual, out, err = run(*(word.format(book=book, text="text") for word in shlex.split(command)))
    assert (actual, out) == (int(code), ""), err
    (error,) = errors_of(err)
    assert message in error
    assert sorted(os.listdir()) == ["bad.eval", "text", "tree.json"]


def test_play_to_the_end_with_hints_and_undo(book):
    out = ok("play", book, stdin="hint\nb2\nundo\nb2\nhelp\nnonsense\nquit\n")
    assert "hint, undo, swap" in out and "is not a legal move" in out
    assert out.startswith(f"tic-tac-toe: you begin (level perfect, from {book})\nType a move such as a1, or hint")
    second = ok("play", book, "--second", stdin="QUIT\n")
    assert "X" in second and "the computer begins" in second and second.endswith("bye\n")
    assert " o " in ok("play", book, stdin="B2\nquit\n")


def test_play_without_a_book_says_what_the_computer_does_not_know():
    for said, *words in (
        ("moves at random.*solver solve teeko -o BOOK", "teeko", "--budget", "0.1"),
        ("does not see the end", "connect-four:6,6", "--budget", "0.1"),
        ("heuristic of depth 1", "othello:4,4", "--method", "heuristic", "--depth", "1"),
    ):
        assert re.search(said, ok("play", *words, "--second", stdin="quit\n"), re.DOTALL)
    assert "does not" not in ok("play", "pong-hau-ki", "--second", "--live", stdin="quit\n")


@pytest.mark.parametrize(("game", "moves"), [("quixo", "a1t"), ("othello:4,4", "a3"), ("animal-shogi", "b2b3")])
def test_the_board_does_not_turn_round_between_moves(game, moves):
    """What only one player has moved stays where it was for the eye, whoever moves next."""
    rules = load_game(game)
    state = rules.initial()
    shown = show(rules, rules.result(state, parse_action(rules, state, moves)), 1)
    lines = [*zip(show(rules, state, 0).splitlines(), shown.splitlines(), strict=True)]
    cells = [zip(old[2:8], new[2:8], strict=True) for old, new in lines if not old.lstrip()[:1].isalpha()]
    assert 1 <= sum(old != new for row in cells for old, new in row) <= 2
    assert shown in ok("play", game, "--budget", "0.05", stdin=f"{moves}\nquit\n")


def test_the_tree_exercise(tmp_path):
    path = tmp_path / "exercise.json"
    path.write_text("[[3, 12, 8], [2, 4, 6], [14, 5, 2]]")  # Russell and Norvig, figure 6.2
    facts = json.loads(ok("solve", f"tree:{path}", "--pruned", "--json"))
    assert facts == {"value": 3, "best": "1", "leaves": 9, "pruned": [{"leaf": 5, "value": 4}, {"leaf": 6, "value": 6}]}
    lowest = json.loads(ok("solve", f"tree:{path},min", "--pruned", "--json"))
    assert lowest["value"] == 6  # MIN chooses between MAX's 12, 6 and 14
    book, page = tmp_path / "tree.lmdb", tmp_path / "site"
    ok("solve", f"tree:{path}", "-o", book)
    code, _, err = run("export", book, "-o", f"{page}/")
    assert code == 5 and "which no book opens: name its rules: solver export --game tree:PATH/exercise.json" in err
    ok("export", book, "-o", f"{page}/", "--game", f"tree:{path}")
    assert "<h1>Tree exercise.json</h1>" in (page / "index.html").read_text("utf-8")


def shell(command):
    """Exit code, stdout, stderr of a command in which `solver` is the program."""
    command = command.replace("solver", f"{sys.executable} -m solver", 1)
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.posix("a shell")
def test_the_reader_of_a_pipe_who_has_seen_enough_is_told_nothing(book):
    code, out, err = shell(f"solver query {book} - --no-moves < <(yes start | head -20000) | head -1")
    assert (code, err) == (141, "")
    assert json.loads(out)["value"] == "draw"
    assert shell("solver --help | true") == (141, "", "")


@pytest.mark.posix("/dev/full, and a shell")
def test_output_that_cannot_be_written_is_said_and_a_closed_standard_input_is_an_empty_one():
    said = "Error: standard output cannot be written to: "
    assert shell("solver books > /dev/full") == (6, "", f"{said}No space left on device\n")
    assert shell("solver books >&-") == (1, "", f"{said}Bad file descriptor\n")
    assert shell("solver books --nothing >&- 2>&-") == (2, "", "")
    for command in ("query nim -", "play nim -q"):
        code, _, err = shell(f"solver {command} <&-")
        assert code == 0 and "Traceback" not in err, err


def test_a_line_is_the_best_play_to_the_end_searched_without_a_book(book, monkeypatch):
    facts = json.loads(ok("line", book, "--json"))
    assert (facts["score"], facts["ending"], len(facts["moves"])) == (0, "the game is over", 9)
    longest = json.loads(ok("line", book, "--longest", "--json"))
    assert (longest["words"], len(longest["moves"])) == ("win in 5", 5)
    assert "win in 5 for the side to move" in ok("line", book, "--longest")
    assert json.loads(ok("line", "mu-torere", "--json", "--live"))["ending"] == "the position repeats: a draw"
    assert "loss in 11 for the side to move" in ok("line", "coins", "--live")
    for most, plies in ((1, "1 ply"), (2, "2 plies")):
        assert f"cut off after {plies}, the most that was asked for" in ok("line", "coins", "--most", most, "--live")
    monkeypatch.setattr("solver.cli.ask.SECONDS", 0.1)
    fails(3, "solver solve teeko -o BOOK", "line", "teeko")


@pytest.mark.parametrize("name", [*slow("chart.svg"), "chart.png"])
def test_a_chart_of_a_book(book, tmp_path, name):
    pytest.importorskip("matplotlib")
    path = tmp_path / name
    ok("info", book, "--plot", path)
    assert path.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")
    fails(2, ".svg", "info", book, "--plot", tmp_path / "chart.txt")


@pytest.mark.parametrize("arguments", ["check GAME --quick", "compare GAME", "query GAME start"])
def test_commands_say_how_far_a_game_is_that_loads(arguments, tmp_path):
    head = "from solver.base.progress import listener\nlistener().say('a third of it is explored')"
    for name, options in (("loud", ()), ("quiet", ("-q",))):
        words = arguments.replace("GAME", write_rules(tmp_path / f"{name}.py", head=head)).split()
        assert ("Note: a third of it is explored" in run(*words, *options)[2]) == (name == "loud")


def test_every_command_is_in_one_section_and_the_version_is_told():
    assert ok("--version").strip() == f"solver, version {__version__}"
    named = [name for names in SECTIONS.values() for name in names]
    assert sorted(named) == sorted(main.list_commands(None)) == sorted(COMMANDS)
    shown = ok("--help")
    for title, names in SECTIONS.items():
        section = shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == list(names)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_opens_with_a_sentence_and_two_examples_and_every_option_has_a_sentence(name):
    group = main.get_command(None, name)
    for command in (group, *getattr(group, "commands", {}).values()):
        first, examples, *_ = command.help.split("\n\n")
        assert first.endswith(".") and "\n" not in first and len(first) <= 100
        lines = [line.strip() for line in examples.replace("\b", "").splitlines() if line.strip()]
        assert len(lines) >= 2 and all(re.search(r"\bsolver |^curl ", line) for line in lines)
        assert any(line.startswith(f"solver {name}") for line in lines)
        for option in command.params:
            if isinstance(option, click.Option):  # from a capital on, or choices
                assert option.help and option.help.endswith("."), option.opts
                assert option.help[0].isupper() or ":" in option.help, option.opts


def test_values_have_colours_on_a_terminal_alone(monkeypatch, capsys):
    text = "win in 3 for the side to move\n*  a  draw\n   b  loss in 12, not lost\n"
    monkeypatch.setattr(click, "echo", print)  # click itself looks at the descriptor
    for is_terminal, no_color in ((False, ""), (True, ""), (True, "1")):
        monkeypatch.setattr(sys.stdout, "isatty", lambda is_terminal=is_terminal: is_terminal)
        monkeypatch.setenv("NO_COLOR", no_color)
        common.echo_values(text[:-1])
        codes = {"win in 3": 32, "draw": 33, "loss in 12": 31} if is_terminal and not no_color else {}
        colourful = text
        for word, code in codes.items():
            colourful = colourful.replace(word, f"\x1b[{code}m{word}\x1b[0m")
        assert capsys.readouterr().out == colourful


@pytest.mark.parametrize(("shell", "words"), [("bash", "1"), *slow_rows(("zsh", "1"), ("fish", "qu"))])
def test_a_shell_completes_commands_and_options(shell, words):
    asked = {"_SOLVER_COMPLETE": f"{shell}_complete", "COMP_WORDS": "solver qu", "COMP_CWORD": words}
    command = [sys.executable, "-c", "from solver.cli import main; main(prog_name='solver')"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **asked}, capture_output=True, text=True)
    assert "query" in done.stdout and "solve" not in done.stdout.split(), done


def test_kalahs_board_stays_and_its_houses_have_numbers():
    rules = load_game("kalah:3,2")
    assert show(rules, rules.initial(), 0).splitlines()[-1].split()[:3] == ["1.", "2.", "3."]
    after = show(rules, rules.result(rules.initial(), 2), 1).splitlines()
    assert after[0].split() == ["3.", "2.", "1."] and after[2].split() == ["2", "2", "0"]
    assert after[3].endswith("   north to move")
