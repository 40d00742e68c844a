"""Time whole solves by workers of Ray on this machine beside those without it: a table of docs/explanation/scale.md.

python scripts/bench_cluster.py [--runs 3] [--publish] [GAME ...]

Two workers and two threads: what it shows is what the shards cost, not how they scale. The books must be the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import benchmark

GAMES = ("connect-four:5,4", "connect-four:5,5", "connect-four:6,4")
WORKERS = 2
EVERY = 0.05  # seconds between two looks at the workers


class Watch(threading.Thread):
    """Looks at the memory of Ray's workers: `peak` bytes that one of them had for itself."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(EVERY):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    if (process / "cmdline").read_bytes().startswith(b"ray::"):
                        self.peak = max(self.peak, private(process))
                except OSError:  # it has ended
                    continue


def private(process: Path) -> int:
    """Bytes of memory that a process shares with no other."""
    lines = (process / "status").read_text("utf-8").splitlines()
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon")), 0)


def measure(game: str, runs: int, folder: str) -> dict[str, Any]:
    """Medians of both ways to solve a game."""
    book = str(Path(folder) / "book.lmdb")
    command = [sys.executable, "-m", "solver", "solve", game, "-o", book, "--json", "-q"]
    alone = benchmark.median_run([*command, "--workers", str(WORKERS)], runs)
    watch = Watch()
    watch.start()
    shards = benchmark.median_run([*command, "--cluster", f"local:{WORKERS}"], runs)
    watch.ended.set()
    info = json.loads(alone.output)
    if json.loads(shards.output)["digest"] != info["digest"]:
        raise SystemExit(f"{game}: the books differ")
    return {
        "game": game,
        "states": info["states"],
        "seconds": round(alone.wall, 2),
        "cluster_seconds": round(shards.wall, 2),
        "times": round(shards.wall / alone.wall, 2),
        "microseconds_per_state": round(1e6 * shards.wall / info["states"], 3),
        "worker_mib": round(watch.peak / 2**20),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--publish", action="store_true", help="Write the table into docs/explanation/scale.md.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = [measure(game, arguments.runs, folder) for game in arguments.games]
    rows = [
        [
            f"`{one['game']}`",
            f"{one['states']:,}",
            f"{one['seconds']:.2f}",
            f"{one['cluster_seconds']:.2f}",
            f"{one['times']:.2f}",
            f"{one['microseconds_per_state']:.3f}",
            f"{one['worker_mib']:,}",
        ]
        for one in results
    ]
    head = ("game", "states", "one machine, s", "`local:2`, s", "times", "us a state", "MiB of a worker")
    table = benchmark.table(head, rows)
    print(table)
    if arguments.publish:
        text = f"{table}\n\nMedians of {arguments.runs} runs, start of Ray included, on: {benchmark.machine()}."
        benchmark.put(benchmark.ROOT / "docs" / "explanation" / "scale.md", {"clusters": text})


if __name__ == "__main__":
    main()
