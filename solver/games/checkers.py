"""Checkers, or English draughts: men step forward on dark squares, kings both ways; to capture is forced, and to go on.

The rules are those of the World Checkers and Draughts Federation. Black, at the top, moves first. A player may choose
any of several captures, but must carry it on to its end. A man that comes to the last row becomes a king, which ends
the move. Who cannot move has lost. Play that goes on for ever is a draw. Squares are numbered row by row from the top
left, only the dark ones, 1 to 32 on the usual board.

A state is Black's men and kings, a bit a square, then White's, then which of both are kings, then a bit for White to
move. An action is the square moved from, and above it the directions of its steps, two bits each, under a mark: 0 to 3
are up left, up right, down left, down right, as the board is printed.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

GROUP = "capture"


class Checkers(NamedTuple):
    """Step and jump diagonally; captures are forced and carried on; who cannot move loses."""

    size: int = 8

    def check(self) -> None:
        if self.size not in (4, 6, 8, 10):
            raise ValueError("size must be 4, 6, 8 or 10")

    def bits(self) -> int:
        return max(63, 3 * self._squares() + 1)

    def initial(self) -> int:
        squares = self._squares()
        men = (1 << (self.size // 2 - 1) * (self.size // 2)) - 1
        return men | men << squares - (self.size // 2 - 1) * (self.size // 2) << squares

    def actions(self, state: int) -> Iterator[int]:
        mine = self._mine(state)
        jumped = False
        for square in range(self._squares()):
            if mine >> square & 1:
                path = self._next_jump(state, square, 1)
                while path:
                    jumped = True
                    yield path << 6 | square
                    path = self._next_jump(state, square, path)
        if not jumped:
            for square in range(self._squares()):
                if mine >> square & 1:
                    for direction in range(4):
                        if self._may(state, square, direction) and self._is_free(state, square, direction):
                            yield (4 | direction) << 6 | square

    def result(self, state: int, action: int) -> int:
        squares, square, path = self._squares(), action & 63, action >> 6
        turn, king = self._turn(state), self._is_king(state, square)
        state &= ~self._both(square, turn)
        while path > 1:
            direction = self._first(path)
            path = self._rest(path)
            square = self._beside(square, direction)
            if (state >> square | state >> squares + square) & 1:
                state &= ~(self._both(square, 0) | self._both(square, 1))
                square = self._beside(square, direction)
        if king or square // (self.size // 2) == (0 if turn else self.size - 1):
            state |= 1 << 2 * squares + square
        return (state | 1 << turn * squares + square) ^ 1 << 3 * squares

    def is_terminal(self, state: int) -> bool:
        mine = self._mine(state)
        for square in range(self._squares()):
            if mine >> square & 1:
                for direction in range(4):
                    if self._may(state, square, direction) and (
                        self._is_free(state, square, direction) or self._jumps(state, state, square, direction)
                    ):
                        return False
        return True

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        """Rows gone by the men, more for each king, and still more for each piece that was taken."""
        squares, half = self._squares(), self.size // 2
        row, kings = (1 << half) - 1, state >> 2 * squares & (1 << squares) - 1
        black, white = state & (1 << squares) - 1, state >> squares & (1 << squares) - 1
        total = self.size * kings.bit_count()
        total += (self.size + 1) * (2 * half * (half - 1) - (black | white).bit_count())
        for i in range(self.size):
            total += i * (black & ~kings & row << i * half).bit_count()
            total += (self.size - 1 - i) * (white & ~kings & row << i * half).bit_count()
        return total

    def canonical(self, state: int) -> int:
        """The board as Black has it: half a turn brings White's pieces where Black's were."""
        if self._turn(state) == 0:
            return state
        squares = self._squares()
        turned = 0
        for square in range(squares):
            turned |= (state >> square & (1 | 1 << squares | 1 << 2 * squares)) << squares - 1 - square
        board = (1 << squares) - 1
        return turned & board << 2 * squares | turned >> squares & board | (turned & board) << squares

    def evaluate(self, state: int) -> float:
        """Men and half as much again for kings, and a little for rows gone, the mover's less the other's."""
        return self._worth(state, self._turn(state)) - self._worth(state, 1 - self._turn(state))

    def features(self, state: int) -> Iterator[int]:
        """Men and kings of both, what can be captured, steps, men by the rows they have gone, and kings off the rim."""
        turn, half = self._turn(state), self.size // 2
        other = state ^ 1 << 3 * self._squares()
        for side in range(2):
            board = other if side else state
            men, kings = self._men(board), self._kings(board)
            yield men.bit_count()
            yield kings.bit_count()
            steps = 0
            jumps = 0
            for square in range(self._squares()):
                if (men | kings) >> square & 1:
                    for direction in range(4):
                        if self._may(board, square, direction):
                            steps += 1 if self._is_free(board, square, direction) else 0
                            jumps += 1 if self._jumps(board, board, square, direction) else 0
            yield steps
            yield jumps
            for i in range(self.size - 1):
                gone = i if turn == side else self.size - 1 - i
                yield (men >> gone * half & (1 << half) - 1).bit_count()
            inner = 0
            for row in range(1, self.size - 1):
                inner |= ((1 << half - 1) - 1) << row * half + row % 2
            yield (kings & inner).bit_count()

    def format_action(self, state: int, action: int) -> str:
        squares, half = list(self._path(state, action)), self.size // 2
        jumps = abs(squares[0] // half - squares[1] // half) > 1
        return ("x" if jumps else "-").join([str(square + 1) for square in squares])

    def cells(self, state: int, mover: int) -> Iterator[str]:
        squares, half = self._squares(), self.size // 2
        marks = ["b" if state >> i & 1 else "w" if state >> squares + i & 1 else "-" for i in range(squares)]
        marks = [mark.upper() if state >> 2 * squares + i & 1 else mark for i, mark in enumerate(marks)]
        for row in range(self.size):
            line = ".".join(marks[row * half : (row + 1) * half])
            yield f"{line}." if row % 2 else f".{line}"

    def layout(self) -> tuple[str, Iterable[int]]:
        """Return men, kings and empty dark squares; steps, and paths of jumps that take each piece once."""
        squares = range(self._squares())
        ways = [[(way, self._beside(square, way)) for way in range(4)] for square in squares]
        actions = [(4 | way) << 6 | square for square in squares for way, near in ways[square] if near >= 0]
        jumps = [[(way, near, ways[near][way][1]) for way, near in ways[square] if near >= 0] for square in squares]
        paths = [(1, square, square, 0) for square in squares]
        for path, start, square, taken in paths:
            if path >= 16:
                actions.append(path << 6 | start)
            for way, near, far in jumps[square]:
                if far >= 0 and not taken >> near & 1:
                    paths.append((path << 2 | way, start, far, taken | 1 << near))
        return "-BWbw", sorted(actions)

    def from_cells(self, rows: list[str], mover: int) -> int:
        squares, half = self._squares(), self.size // 2
        state = mover << 3 * squares
        for cell, mark in enumerate("".join(rows)):
            row, column = divmod(cell, self.size)
            if mark in "bBwW":
                if column % 2 == row % 2:
                    raise ValueError("men stand on dark squares alone")
                if (mark == "b" and row == self.size - 1) or (mark == "w" and row == 0):
                    raise ValueError("a man on the last row has become a king")
                square = row * half + column // 2
                state |= 1 << square + (squares if mark in "wW" else 0)
                state |= 1 << square + 2 * squares if mark in "BW" else 0
        board = (1 << squares) - 1
        if max((state & board).bit_count(), (state >> squares & board).bit_count()) > half * (half - 1):
            raise ValueError("a side never has more pieces than at the start")
        return state

    def place(self, state: int, action: int) -> Iterator[int]:
        for square in self._path(state, action):
            row, place = divmod(square, self.size // 2)
            yield row * self.size + 2 * place + 1 - row % 2

    def drawing(self) -> dict[str, Any]:
        men = {"b": ["disc", 0], "B": ["crowned", 0], "w": ["disc", 1], "W": ["crowned", 1], "-": ["", 2]}
        numbers = [str(i // 2 + 1) if (i // self.size + i) % 2 else "" for i in range(self.size * self.size)]
        return {"board": "checks", "sides": ["black", "white"], "men": men, "names": numbers}

    def _path(self, state: int, action: int) -> Iterator[int]:
        """The squares where a piece stands from the beginning of a move to its end."""
        square, path, squares = action & 63, action >> 6, self._squares()
        occupied = state | state >> squares
        yield square
        while path > 1:
            direction = self._first(path)
            path = self._rest(path)
            square = self._beside(square, direction)
            square = self._beside(square, direction) if occupied >> square & 1 else square
            yield square

    def _squares(self) -> int:
        return self.size * self.size // 2

    def _turn(self, state: int) -> int:
        return state >> 3 * self._squares() & 1

    def _mine(self, state: int) -> int:
        """The mover's men and kings."""
        squares = self._squares()
        return state >> self._turn(state) * squares & (1 << squares) - 1

    def _men(self, state: int) -> int:
        return self._mine(state) & ~(state >> 2 * self._squares())

    def _kings(self, state: int) -> int:
        return self._mine(state) & state >> 2 * self._squares()

    def _both(self, square: int, side: int) -> int:
        """The bits of a side's piece on a square, as a man or a king."""
        return 1 << side * self._squares() + square | 1 << 2 * self._squares() + square

    def _is_king(self, state: int, square: int) -> bool:
        return state >> 2 * self._squares() + square & 1 == 1

    def _may(self, state: int, square: int, direction: int) -> bool:
        """Whether the mover's piece may go that way: a man goes forward, Black's down the board."""
        return self._is_king(state, square) or direction // 2 != self._turn(state)

    def _beside(self, square: int, direction: int) -> int:
        """The next square in a direction, -1 off the board."""
        half = self.size // 2
        row = square // half + (1 if direction >= 2 else -1)
        column = 2 * (square % half) + 1 - square // half % 2 + (1 if direction % 2 else -1)
        return row * half + column // 2 if 0 <= row < self.size and 0 <= column < self.size else -1

    def _is_free(self, state: int, square: int, direction: int) -> bool:
        """Whether a step that way leads to an empty square."""
        near = self._beside(square, direction)
        return near >= 0 and (state >> near | state >> self._squares() + near) & 1 == 0

    def _jumps(self, state: int, left: int, square: int, direction: int) -> bool:
        """Whether a jump that way takes a piece of the other, where the pieces `left` are still to take."""
        near = self._beside(square, direction)
        far = self._beside(near, direction) if near >= 0 else -1
        if far < 0:
            return False
        squares = self._squares()
        other = (1 - self._turn(state)) * squares
        return left >> other + near & 1 == 1 and (left >> far | left >> squares + far) & 1 == 0

    def _first(self, path: int) -> int:
        """The first direction of a path: that below its mark."""
        return path >> (path.bit_length() - 1) // 2 * 2 - 2 & 3

    def _rest(self, path: int) -> int:
        """A path without its first direction."""
        below = (path.bit_length() - 1) // 2 * 2 - 2
        return 1 << below | path & (1 << below) - 1

    def _next_jump(self, state: int, start: int, path: int) -> int:
        """The whole capture that comes after a path, in the order of directions, or the first if it is 1; else 0."""
        direction = 0
        if path > 1:
            direction = (path & 3) + 1
            path >>= 2
        while True:
            square, left = self._after(state, start, path)
            while direction < 4 and not (
                self._may(state, start, direction) and self._jumps(state, left, square, direction)
            ):
                direction += 1
            if direction < 4:
                path = path << 2 | direction
                direction = 0
                square, left = self._after(state, start, path)
                if self._is_whole(state, left, start, square):
                    return path
            elif path == 1:
                return 0
            else:
                direction = (path & 3) + 1
                path >>= 2

    def _is_whole(self, state: int, left: int, start: int, square: int) -> bool:
        """Whether a capture ends on a square: with a crown, or where nothing more is to be taken."""
        last = 0 if self._turn(state) else self.size - 1
        if not self._is_king(state, start) and square // (self.size // 2) == last:
            return True
        for direction in range(4):
            if self._may(state, start, direction) and self._jumps(state, left, square, direction):
                return False
        return True

    def _after(self, state: int, start: int, path: int) -> tuple[int, int]:
        """Where a path of jumps leads, and the board without the piece that makes them and those that it takes."""
        squares, square = self._squares(), start
        left = state & ~(1 << start | 1 << squares + start)
        while path > 1:
            direction = self._first(path)
            path = self._rest(path)
            square = self._beside(square, direction)
            left &= ~(1 << square | 1 << squares + square)
            square = self._beside(square, direction)
        return square, left

    def _worth(self, state: int, side: int) -> float:
        """The value of a side's pieces, as a part of the most there can be."""
        squares, half = self._squares(), self.size // 2
        pieces, kings = state >> side * squares & (1 << squares) - 1, state >> 2 * squares
        men, total = pieces & ~kings, 0
        for i in range(self.size):
            gone = self.size - 1 - i if side else i
            total += gone * (men >> i * half & (1 << half) - 1).bit_count()
        total += 10 * self.size * men.bit_count() + 15 * self.size * (pieces & kings).bit_count()
        return total / (15 * self.size * half * (half - 1) + 1)
