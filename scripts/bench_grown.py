"""The quality of a grown book: shares of moves that keep the value, exact values that are right, and Elo.

python scripts/bench_grown.py keeps BOOK [--evaluate FILE] [--sample N] [--seconds S]
python scripts/bench_grown.py elo BOOK [--evaluate FILE] [--games N] [--plies N]

`keeps` takes positions of the book at random all of whose moves it knows, and asks exact search, and the book that
comes with the package, whether its best move keeps what the position is worth: a win a win, a draw a draw. Beside it
stand the move of the search of the book's depth without the book, and any move. Lost positions are left out, but of
`with_lost`: there every move does. Then as many of its exact values as the seconds allow are searched for. `elo` lets
the book meet the same search without a book at equal depth, from openings of random moves, each with both colours.
Seconds are of the exact searches.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import time
from typing import Any

import benchmark

from solver import Player
from solver.base.errors import BookError, BudgetExceeded
from solver.base.value import is_estimate
from solver.book import Book
from solver.compiled.exact.searcher import Team
from solver.compiled.lookahead.depth import model_of
from solver.compiled.lookahead.evaluation import read
from solver.compiled.lookahead.searches import Lookahead
from solver.learning.matches import match
from solver.learning.players import Setting, chooser, contender
from solver.rules.game import Rules

HARD = 20.0  # seconds after which an exact search is given up


class Judge:
    """The outcome of any state: by the shipped book, or by exact search of the sign alone."""

    def __init__(self, rules: Rules) -> None:
        self.rules, self.seconds, self.given_up = rules, 0.0, 0
        self.team = Team(rules.game, outcomes=not rules.scores)
        try:
            self.book: Any = Book(rules.game)
        except BookError:
            self.book = None
        self.sign = functools.cache(self._sign)

    def _sign(self, state: int) -> int | None:
        """1, 0, -1 for the side to move; in a game of margins that margin; None where the search is given up."""
        if self.rules.is_terminal(state):
            merit = self.rules.end(state)
            return merit if self.rules.scores else (merit > 0) - (merit < 0)
        known = None if self.book is None else self.book.get(state)
        if known is not None:
            return int(known.score)
        started = time.perf_counter()
        try:
            return int(self.team.value(state, seconds=HARD).score)
        except BudgetExceeded:
            self.given_up += 1
            return None
        finally:
            self.seconds += time.perf_counter() - started

    def keeps(self, state: int, action: int) -> bool | None:
        """Whether an action keeps what a state is worth."""
        child = self.rules.result(state, action)
        before, after = self.sign(state), self.sign(child)
        if before is None or after is None:
            return None
        same, gain = self.rules.same_mover(state, action, child), self.rules.gain(state, action)
        return (after if same else -after) + gain == before


def expanded(book: Book, rules: Rules, draw: random.Random) -> list[int]:
    """The states all of whose moves the book knows, at random."""

    def is_told(state: int) -> bool:
        children = [rules.result(state, action) for action in rules.actions(state)]
        return all(rules.is_terminal(child) or book.get(child) is not None for child in children)

    states = [state for state in book if is_told(state)]
    draw.shuffle(states)
    return states


def keeps(path: str, evaluate: str | None, sample: int, seconds: float) -> dict[str, Any]:
    """Shares of moves that keep the value, and of exact values that are right."""
    draw = random.Random(0)
    with Book(path) as book:
        rules = book.rules
        judge, player = Judge(rules), Player(book, live=False)
        ahead = Lookahead(rules.game, model=None if evaluate is None else model_of(read(evaluate)))
        estimate = book.header.estimate
        assert estimate is not None
        tallies = {"book": [0, 0], "search": [0, 0], "any": [0, 0]}
        states = expanded(book, rules, draw)
        tiers, judged, lost = [], 0, 0
        for state in states:
            if judged == sample or judge.seconds > seconds:
                break
            worth = judge.sign(state)
            lost += not rules.scores and worth is not None and worth < 0
            if worth is None or (not rules.scores and worth < 0):
                continue
            chosen = {
                "book": player.choose(state).action,
                "search": ahead.search(state, depth=estimate.depth).action,
                "any": draw.choice(list(rules.actions(state))),
            }
            found = {name: judge.keeps(state, action or 0) for name, action in chosen.items()}
            if None in found.values():
                continue
            judged += 1
            tiers.append(rules.tier(state))
            for name, kept in found.items():
                tallies[name][0] += 1
                tallies[name][1] += bool(kept)
        return {
            "positions": len(book),
            "expanded": len(states),
            "judged": judged,
            "lost": lost,
            "given_up": judge.given_up,
            "mean_tier": sum(tiers) / max(1, len(tiers)),
            "with_lost": (tallies["book"][1] + lost) / max(1, judged + lost),
            **{name: kept / max(1, count) for name, (count, kept) in tallies.items()},
            **right(book, rules, draw, seconds),
        }


def right(book: Book, rules: Rules, draw: random.Random, seconds: float) -> dict[str, Any]:
    """How many exact values there are, how many a search confirmed, distances and all, and how many it did not."""
    exact = [(state, value) for state, value in book.items() if not is_estimate(value)]
    draw.shuffle(exact)
    team, truth = Team(rules.game), dict(exact)
    confirmed = wrong = 0
    for pairs in team.map((state for state, _ in exact), seconds):
        for state, value in pairs:
            confirmed += value == truth[state]
            wrong += value != truth[state]
    return {"exact": len(exact), "confirmed": confirmed, "wrong": wrong}


def elo(path: str, evaluate: str | None, games: int, plies: int | None) -> dict[str, Any]:
    """The book against no book, by the same search at the same depth."""
    with Book(path) as book:
        rules, estimate = Rules(book.game), book.header.estimate
        assert estimate is not None
        setting = Setting(rules, estimate.depth, evaluation=None if evaluate is None else read(evaluate))
        players = [chooser(contender(name), setting) for name in (path, evaluate or "evaluate")]
        played = match(rules, *players, games=games, plies=plies)
        return {
            "positions": len(book),
            "depth": estimate.depth,
            "openings": max(played.plies),
            **played.standing._asdict(),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("keeps", "elo"))
    parser.add_argument("book")
    parser.add_argument("--evaluate")
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--plies", type=int)
    asked = parser.parse_args()
    if asked.what == "keeps":
        found = keeps(asked.book, asked.evaluate, asked.sample, asked.seconds)
    else:
        found = elo(asked.book, asked.evaluate, asked.games, asked.plies)
    print(json.dumps({"machine": benchmark.machine(), **found}, indent=1))


if __name__ == "__main__":
    main()
