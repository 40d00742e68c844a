"""Measure a book in each codec: size, packing, look-ups, best actions, opening, a whole `solver query` process.

The table of docs/reference/benchmarks.md is written.

    python scripts/bench_book.py [--game connect-four:5,4] [--lookups 100000]

Keys are known ones in random order, pages warm, every answer checked against the book's own iteration.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import benchmark

PROBE = """
import sys, time
before = time.perf_counter()
from solver import Book
imported = time.perf_counter()
book = Book(sys.argv[1])
opened = time.perf_counter()
book[int(sys.argv[2])]
answered = time.perf_counter()
with open("/proc/self/status") as status:  # getrusage would count the parent's memory, too
    resident = next(line.split()[1] for line in status if line.startswith("VmRSS"))
print(imported - before, opened - imported, answered - opened, resident)
"""


NAMES = (
    "size",
    "bits a stored state",
    "packing, from either codec",
    "look-up, median / p99",
    "look-up of a missing state, median / p99",
    "best action, median / p99",
    "import / open / first look-up",
    "resident after one look-up",
    "`solver query` as a whole process",
)


def timed(function: Callable[[Any], Any], arguments: Sequence[Any]) -> tuple[float, float]:
    """Median and 99th percentile of the calls, in microseconds, less the cost of reading the clock."""
    clock = time.perf_counter_ns
    times = []
    for argument in arguments:
        started = clock()
        function(argument)
        times.append(clock() - started)
    empty = statistics.median(clock() - started for started in (clock() for _ in range(1000)))
    times.sort()
    return (times[len(times) // 2] - empty) / 1e3, (times[len(times) * 99 // 100] - empty) / 1e3


def opening(book: Path, state: int, runs: int) -> dict[str, float]:
    """Medians, each in a fresh process: import, open, first look-up (milliseconds), resident MiB."""
    probe = [sys.executable, "-c", PROBE, str(book), str(state)]
    samples = [[float(number) for number in benchmark.run(probe).output.split()] for _ in range(runs)]
    imports, opens, first, resident = (statistics.median(column) for column in zip(*samples, strict=True))
    return {
        "import_ms": imports * 1e3,
        "open_ms": opens * 1e3,
        "first_ms": first * 1e3,
        "resident_mib": resident / 1024,
    }


def packing(path: Path, codec: str) -> float:
    """Pack a book into a codec, in its place, the second time timed: million states a second."""
    import solver

    for _ in range(2):
        started = time.perf_counter()
        header = solver.pack(path, path, codec)
    return header.stored / (time.perf_counter() - started) / 1e6


def measure(path: Path, lookups: int, position: str) -> dict[str, Any]:
    """All figures of one book."""
    import solver

    with solver.Book(path) as book:
        known = random.Random(1).sample(list(book.items()), min(lookups, len(book)))
        states = [state for state, _ in known]
        assert all(book[state] == value for state, value in known)
        player = solver.Player(book)
        lookup = timed(book.__getitem__, states)
        best = timed(player.best, states[:20_000])
        missing = timed(book.get, [state + 1 for state in states[:20_000]])
        stored = len(book)
    query = benchmark.median_run([sys.executable, "-m", "solver", "query", str(path), position], 9)
    return {
        "stored": stored,
        "bytes": path.stat().st_size,
        "bits_per_state": path.stat().st_size * 8 / stored,
        "lookup_us": lookup,
        "missing_us": missing,
        "best_us": best,
        "query_process_ms": query.wall * 1e3,
        **opening(path, states[0], 9),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="connect-four:5,4")
    parser.add_argument("--position", default="4453")
    parser.add_argument("--lookups", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.lmdb"
        benchmark.run([sys.executable, "-m", "solver", "solve", arguments.game, "--no-symmetry", "-q", "-o", str(path)])
        results = {}
        for codec in ("instant", "compact"):
            rate = packing(path, codec)
            results[codec] = {**measure(path, arguments.lookups, arguments.position), "packed_m_per_s": rate}
    columns = [
        [
            f"{one['bytes'] / 1e6:.2f} MB",
            f"{one['bits_per_state']:.2f}",
            f"{one['packed_m_per_s']:.1f} M states/s",
            "{:.2f} / {:.2f} us".format(*one["lookup_us"]),
            "{:.2f} / {:.2f} us".format(*one["missing_us"]),
            "{:.1f} / {:.1f} us".format(*one["best_us"]),
            "{import_ms:.1f} / {open_ms:.2f} / {first_ms:.2f} ms".format(**one),
            f"{one['resident_mib']:.0f} MiB",
            f"{one['query_process_ms']:.0f} ms",
        ]
        for one in results.values()
    ]
    head = (f"`{arguments.game}`, {results['instant']['stored']:,} stored states", *results)
    table = benchmark.table(head, [list(row) for row in zip(NAMES, *columns, strict=True)])
    print(table)
    benchmark.publish("reading", table, {"game": arguments.game, **results})


if __name__ == "__main__":
    main()
