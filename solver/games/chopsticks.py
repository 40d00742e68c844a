"""Chopsticks: tap a hand of the other's with one of your own; five fingers are none; who has no hand left loses.

Each player begins with a finger up on either hand. To tap adds the fingers of the own hand to those of the hand that is
tapped; a hand that comes to `fingers` or more is out, and cannot tap or be tapped; with `wrapping` only exactly that
many is out, and the excess stays up. Or a player shifts fingers from one hand to the other, so that the two numbers
change and not merely change places; an empty hand may be woken so, and no hand be put out. Play may go round;
repetition is a draw.

A state has four bits a hand, the mover's two and then the other's, each player's in ascending order, for hands are
alike. An action is 0 to 3 to tap, twice the own hand plus the other's (0 the one of fewer fingers), or 4 plus the
fingers of the lesser hand after a shift.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from solver.games.common import limits
from solver.games.common.boards import cased

GROUP = "capture"
MEN = {"ABCDEFGHI"[i]: [str(i + 1), 0] for i in range(9)} | {"abcdefghi"[i]: [str(i + 1), 1] for i in range(9)}


class Chopsticks(NamedTuple):
    """Tap the other's hands until both are out, at `fingers`; or shift; wrapping: what is over stays up."""

    fingers: int = 5
    wrapping: bool = False

    drawing = {"board": "squares", "sides": ["blue", "red"], "men": MEN, "turns": True}

    def check(self) -> None:
        limits(self, fingers=(3, 9))

    def initial(self) -> int:
        return 0x1111

    def actions(self, state: int) -> Iterator[int]:
        for own in range(2):
            for other in range(2):
                once = self._hand(state, own) > self._hand(state, 0) * own
                other_once = self._hand(state, 2 + other) > self._hand(state, 2) * other
                if once and other_once:
                    yield 2 * own + other
        both = self._hand(state, 0) + self._hand(state, 1)
        for lesser in range(1, both // 2 + 1):
            if lesser != self._hand(state, 0) and both - lesser < self.fingers:
                yield 4 + lesser

    def result(self, state: int, action: int) -> int:
        own, other = state & 255, state >> 8
        if action < 4:
            tapped = self._hand(state, 2 + action % 2) + self._hand(state, action // 2)
            if tapped >= self.fingers:
                tapped = tapped - self.fingers if self.wrapping else 0
            other = self._pair(tapped, self._hand(state, 3 - action % 2))
        else:
            both = self._hand(state, 0) + self._hand(state, 1)
            own = self._pair(action - 4, both - action + 4)
        return other | own << 8

    def is_terminal(self, state: int) -> bool:
        return state & 255 == 0

    def utility(self, state: int) -> int:
        return -1

    def format_action(self, state: int, action: int) -> str:
        if action < 4:
            return f"{self._hand(state, action // 2)}>{self._hand(state, 2 + action % 2)}"
        return f"{action - 4}+{self._hand(state, 0) + self._hand(state, 1) - action + 4}"

    def show(self, state: int) -> str:
        own, other, third, fourth = (self._hand(state, hand) for hand in range(4))
        return f"the other     {third} {fourth}\nside to move  {own} {other}"

    def parse_position(self, text: str) -> int | None:
        shown = re.fullmatch(r"the other +(\d) (\d)\nside to move +(\d) (\d)", text)
        if shown is not None and int(max(shown.groups())) >= self.fingers:
            raise ValueError(f"a hand with {self.fingers} fingers or more is out")
        return None if shown is None else int(shown[2] + shown[1] + shown[4] + shown[3], 16)

    def cells(self, state: int, mover: int) -> list[str]:
        """The second player's hands above the first one's, those of the mover as it sees them; letters for numbers."""
        marks = "".join([".ABCDEFGHI"[self._hand(state, hand)] for hand in range(4)])
        own, other = cased(marks[:2], mover), cased(marks[2:], 1 - mover)
        return [own[::-1], other[::-1]] if mover else [other, own]

    def from_cells(self, rows: list[str], mover: int) -> int:
        marks = rows[0][::-1] + rows[1][::-1] if mover else rows[1] + rows[0]
        return sum(".ABCDEFGHI".index(mark.upper()) << 4 * hand for hand, mark in enumerate(marks))

    def layout(self) -> tuple[str, int]:
        letters = "ABCDEFGHI"[: self.fingers - 1]
        return letters + letters.lower(), self.fingers + 3

    def place(self, state: int, action: int) -> list[int]:
        """The own hand and the one that is tapped, as the mover sees them; shifts are chosen by their names."""
        return [2 + action // 2, action % 2] if action < 4 else []

    def _hand(self, state: int, hand: int) -> int:
        return state >> 4 * hand & 15

    def _pair(self, one: int, two: int) -> int:
        return min(one, two) | max(one, two) << 4
