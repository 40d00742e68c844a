"""How much practical play gains over the first best move, and how far apart the levels of play are.

python scripts/bench_practical.py                   both tables, on small games
python scripts/bench_practical.py connect-four:5,4  the gain on another game: minutes

The first table is exact: the expected result of each pair of players is computed over the whole game, by the values
of its book. "full" is the best that any player can get that keeps the value of every position. The second table is
from 300 games of each pair.
"""

from __future__ import annotations

import argparse
import functools
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import solver  # noqa: E402
from solver.play.analysis import OPPONENTS  # noqa: E402
from solver.play.player import Player  # noqa: E402
from solver.play.practical import LEVELS, Level, Practical, Reply  # noqa: E402  # noqa: E402

GAMES = ("connect-four:4,4", "tic-tac-toe", "three-mens-morris", "kalah:3,3", "nim:3,4,5")
Policy = Callable[[Any], Sequence[tuple[float, Reply]]]


class Exact:
    """Expected results between two players of a game."""

    def __init__(self, player: Player) -> None:
        self.player, self.rules = player, player.rules
        self.looks = {plies: Practical(player.rules, player.knowledge.find, plies) for plies in OPPONENTS}
        self.seconds: list[float] = []
        self.cycles = isinstance(player.solution, solver.Book) and player.solution.header.method == "retrograde"
        self.reached: int | None = None

    def replies(self, state: Any) -> Sequence[Reply]:
        """Return the moves of a state."""
        replies = self.looks[0].replies(state)
        assert replies
        return replies

    def result(self, own: Policy, other: Policy, first: bool) -> float:
        """Return the expected result of `own`, as the first or the second player."""

        def expected(state: Any, turn: bool, after: Callable[[Reply, bool], float]) -> float:
            return sum(share * after(reply, turn) for share, reply in (own if turn else other)(state))

        return self.settled(expected, first)

    def settled(self, expected: Callable[[Any, bool, Callable[[Reply, bool], float]], float], first: bool) -> float:
        """Return the expectation of the start, by recursion, or with cycles by iteration until it changes no more."""
        start = self.rules.canonical(self.rules.game.initial())

        def after(reply: Reply, turn: bool, value: Callable[[Any, bool], float]) -> float:
            if reply.ends:
                return reply.score if turn else -reply.score
            return (reply.gain if turn else -reply.gain) + value(reply.child, turn == reply.same)

        if not self.cycles:
            cached = functools.cache(
                lambda state, turn: expected(state, turn, lambda reply, turn: after(reply, turn, cached))
            )
            return float(cached(start, first))
        values: dict[tuple[Any, bool], float] = {(start, first): 0.0}
        change = 1.0
        while change > 1e-7:
            change = 0.0
            for key in list(values):
                new = expected(
                    *key, lambda reply, turn: after(reply, turn, lambda *child: values.setdefault(child, 0.0))
                )
                change, values[key] = max(change, abs(new - values[key])), new
            change += len(values) > (self.reached or 0)
            self.reached = len(values)
        self.reached = None
        return values[start, first]

    def model(self, plies: int) -> Policy:
        """Return the fallible opponent."""

        @functools.cache
        def policy(state: Any) -> Sequence[tuple[float, Reply]]:
            chosen = self.looks[plies].choices(state) or ()
            return [(1 / len(chosen), reply) for reply in chosen]

        return policy

    def best(self, state: Any) -> Sequence[tuple[float, Reply]]:
        """Return the first best move."""
        return [(1.0, self.looks[0].kept(self.replies(state))[0])]

    def practical(self, plies: int) -> Policy:
        """Return practical play as players do it."""

        @functools.cache
        def policy(state: Any) -> Sequence[tuple[float, Reply]]:
            kept = self.looks[0].kept(self.replies(state))
            if len(kept) > 1:
                started = time.thread_time()
                # A new one for each move: nothing is remembered, as at the first move of a game.
                look = Practical(self.rules, self.player.knowledge.find, plies)
                results = look.expectations(state, [reply.action for reply in kept])
                self.seconds.append(time.thread_time() - started)
                kept = [kept[results.index(max(results))]]
            return [(1.0, kept[0])]

        return policy

    def full(self, plies: int, first: bool) -> float:
        """Return the best expected result of a player that keeps all values."""
        model = self.model(plies)

        def expected(state: Any, turn: bool, after: Callable[[Reply, bool], float]) -> float:
            if turn:
                return max(after(reply, True) for reply in self.looks[0].kept(self.replies(state)))
            return sum(share * after(reply, False) for share, reply in model(state))

        return self.settled(expected, first)


def gains(name: str) -> None:
    """Print a row for each opponent and seat."""
    with solver.solve(name) as book:
        exact = Exact(Player(book))
        for plies in OPPONENTS:
            for first in (True, False):
                model = exact.model(plies)
                best, full = exact.result(exact.best, model, first), exact.full(plies, first)
                found = exact.result(exact.practical(plies), model, first)
                share = (found - best) / (full - best) if full > best + 1e-9 else 1.0
                seat = "first" if first else "second"
                print(f"| `{name}` | {plies} | {seat} | {best:.3f} | {found:.3f} | {full:.3f} | {share:.0%} |")
        seconds = exact.seconds or [0.0]
        mean = sum(seconds) / len(seconds)
        print(f"\n{name}: {1e3 * mean:.2f} ms of CPU a choice on average, {1e3 * max(seconds):.1f} at most\n")


def levels(name: str, games: int = 300) -> None:
    """Print the Elo difference between neighbouring levels, from games with both seats."""
    with solver.solve(name) as book:
        player, names, chance = Player(book), list(LEVELS), random.Random(1)
        for weaker, stronger in zip(names, names[1:], strict=False):
            pair = LEVELS[stronger], LEVELS[weaker]
            points = [
                played(player, pair, chance) if seat else -played(player, pair[::-1], chance)
                for seat in (True, False)
                for _ in range(games // 2)
            ]
            mean = max(-0.999, min(0.999, sum(points) / len(points)))
            elo = 400 * math.log10((1 + mean) / (1 - mean))
            print(f"| `{name}` | {stronger} against {weaker} | {mean:+.2f} | {elo:.0f} |")


def played(player: Player, levels: tuple[Level, Level], chance: random.Random) -> int:
    """Play a game, and return its result for the first player."""
    rules, state, turn, gained = player.rules, player.game.initial(), 0, 0.0
    while not rules.is_terminal(state):
        action = levels[turn].slip(player, state, chance)
        if action is None:
            action = chance.choice([move for move in player.analyse(state) if move.best]).action
        child, sign = rules.result(state, action), 1 if turn == 0 else -1
        gained += sign * rules.gain(state, action)
        turn = turn if rules.same_mover(state, action, child) else 1 - turn
        state = child
    total = gained + rules.ended(state).score * (1 if turn == 0 else -1)
    return (total > 0) - (total < 0)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*")
    parser.add_argument("--levels", action="store_true", help="only the table of levels")
    options = parser.parse_args()
    sys.setrecursionlimit(100_000)
    if not options.levels:
        print("| game | opponent sees | player | first best move | practical | full | of the gain |")
        print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
        for name in options.games or GAMES:
            gains(name)
    if options.levels or not options.games:
        print("| game | players | mean result | Elo |")
        print("| --- | --- | ---: | ---: |")
        for name in options.games or ("connect-four:5,5", "hexapawn:4,4", "kalah:3,3"):
            levels(name)


if __name__ == "__main__":
    main()
