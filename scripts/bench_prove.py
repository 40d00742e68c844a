"""Prove games that nobody has to solve first: nodes, seconds, and the states of the book, against the published result.

python scripts/bench_prove.py [GAME ...] [--table BYTES] [--json] [--publish]

Each game is proved by `solver prove GAME -o BOOK`, alone, and its book is played against every reply if it is small. A
result other than the published one ends the run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import benchmark

import solver

# for the first player; where each is published
PUBLISHED = {
    "connect-four:5,4": (0, "Tromp"),
    "connect-four:6,5": (0, "Tromp"),
    "connect-four:5,6": (0, "Tromp"),
    "hex:4": (1, "strategy stealing"),
    "hex:5": (1, "strategy stealing"),
    "hex:6": (1, "strategy stealing"),
    "domineering:6,6": (1, "Breuker, Uiterwijk and van den Herik 2000"),
    "domineering:7,7": (1, "Breuker, Uiterwijk and van den Herik 2000"),
    "domineering:8,8": (1, "Breuker, Uiterwijk and van den Herik 2000"),
    "tic-tac-toe:5,5,4": (0, "Uiterwijk and van den Herik 2000"),
    "tic-tac-toe:6,5,4": (1, "Uiterwijk and van den Herik 2000"),
    "breakthrough:4,4,2": (-1, "our own solve"),
    "breakthrough:5,5,2": (-1, "Haugland 2006"),
    "cram:5,6": (1, "Gardner 1974: odd by even"),
    "cram:5,7": (1, "not found; both searches agree"),
    "clobber:4,5": (1, "Albert, Grossman, Nowakowski and Wolfe 2005"),
    "clobber:5,5": (-1, "not found; both searches agree"),
}
# whose play takes far longer to follow than their start to prove
WITHOUT_BOOK = {
    *("connect-four:6,5", "connect-four:5,6", "hex:6", "domineering:8,8", "tic-tac-toe:5,5,4"),
    *("breakthrough:5,5,2", "cram:5,7", "clobber:5,5"),
}
PLAYED = 10_000  # states of a book, at most, that is played out afterwards
SHOWN = {1: "first player wins", 0: "draw", -1: "second player wins"}


def report(game: str, table: str) -> dict[str, Any]:
    """Prove a game in a process of its own; raises SystemExit for another result than the published one."""
    score, source = PUBLISHED[game]
    if game in WITHOUT_BOOK:
        run = benchmark.run([sys.executable, "-m", "solver", "prove", game, "--table", table, "--json", "-q"])
        facts = json.loads(run.output)
        if facts["score"] != score:
            raise SystemExit(f"{game}: the score is {facts['score']}, published is {score} ({source})")
        told = {"game": game, "result": SHOWN[score], "source": source, "method": facts["method"]}
        return {**told, "seconds": round(run.wall, 1), "peak_mib": round(run.peak), "states": None, "bytes": None}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.lmdb"
        proving = [sys.executable, "-m", "solver", "prove", game, "-o", str(path), "--table", table, "-q"]
        run = benchmark.run(proving)
        with solver.Book(path) as book:
            found, method, states = book.header.root.score, book.header.method, len(book)
        if found != score:
            raise SystemExit(f"{game}: the score is {found}, published is {score} ({source})")
        if states <= PLAYED:
            command = [sys.executable, "-m", "solver", "verify", str(path), "--play", "--search", "0", "-q"]
            judged = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            if judged.returncode not in (0, 7):
                raise SystemExit(f"{game}: {judged.stdout}")
        size = path.stat().st_size
    facts = {"game": game, "result": SHOWN[score], "source": source, "method": method}
    return {**facts, "seconds": round(run.wall, 1), "peak_mib": round(run.peak), "states": states, "bytes": size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(PUBLISHED))
    parser.add_argument("--table", default="1G")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--publish",
        action="store_true",
        help="into the table of docs/reference/benchmarks.md, beside the games measured before",
    )
    asked = parser.parse_args()
    found = {game: report(game, asked.table) for game in asked.games}
    if asked.publish:
        found = {one["game"]: one for one in benchmark.results("proofs")} | found
    results = [found[game] for game in PUBLISHED if game in found]
    rows = [
        [
            one["game"],
            one["result"],
            one["source"],
            one["method"],
            f"{one['seconds']:.1f}",
            "no book" if one["states"] is None else f"{one['states']:,}",
        ]
        for one in results
    ]
    table = benchmark.table(("game", "result", "published by", "method", "s", "states of the book"), rows)
    print(json.dumps(results) if asked.json else table)
    if asked.publish:
        benchmark.publish("proofs", table, results, "Measured once")


if __name__ == "__main__":
    main()
