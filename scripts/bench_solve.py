"""Time whole `solver solve` commands, from process start to the synced book: a table of docs/reference/benchmarks.md.

python scripts/bench_solve.py [--runs 3] [GAME[/no-symmetry] ...]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import benchmark

GAMES = (
    "tic-tac-toe",
    "connect-four:4,4",
    "connect-four:5,4",
    "connect-four:5,5",
    "connect-four:5,5/no-symmetry",
    "kalah:4,3",
    "pig",
    "backgammon-bearoff:7",
)


def measure(name: str, runs: int, workers: int, folder: str) -> dict[str, Any]:
    """One game's medians and counts; rates are in legal positions, mirror images included."""
    game, _, option = name.partition("/")
    book = str(Path(folder) / "book.lmdb")
    command = [sys.executable, "-m", "solver", "solve", game, "-o", book, "--workers", str(workers), "--json", "-q"]
    result = benchmark.median_run([*command, *(["--no-symmetry"] if option else [])], runs)
    info = json.loads(result.output)
    return {
        "game": game,
        "symmetry": not option,
        "workers": workers,
        "seconds": round(result.wall, 2),
        "cpu_seconds": round(result.cpu, 2),
        "peak_mib": round(result.peak),
        "states": info["states"],
        "stored": info["stored"],
        "bytes": info["bytes"],
        "bits_per_state": round(info["bits_per_state"], 2),
    }


def row_of(result: dict[str, Any]) -> tuple[str, bool, int]:
    """Return the part of a result that names its row in the table."""
    return result["game"], result["symmetry"], result["workers"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help="measure these alone, and keep the other rows; all, if left out")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    asked = [(name, 2) for name in arguments.games] or [*((name, 2) for name in GAMES), ("connect-four:5,5", 1)]
    known = {row_of(one): one for one in (benchmark.results("solving") if arguments.games else [])}
    with tempfile.TemporaryDirectory() as folder:
        for name, workers in asked:
            measured = measure(name, arguments.runs, workers, folder)
            known[row_of(measured)] = measured
    results = list(known.values())
    rows = [
        [
            f"`{one['game']}`" + ("" if one["symmetry"] else " `--no-symmetry`"),
            str(one["workers"]),
            f"{one['states']:,}",
            f"{one['seconds']:.2f}",
            f"{one['states'] / one['seconds'] / 1e6:.2f}",
            f"{one['peak_mib']:,}",
            f"{one['bytes'] / 1e6:.2f}",
            f"{one['bits_per_state']:.1f}",
        ]
        for one in results
    ]
    head = ("game", "workers", "states", "seconds", "M states/s", "peak MiB", "book MB", "bits a stored state")
    table = benchmark.table(head, rows)
    print(table)
    benchmark.publish("solving", table, results)


if __name__ == "__main__":
    main()
