"""The scripts: benchmarks read other programs, and the measure behind the warnings of `make lint` counts code alone."""

import shutil
import subprocess
import sys

import pytest

from tests import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import shape  # noqa: E402

BODY = "\n    x = 0" * 40
TAKEN = ", ".join("abcdefghi")


def test_lines_of_code_and_arguments_are_counted():
    for source, warning in (
        ("x = 0\n" * 401, "here.py: 401 lines of code, more than 400"),
        ("x = 0\n\n# why\n" * 400, None),
        (f"def f():{BODY}", "here.py:1: f has 41 lines of code, more than 40"),
        (f'def f():\n    """Do it.\n{BODY}\n    """\n    # why\n\n    return 0', None),
        (f"@numba.njit(cache=True)\ndef f():{BODY}", None),
        (f"@shared\ndef f():{BODY}{BODY}", "here.py:2: f has 81 lines of code, more than 60"),
        ('def f():\n    x = """' + "\n" * 40 + '"""', "here.py:1: f has 42 lines of code, more than 40"),
        (f"def f({TAKEN}): ...", "here.py:1: f takes 9 arguments, more than 8"),
        (f"def f(self, a, *b, c, d, e, f, g, **h): {TAKEN}", None),
        (f"@click.command('solve')\ndef f({TAKEN}): ...", None),
    ):
        assert list(shape.warnings_of(source, "here.py")) == ([] if warning is None else [warning])


def test_rooms_floors_and_arrows_are_counted():
    tower = {f"room{number}": {f"room{below}" for below in range(number)} for number in range(25)}
    assert list(shape.warnings_of_rooms(tower)) == [
        "solver: 25 rooms, more than 24",
        "solver: 25 floors, more than 12",
        "solver: 300 arrows, more than 138",
    ]


def test_warnings_are_printed_and_stop_nobody(tmp_path, monkeypatch, capsys):
    (tmp_path / "long.py").write_text(f"def f({TAKEN}): ...\n")
    monkeypatch.setattr(shape, "ROOT", tmp_path)
    monkeypatch.setattr(shape, "PACKAGE", tmp_path)
    shape.main()
    assert "warning: long.py:1: f takes 9 arguments, more than 8\n" in capsys.readouterr().out


@pytest.mark.posix("make and a shell")
@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("failing", ["ruff", None])
def test_lint_runs_all_tools_and_then_fails_if_one_did(tmp_path, failing):
    for tool in ("ruff", "mypy", "python"):
        (tmp_path / tool).write_text(f"#!/bin/sh\necho {tool} ran\nexit {int(tool == failing)}\n")
        (tmp_path / tool).chmod(0o755)
    command = ["make", "--silent", "--assume-old=setup", f"BIN={tmp_path}", "lint"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    ran = [line.split()[0] for line in done.stdout.splitlines() if line.endswith(" ran")]
    assert (ran, done.returncode == 0) == (["ruff", "ruff", "mypy", "python"], failing is None)


PROGRAM = """
import sys
for line in sys.stdin:
    moves = line.strip()
    print({answer})
"""


@pytest.mark.posix("counts the time of children")
def test_another_program_is_timed_and_its_scores_are_read(tmp_path):
    pytest.importorskip("numba")
    import bench_search

    program = tmp_path / "program.py"
    for answer, scores in (
        ("moves, -3, 17, 0.5", [-3, -3]),
        ("f'score: {len(moves)} nodes: 12'", [2, 3]),
        ("'nothing' if moves == '12' else '7'", [None, 7]),
        ("'4') if moves == '12' else sys.exit(0", [4, None]),
    ):
        program.write_text(PROGRAM.format(answer=answer))
        seconds, found = bench_search.ask(f"{sys.executable} {program}", ["12", "334"])
        assert found == scores and seconds > 0
    report = bench_search.compare(f"{sys.executable} {program}", [("12", -3), ("334", 7)], 1.0)
    assert report["wrong"] == 2  # another score, and none


@pytest.mark.posix("counts the time of children")
def test_processes_are_timed_with_their_bytecode_written(monkeypatch):
    import benchmark

    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert benchmark.run([sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"]).output == "False\n"
