"""The benchmarks: other programs are timed and read, processes run as those of an installed package."""

import sys

import pytest

from tests import ROOT

pytest.importorskip("numba")
sys.path.insert(0, str(ROOT / "scripts"))

import bench_search  # noqa: E402
import benchmark  # noqa: E402

PROGRAM = """
import sys
for line in sys.stdin:
    moves = line.strip()
    print({answer})
"""


@pytest.mark.posix("counts the time of children")
def test_another_program_is_timed_and_its_scores_are_read(tmp_path):
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
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert benchmark.run([sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"]).output == "False\n"
