"""Measure how long `verify`, `trim` and `pack` of a book take, against the solve, and the rates of `solver.estimate`.

python scripts/bench_estimate.py [GAME ...]

Each kind of work runs twice in one process and the second run counts, so that no compiling is measured. The figures are
CPU seconds of all threads, which a busy machine changes least. Prints for each game the measurements, and how far
off the rates in `solver.estimate` are. The last lines are the rates to write there: the geometric middle between the
least and the most.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import solver
from solver.base.errors import SolverError
from solver.book.solution import Trim
from solver.estimate import estimation

GAMES = (
    "connect-four:5,4",
    "connect-four:5,5",
    "dots-and-boxes:2,4",
    "kalah:4,3",
    "pig:60",
    "breakthrough:4,4",
    "nim:15,15,15,15",
)


class Measured(NamedTuple):
    """CPU seconds of each kind of work on one game; `trim` is None where the game has no such book."""

    game: str
    stored: int
    solve: float
    verify: float
    trim: float | None
    pack: float


def measure(game: str, folder: Path, workers: int) -> Measured:
    """Solve a game, then verify, trim and pack its book."""
    book, copy = folder / "book.lmdb", folder / "copy.lmdb"

    def solved() -> None:
        book.unlink(missing_ok=True)
        solver.solve(game, book, workers=workers).close()

    def written(write: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        copy.unlink(missing_ok=True)
        write(book, copy, *arguments, **options, workers=workers)

    seconds = cpu_seconds(solved)
    with solver.Book(book) as opened:
        stored = len(opened)
    verify = cpu_seconds(lambda: solver.verify(book, workers=workers))
    try:
        trim = cpu_seconds(lambda: written(solver.trim, Trim(), wdl=True, codec="ranked"))
    except SolverError as error:
        print(f"{game}: {error}")
        trim = None
    pack = cpu_seconds(lambda: written(solver.pack))
    return Measured(game, stored, seconds, verify, trim, pack)


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Run some work twice, and return what the second run took of all threads."""
    work()
    started = time.process_time()
    work()
    return time.process_time() - started


def rates(measured: Measured) -> dict[str, float]:
    """The rates of `solver.estimate`, as one game has them: times of the solve, microseconds of a stored state."""
    found = {"VERIFY": measured.verify / measured.solve, "PACK": 1e6 * measured.pack / measured.stored}
    if measured.trim is not None:
        found["TRIM"] = 1e6 * measured.trim / measured.stored
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help="measure these; the usual ones, if left out")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    used = {"VERIFY": estimation.VERIFY, "TRIM": 1e6 * estimation.TRIM, "PACK": 1e6 * estimation.PACK}
    every: dict[str, list[float]] = {name: [] for name in used}
    print("| game | stored | solve s | verify s | trim s | pack s | estimate / measured: verify | trim | pack |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for game in arguments.games or GAMES:
        with tempfile.TemporaryDirectory() as folder:
            measured = measure(game, Path(folder), arguments.workers)
        found = rates(measured)
        for name, rate in found.items():
            every[name].append(rate)
        seconds = ["" if one is None else f"{one:.2f}" for one in measured[2:]]
        off = [f"{used[name] / found[name]:.2f}" if name in found else "" for name in used]
        print("| " + " | ".join([game, f"{measured.stored:,}", *seconds, *off]) + " |", flush=True)
    for name, values in every.items():
        if values:
            print(f"{name}: {(min(values) * max(values)) ** 0.5:.2f}, from {min(values):.2f} to {max(values):.2f}")


if __name__ == "__main__":
    main()
