"""Measure `solver serve` by wrk: book answers a second over HTTP with keep-alive, how long they take, and memory.

    python scripts/bench_serve.py [--workers 2] [--connections 64] [--seconds 10] [--minutes 0] [--game GAME]

Three loads: one position again and again, which is kept; positions of random games by their moves, of which some are
kept; and stored states by number, none of them asked twice. Client and server share the machine: `wrk -t1` takes a good
part of a core. With `--minutes 10` the last load goes on so long, and the workers' memory is printed every ten seconds.
wrk is a package of Debian, Ubuntu and Homebrew.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from solver import Book
from solver.rules.notation import format_action

# each connection of wrk asks the next target; the file has one a line
SCRIPT = """
local targets, at = {}, 0
for line in io.lines("TARGETS") do targets[#targets + 1] = line end
request = function()
  at = at % #targets + 1
  return wrk.format("GET", targets[at])
end
done = function(summary, latency)
  local bad = summary.errors.connect + summary.errors.read + summary.errors.write
  print(string.format("FOUND %d %d %.3f %.3f %d %d", summary.requests, summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, bad + summary.errors.timeout, summary.errors.status))
end
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=0, help="how long memory is watched")
    parser.add_argument("--game", default="connect-four:5,3", help="one whose book comes with the package")
    given = parser.parse_args()
    if shutil.which("wrk") is None:
        print("wrk is not there: apt-get install wrk", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="bench-serve-") as folder, serving(given.game, given.workers) as (url, pid):
        print(f"{given.game}, {given.workers} workers, {given.connections} connections, load {os.getloadavg()[0]:.1f}")
        for name, targets in loads(given.game).items():
            before = spent(pid)
            requests, seconds, median, worst, lost, bad = pressed(Path(folder), url, targets, given)
            cpu = (spent(pid) - before) / requests * 1e6
            print(
                f"{name:24} {requests / seconds:8,.0f} a second, median {median:6.2f} ms, p99 {worst:6.2f} ms,"
                f" {cpu:5.0f} us of CPU each, {lost} lost, {bad} refused, {memory(pid)}"
            )
        end = time.monotonic() + 60 * given.minutes
        while time.monotonic() < end:
            pressed(Path(folder), url, targets, given)
            print(f"{time.strftime('%H:%M:%S')}  {memory(pid)}", flush=True)
    return 0


@contextlib.contextmanager
def serving(game: str, workers: int) -> Iterator[tuple[str, int]]:
    """A server of a game: where, and its process."""
    command = [sys.executable, "-m", "solver", "serve", game, "--port", "0", "--workers", str(workers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[0], process.pid
        finally:
            process.send_signal(signal.SIGTERM)


def loads(game: str) -> dict[str, list[str]]:
    """The requests, by name."""
    book, random_ = Book(game), random.Random(0)
    states = random_.sample([*book], min(len(book), 200_000))
    lines = [moves(book.game, random_) for _ in range(50_000)]
    path = f"/v1/books/{game}/positions"
    return {
        "one position": [f"{path}/start"],
        "positions by moves": [f"{path}/{line or 'start'}" for line in lines],
        "states, each once": [f"{path}/%23{state}" for state in states],
    }


def moves(game: object, random_: random.Random) -> str:
    """A random game's beginning, in its notation."""
    state, names = game.initial(), []  # type: ignore[attr-defined]
    for _ in range(random_.randrange(12)):
        if game.is_terminal(state):  # type: ignore[attr-defined]
            break
        action = random_.choice([*game.actions(state)])  # type: ignore[attr-defined]
        names.append(format_action(game, state, action))
        state = game.result(state, action)  # type: ignore[attr-defined]
    return "%20".join(names)


def pressed(folder: Path, url: str, targets: list[str], given: argparse.Namespace) -> tuple[float, ...]:
    """Requests, seconds, median and 99th percentile in ms, connections lost and answers refused."""
    (folder / "targets").write_text("\n".join(targets) + "\n")
    (folder / "load.lua").write_text(SCRIPT.replace("TARGETS", str(folder / "targets")))
    command = ["wrk", "-t1", f"-c{given.connections}", f"-d{given.seconds}s", "-s", str(folder / "load.lua"), url]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search("^FOUND (.*)$", said, re.MULTILINE)
    assert found, said
    requests, microseconds, *rest = map(float, found[1].split())
    return requests, microseconds / 1e6, rest[0], rest[1], int(rest[2]), int(rest[3])


def processes(pid: int) -> list[int]:
    """A server and its workers."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
    return [pid, *map(int, children)]


def spent(pid: int) -> float:
    """Seconds of CPU that they have taken."""
    fields = (Path(f"/proc/{one}/stat").read_text("utf-8").rpartition(")")[2].split() for one in processes(pid))
    return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> str:
    """Their resident memory."""
    status = (Path(f"/proc/{one}/status").read_text("utf-8") for one in processes(pid))
    found = (re.search(r"VmRSS:\s+(\d+)", one) for one in status)
    return "resident " + " + ".join(f"{int(one[1]) / 1024:.0f}" for one in found if one) + " MiB"


if __name__ == "__main__":
    sys.exit(main())
