"""Files of strangers: whatever they hold, one line within ten seconds and 500 MB."""

import errno
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tracemalloc
from fractions import Fraction

import pytest

from solver.base import errors
from solver.base.errors import BookError, GameError, ResourceError, reason
from solver.base.files import replacing, write_whole
from solver.base.progress import listening, quiet, silent
from solver.base.text import exact, whole_weights
from solver.games import tree
from solver.games.common import description, table
from solver.rules.game import load_game
from tests import ROOT
from tests.commands import ok, run
from tests.processes import command_line, has_ended, python
from tests.refusals import failing, fails, raises
from tests.ways import until

RULES = """(role a) (role b) (init (at 0)) (legal a go) (legal b noop) (<= (next (at 1)) (true (at 0)))
(<= terminal (true (at 1))) (goal a 100) (goal b 0)
"""


def values(count, mark=""):
    return " ".join(f"(v {mark}{number})" for number in range(count))


TWELVE = " ".join(f"(distinct ?v{i} ?v{j})" for i in range(12) for j in range(i))
EITHER = "(or (p a) (p b)) "
ALTERNATIVES = "line 3: its alternatives"
DEEP_TERM = "line 3: a term of more than 1,000 words"
MANY = "its variables can be chosen in too many ways"
NO_GOAL = "is not a goal"
RELATIONS = "".join(f"(<= (r{i} 2) (r{i + 1} 1))" for i in range(2000)) + "(<= terminal (r0 a))"
DESCRIPTIONS = {  # what follows the rules, and a part of the error
    "product": (f"(<= (goal a 0) (and {EITHER * 40}))", ALTERNATIVES),
    "product-of-parts": (f"(<= (goal a 0) {EITHER * 40})", ALTERNATIVES),
    "sum-of-products": (f"(<= (goal a 0) (or {f'(and {EITHER * 4})' * 400}))", ALTERNATIVES),
    "doubling-term": ("(p a) (<= (p (f ?x ?x)) (p ?x)) (<= terminal (p b))", DEEP_TERM),
    "deepening-term": ("(p a) (<= (p (f ?x)) (p ?x)) (<= terminal (p b))", DEEP_TERM),
    "deepening-start": ("(init a) (<= (init (f ?x)) (init ?x))", DEEP_TERM),
    "long-term": (f"(p {'a ' * 5000}) (<= terminal (p b))", DEEP_TERM),
    "long-rule": (f"(v 1) (<= (goal a 0) {values(3000, '?v')})", "line 3: a rule of more than 1,000 parts"),
    "distinct": (f"{values(11)} (<= (goal a 0) {values(12, '?v')} {TWELVE})", MANY),
    "tuples": (f"{values(60)} (<= (q ?v0 ?v1 ?v2 ?v3 ?v4) {values(5, '?v')}) (<= terminal (q 1 1 1 1 1))", MANY),
    "deep-tuples": ("(n a) (n b) (n c) (p n) (<= (p (f ?x ?y)) (p ?x) (n ?y)) (<= terminal (p b))", MANY),
    "relations": (RELATIONS, "more than 1,000 relations"),
    "large-goal": (f"(goal a {'9' * 5000})", NO_GOAL),
    "goal-of-a-term": ("(goal a (f 1))", NO_GOAL),
}
HEADER = "state,next,reward,player,weight\n"
PRIMES = [10**17 + 2 * number + 1 for number in range(400)]
TABLES = {
    "exponent": ("a,b,1e999999999,,\n", "line 2: '1e999999999' is not a reward"),
    "small-exponent": ("a,b,,x,1e-999999999\n", "line 2: '1e-999999999' is not a weight"),
    "digits": (f"a,b,{'9' * 5000},,\n", "is not a reward: give a whole number below 2**40"),
    "zero": ("a,b,1/0,,\n", "line 2: '1/0' is not a reward"),
    "denominators": ("".join(f"a,b{n},,,1/{n}\n" for n in PRIMES), "line 2: the weights of 'a' add up"),
    "long-denominators": (f"a,b,,,1/{10**4000 + 1}\n", "is not a weight: give nothing, or a number above 0"),
    "endless-row": ('"a\n",' * 300_000, "a row of more than 1,048,576 characters: close the quotes"),
    "endless-field": ('"' + "a" * 200_000, "quotes that do not match, or 131,072 characters"),
}
DEEP = 20_000
CHANCES = ",".join(f'["1/{number}",1]' for number in PRIMES)
TREES = {
    "twice": ('{"MAX":[1],"MAX":[2]}', "an object has 'MAX' twice"),
    "no-commas": ("[1 2,,,3]", "line 1: invalid JSON from column 4 on"),
    "no-commas-deep": ("[" * DEEP + "1 2,,,3" + "]" * DEEP, "whole numbers, not '2,,,3]]]]]]]]]]]]...'"),
    "comma-too-many-deep": ("[" * DEEP + "1,\n]" + "]" * DEEP, "line 2: a deep tree"),
    "behind-the-end-deep": ("[" * DEEP + "1" + "]" * DEEP + ",1", "whole numbers, not ',1'"),
    "unclosed-deep": ("[" * DEEP + "1" + "]" * (DEEP - 1), "the brackets of the tree do not match"),
    "objects-deep": ('{"MAX":[' * DEEP + "1" + "]}" * DEEP, "a deep tree holds lists"),
    "exponent": ("[1e999999999]", "'1e999999999' is not a number of a tree"),
    "digits": (f"[{'9' * 5000}]", "is not a number of a tree"),
    "denominators": (f'{{"chance":[{CHANCES}]}}', "the 400 probabilities of a node have no small common denominator"),
    "deep-node": ('{"MAX":' + "[" * 800 + "1" + "]" * 800 + ',"MIN":[1]}', "not {'MAX': [[[[[[...]]]]]], "),
    "terminals-command": (r'["\u001b[31mred"]', r"'\x1b[31mred' is not a number of a tree"),
    "nodes": ("[" + "1," * 600_000 + "1]", "more than 524,288 nodes"),
}
IMPORTS = [
    (f'{{"state":{"9" * 5000},"score":1,"distance":1}}\n', "line 1: a number of 5,000 digits"),
    ('{"state":1,"state":2,"score":0}\n', "line 1: an object has 'state' twice"),
    ('{"state":0,"score":0}\n{"state":1,,}\n', "line 2: no JSON from character 12 on"),
    ('{"state":' + "[" * 100_000 + "\n", "line 1: brackets nested too deep"),
    ('{"state":0,"score":1e999,"distance":NaN}\n', "line 1: score inf with distance nan is not a value"),
]
FILES = {
    f"{name}.{ending}": (begin + text, message)
    for ending, begin, table in (("kif", RULES, DESCRIPTIONS), ("csv", HEADER, TABLES), ("json", "", TREES))
    for name, (text, message) in table.items()
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_refused_with_its_place_and_counted_before_it_is_made(tmp_path, monkeypatch, name):
    monkeypatch.setattr(description, "MOST_WORK", 100_000)
    text, message = FILES[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(GameError) as error:
        load_game(str(tmp_path / name))
    assert message in str(error.value) and str(error.value).isprintable()


@pytest.mark.parametrize(("text", "message"), IMPORTS)
def test_values_from_elsewhere_are_refused_with_their_line(tmp_path, text, message):
    (tmp_path / "odd.jsonl").write_text(text)
    code, output, error = run("import", tmp_path / "odd.jsonl", "tic-tac-toe", "-o", tmp_path / "odd.lmdb", "-q")
    assert (code, output, error.count("\n")) == (2, "", 1) and message in error


def bound():
    """Limits of a process: CPU time, which only an endless reading takes, and addresses, half for libraries."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


@pytest.mark.slow
@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_description_is_refused_within_bounded_time_and_memory(tmp_path, name):
    (tmp_path / "odd.kif").write_text(RULES + DESCRIPTIONS[name][0])
    code = "from solver.__main__ import main; main()"
    done = python(code, "solve", tmp_path / "odd.kif", "-q", "-o", tmp_path / "odd.lmdb", preexec_fn=bound)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


def test_a_description_of_any_order_says_what_holds_everywhere(tmp_path):
    """Facts that follow from facts, in the order that needs most rounds, with what holds nowhere among them."""
    chain = "".join(f"(<= (z {i}) (z {i + 1}) (not (no {i})))" for i in range(50))
    told = RULES.replace("(goal a 100)", "(<= (goal a 100) (z 0)) (<= (goal a 50) (not (z 0)))")
    for lacking, goal, worths in ((50, 0, [0, -1]), (25, 50, [0, 0])):
        path = tmp_path / f"chain{lacking}.kif"
        path.write_text(f"{told} (no {lacking}) {chain} (z 50)".replace("goal b 0", f"goal b {goal}"))
        assert load_game(str(path)).nodes.worths.tolist() == worths


@pytest.mark.posix("files with holes, and pipes with names")
@pytest.mark.parametrize("name", ["odd.csv", "odd.tsv", "odd.json", "odd.kif"])
def test_a_file_without_measure_is_not_read(tmp_path, name):
    with open(tmp_path / name, "wb") as file:
        file.truncate(1 << 40)
    raises(GameError, "bytes, of .* at most", load_game, str(tmp_path / name))
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    raises(GameError, "it is not a regular file", load_game, str(tmp_path / name))


def test_a_table_larger_than_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "STEP", 4)
    monkeypatch.setattr(table, "resident_memory", iter(range(0, 1 << 40, 1 << 30)).__next__)
    (tmp_path / "large.csv").write_text("state,next\n" + "".join(f"{n},{n + 1}\n" for n in range(40)))
    with listening(silent, quiet, 3 << 30), pytest.raises(ResourceError, match="more than 16 lines, .* 3.0 GiB"):
        load_game(str(tmp_path / "large.csv"))


def test_numbers_are_exact_or_none_and_weights_whole():
    known = {"2": 2, "-0.25": Fraction(-1, 4), "+1/3": Fraction(1, 3), ".5": Fraction(1, 2), "2.": 2, "1e99": 10**99}
    odd = ("", ".", "1/0", "1/3e5", "1e100", "1_000", " 1", "\u0663", "nan", "1" * 21, "0x1")
    for text, value in {**known, "25e-2": Fraction(1, 4), **dict.fromkeys(odd)}.items():
        assert exact(text) == value, text
    shares = [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]
    assert whole_weights(shares, 6) == [1, 2, 3] and whole_weights(shares, 5) is None
    assert whole_weights([Fraction(1, 10**18)] * 3, 3) == [1, 1, 1] and whole_weights([], 1) == []


def test_a_deep_tree_is_read_as_a_flat_one_is():
    for text in ("[[3, 12], [ -2 ,4],\n[14]]", "7", "[]"):
        assert tree._parse_deep(text) == tree.parse(text) == json.loads(text)


def test_a_deep_tree_is_gone_through_in_memory_that_grows_with_its_depth(tmp_path):
    depth = 5000
    (tmp_path / "deep.json").write_text("[" * depth + "1,2" + "]" * depth)
    tracemalloc.start()
    try:
        code, output, error = run("solve", tmp_path / "deep.json", "--pruned")
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()
    assert (code, output.splitlines()[0], error) == (0, "value 1, best move 1", "")  # at an even depth MIN chooses
    fails(2, "5,002 nodes, up to 5,000 deep, too many to print each step", "solve", tmp_path / "deep.json", "--trace")


LINGERS = """
import os, sys, time
if os.fork() == 0:
    os.setsid()  # it is in no group of the engine's, and keeps its pipe
    print("child", os.getpid(), file=open(sys.argv[1], "w"), flush=True)
    time.sleep(600)
while not os.path.exists(sys.argv[1]) or not os.path.getsize(sys.argv[1]): time.sleep(0.01)
for line in sys.stdin:
    if line.startswith("ugi"): print("ugiok", flush=True)
    if line.startswith("isready"): print("readyok", flush=True)
    if line.startswith("quit"): break
"""


@pytest.mark.posix("forks")
@pytest.mark.parametrize("session", ["os.setsid()", "pass"], ids=["leaves", "stays"])
def test_an_engine_ends_with_its_children_and_one_that_has_left_is_not_waited_for(tmp_path, session):
    """Neither by `close` nor at the interpreter's end."""
    (tmp_path / "engine.py").write_text(LINGERS.replace("os.setsid()", session))
    command = command_line(sys.executable, "-SE", tmp_path / "engine.py", tmp_path / "child")
    script = f"from solver.learning.players import Process; Process({command!r}).close(); print('closed')"
    done = python(script, timeout=550)
    child = int((tmp_path / "child").read_text("utf-8").split()[1])
    if session != "pass":
        os.kill(child, signal.SIGKILL)
    until(lambda: has_ended(child))
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")


@pytest.mark.parametrize(("name", "kind"), [("ENOSPC", ResourceError), ("EIO", ResourceError), ("EACCES", BookError)])
def test_a_file_is_written_whole_or_left_alone(tmp_path, monkeypatch, name, kind):
    number = getattr(errno, name)
    write_whole(tmp_path / "file", b"older")
    monkeypatch.setattr(os, "fsync", failing(OSError(number, os.strerror(number))))
    raises(kind, re.escape(f"file cannot be written ({os.strerror(number)})"), write_whole, tmp_path / "file", b"newer")
    raises(BookError, "none.file cannot be written", write_whole, tmp_path / "none" / "file", b"")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"older")]


MINE = "not to be lost"
ALIKE = {"hexapawn.csv": "state,score\n1,1\n", "state,best.csv": "state,best\nOhio,1\n"}  # with names of ours
ALIKE |= {"state,value.csv": "state,value\n1,0.5\n", "state,value.jsonl": '{"state":1,"value":0.5}\n'}
OUTPUTS = {
    "solve tic-tac-toe -o": ".lmdb",
    "prove tic-tac-toe -o": ".lmdb",
    "grow connect-four:4,3 --positions 1 -o": ".lmdb",
    "trim tic-tac-toe --drop-plies 1 -o": ".lmdb",
    "pack tic-tac-toe --codec compact -o": ".lmdb",
    "merge tic-tac-toe tic-tac-toe -o": ".lmdb",
    "import values.csv tic-tac-toe -o": ".lmdb",
    "export hexapawn -o": ".csv .jsonl .sqlite .parquet .bin",
    "export hexapawn --columns state,value -o": ".csv .jsonl",
    "export hexapawn --columns state,best -o": ".csv .jsonl",
    "build tic-tac-toe -o": ".wasm",
    "learn tic-tac-toe -o": ".eval",
    "match random random --game tic-tac-toe --games 2 --save": ".txt",
    "puzzles tic-tac-toe -n 1 --html": ".html",
    "profile tic-tac-toe --html": ".html",
    "query tic-tac-toe start --svg": ".svg",
    "info tic-tac-toe --plot": ".svg .png",
}
EVERY_OUTPUT = [(command, ending) for command, endings in OUTPUTS.items() for ending in endings.split()]


@pytest.mark.parametrize(
    ("command", "ending"), EVERY_OUTPUT, ids=[f"{one[0].split()[0]}{one[1]}" for one in EVERY_OUTPUT]
)
def test_a_file_of_yours_is_never_replaced(tmp_path, command, ending):
    path = tmp_path / f"file{ending}"
    path.write_text(mine := ALIKE.get(command.split()[-2] + ending, MINE))
    code, output, error = run(*command.split(), path)
    assert (code, output, path.read_text("utf-8"), [*tmp_path.iterdir()]) == (2, "", mine, [path]), error
    assert re.search(r"exists and is not an earlier result|needs pyarrow|solverbook\[(plot|learn|solve)\]", error)


@pytest.mark.parametrize("restart", ["", "--restart"], ids=["goes-on", "restart"])
@pytest.mark.parametrize("command", ["solve nim:1,2 --max-ply 2", "prove nim:1,2"], ids=["solve", "prove"])
def test_a_file_of_yours_where_work_is_kept_stays(tmp_path, command, restart):
    if is_proof := command.startswith("prove"):
        pytest.importorskip("numba")
    path = tmp_path / f"a.lmdb{'.proof' if is_proof else '.journal'}"
    path.write_text(MINE)
    code, output, error = run(*command.split(), "-o", tmp_path / "a.lmdb", *restart.split())
    assert (output, path.read_text("utf-8"), [*tmp_path.iterdir()]) == ("", MINE, [path]), error
    wanted = (2, "exists and is not an earlier result") if restart or is_proof else (6, "is of another solve")
    assert code == wanted[0] and f"{path} {wanted[1]}" in error


@pytest.mark.parametrize(
    ("command", "ending"), [one for one in EVERY_OUTPUT if re.match("export|pack|puzzles|query", one[0])]
)
def test_an_earlier_result_is_replaced(tmp_path, command, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"file{ending}"
    path.touch()
    for _ in range(2):
        ok(*command.split(), path, "-q")
    assert path.stat().st_size


def test_files_of_a_package_of_yours_are_no_files_of_a_reader(tmp_path):
    (tmp_path / "package.json").write_text('{\n  "name": "mine"\n}\n')
    fails(2, "package.json exists and is not an earlier result", "export", "--reader", "js", "-o", tmp_path)
    assert len([*tmp_path.iterdir()]) == 1
    (tmp_path / "package.json").unlink()
    assert ok("export", "--reader", "js", "-o", tmp_path) == ok("export", "--reader", "js", "-o", tmp_path)


def test_exports_into_one_folder_at_the_same_time_all_succeed(tmp_path):
    command = [sys.executable, "-m", "solver", "export", "hexapawn", "-q", "-o", f"{tmp_path / 'site'}/"]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(2)]
    assert [one.communicate()[1] for one in started] == [""] * 2 and [one.returncode for one in started] == [0] * 2
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_folders_are_put_in_their_place_whatever_others_do(tmp_path, monkeypatch):
    """Another writer's folder appears, and goes, between any two steps."""
    target = tmp_path / "site"
    rename, steps = os.rename, []

    def other(source, aim):
        steps.append(aim)
        if len(steps) == 1:
            shutil.rmtree(target)  # another has taken the older one away
        elif len(steps) in (2, 4):
            target.mkdir(exist_ok=True)
            (target / "other").write_text("")
        return rename(source, aim)

    target.mkdir()
    with replacing(target) as folder:
        folder.mkdir()
        (folder / "ours").write_text("")
        monkeypatch.setattr(os, "rename", other)
    assert [path.name for path in target.iterdir()] == ["ours"]
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.SolverError)]
HOSTILE = "\x1b]0;title\x07red\u202e\x00\ud800\nnext"
ESCAPED = r"\x1b]0;title\x07red\u202e\x00\ud800 next"


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_is_a_line_that_may_be_printed(kind):
    arguments = (HOSTILE,) if kind is not errors.MissingRules else (HOSTILE, "own.py")
    for error in (kind(*arguments), pickle.loads(pickle.dumps(kind(*arguments)))):  # noqa: S301
        assert str(error).startswith(ESCAPED) and str(error).isprintable()
    long = kind("begin" + "x" * 100_000 + "end: remedy", *arguments[1:])
    assert len(str(long)) <= 1000 and str(long).startswith("beginxxx") and "end: remedy" in str(long)


def test_a_reason_is_a_line_that_may_be_printed_and_speaks_of_no_settings_of_python():
    with pytest.raises(ValueError, match="limit") as caught:
        int("9" * 5000)
    assert reason(caught.value) == "a number or text of another form"
    assert reason(ValueError(f"unknown codec {HOSTILE}")) == f"unknown codec {ESCAPED}".replace(" next", r"\nnext")
