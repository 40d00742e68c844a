"""Pig (John Scarne 1945): throw a die as often as you dare; a 1 loses the turn's points, holding keeps them.

The throw is added to the turn's points. Who holds adds these to the own score, and the other throws. Reaching the
goal with the points of the turn wins at once. Neller and Presser, Optimal Play of the Dice Game Pig, UMAP Journal
25(1), 2004: to 100 points the first player wins 53.06 % of the games if both play best.

A state is that of `jeopardy`, which says why nobody may hold nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import jeopardy

GROUP = "dice"


class Pig(NamedTuple):
    """Throw a die of `sides` sides again, or hold the turn's points; a 1 loses them; first to `goal` wins."""

    goal: int = 100
    sides: int = 6

    def check(self) -> None:
        if not 2 <= self.goal <= 10_000:
            raise ValueError("goal must be from 2 to 10000")
        if not 2 <= self.sides <= 1000:
            raise ValueError("sides must be from 2 to 1000")

    def initial(self) -> int:
        return 0

    def actions(self, state: int) -> Iterator[int]:
        return jeopardy.actions(self.goal, state)

    def result(self, state: int, action: int) -> int:
        return jeopardy.result(self.goal, state, action)

    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        if jeopardy.is_thrown(state) and not jeopardy.is_won(self.goal, state):
            yield 1, jeopardy.passed(self.goal, state, 0)
            for points in range(2, self.sides + 1):
                yield 1, jeopardy.added(self.goal, state, points)

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
        return "hold" if action else "roll"

    def parse_position(self, text: str) -> int | None:
        return jeopardy.parsed(self.goal, text)

    def show(self, state: int) -> str:
        return jeopardy.board(self.goal, state)

    def cells(self, state: int, mover: int) -> list[str]:
        return jeopardy.cells(self.goal, state)

    def layout(self) -> tuple[str, int]:
        return jeopardy.symbols(self.goal), 2

    def drawing(self) -> dict[str, Any]:
        dice = [[die + 1] for die in range(self.sides)]
        return {"board": "race", "sides": ["blue", "red"], "total": self.goal, "dice": dice}
