"""Prove games that nobody has to solve first: nodes, seconds, and the states of the book, against the published result.

python scripts/bench_prove.py [GAME ...] [--table BYTES] [--json] [--publish]

Each game is proved by `solver prove GAME -o BOOK`, alone, and its book is verified. A result other than the published
one ends the run, and so does a book with a fault.
"""

from __future__ import annotations

import argparse
import json
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
WITHOUT_BOOK = {"hex:6", "domineering:8,8"}
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
        return {**told, "seconds": round(run.wall, 1), "peak_mib": round(run.peak), "states": None}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.lmdb"
        proving = [sys.executable, "-m", "solver", "prove", game, "-o", str(path), "--table", table, "-q"]
        run = benchmark.run(proving)
        with solver.Book(path) as book:
            found, method, states = book.header.root.score, book.header.method, len(book)
        if found != score:
            raise SystemExit(f"{game}: the score is {found}, published is {score} ({source})")
        verified = solver.verify(path)
        size = path.stat().st_size
    facts = {"game": game, "result": SHOWN[score], "source": source, "method": method, "states": states, "bytes": size}
    told = {"verdict": verified.verdict, "verified": round(verified.seconds, 1)}
    return {**facts, "seconds": round(run.wall, 1), "peak_mib": round(run.peak), **told}


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
    rows = []
    for one in results:
        row = [one["game"], one["result"], one["source"], one["method"], f"{one['seconds']:.1f}"]
        book = ["no book", ""] if one["states"] is None else [f"{one['states']:,}", f"{one['bytes'] / 1000:,.0f} kB"]
        verified = f"{one['verified']} s, {one['verdict']}" if "verified" in one else ""
        rows.append([*row, *book, verified])
    headings = ("game", "result", "published by", "method", "s", "states of the book", "size", "`verify`")
    table = benchmark.table(headings, rows)
    print(json.dumps(results) if asked.json else table)
    if asked.publish:
        benchmark.publish("proofs", table, results, "Measured once")


if __name__ == "__main__":
    main()
