"""Solve games with cycles by number, and as without `parents`: seconds, CPU seconds, memory. The books must be equal.

python scripts/bench_numbered.py [GAME ...] [--runs N] [--json] [--publish]

Each run is a process of its own; the first one of each kind compiles and does not count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import benchmark

GAMES = ("dao", "neutreeko", "six-mens-morris:6", "nine-mens-morris:4", "teeko")
SOLVE = """
import sys
from solver.solving import pipeline
from solver.sweep import resources
game, path, way = sys.argv[1:]
resources.FEW_NUMBERS = 0
if way == "sorted":
    resources.by_number = lambda rules, codec: None
pipeline.solve(game, path).close()
"""


def measured(game: str, way: str, runs: int) -> tuple[benchmark.Run, str, int]:
    """Medians of solving a game, the digest of the book's bytes, and how many states it has."""
    import solver

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.lmdb"
        found = benchmark.median_run([sys.executable, "-c", SOLVE, game, str(path), way], runs)
        with solver.Book(path) as book:
            states = book.header.states or 0
        return found, hashlib.sha256(path.read_bytes()).hexdigest(), states


def report(game: str, runs: int) -> dict[str, Any]:
    """Both ways of solving a game. Raises SystemExit if their books differ."""
    (before, old, states), (after, new, _) = (measured(game, way, runs) for way in ("sorted", "numbered"))
    if old != new:
        raise SystemExit(f"{game}: the books differ")
    both = {"before": before, "after": after}
    figures = {
        name: {"s": round(run.wall, 1), "cpu": round(run.cpu, 1), "mib": round(run.peak)} for name, run in both.items()
    }
    return {"game": game, "states": states, **figures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(GAMES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--publish", action="store_true", help="into the table of docs/reference/benchmarks.md")
    asked = parser.parse_args()
    results = [report(game, asked.runs) for game in asked.games]
    rows = [
        [one["game"], f"{one['states']:,}"]
        + [f"{one[way][unit]:,}" for unit in ("s", "cpu", "mib") for way in ("before", "after")]
        for one in results
    ]
    names = [f"{name}, {way}" for name in ("s", "CPU s", "MiB") for way in ("before", "after")]
    table = benchmark.table(("game", "states", *names), rows)
    print(json.dumps(results) if asked.json else table)
    if asked.publish:
        benchmark.publish("numbered", table, results, f"Medians of {asked.runs}")


if __name__ == "__main__":
    main()
