"""Pig (John Scarne 1945): throw a die as often as you dare; a 1 loses the turn's points, holding keeps them.

The throw is added to the turn's points. Who holds adds these to the own score, and the other throws. Reaching the
goal with the points of the turn wins immediately. Neller and Presser, Optimal Play of the Dice Game Pig, UMAP Journal
25(1), 2004: to 100 points the first player wins 53.06 % of the games if both play best.

A state is that of `jeopardy`, which says why nobody may hold nothing.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import jeopardy, limits
from solver.games.common.boards import counts

GROUP = "dice"
SHOWN = (
    r"player 1: (\d{1,5})   player 2: (\d{1,5})   of \d+\nplayer ([12]) (throws|to move), (\d{1,5}) in this turn"
    r"|player ([12]) has reached \d+"
)


class Pig(NamedTuple):
    """Throw a die of `sides` sides again, or hold the turn's points; a 1 loses them; first to `goal` wins."""

    goal: int = 100
    sides: int = 6

    def check(self) -> None:
        limits(self, goal=(2, 10_000), sides=(2, 1000))

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
        """`12-30-8`: the mover's score, the other's, and the turn's total, or without it; a text of `show`."""
        shown = re.fullmatch(SHOWN, text)
        if shown is not None and shown[6]:
            return int(shown[6]) * jeopardy.half(self.goal) - 1
        found = shown or re.fullmatch(r"(\d{1,9})-(\d{1,9})(?:-(\d{1,9}))?", text, re.ASCII)
        if found is None:
            return None
        turn = int(shown[3]) - 1 if shown else 0
        own, other, points = int(found[1 + turn]), int(found[2 - turn]), int(found[5 if shown else 3] or 0)
        if own + points >= self.goal or other >= self.goal:
            raise ValueError(f"the scores, the mover's with the turn's total, must be below {self.goal}")
        state = ((turn * self.goal + other) * self.goal + own) * self.goal + points
        return 2 * state + (1 if shown and shown[4] == "throws" else 0)

    def show(self, state: int) -> str:
        turn = jeopardy.mover(self.goal, state)
        if jeopardy.is_won(self.goal, state):
            return f"player {turn + 1} has reached {self.goal}"
        scores = (jeopardy.own(self.goal, state), jeopardy.other(self.goal, state))
        doing = "throws" if jeopardy.is_thrown(state) else "to move"
        return (
            f"player 1: {scores[turn]}   player 2: {scores[1 - turn]}   of {self.goal}\n"
            f"player {turn + 1} {doing}, {jeopardy.total(self.goal, state)} in this turn"
        )

    def cells(self, state: int, mover: int) -> list[str]:
        """A row for each player: the score, and the points of the turn. The loser's score is not known: `?`.

        A number is the character so many places behind "0".
        """
        turn = jeopardy.mover(self.goal, state)
        if jeopardy.is_won(self.goal, state):
            rows = [chr(48 + self.goal) + "0", "?0"]
        else:
            own = chr(48 + jeopardy.own(self.goal, state)) + chr(48 + jeopardy.total(self.goal, state))
            rows = [own, chr(48 + jeopardy.other(self.goal, state)) + "0"]
        return [rows[turn], rows[1 - turn]]

    def layout(self) -> tuple[str, int]:
        return "".join(sorted({"?", *counts(self.goal)})), 2

    def drawing(self) -> dict[str, Any]:
        dice = [[die + 1] for die in range(self.sides)]
        return {"board": "race", "sides": ["blue", "red"], "total": self.goal, "dice": dice}
