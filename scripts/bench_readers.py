"""Measure look-ups a second in one book: Python's reader, solverbook.h, the JavaScript reader, and SQLite.

The table of docs/reference/benchmarks.md is written. It needs gcc and Node.

    python scripts/bench_readers.py [--game connect-four:5,4] [--lookups 200000]

Keys are stored ones in random order, the same for all. Every reader has the whole book in memory and has looked each
key up once before its time is taken. SQLite has the table of `solver export`, whose key is the state.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import benchmark

import solver
from solver.export import export
from solver.export.readers import write_reader

CODECS = ("instant", "compact")
SCRIPT = """
import { readFileSync } from "node:fs";
import { Book } from "./js/book.js";
const [file, keys] = process.argv.slice(2);
const states = readFileSync(keys, "utf8").trim().split("\\n").map(BigInt);
const book = await Book.open(readFileSync(file), { segments: 1 << 20 });
for (const state of states) await book.get(state);
const begin = performance.now();
for (const state of states) await book.get(state);
console.log(Math.round(states.length / ((performance.now() - begin) / 1000)));
"""


def rate(function: Callable[[int], object], states: list[int]) -> int:
    """Return the calls a second, after each was made once."""
    for state in states:
        function(state)
    begin = time.perf_counter()
    for state in states:
        function(state)
    return round(len(states) / (time.perf_counter() - begin))


def main() -> None:
    """Solve the game in each codec, measure the readers, and publish the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="connect-four:5,4")
    parser.add_argument("--lookups", type=int, default=200_000)
    options = parser.parse_args()
    rates: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_reader("c", folder)
        write_reader("js", folder / "js")
        (folder / "ask.mjs").write_text(SCRIPT)
        source = Path(__file__).parent.parent / "tests" / "reader.c"
        subprocess.run(["gcc", "-O2", "-I", folder, source, "-o", folder / "reader"], check=True)
        for codec in CODECS:
            with solver.solve(options.game, folder / f"{codec}.lmdb", codec=codec) as book:
                states = random.Random(0).choices(list(book), k=options.lookups)
                (folder / "keys").write_text("\n".join(map(str, states)))
                export(book, folder / f"{codec}.bin")
                rates.setdefault("Python, `Book.get`", {})[codec] = rate(book.get, states)
                begin = time.perf_counter()
                book.lookup(states)
                rates.setdefault("Python, `Book.lookup` of all at once", {})[codec] = round(
                    len(states) / (time.perf_counter() - begin)
                )
                if codec == CODECS[0]:
                    export(book, folder / "table.sqlite")
                    with sqlite3.connect(folder / "table.sqlite") as base:
                        query = "SELECT score, distance FROM states WHERE state = ?"
                        every = rate(lambda state, query=query: base.execute(query, (state,)).fetchone(), states)
            keys = (folder / "keys").read_text()
            command = [folder / "reader", "time", folder / f"{codec}.bin", str(options.lookups)]
            said = subprocess.run(command, input=keys, capture_output=True, text=True, check=True).stdout
            rates.setdefault("C, `solverbook_get`", {})[codec] = int(said.split()[0])
            command = ["node", folder / "ask.mjs", folder / f"{codec}.bin", folder / "keys"]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            rates.setdefault("JavaScript, `Book.get`", {})[codec] = int(said)
        rates["SQLite, from Python"] = dict.fromkeys(CODECS[:1], every)
    rows = []
    for reader, found in rates.items():
        rows.append([reader, *(f"{found[codec]:,}" if codec in found else "" for codec in CODECS)])
    table = benchmark.table([f"look-ups a second in `{options.game}`", *CODECS], rows)
    benchmark.publish("readers", table, rates, "One run each")


if __name__ == "__main__":
    main()
