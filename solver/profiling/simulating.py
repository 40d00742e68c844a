"""Measure a game without solving it: play games between players that look a few plies ahead.

The players are those of `profiling.measuring`, without the perfect one. They look ahead by the rules alone. Results
come with the half width of their 95 % confidence interval. The same call plays the same games.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from solver.rules.game import Rules

MAX_PLIES = 1000  # of a game, which then counts as a draw
MAX_STATES = 1 << 18  # states whose looks are remembered
LEVEL = 1.96  # standard deviations of the mean on each side: 95 % of a normal distribution


class Simulated(NamedTuple):
    """Games of a pair of players.

    Attributes:
        results: The result of each game for the first player: 1, 0, -1, or a margin.
        lengths: The plies of each game.
        unfinished: How many games were stopped.
        moves: The number of moves at each ply of each game.
    """

    results: list[float]
    lengths: list[int]
    unfinished: int
    moves: list[list[int]]

    @property
    def mean(self) -> float:
        """Mean result of the first player."""
        return sum(self.results) / len(self.results)

    @property
    def interval(self) -> float:
        """Half width of the confidence interval of the mean.

        A sample without any spread still leaves the chance of 3 in n that was not seen (the rule of three).
        """
        games, mean = len(self.results), self.mean
        variance = sum((result - mean) ** 2 for result in self.results) / max(1, games - 1)
        return LEVEL * math.sqrt(variance / games) if variance else 3 / games


class Simulation:
    """Players that look ahead by the rules, and the games between them.

    Args:
        rules: The rules of a game without chance.
        games: Games to play for each pair of players.
    """

    def __init__(self, rules: Rules, games: int) -> None:
        self.rules, self.games = rules, games
        self._seen: dict[tuple[Any, int], float] = {}

    def play(self, start: Any, mover: int, gained: float, names: tuple[str, str]) -> Simulated:
        """Play games from a state, with the player to move and the points that the first player has."""
        chance = random.Random(f"{start} {names}")
        found = Simulated([], [], 0, [])
        for _ in range(self.games):
            found = self._game(start, mover, gained, names, chance.choice, found)
        return found

    def _game(
        self,
        state: Any,
        mover: int,
        points: float,
        names: tuple[str, str],
        choose: Callable[[Sequence[Any]], Any],
        found: Simulated,
    ) -> Simulated:
        rules = self.rules
        moves: list[int] = []
        while not rules.is_terminal(state) and len(moves) < MAX_PLIES:
            actions = list(rules.actions(state))
            moves.append(len(actions))
            action = choose(self._choices(names[mover], state, actions))
            child = rules.result(state, action)
            points += rules.gain(state, action) * (1 if mover == 0 else -1)
            mover = mover if rules.same_mover(state, action, child) else 1 - mover
            state = child
        ended = rules.is_terminal(state)
        if ended:
            points += rules.ended(state).score * (1 if mover == 0 else -1)
        found.results.append(points)
        found.lengths.append(len(moves))
        found.moves.append(moves)
        return found._replace(unfinished=found.unfinished + (not ended))

    def _choices(self, name: str, state: Any, actions: list[Any]) -> list[Any]:
        """Return the moves that a player chooses from."""
        if name == "random":
            return actions
        plies = int(name.rpartition(" ")[2])
        if len(self._seen) > MAX_STATES:
            self._seen.clear()
        sights = [self._sight(state, action, plies) for action in actions]
        top = max(sights)
        return [action for action, sight in zip(actions, sights, strict=True) if sight == top]

    def _sight(self, state: Any, action: Any, plies: int) -> float:
        """Return the result that a look of some plies sees after a move, for its mover; 0 beyond the last ply."""
        rules = self.rules
        child = rules.result(state, action)
        if rules.is_terminal(child):
            ahead = float(rules.ended(child).score)
        elif plies == 1:
            ahead = 0.0
        else:
            key = rules.canonical(child), plies - 1
            seen = self._seen.get(key)
            if seen is None:
                seen = max(self._sight(child, reply, plies - 1) for reply in rules.actions(child))
                self._seen[key] = seen
            ahead = seen
        gain = float(rules.gain(state, action))
        return gain + (ahead if rules.same_mover(state, action, child) else -ahead)
