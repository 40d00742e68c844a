"""Time the compiled alpha-beta on lines of `moves score`, check every score, print CPU time per position.

python scripts/bench_search.py FILE [--limit N] [--cold|--warm] [--wdl] [--threads N] [--against PROGRAM] [--json]
python scripts/bench_search.py [--against PROGRAM]    all sets of tests/data/connect-four, into benchmarks.md

Scores are Pascal Pons': 0 a draw; a win after k more plies from a position of p stones is (cells + 2 - p - k) // 2, a
loss the negative. `--cold` (the default) empties the table before each position, outside the time. Times are those of
the searching thread, and of the search alone.

`--against` times another program on the same lines in the same run, as often as it is given: it reads `moves` lines and
prints a line for each, the score its first number that is not the moves. Its time is that of its process, less that of
a run without lines. What it remembers from one position to the next is its own affair.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import benchmark

from solver import BudgetExceeded, load_game
from solver.base.system import command_words
from solver.base.value import Value
from solver.compiled.exact.searcher import TABLE_BYTES, Searcher
from solver.rules.reading import parse_position

SETS = Path(__file__).parent.parent / "tests" / "data" / "connect-four"
# the best mean of Pons', Steininger's, BitBully's and ecc521's solvers, measured on a 2-core machine, in microseconds
BEST = {"end-easy": 9.5, "middle-easy": 51.0, "middle-medium": 1860.0, "begin-easy": 310.0}
Lines = list[tuple[str, int]]  # moves and their score


def score_of(game: Any, ply: int, value: Value) -> int:
    """A value in Pons' terms."""
    if not value.score or value.distance is None:
        return value.score
    return value.score * ((game.width * game.height + 2 - ply - value.distance) // 2)


def sign(score: int) -> int:
    return (score > 0) - (score < 0)


class Bench:
    """Searchers, a table each, and the lines that they are timed on."""

    def __init__(self, game: Any, lines: Lines, options: argparse.Namespace) -> None:
        self.game, self.options = game, options
        self.positions = [(moves, score, parse_position(game, moves)) for moves, score in lines]
        self.searchers = [Searcher(game, outcomes=options.wdl, table=options.table) for _ in range(options.threads)]
        self.wrong: list[str] = []
        with contextlib.suppress(BudgetExceeded):  # compiles, the growing of the table included
            self.searchers[0].value(game.initial(), nodes=100_000)
        for searcher in self.searchers:
            searcher.clear()

    def run(self, number: int) -> tuple[float, int]:
        """CPU seconds and nodes of a position."""
        moves, score, (state, ply, *_) = self.positions[number]
        searcher = self.searchers[number % len(self.searchers)]
        if not self.options.warm:
            searcher.clear()
        before = searcher.nodes
        started = time.thread_time_ns()
        value = searcher.value(state)
        seconds = (time.thread_time_ns() - started) / 1e9
        found = value.score if self.options.wdl else score_of(self.game, ply or 0, value)
        if found != (sign(score) if self.options.wdl else score):
            self.wrong.append(f"{moves}: {found}, should be {score}")
        return seconds, searcher.nodes - before

    def deal(self, thread: int) -> list[tuple[float, int]]:
        return [self.run(number) for number in range(thread, len(self.positions), len(self.searchers))]

    def report(self) -> dict[str, Any]:
        """All positions, dealt out to the searchers."""
        started = time.perf_counter()
        if len(self.searchers) == 1:
            results = self.deal(0)
        else:
            with ThreadPoolExecutor(len(self.searchers)) as pool:
                results = [result for part in pool.map(self.deal, range(len(self.searchers))) for result in part]
        wall = time.perf_counter() - started
        seconds = sorted(result[0] for result in results)
        nodes = sum(result[1] for result in results)
        return {
            "file": self.options.file.name,
            "positions": len(results),
            "wrong": len(self.wrong),
            "mean_us": round(statistics.mean(seconds) * 1e6, 2),
            "median_us": round(statistics.median(seconds) * 1e6, 2),
            "p99_us": round(seconds[int(0.99 * (len(seconds) - 1))] * 1e6, 2),
            "max_us": round(seconds[-1] * 1e6, 2),
            "nodes": round(nodes / len(results), 1),
            "nodes_per_second": round(nodes / sum(seconds)),
            "wall_seconds": round(wall, 3),
            "threads": len(self.searchers),
            "machine": benchmark.machine(),
        }


def ask(program: str, moves: Sequence[str]) -> tuple[float, list[int | None]]:
    """CPU seconds that a program takes for lines of moves, and the scores that it prints, None where it prints none.

    Raises CalledProcessError if it fails.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as lines:
        lines.writelines(f"{one}\n" for one in moves)
        lines.seek(0)
        command, own = command_words(program), benchmark.environment()
        with subprocess.Popen(command, stdin=lines, stdout=subprocess.PIPE, text=True, env=own) as process:
            assert process.stdout is not None
            answers = process.stdout.read().splitlines()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, program)
    scores = [_score(one, line) for one, line in zip(moves, answers, strict=False)]
    return usage.ru_utime + usage.ru_stime, scores + [None] * (len(moves) - len(scores))


def _score(moves: str, line: str) -> int | None:
    """The first number of a line that is not the moves."""
    words = line.replace(",", " ").replace(":", " ").split()
    numbers = [word for word in (words[1:] if words[:1] == [moves] else words) if word.lstrip("+-").isdecimal()]
    return int(numbers[0]) if numbers else None


def compare(program: str, lines: Lines, mean_us: float) -> dict[str, Any]:
    """The time of another program for the lines, and the ratio of our mean to it."""
    idle, _ = ask(program, [])
    seconds, scores = ask(program, [moves for moves, _ in lines])
    mean = max(seconds - idle, 1e-9) / len(lines) * 1e6
    wrong = sum(found != score for found, (_, score) in zip(scores, lines, strict=True))
    return {"program": program, "mean_us": round(mean, 2), "wrong": wrong, "ratio": round(mean_us / mean, 3)}


def read(file: Path, limit: int | None) -> Lines:
    words = [line.split() for line in file.read_text("utf-8").splitlines() if line.strip()][:limit]
    return [(moves, int(score)) for moves, score in words]


def publish(against: list[str]) -> None:
    """Time all sets, one process each, and write the table, beside the quickest program that is always right."""
    results = []
    for name in BEST:
        command = [sys.executable, __file__, str(SETS / f"{name}.txt"), "--json"]
        for program in against:
            command += ["--against", program]
        results.append(json.loads(benchmark.run(command).output))
    rows = []
    for one, best in zip(results, BEST.values(), strict=True):
        if against:
            best = min((other["mean_us"] for other in one["against"] if not other["wrong"]), default=best)
        numbers = [f"{one[key]:,.1f}" for key in ("mean_us", "median_us")]
        numbers += [f"{one[key]:,.0f}" for key in ("p99_us", "nodes")] + [f"{one['nodes_per_second'] / 1e6:.1f}"]
        rows.append([one["file"].removesuffix(".txt"), *numbers, f"{best:,.1f}", f"{one['mean_us'] / best:.2f}"])
    head = ("set of 1,000", "mean us", "median us", "p99 us", "nodes", "M nodes/s", "best C++, mean us", "ratio")
    table = benchmark.table(head, rows)
    print(table)
    benchmark.publish("searching", table, results)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--game", default="connect-four")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--table", type=int, default=TABLE_BYTES, help="bytes")
    heat = parser.add_mutually_exclusive_group()
    heat.add_argument("--cold", action="store_true", help="empty the table before each position (default)")
    heat.add_argument("--warm", action="store_true", help="keep the table")
    parser.add_argument("--wdl", action="store_true", help="win, draw or loss only")
    parser.add_argument("--threads", type=int, default=1, help="positions are dealt out, a table each")
    parser.add_argument("--against", action="append", default=[], metavar="PROGRAM", help="a command to time as well")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    arguments = options()
    if arguments.file is None:
        publish(arguments.against)
        return
    lines = read(arguments.file, arguments.limit)
    bench = Bench(load_game(arguments.game), lines, arguments)
    report = bench.report()
    report["against"] = [compare(program, lines, report["mean_us"]) for program in arguments.against]
    others = report["against"] if arguments.json else report.pop("against")
    print(json.dumps(report) if arguments.json else "\n".join(f"{name:16} {fact}" for name, fact in report.items()))
    if others and not arguments.json:
        print(benchmark.table(list(others[0]), [[str(fact) for fact in other.values()] for other in others]))
    if bench.wrong:
        sys.exit("\n".join(["wrong scores:", *bench.wrong[:10]]))


if __name__ == "__main__":
    main()
