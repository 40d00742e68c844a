"""Bearing off in backgammon, both sides: all checkers are home, nobody can be hit, who is off first wins.

A turn is a throw of two dice, each of which moves a checker down by its points; a double is played four times. A die
takes a checker off from the point of its number, and from the highest point that is taken if that is lower. A die can
always be played while checkers are left, so that both may be played in any order. Where both dice take off the highest
checker the smaller one is listed alone: the other is played next, to the same end. Gammons do not count.

A state holds the dice that are still to be played, the checkers on each point of the mover and then of the other (as
many bits a point as the number of checkers has, the lowest point first), and the mover:

    dice (6 bits)   0 to be thrown; 7 * die + other, the other smaller, equal or 0 (one is left); 49 + 2 * (die - 1)
                    for three times the die, one more for four times

`canonical` drops the mover. Every throw and every move raise the tier: twice the pips that are played, and one more
where dice are thrown.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import limits
from solver.games.common.boards import counts

GROUP = "dice"
MANY = 49  # dice from which on three or four of a die are left


class BackgammonBearoff(NamedTuple):
    """Bear `checkers` checkers off `points` points by two dice, doubles four times; who is off first wins.

    everything: solve from all positions of up to so many checkers on either side, as databases of this ending do.
    """

    checkers: int = 3
    points: int = 6
    everything: bool = False

    def check(self) -> None:
        limits(self, checkers=(1, 15), points=(1, 6))

    def initial(self) -> int:
        """The checkers are dealt one to a point from the highest down, again and again."""
        own = 0
        for checker in range(self.checkers):
            own += self._checker(self.points - checker % self.points)
        return self._state(own, own, 0, 0)

    def starts(self) -> Iterator[int]:
        yield self.initial()
        own = self._following(0) if self.everything else 0
        while own:
            other = self._following(0)
            while other:
                yield self._state(own, other, 0, 0)
                other = self._following(other)
            own = self._following(own)

    def actions(self, state: int) -> Iterator[int]:
        dice, own = state & 63, self._own(state)
        top = self._highest(own)
        larger, smaller = (dice // 7, dice % 7) if dice < MANY else ((dice - MANY) // 2 + 1, 0)
        for die in (larger, smaller):
            spared = smaller >= top if die == larger and larger > smaller else die == 0
            for point in range(1, 1 if spared else top + 1):
                if self._count(own, point) and (point >= die or point == top):
                    yield (die - 1) * self.points + point - 1
            if larger == smaller:
                break

    def result(self, state: int, action: int) -> int:
        die, point = action // self.points + 1, action % self.points + 1
        own = self._own(state) - self._checker(point)
        if point > die:
            own += self._checker(point - die)
        dice = self._remaining(state & 63, die)
        if dice and own:
            return self._state(own, self._other(state), dice, self.to_move(state))
        return self._state(self._other(state), own, 0, 1 - self.to_move(state))

    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        if state & 63 == 0 and self._other(state):
            for die in range(1, 7):
                for other in range(1, die):
                    yield 2, state + 7 * die + other
                yield 1, state + MANY + 2 * die - 1

    def is_terminal(self, state: int) -> bool:
        """Whether the other, who has just played, is off."""
        return self._other(state) == 0

    def utility(self, state: int) -> int:
        return -1

    def to_move(self, state: int) -> int:
        return state >> 6 + 2 * self._side()

    def tier(self, state: int) -> int:
        pips = 0
        for point in range(1, self.points + 1):
            pips += point * (self._count(self._own(state), point) + self._count(self._other(state), point))
        return 2 * (2 * self.checkers * self.points - pips) + (1 if state & 63 else 0)

    def canonical(self, state: int) -> int:
        return state & (1 << 6 + 2 * self._side()) - 1

    def format_action(self, state: int, action: int) -> str:
        die, point = action // self.points + 1, action % self.points + 1
        return f"{point}/{point - die}" if point > die else f"{point}/off"

    def parse_position(self, text: str) -> int | None:
        """`61-3 52`: the points of the mover's checkers, those of the other's, and the dice unless they are thrown.

        Or both sides and the dice that are left, as `show` prints them.
        """
        shown = re.fullmatch(r"player 1: (.*)\nplayer 2: (.*)\nplayer ([12]) (?:plays ([\d ]+)|throws|has lost)", text)
        typed = re.fullmatch(r"([1-6]+)-([1-6]+)(?: +([1-6])([1-6]))?", text)
        if shown is not None:
            mover, thrown = int(shown[3]) - 1, (shown[4] or "").split()
            players = [[] if shown[1 + player] == "off" else shown[1 + player].split() for player in (0, 1)]
        elif typed is not None:
            mover, thrown = 0, [die for die in typed.groups()[2:] if die]
            thrown *= 2 if len({*thrown}) == 1 else 1  # a double is played four times
            players = [[*typed[1]], [*typed[2]]]
        else:
            return None
        points = [str(point) for point in range(1, self.points + 1)]
        if any(len(player) > self.checkers or not {*player} <= {*points} for player in players):
            raise ValueError(f"each side has at most {self.checkers} checkers on points 1 to {self.points}")
        sides = [sum(self._checker(int(point)) for point in player) for player in players]
        larger, smaller = [*sorted(map(int, thrown), reverse=True), 0, 0][:2]
        dice = MANY + 2 * (larger - 1) + len(thrown) - 3 if len(thrown) > 2 else 7 * larger + smaller
        return self._state(sides[mover], sides[1 - mover], dice, mover)

    def show(self, state: int) -> str:
        sides = [self._own(state), self._other(state)]
        mover, dice = self.to_move(state), state & 63
        if dice >= MANY:
            thrown = [(dice - MANY) // 2 + 1] * (3 + (dice - MANY) % 2)
        else:
            thrown = [die for die in (dice // 7, dice % 7) if die]
        last = f"plays {' '.join(map(str, thrown))}" if dice else "has lost" if self.is_terminal(state) else "throws"
        points = range(self.points, 0, -1)
        listed = [" ".join(str(point) for point in points for _ in range(self._count(side, point))) for side in sides]
        rows = [f"player {i + 1}: {listed[i ^ mover] or 'off'}" for i in (0, 1)]
        return "\n".join([*rows, f"player {mover + 1} {last}"])

    def cells(self, state: int, mover: int) -> Iterator[str]:
        """The second player's checkers by points, the highest first, and those off; below them the first player's.

        A number is the character so many places behind "0".
        """
        sides = (self._other(state), self._own(state))
        for side in (sides[1], sides[0]) if self.to_move(state) else sides:
            counts = [self._count(side, point) for point in range(self.points, 0, -1)]
            yield "".join(chr(48 + count) for count in [*counts, self.checkers - sum(counts)])

    def layout(self) -> tuple[str, int]:
        return counts(self.checkers), 6 * self.points

    def place(self, state: int, action: int) -> Iterator[int]:
        die, point = action // self.points + 1, action % self.points + 1
        for end in (point, max(point - die, 0)):
            yield (0 if self.to_move(state) else self.points + 1) + self.points - end

    def drawing(self) -> dict[str, Any]:
        dice = [[die, other] for die in range(1, 7) for other in range(1, die + 1)]
        return {"board": "bearoff", "sides": ["white", "black"], "total": self.checkers, "dice": dice}

    def _bits(self) -> int:
        """Bits of a point."""
        return self.checkers.bit_length()

    def _side(self) -> int:
        """Bits of a side's checkers."""
        return self._bits() * self.points

    def _state(self, own: int, other: int, dice: int, mover: int) -> int:
        return dice | (own | (other | mover << self._side()) << self._side()) << 6

    def _own(self, state: int) -> int:
        return state >> 6 & (1 << self._side()) - 1

    def _other(self, state: int) -> int:
        return state >> 6 + self._side() & (1 << self._side()) - 1

    def _checker(self, point: int) -> int:
        return 1 << (point - 1) * self._bits()

    def _count(self, side: int, point: int) -> int:
        return side >> (point - 1) * self._bits() & (1 << self._bits()) - 1

    def _highest(self, side: int) -> int:
        """The highest point that is taken."""
        return (side.bit_length() + self._bits() - 1) // self._bits()

    def _remaining(self, dice: int, die: int) -> int:
        """The dice when one of them is played."""
        if dice >= MANY:
            return dice - 1 if (dice - MANY) % 2 else 8 * die
        return 7 * (dice % 7 if die == dice // 7 else dice // 7)

    def _following(self, side: int) -> int:
        """The next larger side of at most `checkers` checkers, 0 after the last."""
        for point in range(1, self.points + 1):
            side += self._checker(point)
            number = 0
            for place in range(1, self.points + 1):
                number += self._count(side, place)
            if number <= self.checkers and side < 1 << self._side():
                return side
            side -= self._count(side, point) * self._checker(point)
        return 0
