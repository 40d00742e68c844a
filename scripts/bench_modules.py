"""Time the module of connect-four 7x6 beside Numba's search, and check that all find the same.

python scripts/bench_modules.py [--limit N] [--publish]

Each position is asked of all, in turns, one right after the other, the table of 64 MB emptied before: so load of the
machine is everybody's. Times are CPU time of the search alone, means of a position. The sets are the first 400 of Pons'
middle-medium, whose scores are published, and 60 openings of 10 plies of random play, without a win in one.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import benchmark
from bench_search import SETS, read, score_of

from solver import load_game
from solver.base.value import Value
from solver.compiled.exact.searcher import Searcher
from solver.play import modules
from solver.rules.game import Rules
from solver.rules.reading import parse_position
from solver.wasm.host import TABLE_BYTES, Module

NODE = Path(__file__).with_name("bench_modules.mjs")
PLIES, OPENINGS = 10, 60
WARM = 20  # positions that nobody times: engines compile once more what is hot
Ask = Callable[[int], tuple[Value, float]]  # the value of a state, and seconds of CPU


def here(value: Callable[[int], Value], clear: Callable[[], Any]) -> Ask:
    """A search of this process."""

    def ask(state: int) -> tuple[Value, float]:
        clear()
        began = time.thread_time_ns()
        return value(state), (time.thread_time_ns() - began) / 1e9

    return ask


def answers_of_node(script: Path, data: bytes, option: float) -> Callable[[int], list[str]]:
    """A module in Node, in a process that is asked line by line: the words that it says of a state."""
    with tempfile.NamedTemporaryFile(suffix=".wasm") as file:
        file.write(data)
        file.flush()
        command = ["node", str(script), file.name, str(option)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        assert process.stdin is not None and process.stdout is not None
        taken, given = process.stdin, process.stdout
        assert given.readline() == "ready\n"

    def ask(state: int) -> list[str]:
        taken.write(f"{state}\n")
        return given.readline().split()

    return ask


def in_node(data: bytes) -> Ask:
    """The module in Node."""
    words = answers_of_node(NODE, data, TABLE_BYTES)

    def ask(state: int) -> tuple[Value, float]:
        score, distance, seconds = words(state)
        return Value(int(score), int(distance) if int(score) else None), float(seconds)

    return ask


def openings(rules: Rules) -> list[int]:
    """Positions of random play, each once, in which nobody has won or wins immediately."""
    chance, found = random.Random(0), set[int]()
    while len(found) < OPENINGS:
        state = rules.game.initial()
        for _ in range(PLIES):
            if not rules.is_terminal(state):
                state = rules.result(state, chance.choice(list(rules.actions(state))))
        children = [] if rules.is_terminal(state) else [rules.result(state, action) for action in rules.actions(state)]
        if children and not any(map(rules.is_terminal, children)):
            found.add(rules.canonical(state))
    return sorted(found)


def timed(hosts: dict[str, Ask], states: list[int]) -> tuple[list[Value], dict[str, float]]:
    """Values of states, and mean seconds of each host. Ends the program where two of them differ."""
    values, seconds = [], {name: list[float]() for name in hosts}
    for number, state in enumerate(states[:WARM] + states):
        first = number % len(hosts)
        answers = {name: hosts[name](state) for name in [*hosts][first:] + [*hosts][:first]}
        if len({value for value, _ in answers.values()}) > 1:
            raise SystemExit(f"state {state}: {answers}")
        if number >= min(WARM, len(states)):
            values.append(answers["Numba"][0])
            for name, (_, spent) in answers.items():
                seconds[name].append(spent)
    return values, {name: statistics.mean(spent) for name, spent in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=400, help="of middle-medium")
    parser.add_argument("--publish", action="store_true", help="write the table of docs/reference/benchmarks.md")
    given = parser.parse_args()
    rules = Rules(load_game("connect-four"))
    data = modules.data_of(rules)
    assert data is not None
    native, module = Searcher(rules, table=TABLE_BYTES), Module(data, rules)
    asked = {"wasmtime": here(module.value, lambda: module.ask("forget")), "Node": in_node(data)}
    hosts = {"Numba": here(native.value, native.clear)} | asked
    lines = read(SETS / "middle-medium.txt", given.limit)
    positions = [parse_position(rules.game, moves) for moves, _ in lines]
    values, medium = timed(hosts, [position.state for position in positions])
    found = [score_of(rules.game, one.ply or 0, value) for one, value in zip(positions, values, strict=True)]
    assert found == [score for _, score in lines]
    _, harder = timed(hosts, openings(rules))
    results = {f"middle-medium, first {given.limit}": medium, f"{OPENINGS} openings of {PLIES} plies": harder}
    rows = []
    for name, means in results.items():
        others = [f"{means[one] * 1e3:,.2f} | {means[one] / means['Numba']:.2f}" for one in asked]
        rows.append([name, f"{means['Numba'] * 1e3:,.2f}", *others])
    table = benchmark.table(("positions", "Numba, ms", "wasmtime, ms", "ratio", "Node, ms", "ratio"), rows)
    print(table)
    if given.publish:
        benchmark.publish("modules", table, results, "Means")


if __name__ == "__main__":
    main()
