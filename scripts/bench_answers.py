"""Time how long it takes to say what all moves of a position are worth: by the package's books, then by search.

python scripts/bench_answers.py [--positions N] [--cold N] [--others N] [--publish]

Positions come from random games, as many of each ply. Connect-four 7x6 is asked about those of plies 0 to 20:

- in this process, whose table stays from one position to the next
- by `solver query`, a new process for each position
- by the module in Node, which pages run, for positions behind the book

Then this process is asked about other games that people know. Times are wall-clock times of an answer. An answer is
late if a move has no exact value within the five seconds that a query has.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import benchmark
from bench_modules import answers_of_node

from solver.book import Book, shipped
from solver.play import modules
from solver.play.player import Player
from solver.rules.game import Rules, load_game
from solver.search import SECONDS

GAME = "connect-four"
NODE = Path(__file__).with_name("bench_answers.mjs")
BANDS = ((0, 7), (8, 9), (10, 12), (13, 20))  # plies
OTHERS = {  # and the plies of their positions
    "kalah:6,4": (0, 30),
    "othello:6,6": (20, 31),
    "hex:7": (0, 40),
    "domineering:8,8": (0, 20),
    "breakthrough:6,6": (0, 40),
    "nine-mens-morris": (0, 40),
}
PAGES = "docs/reference/games.md", "tests/data/games.md"  # the page, and what `make tables` makes it of
Answer = tuple[float, bool]  # seconds, and whether all moves have exact values
Ask = Callable[[int], Answer]


def positions(rules: Rules, count: int, first: int, last: int) -> list[tuple[int, int]]:
    """(ply, state) of random games that are not over, as many of each of these plies, in no order."""
    chance, found = random.Random(0), list[tuple[int, int]]()
    while len(found) < count:
        ply, state = first + len(found) % (last - first + 1), rules.game.initial()
        for _ in range(ply):
            if not rules.is_terminal(state):
                state = rules.result(state, chance.choice(list(rules.actions(state))))
        if not rules.is_terminal(state):
            found.append((ply, state))
    chance.shuffle(found)
    return found


def in_process(game: str) -> Ask:
    """A player that lives on, which has compiled what it needs."""
    player = Player(game)
    player.prepare()

    def ask(state: int) -> Answer:
        began = time.perf_counter()
        moves = player.analyse(state)
        return time.perf_counter() - began, all(move.exact for move in moves)

    return ask


def by_query(state: int) -> Answer:
    """A process of its own."""
    command = [sys.executable, "-m", "solver", "query", GAME, f"#{state}", "--json", "-q"]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=benchmark.environment())
    spent = time.perf_counter() - began
    return spent, all(move["exact"] for move in json.loads(done.stdout)["moves"])


def in_node(data: bytes) -> Ask:
    """The module in Node."""
    words = answers_of_node(NODE, data, SECONDS)

    def ask(state: int) -> Answer:
        seconds, exact = words(state)
        return float(seconds), exact == "true"

    return ask


def row(name: str, answers: Sequence[tuple[int, float, bool]]) -> list[list[str]]:
    """Of some answers, if any: how many, the median, the 99th percentile, the longest, and how many were late."""
    if not answers:
        return []
    seconds = sorted(one for _, one, _ in answers)
    least = [statistics.median(seconds), seconds[math.ceil(0.99 * len(seconds)) - 1], seconds[-1]]
    late = sum(not exact for *_, exact in answers)
    return [[name, f"{len(answers):,}", *(f"{one:.3f}" for one in least), str(late)]]


def in_words(game: str, first: int, last: int, answers: Sequence[tuple[int, float, bool]]) -> list[str]:
    """Of some answers the longest, or how many took too long: a row of docs/reference/games.md."""
    exact = sum(in_time for *_, in_time in answers)
    longest = f"{max(one for _, one, _ in answers):.2f} s"
    if exact < len(answers):
        longest = f"{exact} within {SECONDS:g} s, {len(answers) - exact} not"
    return [f"`{game}`", f"{len(answers):,} of plies {first} to {last}", longest]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--cold", type=int, default=100, help="of them, how many a process of its own is asked")
    parser.add_argument("--others", type=int, default=60, help="positions of each other game")
    parser.add_argument("--publish", action="store_true", help="write the tables of docs/reference")
    given = parser.parse_args()
    rules = Rules(load_game(GAME))
    data, path = modules.data_of(rules), shipped.path_of(GAME)
    assert data is not None and path is not None
    with Book(path) as book:
        covered = int(book.header.scope.removeprefix("ply "))
    asked = positions(rules, given.positions, BANDS[0][0], BANDS[-1][1])
    hosts: dict[str, tuple[Ask, list[tuple[int, int]]]] = {
        "this process": (in_process(GAME), asked),
        "`solver query`": (by_query, asked[: given.cold]),
        "module in Node": (in_node(data), [one for one in asked if one[0] > covered]),
    }
    rows, in_short = [], []
    for name, (ask, some) in hosts.items():
        answers = [(ply, *ask(state)) for ply, state in some]
        for first, last in BANDS:
            rows += row(f"{name}, plies {first} to {last}", [one for one in answers if first <= one[0] <= last])
        rows += row(f"{name}, all", answers)
        if name == "this process":
            in_short.append(in_words(GAME, BANDS[0][0], BANDS[-1][1], answers))
    for game, (first, last) in OTHERS.items():
        ask, some = in_process(game), positions(Rules(load_game(game)), given.others, first, last)
        answers = [(ply, *ask(state)) for ply, state in some]
        rows += row(f"`{game}`, plies {first} to {last}", answers)
        in_short.append(in_words(game, first, last, answers))
    columns = "who is asked", "positions", "median, s", "99 %, s", "longest, s", "late"
    table = benchmark.table(columns, rows)
    print(table)
    longest = benchmark.table(("game", "positions", "longest answer"), in_short)
    print(longest)
    if given.publish:
        for page in PAGES:
            benchmark.put(benchmark.PAGE.parents[2] / page, {"longest answers": longest})
        benchmark.publish(
            "answers", table, [dict(zip(columns, cells, strict=True)) for cells in rows], "Wall-clock times"
        )


if __name__ == "__main__":
    main()
