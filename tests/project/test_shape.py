"""The measure behind the warnings of `make lint`: lines of code alone count."""

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
