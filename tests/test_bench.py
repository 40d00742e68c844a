"""The benchmark of searching beside other programs."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")
sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))

import bench_search  # noqa: E402

PROGRAM = """
import sys
for line in sys.stdin:
    moves = line.strip()
    print({answer})
"""


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        ("moves, -3, 17, 0.5", [-3, -3]),
        ("f'score: {len(moves)} nodes: 12'", [2, 3]),
        ("'nothing' if moves == '12' else '7'", [None, 7]),
        ("'4') if moves == '12' else sys.exit(0", [4, None]),
    ],
)
def test_another_program_is_timed_and_its_scores_are_read(tmp_path, answer, scores):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(answer=answer))
    seconds, found = bench_search.ask(f"{sys.executable} {program}", ["12", "334"])
    assert found == scores
    assert seconds > 0
    report = bench_search.compare(f"{sys.executable} {program}", [("12", -3), ("334", 7)], 1.0)
    assert report["wrong"] == sum(one != right for one, right in zip(scores, (-3, 7), strict=True))
