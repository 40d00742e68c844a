"""Time the compiled alpha-beta on lines of `moves score`, check every score, print CPU time per position.

python scripts/bench_search.py FILE [--limit N] [--cold|--warm] [--wdl] [--threads N] [--json]
python scripts/bench_search.py              all sets of tests/data/connect-four, into the README's table

Scores are Pascal Pons': 0 a draw; a win after k more plies from a position of p stones is (cells + 2 - p - k) // 2, a
loss the negative. `--cold` (the default) empties the table before each position, outside the time. Times are those of
the searching thread, and of the search alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import benchmark

from solver import BudgetExceeded, load_game
from solver.kernels.searcher import TABLE, Searcher
from solver.notation import parse_position
from solver.value import Value

SETS = Path(__file__).parent.parent / "tests" / "data" / "connect-four"
# the best mean of Pons', Steininger's, BitBully's and ecc521's solvers, measured on a 2-core machine, in microseconds
BEST = {"end-easy": 9.5, "middle-easy": 51.0, "middle-medium": 1860.0, "begin-easy": 310.0}


def score_of(game: Any, ply: int, value: Value) -> int:
    """A value in Pons' terms."""
    if not value.score or value.distance is None:
        return value.score
    return value.score * ((game.width * game.height + 2 - ply - value.distance) // 2)


def publish() -> None:
    """All sets, one process each, into the README's table."""
    results = []
    for name in BEST:
        command = [sys.executable, __file__, str(SETS / f"{name}.txt"), "--json"]
        results.append(json.loads(benchmark.run(command).output))
    rows = [
        [
            one["file"].removesuffix(".txt"),
            f"{one['mean_us']:,.1f}",
            f"{one['median_us']:,.1f}",
            f"{one['p99_us']:,.0f}",
            f"{one['nodes']:,.0f}",
            f"{one['nodes_per_second'] / 1e6:.1f}",
            f"{best:,.1f}",
        ]
        for one, best in zip(results, BEST.values(), strict=True)
    ]
    head = ("set of 1,000", "mean us", "median us", "p99 us", "nodes", "M nodes/s", "best C++, mean us")
    table = benchmark.table(head, rows)
    print(table)
    benchmark.publish("searching", table, results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--game", default="connect-four")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--table", type=int, default=TABLE, help="bytes")
    heat = parser.add_mutually_exclusive_group()
    heat.add_argument("--cold", action="store_true", help="empty the table before each position (default)")
    heat.add_argument("--warm", action="store_true", help="keep the table")
    parser.add_argument("--wdl", action="store_true", help="win, draw or loss only")
    parser.add_argument("--threads", type=int, default=1, help="positions are dealt out, a table each")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.file is None:
        publish()
        return
    game: Any = load_game(arguments.game)
    lines = [line.split() for line in arguments.file.read_text().splitlines() if line.strip()][: arguments.limit]
    positions = [(moves, int(score), parse_position(game, moves)) for moves, score in lines]
    searchers = [Searcher(game, outcomes=arguments.wdl, table=arguments.table) for _ in range(arguments.threads)]
    with contextlib.suppress(BudgetExceeded):  # compiles, the growing of the table included
        searchers[0].value(game.initial(), nodes=100_000)
    for searcher in searchers:
        searcher.clear()
    wrong: list[str] = []

    def run(number: int) -> tuple[float, int]:
        moves, score, (state, ply, *_) = positions[number]
        searcher = searchers[number % arguments.threads]
        if not arguments.warm:
            searcher.clear()
        before = searcher.nodes
        started = time.thread_time_ns()
        value = searcher.value(state)
        seconds = (time.thread_time_ns() - started) / 1e9
        found = value.score if arguments.wdl else score_of(game, ply or 0, value)
        if found != ((score > 0) - (score < 0) if arguments.wdl else score):
            wrong.append(f"{moves}: {found}, should be {score}")
        return seconds, searcher.nodes - before

    def deal(thread: int) -> list[tuple[float, int]]:
        return [run(number) for number in range(thread, len(positions), arguments.threads)]

    started = time.perf_counter()
    if arguments.threads == 1:
        results = deal(0)
    else:
        with ThreadPoolExecutor(arguments.threads) as pool:
            results = [result for part in pool.map(deal, range(arguments.threads)) for result in part]
    wall = time.perf_counter() - started
    seconds = sorted(result[0] for result in results)
    nodes = sum(result[1] for result in results)
    report = {
        "file": arguments.file.name,
        "positions": len(results),
        "wrong": len(wrong),
        "mean_us": round(statistics.mean(seconds) * 1e6, 2),
        "median_us": round(statistics.median(seconds) * 1e6, 2),
        "p99_us": round(seconds[int(0.99 * (len(seconds) - 1))] * 1e6, 2),
        "max_us": round(seconds[-1] * 1e6, 2),
        "nodes": round(nodes / len(results), 1),
        "nodes_per_second": round(nodes / sum(seconds)),
        "wall_seconds": round(wall, 3),
        "threads": arguments.threads,
        "machine": benchmark.machine(),
    }
    print(json.dumps(report) if arguments.json else "\n".join(f"{name:16} {fact}" for name, fact in report.items()))
    if wrong:
        sys.exit("\n".join(["wrong scores:", *wrong[:10]]))


if __name__ == "__main__":
    main()
