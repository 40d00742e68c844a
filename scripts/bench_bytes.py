"""The bytes that the passes of a solve move through memory, against its speed: a table in docs/explanation/tried.md.

python scripts/bench_bytes.py [GAME] [--publish]

Without counters in the processor the bytes are those of the arrays: a pass forward writes and reads the runs of
children; a pass backward unpacks states and looks children up, each in a line of the directory, of the states and of
their merits, as if none was still in the cache; finished children, which are told, count as looked up. What is sorted
or listed in the cache is left out. Takes a minute.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import benchmark
import numpy as np

from solver.base.parallel import Workers
from solver.base.progress import silent
from solver.compiled.binding import compiling
from solver.compiled.edges import CompiledMoves
from solver.rules.game import Rules, load_game
from solver.store.work import Work
from solver.sweep.backward import Backward
from solver.sweep.forward import Forward
from solver.sweep.projection import with_moves

LIMIT = 4 << 30
ARRAY = 1 << 26  # numbers of 8 bytes, far beyond any cache
RUNS = 5


class Counted(Forward):
    """A pass forward that counts the bytes of the runs that it keeps."""

    written = 0

    def _add(self, key: Any, run: Any) -> None:
        self.written += run.nbytes
        super()._add(key, run)


def seconds_of(work: Callable[[int], Any], team: Workers) -> float:
    """The median time in which all workers do their part, numbered from 0."""
    taken = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        list(team.map(work, range(team.count)))
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def bandwidths(team: Workers) -> tuple[float, float]:
    """Bytes a second that all workers copy, read and written; and lines a second that they gather at random."""
    source, target = np.arange(ARRAY), np.ones(ARRAY, np.int64)  # zeros would be one page
    places = np.random.default_rng(0).integers(0, ARRAY, ARRAY // 16)
    part, some = ARRAY // team.count, len(places) // team.count

    def copy(number: int) -> None:
        np.copyto(target[number * part : (number + 1) * part], source[number * part : (number + 1) * part])

    def gather(number: int) -> int:
        return len(source[places[number * some : (number + 1) * some]])

    return 2 * source.nbytes / seconds_of(copy, team), len(places) / seconds_of(gather, team)


def passes(name: str, team: Workers) -> list[tuple[str, float, int, int]]:
    """Of each pass its seconds, the bytes that it reads and writes in order, and the lines that it looks up."""
    rules = Rules(load_game(name))
    with Work() as work, compiling(rules.game):
        forward = Counted(CompiledMoves(rules), work, cycles=False, limit=LIMIT, most=LIMIT, progress=silent)
        forward.run(team, time.monotonic())  # compiles
        begun = time.perf_counter()
        forward.run(team)
        there = time.perf_counter() - begun
        states, moves = forward.states.size, sum(tier.moves for tier in with_moves(forward))
        backward = Backward(forward, memory=LIMIT, progress=silent)
        begun = time.perf_counter()
        backward.run(team)
        back = time.perf_counter() - begun
        packed = round(states * forward.states.bytes_each(1))
    return [("forward", there, 2 * forward.written + packed, 0), ("backward", back, packed + 18 * states, 3 * moves)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="?", default="connect-four:5,5", help="one without cycles")
    parser.add_argument("--publish", action="store_true", help="write the table into docs/explanation/tried.md")
    arguments = parser.parse_args()
    with Workers(None) as team:
        passes(arguments.game, team)  # kernels are there from now on
        copied, gathered = bandwidths(team)
        found = passes(arguments.game, team)
    rows = [
        f"Copying moves {copied / 1e9:.1f} GB a second on all cores, read and written; gathering numbers at random"
        f" takes {gathered / 1e6:.0f} million lines a second.",
        "",
        f"| `{arguments.game}` | seconds | in order | lines looked up | at the memory's speed | of the pass |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, seconds, ordered, lines in found:
        least = ordered / copied + lines / gathered
        rows.append(
            f"| {name} | {seconds:.2f} | {ordered / 1e9:.2f} GB | {lines / 1e6:.0f} million | {least:.2f} s |"
            f" {least / seconds:.0%} |"
        )
    table = "\n".join(rows)
    print(table)
    if arguments.publish:
        document = benchmark.ROOT / "docs" / "explanation" / "tried.md"
        benchmark.put(document, {"bytes": f"{table}\n\nOne run on: {benchmark.machine()}."})


if __name__ == "__main__":
    main()
