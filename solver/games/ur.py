"""The royal game of Ur: race along own squares and shared ones, by four coins; hit pieces, land on rosettes.

    3  * o o o     * o      The first player's pieces enter at d1, go left to the corner, up, and right along the middle
    2  o o o * o o o o      row, where both players' meet; then down and off by h1 and g1. The second player's do the
    1  * o o o     * o      same above. The five rosettes are marked.
       a b c d e f g h

The rules as the Royal Ur community plays them (royalur.net; RoyalUr-Java): `pieces` pieces each are moved by a throw of
four coins. A piece goes as many squares as coins show heads: on to the board, along it, or off it by an exact throw. It
may not go to a square with a piece of its own side. A piece of the other side there goes back to its start. Who lands
on a rosette throws again. Who has no move loses the turn. Who has all pieces off wins.

`rules` chooses one of three games. 0 is Finkel's: a piece on a rosette is safe, and the path has 14 squares. 1 is
Blitz: nobody is safe, who hits throws again, too, and the path of 16 squares goes from the middle row through the
other's last squares. 2 is Masters: the path of Blitz, nobody is safe, and of three coins no head at all counts four.
The usual games are `ur:7`, `ur:5,1` and `ur:7,2`. A throw that leaves no choice is played immediately.

A state holds, from the lowest bit on:
    3 bits      the throw; 0: to be thrown
    16 bits     the squares of the mover's path with pieces of its own, the first square lowest
    16 bits     the same of the other player, along its own path
    3 bits each the pieces that wait, of the mover and of the other
    1 bit       the mover

An action is the number of the square to leave, from 1 on; 0 is to enter. A state after the throw is passed through, and
never stored. `tier` counts the pieces that are off, of both, and then of who has fewer. Published are 137,892,016,
41,254,034 and 500,981,472 states in which the mover throws, lost ones included.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import limits
from solver.games.common.boards import cased

GROUP = "dice"
HEADS = ((1, 4, 6, 4, 1), (1, 4, 6, 4, 1), (0, 3, 3, 1, 1))  # how often, by what is thrown
ROSETTES = (1 << 3 | 1 << 7 | 1 << 13, 1 << 3 | 1 << 7 | 1 << 11 | 1 << 15, 1 << 3 | 1 << 7 | 1 << 11 | 1 << 15)
# rows from the top and columns of the squares behind the middle row
LAST = (((2, 7), (2, 6)), ((0, 6), (0, 7), (1, 7), (2, 7), (2, 6)))


class Ur(NamedTuple):
    """Race `pieces` pieces along shared squares by four coins; rules of Finkel (0), Blitz (1) or Masters (2)."""

    pieces: int = 2
    rules: int = 0

    def check(self) -> None:
        limits(self, pieces=(1, 7))
        if not 0 <= self.rules <= 2:
            raise ValueError("rules are 0 (Finkel's), 1 (Blitz) or 2 (Masters')")

    def initial(self) -> int:
        return self._state(0, 0, self.pieces, self.pieces, 0)

    def actions(self, state: int) -> Iterator[int]:
        if state & 7:
            for square in range(self._length() + 1):
                if self._may(state, square):
                    yield square

    def result(self, state: int, action: int) -> int:
        own, other = self._own(state), self._other(state)
        waiting, others = self._waiting(state, 0), self._waiting(state, 1)
        if action:
            own ^= 1 << action - 1
        else:
            waiting -= 1
        target, hit = action - 1 + (state & 7), 0
        if target < self._length():
            own |= 1 << target
            hit = other & self._across(target)
            others += 1 if hit else 0
        if ROSETTES[self.rules] >> target & 1 or (self.rules == 1 and hit):
            return self._state(own, other ^ hit, waiting, others, self.to_move(state))
        return self._state(other ^ hit, own, others, waiting, 1 - self.to_move(state))

    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        if state & 7 == 0 and not self.is_terminal(state):
            for throw in range(5):
                if HEADS[self.rules][throw]:
                    yield HEADS[self.rules][throw], self._settled(state + throw)

    def vanishing(self, state: int) -> bool:
        return state & 7 > 0

    def is_terminal(self, state: int) -> bool:
        """Whether the other, who has just moved, has all pieces off."""
        return self._other(state) == 0 and self._waiting(state, 1) == 0

    def utility(self, state: int) -> int:
        return -1

    def to_move(self, state: int) -> int:
        return state >> 41

    def tier(self, state: int) -> int:
        own = self.pieces - self._own(state).bit_count() - self._waiting(state, 0)
        other = self.pieces - self._other(state).bit_count() - self._waiting(state, 1)
        return (own + other) * self.pieces + min(own, other)

    def canonical(self, state: int) -> int:
        return state & (1 << 41) - 1

    def format_action(self, state: int, action: int) -> str:
        source, target = self._name(state, action), self._name(state, action + (state & 7))
        return f"{source or 'in'}-{target or 'off'}"

    def parse_position(self, text: str) -> int | None:
        """The board and the throw, as `show` prints them."""
        lines = [line.split() for line in text.split("\n")]
        if [len(line) for line in lines[:4]] != [9, 9, 9, 8] or len(lines) != 5 or lines[4][0] not in ("x", "o"):
            return None
        mover, throw = "xo".index(lines[4][0]), int(lines[4][-1]) if lines[4][-1].isdecimal() else 0
        men, waiting = [0, 0], [0, 0]
        for player in (0, 1):
            waiting[player] = int(lines[2 - 2 * player][5])
            for square in range(self._length()):
                row, column = self._tile(player, square)
                men[player] |= (1 if lines[row][column + 1] == "xo"[player] else 0) << square
            if men[player].bit_count() + waiting[player] > self.pieces:
                raise ValueError(f"each player has {self.pieces} men")
        other = 1 - mover
        return self._state(men[mover], men[other], waiting[mover], waiting[other], mover) | throw

    def show(self, state: int) -> str:
        """The first player's pieces are x; numbers are pieces that wait, and pieces that are off."""
        mover, throw = self.to_move(state), state & 7
        rows = [f"{3 - i} " + " ".join(self._line(state, i)) for i in range(3)]
        doing = f"has thrown {throw}" if throw else "has lost" if self.is_terminal(state) else "throws"
        return "\n".join([*rows, "  a b c d e f g h", f"{'xo'[mover]} {doing}"])

    def cells(self, state: int, mover: int) -> list[str]:
        """Between the last squares and the first, how many pieces wait, and how many are off."""
        rows = [list(self._line(state, i).upper().replace("O", "o")) for i in range(3)]
        for side, row in enumerate((2, 0)):
            for column in (4, 5):
                rows[row][column] = cased(".ABCDEFG"[int(rows[row][column])], side)
        return ["".join(row) for row in rows]

    def layout(self) -> tuple[str, int]:
        """Return rosettes, pieces on the board, numbers of pieces beside it; squares to leave, 0 to enter."""
        numbers = "ABCDEFG"[: self.pieces]
        return f"*{numbers}X{numbers.lower()}o", self._length() + 1

    def place(self, state: int, action: int) -> list[int]:
        ends = []
        for square, beside in ((action, 4), (action + (state & 7), 5)):
            row, column = (0 if self.to_move(state) else 2), beside
            if 0 < square <= self._length():
                row, column = self._tile(self.to_move(state), square - 1)
            ends.append(8 * row + column)
        return ends

    def drawing(self) -> dict[str, Any]:
        men: dict[str, list[Any]] = {"X": ["disc", 0], "o": ["disc", 1], "*": ["*", 2]}
        men |= {cased("ABCDEFG"[i], side): [f"disc {i + 1}", side] for i in range(7) for side in (0, 1)}
        dice = [[throw] for throw in range(5) if HEADS[self.rules][throw]]
        return {"board": "squares", "sides": ["white", "black"], "men": men, "dice": dice}

    def _length(self) -> int:
        return 16 if self.rules else 14

    def _state(self, own: int, other: int, waiting: int, others: int, mover: int) -> int:
        return (own | (other | (waiting | (others | mover << 3) << 3) << 16) << 16) << 3

    def _own(self, state: int) -> int:
        return state >> 3 & 0xFFFF

    def _other(self, state: int) -> int:
        return state >> 19 & 0xFFFF

    def _waiting(self, state: int, player: int) -> int:
        """The pieces that wait, of the mover (0) or the other (1)."""
        return state >> 35 + 3 * player & 7

    def _across(self, square: int) -> int:
        """The bit that the other's path has for a square of the mover's, 0 for one's own squares."""
        if square < 4 or (self.rules == 0 and square > 11):
            return 0
        return 1 << square if square < 11 or self.rules == 0 else 1 << 26 - square

    def _may(self, state: int, action: int) -> bool:
        """Whether the mover has a piece there, or to enter, that the throw can move."""
        own, target = self._own(state), action - 1 + (state & 7)
        if not (own >> action - 1 & 1 if action else self._waiting(state, 0)) or target > self._length():
            return False
        if own >> target & 1:
            return False
        return self.rules > 0 or target != 7 or not self._other(state) >> 7 & 1

    def _settled(self, state: int) -> int:
        """The state after a throw: with fewer than two moves, what they make of it."""
        moves, only = 0, 0
        if state & 7:
            for square in range(self._length() + 1):
                if self._may(state, square):
                    moves += 1
                    only = square
        if moves == 0:
            own, other = self._own(state), self._other(state)
            return self._state(other, own, self._waiting(state, 1), self._waiting(state, 0), 1 - self.to_move(state))
        return self.result(state, only) if moves == 1 else state

    def _tile(self, player: int, square: int) -> tuple[int, int]:
        """The row from the top, and the column, of a square of a player's path."""
        row, column = 2, 3 - square
        if square > 3:
            middle = 11 if self.rules else 12
            row, column = (1, square - 4) if square < middle else LAST[min(self.rules, 1)][square - middle]
        return (2 - row if player else row), column

    def _name(self, state: int, square: int) -> str:
        """A square of the mover's path, from 1 on; none beside the board."""
        if not 0 < square <= self._length():
            return ""
        row, column = self._tile(self.to_move(state), square - 1)
        return f"{'abcdefgh'[column]}{3 - row}"

    def _line(self, state: int, row: int) -> str:
        """A row from the top; between its first and last squares the pieces that wait, and those that are off."""
        marks = ["*" if (row, column) in ((0, 0), (0, 6), (1, 3), (2, 0), (2, 6)) else "." for column in range(8)]
        for player in (0, 1):
            side = player ^ self.to_move(state)
            men, waiting = (self._other(state) if side else self._own(state)), self._waiting(state, side)
            for square in range(self._length()):
                if men >> square & 1 and self._tile(player, square)[0] == row:
                    marks[self._tile(player, square)[1]] = "xo"[player]
            if row == 2 - 2 * player:
                marks[4] = str(waiting)
                marks[5] = str(self.pieces - waiting - men.bit_count())
        return "".join(marks)
