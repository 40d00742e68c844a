"""Hypergammon: backgammon with three checkers a side, on the three points farthest from home; no cube.

A turn is a throw of two dice. Each die moves a checker towards point 1 and off. A double is played four times. A
checker may not go to a point that holds two checkers of the other side. A single one there goes to the bar, and must
enter before its side moves anything else. Once all checkers are on points 1 to 6 or off, a die takes a checker off its
own point, or off the highest occupied point if the die is larger. Players must play as many dice as they can, and the
larger if they can play only one of two.

Who is off first wins 1. It is 2 if the other side has no checker off (a gammon), and 3 if it also has one on the bar or
among the last six points (a backgammon). `most` limits what a win counts: 3 is money play, 1 counts only wins. The
first player begins, with any throw.

A state holds the mover's checkers (5 bits each, the highest first from the lowest bits on: 25 the bar, 0 off), the
other's likewise, as it counts them, the throw (6 bits: 0 to be thrown, 8 * die + other, the other not larger), and the
mover: 6-5 thrown at the start is 24 + 32 * (23 + 32 * 22), that << 15, and 53 << 30. An action is a whole play: above a
bit, 1 where the smaller die is played first, a digit of base 3 for each die, the first the highest, that says which
checker it moves, 0 the highest; plays with one result are listed once. A state after the throw is passed through, and
never stored. `tier` counts the checkers that are off, of both, and then of who has fewer. There are 7,959,904
placements.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import limits
from solver.games.common.boards import counts

GROUP = "dice"
BAR = 25
SIDE, SIDES = (1 << 15) - 1, (1 << 30) - 1


class Hypergammon(NamedTuple):
    """Backgammon with `checkers` a side, on the farthest points; a win counts at most `most`: 3 is money play."""

    checkers: int = 3
    most: int = 3

    score_game = True

    def check(self) -> None:
        limits(self, checkers=(1, 3))
        if not 1 <= self.most <= 3:
            raise ValueError("most is 1 (wins alone), 2 (gammons count) or 3 (backgammons, too)")

    def initial(self) -> int:
        own = 0
        for checker in range(self.checkers):
            own |= 24 - checker << 5 * checker
        return own | own << 15

    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        if self._throw(state) == 0 and not self.is_terminal(state):
            for die in range(1, 7):
                for other in range(1, die + 1):
                    thrown = state | 8 * die + other << 30
                    can = self._can(state, die) or self._can(state, other)
                    yield 1 if die == other else 2, thrown if can else self._turned(state, state & SIDES)

    def vanishing(self, state: int) -> bool:
        return self._throw(state) > 0

    def actions(self, state: int) -> Iterator[int]:
        dice, size = self._dice(state), 3 ** self._dice(state)
        most = self._longest(state, 0)
        if dice == 2:
            most = max(most, self._longest(state, 1))
        for order in range(1 if dice == 4 or (most == 1 and self._can(state, self._throw(state) >> 3)) else 2):
            code = 0
            while code < size and dice:
                played = self._played(state, order, code)
                rest = 3 ** (dice - min(dice, played >> 30))
                if played >> 30 == most and code % rest == 0 and not self._is_listed(state, order, code, played):
                    yield 2 * code + order
                code = (code // max(1, rest // 3) + 1) * max(1, rest // 3)

    def result(self, state: int, action: int) -> int:
        return self._turned(state, self._played(state, action & 1, action >> 1) & SIDES)

    def is_terminal(self, state: int) -> bool:
        """Whether the other, who has just played, is off."""
        return state >> 15 & SIDE == 0

    def utility(self, state: int) -> int:
        lost = 1
        if self._at(state, self.checkers - 1):
            lost = 3 if self._at(state, 0) > 18 else 2
        return -min(lost, self.most)

    def to_move(self, state: int) -> int:
        return state >> 36

    def tier(self, state: int) -> int:
        own = other = self.checkers
        for checker in range(self.checkers):
            own -= self._at(state, checker) > 0
            other -= self._at(state >> 15, checker) > 0
        return (own + other) * self.checkers + min(own, other)

    def canonical(self, state: int) -> int:
        return state & (1 << 36) - 1

    def format_action(self, state: int, action: int) -> str:
        """Checkers by the points that they leave and reach, a hit with a star: `24/18* 23/18`."""
        steps = []
        for source, target, hit in self._steps(state, action):
            steps.append(f"{'bar' if source == BAR else source}/{target or 'off'}{'*' if hit else ''}")
        return " ".join(steps)

    def parse_position(self, text: str) -> int | None:
        """Both sides' checkers and the throw, as `show` prints them."""
        matched = re.fullmatch(r"x: (.*)\no: (.*)\n([xo]) (has thrown ([1-6])-([1-6])|throws|has lost)", text)
        if matched is None:
            return None
        mover, state = "xo".index(matched[3]), 0
        for player in (0, 1):
            places = matched[1 + player].split()
            if len(places) != self.checkers:
                raise ValueError(f"each player has {self.checkers} checkers")
            for slot, place in enumerate(places):
                at = BAR if place == "bar" else 0 if place == "off" else int(place) if place.isdecimal() else 99
                if at > BAR:
                    raise ValueError(f"{place} is not a point: they are 1 to 24, bar and off")
                state |= at << 15 * (player ^ mover) + 5 * slot
        throw = int(matched[5]) << 3 | int(matched[6]) if matched[5] else 0
        return state | throw << 30 | mover << 36

    def show(self, state: int) -> str:
        """Each side's checkers, as it counts the points itself."""
        mover, throw = self.to_move(state), self._throw(state)
        lines = []
        for player in (0, 1):
            side = state >> 15 * (player ^ mover)
            places = [self._at(side, checker) for checker in range(self.checkers)]
            lines.append(f"{'xo'[player]}: " + " ".join("bar" if at == BAR else str(at or "off") for at in places))
        doing = f"has thrown {throw >> 3}-{throw & 7}" if throw else "has lost" if self.is_terminal(state) else "throws"
        return "\n".join([*lines, f"{'xo'[mover]} {doing}"])

    def cells(self, state: int, mover: int) -> Iterator[str]:
        """The first player's points 13 to 24, the bar with its pieces after six of them, and the second's pieces off.

        Below them 12 to 1, the bar with the second's pieces, and the first's that are off.

        A mark tells how many: the character so many places behind "0" for the first player's, behind "@" the second's.
        """
        first, second = state & SIDE, state >> 15 & SIDE
        if mover:
            first, second = second, first
        for row in (0, 1):
            marks = ""
            for column in range(14):
                point = (12 - column if row else 13 + column) - (0 if column < 6 else 1 - 2 * row)
                ours, theirs = self._count(first, point), self._count(second, BAR - point)
                if column == 6:
                    ours, theirs = (0, self._count(second, BAR)) if row else (self._count(first, BAR), 0)
                if column == 13:
                    ours, theirs = (self._count(first, 0), 0) if row else (0, self._count(second, 0))
                marks += chr(64 + theirs) if theirs else chr(48 + ours)
            yield marks

    def layout(self) -> tuple[str, int]:
        """Return numbers of checkers of either side, and plays, the last of a double by the last checker alone."""
        return counts(self.checkers) + "ABC"[: self.checkers], 80 * (self.checkers - 1) + 2

    def place(self, state: int, action: int) -> Iterator[int]:
        for source, target, _ in self._steps(state, action):
            for point in (source, target):
                if self.to_move(state) == 0:
                    yield 6 if point == BAR else 27 if point == 0 else self._cell(point)
                else:
                    yield 20 if point == BAR else 13 if point == 0 else self._cell(BAR - point)

    def drawing(self) -> dict[str, Any]:
        dice = [[die, other] for die in range(1, 7) for other in range(1, die + 1)]
        return {"board": "backgammon", "sides": ["white", "black"], "total": self.checkers, "dice": dice}

    def _cell(self, point: int) -> int:
        """Where the first player's point is drawn."""
        if point > 12:
            return point - (13 if point < 19 else 12)
        return 14 + (12 if point > 6 else 13) - point

    def _count(self, side: int, point: int) -> int:
        return sum(self._at(side, checker) == point for checker in range(self.checkers))

    def _steps(self, state: int, action: int) -> Iterator[tuple[int, int, bool]]:
        """The point that each step of a play leaves, the one that it reaches, and whether it hits."""
        sides = state & SIDES
        for step in range(self._dice(state)):
            slot = (action >> 1) // 3 ** (self._dice(state) - 1 - step) % 3
            die = self._die(state, action & 1, step)
            after = self._step(sides, slot, die) if sides & SIDE else -1
            if after < 0:
                return
            yield self._at(sides, slot), max(0, self._at(sides, slot) - die), after >> 15 != sides >> 15
            sides = after

    def _throw(self, state: int) -> int:
        return state >> 30 & 63

    def _dice(self, state: int) -> int:
        """How many dice there are to play."""
        throw = self._throw(state)
        return 0 if throw == 0 else 4 if throw >> 3 == throw & 7 else 2

    def _die(self, state: int, order: int, step: int) -> int:
        return self._throw(state) & 7 if step + order & 1 else self._throw(state) >> 3

    def _turned(self, state: int, sides: int) -> int:
        """The other is to throw."""
        return sides >> 15 | (sides & SIDE) << 15 | 1 - self.to_move(state) << 36

    def _at(self, side: int, slot: int) -> int:
        return side >> 5 * slot & 31

    def _can(self, state: int, die: int) -> bool:
        """Whether the mover can play a die."""
        for slot in range(self.checkers):
            if self._step(state & SIDES, slot, die) >= 0:
                return True
        return False

    def _longest(self, state: int, order: int) -> int:
        """How many dice can be played, in this order."""
        dice, code, longest = self._dice(state), 0, 0
        size = 3**dice
        while code < size and longest < dice:
            steps = self._played(state, order, code) >> 30
            longest = max(longest, steps)
            rest = 3 ** max(0, dice - 1 - steps)
            code = (code // rest + 1) * rest
        return longest

    def _played(self, state: int, order: int, code: int) -> int:
        """Both sides after the steps of a play as far as they are legal, and above how many these are; all if the
        mover is off. Of a double no step may leave a higher point than the one before: other orders end alike."""
        dice, sides, last = self._dice(state), state & SIDES, BAR
        part = 3 ** max(0, dice - 1)
        for step in range(dice):
            slot = code // part % 3
            if sides & SIDE == 0:
                return sides | dice << 30 if code % (3 * part) == 0 else sides | step << 30
            after = self._step(sides, slot, self._die(state, order, step))
            if after < 0 or (dice == 4 and self._at(sides, slot) > last):
                return sides | step << 30
            last = self._at(sides, slot)
            sides, part = after, part // 3
        return sides | dice << 30

    def _is_listed(self, state: int, order: int, code: int, played: int) -> bool:
        """Whether a play of two dice before this one ends like it."""
        if played >> 30 == self._dice(state) == 2:
            for place in range(9 * order + code):
                if self._played(state, place // 9, place % 9) == played:
                    return True
        return False

    def _step(self, sides: int, slot: int, die: int) -> int:
        """Both sides after a checker has moved by a die; -1 where it may not, or an equal one stands for it."""
        own, other = sides & SIDE, sides >> 15
        highest, source = own & 31, self._at(own, slot)
        if source == 0 or (slot and (highest == BAR or source == self._at(own, slot - 1))):
            return -1
        target = source - die
        if target <= 0 and (highest > 6 or (target < 0 and slot)):
            return -1
        target = max(0, target)
        if target:
            found = self._find(other, 25 - target)
            if found >= 0:
                if self._at(other, found + 1) == 25 - target:
                    return -1
                other = self._without(other, found) << 5 | BAR
        own = self._without(own, slot)
        place = 0
        while self._at(own, place) > target:
            place += 1
        below = own & (1 << 5 * place) - 1
        return below | target << 5 * place | own >> 5 * place << 5 * (place + 1) | other << 15

    def _find(self, side: int, point: int) -> int:
        """The first of the checkers there, -1 without any."""
        for slot in range(3):
            if self._at(side, slot) == point:
                return slot
        return -1

    def _without(self, side: int, slot: int) -> int:
        return side & (1 << 5 * slot) - 1 | side >> 5 * (slot + 1) << 5 * slot
