"""Time the compiled search of limited depth by several evaluations: CPU seconds and nodes a second.

python scripts/bench_depth.py [GAME] [--depth N] [--positions N] [--json] [--publish]

The positions are those of random games, the table is emptied before each. `evaluate` is the rules' own; the models have
random weights: a linear one of the game's features, and a network with a layer of 16. Compiling, or loading what was
compiled, is timed apart.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from typing import Any

import benchmark
import numpy as np

from solver import load_game
from solver.compiled.lookahead.depth import Model, new_model
from solver.compiled.lookahead.searches import Lookahead
from solver.rules.game import Rules


def positions(game: Any, count: int) -> list[int]:
    """Unfinished states of random games, by a fixed seed."""
    chance, found = random.Random(0), []
    while len(found) < count:
        state = game.initial()
        for _ in range(chance.randrange(16)):
            if not game.is_terminal(state):
                state = game.result(state, chance.choice(list(game.actions(state))))
        if not game.is_terminal(state):
            found.append(state)
    return found


def model(*widths: int) -> Model:
    """Random small weights."""
    draw = np.random.default_rng(0)
    shapes = zip(widths, widths[1:], strict=False)
    return new_model([(draw.normal(0, 0.02, shape), draw.normal(0, 0.02, shape[1])) for shape in shapes])


def measure(ahead: Lookahead, one: Model | None, states: list[int], depth: int) -> dict[str, Any]:
    """CPU seconds and nodes of all positions."""
    nodes, seconds = 0, 0.0
    for state in states:
        ahead.use(one)
        started = time.thread_time()
        nodes += ahead.search(state, depth=depth).counts.nodes
        seconds += time.thread_time() - started
    return {"nodes": nodes, "cpu_seconds": round(seconds, 3), "nodes_per_second": round(nodes / seconds)}


def report(text: str, depth: int, count: int) -> list[dict[str, Any]]:
    game = load_game(text)
    started = time.thread_time()
    ahead = Lookahead(game)
    ahead.warm()
    loading = round(time.thread_time() - started, 2)
    rules, states = Rules(game), positions(game, count)
    features = len(list(rules.features(game.initial()))) if rules.features else 63 if rules.to_move is None else 126
    evaluations = [
        ("evaluate", None),
        (f"linear, {features} features", model(features, 1)),
        (f"network, {features} features, 16 units", model(features, 16, 1)),
    ]
    return [
        {"evaluation": name, "game": text, "depth": depth, "loading": loading, **measure(ahead, one, states, depth)}
        for name, one in evaluations
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="?", default="connect-four")
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--publish", action="store_true", help="into the table of docs/reference/benchmarks.md")
    options = parser.parse_args()
    results = report(options.game, options.depth, options.positions)
    rows = [
        [one["evaluation"], f"{one['nodes']:,}", f"{one['cpu_seconds']:.2f}", f"{one['nodes_per_second'] / 1e6:.1f}"]
        for one in results
    ]
    table = benchmark.table(("evaluation", "nodes", "CPU s", "M nodes/s"), rows)
    print(json.dumps(results) if options.json else f"{table}\n\ncompiled or loaded in {results[0]['loading']} CPU s")
    if options.publish:
        benchmark.publish("looking ahead", table, results, "Measured")


if __name__ == "__main__":
    main()
