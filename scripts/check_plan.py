"""Compare `solver estimate --cluster local:2` with solves on two workers here: a table of docs/explanation/scale.md.

python scripts/check_plan.py [--games GAME ...] [--publish]

Seconds are of the whole command. Those of the processor are of all processes that the command began, Ray's included,
looked at ten times a second; where others use the machine they are the ones to compare. Memory is what the largest
worker had of its own, blocks in shared memory apart.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import benchmark
from plan_cluster import DOCUMENT

from solver.estimate import planning
from solver.estimate.planning import Plan
from solver.rules.game import load_game

GAMES = ("connect-four:5,4", "connect-four:5,5", "connect-four:6,4")
START_CPU = 8.0  # seconds of the processor that starting takes: Ray, and in each of two workers what is compiled
TICK = os.sysconf("SC_CLK_TCK")


class Took(NamedTuple):
    """The cost of a command: seconds, of the processor by all its processes, bytes of the largest worker's own, and its
    largest store."""

    seconds: float
    cpu: float
    worker: int
    stored: int


class Watch:
    """The processes that a process began, and those that these began."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.known = {process}
        self.cpu: dict[int, float] = {}
        self.worker = 0

    def look(self) -> None:
        """See what they have taken so far."""
        parents: dict[int, int] = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                fields = Path(f"/proc/{name}/stat").read_text("utf-8").rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(name)] = int(fields[1])
            if int(name) in self.known:
                self.cpu[int(name)] = (int(fields[11]) + int(fields[12])) / TICK
        for _ in range(4):  # generations
            self.known |= {one for one, parent in parents.items() if parent in self.known}
        for one in self.known & parents.keys() - {self.process}:
            self.worker = max(self.worker, own_memory(one))


def own_memory(process: int) -> int:
    """Bytes of a process's own memory, if it is one of Ray's workers."""
    try:
        if "ray::" not in Path(f"/proc/{process}/cmdline").read_text("utf-8"):
            return 0
        found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text("utf-8"))
    except OSError:
        return 0
    return 1024 * int(found[1]) if found else 0


def solve(game: str) -> Took:
    """Solve a game on two workers."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        store.mkdir()
        command = [sys.executable, "-m", "solver", "solve", game, "--cluster", "local:2", "-q"]
        command += ["--store", str(store), "-o", f"{folder}/book.lmdb"]
        started, stored = time.perf_counter(), 0
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=benchmark.environment()) as process:
            watch = Watch(process.pid)
            while process.poll() is None:
                watch.look()
                stored = max(stored, bytes_in(store))
                time.sleep(0.1)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Took(time.perf_counter() - started, sum(watch.cpu.values()), watch.worker, stored)


def bytes_in(folder: Path) -> int:
    """Bytes of all files of a folder that is being written to."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).stat().st_size
            except OSError:
                continue
    return total


def row(game: str, plan: Plan, took: Took) -> list[str]:
    """The prediction and the measurement."""
    phases = [phase for tier in plan.tiers for phase in tier.phases]
    driver = sum(phase.driver for phase in phases) + plan.book_seconds
    cpu = sum(phase.work for phase in phases) + driver + START_CPU
    pairs = [
        (plan.seconds, took.seconds, 1.0),
        (cpu, took.cpu, 1.0),
        (plan.memory, took.worker, 1e6),
        (plan.storage, took.stored, 1e6),
    ]
    cells = [f"{said / unit:,.1f} / {was / unit:,.1f} = {said / max(1e-9, was):.2f}" for said, was, unit in pairs]
    return [f"`{game}`", f"{plan.states:,}", *cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", default=GAMES)
    parser.add_argument("--publish", action="store_true", help="into docs/explanation/scale.md")
    options = parser.parse_args()
    rows = []
    for game in options.games:
        cluster = planning.parse_cluster("local:2")
        rows.append(row(game, planning.of_cluster(load_game(game), cluster, seconds=60.0), solve(game)))
        print(*rows[-1], flush=True)
    head = ("game", "stored", "seconds", "of the processor", "a worker, MB", "store, MB")
    table = benchmark.table(head, rows)
    print(table)
    if options.publish:
        load = f"load {os.getloadavg()[1]:.1f}"
        benchmark.put(DOCUMENT, {"checked": f"{table}\n\nSaid / was, on: {benchmark.machine()}, {load}."})


if __name__ == "__main__":
    main()
