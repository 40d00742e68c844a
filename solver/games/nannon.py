"""Nannon (Jordan Pollack 2004), a small backgammon: a row of spots, a few checkers each and one die.

The rules as published at nannon.com/rules.html. The players' checkers go in opposite directions, from home across the
board to safety. At the start each has one checker at home and the others on the first spots of the own side. A turn is
a throw of the die and one checker moved by just so much: from home onto the board, along it, or off its end to safety,
for which more than needed will do. A checker may land on an empty spot or on a single checker of the other, which is
hit and goes home; not on one's own, nor on one of two or more that stand side by side, a prime. Who can move must;
who cannot loses the turn. The first to have all checkers in safety wins. A shutout counts no more than that here.

Before the first turn both throw until the dice differ, and who has thrown more moves by the difference: the first
player is whoever that is. So the first throw is 1 to 5, with weights 5, 4, 3, 2, 1.

A state holds, from the lowest bit on, the throw (0: to be thrown, `sides` + 1: the first throw of the game), the
mover's spots and the other's, both as the mover counts them, the checkers at their homes, and the mover. Hits make
the game cyclic; `tier` counts the checkers in safety, which never leave it.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

GROUP = "dice"
SPOTS = "abcdefghijklmnopqrstuvwxyz"


class Nannon(NamedTuple):
    """Bring `checkers` checkers across `spots` spots by one die; single ones are hit; all in safety wins."""

    spots: int = 6
    checkers: int = 3
    sides: int = 6

    def check(self) -> None:
        if self.checkers < 1 or not 2 * self.checkers - 2 <= self.spots <= len(SPOTS):
            raise ValueError(f"it takes a checker or more, and from twice as many spots less two to {len(SPOTS)}")
        if not 2 <= self.sides <= self.spots:
            raise ValueError("sides must be 2 or more, and at most the number of spots")
        if self._low() + 2 * self.spots + 2 * self.checkers.bit_length() + 1 > 63:
            raise ValueError("spots, checkers and sides must fit 63 bits: take fewer of one of them")

    def initial(self) -> int:
        row = (1 << self.checkers - 1) - 1
        return self._state(row, self._reversed(row), 1, 1, 0) | self.sides + 1

    def actions(self, state: int) -> Iterator[int]:
        """The spot to leave, 0 for home; one more than there are spots to pass."""
        moves = 0
        if 0 < self._throw(state) <= self.sides:
            for spot in range(self.spots + 1):
                if self._may_leave(state, spot):
                    moves += 1
                    yield spot
            if moves == 0:
                yield self.spots + 1

    def result(self, state: int, action: int) -> int:
        own, other = self._own(state), self._other(state)
        home, others_home = self._home(state, 0), self._home(state, 1)
        if action <= self.spots:
            if action:
                own ^= 1 << action - 1
            else:
                home -= 1
            target = action + self._throw(state)
            if target <= self.spots:
                own |= 1 << target - 1
                others_home += other >> target - 1 & 1
                other &= ~(1 << target - 1)
        return self._state(self._reversed(other), self._reversed(own), others_home, home, 1 - self.to_move(state))

    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        if self._throw(state) == 0 and not self.is_terminal(state):
            for throw in range(1, self.sides + 1):
                yield 1, state + throw
        if self._throw(state) == self.sides + 1:
            for throw in range(1, self.sides):
                yield self.sides - throw, state - self.sides - 1 + throw

    def is_terminal(self, state: int) -> bool:
        """Whether the other, who has just moved, is in safety."""
        return self._other(state) == 0 and self._home(state, 1) == 0

    def utility(self, state: int) -> int:
        return -1

    def to_move(self, state: int) -> int:
        return state >> self._low() + 2 * self.spots + 2 * self.checkers.bit_length()

    def tier(self, state: int) -> int:
        afield = (self._own(state) | self._other(state)).bit_count() + self._home(state, 0) + self._home(state, 1)
        return 2 * self.checkers - afield

    def canonical(self, state: int) -> int:
        return state & (1 << self._low() + 2 * self.spots + 2 * self.checkers.bit_length()) - 1

    def format_action(self, state: int, action: int) -> str:
        if action > self.spots:
            return "pass"
        source, target = self._name(state, action), self._name(state, action + self._throw(state))
        return f"{source or 'home'}-{target or 'safe'}"

    def parse_position(self, text: str) -> int | None:
        """The board and the throw, as `show` prints them."""
        matched = re.fullmatch(
            r"x: (\d+) home, (\d+) safe   o: (\d+) home, (\d+) safe\n([xo. ]+)\n.*\n([xo]) (.*)", text
        )
        if matched is None:
            return None
        row, homes, mover = matched[5].replace(" ", ""), [int(matched[1]), int(matched[3])], "xo".index(matched[6])
        if len(row) != self.spots:
            raise ValueError(f"the board has {self.spots} spots")
        sides = [sum(1 << spot for spot, mark in enumerate(row) if mark == side) for side in "xo"]
        for side in (0, 1):
            if sides[side].bit_count() + homes[side] + int(matched[2 + 2 * side]) != self.checkers:
                raise ValueError(f"each player has {self.checkers} checkers")
        if mover:
            sides = [self._reversed(side) for side in sides]
        thrown = re.fullmatch(r"has thrown (\d+)", matched[7])
        throw = int(thrown[1]) if thrown else 0
        state = self._state(sides[mover], sides[1 - mover], homes[mover], homes[1 - mover], mover) | throw
        return self.initial() if state == self.initial() & -1 << self._low() else state

    def show(self, state: int) -> str:
        """The board from the first player's side, x, whose checkers go to the right."""
        mover, throw = self.to_move(state), self._throw(state)
        at_home = [self._home(state, mover), self._home(state, 1 - mover)]
        row = "".join(self.cells(state, mover)).lower()  # the only one
        on_board = [row.count("x"), row.count("o")]
        safe = [self.checkers - at_home[i] - on_board[i] for i in (0, 1)]
        doing = f"has thrown {throw}" if 0 < throw <= self.sides else "throws"
        return "\n".join(
            [
                f"x: {at_home[0]} home, {safe[0]} safe   o: {at_home[1]} home, {safe[1]} safe",
                " ".join(row),
                " ".join(SPOTS[: self.spots]),
                f"{'xo'[mover]} {'has lost' if self.is_terminal(state) else doing}",
            ]
        )

    def cells(self, state: int, mover: int) -> Iterator[str]:
        sides = (self._own(state), self._other(state))
        if self.to_move(state):
            sides = (self._reversed(sides[1]), self._reversed(sides[0]))
        yield "".join("X" if sides[0] >> i & 1 else "o" if sides[1] >> i & 1 else "." for i in range(self.spots))

    def layout(self) -> tuple[str, int]:
        return "Xo", self.spots + 2

    def place(self, state: int, action: int) -> Iterator[int]:
        for spot in (action, action + self._throw(state)):
            if 0 < spot <= self.spots and action <= self.spots:
                yield self.spots - spot if self.to_move(state) else spot - 1

    def drawing(self) -> dict[str, Any]:
        return {"board": "track", "dice": [[die + 1] for die in range(self.sides)]}

    def _name(self, state: int, spot: int) -> str:
        """A spot of the mover's count, from the first player's side; none beside the board."""
        if not 0 < spot <= self.spots:
            return ""
        return SPOTS[self.spots - spot if self.to_move(state) else spot - 1]

    def _may_leave(self, state: int, spot: int) -> bool:
        """Whether the mover has a checker there that the throw can move."""
        own, other = self._own(state), self._other(state)
        if not (own >> spot - 1 & 1 if spot else self._home(state, 0)):
            return False
        target = spot + self._throw(state)
        if target > self.spots:
            return True
        primes = other & (other << 1 | other >> 1)
        return not (own | primes) >> target - 1 & 1

    def _low(self) -> int:
        """Bits of the throw."""
        return (self.sides + 1).bit_length()

    def _state(self, own: int, other: int, home: int, others_home: int, mover: int) -> int:
        bits = self.checkers.bit_length()
        homes = home | (others_home | mover << bits) << bits
        return (own | (other | homes << self.spots) << self.spots) << self._low()

    def _throw(self, state: int) -> int:
        return state & (1 << self._low()) - 1

    def _own(self, state: int) -> int:
        return state >> self._low() & (1 << self.spots) - 1

    def _other(self, state: int) -> int:
        return state >> self._low() + self.spots & (1 << self.spots) - 1

    def _home(self, state: int, player: int) -> int:
        """The checkers at home of the mover (0) or the other (1)."""
        bits = self.checkers.bit_length()
        return state >> self._low() + 2 * self.spots + player * bits & (1 << bits) - 1

    def _reversed(self, row: int) -> int:
        result = 0
        for spot in range(self.spots):
            result |= (row >> spot & 1) << self.spots - 1 - spot
        return result
