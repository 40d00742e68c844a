"""Piglet: Pig with a coin (Neller and Presser, Optimal Play of the Dice Game Pig, UMAP Journal 25(1), 2004).

Heads adds one to the turn's points, tails loses them and the turn; who holds keeps them, and the other flips. Reaching
the goal wins at once. Small enough to be solved by hand: to 2 points the first player wins 4 of 7 games.

A state is that of `jeopardy`, which says why nobody may hold nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import jeopardy

GROUP = "dice"


class Piglet(NamedTuple):
    """Flip a coin again, or hold the turn's points; heads adds 1, tails loses them; first to `goal` wins."""

    goal: int = 10

    def check(self) -> None:
        if not 2 <= self.goal <= 10_000:
            raise ValueError("goal must be from 2 to 10000")

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> Iterator[int]:
        return jeopardy.actions(self.goal, state)

    def result(self, state: int, action: int) -> int:
        return jeopardy.result(self.goal, state, action)

    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        if jeopardy.is_thrown(state) and not jeopardy.is_won(self.goal, state):
            yield 1, jeopardy.passed(self.goal, state, 0)
            yield 1, jeopardy.added(self.goal, state, 1)

    def is_terminal(self, state: int) -> bool:
        return jeopardy.is_won(self.goal, state)

    def utility(self, state: int) -> int:
        return 1

    def to_move(self, state: int) -> int:
        return jeopardy.mover(self.goal, state)

    def tier(self, state: int) -> int:
        return jeopardy.tier(self.goal, state)

    def canonical(self, state: int) -> int:
        return jeopardy.folded(self.goal, state)

    def format_action(self, state: int, action: int) -> str:
        return "hold" if action else "flip"

    def parse_position(self, text: str) -> int | None:
        return jeopardy.parsed(self.goal, text)

    def show(self, state: int) -> str:
        return jeopardy.board(self.goal, state)

    def cells(self, state: int, mover: int) -> list[str]:
        return jeopardy.cells(self.goal, state)

    def layout(self) -> tuple[str, int]:
        return jeopardy.symbols(self.goal), 2

    def drawing(self) -> dict[str, Any]:
        return {"board": "race", "sides": ["blue", "red"], "total": self.goal, "dice": [["tails"], ["heads"]]}
