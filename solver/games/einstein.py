"""EinStein wuerfelt nicht (Ingo Althoefer 2004): a die says which stone moves towards the other's corner.

Each turn begins with a throw of a die with as many sides as a player had stones. The stone of that number moves. If it
is gone, the mover chooses between the next number above and the next below. The first player's stones go right, up, or
both, by one square; the second's go left, down, or both. A stone takes whatever stands there, even one of its own side.
Who reaches the corner opposite, or takes the other's last stone, wins. The usual board has 5 x 5 squares and six
stones. Bonnet and Viennot, Advances in Computer Games 2017, solve smaller boards, and the game with one stone.

Players choose how to place their stones; here the start is fixed: stone 1 in the corner, the others along the
diagonals next to it, each from the bottom row upwards, the second player's turned by half a turn:

    4 . . b a    three stones on 4 x 4; the second player's are small letters
    3 . . . c
    2 C . . .
    1 A B . .
      a b c d

A state holds, from the lowest digit on, the throw (base `stones` + 1, 0: to be thrown), then the squares of the mover's
stones and the other's, counted from the mover's own corner, row by row from 1 on, 0 for none (base number of squares
+ 1), and the mover. `canonical` drops the mover, and takes throws that leave the same choice for one. Boards with rows
and columns exchanged are worth the same, but from this start play seldom reaches both (folding them, too, saves 6 % of
the states of three stones on 3 x 3). Every throw and every move raise the tier: twice the steps that the stones are
away from their corner, those that are gone farther than any, and one more where the die is thrown.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from solver.games.common import limits

GROUP = "dice"


class Einstein(NamedTuple):
    """The die says which stone steps towards the corner opposite; reach it, or take all stones, to win."""

    size: int = 3
    stones: int = 3

    def check(self) -> None:
        limits(self, size=(2, 5), stones=(1, min(6, self.size * (self.size - 1) // 2)))

    def initial(self) -> int:
        state, placed = 0, 0
        for diagonal in range(self.size):
            for y in range(diagonal + 1):
                if placed < self.stones:
                    square = y * self.size + diagonal - y + 1
                    state += square * self._weight(placed) + self._turned(square) * self._weight(self.stones + placed)
                    placed += 1
        return state

    def actions(self, state: int) -> Iterator[int]:
        """Three times the stone, from 0 on; and 0 to go along the row, 1 along the column, 2 both."""
        size, movable = self.size, self._movable(state)
        for stone in range(self.stones):
            if movable >> stone & 1:
                place = self._square(state, stone) - 1
                for step in range(3):
                    if (step == 1 or place % size < size - 1) and (step == 0 or place // size < size - 1):
                        yield stone * 3 + step

    def result(self, state: int, action: int) -> int:
        moved = action // 3
        target = self._square(state, moved) + self._step(action % 3)
        child = (1 - self.to_move(state)) * self._weight(2 * self.stones)
        rest, weight = state // self._weight(0), self._weight(self.stones)
        for seat in range(2 * self.stones):
            if seat == self.stones:
                weight = self._weight(0)
            square = rest % self._base()
            square = target if seat == moved else 0 if square == target else square
            child += weight * (self._turned(square) if square else 0)
            rest //= self._base()
            weight *= self._base()
        return child

    def chance(self, state: int) -> Iterator[tuple[int, int]]:
        if self._throw(state) == 0 and not self.is_terminal(state):
            for throw in range(1, self.stones + 1):
                yield 1, state + throw

    def is_terminal(self, state: int) -> bool:
        """Whether the other, who has just moved, stands in the mover's corner, or has taken the last stone."""
        rest = state // self._weight(self.stones)
        for _ in range(self.stones):
            if rest % self._base() == 1:
                return True
            rest //= self._base()
        return self._left(state) == 0

    def utility(self, state: int) -> int:
        return -1

    def to_move(self, state: int) -> int:
        return state // self._weight(2 * self.stones)

    def tier(self, state: int) -> int:
        size, steps, rest = self.size, 0, state // self._weight(0)
        for seat in range(2 * self.stones):
            square = rest % self._base()
            if square == 0:
                steps += 2 * size - 1
            elif seat < self.stones:
                steps += (square - 1) % size + (square - 1) // size
            else:
                steps += 2 * size - 2 - (square - 1) % size - (square - 1) // size
            rest //= self._base()
        return 2 * steps + (1 if self._throw(state) else 0)

    def canonical(self, state: int) -> int:
        throw = self._throw(state)
        state = state % self._weight(2 * self.stones)
        if throw == 0 or self._left(state) >> throw - 1 & 1:
            return state
        lower, upper = self._around(state, throw)
        same = upper.bit_length() if lower == 0 else lower.bit_length() + (1 if upper else 0)
        return state - throw + same

    def parse_position(self, text: str) -> int | None:
        """The board and the throw, as `show` prints them."""
        *rows, _, doing = [line.split() for line in text.split("\n")] if text.count("\n") > self.size else [[], [], []]
        if len(rows) != self.size or len(doing) < 2 or [len(row) for row in rows] != [self.size + 1] * self.size:
            return None
        mover, throw = int(doing[0].islower()), int(doing[-1]) if doing[-1].isdecimal() else 0
        board = "".join("".join(row[1:]) for row in reversed(rows))
        state = throw + mover * self._weight(2 * self.stones)
        for square, mark in enumerate(board):
            stone = "abcdef".find(mark.lower())
            if 0 <= stone < self.stones:
                own = mark.islower() == (mover == 1)
                number = self._turned(square + 1) if mover else square + 1
                state += number * self._weight(stone if own else self.stones + stone)
        return state

    def show(self, state: int) -> str:
        mover, throw = self.to_move(state), self._throw(state)
        rows = [f"{self.size - i} {' '.join(row)}" for i, row in enumerate(self.cells(state, mover))]
        doing = f"has thrown {throw}" if throw else "has lost" if self.is_terminal(state) else "throws"
        side = "abcdef" if mover else "ABCDEF"
        legend = f"{side[: self.stones]} {doing}"
        return "\n".join([*rows, "  " + " ".join("abcde"[: self.size]), legend])

    def cells(self, state: int, mover: int) -> Iterator[str]:
        size = self.size
        board = ["."] * (size * size)
        for stone in range(2 * self.stones):
            square, first = self._square(state, stone), (stone < self.stones) == (self.to_move(state) == 0)
            if square:
                board[self._place(state, square)] = ("ABCDEF" if first else "abcdef")[stone % self.stones]
        for row in range(size):
            yield "".join(board[row * size : (row + 1) * size])

    def layout(self) -> tuple[str, int]:
        return "ABCDEF"[: self.stones] + "abcdef"[: self.stones], 3 * self.stones

    def place(self, state: int, action: int) -> Iterator[int]:
        square = self._square(state, action // 3)
        yield self._place(state, square)
        yield self._place(state, square + self._step(action % 3))

    def drawing(self) -> dict[str, Any]:
        men = {"ABCDEF"[i]: [str(i + 1), 0] for i in range(6)} | {"abcdef"[i]: [str(i + 1), 1] for i in range(6)}
        return {"sides": ["red", "blue"], "men": men, "dice": [[die + 1] for die in range(self.stones)]}

    def _place(self, state: int, square: int) -> int:
        """The cell of the page, from the top left, of a square that the mover counts."""
        place = (square if self.to_move(state) == 0 else self._turned(square)) - 1
        return (self.size - 1 - place // self.size) * self.size + place % self.size

    def _step(self, step: int) -> int:
        """How much farther the square's number is."""
        return 1 if step == 0 else self.size if step == 1 else self.size + 1

    def _turned(self, square: int) -> int:
        """The number that the other gives a square."""
        return self.size * self.size + 1 - square

    def _base(self) -> int:
        """The base of a stone's digit."""
        return self.size * self.size + 1

    def _weight(self, seat: int) -> int:
        """The value of a one in the digit of a stone; the mover's come first, and the mover last."""
        weight = self.stones + 1
        for _ in range(seat):
            weight *= self._base()
        return weight

    def _throw(self, state: int) -> int:
        return state % (self.stones + 1)

    def _square(self, state: int, seat: int) -> int:
        rest = state // self._weight(0)
        for _ in range(seat):
            rest //= self._base()
        return rest % self._base()

    def _left(self, state: int) -> int:
        """The mover's stones that are still there, a bit each."""
        stones, rest = 0, state // self._weight(0)
        for stone in range(self.stones):
            if rest % self._base():
                stones |= 1 << stone
            rest //= self._base()
        return stones

    def _around(self, state: int, throw: int) -> tuple[int, int]:
        """The next of these stones below the throw and the next one above, each as its bit, 0 for none."""
        left = self._left(state)
        lower, upper = left & (1 << throw - 1) - 1, left >> throw << throw
        return 1 << lower.bit_length() - 1 if lower else 0, upper & -upper

    def _movable(self, state: int) -> int:
        """The stones, a bit each, that the throw lets move."""
        throw = self._throw(state)
        if throw == 0:
            return 0
        if self._left(state) >> throw - 1 & 1:
            return 1 << throw - 1
        lower, upper = self._around(state, throw)
        return lower | upper
