"""Piglet: Pig with a coin (Neller and Presser, Optimal Play of the Dice Game Pig, UMAP Journal 25(1), 2004).

Heads adds one to the turn's points, tails loses them and the turn; who holds keeps them, and the other flips. Reaching
the goal wins immediately. Small enough to be solved by hand: to 2 points the first player wins 4 of 7 games.

A state is that of `jeopardy`, which says why nobody may hold nothing.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import jeopardy, like, limits
from solver.games.pig import Pig

GROUP = "dice"


@like(Pig)
class Piglet(NamedTuple):
    """Flip a coin again, or hold the turn's points; heads adds 1, tails loses them; first to `goal` wins."""

    goal: int = 10

    def check(self) -> None:
        limits(self, goal=(2, 10_000))

    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        if jeopardy.is_thrown(state) and not jeopardy.is_won(self.goal, state):
            yield 1, jeopardy.passed(self.goal, state, 0)
            yield 1, jeopardy.added(self.goal, state, 1)

    def format_action(self, state: int, action: int) -> str:
        return "hold" if action else "flip"

    def drawing(self) -> dict[str, Any]:
        return {"board": "race", "sides": ["blue", "red"], "total": self.goal, "dice": [["tails"], ["heads"]]}
